//! What others have found of the same upstream: an automatic opening that is not by a rule of this breaker, and another
//! end of an open wait.

use core::time::Duration;

use crate::breaker::{Breaker, Match, Reading};
use crate::contract::clock::{Clock, saturating_nanos};
use crate::contract::label::Label;
use crate::contract::outcome::Counts;
use crate::contract::state::{Cause, State};
use crate::engine::wait::Wait;

impl<C: Clock> Breaker<C> {
    /// Opens a closed breaker because breakers of others before the same upstream have tripped. False if it is not closed.
    ///
    /// It is an automatic opening: it waits as configured, probes, and closes as any other, and no operator's state is
    /// touched by it. Its cause is [`Cause::Peers`]. What the window of one that has tripped held, and the label of its last
    /// failure, are kept as the [evidence](Breaker::evidence). Whether enough of them have tripped is for the caller to say.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, Cause, Label, State};
    ///
    /// let [here, there] = [(); 2].map(|()| Breaker::builder().consecutive_failures(3).build().unwrap());
    /// for _ in 0..3 {
    ///     there.allow()?.failure();
    /// }
    /// let trip = there.evidence().trip.unwrap();
    /// assert!(here.take_over(trip.counts, trip.label.as_deref().map(Label::new)));
    /// assert_eq!(here.state(), State::Open);
    /// let trip = here.evidence().trip.unwrap();
    /// assert_eq!((trip.cause, trip.counts.failures), (Cause::Peers, 3));
    /// # Ok::<(), cutout::Rejected>(())
    /// ```
    pub fn take_over(&self, counts: Counts, label: Option<Label>) -> bool {
        self.open_if_closed(|_| Match {
            cause: Cause::Peers,
            counts,
            threshold: None,
            label,
        })
    }

    /// Changes how long an open breaker waits: so much from now, whatever was left. False if it is not open.
    ///
    /// For those who know more of the upstream than this breaker: somebody else is probing it, and this one should not; or
    /// somebody's probe has passed, and this one may probe at once, with a wait of zero. It is a transition from open to open
    /// with [`Cause::Peers`], which ends as any open wait. Why the breaker is open and how often it has
    /// re-opened stay as they are, and so does an operator's state.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use cutout::Breaker;
    ///
    /// let breaker = Breaker::builder().consecutive_failures(1).build()?;
    /// breaker.allow()?.failure();
    /// assert!(breaker.set_wait(Duration::from_secs(300)));
    /// let wait = breaker.allow().unwrap_err().retry_after().unwrap();
    /// assert!(wait > Duration::from_secs(290));
    ///
    /// assert!(breaker.set_wait(Duration::ZERO));
    /// breaker.allow()?.success();
    /// assert!(!breaker.set_wait(Duration::ZERO), "it is closed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_wait(&self, wait: Duration) -> bool {
        let now = Reading::new(self);
        let wait = Wait::of(now.get(), saturating_nanos(wait));
        loop {
            let from = self.engine.word.load();
            if from.state() != State::Open {
                return false;
            }
            let to = from.to_open(from.cause(), wait);
            if self.engine.begin_wait(from, to, wait) {
                self.emit(from, to, Cause::Peers, None, Counts::default(), &now);
                return true;
            }
        }
    }

    /// Opens a closed breaker for what its window, which holds so much, does not tell by itself. False if it is not closed.
    pub(crate) fn open_if_closed(&self, matched: impl Fn(Counts) -> Match) -> bool {
        let now = Reading::new(self);
        loop {
            let word = self.engine.word.load();
            if word.state() != State::Closed {
                return false;
            }
            let Some(counts) = self.engine.leave(word, || now.get()) else {
                continue;
            };
            if self.open_by(word, matched(counts), 0, None, &now) {
                return true;
            }
        }
    }
}
