//! Every subject plays the workloads that it does not decline, in the state that
//! they ask for; the runs check it themselves.

use cutout_bench::cast::{breakers, floors, ours, peers};
use cutout_bench::entry::{Entry, Kind};
use cutout_bench::workload::{Load, Style, Workload};

fn workloads() -> Vec<Workload> {
    let healthy = Workload::new(Load::Healthy);
    vec![
        healthy,
        healthy.window(4096),
        healthy.style(Style::Owned),
        healthy.style(Style::Closure),
        healthy.counted(),
        healthy.style(Style::Look),
        healthy.style(Style::Layer),
        healthy.style(Style::BorrowingLayer),
        healthy.time_window(),
        Workload::new(Load::Failing(20)).time_window(),
        healthy.scores(),
        Workload::new(Load::Failing(1)).scores(),
        Workload::new(Load::Failing(20)).scores(),
        healthy.slow_rule(),
        healthy.listener(),
        Workload::new(Load::Failing(1)),
        Workload::new(Load::Failing(20)),
        Workload::new(Load::Failing(20)).timeout_rule(),
        Workload::new(Load::Failing(50)),
        Workload::new(Load::Rejecting),
        Workload::new(Load::HalfOpenStorm),
        Workload::new(Load::Flapping).window(10),
    ]
}

fn play(entry: &Entry, workload: Workload) -> Result<(), String> {
    let stage = entry.stage(workload)?;
    for calls in [13, 500] {
        let run = stage.run(1, calls);
        run.unwrap_or_else(|reason| panic!("{entry:?}, {workload}: {reason}"));
    }
    Ok(())
}

#[test]
fn this_crate_plays_them_all() {
    for workload in workloads() {
        let played = play(&ours(), workload);
        assert_eq!(played, Ok(()), "{workload}");
    }
}

#[test]
fn the_peers_play_the_main_ones_and_decline_the_rest_with_a_reason() {
    for peer in peers() {
        for workload in workloads() {
            let played = play(&peer, workload);
            let is_main = matches!(workload.load, Load::Healthy | Load::Failing(_));
            if is_main && workload.is_plain() && !workload.listener {
                assert_eq!(played, Ok(()), "{peer:?}, {workload}");
            } else if let Err(reason) = played {
                assert!(!reason.is_empty());
            }
        }
    }
}

#[test]
fn threads_share_a_subject() {
    for entry in breakers() {
        for load in [Load::Healthy, Load::Rejecting] {
            let Ok(stage) = entry.stage(Workload::new(load)) else {
                continue;
            };
            let run = stage.run(3, 200);
            let run = run.unwrap_or_else(|reason| panic!("{entry:?}, {load:?}: {reason}"));
            assert_eq!(run.per_thread.len(), 3);
        }
    }
}

#[test]
fn a_subject_in_another_state_than_the_workloads_voids_the_run() {
    // A window of one outcome trips on the first failure.
    let workload = Workload::new(Load::Failing(50)).window(1);
    let stage = ours().stage(workload);
    let void = stage.and_then(|stage| stage.run(1, 100).map(drop));
    assert!(void.is_err());
}

#[test]
fn names_are_unique_and_floors_are_only_floors() {
    let mut names: Vec<_> = breakers()
        .iter()
        .chain(&floors())
        .map(|entry| entry.name)
        .collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    for floor in floors() {
        assert_eq!(floor.kind, Kind::Floor);
        let beside = cutout_bench::cast::beside(Workload::new(Load::Healthy));
        let stage = floor.stage(Workload::new(Load::Healthy));
        assert_eq!(stage.is_ok(), floor.name == beside.name);
        assert!(floor.stage(Workload::new(Load::Floor)).is_ok());
    }
}
