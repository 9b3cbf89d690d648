//! A fleet's health through the `metrics` facade.

use metrics::{counter, gauge};

use crate::fleet::Fleet;
use crate::statement::Ignored;

impl Fleet {
    /// Writes [`health`](Self::health) to the recorder of the `metrics` facade: to be called before each scrape.
    ///
    /// | metric | what |
    /// | --- | --- |
    /// | `cutout_fleet_connected` | 1 if the bus is connected |
    /// | `cutout_fleet_members` | members that live, this one too |
    /// | `cutout_fleet_probes` | names that this member has the right to probe |
    /// | `cutout_fleet_last_heard_seconds` | how long ago another member was heard; not written before the first |
    /// | `cutout_fleet_takeovers_total` | breakers opened by what others had found |
    /// | `cutout_fleet_statements_total` | by `what`: `sent`, `not_sent`, `heard` |
    /// | `cutout_fleet_ignored_total` | by `why`: what came and was not listened to |
    /// | `cutout_fleet_dropped_total` | transitions that found no room in the queue |
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout_fleet::{Fleet, InProcess};
    ///
    /// let fleet = Fleet::builder().start(InProcess::new())?;
    /// fleet.record_metrics();
    /// # Ok::<(), cutout_fleet::StartError>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "metrics")))]
    pub fn record_metrics(&self) {
        let health = self.health();
        gauge!("cutout_fleet_connected").set(if health.is_connected { 1.0 } else { 0.0 });
        gauge!("cutout_fleet_members").set(1.0 + health.members.len() as f64);
        gauge!("cutout_fleet_probes").set(health.probes.len() as f64);
        if let Some(age) = health.last_heard {
            gauge!("cutout_fleet_last_heard_seconds").set(age.as_secs_f64());
        }
        counter!("cutout_fleet_takeovers_total").absolute(health.takeovers);
        let statements = [
            ("sent", health.sent),
            ("not_sent", health.not_sent),
            ("heard", health.heard),
        ];
        for (what, times) in statements {
            counter!("cutout_fleet_statements_total", "what" => what).absolute(times);
        }
        for why in Ignored::ALL {
            let times = health.ignored(why);
            counter!("cutout_fleet_ignored_total", "why" => why.label()).absolute(times);
        }
        counter!("cutout_fleet_dropped_total").absolute(health.dropped);
    }
}
