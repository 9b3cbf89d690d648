//! The rows of what was spent.

use rusqlite::{Connection, Row, Transaction, params};

use super::numbers::{signed, unsigned};
use super::{Minute, Spending, Spent};

/// So many days are kept.
const DAYS: u64 = 400;

/// That of the last day, and the last minute of each key.
pub(super) fn load(connection: &Connection) -> rusqlite::Result<Spending> {
    let mut query = connection
        .prepare("SELECT * FROM spent WHERE day = (SELECT max(day) FROM spent) ORDER BY day, key, route, target")?;
    let spent = query.query_map([], spent)?.collect::<Result<_, _>>()?;
    let mut query = connection.prepare("SELECT key, minute, requests, tokens FROM minutes")?;
    let minutes = query.query_map([], |row| {
        Ok(Minute {
            key: row.get(0)?,
            minute: unsigned(row, 1)?,
            requests: unsigned(row, 2)?,
            tokens: unsigned(row, 3)?,
        })
    })?;
    let minutes = minutes.collect::<Result<_, _>>()?;
    Ok(Spending { spent, minutes })
}

/// What was spent since a day, the newest first.
pub(super) fn since(connection: &Connection, day: u64) -> rusqlite::Result<Vec<Spent>> {
    let mut query = connection.prepare_cached(
        "SELECT * FROM spent WHERE day >= ? ORDER BY day DESC, key, route, target",
    )?;
    query.query_map([signed(day)], spent)?.collect()
}

fn spent(row: &Row<'_>) -> rusqlite::Result<Spent> {
    Ok(Spent {
        day: unsigned(row, 0)?,
        key: row.get(1)?,
        route: row.get(2)?,
        target: row.get(3)?,
        requests: unsigned(row, 4)?,
        untold: unsigned(row, 5)?,
        tokens_in: unsigned(row, 6)?,
        tokens_out: unsigned(row, 7)?,
    })
}

/// Writes these over what was there.
pub(super) fn write(transaction: &Transaction<'_>, spending: &Spending) -> rusqlite::Result<()> {
    let mut replace = transaction
        .prepare_cached("INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    for row in &spending.spent {
        replace.execute(params![
            signed(row.day),
            row.key,
            row.route,
            row.target,
            signed(row.requests),
            signed(row.untold),
            signed(row.tokens_in),
            signed(row.tokens_out),
        ])?;
    }
    let mut replace =
        transaction.prepare_cached("INSERT OR REPLACE INTO minutes VALUES (?, ?, ?, ?)")?;
    for row in &spending.minutes {
        replace.execute(params![
            row.key,
            signed(row.minute),
            signed(row.requests),
            signed(row.tokens),
        ])?;
    }
    Ok(())
}

/// Deletes what is older, or more, than is kept.
pub(super) fn trim(transaction: &Transaction<'_>, max_rows: u32) -> rusqlite::Result<()> {
    let too_old = "DELETE FROM spent WHERE day <= (SELECT max(day) FROM spent) - ?";
    transaction
        .prepare_cached(too_old)?
        .execute([signed(DAYS)])?;
    // Whole days go, the oldest first.
    let too_many =
        "DELETE FROM spent WHERE day <= (SELECT day FROM spent ORDER BY day DESC LIMIT 1 OFFSET ?)";
    transaction.prepare_cached(too_many)?.execute([max_rows])?;
    Ok(())
}
