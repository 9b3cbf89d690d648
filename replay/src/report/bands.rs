//! Which breakers a picture has room for.

use super::{Report, Stretch};

/// The breaker of one config and one key, and when it was other than closed.
pub(super) struct Band<'a> {
    config: &'a str,
    key: &'a str,
    pub(super) stretches: Vec<&'a Stretch>,
}

impl Band<'_> {
    /// The config and the key, cut to 28 letters.
    pub(super) fn label(&self) -> String {
        const MOST: usize = 28;
        let label = match self.key {
            "" => self.config.to_owned(),
            key => format!("{}: {key}", self.config),
        };
        if label.chars().count() <= MOST {
            return label;
        }
        label.chars().take(MOST - 1).chain(['…']).collect()
    }
}

/// At most so many breakers of one config, those that were longest other than closed first.
const OF_ONE: usize = 8;

pub(super) fn bands(report: &Report) -> Vec<Band<'_>> {
    report
        .configs
        .iter()
        .flat_map(|config| {
            let mut own: Vec<Band<'_>> = Vec::new();
            for stretch in &config.stretches {
                match own.iter_mut().find(|band| band.key == stretch.key) {
                    Some(band) => band.stretches.push(stretch),
                    None => own.push(Band {
                        config: &config.name,
                        key: &stretch.key,
                        stretches: vec![stretch],
                    }),
                }
            }
            let length = |band: &Band<'_>| {
                let lengths = band
                    .stretches
                    .iter()
                    .map(|stretch| stretch.end_ns.abs_diff(stretch.start_ns));
                lengths.sum::<u64>()
            };
            own.sort_by_key(|band| std::cmp::Reverse(length(band)));
            own.truncate(OF_ONE);
            if own.is_empty() {
                own.push(Band {
                    config: &config.name,
                    key: "",
                    stretches: Vec::new(),
                });
            }
            own
        })
        .collect()
}
