//! What a status says about the upstream.

use std::collections::HashMap;
use std::str::FromStr;

use cutout::Outcome;

use crate::Error;

/// What a log says a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status<'a> {
    /// An HTTP status.
    Code(u16),
    /// A word: `timeout`, `connect_refused`, `success`.
    Word(&'a str),
    /// The format itself says it: a flag, an error beside a code of 0.
    Known(Outcome),
}

/// What statuses mean: the core's table ([`cutout::verdict`]), with what the user changed in it.
///
/// Three statuses mean something else in a log than to a caller. 499 and 460 say that the caller left, and 0 that there was
/// none when it did: who wrote the log is not the one who waited. They are ignored.
///
/// A format that knows better says so: a flag that an upstream's time ran out makes a timeout of any status.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    codes: HashMap<u16, Outcome>,
    words: HashMap<String, Outcome>,
}

impl Verdicts {
    /// Changes one entry, as `404=failure`, `abort=ignored` or `5xx=success`.
    ///
    /// # Errors
    ///
    /// One that says what is wrong with the text.
    pub fn set(&mut self, rule: &str) -> Result<(), Error> {
        let wrong = || {
            Error::Usage(format!(
                "`{rule}` is no verdict: write a status and an outcome, such as `404=failure`, `4xx=ignored` or \
                 `abort=timeout`; outcomes are success, answered, failure, timeout and ignored"
            ))
        };
        let (status, outcome) = rule.split_once('=').ok_or_else(wrong)?;
        let outcome = named(outcome.trim()).ok_or_else(wrong)?;
        let status = status.trim();
        if let Ok(code) = status.parse::<u16>() {
            self.codes.insert(code, outcome);
        } else if let Some(hundreds) = status
            .strip_suffix("xx")
            .and_then(|digit| u16::from_str(digit).ok())
            .filter(|digit| *digit < 10)
        {
            for code in hundreds * 100..hundreds * 100 + 100 {
                self.codes.insert(code, outcome);
            }
        } else if status.is_empty() {
            return Err(wrong());
        } else {
            self.words.insert(status.to_ascii_lowercase(), outcome);
        }
        Ok(())
    }

    /// What a status means; `None` for a word that nobody knows.
    pub fn outcome(&self, status: Status<'_>) -> Option<Outcome> {
        match status {
            Status::Known(outcome) => Some(outcome),
            Status::Code(code) => Some(match self.codes.get(&code) {
                Some(&outcome) => outcome,
                None => by_code(code),
            }),
            Status::Word(word) => {
                if let Ok(code) = word.parse::<u16>() {
                    return self.outcome(Status::Code(code));
                }
                let word = word.to_ascii_lowercase();
                match self.words.get(&word) {
                    Some(&outcome) => Some(outcome),
                    None => by_word(&word),
                }
            }
        }
    }
}

fn by_code(code: u16) -> Outcome {
    match code {
        0 | 460 | 499 => Outcome::Ignored,
        code => cutout::verdict::Verdicts::http().of(code).outcome,
    }
}

fn by_word(word: &str) -> Option<Outcome> {
    Some(match word {
        "ok" | "true" | "unset" => Outcome::Success,
        "connect_timeout" | "read_timeout" | "timed_out" | "deadline_exceeded" => Outcome::Timeout,
        "error" | "failed" | "false" | "reset" | "tls" | "dns" | "no_response"
        | "connect_refused" | "unavailable" | "abort" => Outcome::Failure,
        "cancelled" | "canceled" | "client_left" | "abandoned" => Outcome::Ignored,
        word => return named(word),
    })
}

fn named(word: &str) -> Option<Outcome> {
    Some(match word {
        "success" => Outcome::Success,
        "answered" => Outcome::Answered,
        "failure" => Outcome::Failure,
        "timeout" => Outcome::Timeout,
        "ignored" => Outcome::Ignored,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_changes_a_code_a_hundred_or_a_word_and_a_wrong_one_is_refused() {
        let mut verdicts = Verdicts::default();
        for rule in ["404=failure", "3xx = ignored", "Abort=timeout"] {
            verdicts.set(rule).unwrap();
        }
        let outcome = |status| verdicts.outcome(status);
        assert_eq!(outcome(Status::Code(404)), Some(Outcome::Failure));
        assert_eq!(outcome(Status::Code(302)), Some(Outcome::Ignored));
        assert_eq!(outcome(Status::Word("abort")), Some(Outcome::Timeout));
        assert_eq!(outcome(Status::Code(403)), Some(Outcome::Answered));
        for wrong in ["404", "404=bad", "=failure", ""] {
            let error = Verdicts::default().set(wrong).unwrap_err().to_string();
            assert!(error.contains("is no verdict"), "{error}");
        }
    }

    #[test]
    fn a_word_that_nobody_knows_has_no_outcome() {
        assert_eq!(Verdicts::default().outcome(Status::Word("purple")), None);
    }
}
