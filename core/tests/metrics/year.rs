//! A year of a registry whose keys come, fail once and are never asked for again, and its metrics.

use std::time::Duration;

use cutout::registry::{Registry, RegistryBuilder, RegistryConfig};
use cutout::{ManualClock, State};

use super::fragile;
use super::page::Scraper;

const HOUR: Duration = Duration::from_secs(3600);
const MAX_KEYS: usize = 200;
const MAX_NAMES: usize = 20;

#[test]
fn in_a_year_of_keys_that_fail_once_nothing_piles_up_and_no_key_is_refused() {
    let clock = ManualClock::new();
    let config = RegistryConfig {
        max_keys: MAX_KEYS,
        breaker: fragile(&clock).build().unwrap().config(),
        ..RegistryConfig::default()
    };
    let registry: Registry<String, _> = RegistryBuilder::new(clock.clone(), String::clone)
        .config(config)
        .prepare(|_, builder| builder.totals(true))
        .build()
        .unwrap();
    let scraper = Scraper::with_max_names(MAX_NAMES);
    let steady = registry.get_or_create("steady").unwrap();
    for hour in 0..24 * 365_u32 {
        for key in 0..3 {
            // Some come back once, and are down still.
            let key = (hour * 2 + key).to_string();
            let breaker = registry.get_or_create(&key).unwrap();
            breaker.allow().unwrap().failure();
            assert_eq!(breaker.state(), State::Open);
        }
        steady.allow().unwrap().success();
        clock.advance(HOUR);
        if hour % 24 == 0 {
            let breakers = registry.breakers();
            let page = scraper
                .round(breakers.iter().map(|(_, breaker)| &**breaker))
                .page();
            assert!(
                registry.len() <= MAX_KEYS,
                "{} in hour {hour}",
                registry.len()
            );
            assert_eq!(page.of("steady", "state", ""), 0.0);
            let names = MAX_NAMES + 1; // and one for all others
            assert!(page.len() <= 80 * names, "{} series", page.len());
        }
    }
    drop(steady);
    clock.advance(HOUR);
    registry.sweep();
    clock.advance(HOUR);
    registry.sweep();
    assert_eq!(registry.len(), 0);
    let page = scraper.round::<ManualClock>([]).page();
    assert_eq!(page.of("steady", "state", ""), -1.0);
    assert_eq!(page.of("0", "state", ""), -1.0);
    assert_eq!(page.all("cutout_breakers{state=\"open\"}"), 0.0);
}
