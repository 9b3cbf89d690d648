//! Numbers as the tables have them.

/// A number of calls in at most three digits that mean something.
pub(super) fn calls(calls: f64) -> String {
    match calls {
        ..9.95 => format!("{calls:.1}"),
        ..999.5 => format!("{calls:.0}"),
        ..999_500.0 => grouped(calls),
        ..1e15 => {
            let text = format!("{calls:.2e}");
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{digits} · 10{}", raised(power))
        }
        _ => "more than 10¹⁵".into(),
    }
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", (share * 1000.0).round() / 10.0)
}

/// A power of ten.
pub(super) fn power_of_ten(power: i32) -> String {
    format!("10{}", raised(&power.to_string()))
}

fn grouped(number: f64) -> String {
    let step = 10_f64.powi(number.log10() as i32 - 2);
    let number = ((number / step).round() * step).round() as u64;
    match number {
        ..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    }
}

fn raised(digits: &str) -> String {
    let raised = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = digits.chars().filter_map(|digit| digit.to_digit(10));
    digits.map(|digit| raised[digit as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_calls_are_short() {
        let shown = [4.0, 9.94, 9.96, 123.4, 1_571.0, 999_400.0, 1.164e9, 1e80].map(calls);
        let expected = [
            "4.0",
            "9.9",
            "10",
            "123",
            "1,570",
            "999,000",
            "1.16 · 10⁹",
            "more than 10¹⁵",
        ];
        assert_eq!(shown, expected);
    }
}
