//! Why a breaker is not closed, for whoever asks.

use crate::breaker::rejected::Rejected;
use crate::breaker::{Breaker, Reading};
use crate::contract::clock::Clock;
use crate::contract::evidence::Evidence;
use crate::engine::word::Word;

impl<C: Clock> Breaker<C> {
    /// Why the breaker is not closed: what opened it, since when, what its window held then, and
    /// what an operator has ordered.
    ///
    /// It is kept from when the breaker opens until it closes, over all re-openings, and
    /// [`Snapshot`](crate::Snapshot) takes it along over a restart. Without a lock; it allocates for the texts.
    ///
    /// It is of one outage: never what opened the breaker at another time. The thread that opens a breaker
    /// writes it down just after; until it has, a few hundred nanoseconds, there is no
    /// [`trip`](Evidence::trip) or no [`operator`](Evidence::operator). (A label whose breaker has moved on by then is dropped.)
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, Label, Outcome, Report, Threshold};
    ///
    /// let breaker = Breaker::builder().name("search").consecutive_failures(2).build()?;
    /// for _ in 0..2 {
    ///     let refused = Report::from(Outcome::Failure).label("connection refused");
    ///     breaker.allow().unwrap().done(refused);
    /// }
    /// let trip = breaker.evidence().trip.unwrap();
    /// assert_eq!((trip.counts.failures, trip.threshold), (2, Some(Threshold::Failures(2))));
    /// assert_eq!(trip.label.as_deref(), Some("connection refused"));
    /// println!("{}: {trip}", breaker.name());
    ///
    /// breaker.close("repaired");
    /// assert_eq!(breaker.evidence().trip, None);
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn evidence(&self) -> Evidence {
        self.evidence_and_word().0
    }

    fn evidence_and_word(&self) -> (Evidence, Word) {
        let now = Reading::new(self);
        loop {
            let word = self.engine.word.load();
            let evidence = self.engine.evidence_of(word, now.get());
            if self.engine.generation() == word.generation() {
                return (evidence, word);
            }
        }
    }

    /// The evidence behind a rejection of this breaker; `None` if what the call was rejected for is
    /// over by now.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::Breaker;
    ///
    /// let breaker = Breaker::builder().build()?;
    /// breaker.force_open(None, "maintenance");
    /// let rejected = breaker.allow().unwrap_err();
    /// let operator = breaker.evidence_for(&rejected).unwrap().operator.unwrap();
    /// assert_eq!(&*operator.reason, "maintenance");
    ///
    /// breaker.close("done");
    /// assert_eq!(breaker.evidence_for(&rejected), None);
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn evidence_for(&self, rejected: &Rejected) -> Option<Evidence> {
        let (evidence, word) = self.evidence_and_word();
        let first = self.engine.outage_of(word)?;
        let is_of_it = Word::distance(rejected.generation(), word.generation())
            <= Word::distance(first, word.generation());
        is_of_it.then_some(evidence)
    }
}
