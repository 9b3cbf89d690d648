//! What a call would be told, without asking for admission.

use crate::breaker::rejected::Rejected;
use crate::breaker::{Breaker, Reading, time_left};
use crate::contract::clock::Clock;
use crate::contract::state::State;

impl<C: Clock> Breaker<C> {
    /// The rejection that [`allow`](Self::allow) would give now, `None` if it would grant.
    ///
    /// A pure read, out of date as soon as it is made: to call, ask `allow`. It is for those who
    /// prepare a call, such as a `tower` service that is asked whether it is ready.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::Breaker;
    ///
    /// let breaker = Breaker::builder().consecutive_failures(1).build()?;
    /// assert_eq!(breaker.refusal(), None);
    /// breaker.allow().unwrap().failure();
    /// assert!(breaker.refusal().unwrap().retry_after().is_some());
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    #[inline]
    pub fn refusal(&self) -> Option<Rejected> {
        if self.engine.word.glance().is_closed() {
            return None;
        }
        self.read_refusal()
    }

    #[cold]
    fn read_refusal(&self) -> Option<Rejected> {
        let now = Reading::new(self);
        loop {
            let word = self.engine.word.load();
            let left = match word.state() {
                State::Closed | State::Disabled | State::ObserveOnly => return None,
                State::Open | State::ForcedOpen => match self.engine.deadline_of(word) {
                    Some(deadline) if deadline.is_over(now.get()) => None,
                    Some(deadline) => Some(time_left(word, deadline, now.get())),
                    None => continue,
                },
                State::HalfOpen => {
                    let granted =
                        self.engine.has_slot(word) || self.engine.lease_of(word).is_over(now.get());
                    (!granted).then(|| self.lease_left(word, &now))
                }
            };
            // Quota and lease must be those that go with the word.
            if self.engine.is_current(word) {
                return left.map(|left| Rejected {
                    word,
                    left,
                    breaker: self.name_id(),
                });
            }
        }
    }
}
