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
