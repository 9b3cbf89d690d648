//! What a scrape shows.
#![cfg(feature = "metrics")]

use cutout_fleet::{Fleet, InProcess};
use metrics_exporter_prometheus::PrometheusBuilder;

#[test]
fn a_scrape_shows_the_health_of_the_fleet() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let fleet = Fleet::builder().start(InProcess::new()).unwrap();
    metrics::with_local_recorder(&recorder, || fleet.record_metrics());
    let scrape = handle.render();
    for line in [
        "cutout_fleet_members 1",
        "cutout_fleet_takeovers_total 0",
        "cutout_fleet_statements_total{what=\"not_sent\"} 0",
        "cutout_fleet_ignored_total{why=\"twin\"} 0",
    ] {
        assert!(scrape.contains(line), "{line} is not in\n{scrape}");
    }
}
