//! How far a scenario is searched, and the tests that do it.

use cutout_checker::Search;

/// The bounds of a scenario's searches: at most so many preemptions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// Loom's; `None` for none at all.
    loads: Option<Bound>,
    interleavings: Bound,
    /// Shuttle's exhaustive one.
    shuttle: Bound,
}

/// The most preemptions; `None` for any number.
type Bound = Option<usize>;

impl Reach {
    /// Everything, under each checker.
    pub(crate) const FULL: Self = Self {
        loads: Some(None),
        interleavings: None,
        shuttle: None,
    };

    /// At most so many preemptions under each.
    pub(crate) const fn both(preemptions: usize) -> Self {
        let bound = Some(preemptions);
        Self {
            loads: Some(bound),
            interleavings: bound,
            shuttle: bound,
        }
    }

    /// The same, and no loads that see old values: for what takes too long with them.
    pub(crate) const fn interleavings(preemptions: usize) -> Self {
        Self {
            loads: None,
            ..Self::both(preemptions)
        }
    }

    /// At most so many preemptions under shuttle.
    pub(crate) const fn shuttle(mut self, preemptions: usize) -> Self {
        self.shuttle = Some(preemptions);
        self
    }

    /// At most so many preemptions where loads may see old values: each such load is one more choice.
    pub(crate) const fn with_loads(mut self, preemptions: usize) -> Self {
        self.loads = Some(Some(preemptions));
        self
    }

    pub(crate) fn loads_search(self) -> Option<Search> {
        self.loads.map(|bound| Search::Loads(bound.map(longer)))
    }

    pub(crate) fn interleavings_search(self) -> Search {
        Search::ReadModifyWrites(self.interleavings.map(longer))
    }

    pub(crate) fn depth_first_search(self) -> Search {
        match self.shuttle {
            Some(bound) => Search::Preemptions(longer(bound)),
            None => Search::DepthFirst,
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
                    if let Some(search) = $reach.loads_search() {
                        check(search);
                    }
                }

                #[test]
                $(#[ignore = $why])?
                fn interleavings() {
                    check($reach.interleavings_search());
                }

                #[test]
                $(#[ignore = $why])?
                fn depth_first() {
                    check($reach.depth_first_search());
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
