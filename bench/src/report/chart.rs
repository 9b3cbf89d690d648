//! Charts as SVG, drawn by `plotters` and coloured by the page.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::ink::Ink;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
type Pixel = (i32, i32);

/// One line of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Written at its end.
    pub(crate) label: String,
    pub(crate) ink: Ink,
    /// Its points, from left to right.
    pub(crate) points: Vec<(f64, f64)>,
}

/// The axes of a chart of lines; both are logarithmic.
pub(crate) struct Axes<'a> {
    /// What goes to the right.
    pub(crate) x: &'a str,
    /// What goes up.
    pub(crate) y: &'a str,
    /// The places on the x axis that have a name, and the name.
    pub(crate) ticks: &'a [(f64, &'a str)],
    /// What a power of ten says on the y axis.
    pub(crate) y_name: fn(i32) -> String,
}

const WIDTH: i32 = 800;
const HEIGHT: i32 = 440;
const LEFT: i32 = 72;
const RIGHT: i32 = WIDTH - 185;
const TOP: i32 = 34;
const BOTTOM: i32 = HEIGHT - 54;
/// The least distance of two labels.
const LINE_HEIGHT: i32 = 17;

/// Lines over logarithmic axes, each with its label at its right end.
pub(crate) fn lines(axes: &Axes<'_>, lines: &[Line]) -> String {
    let powers = || {
        let points = lines.iter().flat_map(|line| &line.points);
        points.map(|(_, y)| y.log10())
    };
    let (Some(low), Some(high)) = (
        powers().min_by(f64::total_cmp),
        powers().max_by(f64::total_cmp),
    ) else {
        return String::new();
    };
    let low = low.floor() as i32;
    let high = (high.ceil() as i32).max(low + 1);
    let edge = |tick: Option<&(f64, &str)>| tick.map_or(0.0, |(x, _)| x.log10());
    let plane = Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(
        edge(axes.ticks.first())..edge(axes.ticks.last()),
        f64::from(-high)..f64::from(-low),
        (LEFT..RIGHT, TOP..BOTTOM),
    );
    let at = |x: f64, y: f64| plane.translate(&(x.log10(), -y.log10()));
    draw(WIDTH, HEIGHT, |area| {
        draw_axes(area, axes, low..=high, at)?;
        let mut ends = Vec::new();
        for line in lines {
            let pixels: Vec<Pixel> = line.points.iter().map(|(x, y)| at(*x, *y)).collect();
            draw_line(area, line, &pixels)?;
            ends.extend(pixels.last().map(|end| (line, *end)));
        }
        draw_labels(area, ends)
    })
}

fn draw(width: i32, height: i32, content: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let mut svg = String::new();
    {
        let size = (width as u32, height as u32);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        content(&area).expect("a string can be written to");
        area.present().expect("a string can be written to");
    }
    Ink::into_page(&svg)
}

fn draw_axes(
    area: &Area<'_>,
    axes: &Axes<'_>,
    powers: impl Iterator<Item = i32>,
    at: impl Fn(f64, f64) -> Pixel,
) -> Drawn {
    let grid = Ink::GRID.stand_in();
    for power in powers {
        let (_, y) = at(1.0, 10_f64.powi(power));
        area.draw(&PathElement::new([(LEFT, y), (RIGHT, y)], grid))?;
        write(
            area,
            &(axes.y_name)(power),
            (LEFT - 8, y),
            HPos::Right,
            Ink::TEXT,
        )?;
    }
    for (x, name) in axes.ticks {
        let (x, _) = at(*x, 1.0);
        area.draw(&PathElement::new([(x, TOP), (x, BOTTOM)], grid))?;
        write(area, name, (x, BOTTOM + 14), HPos::Center, Ink::TEXT)?;
    }
    let middle = (LEFT + RIGHT) / 2;
    write(area, axes.x, (middle, HEIGHT - 14), HPos::Center, Ink::TEXT)?;
    write(area, axes.y, (8, 12), HPos::Left, Ink::TEXT)
}

fn write(area: &Area<'_>, text: &str, at: Pixel, side: HPos, ink: Ink) -> Drawn {
    let style = ("sans-serif", 16).into_font().color(&ink.stand_in());
    area.draw(&Text::new(
        text,
        at,
        style.pos(Pos::new(side, VPos::Center)),
    ))
}

fn draw_line(area: &Area<'_>, line: &Line, pixels: &[Pixel]) -> Drawn {
    let colour = line.ink.stand_in();
    let width = if line.ink == Ink::OURS { 4 } else { 2 };
    let stroke = colour.stroke_width(width);
    if line.ink == Ink::FLOOR {
        area.draw(&DashedPathElement::new(pixels.to_vec(), 6, 5, stroke))?;
    } else {
        area.draw(&PathElement::new(pixels.to_vec(), stroke))?;
    }
    // A dot for each measured point, unless they lie so close that they are a curve.
    let is_curve = pixels.windows(2).any(|two| two[1].0 - two[0].0 < 30);
    for point in pixels.iter().filter(|_| !is_curve) {
        area.draw(&Circle::new(*point, width + 1, colour.filled()))?;
    }
    Ok(())
}

/// Labels at the right edge, moved apart where lines end close to each other.
fn draw_labels(area: &Area<'_>, mut ends: Vec<(&Line, Pixel)>) -> Drawn {
    ends.sort_by_key(|(_, (_, y))| *y);
    let mut places: Vec<i32> = ends.iter().map(|(_, (_, y))| *y).collect();
    for place in 1..places.len() {
        places[place] = places[place].max(places[place - 1] + LINE_HEIGHT);
    }
    let mut lowest = BOTTOM + LINE_HEIGHT;
    for place in places.iter_mut().rev() {
        *place = (*place).min(lowest - LINE_HEIGHT);
        lowest = *place;
    }
    for ((line, end), y) in ends.into_iter().zip(places) {
        let leader = [end, (RIGHT + 14, y)];
        area.draw(&PathElement::new(leader, line.ink.stand_in()))?;
        write(area, &line.label, (RIGHT + 18, y), HPos::Left, line.ink)?;
    }
    Ok(())
}

/// One bar of a chart.
pub(crate) struct Bar {
    /// Written before it.
    pub(crate) label: String,
    /// Written after it.
    pub(crate) value_label: String,
    pub(crate) ink: Ink,
    /// Its length.
    pub(crate) value: f64,
}

/// Horizontal bars from zero.
pub(crate) fn bars(bars: &[Bar]) -> String {
    const NAMES: i32 = 180;
    const ROW: i32 = 28;
    let longest = bars.iter().map(|bar| bar.value).fold(1.0, f64::max);
    let height = ROW * bars.len() as i32 + 12;
    draw(WIDTH, height, |area| {
        for (row, bar) in bars.iter().enumerate() {
            let middle = ROW * row as i32 + 20;
            let length = f64::from(WIDTH - NAMES - 110) * bar.value / longest;
            let end = NAMES + length as i32;
            write(
                area,
                &bar.label,
                (NAMES - 10, middle),
                HPos::Right,
                Ink::TEXT,
            )?;
            let corners = [(NAMES, middle - 9), (end, middle + 9)];
            area.draw(&Rectangle::new(corners, bar.ink.stand_in().filled()))?;
            write(
                area,
                &bar.value_label,
                (end + 8, middle),
                HPos::Left,
                Ink::TEXT,
            )?;
        }
        Ok(())
    })
}
