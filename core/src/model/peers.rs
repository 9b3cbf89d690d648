//! What others have found of the same upstream.

use super::*;

impl Model {
    /// Opens if it is closed, because others have tripped; says whether it was.
    pub fn take_over(&mut self, counts: Counts, label: Option<Label>, now: u64) -> bool {
        self.open_if_closed(Cause::Peers, counts, None, label, now)
    }

    /// Opens if it is closed, because a router has found its share of failures to have reached a limit that the
    /// others' shares set; says whether it was.
    pub fn open_as_outlier(&mut self, limit: Threshold, now: u64) -> bool {
        let counts = self.counts(self.since_start(now));
        self.open_if_closed(Cause::Outlier, counts, Some(limit), None, now)
    }

    fn open_if_closed(
        &mut self,
        cause: Cause,
        counts: Counts,
        threshold: Option<Threshold>,
        label: Option<Label>,
        now: u64,
    ) -> bool {
        if !matches!(self.mode, Mode::Closed(_)) {
            return false;
        }
        let at = self.since_start(now);
        let opened = Opened { cause, attempt: 0 };
        let wait = open_wait(
            &self.config.open_wait,
            0,
            None,
            self.seed,
            self.next_generation(),
        );
        let open = Mode::Open(opened, Deadline::of_wait(at, wait));
        self.enter_after(counts, open, cause, None, at);
        let label = label.map(|label| Arc::from(label.as_str()));
        if let Some(event) = self.events.last_mut() {
            event.threshold = threshold;
            event.label.clone_from(&label);
        }
        if let Some((_, trip)) = &mut self.why.trip {
            trip.threshold = threshold;
            trip.label = label;
        }
        true
    }

    /// Waits for so long from now, if it is open; says whether it is.
    pub fn set_wait(&mut self, wait: Duration, now: u64) -> bool {
        let Mode::Open(opened, _) = self.mode else {
            return false;
        };
        let at = self.since_start(now);
        let deadline = Deadline::of_wait(at, saturating_nanos(wait));
        self.enter(Mode::Open(opened, deadline), Cause::Peers, None, at);
        true
    }
}
