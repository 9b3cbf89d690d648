//! JSON lines with named fields.

use jiff::tz::TimeZone;

use super::json::objects;
use super::mapped::{Column, Map};
use super::object::Object;
use crate::input::row::{Emit, Format, Why};

#[derive(Debug)]
pub(crate) struct JsonLines {
    pub(crate) map: Map,
    pub(crate) zone: TimeZone,
}

impl Format for JsonLines {
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why> {
        objects(line, |object| {
            let map = &self.map;
            let columns = [&map.start, &map.end, &map.duration, &map.status, &map.key];
            let cells =
                columns.map(|column| Some((column.as_ref()?, value(object, column.as_ref()?)?)));
            let cell = |wanted: &Column| {
                let mut found = cells.iter().flatten();
                found
                    .find(|(column, _)| *column == wanted)
                    .map(|(_, text)| text.as_ref())
            };
            emit(map.row(&self.zone, cell)?);
            Ok(())
        })
    }
}

fn value<'a>(object: &Object<'a>, column: &Column) -> Option<std::borrow::Cow<'a, str>> {
    object.at(&column.name)
}
