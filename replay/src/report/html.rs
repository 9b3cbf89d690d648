//! The result as one page that needs nothing beside it.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use plotters::style::RGBColor;

use super::picture::{self, timeline};
use super::terminal::{answer, ranged};
use super::{ConfigRow, Report, Trip};
use crate::shown::{grouped, span, time};

/// The page: for light and dark, and for print. It holds no line of a log, and no query string.
pub fn page(report: &Report) -> String {
    let title = "What a circuit breaker would have done";
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) (PreEscaped(colors())) }
            }
            body {
                h1 { (title) }
                (read(report))
                h2 { "What each config would have done" }
                (table(report))
                (explained(report))
                h2 { "When" }
                (pictured(report))
                @if !report.troubles.is_empty() {
                    h2 { "The troubles, and what each config did about them" }
                    (troubles(report))
                }
                @if let Some(advice) = &report.advice {
                    h2 { "Advice" }
                    (super::advice::section(advice))
                }
                h2 { "Trips with their evidence" }
                (trips(report))
                @if report.keys.len() > 1 {
                    h2 { "By key" }
                    (keys(report))
                }
                h2 { "The configs" }
                (configs(report))
                h2 { "What a log cannot tell" }
                (limits(report))
            }
        }
    };
    page.into_string()
}

fn hex(color: RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2)
}

/// The colours of the pictures, by the placeholders that they were drawn with.
fn colors() -> String {
    let named = [
        (picture::INK, "ink"),
        (picture::GRID, "grid"),
        (picture::CALLS, "calls"),
        (picture::BAD, "bad"),
        (picture::MEDIAN, "median"),
        (picture::TAIL, "tail"),
        (picture::OPEN, "open"),
        (picture::HALF, "half"),
        (picture::TROUBLE, "trouble"),
        (picture::OTHER, "other"),
        (picture::RAMP, "ramp"),
        (picture::SHARE, "share"),
    ];
    let rule = |(color, name): (RGBColor, &str)| {
        let hex = hex(color);
        format!(
            "svg [fill=\"{hex}\"]{{fill:var(--{name})}}svg [stroke=\"{hex}\"]{{stroke:var(--{name})}}"
        )
    };
    named.into_iter().map(rule).collect()
}

fn read(report: &Report) -> Markup {
    let reading = &report.reading;
    html! {
        p {
            (grouped(reading.calls)) " calls"
            @if let (Some(first), Some(last)) = (reading.first_ns, reading.last_ns) {
                " from " (time(first)) " to " (time(last)) " (UTC)"
            }
            ", " (grouped(report.bad_calls)) " of them bad: " (report.bad) "."
        }
        @if reading.stopped {
            p.warn { "The reading was stopped before the end: this is of what was read." }
        }
        @if reading.skips() > 0 {
            p.warn {
                (grouped(reading.skips())) " lines or calls were skipped: "
                @for (index, (why, count)) in reading.skipped.iter().enumerate() {
                    @if index > 0 { "; " }
                    (grouped(*count)) " × " (why)
                }
                "."
            }
        }
        ul.soft {
            @for input in &reading.inputs {
                li {
                    (input.name) ": " (input.format)
                    @if let Some(why) = &input.cut_short { strong { " ends before its end: " (why) } }
                }
            }
            @if reading.not_calls > 0 { li { (grouped(reading.not_calls)) " lines hold no call." } }
            @if reading.duplicates > 0 { li { (grouped(reading.duplicates)) " lines are by the other end of a call and count once." } }
            @if reading.without_duration > 0 { li { (grouped(reading.without_duration)) " calls have no duration and end as they begin." } }
            @for (from, length) in &reading.gaps { li { "No call began for " (span(*length)) " from " (time(*from)) "." } }
        }
    }
}

fn table(report: &Report) -> Markup {
    let has_shares = refuse_shares(report);
    let mut head = vec![
        "trips",
        "false",
        "missed",
        "re-openings",
        "open",
        "half-open",
        "made well",
        "made bad",
        "spared",
        "lost",
        "saved",
    ];
    if has_shares {
        head.extend(["on ramps", "throttled"]);
    }
    html! {
        div.scroll {
            table {
                thead { tr { th { "config" } @for name in head { th.n { (name) } } } }
                tbody { @for row in &report.configs { (config_row(row, has_shares)) } }
            }
        }
    }
}

/// Whether some config refused a share of the calls, on a ramp or by a throttle.
fn refuse_shares(report: &Report) -> bool {
    let mut rows = report.configs.iter();
    rows.any(|row| row.ramped.max + row.throttled.max > 0)
}

fn config_row(row: &ConfigRow, has_shares: bool) -> Markup {
    let state = |name: &str| row.states_ns.get(name).copied().unwrap_or(0);
    html! {
        tr {
            td { (row.name) }
            @for number in [row.trips, row.false_trips, row.missed, row.reopenings] { td.n { (ranged(number, grouped)) } }
            @for name in ["open", "half_open"] { td.n { (span(state(name))) } }
            @for number in [row.made_well, row.made_bad, row.spared, row.lost] { td.n { (ranged(number, grouped)) } }
            td.n { (ranged(row.saved_ns, span)) }
            @if has_shares { @for number in [row.ramped, row.throttled] { td.n { (ranged(number, grouped)) } } }
        }
    }
}

fn explained(report: &Report) -> Markup {
    html! {
        @for row in &report.configs {
            @if let Some(until) = row.judged_until_ns {
                p.warn { (row.name) " changed its state too often to be looked at to the end: its trips, its times and its answers are those before " (time(until)) "." }
            }
        }
        p.soft {
            "Each call is in exactly one of made well, made bad, spared (refused, and it was bad) and lost (refused, and it was well). "
            "Saved is how long callers waited for the calls that were spared. "
            @if refuse_shares(report) {
                "Of the spared and the lost some were refused on the ramp of a breaker that had closed, or by a throttle; the rest by a breaker that was not closed. "
            }
            "A trip is a closed breaker that opens; it is false if no upstream of it was in trouble, nor had been in the last "
            (span(report.slack_ns)) ". "
            @if report.orders > 1 {
                "The stamps are too coarse to say which of two calls came first: " (report.orders)
                " orders that they allow were replayed. A number is that of the order as written; the least and the most of all follow where they differ."
            }
        }
    }
}

fn pictured(report: &Report) -> Markup {
    let svg = timeline(report);
    let mut states: Vec<&str> = report
        .configs
        .iter()
        .flat_map(|row| row.states_ns.keys().copied())
        .collect();
    states.sort_unstable();
    states.dedup();
    let has = |state: &str| states.contains(&state);
    let mut stretches = report.configs.iter().flat_map(|row| &row.stretches);
    let has_stages = stretches.any(|stretch| stretch.stage > 1);
    let has_ramps = report.configs.iter().any(|row| row.ramping_ns > 0);
    let has_shares = report.configs.iter().any(|row| row.throttled.max > 0);
    let has_durations = report.timeline.iter().any(|moment| moment.p50_ms.is_some());
    let legend = [
        ("calls", "calls", true),
        ("bad", "bad", true),
        ("median", "median", has_durations),
        ("99 %", "tail", has_durations),
        ("trouble", "trouble", !report.troubles.is_empty()),
        ("open", "open", has("open")),
        ("half-open", "half", has("half_open")),
        ("half-open, a further stage", "other", has_stages),
        ("closed, on its ramp", "ramp", has_ramps),
        ("a share refused by a throttle", "share", has_shares),
    ];
    html! {
        figure role="img" aria-label="Calls, durations and the states of the breakers over time" {
            (PreEscaped(svg))
            figcaption {
                @for (name, color, _) in legend.into_iter().filter(|(.., shown)| *shown) {
                    span.key style={ "background:var(--" (color) ")" } {} (name)
                }
                "; times in UTC; an open breaker is drawn at least one pixel wide"
            }
        }
    }
}

fn troubles(report: &Report) -> Markup {
    let source = if report.troubles_are_given {
        "As they were given."
    } else {
        "Found in hindsight: where a test of 30 % bad calls against 2 % is sure, for a second and longer. A breaker cannot know as much."
    };
    html! {
        p.soft { (source) " A cell says after which time the config's breaker opened, and how long after the trouble's end it closed." }
        div.scroll {
            table {
                thead { tr {
                    th { "trouble" } th { "of" } th { "from" } th.n { "for" }
                    @for row in &report.configs { th { (row.name) } }
                } }
                tbody {
                    @for (index, trouble) in report.troubles.iter().enumerate().take(200) {
                        tr {
                            td { (trouble.name) }
                            td { (trouble.key.as_deref().unwrap_or("all")) }
                            td { (time(trouble.start_ns)) }
                            td.n { (span(trouble.end_ns.abs_diff(trouble.start_ns))) }
                            @for row in &report.configs {
                                @let (opened, closed) = row.troubles.get(index).map(answer).unwrap_or_default();
                                td { (opened) @if !closed.is_empty() { " / " (closed) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn trips(report: &Report) -> Markup {
    const SHOWN: usize = 5;
    const MOST: usize = 200;
    let keyed = report.keys.len() > 1;
    html! {
        @for row in &report.configs {
            h3 { (row.name) ": " (grouped(row.trips.value)) @if row.trips.value == 1 { " trip" } @else { " trips" } }
            @let (first, rest) = row.trip_list.split_at(row.trip_list.len().min(SHOWN));
            @if !first.is_empty() { (trip_table(first, keyed)) }
            @if !rest.is_empty() {
                details {
                    summary { (grouped(row.trips.value - first.len() as u64)) " more" @if rest.len() > MOST { ", the first " (MOST) } }
                    (trip_table(&rest[..rest.len().min(MOST)], keyed))
                }
            }
        }
    }
}

fn trip_table(trips: &[Trip], keyed: bool) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "when" } @if keyed { th { "whose" } } th { "why" } th { "evidence" } th { "last failure" } th { "trouble" } } }
            tbody { @for trip in trips { tr {
                td { (time(trip.at_ns)) } @if keyed { td { (trip.key) } } td { (trip.why) }
                td { (trip.evidence()) } td { (trip.label.as_deref().unwrap_or("")) }
                td { (trip.trouble.as_deref().unwrap_or("none: a false trip")) }
            } } }
        } }
    }
}

fn keys(report: &Report) -> Markup {
    const MOST: usize = 30;
    html! {
        p.soft { "Bad calls spared, and well calls lost, by each config; the " (MOST.min(report.keys.len())) " keys with the most bad calls of " (report.keys.len()) "." }
        div.scroll { table {
            thead { tr { th { "key" } th.n { "calls" } th.n { "bad" } @for row in &report.configs { th.n { (row.name) } } } }
            tbody { @for key in report.keys.iter().take(MOST) { tr {
                td { (key.name) } td.n { (grouped(key.calls)) } td.n { (grouped(key.bad)) }
                @for row in &report.configs {
                    @let sums = row.keys.get(&key.name).copied().unwrap_or_default();
                    td.n { (grouped(sums.spared)) " / " (grouped(sums.lost)) }
                }
            } } }
        } }
    }
}

fn configs(report: &Report) -> Markup {
    html! {
        @for row in &report.configs {
            h3 { (row.name) }
            pre { (row.toml) }
        }
    }
}

fn limits(report: &Report) -> Markup {
    html! {
        ul {
            li { "Whether the upstream would have healed sooner for being called less. A refused call is left out, and all others go as they went." }
            li { "What callers would have done instead: tried again, asked elsewhere, or gone without. Retries in the log are calls like others." }
            li { "Which waits jitter would have drawn. They are drawn by a fixed seed, so that two replays say the same." }
            @if !report.troubles_are_given {
                li { "What was really a trouble. It was judged by the same calls; known times are better: give them with --troubles." }
            }
        }
    }
}
