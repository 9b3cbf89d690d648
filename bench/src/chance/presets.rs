//! The odds of the presets.

use std::fmt::Write as _;

use cutout::Config;
use cutout::odds::Traffic;

use super::text::calls;

const WELL: [f64; 4] = [0.01, 0.05, 0.1, 0.2];
const ILL: [f64; 4] = [0.3, 0.5, 0.9, 1.0];

/// The table.
pub(super) fn table() -> String {
    let mut text = String::from(
        "| preset | calls between false trips at 1 % | 5 % | 10 % | 20 % | calls until it opens at 30 % | 50 % | 90 % | all fail |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let scores = Config::for_rates(0.01, 0.3, 1e9).expect("the shares are far apart");
    for (name, config) in [
        ("`Config::default()`", Config::default()),
        ("`Config::high_traffic()`", Config::high_traffic()),
        ("`Config::low_traffic()`", Config::low_traffic()),
        ("`Config::for_rates(0.01, 0.3, 1e9)`", scores),
    ] {
        let _ = write!(text, "| {name}");
        for share in WELL.into_iter().chain(ILL) {
            let odds = config.odds(Traffic::failing(share));
            let odds = odds.expect("the presets are legal");
            let _ = write!(text, " | {}", calls(odds.from_full.mean_calls()));
        }
        text.push_str(" |\n");
    }
    text
}
