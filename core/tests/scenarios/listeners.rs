//! Listeners that re-enter and panic.

use super::*;

#[test]
fn a_listener_may_call_the_breaker() {
    let breaker = Arc::new(OnceLock::<Weak<Breaker<ManualClock>>>::new());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let built = {
        let (breaker, heard) = (Arc::clone(&breaker), Arc::clone(&heard));
        Breaker::builder()
            .consecutive_failures(1)
            .clock(ManualClock::new())
            .listener(move |event| {
                let breaker = breaker.get().and_then(Weak::upgrade).unwrap();
                heard.lock().unwrap().push((event.from, event.to));
                assert_eq!(breaker.state(), breaker.snapshot().state);
                let admitted = breaker.allow().map(|permit| permit.ignore()).is_ok();
                match event.to {
                    State::Open => {
                        assert!(!admitted);
                        breaker.force_open(None, "a listener's decision");
                    }
                    State::ForcedOpen => breaker.close("and its opposite"),
                    _ => assert!(admitted),
                }
            })
            .build()
            .unwrap()
    };
    let built = Arc::new(built);
    breaker.set(Arc::downgrade(&built)).unwrap();

    assert_eq!(built.allow().unwrap().failure(), Settled::Tripped);
    assert_eq!(
        *heard.lock().unwrap(),
        [
            (State::Closed, State::Open),
            (State::Open, State::ForcedOpen),
            (State::ForcedOpen, State::Closed),
        ]
    );
    assert_eq!(built.state(), State::Closed);
    assert_eq!(built.listener_panics(), 0);
}

#[test]
fn a_panicking_listener_changes_nothing() {
    let clock = ManualClock::new();
    let heard = Arc::new(AtomicU32::new(0));
    let builder = || {
        Breaker::builder()
            .consecutive_failures(1)
            .clock(clock.clone())
    };
    let plain = builder().build().unwrap();
    let panicking = {
        let heard = Arc::clone(&heard);
        builder()
            .listener(|_| std::panic::resume_unwind(Box::new("a bad listener")))
            .listener(move |_| {
                heard.fetch_add(1, Ordering::Relaxed);
            })
            .build()
            .unwrap()
    };

    for breaker in [&plain, &panicking] {
        assert_eq!(breaker.allow().unwrap().failure(), Settled::Tripped);
    }
    clock.advance(Duration::from_secs(30));
    for breaker in [&plain, &panicking] {
        let answer = breaker.call(|| Err::<(), _>("still down"));
        assert_eq!(answer, Err(CallError::Inner("still down")));
    }
    assert_eq!(panicking.snapshot(), plain.snapshot());
    assert_eq!(panicking.generation(), 3);
    assert_eq!(panicking.listener_panics(), 3);
    assert_eq!(heard.load(Ordering::Relaxed), 3, "the listener after it");
}

/// What a listener panics with, and what is dropped then.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::resume_unwind(Box::new("and again"));
    }
}

fn explode() {
    std::panic::resume_unwind(Box::new(Bomb));
}

#[test]
fn a_panic_whose_payload_panics_when_it_is_dropped_is_contained_in_every_callback() {
    let set = ListenerSet::new();
    set.add(|_, _| explode());
    let heard = Arc::new(AtomicU32::new(0));
    let last = Arc::clone(&heard);
    let breaker = Breaker::builder()
        .consecutive_failures(1)
        .max_probes(1)
        .clock(ManualClock::new())
        .listener(|_| explode())
        .listeners(&set)
        .slot_listener(explode)
        .call_listener(|_, _| explode())
        .listener(move |_| {
            last.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    breaker.force_open(Some(Duration::ZERO), "test");
    breaker.allow().unwrap().ignore();
    breaker.allow().unwrap().success();
    breaker.allow().unwrap().failure();
    breaker.close("test");
    assert_eq!(heard.load(Ordering::Relaxed), 5, "each transition is told");
    assert_eq!(set.panics(), 5);
    // One of the builder's for each transition, one for the slot, three for the calls.
    assert_eq!(breaker.listener_panics(), 5 + 1 + 3);
}

#[test]
fn a_slot_listener_may_reconfigure_and_free_slots() {
    let breaker = Arc::new(OnceLock::<Breaker<ManualClock>>::new());
    let told = Arc::new(AtomicU32::new(0));
    let built = {
        let (breaker, told) = (Arc::clone(&breaker), Arc::clone(&told));
        Breaker::builder()
            .consecutive_failures(1)
            .clock(ManualClock::new())
            .max_inconclusive(5)
            .slot_listener(move || {
                told.fetch_add(1, Ordering::Relaxed);
                let breaker = breaker.get().unwrap();
                let config = breaker.config();
                breaker.reconfigure(config).unwrap();
                let mut raised = config;
                raised.max_probes = (config.max_probes + 1).min(255);
                breaker.reconfigure(raised).unwrap();
                if let Ok(probe) = breaker.allow() {
                    probe.ignore();
                }
            })
            .build()
            .unwrap()
    };
    let breaker = breaker.get_or_init(|| built);
    breaker.reconfigure(breaker.config()).unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 0, "no slot is free by that");
    breaker.force_open(Some(Duration::ZERO), "test");
    breaker.allow().unwrap().ignore();
    assert_eq!(breaker.snapshot().cause, Some(Cause::ProbesInconclusive));
    assert!(told.load(Ordering::Relaxed) >= 2);
}

#[test]
fn a_call_listener_may_make_calls_of_its_own() {
    let breaker = Arc::new(OnceLock::<Breaker<ManualClock>>::new());
    let told = Arc::new(AtomicU32::new(0));
    let built = {
        let (breaker, told) = (Arc::clone(&breaker), Arc::clone(&told));
        Breaker::builder()
            .clock(ManualClock::new())
            .call_listener(move |_, _| {
                told.fetch_add(1, Ordering::Relaxed);
                breaker.get().unwrap().allow().unwrap().success();
            })
            .build()
            .unwrap()
    };
    let breaker = breaker.get_or_init(|| built);
    breaker.allow().unwrap().success();
    assert_eq!(told.load(Ordering::Relaxed), 1);
    assert_eq!(breaker.snapshot().counts().samples, 2);
}

#[test]
fn listeners_of_a_set_come_and_go_and_may_remove_themselves() {
    let set = ListenerSet::new();
    let breaker = Breaker::builder()
        .name("search")
        .listeners(&set)
        .build()
        .unwrap();
    breaker.disable("nobody listens");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let id = {
        let (heard, set, id) = (Arc::clone(&heard), set.clone(), Arc::new(OnceLock::new()));
        let own = Arc::clone(&id);
        let added = set.clone().add(move |name, event| {
            heard.lock().unwrap().push((name.to_owned(), event.to));
            if event.to == State::Closed {
                assert!(set.remove(*own.get().unwrap()));
            }
        });
        id.set(added).unwrap();
        added
    };
    breaker.observe_only("one");
    breaker.close("two");
    breaker.disable("it is gone");
    assert!(!set.remove(id));
    let told = |to| ("search".to_owned(), to);
    assert_eq!(
        *heard.lock().unwrap(),
        [told(State::ObserveOnly), told(State::Closed)]
    );
}
