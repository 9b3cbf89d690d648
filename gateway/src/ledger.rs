//! Who used what: requests and tokens by day, key, route and target, and what each key has left of its limits.
//!
//! One short lock when a request is let in and one when it has ended; nothing waits for a database. Tokens are known when
//! an answer has told them, so a request is let in as long as some are left, and those in flight may take more than is left.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::StatusCode;
use serde::Serialize;

use crate::clock::unix_time;
use crate::config::KeyLimits;
use crate::dialect::{ApiError, Usage};
use crate::store::{Minute, Spending, Spent};

/// A part of time, counted from the Unix epoch.
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What was spent today, and what is left of limits.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    /// The last day on which anything was spent.
    day: u64,
    /// What was spent on it, by key, route and target.
    rows: HashMap<(String, String, String), Spent>,
    keys: HashMap<String, Account>,
}

/// What one key has spent in the minute and on the day that it was used last.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    minute: u64,
    requests: u64,
    tokens: u64,
    day: u64,
    day_tokens: u64,
}

/// How one key stands, for operators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Standing {
    /// The key's name.
    pub(crate) name: String,
    /// Requests let in within this minute.
    pub(crate) requests_this_minute: u64,
    /// Tokens within this minute.
    pub(crate) tokens_this_minute: u64,
    /// Tokens today.
    pub(crate) tokens_today: u64,
    /// Its limits.
    pub(crate) requests_per_minute: Option<NonZeroU64>,
    pub(crate) tokens_per_minute: Option<NonZeroU64>,
    pub(crate) tokens_per_day: Option<NonZeroU64>,
}

impl Ledger {
    /// Goes on from what a database has.
    pub(crate) fn resume(saved: &Spending) -> Self {
        let ledger = Self::default();
        {
            let mut book = ledger.lock();
            for row in &saved.spent {
                let name = (row.key.clone(), row.route.clone(), row.target.clone());
                book.day = row.day;
                book.rows.insert(name, row.clone());
                let account = book.keys.entry(row.key.clone()).or_default();
                account.day = row.day;
                account.day_tokens += row.tokens_in + row.tokens_out;
            }
            for minute in &saved.minutes {
                let account = book.keys.entry(minute.key.clone()).or_default();
                account.minute = minute.minute;
                account.requests = minute.requests;
                account.tokens = minute.tokens;
            }
        }
        ledger
    }

    /// Lets a request of a key in, and counts it.
    ///
    /// # Errors
    ///
    /// One of its limits is used up: which, and when there will be more.
    pub(crate) fn enter(&self, key: &str, limits: &KeyLimits) -> Result<(), ApiError> {
        self.enter_at(unix_time(), key, limits)
    }

    fn enter_at(&self, now: Duration, key: &str, limits: &KeyLimits) -> Result<(), ApiError> {
        let mut book = self.lock();
        let account = book.account(key, now);
        let used_up = |limit: Option<NonZeroU64>, used| limit.filter(|limit| used >= limit.get());
        let (limit, what, part) =
            if let Some(limit) = used_up(limits.tokens_per_day, account.day_tokens) {
                (limit, "tokens a day", DAY)
            } else if let Some(limit) = used_up(limits.tokens_per_minute, account.tokens) {
                (limit, "tokens a minute", MINUTE)
            } else if let Some(limit) = used_up(limits.requests_per_minute, account.requests) {
                (limit, "requests a minute", MINUTE)
            } else {
                account.requests += 1;
                return Ok(());
            };
        drop(book);
        let wait = until_next(now, part);
        let message = format!(
            "the key {key:?} has used up its {limit} {what}; there are more in {} s",
            wait.as_secs() + 1
        );
        let status = StatusCode::TOO_MANY_REQUESTS;
        let mut error = ApiError::server(status, "rate_limit_exceeded", message).retry_after(wait);
        error.kind = "rate_limit_error";
        // A client that tries again by itself does so within a minute.
        error.is_final = wait > MINUTE;
        Err(error)
    }

    /// Counts an answer.
    pub(crate) fn spend(&self, key: &str, route: &str, target: &str, used: Usage) {
        self.spend_at(unix_time(), key, route, target, used);
    }

    fn spend_at(&self, now: Duration, key: &str, route: &str, target: &str, used: Usage) {
        let day = part(now, DAY);
        let mut book = self.lock();
        // A clock that was set back goes on with the later day.
        if day > book.day {
            book.day = day;
            book.rows.clear();
        }
        let day = book.day;
        let name = (key.to_owned(), route.to_owned(), target.to_owned());
        let row = book.rows.entry(name).or_insert_with(|| Spent {
            day,
            key: key.to_owned(),
            route: route.to_owned(),
            target: target.to_owned(),
            ..Spent::default()
        });
        let (input, output) = (used.input.unwrap_or(0), used.output.unwrap_or(0));
        row.requests += 1;
        row.untold += u64::from(used == Usage::default());
        row.tokens_in += input;
        row.tokens_out += output;
        let account = book.account(key, now);
        account.tokens += input + output;
        account.day_tokens += input + output;
    }

    /// What was spent today, in order.
    pub(crate) fn today(&self) -> Vec<Spent> {
        let day = part(unix_time(), DAY);
        let book = self.lock();
        let rows = book.rows.values().filter(|row| row.day >= day);
        let mut rows: Vec<_> = rows.cloned().collect();
        rows.sort_by(|a, b| (&a.key, &a.route, &a.target).cmp(&(&b.key, &b.route, &b.target)));
        rows
    }

    /// How a key stands.
    pub(crate) fn standing(&self, key: &str, limits: &KeyLimits) -> Standing {
        let account = *self.lock().account(key, unix_time());
        Standing {
            name: key.to_owned(),
            requests_this_minute: account.requests,
            tokens_this_minute: account.tokens,
            tokens_today: account.day_tokens,
            requests_per_minute: limits.requests_per_minute,
            tokens_per_minute: limits.tokens_per_minute,
            tokens_per_day: limits.tokens_per_day,
        }
    }

    /// What is to be kept.
    pub(crate) fn spending(&self) -> Spending {
        let book = self.lock();
        let minutes = book.keys.iter().map(|(key, account)| Minute {
            key: key.clone(),
            minute: account.minute,
            requests: account.requests,
            tokens: account.tokens,
        });
        Spending {
            spent: book.rows.values().cloned().collect(),
            minutes: minutes.collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// What a key has spent in the minute and on the day that it is. A clock that was set back goes on with the later ones.
    fn account(&mut self, key: &str, now: Duration) -> &mut Account {
        if !self.keys.contains_key(key) {
            self.keys.insert(key.to_owned(), Account::default());
        }
        let account = self.keys.entry(key.to_owned()).or_default();
        let (minute, day) = (part(now, MINUTE), part(now, DAY));
        if minute > account.minute {
            account.minute = minute;
            account.requests = 0;
            account.tokens = 0;
        }
        if day > account.day {
            account.day = day;
            account.day_tokens = 0;
        }
        account
    }
}

fn part(now: Duration, length: Duration) -> u64 {
    now.as_secs() / length.as_secs()
}

fn until_next(now: Duration, length: Duration) -> Duration {
    let next = (part(now, length) + 1) * length.as_secs();
    Duration::from_secs(next).saturating_sub(now)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    const NOON: Duration = Duration::from_secs(20_000 * 24 * 3600 + 12 * 3600);

    fn limits(requests: u64, minute: u64, day: u64) -> KeyLimits {
        KeyLimits {
            requests_per_minute: NonZeroU64::new(requests),
            tokens_per_minute: NonZeroU64::new(minute),
            tokens_per_day: NonZeroU64::new(day),
        }
    }

    fn used(input: u64, output: u64) -> Usage {
        Usage {
            input: Some(input),
            output: Some(output),
        }
    }

    #[test]
    fn of_64_threads_exactly_as_many_requests_are_let_in_as_a_minute_has() {
        let ledger = Ledger::default();
        let let_in = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        if ledger.enter_at(NOON, "k", &limits(777, 0, 0)).is_ok() {
                            let_in.fetch_add(1, Relaxed);
                            ledger.spend_at(NOON, "k", "r", "t", used(3, 4));
                        }
                    }
                });
            }
        });
        assert_eq!(let_in.into_inner(), 777);
        let spent = ledger.spending();
        let row = &spent.spent[0];
        assert_eq!(
            (row.requests, row.tokens_in, row.tokens_out),
            (777, 3 * 777, 4 * 777)
        );
        assert_eq!(
            (spent.minutes[0].requests, spent.minutes[0].tokens),
            (777, 7 * 777)
        );
    }

    #[test]
    fn a_limit_says_when_there_is_more() {
        let ledger = Ledger::default();
        let now = NOON + Duration::from_secs(42);
        assert!(ledger.enter_at(now, "k", &limits(1, 0, 0)).is_ok());
        let error = ledger.enter_at(now, "k", &limits(1, 0, 0)).unwrap_err();
        assert_eq!(
            (error.status.as_u16(), error.retry_after),
            (429, Some(Duration::from_secs(18)))
        );
        assert!(!error.is_final && error.message.contains("requests a minute"));
        let next = now + Duration::from_secs(18);
        assert!(ledger.enter_at(next, "k", &limits(1, 0, 0)).is_ok());
        ledger.spend_at(next, "k", "r", "t", used(5, 5));
        let error = ledger.enter_at(next, "k", &limits(0, 10, 0)).unwrap_err();
        assert_eq!(error.retry_after, Some(MINUTE));
        let later = next + MINUTE;
        assert!(ledger.enter_at(later, "k", &limits(0, 10, 11)).is_ok());
        let error = ledger.enter_at(later, "k", &limits(0, 0, 10)).unwrap_err();
        assert_eq!(
            error.retry_after,
            Some(Duration::from_secs(12 * 3600 - 120))
        );
        assert!(error.is_final && error.message.contains("tokens a day"));
        assert!(ledger.enter_at(later, "other", &limits(1, 10, 10)).is_ok());
        assert!(ledger.enter_at(NOON + DAY, "k", &limits(1, 10, 10)).is_ok());
    }

    #[test]
    fn what_was_spent_goes_on_after_a_restart() {
        let ledger = Ledger::default();
        ledger.enter_at(NOON, "k", &limits(9, 0, 0)).unwrap();
        ledger.spend_at(NOON, "k", "r", "t", used(6, 0));
        ledger.spend_at(NOON, "k", "r", "other", used(0, 5));
        let ledger = Ledger::resume(&ledger.spending());
        assert!(ledger.enter_at(NOON, "k", &limits(1, 0, 0)).is_err());
        assert!(ledger.enter_at(NOON, "k", &limits(0, 11, 0)).is_err());
        assert!(ledger.enter_at(NOON, "k", &limits(0, 0, 11)).is_err());
        assert!(ledger.enter_at(NOON, "k", &limits(2, 12, 12)).is_ok());
        ledger.spend_at(NOON + DAY, "k", "r", "t", Usage::default());
        let rows = ledger.spending().spent;
        assert_eq!(rows.len(), 1, "of the new day alone");
        assert_eq!(
            (rows[0].requests, rows[0].untold, rows[0].tokens_in),
            (1, 1, 0)
        );
    }

    #[test]
    fn a_clock_that_is_set_back_gives_nothing_anew() {
        let ledger = Ledger::default();
        ledger.enter_at(NOON, "k", &limits(1, 0, 0)).unwrap();
        let before = NOON - Duration::from_secs(90);
        assert!(ledger.enter_at(before, "k", &limits(1, 0, 0)).is_err());
    }
}
