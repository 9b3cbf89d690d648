//! The rows: read at the start, written in batches, kept to a bound.

use std::sync::Arc;

use cutout::Snapshot;
use rusqlite::{Connection, Transaction, params};

use super::inbox::Batch;
use super::numbers::{signed, unsigned};
use super::spending;
use super::{Options, ProbeResult, Saved, Spending, Totals};
use crate::clock::unix_millis;
use crate::events::{Counts, Transition};

/// The version of the snapshots' text form that this program writes.
const FORMAT: i64 = 1;

/// Longer texts of operators and upstreams are cut here, in bytes.
const LONGEST_TEXT: usize = 500;

/// So many of the last transitions are read at the start.
const RECENT: u32 = 256;

/// All that a start needs.
pub(super) fn load(connection: &Connection) -> rusqlite::Result<Saved> {
    let mut saved = Saved::default();
    let mut query =
        connection.prepare("SELECT breaker, format, body FROM snapshots ORDER BY breaker")?;
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
    let mut query = connection.prepare(
        "SELECT breaker, calls, successes, failures, timeouts, ignored, rejected, retries, answered FROM totals",
    )?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let totals = Totals {
            calls: unsigned(row, 1)?,
            successes: unsigned(row, 2)?,
            failures: unsigned(row, 3)?,
            timeouts: unsigned(row, 4)?,
            ignored: unsigned(row, 5)?,
            rejected: unsigned(row, 6)?,
            retries: unsigned(row, 7)?,
            answered: unsigned(row, 8)?,
        };
        saved.totals.insert(row.get(0)?, totals);
    }
    saved.spending = spending::load(connection)?;
    saved.transitions = transitions(connection, RECENT, None)?;
    saved.transitions.reverse();
    Ok(saved)
}

fn decode(format: i64, body: &str) -> Result<Snapshot, String> {
    if format != FORMAT {
        return Err(format!("its format {format} is not known"));
    }
    serde_json::from_str(body).map_err(|error| error.to_string())
}

/// What of a breaker has changed, to be written over what was there.
pub(super) struct Change {
    pub(super) breaker: Arc<str>,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) totals: Option<Totals>,
}

/// Writes all that is in `batch`, and what has changed besides.
pub(super) fn write(
    transaction: &Transaction<'_>,
    batch: &Batch,
    changes: &[Change],
    spent: &Spending,
) -> rusqlite::Result<()> {
    spending::write(transaction, spent)?;
    let mut insert = transaction.prepare_cached(
        "INSERT OR REPLACE INTO transitions (id, breaker, at_ms, generation, from_state, to_state,
             cause, reason, threshold, label, samples, failures, timeouts, slow)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (_, row) in &batch.transitions {
        insert.execute(params![
            signed(row.id),
            row.breaker,
            signed(row.at_ms),
            row.generation,
            row.from,
            row.to,
            row.cause,
            row.reason.as_deref().map(cut),
            row.threshold,
            row.label.as_deref().map(cut),
            row.counts.samples,
            row.counts.failures,
            row.counts.timeouts,
            row.counts.slow,
        ])?;
    }
    let mut insert = transaction.prepare_cached(
        "INSERT INTO probes (breaker, at_ms, took_ms, error, counted) VALUES (?, ?, ?, ?, ?)",
    )?;
    for row in &batch.probes {
        insert.execute(params![
            row.breaker,
            signed(row.at_ms),
            signed(row.took_ms),
            row.error.as_deref().map(cut),
            row.counted,
        ])?;
    }
    let now = signed(unix_millis());
    let mut replace_snapshot = transaction.prepare_cached(
        "INSERT OR REPLACE INTO snapshots (breaker, saved_ms, generation, state, format, body)
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    let mut replace_totals = transaction.prepare_cached(
        "INSERT OR REPLACE INTO totals (breaker, saved_ms,
             calls, successes, failures, timeouts, ignored, rejected, retries, answered)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for change in changes {
        if let Some(snapshot) = &change.snapshot {
            let body = serde_json::to_string(snapshot)
                .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            replace_snapshot.execute(params![
                change.breaker,
                now,
                snapshot.generation,
                snapshot.state.to_string(),
                FORMAT,
                body,
            ])?;
        }
        if let Some(totals) = change.totals {
            replace_totals.execute(params![
                change.breaker,
                now,
                signed(totals.calls),
                signed(totals.successes),
                signed(totals.failures),
                signed(totals.timeouts),
                signed(totals.ignored),
                signed(totals.rejected),
                signed(totals.retries),
                signed(totals.answered),
            ])?;
        }
    }
    Ok(())
}

/// Deletes what is older, or more, than the options keep.
pub(super) fn trim(transaction: &Transaction<'_>, options: &Options) -> rusqlite::Result<()> {
    let keep_ms = u64::try_from(options.keep.as_millis()).unwrap_or(u64::MAX);
    let oldest = signed(unix_millis().saturating_sub(keep_ms));
    for table in ["transitions", "probes"] {
        // Ids are given in order, so both cut at the front and stop there.
        let too_many = format!("DELETE FROM {table} WHERE id <= (SELECT max(id) FROM {table}) - ?");
        transaction
            .prepare_cached(&too_many)?
            .execute([options.max_rows])?;
        let too_old = format!(
            "DELETE FROM {table} WHERE id < coalesce(
                 (SELECT id FROM {table} WHERE at_ms >= ?1 ORDER BY id LIMIT 1),
                 (SELECT max(id) + 1 FROM {table}))"
        );
        transaction.prepare_cached(&too_old)?.execute([oldest])?;
    }
    spending::trim(transaction, options.max_rows)?;
    for table in ["snapshots", "totals"] {
        let sql = format!(
            "DELETE FROM {table} WHERE rowid IN
                 (SELECT rowid FROM {table} ORDER BY saved_ms DESC LIMIT -1 OFFSET ?)"
        );
        transaction
            .prepare_cached(&sql)?
            .execute([options.max_breakers])?;
    }
    Ok(())
}

pub(super) fn transitions(
    connection: &Connection,
    limit: u32,
    before: Option<u64>,
) -> rusqlite::Result<Vec<Transition>> {
    let mut query = connection.prepare_cached(
        "SELECT id, breaker, at_ms, generation, from_state, to_state, cause, reason,
             threshold, label, samples, failures, timeouts, slow
         FROM transitions WHERE id < ? ORDER BY id DESC LIMIT ?",
    )?;
    let before = before.map_or(i64::MAX, signed);
    let rows = query.query_map(params![before, limit], |row| {
        Ok(Transition {
            id: unsigned(row, 0)?,
            breaker: row.get(1)?,
            at_ms: unsigned(row, 2)?,
            generation: row.get(3)?,
            from: row.get(4)?,
            to: row.get(5)?,
            cause: row.get(6)?,
            reason: row.get(7)?,
            threshold: row.get(8)?,
            label: row.get(9)?,
            counts: Counts {
                samples: row.get(10)?,
                failures: row.get(11)?,
                timeouts: row.get(12)?,
                slow: row.get(13)?,
            },
        })
    })?;
    rows.collect()
}

pub(super) fn probes(connection: &Connection, limit: u32) -> rusqlite::Result<Vec<ProbeResult>> {
    let mut query = connection.prepare_cached(
        "SELECT breaker, at_ms, took_ms, error, counted FROM probes ORDER BY id DESC LIMIT ?",
    )?;
    let rows = query.query_map([limit], |row| {
        Ok(ProbeResult {
            breaker: row.get(0)?,
            at_ms: unsigned(row, 1)?,
            took_ms: unsigned(row, 2)?,
            error: row.get(3)?,
            counted: row.get(4)?,
        })
    })?;
    rows.collect()
}

fn cut(text: &str) -> &str {
    let ends = text
        .char_indices()
        .map(|(start, char)| start + char.len_utf8());
    let end = ends.take_while(|&end| end <= LONGEST_TEXT).last();
    &text[..end.unwrap_or(0)]
}
