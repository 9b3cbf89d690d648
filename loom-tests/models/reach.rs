//! How far a scenario is searched, and the tests that do it.

use cutout_checker::Search;

/// The bounds of a scenario's searches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// The most preemptions under loom; `None` for any number.
    loads: Option<usize>,
    interleavings: Option<usize>,
    /// The exhaustive search by shuttle.
    shuttle: Search,
}

impl Reach {
    /// Everything, under each checker.
    pub(crate) const FULL: Self = Self {
        loads: None,
        interleavings: None,
        shuttle: Search::DepthFirst,
    };

    /// Everything under loom, at most so many preemptions under shuttle.
    pub(crate) const fn shuttle(preemptions: usize) -> Self {
        Self {
            loads: None,
        interleavings: None,
            shuttle: Search::Preemptions(preemptions),
        }
    }

    /// At most so many preemptions under each.
    pub(crate) const fn both(preemptions: usize) -> Self {
        Self {
            loads: Some(preemptions),
            interleavings: Some(preemptions),
            shuttle: Search::Preemptions(preemptions),
        }
    }

    /// Fewer preemptions where loads may see old values: each such load is one more choice.
    pub(crate) const fn with_loads(mut self, preemptions: usize) -> Self {
        self.loads = Some(preemptions);
        self
    }

    pub(crate) const fn loads(self) -> Search {
        Search::Loads(self.loads)
    }

    pub(crate) const fn interleavings(self) -> Search {
        Search::ReadModifyWrites(self.interleavings)
    }

    pub(crate) const fn depth_first(self) -> Search {
        self.shuttle
    }
}

/// One module per claim, one test per search.
macro_rules! models {
    ($($(#[$claim:meta])* $name:ident: $reach:expr => $scenario:expr;)+) => {
        $(
            $(#[$claim])*
            mod $name {
                use super::*;

                fn check(search: cutout_checker::Search) {
                    $scenario.check(module_path!(), search);
                }

                #[test]
                fn loads() {
                    check($reach.loads());
                }

                #[test]
                fn interleavings() {
                    check($reach.interleavings());
                }

                #[test]
                fn depth_first() {
                    check($reach.depth_first());
                }

                #[test]
                fn random() {
                    check(cutout_checker::Search::Random(2_000));
                    check(cutout_checker::Search::Pct(3, 2_000));
                }
            }
        )+
    };
}
