//! Numbers as people read them.

use crate::workload::Window;

/// A window as its number of outcomes, or as its length.
pub(super) fn window(outcomes: Option<usize>) -> String {
    let window = outcomes.map_or(Window::Time, Window::Count);
    window.to_string()
}

/// Nanoseconds with the digits that matter.
pub(super) fn nanos(ns: Option<f64>) -> String {
    match ns {
        None => "-".into(),
        Some(ns) if ns < 10.0 => format!("{ns:.2}"),
        Some(ns) if ns < 100.0 => format!("{ns:.1}"),
        Some(ns) => grouped(ns),
    }
}

/// A whole number with separated thousands.
pub(super) fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        assert_eq!(nanos(Some(0.954)), "0.95");
        assert_eq!(nanos(Some(12.345)), "12.3");
        assert_eq!(nanos(Some(58_573.6)), "58,574");
        assert_eq!(nanos(None), "-");
    }
}
