//! The result for a terminal.

use std::fmt::Write as _;

use super::{Ranged, Report};
use crate::input::Reading;
use crate::judge::Answer;
use crate::shown::{grouped, span, time};
use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// What was read, in a few lines.
pub fn reading(reading: &Reading) -> String {
    let mut text = String::new();
    for input in &reading.inputs {
        let _ = writeln!(text, "{}: {}", input.name, input.format);
        if let Some(why) = &input.cut_short {
            let _ = writeln!(text, "  ENDS BEFORE ITS END: {why}");
        }
    }
    let _ = write!(
        text,
        "{} lines, {} calls",
        grouped(reading.lines),
        grouped(reading.calls)
    );
    if let (Some(first), Some(last)) = (reading.first_ns, reading.last_ns) {
        let _ = write!(text, " from {} to {}", time(first), time(last));
    }
    text.push('\n');
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            let _ = writeln!(text, "{} {what}", grouped(count));
        }
    };
    note(reading.not_calls, "lines hold no call");
    note(
        reading.duplicates,
        "lines by the other end of a call: counted once",
    );
    note(
        reading.without_duration,
        "calls without a duration: they end as they begin",
    );
    for (why, count) in &reading.skipped {
        note(*count, &format!("SKIPPED: {why}"));
    }
    for example in &reading.examples {
        let _ = writeln!(text, "  {example}");
    }
    for (from, length) in &reading.gaps {
        let _ = writeln!(text, "no call for {} from {}", span(*length), time(*from));
    }
    if reading.resolution_ns >= 1_000_000_000 {
        let _ = writeln!(
            text,
            "stamps are multiples of {}",
            span(reading.resolution_ns)
        );
    }
    if reading.stopped {
        text.push_str("STOPPED before the end of the inputs: what follows is of what was read\n");
    }
    text
}

/// The tables.
pub fn tables(report: &Report) -> String {
    let mut text = format!(
        "bad calls: {}; {} of {}\n",
        report.bad,
        grouped(report.bad_calls),
        grouped(report.reading.calls)
    );
    let troubles = match (report.troubles.len(), report.troubles_are_given) {
        (0, true) => "no trouble is given\n".to_owned(),
        (0, false) => "no trouble is found in hindsight\n".to_owned(),
        (count, true) => format!("{count} troubles, as given\n"),
        (count, false) => format!("{count} troubles, found in hindsight\n"),
    };
    text.push_str(&troubles);
    if report.orders > 1 {
        let _ = writeln!(
            text,
            "{} orders of calls within their stamps: numbers as written, and (least to most)",
            report.orders
        );
    }
    let mut table = bare();
    table.set_header([
        "config",
        "trips",
        "false",
        "missed",
        "open",
        "made well",
        "made bad",
        "spared",
        "lost",
        "saved",
    ]);
    for row in &report.configs {
        table.add_row([
            row.name.clone(),
            ranged(row.trips, grouped),
            ranged(row.false_trips, grouped),
            ranged(row.missed, grouped),
            span(row.not_closed_ns()),
            ranged(row.made_well, grouped),
            ranged(row.made_bad, grouped),
            ranged(row.spared, grouped),
            ranged(row.lost, grouped),
            ranged(row.saved_ns, span),
        ]);
    }
    numbers(&mut table);
    let _ = writeln!(text, "{table}");
    if !report.troubles.is_empty() {
        let mut table = bare();
        table.set_header([
            "trouble",
            "of",
            "from",
            "for",
            "config",
            "opened after",
            "closed after its end",
        ]);
        for (index, trouble) in report.troubles.iter().enumerate().take(40) {
            for row in &report.configs {
                let (opened, closed) = row.troubles.get(index).map(answer).unwrap_or_default();
                table.add_row([
                    trouble.name.clone(),
                    trouble.key.clone().unwrap_or_else(|| "all".to_owned()),
                    time(trouble.start_ns),
                    span(trouble.end_ns.abs_diff(trouble.start_ns)),
                    row.name.clone(),
                    opened,
                    closed,
                ]);
            }
        }
        let _ = writeln!(text, "{table}");
    }
    text.push_str(&shares(report));
    text.push_str(&trips(report));
    for row in &report.configs {
        if let Some(until) = row.judged_until_ns {
            let _ = writeln!(
                text,
                "{} CHANGED ITS STATE TOO OFTEN: its trips, its time open and its answers are those before {}",
                row.name,
                time(until)
            );
        }
    }
    text
}

/// What was refused while no breaker was open: on ramps, and by throttles.
fn shares(report: &Report) -> String {
    let mut text = String::new();
    for row in &report.configs {
        if row.ramping_ns > 0 {
            let (refused, ramping) = (ranged(row.ramped, grouped), span(row.ramping_ns));
            let _ = writeln!(
                text,
                "{}: {refused} refused on ramps, in {ramping}",
                row.name
            );
        }
        if row.throttled.max > 0 {
            let (refused, refusing) = (ranged(row.throttled, grouped), span(row.refusing_ns));
            let _ = writeln!(
                text,
                "{}: {refused} refused by throttles, in {refusing}",
                row.name
            );
        }
    }
    text
}

/// The first trips of each config, with their evidence.
fn trips(report: &Report) -> String {
    const OF_ONE: usize = 8;
    if report.configs.iter().all(|row| row.trip_list.is_empty()) {
        return String::new();
    }
    let mut table = bare();
    table.set_header([
        "config",
        "trip at",
        "of",
        "why",
        "evidence",
        "last failure",
        "trouble",
    ]);
    for row in &report.configs {
        for trip in row.trip_list.iter().take(OF_ONE) {
            table.add_row([
                row.name.clone(),
                time(trip.at_ns),
                match trip.key.as_str() {
                    "" => "all".to_owned(),
                    key => key.to_owned(),
                },
                trip.why.clone(),
                trip.evidence(),
                trip.label.clone().unwrap_or_default(),
                trip.trouble
                    .clone()
                    .unwrap_or_else(|| "none: false".to_owned()),
            ]);
        }
        let more = row.trips.value.saturating_sub(OF_ONE as u64);
        if more > 0 {
            table.add_row([row.name.clone(), format!("{} more", grouped(more))]);
        }
    }
    format!("{table}\n")
}

/// What a config did about a trouble: when it opened or began to refuse a share, when it closed.
pub(super) fn answer(answer: &Answer) -> (String, String) {
    if answer.missed {
        return ("missed".to_owned(), String::new());
    }
    if let (None, Some(delay)) = (answer.trip_delay_ns, answer.refusal_delay_ns) {
        let refused = match delay {
            0 => "was refusing a share".to_owned(),
            delay => format!("{}, a share", span(delay)),
        };
        return (refused, String::new());
    }
    let opened = answer
        .trip_delay_ns
        .map_or("-".to_owned(), |delay| match delay {
            0 => "was open".to_owned(),
            delay => span(delay),
        });
    let closed = match answer.close_delay_ns {
        Some(delay) => span(delay),
        None if answer.never_closed => "not closed".to_owned(),
        None => "was closed".to_owned(),
    };
    (opened, closed)
}

fn bare() -> Table {
    let mut table = Table::new();
    table
        .load_style(ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Disabled);
    table
}

fn numbers(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// A number, and its range where there is one.
pub(super) fn ranged(of: Ranged, show: fn(u64) -> String) -> String {
    if of.min == of.max {
        return show(of.value);
    }
    format!("{} ({} to {})", show(of.value), show(of.min), show(of.max))
}
