//! What the series say of a throttle.

use cutout::{ManualClock, Throttle};

use crate::page::Scraper;

#[test]
fn a_throttle_tells_its_share_its_window_and_what_it_refused() {
    let clock = ManualClock::new();
    let builder = Throttle::builder().name("search").totals(true).seed(1);
    let throttle = builder.clock(clock).build().unwrap();
    let scraper = Scraper::new();
    for call in 0..100 {
        let _ = throttle.allow().map(|permit| match call % 10 {
            0 => permit.success(),
            _ => permit.timeout(),
        });
    }
    let share = throttle.share();
    scraper.throttles([&throttle]);
    let text = scraper.text();
    let value = |series: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(series));
        let line = line.unwrap_or_else(|| panic!("no {series} in {text}"));
        line.rsplit_once(' ').unwrap().1.parse().unwrap()
    };
    let of = "{throttle=\"search\"";
    assert_eq!(value(&format!("cutout_throttle_share{of}")), share.refused);
    assert_eq!(
        value(&format!("cutout_throttle_window_requests{of}")),
        100.0
    );
    assert_eq!(
        value(&format!("cutout_throttle_window_accepts{of}")),
        f64::from(share.accepts)
    );
    let timeouts = value(&format!(
        "cutout_throttle_calls_total{of},outcome=\"timeout\"}}"
    ));
    let refused = value(&format!("cutout_throttle_refusals_total{of}"));
    assert_eq!(timeouts, f64::from(share.failures));
    assert_eq!(refused, f64::from(100 - share.accepts - share.failures));
    assert!(refused > 30.0, "{refused}");

    drop(throttle);
    scraper.throttles::<ManualClock>([]);
    assert!(
        scraper
            .text()
            .contains("cutout_throttle_share{throttle=\"search\"} -1")
    );
}
