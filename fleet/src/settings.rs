//! What a fleet is told when it is started.

use std::fmt;
use std::time::Duration;

/// How members of a fleet listen to each other. A plain value, the same for all members; [`Fleet`](crate::Fleet) checks it.
///
/// | field | default | legal |
/// | --- | --- | --- |
/// | `quorum_members` | 2 | 2 or more |
/// | `quorum_share` | 0.25 | 0 to 1 |
/// | `quorum_calls` | 0.1 | 0 to 1 |
/// | `lately` | 60 s | above 0 |
/// | `heartbeat` | 1 s | 10 ms to 1 h |
/// | `lease` | 5 s | three heartbeats or more, at most 1 h |
/// | `lead` | 250 ms | above 0, less than the lease |
/// | `patience` | 1 s | above 0, less than the lease |
///
/// # Examples
///
/// ```
/// use cutout_fleet::Settings;
///
/// // A fleet of three acts when two have tripped; one of a hundred when 25 have, that make a tenth of all calls.
/// let settings = Settings::default();
/// assert_eq!((settings.quorum(3), settings.quorum(100)), (2, 25));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// So many members at least must have tripped for others to take it over. Never one: it may be the one that is ill.
    pub quorum_members: u32,
    /// And this share of the live members that use the name.
    pub quorum_share: f64,
    /// And these must make this share of the calls, as far as members count theirs ([`Builder::totals`](cutout::Builder::totals)).
    pub quorum_calls: f64,
    /// How long a trip counts.
    pub lately: Duration,
    /// How often a member says that it lives. One that has said nothing for three of these is gone.
    pub heartbeat: Duration,
    /// How long the right to probe lasts unless it is renewed: with a member that dies while it probes, the fleet loses so much time.
    pub lease: Duration,
    /// How long before its wait ends a breaker asks for the right to probe. What has no answer by then acts by itself.
    pub lead: Duration,
    /// How long a member that has no call to probe with keeps the right to.
    pub patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            quorum_members: 2,
            quorum_share: 0.25,
            quorum_calls: 0.1,
            lately: Duration::from_secs(60),
            heartbeat: Duration::from_secs(1),
            lease: Duration::from_secs(5),
            lead: Duration::from_millis(250),
            patience: Duration::from_secs(1),
        }
    }
}

impl Settings {
    /// The defaults with some fields changed.
    ///
    /// ```
    /// use cutout_fleet::Settings;
    ///
    /// let careful = Settings::default().with(|settings| settings.quorum_share = 0.5);
    /// assert_eq!(careful.quorum(8), 4);
    /// ```
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// How many of so many members must have tripped.
    pub fn quorum(&self, members: usize) -> usize {
        // At most the number of members, which is far below 2^53.
        let share = (members as f64 * self.quorum_share).ceil() as usize;
        share.max(self.quorum_members as usize)
    }

    /// How long a member lives without a word of it.
    pub(crate) fn life(&self) -> Duration {
        self.heartbeat * 3
    }

    /// Checks all fields.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] that names the first illegal one.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let share = |share: f64| (0.0..=1.0).contains(&share);
        let hour = Duration::from_secs(3600);
        let some = |field, value: String, legal, is_legal: bool| match is_legal {
            true => Ok(()),
            false => Err(SettingsError {
                field,
                value,
                legal,
            }),
        };
        let time = |field, value: Duration, legal, is_legal| {
            some(field, format!("{value:?}"), legal, is_legal)
        };
        let Self {
            heartbeat,
            lease,
            lead,
            patience,
            ..
        } = *self;
        let members = self.quorum_members;
        some(
            "quorum_members",
            members.to_string(),
            "2 or more",
            members >= 2,
        )?;
        for (field, value) in [
            ("quorum_share", self.quorum_share),
            ("quorum_calls", self.quorum_calls),
        ] {
            some(field, value.to_string(), "0 to 1", share(value))?;
        }
        let none = Duration::ZERO;
        time("lately", self.lately, "above 0", self.lately > none)?;
        let beats = heartbeat >= Duration::from_millis(10) && heartbeat <= hour;
        time("heartbeat", heartbeat, "10 ms to 1 h", beats)?;
        let lasts = lease >= heartbeat.saturating_mul(3) && lease <= hour;
        time(
            "lease",
            lease,
            "three heartbeats or more, at most 1 h",
            lasts,
        )?;
        let within = "above 0, less than the lease";
        time("lead", lead, within, lead > none && lead < lease)?;
        let is_patient = patience > none && patience < lease;
        time("patience", patience, within, is_patient)
    }
}

/// An illegal field of [`Settings`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsError {
    /// The field's name.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What is legal.
    pub legal: &'static str,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            value,
            legal,
        } = self;
        write!(f, "{field} is {value}: it must be {legal}")
    }
}

impl std::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_legal_and_each_illegal_field_is_named() {
        assert_eq!(Settings::default().validate(), Ok(()));
        type Change = fn(&mut Settings);
        let illegal: [(&str, Change); 8] = [
            ("quorum_members", |it| it.quorum_members = 1),
            ("quorum_share", |it| it.quorum_share = f64::NAN),
            ("quorum_calls", |it| it.quorum_calls = 1.1),
            ("lately", |it| it.lately = Duration::ZERO),
            ("heartbeat", |it| it.heartbeat = Duration::MAX),
            ("lease", |it| it.lease = Duration::from_secs(2)),
            ("lead", |it| it.lead = Duration::from_secs(5)),
            ("patience", |it| it.patience = Duration::ZERO),
        ];
        for (field, change) in illegal {
            let refused = Settings::default().with(change).validate().unwrap_err();
            assert_eq!(refused.field, field, "{refused}");
        }
    }

    #[test]
    fn one_member_is_no_quorum_and_a_small_fleet_acts_at_two() {
        let quorums = [1, 2, 3, 8, 9, 200].map(|members| Settings::default().quorum(members));
        assert_eq!(quorums, [2, 2, 2, 2, 3, 50]);
    }
}
