//! The timeline as a picture.
//!
//! Colours are placeholders: the page's style gives each its colour for light, dark and print.

use jiff::Timestamp;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;

use super::bands::{Band, bands};
use super::{Report, Stretch};
use crate::search::{Advice, Point, Tried};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

pub(super) const INK: RGBColor = RGBColor(1, 1, 1);
pub(super) const GRID: RGBColor = RGBColor(2, 2, 2);
pub(super) const CALLS: RGBColor = RGBColor(3, 3, 3);
pub(super) const BAD: RGBColor = RGBColor(4, 4, 4);
pub(super) const MEDIAN: RGBColor = RGBColor(5, 5, 5);
pub(super) const TAIL: RGBColor = RGBColor(6, 6, 6);
pub(super) const OPEN: RGBColor = RGBColor(7, 7, 7);
pub(super) const HALF: RGBColor = RGBColor(8, 8, 8);
pub(super) const TROUBLE: RGBColor = RGBColor(9, 9, 9);
pub(super) const OTHER: RGBColor = RGBColor(10, 10, 10);
pub(super) const RAMP: RGBColor = RGBColor(11, 11, 11);
pub(super) const SHARE: RGBColor = RGBColor(12, 12, 12);

const WIDTH: u32 = 1_000;
const FONT: &str = "system-ui";

/// What all panels have along their x axis: seconds since the first call, with marks at even times.
#[derive(Clone)]
struct Axis {
    /// How wide what stands on its left is, in pixels.
    left: u32,
    begin: i64,
    seconds: f64,
    ticks: Vec<f64>,
    format: &'static str,
}

impl Axis {
    fn of(report: &Report, bands: &[Band<'_>]) -> Self {
        let begin = report.reading.first_ns.unwrap_or(0);
        let end = report.reading.last_ns.unwrap_or(begin);
        let seconds = (end.abs_diff(begin) as f64 / 1e9).max(1.0);
        const STEPS: [f64; 16] = [
            1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0,
            14_400.0, 43_200.0, 86_400.0, 604_800.0,
        ];
        let step = STEPS.into_iter().find(|step| seconds / step <= 9.0);
        let step = step.unwrap_or((seconds / 8.0 / 604_800.0).ceil() * 604_800.0);
        let first = (begin as f64 / 1e9 / step).ceil() * step - begin as f64 / 1e9;
        let count = ((seconds - first) / step).floor().max(0.0) as usize;
        let longest = bands.iter().map(|band| band.label().chars().count()).max();
        Self {
            // A letter of the labels is 6 to 7 pixels wide.
            left: 20 + 13 * (longest.unwrap_or(0) as u32).max(8) / 2,
            begin,
            seconds,
            ticks: (0..=count).map(|tick| first + tick as f64 * step).collect(),
            format: match (seconds > 86_400.0, step >= 86_400.0, step >= 60.0) {
                (_, true, _) => "%m-%d",
                (true, false, _) => "%m-%d %H:%M",
                (false, false, true) => "%H:%M",
                (false, false, false) => "%H:%M:%S",
            },
        }
    }

    fn at(&self, nanos: i64) -> f64 {
        (nanos as f64 - self.begin as f64) / 1e9
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, seconds: &f64, (low, high): (i32, i32)) -> i32 {
        low + (seconds / self.seconds * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        0.0..self.seconds
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(seconds: &f64) -> String {
        seconds.to_string()
    }

    fn format_ext(&self, seconds: &f64) -> String {
        let nanos = i128::from(self.begin) + (seconds * 1e9) as i128;
        let time = Timestamp::from_nanosecond(nanos).unwrap_or_default();
        time.strftime(self.format).to_string()
    }
}

/// Draws the timeline; empty if it cannot be drawn.
pub(super) fn timeline(report: &Report) -> String {
    let bands = bands(report);
    let has_durations = report.timeline.iter().any(|moment| moment.p50_ms.is_some());
    let heights = [
        190,
        if has_durations { 170 } else { 0 },
        46 + 22 * bands.len() as u32,
    ];
    let mut svg = String::new();
    {
        let root =
            SVGBackend::with_string(&mut svg, (WIDTH, heights.iter().sum())).into_drawing_area();
        let (rates, rest) = root.split_vertically(heights[0]);
        let (durations, states) = rest.split_vertically(heights[1]);
        let axis = Axis::of(report, &bands);
        let drawn = draw_rates(&rates, report, &axis)
            .and_then(|()| {
                if has_durations {
                    draw_durations(&durations, report, &axis)
                } else {
                    Ok(())
                }
            })
            .and_then(|()| draw_bands(&states, &bands, report, &axis));
        if drawn.is_err() {
            return String::new();
        }
    }
    svg
}

fn text(size: i32) -> TextStyle<'static> {
    (FONT, size).into_font().color(&INK)
}

/// A panel with the time axis below, grey where there was trouble.
macro_rules! panel {
    ($area:expr, $report:expr, $axis:expr, $title:expr, $y:expr, $format:expr) => {{
        let mut chart = ChartBuilder::on($area)
            .margin_right(16)
            .margin_top(26)
            .set_label_area_size(LabelAreaPosition::Left, $axis.left)
            .set_label_area_size(LabelAreaPosition::Bottom, 24)
            .build_cartesian_2d($axis.clone(), $y)?;
        $area.draw_text($title, &text(14), ($axis.left as i32, 6))?;
        let (low, high) = {
            let range = chart.y_range();
            (range.start, range.end)
        };
        chart.draw_series($report.troubles.iter().map(|trouble| {
            let (from, to) = (
                $axis.at(trouble.start_ns).max(0.0),
                $axis.at(trouble.end_ns).min($axis.seconds),
            );
            Rectangle::new([(from, low), (to.max(from), high)], TROUBLE.filled())
        }))?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(GRID)
            .y_labels(4)
            .label_style(text(12))
            .y_label_formatter(&$format)
            .draw()?;
        chart
    }};
}

fn draw_rates(area: &Area<'_>, report: &Report, axis: &Axis) -> Drawn {
    let width = report.moment_ns as f64 / 1e9;
    let most = report
        .timeline
        .iter()
        .map(|moment| moment.calls)
        .max()
        .unwrap_or(1);
    let y = 0.0..most as f64 / width * 1.05;
    let mut chart = panel!(
        area,
        report,
        axis,
        "calls a second, and the bad ones of them",
        y,
        |rate: &f64| short(*rate)
    );
    for (color, of) in [(CALLS, true), (BAD, false)] {
        chart.draw_series(report.timeline.iter().filter_map(|moment| {
            let count = if of { moment.calls } else { moment.bad };
            let from = axis.at(moment.start_ns);
            let to = (from + width).min(axis.seconds);
            (count > 0)
                .then(|| Rectangle::new([(from, 0.0), (to, count as f64 / width)], color.filled()))
        }))?;
    }
    Ok(())
}

fn draw_durations(area: &Area<'_>, report: &Report, axis: &Axis) -> Drawn {
    let all = report
        .timeline
        .iter()
        .flat_map(|moment| [moment.p50_ms, moment.p99_ms])
        .flatten();
    let (low, high) = all.fold((f64::MAX, 0.1_f64), |(low, high), ms| {
        (low.min(ms), high.max(ms))
    });
    let y = (low.max(0.001) * 0.8..high * 1.25).log_scale();
    let mut chart = panel!(
        area,
        report,
        axis,
        "how long calls take: the median, and what 99 % do not exceed",
        y,
        |ms: &f64| length(*ms)
    );
    for (color, of) in [(TAIL, true), (MEDIAN, false)] {
        let points = report.timeline.iter().filter_map(|moment| {
            let ms = if of { moment.p99_ms } else { moment.p50_ms };
            Some((axis.at(moment.start_ns), ms?))
        });
        chart.draw_series(LineSeries::new(
            points,
            color.stroke_width(if of { 1 } else { 2 }),
        ))?;
    }
    Ok(())
}

fn draw_bands(area: &Area<'_>, bands: &[Band<'_>], report: &Report, axis: &Axis) -> Drawn {
    let y = 0.0..bands.len() as f64;
    let mut chart = panel!(
        area,
        report,
        axis,
        "what each config does: closed, open, half-open, a share refused",
        y,
        |_: &f64| String::new()
    );
    // A stretch is at least as wide as can be seen.
    let least = axis.seconds / 1_000.0;
    let rows = (0_u32..).zip(bands);
    for (row, band) in rows.clone() {
        let top = f64::from(bands.len() as u32 - row);
        let bar = |from: f64, to: f64, color: RGBColor| {
            Rectangle::new([(from, top - 0.8), (to, top - 0.2)], color.filled())
        };
        chart.draw_series([bar(0.0, axis.seconds, GRID)])?;
        let stretches = band.stretches.iter().map(|stretch| {
            let color = match (stretch.state, stretch.stage) {
                ("open", _) => OPEN,
                ("half_open", 0 | 1) => HALF,
                (Stretch::RAMPING, _) => RAMP,
                (Stretch::REFUSING, _) => SHARE,
                _ => OTHER,
            };
            let (from, to) = (axis.at(stretch.start_ns), axis.at(stretch.end_ns));
            // Half-open is often a moment: it is not drawn over what is open.
            let least = if matches!(stretch.state, "open" | Stretch::REFUSING) {
                least
            } else {
                0.0
            };
            let to = to.max(from + least).min(axis.seconds);
            // What a throttle refuses it refuses beside what its breaker does: as high as its share, below the middle.
            match stretch.share {
                Some(share) => {
                    let high = top - 0.8 + 0.1 + 0.2 * share;
                    Rectangle::new([(from, top - 0.8), (to, high)], color.filled())
                }
                None => bar(from, to, color),
            }
        });
        chart.draw_series(stretches)?;
    }
    let height = 22.0 * bands.len() as f64;
    let step = (f64::from(area.dim_in_pixel().1) - 50.0).max(height * 0.9) / bands.len() as f64;
    for (row, band) in rows {
        let y = 26.0 + step * (f64::from(row) + 0.5) - 6.0;
        area.draw_text(&band.label(), &text(12), (8, y as i32))?;
    }
    Ok(())
}

fn short(number: f64) -> String {
    if number >= 10_000.0 {
        format!("{:.0}k", number / 1_000.0)
    } else {
        format!("{number}")
    }
}

fn length(ms: f64) -> String {
    match ms {
        1_000.0.. => format!("{} s", ms / 1_000.0),
        _ => format!("{ms} ms"),
    }
}

/// Draws the configs of a search by what they make and lose; empty if it cannot be drawn.
pub(super) fn scatter(advice: &Advice) -> String {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, 420)).into_drawing_area();
        if draw_scatter(&root, advice).is_err() {
            return String::new();
        }
    }
    svg
}

/// Both axes are logarithmic, and none is drawn as a half.
fn draw_scatter(area: &Area<'_>, advice: &Advice) -> Drawn {
    let place = |point: &Point| {
        (
            (point.lost as f64).max(0.5),
            (point.made_bad as f64).max(0.5),
        )
    };
    let all = advice.points.iter().map(place);
    let (right, top) = all.fold((2.0_f64, 2.0_f64), |(right, top), (x, y)| {
        (right.max(x), top.max(y))
    });
    let low = advice
        .points
        .iter()
        .map(|point| place(point).1)
        .fold(top, f64::min)
        / 1.3;
    let all = advice.points.iter().map(|point| place(point).0);
    let left = all.fold(right, f64::min) / 1.5;
    let number = |value: &f64| {
        if *value < 1.0 {
            "0".to_owned()
        } else {
            short(*value)
        }
    };
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .set_label_area_size(LabelAreaPosition::Left, 70)
        .set_label_area_size(LabelAreaPosition::Bottom, 40)
        .build_cartesian_2d(
            (left..right * 1.3).log_scale(),
            (low..top * 1.2).log_scale(),
        )?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GRID)
        .label_style(text(12))
        .axis_desc_style(text(13))
        .x_labels(6)
        .y_labels(5)
        .x_desc("well calls lost")
        .y_desc("bad calls made")
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .draw()?;
    let dot = |at, size, color: RGBColor| Circle::new(at, size, color.filled());
    chart.draw_series(
        advice
            .points
            .iter()
            .map(|point| dot(place(point), 3, CALLS)),
    )?;
    let first = |tried: &Tried| {
        place(&Point {
            made_bad: tried.first.made_bad,
            lost: tried.first.lost,
        })
    };
    chart.draw_series(
        advice
            .front
            .iter()
            .map(|tried| dot(first(tried), 4, MEDIAN)),
    )?;
    let chosen = advice.chosen.and_then(|index| advice.front.get(index));
    chart.draw_series(chosen.map(|tried| dot(first(tried), 6, BAD)))?;
    Ok(())
}
