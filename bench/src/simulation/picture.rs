//! Courses as pictures: good answers and calls a second, over time.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::simulation::course::{Course, Part};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Of the picture, in pixels. A panel has room for its title above it.
const WIDTH: i32 = 760;
const LEFT: i32 = 46;
const RIGHT: i32 = WIDTH - 150;
const PANEL: i32 = 120;
const TITLE: i32 = 40;
const FOOT: i32 = 34;

/// That can be read on a light ground and on a dark one.
const TEXT: RGBColor = RGBColor(128, 128, 128);
const GRID: RGBColor = RGBColor(160, 160, 160);
const CALLS: RGBColor = RGBColor(205, 120, 40);
const GOOD: RGBColor = RGBColor(40, 130, 200);

/// A panel for each caller, by name.
pub fn of(courses: &[(&str, Course)]) -> String {
    let seconds = |course: &Course| course.seconds().collect::<Vec<_>>();
    let all = courses.iter().flat_map(|(_, course)| course.seconds());
    let (mut end, mut most) = (1.0_f64, 1.0_f64);
    for (second, part) in all {
        end = end.max(second + 1.0);
        most = most.max(f64::from(part.sent.max(part.good)));
    }
    // What is far above capacity is cut off, so that the rest can be seen.
    let most = most.min(2000.0);
    let height = (PANEL + TITLE) * courses.len() as i32 + FOOT;
    let mut svg = String::new();
    {
        let size = (WIDTH as u32, height as u32);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let drawn = courses
            .iter()
            .enumerate()
            .try_for_each(|(row, (name, course))| {
                let top = row as i32 * (PANEL + TITLE) + TITLE;
                panel(&area, top, name, &seconds(course), (end, most))
            });
        let foot = || {
            write(
                &area,
                "seconds",
                ((LEFT + RIGHT) / 2, height - 8),
                HPos::Center,
                TEXT,
            )
        };
        drawn
            .and_then(|()| foot())
            .expect("a string can be written to");
        area.present().expect("a string can be written to");
    }
    svg
}

fn panel(
    area: &Area<'_>,
    top: i32,
    name: &str,
    seconds: &[(f64, Part)],
    (end, most): (f64, f64),
) -> Drawn {
    let x = |second: f64| LEFT + (second / end * f64::from(RIGHT - LEFT)) as i32;
    let y = |calls: f64| top + PANEL - (calls.min(most) / most * f64::from(PANEL)) as i32;
    write(area, name, (LEFT, top - 12), HPos::Left, TEXT)?;
    for calls in [0.0, most / 2.0, most] {
        area.draw(&PathElement::new(
            [(LEFT, y(calls)), (RIGHT, y(calls))],
            GRID,
        ))?;
        write(
            area,
            &format!("{calls:.0}"),
            (LEFT - 6, y(calls)),
            HPos::Right,
            TEXT,
        )?;
    }
    for second in (0..=end as u32).step_by(20) {
        let at = (x(second.into()), top + PANEL + 12);
        write(area, &second.to_string(), at, HPos::Center, TEXT)?;
    }
    type Value = fn(&Part) -> u32;
    let lines: [(&str, RGBColor, Value); 2] = [
        ("calls made", CALLS, |part| part.sent),
        ("good answers", GOOD, |part| part.good),
    ];
    for (row, (label, ink, value)) in lines.into_iter().enumerate() {
        let points = seconds
            .iter()
            .map(|(second, part)| (x(second + 0.5), y(value(part).into())))
            .collect::<Vec<_>>();
        area.draw(&PathElement::new(points, ink.stroke_width(2)))?;
        let at = (RIGHT + 14, top + 12 + 20 * row as i32);
        write(area, label, at, HPos::Left, ink)?;
    }
    Ok(())
}

fn write(area: &Area<'_>, text: &str, at: (i32, i32), side: HPos, ink: RGBColor) -> Drawn {
    let style = ("sans-serif", 14).into_font().color(&ink);
    let style = style.pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text, at, style))
}
