//! The rows: read at the start, written in batches, kept to a bound.

use std::collections::BTreeMap;
use std::sync::Arc;

use cutout::Snapshot;
use rusqlite::{Connection, Transaction, params};
use serde::Serialize;

use super::inbox::Batch;
use super::record::{ProbeResult, Transition, now_ms};
use super::{Options, Saved};

/// The version of the snapshots' text form that this program writes.
const FORMAT: i64 = 1;

/// A stored row and its number; later rows have higher ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row<T> {
    /// The number.
    pub id: i64,
    /// What is stored.
    #[serde(flatten)]
    pub value: T,
}

/// All that a start needs.
pub(super) fn load(connection: &Connection) -> rusqlite::Result<Saved> {
    let mut saved = Saved::default();
    let mut query = connection.prepare("SELECT breaker, format, body FROM snapshots")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let breaker: String = row.get(0)?;
        match decode(row.get(1)?, &row.get::<_, String>(2)?) {
            Ok(snapshot) => {
                saved.snapshots.insert(breaker, snapshot);
            }
            Err(problem) => saved.unreadable.push((breaker, problem)),
        }
    }
    let mut query = connection.prepare("SELECT provider, name, value FROM counters")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let value = u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0);
        saved.counters.insert((row.get(0)?, row.get(1)?), value);
    }
    Ok(saved)
}

fn decode(format: i64, body: &str) -> Result<Snapshot, String> {
    if format != FORMAT {
        return Err(format!("its format {format} is not known"));
    }
    serde_json::from_str(body).map_err(|error| error.to_string())
}

/// Writes all that is in `batch`, and these snapshots, which were taken after its transitions.
pub(super) fn write(
    transaction: &Transaction<'_>,
    batch: &Batch,
    snapshots: &BTreeMap<Arc<str>, Snapshot>,
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO transitions (breaker, at_ms, generation, from_state, to_state, cause, reason,
             samples, failures, timeouts, slow)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (_, row) in &batch.transitions {
        insert.execute(params![
            row.breaker,
            row.at_ms,
            row.generation,
            row.from,
            row.to,
            row.cause,
            row.reason,
            row.samples,
            row.failures,
            row.timeouts,
            row.slow,
        ])?;
    }
    let mut insert = transaction.prepare_cached(
        "INSERT INTO probes (breaker, at_ms, took_ms, outcome, detail) VALUES (?, ?, ?, ?, ?)",
    )?;
    for row in &batch.probes {
        let took_ms = i64::try_from(row.took_ms).unwrap_or(i64::MAX);
        insert.execute(params![
            row.breaker,
            row.at_ms,
            took_ms,
            row.outcome,
            row.detail
        ])?;
    }
    let now = now_ms();
    // Above the largest integer SQLite would go on with a float; nothing counts that far.
    let mut add = transaction.prepare_cached(
        "INSERT INTO counters (provider, name, value, saved_ms) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET value = value + excluded.value, saved_ms = excluded.saved_ms",
    )?;
    for ((provider, name), more) in &batch.counters {
        let more = i64::try_from(*more).unwrap_or(i64::MAX);
        add.execute(params![provider, name, more, now])?;
    }
    let mut replace = transaction.prepare_cached(
        "INSERT OR REPLACE INTO snapshots (breaker, saved_ms, generation, state, format, body)
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for (breaker, snapshot) in snapshots {
        let body = serde_json::to_string(snapshot)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        replace.execute(params![
            breaker,
            now,
            snapshot.generation,
            snapshot.state.to_string(),
            FORMAT,
            body,
        ])?;
    }
    Ok(())
}

/// Deletes what is more than the options keep, oldest first.
pub(super) fn trim(transaction: &Transaction<'_>, options: &Options) -> rusqlite::Result<()> {
    for (table, keep) in [
        ("transitions", options.keep_transitions),
        ("probes", options.keep_probes),
    ] {
        // Numbers are given in order, so this is a look at the end and a cut at the front.
        let sql = format!("DELETE FROM {table} WHERE id <= (SELECT max(id) FROM {table}) - ?");
        transaction.prepare_cached(&sql)?.execute([keep])?;
    }
    for table in ["snapshots", "counters"] {
        let sql = format!(
            "DELETE FROM {table} WHERE rowid IN
                 (SELECT rowid FROM {table} ORDER BY saved_ms DESC LIMIT -1 OFFSET ?)"
        );
        transaction
            .prepare_cached(&sql)?
            .execute([options.keep_names])?;
    }
    Ok(())
}

pub(super) fn transitions(
    connection: &Connection,
    limit: u32,
    before: Option<i64>,
) -> rusqlite::Result<Vec<Row<Transition>>> {
    let mut query = connection.prepare_cached(
        "SELECT id, breaker, at_ms, generation, from_state, to_state, cause, reason,
             samples, failures, timeouts, slow
         FROM transitions WHERE id < ? ORDER BY id DESC LIMIT ?",
    )?;
    let rows = query.query_map(params![before.unwrap_or(i64::MAX), limit], |row| {
        Ok(Row {
            id: row.get(0)?,
            value: Transition {
                breaker: row.get(1)?,
                at_ms: row.get(2)?,
                generation: row.get(3)?,
                from: row.get(4)?,
                to: row.get(5)?,
                cause: row.get(6)?,
                reason: row.get(7)?,
                samples: row.get(8)?,
                failures: row.get(9)?,
                timeouts: row.get(10)?,
                slow: row.get(11)?,
            },
        })
    })?;
    rows.collect()
}

pub(super) fn probes(
    connection: &Connection,
    limit: u32,
) -> rusqlite::Result<Vec<Row<ProbeResult>>> {
    let mut query = connection.prepare_cached(
        "SELECT id, breaker, at_ms, took_ms, outcome, detail
         FROM probes ORDER BY id DESC LIMIT ?",
    )?;
    let rows = query.query_map([limit], |row| {
        Ok(Row {
            id: row.get(0)?,
            value: ProbeResult {
                breaker: row.get(1)?,
                at_ms: row.get(2)?,
                took_ms: row.get::<_, i64>(3)?.try_into().unwrap_or(0),
                outcome: row.get(4)?,
                detail: row.get(5)?,
            },
        })
    })?;
    rows.collect()
}
