//! Line writes per call, and what they predict for more cores:
//! `cargo bench --bench line_traffic`. The README of this folder explains the model.

use cutout_bench::arguments::Arguments;
use cutout_bench::traffic::{self, MACHINES, Machine, Traffic};

fn main() -> Result<(), String> {
    let about = "Line writes per call, and what they predict for more cores";
    let arguments = Arguments::of_process("line_traffic", about);
    if !arguments.measures() {
        return Ok(());
    }
    let selected = traffic::workloads()
        .into_iter()
        .filter(|workload| arguments.selects(&format!("line_traffic/{workload}")));
    if arguments.has("list") {
        selected.for_each(|workload| println!("line_traffic/{workload}: benchmark"));
        return Ok(());
    }
    let measured: Vec<Traffic> = selected.map(traffic::measure).collect::<Result<_, _>>()?;
    if !measured.is_empty() {
        show(&measured);
    }
    Ok(())
}

fn show(measured: &[Traffic]) {
    let here = Machine {
        cores: 2,
        transfer_ns: traffic::transfer_here().as_nanos() as f64,
    };
    println!(
        "line traffic per call; a line takes {} ns from core to core here\n\
         {:<12} {:>7} {:>6} {:>7} {:>6}",
        here.transfer_ns, "workload", "threads", "loads", "writes", "lost"
    );
    for traffic in measured {
        for (threads, counts) in [1, 2].into_iter().zip(traffic.per_call) {
            println!(
                "{:<12} {threads:>7} {:>6.2} {:>7.3} {:>6.3}",
                traffic.workload.to_string(),
                counts.loads,
                counts.writes,
                counts.lost,
            );
        }
        let millions = |per_second: f64| per_second / 1e6;
        println!(
            "{:<12} {:.2} ns alone; on 2 cores measured {:.0} M/s, predicted {:.0} M/s",
            "",
            traffic.ns_alone,
            millions(traffic.per_second_on_two),
            millions(traffic.per_second(here)),
        );
        for machine in MACHINES {
            println!(
                "{:<12} on {} cores, {} ns a transfer: {:.0} M/s",
                "",
                machine.cores,
                machine.transfer_ns,
                millions(traffic.per_second(machine)),
            );
        }
    }
}
