//! From calls to the report.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{ConfigRow, KeyRow, Ranged, Report, Stretch, Trip, TroubleRow};
use crate::call::{Call, Keys};
use crate::configs::{self, Named};
use crate::input::Reading;
use crate::judge::{Judgement, judge, ramps, stretches};
use crate::replay::{Evidence, Order, Replay, Replayed, Transition};
use crate::timeline::Timeline;
use crate::trouble::{Finder, Trouble};
use crate::{Error, Slow};

/// A replay of several configs that goes on as calls are read.
#[derive(Debug)]
pub struct Run {
    configs: Vec<Named>,
    /// Of each config, the replay as written and those of drawn orders.
    replays: Vec<Replay>,
    orders: usize,
    timeline: Timeline,
    finder: Option<Finder>,
    troubles: Option<Vec<Trouble>>,
    slack: u64,
    counts: Vec<(u64, u64)>,
}

/// What is known of the troubles.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The troubles, if they are given; else they are found.
    pub troubles: Option<Vec<Trouble>>,
    /// How long after a trouble's end a trip is still one of it, in nanoseconds.
    pub slack: u64,
}

impl Run {
    const STRETCHES: usize = 10_000;

    /// Makes ready: `orders` of 1 is the order as written alone; the others are drawn within stamps of `resolution`.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a config that is not legal.
    pub fn new(
        configs: Vec<Named>,
        kept: Kept,
        orders: usize,
        resolution: u64,
    ) -> Result<Self, Error> {
        let mut replays = Vec::new();
        for named in &configs {
            for order in 0..orders.max(1) {
                let order = match order {
                    0 => Order::as_written(),
                    seed => Order::drawn(seed as u64, resolution),
                };
                let replay = Replay::new(named.guards, order).map_err(|error| Error::Config {
                    name: named.name.clone(),
                    message: error.to_string(),
                })?;
                replays.push(replay);
            }
        }
        Ok(Self {
            configs,
            replays,
            orders: orders.max(1),
            timeline: Timeline::new(),
            finder: kept.troubles.is_none().then(Finder::default),
            troubles: kept.troubles,
            slack: kept.slack,
            counts: Vec::new(),
        })
    }

    /// Goes on with the next calls.
    pub fn feed(&mut self, calls: &[Call]) {
        let (timeline, finder, counts) = (&mut self.timeline, &mut self.finder, &mut self.counts);
        let rest = || {
            timeline.feed(calls);
            if let Some(finder) = finder {
                finder.feed(calls);
            }
            for call in calls {
                let index = call.key as usize;
                if counts.len() <= index {
                    counts.resize(index + 1, (0, 0));
                }
                counts[index].0 += 1;
                counts[index].1 += u64::from(call.bad);
            }
        };
        let replays = &mut self.replays;
        rayon::join(rest, || {
            replays.par_iter_mut().for_each(|replay| replay.feed(calls))
        });
    }

    /// Ends all; what was found out.
    pub fn finish(self, reading: Reading, keys: &Keys, slow: &Slow) -> Report {
        let given = self.troubles.is_some();
        let troubles = match (self.troubles, self.finder) {
            (Some(troubles), _) => troubles,
            (None, finder) => finder.unwrap_or_default().finish(keys),
        };
        let end = reading.last_ns.unwrap_or(0);
        let replayed: Vec<Replayed> = self.replays.into_par_iter().map(Replay::finish).collect();
        let context = Context {
            troubles: &troubles,
            keys,
            labels: &reading.labels,
            slack: self.slack,
            end,
        };
        let rows = self.configs.iter().zip(replayed.chunks(self.orders));
        let configs = rows
            .map(|(named, orders)| context.row(named, orders))
            .collect();
        let mut key_rows: Vec<KeyRow> = (0_u32..)
            .zip(&self.counts)
            .map(|(key, &(calls, bad))| KeyRow {
                name: keys.name(key).to_owned(),
                calls,
                bad,
            })
            .collect();
        key_rows.sort_by_key(|row| std::cmp::Reverse((row.bad, row.calls)));
        Report {
            version: 1,
            reading,
            bad: slow.words(),
            bad_calls: self.counts.iter().map(|(_, bad)| bad).sum(),
            orders: self.orders,
            troubles_are_given: given,
            slack_ns: self.slack,
            troubles: troubles.iter().map(TroubleRow::of).collect(),
            keys: key_rows,
            configs,
            moment_ns: self.timeline.width(),
            timeline: self.timeline.moments(),
            advice: None,
        }
    }
}

impl TroubleRow {
    fn of(trouble: &Trouble) -> Self {
        Self {
            name: trouble.name.clone(),
            key: trouble.key.clone(),
            start_ns: trouble.start,
            end_ns: trouble.end,
        }
    }
}

struct Context<'a> {
    troubles: &'a [Trouble],
    keys: &'a Keys,
    labels: &'a Keys,
    slack: u64,
    end: i64,
}

impl Context<'_> {
    fn judge(&self, replayed: &Replayed) -> Judgement {
        judge(replayed, self.troubles, self.keys, self.slack, self.end)
    }

    fn row(&self, named: &Named, orders: &[Replayed]) -> ConfigRow {
        let judged: Vec<Judgement> = orders.iter().map(|order| self.judge(order)).collect();
        let ranged = |of: &dyn Fn(usize) -> u64| {
            let values = (0..orders.len()).map(of);
            Ranged {
                value: of(0),
                min: values.clone().min().unwrap_or(0),
                max: values.max().unwrap_or(0),
            }
        };
        let totals: Vec<_> = orders.iter().map(Replayed::total).collect();
        let written = &orders[0];
        let keys = (0_u32..).zip(&written.sums);
        ConfigRow {
            name: named.name.clone(),
            toml: configs::toml(&named.guards),
            trips: ranged(&|order| judged[order].trips),
            false_trips: ranged(&|order| judged[order].false_trips),
            missed: ranged(&|order| judged[order].missed),
            reopenings: ranged(&|order| judged[order].reopenings),
            made_well: ranged(&|order| totals[order].made_well),
            made_bad: ranged(&|order| totals[order].made_bad),
            spared: ranged(&|order| totals[order].spared),
            lost: ranged(&|order| totals[order].lost),
            saved_ns: ranged(&|order| totals[order].saved_ns),
            throttled: ranged(&|order| totals[order].throttled),
            ramped: ranged(&|order| totals[order].ramped),
            states_ns: judged[0].states_ns.clone(),
            ramping_ns: judged[0].ramping_ns,
            refusing_ns: judged[0].refusing_ns,
            troubles: judged[0].troubles.clone(),
            keys: keys
                .map(|(key, sums)| (self.keys.name(key).to_owned(), *sums))
                .collect(),
            judged_until_ns: written.kept_until,
            trip_list: self.trips(written),
            stretches: self.stretches(written),
        }
    }

    fn trips(&self, of: &Replayed) -> Vec<Trip> {
        let trips = of
            .transitions
            .iter()
            .filter(|transition| transition.is_trip());
        trips
            .zip(&of.evidence)
            .map(|(trip, evidence)| self.trip(trip, evidence))
            .collect()
    }

    fn trip(&self, trip: &Transition, evidence: &Evidence) -> Trip {
        let counts = evidence.counts;
        let label = self.labels.name(u32::from(evidence.label));
        let key = self.keys.name(trip.key);
        let own = self.troubles.iter().find(|trouble| {
            let last = trouble.end.saturating_add_unsigned(self.slack);
            trouble.is_of(key) && (trouble.start..=last).contains(&trip.at)
        });
        Trip {
            at_ns: trip.at,
            key: key.to_owned(),
            cause: evidence.cause.label(),
            why: evidence.cause.to_string(),
            samples: counts.samples,
            failures: counts.failures,
            timeouts: counts.timeouts,
            slow: counts.slow,
            threshold: evidence.threshold,
            label: Some(label.to_owned()).filter(|label| !label.is_empty()),
            trouble: own.map(|trouble| trouble.name.clone()),
        }
    }

    fn stretches(&self, of: &Replayed) -> Vec<Stretch> {
        let mut lanes: BTreeMap<u32, Vec<&Transition>> = BTreeMap::new();
        for transition in &of.transitions {
            lanes.entry(transition.key).or_default().push(transition);
        }
        let all = lanes.iter().flat_map(|(&key, lane)| {
            let key = self.keys.name(key);
            let stretch = move |state, (begin, end_ns): (&Transition, i64)| Stretch {
                key: key.to_owned(),
                state,
                stage: begin.stage,
                share: None,
                start_ns: begin.at,
                end_ns,
            };
            let not_closed = stretches(lane, self.end).into_iter();
            let not_closed = not_closed.map(move |one| stretch(one.0.to.label(), one));
            let ramps = ramps(lane, self.end).into_iter();
            not_closed.chain(ramps.map(move |one| stretch(Stretch::RAMPING, one)))
        });
        let refused = of.refused.iter().map(|refused| Stretch {
            key: self.keys.name(refused.key).to_owned(),
            state: Stretch::REFUSING,
            stage: 0,
            share: Some(refused.refused as f64 / refused.asked.max(1) as f64),
            start_ns: refused.start,
            end_ns: refused.end,
        });
        let mut all: Vec<Stretch> = all.take(Run::STRETCHES).collect();
        all.extend(refused);
        all.truncate(Run::STRETCHES);
        all
    }
}
