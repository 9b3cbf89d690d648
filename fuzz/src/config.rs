//! Configs: a typed error that changes nothing, or a breaker that works.

use arbitrary::Unstructured;
use cutout::{Breaker, Config, ManualClock, Outcome};

use super::lockstep::Lockstep;
use super::values;

/// Builds and reconfigures with the configs that `data` is.
pub fn config(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let clock = ManualClock::new();
    let present = Breaker::builder().clock(clock.clone()).build();
    let present = present.expect("the defaults are legal");
    while let Ok(config) = values::config(&mut input) {
        let verdict = config.validate();
        let before = present.config();
        assert_eq!(present.reconfigure(config), verdict);
        match (&verdict, Lockstep::new(config, &clock, false)) {
            (Ok(()), Ok(mut both)) => {
                for outcome in [Outcome::Success, Outcome::Failure, Outcome::Timeout] {
                    let _ = both.calls(3, outcome.into());
                }
                assert_eq!(present.config().validate(), Ok(()));
            }
            (Err(error), Err(refused)) => {
                assert_eq!(*error, refused);
                assert!(error.to_string().starts_with(error.field()));
                assert_eq!(present.config(), before, "a refused config changes nothing");
            }
            (verdict, _) => panic!("{config:?}: validated {verdict:?}, built otherwise"),
        }
        if input.is_empty() {
            break;
        }
    }
    assert!(Config::default().validate().is_ok());
}
