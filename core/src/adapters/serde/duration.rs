//! Durations as people write them.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

/// The units, the longest first, and their nanoseconds.
const UNITS: [(&str, u128); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// A duration as text: from seconds down, so that it is short and exact.
pub(super) struct Text(pub(super) Duration);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_zero() {
            return f.write_str("0s");
        }
        let mut left = self.0.as_nanos();
        let mut space = "";
        for (unit, nanos) in &UNITS[3..] {
            let count = left / nanos;
            left %= nanos;
            if count > 0 {
                write!(f, "{space}{count}{unit}")?;
                space = " ";
            }
        }
        Ok(())
    }
}

/// A text that is no duration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a duration: write numbers with their units (d, h, m, s, ms, us, ns), \
             such as \"30s\", \"1.5s\" or \"1m 30s\"",
            self.0,
        )
    }
}

/// Reads a sum of numbers with units.
pub(super) fn parse(text: &str) -> Result<Duration, Error> {
    let mut nanos = Some(0_u128).filter(|_| !text.trim().is_empty());
    let mut rest = text.trim();
    while let (Some(sum), false) = (nanos, rest.is_empty()) {
        let number = take_while(&mut rest, |c| c.is_ascii_digit() || c == '.');
        rest = rest.trim_start();
        let unit = take_while(&mut rest, char::is_alphabetic);
        rest = rest.trim_start();
        nanos = term(number, unit).and_then(|nanos| sum.checked_add(nanos));
    }
    nanos
        .and_then(from_nanos)
        .ok_or_else(|| Error(text.to_owned()))
}

/// What a number of units is in nanoseconds, if it is a whole number of them.
fn term(number: &str, unit: &str) -> Option<u128> {
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let scale = 10_u128.checked_pow(fraction.len().try_into().ok()?)?;
    let parts = fraction.parse::<u128>().ok()?.checked_mul(*unit)?;
    let whole = whole.parse::<u128>().ok()?.checked_mul(*unit)?;
    (parts % scale == 0).then_some(whole.checked_add(parts / scale)?)
}

fn from_nanos(nanos: u128) -> Option<Duration> {
    let second = 1_000_000_000;
    let seconds = u64::try_from(nanos / second).ok()?;
    Some(Duration::new(seconds, (nanos % second) as u32))
}

/// Cuts the first characters that are `like` this off `rest`.
fn take_while<'a>(rest: &mut &'a str, like: impl Fn(char) -> bool) -> &'a str {
    let end = rest.find(|c| !like(c)).unwrap_or(rest.len());
    let (taken, left) = rest.split_at(end);
    *rest = left;
    taken
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_sum_of_numbers_with_units_is_read() {
        for (text, nanos) in [
            ("30s", 30_000_000_000),
            ("1.5s", 1_500_000_000),
            ("1m 30s", 90_000_000_000),
            ("1m30s", 90_000_000_000),
            (" 250 ms ", 250_000_000),
            ("0.25us", 250),
            ("2h", 7_200_000_000_000),
            ("1d", 86_400_000_000_000),
            ("7ns", 7),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text:?}");
        }
    }

    #[test]
    fn a_text_that_is_no_duration_is_refused() {
        for text in [
            "",
            " ",
            "30",
            "s",
            "-1s",
            "1 s 2",
            "1 week",
            "1,5s",
            "1..5s",
            ".s",
            "1.s",
            "inf",
            "1e3s",
            "0.1ns",
            "30S",
            "99999999999999999999s",
            "1s none",
            "340282366920938463463374607431768211456ns",
            "1.00000000000000000000000000000000000000001s",
        ] {
            assert_eq!(parse(text), Err(Error(text.to_owned())), "{text:?}");
        }
    }

    #[test]
    fn a_duration_is_read_back_as_it_was_written() {
        for (duration, text) in [
            (Duration::ZERO, "0s"),
            (Duration::from_secs(90), "90s"),
            (Duration::from_millis(1_500), "1s 500ms"),
            (Duration::from_nanos(1_000_001), "1ms 1ns"),
            (Duration::MAX, "18446744073709551615s 999ms 999us 999ns"),
        ] {
            assert_eq!(Text(duration).to_string(), text);
            assert_eq!(parse(text), Ok(duration));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_duration_is_read_back_as_it_was_written(duration: Duration) {
            assert_eq!(parse(&Text(duration).to_string()), Ok(duration));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text: String) {
            let _ = parse(&text);
        }
    }
}
