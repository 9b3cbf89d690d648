//! Times and numbers as logs write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// A unit of a number that a log writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl Unit {
    /// The nanoseconds of one.
    pub(crate) const fn nanos(self) -> i64 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Millis => 1_000_000,
            Self::Micros => 1_000,
            Self::Nanos => 1,
        }
    }

    /// A unit by its short name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "s" | "sec" | "secs" | "seconds" => Self::Seconds,
            "ms" | "millis" | "milliseconds" => Self::Millis,
            "us" | "micros" | "microseconds" => Self::Micros,
            "ns" | "nano" | "nanos" | "nanoseconds" => Self::Nanos,
            _ => return None,
        })
    }

    /// The unit that a column's name ends in: `latency_ms`.
    pub(crate) fn of_column(name: &str) -> Option<Self> {
        let last = name.rsplit(['_', '.', '-']).next()?;
        if last.len() == name.len() {
            return None;
        }
        Self::named(last)
    }

    /// The unit of an epoch time by its size: no other puts it between 1973 and 5138.
    pub(crate) fn of_epoch(text: &str) -> Option<Self> {
        let whole = text.split('.').next()?;
        Some(match whole.trim_start_matches('-').len() {
            9..=11 => Self::Seconds,
            12..=14 => Self::Millis,
            15..=17 => Self::Micros,
            18..=19 => Self::Nanos,
            _ => return None,
        })
    }
}

/// A decimal number times a unit, in nanoseconds; exact down to them, what is finer is cut off.
pub(crate) fn decimal(text: &str, unit: Unit) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || digits.ends_with('.') {
        return None;
    }
    if !digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return scientific(text, unit);
    }
    let scale = unit.nanos();
    let mut nanos = whole.parse::<i64>().ok()?.checked_mul(scale)?;
    let mut place = scale;
    for digit in fraction.bytes() {
        if !digit.is_ascii_digit() {
            return None;
        }
        place /= 10;
        nanos = nanos.checked_add(i64::from(digit - b'0') * place)?;
    }
    Some(if negative { -nanos } else { nanos })
}

/// `1.7e9`, as some writers have large or small numbers.
fn scientific(text: &str, unit: Unit) -> Option<i64> {
    if !text
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b))
    {
        return None;
    }
    let nanos = text.parse::<f64>().ok()? * unit.nanos() as f64;
    (nanos.is_finite() && nanos.abs() < 9.2e18).then_some(nanos as i64)
}

/// `2021-12-07T08:37:28.358Z`, with any offset.
pub(crate) fn rfc3339(text: &str) -> Option<i64> {
    nanos(text.parse().ok()?)
}

/// `2019-12-04 21:02:31`, in a zone that the text does not say.
pub(crate) fn local(text: &str, zone: &TimeZone) -> Option<i64> {
    in_zone(text.parse().ok()?, zone)
}

/// `24/Dec/2014:01:29:29.273`, in a zone that the text does not say.
pub(crate) fn haproxy(text: &str, zone: &TimeZone) -> Option<i64> {
    let time = strtime::parse("%d/%b/%Y:%H:%M:%S%.f", text).ok()?;
    in_zone(time.to_datetime().ok()?, zone)
}

/// A local time that there was twice, when clocks were set back, is the first; one that there was not is
/// taken as if clocks had not been set forward yet.
fn in_zone(time: DateTime, zone: &TimeZone) -> Option<i64> {
    nanos(time.to_zoned(zone.clone()).ok()?.timestamp())
}

fn nanos(time: Timestamp) -> Option<i64> {
    i64::try_from(time.as_nanosecond()).ok()
}

/// Reads `22/Jan/2019:03:56:14 +0330`; lines that share their stamp with the one before read it once.
#[derive(Debug, Default)]
pub(crate) struct Clf {
    text: [u8; 26],
    nanos: i64,
}

impl Clf {
    /// The length of such a stamp.
    pub(crate) const LENGTH: usize = 26;

    pub(crate) fn read(&mut self, text: &[u8]) -> Option<i64> {
        let text: [u8; Self::LENGTH] = text.try_into().ok()?;
        if text != self.text {
            let time = strtime::parse("%d/%b/%Y:%H:%M:%S %z", text).ok()?;
            self.nanos = nanos(time.to_timestamp().ok()?)?;
            self.text = text;
        }
        Some(self.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_to_the_nanosecond() {
        assert_eq!(
            decimal("1716723772.6014807", Unit::Seconds),
            Some(1_716_723_772_601_480_700)
        );
        assert_eq!(decimal("221.899000", Unit::Millis), Some(221_899_000));
        assert_eq!(decimal("-1", Unit::Seconds), Some(-1_000_000_000));
        assert_eq!(
            decimal("1.7e9", Unit::Seconds),
            Some(1_700_000_000_000_000_000)
        );
        assert_eq!(decimal("0.0000000019", Unit::Seconds), Some(1));
        for wrong in [
            "",
            "-",
            ".5",
            "1.",
            "1.2.3",
            "1,5",
            "x",
            "99999999999999999999",
            "1e99",
            "NaN",
            "inf",
        ] {
            assert_eq!(decimal(wrong, Unit::Seconds), None, "{wrong}");
        }
    }

    #[test]
    fn stamps_are_read_with_their_offsets() {
        let mut clf = Clf::default();
        let read = clf.read(b"22/Jan/2019:03:56:14 +0330");
        assert_eq!(read, rfc3339("2019-01-22T00:26:14Z"));
        assert_eq!(
            clf.read(b"22/Jan/2019:03:56:15 +0330"),
            rfc3339("2019-01-22T00:26:15Z")
        );
        assert_eq!(clf.read(b"32/Jan/2019:03:56:15 +0330"), None);
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(
            haproxy("24/Dec/2014:01:29:29.273", &zone),
            rfc3339("2014-12-24T00:29:29.273Z")
        );
        assert_eq!(
            local("2019-07-04 21:02:31", &zone),
            rfc3339("2019-07-04T19:02:31Z")
        );
    }

    #[test]
    fn the_unit_of_an_epoch_time_is_known_by_its_size_and_that_of_a_column_by_its_name() {
        assert_eq!(Unit::of_epoch("1595325560"), Some(Unit::Seconds));
        assert_eq!(Unit::of_epoch("1703888759111"), Some(Unit::Millis));
        assert_eq!(Unit::of_epoch("1700000000000000000"), Some(Unit::Nanos));
        assert_eq!(Unit::of_epoch("12"), None);
        assert_eq!(Unit::of_column("latency_ms"), Some(Unit::Millis));
        assert_eq!(Unit::of_column("ms"), None);
        assert_eq!(Unit::of_column("latency"), None);
    }
}
