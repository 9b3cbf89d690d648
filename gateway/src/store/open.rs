//! Opening the database: one owner, checked, with the tables in place.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::{Fault, StoreError};

/// Marks the file as this program's: "cuto".
const APPLICATION: i64 = 0x6375_746f;
/// The version of the tables; stored in the file.
const VERSION: i64 = 4;

const TABLES: &str = "
    CREATE TABLE snapshots (
        breaker TEXT PRIMARY KEY,
        saved_ms INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        state TEXT NOT NULL,
        format INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE transitions (
        id INTEGER PRIMARY KEY,
        breaker TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        from_state TEXT NOT NULL,
        to_state TEXT NOT NULL,
        cause TEXT NOT NULL,
        reason TEXT,
        threshold TEXT,
        label TEXT,
        samples INTEGER NOT NULL,
        failures INTEGER NOT NULL,
        timeouts INTEGER NOT NULL,
        slow INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE probes (
        id INTEGER PRIMARY KEY,
        breaker TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        took_ms INTEGER NOT NULL,
        error TEXT,
        counted INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE totals (
        breaker TEXT PRIMARY KEY,
        saved_ms INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        successes INTEGER NOT NULL,
        failures INTEGER NOT NULL,
        timeouts INTEGER NOT NULL,
        ignored INTEGER NOT NULL,
        rejected INTEGER NOT NULL,
        retries INTEGER NOT NULL,
        answered INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE spent (
        day INTEGER NOT NULL,
        key TEXT NOT NULL,
        route TEXT NOT NULL,
        target TEXT NOT NULL,
        requests INTEGER NOT NULL,
        untold INTEGER NOT NULL,
        tokens_in INTEGER NOT NULL,
        tokens_out INTEGER NOT NULL,
        PRIMARY KEY (day, key, route, target)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE minutes (
        key TEXT PRIMARY KEY,
        minute INTEGER NOT NULL,
        requests INTEGER NOT NULL,
        tokens INTEGER NOT NULL
    ) STRICT;
";

/// What each version has more than the one before it, from version 2 on.
const SINCE: [&str; 3] = [
    "ALTER TABLE totals ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;",
    "ALTER TABLE transitions ADD COLUMN threshold TEXT;
     ALTER TABLE transitions ADD COLUMN label TEXT;",
    "CREATE TABLE spent (
        day INTEGER NOT NULL,
        key TEXT NOT NULL,
        route TEXT NOT NULL,
        target TEXT NOT NULL,
        requests INTEGER NOT NULL,
        untold INTEGER NOT NULL,
        tokens_in INTEGER NOT NULL,
        tokens_out INTEGER NOT NULL,
        PRIMARY KEY (day, key, route, target)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE minutes (
        key TEXT PRIMARY KEY,
        minute INTEGER NOT NULL,
        requests INTEGER NOT NULL,
        tokens INTEGER NOT NULL
    ) STRICT;",
];

/// Opens the file, or makes it, and takes it for this process alone.
///
/// The lock is the operating system's, so it goes when the process does, however
/// that ends. What is committed is in the file or its write-ahead log by then;
/// SQLite reads the log back at the next opening.
pub(super) fn open(path: &Path, patience: Duration) -> Result<Connection, StoreError> {
    let fault = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    connection.busy_timeout(patience).map_err(fault)?;
    // Before the first access: the log's index then lives in this process, and
    // a second process is told that the file is locked.
    connection
        .pragma_update(None, "locking_mode", "EXCLUSIVE")
        .map_err(fault)?;
    check(&connection, path)?;
    settle_in(&connection).map_err(fault)?;
    match version(&connection).map_err(fault)? {
        0 => lay_tables(&mut connection, TABLES).map_err(fault)?,
        VERSION => {}
        older => {
            let known = usize::try_from(older - 1).unwrap_or_default();
            let more = SINCE.get(known..).unwrap_or_default().concat();
            lay_tables(&mut connection, &more).map_err(fault)?;
        }
    }
    Ok(connection)
}

fn settle_in(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A kill loses nothing that was committed. A power cut may lose the last
    // commits, but leaves a whole database; that saves a sync per commit.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // The log is folded back at 1 MiB and cut to that if it ever grew above.
    connection.pragma_update(None, "wal_autocheckpoint", 256)?;
    connection.pragma_update(None, "journal_size_limit", 1 << 20)?;
    // Damage is noticed when it is met, rather than passed on.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)
}

fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let fault = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
    let verdict: String = connection
        .pragma_query_value(None, "quick_check", |row| row.get(0))
        .map_err(fault)?;
    if verdict != "ok" {
        return Err(StoreError::new(path, Fault::Corrupt(verdict)));
    }
    let application: i64 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(fault)?;
    let is_empty = connection
        .query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
            row.get(0)
        })
        .map_err(fault)?;
    match (application, version(connection).map_err(fault)?) {
        (APPLICATION, 1..=VERSION) => Ok(()),
        (APPLICATION, newer) => Err(StoreError::new(path, Fault::Newer(newer))),
        (0, 0) if is_empty => Ok(()),
        _ => Err(StoreError::new(path, Fault::Foreign)),
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// All in one transaction: a kill leaves the file as it was, or with all tables of this version.
fn lay_tables(connection: &mut Connection, tables: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(tables)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
