//! Clocks, configs and listeners that do their worst: nothing panics, hangs or is left half done.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cutout::{
    Breaker, Clock, Config, ListenerId, ListenerSet, ManualClock, OpenWait, Outcome, Overdue,
    Report, SlowRule, State, Window,
};

/// Draws numbers of every order of magnitude.
struct Random(Cell<u64>);

impl Random {
    fn next(&self) -> u64 {
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        x
    }

    fn below(&self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    fn any_length(&self) -> Duration {
        match self.below(12) {
            0 => Duration::MAX,
            1 => Duration::from_nanos(u64::MAX),
            2 => Duration::from_nanos(1),
            _ => Duration::from_nanos((self.next() >> self.below(64)).max(1)),
        }
    }
}

/// What no wild reading reaches.
const LATEST: u64 = 1 << 62;

/// Each reading is another number, until it is told to behave.
#[derive(Debug, Default)]
struct Wild {
    state: AtomicU64,
    is_tame: AtomicBool,
    tame: ManualClock,
}

#[derive(Clone, Debug, Default)]
struct WildClock(Arc<Wild>);

impl WildClock {
    fn number(&self) -> u64 {
        let x = self
            .0
            .state
            .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> (x % 64)) % LATEST
    }
}

impl Clock for WildClock {
    fn now(&self) -> u64 {
        if self.0.is_tame.load(Ordering::Relaxed) {
            self.0.tame.now()
        } else {
            self.number()
        }
    }

    fn unix_time(&self) -> Duration {
        Duration::new(self.number(), 999_999_999)
    }
}

fn any_config(random: &Random) -> Config {
    Config::default().with(|config| {
        config.window = match random.below(3) {
            0 => Window::count(1 + random.below(5) as u32),
            1 => Window::count(1 + random.below(4096) as u32),
            _ => Window::time(
                random.any_length().max(Window::MIN_LENGTH),
                1 + random.below(60) as u32,
            ),
        };
        config.min_calls = Some(1);
        config.slow = (random.below(2) == 0).then(|| SlowRule {
            limit: random.any_length(),
            ratio: 0.5,
        });
        config.overdue = match random.below(3) {
            0 if config.slow.is_some() => Some(Overdue::Slow),
            1 => Some(Overdue::Timeout(random.any_length())),
            _ => None,
        };
        config.failures = (random.below(3) == 0).then_some(1);
        config.abandoned_after = (random.below(2) == 0).then(|| random.any_length());
        let base = random.any_length();
        config.open_wait = OpenWait {
            base,
            factor: [1.0, 2.0, 1e300][random.below(3) as usize],
            max: base.max(random.any_length()),
            jitter_percent: random.below(101) as u32,
        };
        config.probe_lease = (random.below(3) > 0).then(|| random.any_length());
        config.max_probes = 1 + random.below(3) as u32;
        config.max_inconclusive = 1 + random.below(3) as u32;
    })
}

fn any_report(random: &Random) -> Report {
    let outcomes = [
        Outcome::Success,
        Outcome::Answered,
        Outcome::Failure,
        Outcome::Timeout,
        Outcome::Ignored,
    ];
    let mut report = Report::from(outcomes[random.below(5) as usize]);
    if random.below(3) == 0 {
        report = report.elapsed(random.any_length());
    }
    if random.below(3) == 0 {
        report = report.retry_after(random.any_length());
    }
    if random.below(3) == 0 {
        report = report.label(["", "down", "é\0\u{7f}\n"][random.below(3) as usize]);
    }
    report
}

/// One of all that can be done to a breaker.
fn do_anything(
    breaker: &Arc<Breaker<WildClock>>,
    held: &mut Vec<cutout::OwnedPermit<WildClock>>,
    random: &Random,
) {
    match random.below(22) {
        0..=5 => held.extend(breaker.allow_owned()),
        6..=9 => {
            if !held.is_empty() {
                let permit = held.swap_remove(random.below(held.len() as u64) as usize);
                permit.done(any_report(random));
            }
        }
        10 => drop(held.pop()),
        11 => std::mem::forget(held.pop()),
        12 => breaker.force_open(Some(random.any_length()), "a while"),
        13 => breaker.force_open(None, "é".repeat(300)),
        14 => breaker.disable(""),
        15 => breaker.observe_only("look"),
        16 => breaker.close("enough"),
        17 => _ = breaker.resume("go on"),
        18 => breaker.reconfigure(any_config(random)).unwrap(),
        19 => breaker.heartbeat(),
        20 => {
            let refused = breaker.refusal();
            let told = refused.map(|refused| (refused.to_string(), breaker.evidence_for(&refused)));
            drop((
                told,
                breaker.is_available(),
                breaker.state(),
                breaker.totals(),
            ));
        }
        _ => drop((breaker.evidence().to_string(), breaker.log())),
    }
}

#[test]
fn a_clock_of_nonsense_and_any_config_leave_a_breaker_that_works() {
    for seed in 1..=400_u64 {
        let random = Random(Cell::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)));
        let clock = WildClock::default();
        clock.0.state.store(seed, Ordering::Relaxed);
        let builder = || {
            Breaker::builder()
                .config(any_config(&random))
                .clock(clock.clone())
                .totals(true)
                .log(true)
        };
        let mut breaker = Arc::new(builder().build().unwrap());
        let mut held = Vec::new();
        for _ in 0..400 {
            do_anything(&breaker, &mut held, &random);
            if random.below(50) == 0 {
                let snapshot = breaker.snapshot();
                breaker = Arc::new(builder().restore(snapshot).build().unwrap());
            }
        }
        held.clear();

        clock.0.tame.set(Duration::from_nanos(LATEST));
        clock.0.is_tame.store(true, Ordering::Relaxed);
        let plain = Config::default().with(|config| {
            config.window = Window::count(1);
            config.open_wait = OpenWait::fixed(Duration::from_secs(10));
        });
        breaker.reconfigure(plain).unwrap();
        breaker.close("from here on by the book");
        assert_eq!(breaker.state(), State::Closed, "{seed}");
        breaker.allow().unwrap().failure();
        assert_eq!(breaker.state(), State::Open, "{seed}");
        let wait = breaker.allow().unwrap_err().retry_after().unwrap();
        assert!(wait <= Duration::from_secs(11), "{seed}: {wait:?}");
        clock.0.tame.advance(wait);
        breaker.allow().unwrap().success();
        assert_eq!(breaker.state(), State::Closed, "{seed}");
    }
}

/// Panics in the reading that it is set to.
#[derive(Clone, Debug)]
struct PanickingClock(Arc<AtomicU32>);

impl Clock for PanickingClock {
    fn now(&self) -> u64 {
        let left = self.0.load(Ordering::Relaxed);
        if left == 1 {
            self.0.store(0, Ordering::Relaxed);
            std::panic::resume_unwind(Box::new("a bad clock"));
        }
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        1_000_000_000
    }

    fn unix_time(&self) -> Duration {
        Duration::ZERO
    }
}

#[test]
fn a_clock_that_panics_holds_up_nobody_after_it() {
    let fuse = Arc::new(AtomicU32::new(0));
    let breaker = Breaker::builder()
        .window(Window::time(Duration::from_secs(10), 10))
        .slow(SlowRule {
            limit: Duration::from_secs(1),
            ratio: 0.5,
        })
        .overdue(Overdue::Slow)
        .log(true)
        .clock(PanickingClock(fuse.clone()))
        .build()
        .unwrap();
    let windows = [5, 10].map(|buckets| Window::time(Duration::from_secs(10), buckets));
    let actions: [&dyn Fn(); 7] = [
        &|| drop(breaker.allow()),
        &|| _ = breaker.allow().map(|permit| permit.failure()),
        &|| breaker.force_open(Some(Duration::from_secs(1)), "test"),
        &|| _ = breaker.resume("test"),
        &|| drop(breaker.snapshot()),
        &|| {
            for window in windows {
                let config = breaker.config().with(|config| config.window = window);
                breaker.reconfigure(config).unwrap();
            }
        },
        &|| breaker.close("test"),
    ];
    for action in actions {
        for reading in 1..=3 {
            fuse.store(reading, Ordering::Relaxed);
            let _ = catch_unwind(AssertUnwindSafe(action));
            fuse.store(0, Ordering::Relaxed);
            breaker.reconfigure(breaker.config()).unwrap();
            breaker.close("as new");
            breaker.allow().unwrap().success();
            assert_eq!(breaker.state(), State::Closed);
        }
    }
}

#[test]
fn listeners_come_and_go_inside_of_listeners() {
    let set = ListenerSet::new();
    let told = Arc::new(AtomicU32::new(0));
    let own: Arc<OnceLock<ListenerId>> = Arc::default();
    let id = {
        let (set, told, own) = (set.clone(), told.clone(), own.clone());
        set.clone().add(move |_, _| {
            assert!(set.remove(*own.get().unwrap()));
            let (again, told) = (set.clone(), told.clone());
            set.add(move |_, event| {
                told.fetch_add(1, Ordering::Relaxed);
                assert_eq!(again.panics(), 0, "{event:?}");
            });
        })
    };
    own.set(id).unwrap();
    let breakers = ["one", "other"].map(|name| {
        Breaker::builder()
            .name(name)
            .listeners(&set)
            .listeners(&set)
            .clock(ManualClock::new())
            .build()
            .unwrap()
    });
    // The set is in it twice: the first time it changes itself, the second time the new one is told.
    breakers[0].disable("test");
    breakers[1].disable("test");
    assert_eq!(told.load(Ordering::Relaxed), 3);
    assert!(!set.remove(id));
    assert_eq!(set.panics(), 0);
}
