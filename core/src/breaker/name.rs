//! The names of the breakers that there are.
//!
//! A rejection is made often and seldom looked at, so it must not hold the breaker, not even count
//! a reference to it. It carries the number under which the breaker's name is found here for
//! as long as the breaker lives. A number is not given twice.

use alloc::boxed::Box;
use alloc::sync::Arc;

/// A breaker's name, entered while this lives.
pub(crate) struct Name {
    text: Box<str>,
    id: NameId,
}

/// Where a name is found; zero for a breaker without one, since serial numbers begin at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameId(u64);

impl Name {
    pub(crate) fn new(text: Box<str>) -> Self {
        let id = NameId::enter(&text);
        Self { text, id }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    #[inline]
    pub(crate) const fn id(&self) -> NameId {
        self.id
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        self.id.leave();
    }
}

impl NameId {
    pub(crate) const NONE: Self = Self(0);
}

#[cfg(feature = "std")]
mod table {
    use std::sync::{PoisonError, RwLock, RwLockWriteGuard};
    use std::vec::Vec;

    use super::{Arc, NameId};
    use crate::engine::field::Field;

    /// Not asked on the way of a call: entered when a breaker is built, read when a rejection is
    /// shown. It is as large as the most breakers that there were at a time.
    static TABLE: RwLock<Table> = RwLock::new(Table {
        rows: Vec::new(),
        free: Vec::new(),
        serial: 0,
    });

    struct Table {
        rows: Vec<Option<(u64, Arc<str>)>>,
        /// The rows that are empty.
        free: Vec<usize>,
        /// How many names there have been.
        serial: u64,
    }

    /// A number is a row, so many at a time, and above it a serial number, which is not given twice.
    const ROW: Field = Field::lowest(24);
    const SERIAL: Field = ROW.above(40);

    fn write() -> RwLockWriteGuard<'static, Table> {
        TABLE.write().unwrap_or_else(PoisonError::into_inner)
    }

    impl NameId {
        pub(super) fn enter(name: &str) -> Self {
            let name = Arc::from(name);
            let mut table = write();
            let row = table.free.pop().unwrap_or(table.rows.len());
            // Beyond what a number can say, rejections go without a name.
            if row as u64 > ROW.max() || table.serial >= SERIAL.max() {
                return Self::NONE;
            }
            table.serial += 1;
            let serial = table.serial;
            if row == table.rows.len() {
                table.rows.push(None);
            }
            table.rows[row] = Some((serial, name));
            Self(ROW.put(row as u64) | SERIAL.put(serial))
        }

        pub(super) fn leave(self) {
            if self == Self::NONE {
                return;
            }
            let row = ROW.get(self.0) as usize;
            let mut table = write();
            table.rows[row] = None;
            table.free.push(row);
            if table.free.len() == table.rows.len() {
                (table.rows, table.free) = (Vec::new(), Vec::new());
            }
        }

        /// The name, while its breaker is there.
        pub(crate) fn name(self) -> Option<Arc<str>> {
            let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
            let (serial, name) = table.rows.get(ROW.get(self.0) as usize)?.as_ref()?;
            (*serial == SERIAL.get(self.0)).then(|| Arc::clone(name))
        }
    }
}

/// Without the standard library there is no lock for the table, and rejections name no breaker.
#[cfg(not(feature = "std"))]
impl NameId {
    fn enter(_: &str) -> Self {
        Self::NONE
    }

    fn leave(self) {}

    pub(crate) fn name(self) -> Option<Arc<str>> {
        None
    }
}
