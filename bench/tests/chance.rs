//! The core's page on how to choose a rule has the numbers that come out.

use std::fs;
use std::path::Path;

use cutout_bench::chance::{Bursts, Case, computed};

fn written(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/guide/choosing");
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn what_is_computed_is_on_the_page() {
    for (name, page) in computed() {
        assert!(
            page == written(name),
            "{name} is not what comes out: run the example `chances`\n{page}"
        );
    }
}

/// The first case: 10^6 calls at 1 %, whose rules are small.
#[test]
fn delays_come_out_as_they_are_on_the_page_and_the_score_is_first_where_it_is_made_for() {
    let case = Case::all()[0];
    let delays = case.delays();
    let rows = case.rows(&delays);
    assert!(written("delays.md").contains(&rows), "{rows}");
    let [score, window, run] = delays.each_ref().map(|delays| delays.calls[case.design()]);
    assert!(score < window && window < run, "{score} {window} {run}");
    // The odds of scores are exact, and the breaker's are the same.
    for (share, found) in [0.3, 0.5, 0.9, 1.0].into_iter().zip(delays[0].calls) {
        let exact = delays[0].rule.mean_calls(share);
        assert!(
            (found / exact - 1.0).abs() < 0.02,
            "{share}: {found} {exact}"
        );
    }
}

#[test]
fn what_bursts_do_comes_out_as_it_is_on_the_page() {
    let rows = Bursts::all();
    let lasting = &rows[5];
    let row = lasting.row();
    assert!(row.contains("0.5 s"), "{row}");
    assert!(written("bursts.md").contains(&row), "{row}");
}
