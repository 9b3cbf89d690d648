//! What courses come to, in rows.

use std::fmt::Write;

use crate::simulation::course::Course;

/// A table in Markdown.
pub fn of(courses: &[(&str, Course)]) -> String {
    let mut table = String::from(
        "| caller | good answers/s in the trouble | after it | overshoot in the first second | worst second | to 95 % | calls to the dead | well calls refused |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (name, course) in courses {
        let figures = course.figures();
        let recovered = figures
            .recovered
            .map_or_else(|| "never".into(), |seconds| format!("{seconds:.1} s"));
        writeln!(
            table,
            "| {name} | {:.0} | {:.0} | {:.1} times | {:.1} times | {recovered} | {} | {} |",
            figures.good.0,
            figures.good.1,
            figures.overshoot,
            figures.peak,
            figures.dead,
            figures.well_refused,
        )
        .expect("a string can be written to");
    }
    table
}
