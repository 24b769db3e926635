//! Integers of 256 bits as people write them.

use keyplan_codec::WideNumber;

/// The bytes of a number, most significant first, in base 10.
pub(crate) fn decimal(bytes: &[u8], signed: bool) -> String {
    WideNumber { bytes, signed }.to_string()
}

/// The two's complement of a number from its digits, in base 10 or after `0x` in base 16; `None` if it is none, or too large.
pub(crate) fn parse(negative: bool, digits: &str, signed: bool) -> Option<[u8; 32]> {
    let (digits, base) = match digits.strip_prefix("0x") {
        Some(hex) => (hex, 16),
        None => (digits, 10),
    };
    let mut bytes = [0u8; 32];
    for character in digits.chars() {
        let mut carry = character.to_digit(base)?;
        for byte in bytes.iter_mut().rev() {
            carry += u32::from(*byte) * base;
            *byte = u8::try_from(carry & 0xff).ok()?;
            carry >>= 8;
        }
        if carry != 0 {
            return None;
        }
    }
    let top = bytes.first().copied().unwrap_or_default() & 0x80 != 0;
    if digits.is_empty() || (negative && !signed && bytes != [0; 32]) {
        return None;
    }
    if !negative {
        return (!signed || !top).then_some(bytes);
    }
    let mut carry = true;
    for byte in bytes.iter_mut().rev() {
        let (sum, over) = (!*byte).overflowing_add(u8::from(carry));
        (*byte, carry) = (sum, over);
    }
    // The least number is its own complement; any other that keeps its sign was too large.
    let least = bytes.first() == Some(&0x80) && bytes.iter().skip(1).all(|byte| *byte == 0);
    (!top || least).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_and_read_back() {
        let least = "57896044618658097711785492504343953926634992332820282019728792003956564819968";
        let greatest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        for (negative, digits, signed) in [
            (false, "0", false),
            (false, "1", true),
            (false, "340282366920938463463374607431768211456", false),
            (false, greatest, false),
            (true, "1", true),
            (true, least, true),
        ] {
            let bytes = parse(negative, digits, signed).unwrap();
            let text = if negative { format!("-{digits}") } else { digits.to_owned() };
            assert_eq!(decimal(&bytes, signed), text);
        }
        assert_eq!(parse(false, "0xff", false), parse(false, "255", false));
        assert_eq!(parse(true, "1", true), Some([0xff; 32]));
        for (negative, digits, signed) in [
            (false, "", false),
            (true, "1", false),
            (false, least, true),
            (false, "115792089237316195423570985008687907853269984665640564039457584007913129639936", false),
            (true, "57896044618658097711785492504343953926634992332820282019728792003956564819969", true),
            (false, "12a", false),
        ] {
            assert_eq!(parse(negative, digits, signed), None, "{digits}");
        }
    }
}
