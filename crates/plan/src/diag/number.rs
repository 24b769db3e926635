//! Numbers as a person reads them.

/// A whole number with its digits in threes.
///
/// ```
/// assert_eq!(keyplan_plan::diag::grouped(412_310), "412,310");
/// ```
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_threes() {
        assert_eq!(
            [0, 999, 1_000, 65_535, 3 << 30].map(grouped),
            ["0", "999", "1,000", "65,535", "3,221,225,472"]
        );
    }
}
