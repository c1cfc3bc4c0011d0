//! Write numbers the way a scientist writes them.

/// Half of a 95 % interval of a normal law, in sds.
pub const REACH: f64 = 1.96;

/// A number in about three digits, for an axis or a tooltip.
pub fn short(x: f64) -> String {
    digits(x, 4)
}

/// A number in so many significant digits, without zeros at the end.
pub fn digits(x: f64, count: usize) -> String {
    if !x.is_finite() {
        return "–".into();
    }
    let size = x.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        let text = format!("{x:.*e}", count.saturating_sub(2));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return minus(&format!("{}e{exponent}", trimmed(mantissa)));
    }
    let order = if size > 0.0 {
        size.log10().floor() as i32
    } else {
        0
    };
    let text = format!("{x:.*}", (count as i32 - 1 - order).max(0) as usize);
    minus(trimmed(&text))
}

fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// With a true minus sign, unless nothing but zeros follows it.
fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().any(|c| ('1'..='9').contains(&c)) => format!("−{rest}"),
        Some(rest) => rest.into(),
        None => text.into(),
    }
}

/// Digits after the point that an error of this size leaves meaningful: two of the error's own.
pub fn decimals(error: f64) -> usize {
    match error.is_finite() && error > 0.0 {
        true => (1.0 - error.log10().floor()).clamp(0.0, 9.0) as usize,
        false => 4,
    }
}

/// A number with so many digits after the point and a true minus sign.
pub fn fixed(x: f64, decimals: usize) -> String {
    match x.is_finite() {
        true => minus(&format!("{x:.decimals$}")),
        false => "–".into(),
    }
}

/// A whole number, and nothing for others: for an axis that counts.
pub fn whole(x: f64) -> String {
    match (x - x.round()).abs() < 1e-9 {
        true => fixed(x, 0),
        false => String::new(),
    }
}

/// Seconds in three digits and a unit that suits them.
pub fn seconds(x: f64) -> String {
    let (number, unit) = match x {
        x if x < 1e-3 => (x * 1e6, "µs"),
        x if x < 1.0 => (x * 1e3, "ms"),
        x if x < 120.0 => (x, "s"),
        x if x < 7200.0 => (x / 60.0, "min"),
        x => (x / 3600.0, "h"),
    };
    match number {
        0.0 => "0 s".into(),
        // Less than a tenth of a microsecond is no time.
        number => format!("{} {unit}", digits(number.max(0.1), 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        let cases = [
            (0.0, "0"),
            (-0.25, "−0.25"),
            (1234.5678, "1235"),
            (0.012345, "0.01235"),
            (1e-9, "1e-9"),
            (-2.5e12, "−2.5e12"),
            (f64::NAN, "–"),
        ];
        for (x, want) in cases {
            assert_eq!(short(x), want);
        }
    }

    #[test]
    fn an_error_leaves_two_of_its_own_digits() {
        assert_eq!([0.5, 0.012, 3.0, 250.0].map(decimals), [2, 3, 1, 0]);
        assert_eq!(decimals(f64::NAN), 4);
        assert_eq!(fixed(-0.0001, 2), "0.00");
    }

    #[test]
    fn seconds_have_three_digits_and_a_unit() {
        let cases = [
            (0.0, "0 s"),
            (2e-5, "20 µs"),
            (0.6, "600 ms"),
            (0.94249, "942 ms"),
            (1.234, "1.23 s"),
            (119.0, "119 s"),
            (600.0, "10 min"),
            (1e5, "27.8 h"),
        ];
        for (x, want) in cases {
            assert_eq!(seconds(x), want);
        }
    }
}
