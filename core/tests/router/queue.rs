//! Changes of a queue in use, and what is refused.

use std::time::Duration;

use cutout::ManualClock;
use cutout::router::{Attempts, NoTarget, Place, Policy, Role, Router, RouterConfig, RouterError};

use super::{Routes, by, choose, router, target};

fn names(router: &Routes) -> Vec<String> {
    router
        .members()
        .iter()
        .map(|member| member.name().to_owned())
        .collect()
}

#[test]
fn targets_are_added_moved_and_removed_in_use() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["a", "b"]);
    let in_flight = choose(&router).unwrap();
    router.add(target(&clock, "c")).unwrap();
    router.insert(0, target(&clock, "d")).unwrap();
    assert_eq!(names(&router), ["d", "a", "b", "c"]);
    router.move_to("c", 0).unwrap();
    router.move_to("d", 3).unwrap();
    assert_eq!(names(&router), ["c", "a", "b", "d"]);
    let removed = router.remove("a").unwrap();
    assert_eq!(names(&router), ["c", "b", "d"]);
    assert_eq!(removed.in_flight(), 1);
    in_flight.success();
    assert_eq!(removed.in_flight(), 0);
    assert_eq!(removed.breaker().snapshot().counts().samples, 1);
}

#[test]
fn places_show_weights_and_roles() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Weighted), &["a", "b"]);
    router.set_weight("b", 7).unwrap();
    router
        .insert(1, target(&clock, "new").role(Role::Canary))
        .unwrap();
    let shown =
        |place: Place<(), ManualClock>| (place.member.name().to_owned(), place.weight, place.role);
    let shown: Vec<_> = router.places().into_iter().map(shown).collect();
    let expected = [
        ("a", 1, Role::Ordinary),
        ("new", 1, Role::Canary),
        ("b", 7, Role::Ordinary),
    ];
    assert_eq!(
        shown,
        expected.map(|(name, weight, role)| (name.to_owned(), weight, role))
    );
}

#[test]
fn the_last_ordinary_target_stays() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["a"]);
    assert_eq!(router.remove("a").unwrap_err(), RouterError::LastTarget);
    router
        .add(target(&clock, "new").role(Role::Canary))
        .unwrap();
    router
        .add(target(&clock, "stand-in").role(Role::LastResort))
        .unwrap();
    assert_eq!(router.remove("a").unwrap_err(), RouterError::LastTarget);
    assert_eq!(
        router.set_role("a", Role::Canary).unwrap_err(),
        RouterError::LastTarget
    );
    router.set_role("new", Role::Ordinary).unwrap();
    router.remove("a").unwrap();
    assert_eq!(names(&router), ["new", "stand-in"]);
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["a", "b"]);
    let unknown = RouterError::UnknownName("x".into());
    assert_eq!(router.remove("x").unwrap_err(), unknown);
    assert_eq!(router.move_to("x", 0).unwrap_err(), unknown);
    assert_eq!(router.set_weight("x", 1).unwrap_err(), unknown);
    assert_eq!(
        router.move_to("a", 2).unwrap_err(),
        RouterError::NoSuchPosition {
            position: 2,
            len: 2
        },
    );
    assert!(router.insert(3, target(&clock, "c")).is_err());
    assert_eq!(
        router.add(target(&clock, "a")).unwrap_err(),
        RouterError::DuplicateName("a".into()),
    );
    for weight in [0, 10_001] {
        let error = router.set_weight("a", weight).unwrap_err();
        let RouterError::Config(error) = error else {
            panic!("{error}")
        };
        assert_eq!(
            (error.field(), error.value()),
            ("weight", &*weight.to_string())
        );
    }
    for config in [
        RouterConfig {
            canary_basis_points: 10_001,
            ..by(Policy::Priority)
        },
        RouterConfig {
            ramp: Some(Duration::ZERO),
            ..by(Policy::Priority)
        },
    ] {
        assert!(matches!(
            router.reconfigure(config),
            Err(RouterError::Config(_))
        ));
    }
    assert_eq!(names(&router), ["a", "b"]);
    assert_eq!(router.config(), by(Policy::Priority));
    let none: Result<Routes, _> = Router::new(by(Policy::Priority), []);
    assert_eq!(none.unwrap_err(), RouterError::LastTarget);
}

#[test]
fn a_queue_holds_128_targets() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::RoundRobin), &["0"]);
    for name in 1..128 {
        router.add(target(&clock, &name.to_string())).unwrap();
    }
    assert_eq!(
        router.add(target(&clock, "128")).unwrap_err(),
        RouterError::Full
    );
    let mut attempts = Attempts::new();
    for tried in 1..=128 {
        router.choose(&mut attempts).unwrap().success();
        assert_eq!(attempts.tried(), tried);
    }
    let exhausted = router.choose(&mut attempts).unwrap_err();
    assert_eq!(exhausted, NoTarget::Exhausted { tried: 128 });
}

#[test]
fn a_request_is_not_sent_to_a_target_twice_even_if_the_queue_changes() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["a", "b"]);
    let mut attempts = Attempts::new();
    router.choose(&mut attempts).unwrap().ignore();
    router.move_to("a", 1).unwrap();
    router.add(target(&clock, "c")).unwrap();
    router.choose(&mut attempts).unwrap().ignore();
    router.remove("b").unwrap();
    // A new target of an old name is another target.
    router.insert(0, target(&clock, "b")).unwrap();
    let next = router.choose(&mut attempts).unwrap();
    assert_eq!(next.name(), "b");
    next.ignore();
    assert_eq!(router.choose(&mut attempts).unwrap().name(), "c");
    assert_eq!(
        router.choose(&mut attempts).unwrap_err(),
        NoTarget::Exhausted { tried: 4 }
    );
}
