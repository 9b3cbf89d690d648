//! What happens to the upstream, and how it is called meanwhile.

use crate::simulation::upstream::Nature;

/// One story.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// New requests a second.
    pub offered: f64,
    /// How often a request is tried at most. One that is refused is not tried again.
    pub attempts: u32,
    /// How many seconds it lasts.
    pub length: f64,
    /// When the trouble begins, and when its cause is gone.
    pub trouble: (f64, f64),
    /// The upstream.
    pub nature: Nature,
}

fn calm() -> Nature {
    Nature {
        capacity: vec![(0.0, 1200.0)],
        queue: 600.0,
        down: None,
        cold: None,
        dead: None,
        timeout: 1.0,
    }
}

/// It is down for a while, and its caches are empty when it is back.
pub fn cold_restart() -> Scenario {
    Scenario {
        name: "cold restart",
        about: "down for 10 s, then an eighth of its capacity, which grows until its caches have seen 3000 calls",
        offered: 1000.0,
        attempts: 1,
        length: 90.0,
        trouble: (20.0, 30.0),
        nature: Nature {
            down: Some((20.0, 30.0)),
            cold: Some((0.125, 3000.0)),
            queue: 1000.0,
            ..calm()
        },
    }
}

/// It takes a fifth of the calls and refuses the others at once.
pub fn a_fifth() -> Scenario {
    Scenario {
        name: "a fifth of the capacity",
        about: "takes 200 of 1000 calls a second for 60 s, and refuses the rest at once",
        offered: 1000.0,
        attempts: 1,
        length: 120.0,
        trouble: (20.0, 80.0),
        nature: Nature {
            capacity: vec![
                (0.0, 1200.0),
                (19.999, 1200.0),
                (20.0, 200.0),
                (79.999, 200.0),
                (80.0, 1200.0),
            ],
            queue: 10.0,
            ..calm()
        },
    }
}

/// One of its five shards is down.
pub fn dead_shard() -> Scenario {
    Scenario {
        name: "one of five shards dead",
        about: "a fifth of the keys fails for 40 s",
        offered: 1000.0,
        attempts: 1,
        length: 100.0,
        trouble: (20.0, 60.0),
        nature: Nature {
            dead: Some((20, 20.0, 60.0)),
            ..calm()
        },
    }
}

/// Its capacity goes down slowly, far below what is asked, and comes back.
pub fn slow_degradation() -> Scenario {
    Scenario {
        name: "slow degradation",
        about: "from 1200 calls a second to 300 within 40 s, and back within 20 s",
        offered: 1000.0,
        attempts: 1,
        length: 120.0,
        trouble: (20.0, 80.0),
        nature: Nature {
            capacity: vec![(0.0, 1200.0), (20.0, 1200.0), (60.0, 300.0), (80.0, 1200.0)],
            ..calm()
        },
    }
}

/// A short slowness, after which retries keep it overloaded.
pub fn retry_storm() -> Scenario {
    Scenario {
        name: "overload by retries",
        about: "a third of its capacity for 5 s; each request is tried up to four times, and the server works on what its callers have given up",
        offered: 800.0,
        attempts: 4,
        length: 120.0,
        trouble: (20.0, 25.0),
        nature: Nature {
            capacity: vec![
                (0.0, 1000.0),
                (19.999, 1000.0),
                (20.0, 300.0),
                (24.999, 300.0),
                (25.0, 1000.0),
            ],
            queue: 4000.0,
            ..calm()
        },
    }
}

/// Most of the calls fail for reasons of their own, however few are sent.
pub fn mostly_failing() -> Scenario {
    Scenario {
        name: "three of five shards dead",
        about: "60 % of the keys fail for 80 s",
        length: 140.0,
        trouble: (20.0, 100.0),
        nature: Nature {
            dead: Some((60, 20.0, 100.0)),
            ..calm()
        },
        ..dead_shard()
    }
}

/// All of them.
pub fn all() -> [Scenario; 6] {
    [
        cold_restart(),
        a_fifth(),
        dead_shard(),
        slow_degradation(),
        retry_storm(),
        mostly_failing(),
    ]
}
