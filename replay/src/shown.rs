//! Numbers, times and lengths as people read them.

use std::time::Duration;

use jiff::Timestamp;

/// `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time to the second, in UTC.
pub(crate) fn time(nanos: i64) -> String {
    let time = Timestamp::from_nanosecond(i128::from(nanos)).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// A length of time in three digits or so.
pub(crate) fn span(nanos: u64) -> String {
    let duration = Duration::from_nanos(nanos);
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{:.3} s", duration.as_secs_f64()),
        1..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600..172_800 => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{:.1} d", duration.as_secs_f64() / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lengths_read_well() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
        let lengths = [
            0,
            250_000_000,
            12_340_000_000,
            90_000_000_000,
            7_260_000_000_000,
            400_000_000_000_000,
        ];
        assert_eq!(
            lengths.map(span),
            [
                "0.000 s",
                "0.250 s",
                "12.3 s",
                "1 min 30 s",
                "2 h 01 min",
                "4.6 d"
            ]
        );
    }
}
