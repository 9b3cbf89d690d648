//! Instructions per call, counted by callgrind: `cargo bench --bench instructions`.
//!
//! They do not move with the machine, so they have limits, above which this
//! fails. It needs valgrind and `gungraun-runner` in the version that it names
//! when it does not find it; without them it says so and is done.

#[allow(unused_qualifications, reason = "the macros of the harness write them")]
mod calls {
    use std::hint::black_box;

    use cutout_bench::cast::{ours, throttled};
    use cutout_bench::stage::Stage;
    use cutout_bench::workload::{Load, Style, Workload};
    use gungraun::prelude::*;
    use gungraun::{Callgrind, EventKind};

    /// Enough to make what is around the calls small beside them.
    const CALLS: u64 = 1000;
    const HEALTHY: Workload = Workload::new(Load::Healthy);
    const REJECTING: Workload = Workload::new(Load::Rejecting);

    const fn failing(percent: u8) -> Workload {
        Workload::new(Load::Failing(percent))
    }

    fn stage(workload: Workload) -> Box<dyn Stage> {
        ours().stage(workload).expect("this crate can do them all")
    }

    fn throttle(workload: Workload) -> Box<dyn Stage> {
        throttled(workload).expect("it admits healthy calls")
    }

    /// At most so many instructions a call, the loop around it included: what was counted
    /// and up to three percent.
    fn at_most(per_call: u64) -> LibraryBenchmarkConfig {
        let mut callgrind = Callgrind::default();
        callgrind.hard_limits([(EventKind::Ir, per_call * CALLS)]);
        LibraryBenchmarkConfig::default().tool(callgrind).clone()
    }

    #[library_benchmark(setup = stage)]
    #[bench::healthy(args = (HEALTHY), config = at_most(22))]
    #[bench::healthy_closure(args = (HEALTHY.style(Style::Closure)), config = at_most(24))]
    #[bench::healthy_owned(args = (HEALTHY.style(Style::Owned)), config = at_most(33))]
    #[bench::healthy_listener(args = (HEALTHY.listener()), config = at_most(22))]
    #[bench::healthy_counted(args = (HEALTHY.counted()), config = at_most(76))]
    #[bench::state(args = (HEALTHY.style(Style::Look)), config = at_most(8))]
    #[bench::failing_1(args = (failing(1)), config = at_most(100))]
    #[bench::failing_20(args = (failing(20)), config = at_most(128))]
    #[bench::healthy_scores(args = (HEALTHY.scores()), config = at_most(22))]
    #[bench::failing_1_scores(args = (failing(1).scores()), config = at_most(42))]
    #[bench::failing_20_scores(args = (failing(20).scores()), config = at_most(149))]
    #[bench::failing_20_window_4096(args = (failing(20).window(4096)), config = at_most(168))]
    #[bench::failing_20_timeout_rule(args = (failing(20).timeout_rule()), config = at_most(174))]
    #[bench::failing_20_timeout_rule_window_4096(args = (failing(20).timeout_rule().window(4096)), config = at_most(192))]
    #[bench::healthy_slow_rule(args = (HEALTHY.slow_rule()), config = at_most(503))]
    #[bench::healthy_time_window(args = (HEALTHY.time_window()), config = at_most(355))]
    #[bench::healthy_throttled(args = (HEALTHY), setup = throttle, config = at_most(275))]
    #[bench::failing_20_time_window(args = (failing(20).time_window()), config = at_most(385))]
    #[bench::healthy_layer(args = (HEALTHY.style(Style::Layer)), config = at_most(87))]
    #[bench::healthy_borrowing_layer(args = (HEALTHY.style(Style::BorrowingLayer)), config = at_most(63))]
    #[bench::failing_50(args = (failing(50)), config = at_most(131))]
    #[bench::rejecting(args = (REJECTING), config = at_most(180))]
    #[bench::half_open_storm(args = (Workload::new(Load::HalfOpenStorm)), config = at_most(109))]
    #[bench::flapping(args = (Workload::new(Load::Flapping).window(10)), config = at_most(403))]
    fn thousand_calls(stage: Box<dyn Stage>) -> (u64, Box<dyn Stage>) {
        (black_box(stage.work(0, 1, CALLS)), stage)
    }

    library_benchmark_group!(name = calls, benchmarks = thousand_calls);
    main!(library_benchmark_groups = calls);

    pub(super) fn run() {
        main();
    }
}

fn main() {
    cutout_bench::instructions::prepare();
    calls::run();
}
