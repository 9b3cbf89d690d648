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

    pub(crate) fn loads(self) -> Search {
        Search::Loads(self.loads.map(longer))
    }

    pub(crate) fn interleavings(self) -> Search {
        Search::ReadModifyWrites(self.interleavings.map(longer))
    }

    pub(crate) fn depth_first(self) -> Search {
        match self.shuttle {
            Search::Preemptions(bound) => Search::Preemptions(longer(bound)),
            search => search,
        }
    }
}

/// How many random executions there are of each kind.
pub(crate) fn executions() -> usize {
    2_000 * 10_usize.pow(longer(0) as u32)
}

/// The long form of the searches has more preemptions: `CUTOUT_PREEMPTIONS` says how many more.
fn longer(bound: usize) -> usize {
    let more = std::env::var("CUTOUT_PREEMPTIONS");
    bound + more.map_or(0, |more| more.parse().expect("a number of preemptions"))
}

/// One module per claim, one test per search.
macro_rules! models {
    ($($(#[$claim:meta])* $name:ident $(ignored $why:literal)?: $reach:expr => $scenario:expr;)+) => {
        $(
            $(#[$claim])*
            mod $name {
                use super::*;

                fn check(search: cutout_checker::Search) {
                    $scenario.check(module_path!(), search);
                }

                #[test]
                $(#[ignore = $why])?
                fn loads() {
                    check($reach.loads());
                }

                #[test]
                $(#[ignore = $why])?
                fn interleavings() {
                    check($reach.interleavings());
                }

                #[test]
                $(#[ignore = $why])?
                fn depth_first() {
                    check($reach.depth_first());
                }

                #[test]
                $(#[ignore = $why])?
                fn random() {
                    let executions = crate::reach::executions();
                    check(cutout_checker::Search::Random(executions));
                    check(cutout_checker::Search::Pct(3, executions));
                }
            }
        )+
    };
}
