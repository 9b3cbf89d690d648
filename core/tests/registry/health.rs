//! What is told of all breakers together.

use std::time::Duration;

use cutout::ManualClock;

use super::registry;

#[test]
fn each_breaker_is_counted_in_its_state_and_a_wait_that_is_over_as_half_open() {
    let clock = ManualClock::new();
    let registry = registry(&clock, 100);
    let breaker = |key: &str| registry.get_or_create(key).unwrap();
    breaker("closed");
    breaker("waited").allow().unwrap().failure();
    clock.advance(Duration::from_secs(31));
    breaker("open").allow().unwrap().failure();
    breaker("forced").force_open(None, "test");
    breaker("disabled").disable("test");
    breaker("observed").observe_only("test");
    let health = registry.health();
    let states = [
        health.closed,
        health.open,
        health.half_open,
        health.forced_open,
        health.disabled,
        health.observe_only,
    ];
    assert_eq!(states, [1; 6], "{health}");
    assert_eq!((health.total(), health.admitting()), (6, 3));
}
