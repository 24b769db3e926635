//! Sets of characters, widened to what people would write: one lower-case letter stands for all of them.

/// Characters of a text: ASCII ones by bit, and whether there are others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Class {
    ascii: u128,
    beyond: bool,
}

const LOWER: u128 = ((1 << 26) - 1) << b'a';
const UPPER: u128 = ((1 << 26) - 1) << b'A';
const DIGITS: u128 = ((1 << 10) - 1) << b'0';
/// What base 58 leaves out of letters and digits: `0`, `O`, `I` and `l`.
const NOT_BASE58: u128 = 1 << b'0' | 1 << b'O' | 1 << b'I' | 1 << b'l';

impl Class {
    /// The characters of some texts; `None` if one of them is not text that can be shown.
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        let mut class = Self::default();
        for text in texts {
            if text.is_ascii() {
                for byte in text {
                    if byte.is_ascii_control() {
                        return None;
                    }
                    class.ascii |= 1 << byte;
                }
            } else {
                let text = str::from_utf8(text).ok()?;
                if text.chars().any(char::is_control) {
                    return None;
                }
                class.beyond = true;
                class.ascii |= text.bytes().filter(u8::is_ascii).fold(0, |all, byte| all | 1 << byte);
            }
        }
        Some(class)
    }

    pub(crate) const fn has(self, byte: u8) -> bool {
        if byte < 128 { self.ascii >> byte & 1 == 1 } else { self.beyond }
    }

    /// Whether letters and digits of it are those of base 58, with enough of each to tell.
    pub(crate) const fn is_base58(self) -> bool {
        let all = LOWER | UPPER | DIGITS;
        let is_inside = self.ascii & (!all | NOT_BASE58) == 0;
        is_inside && !self.beyond && (self.ascii & all).count_ones() >= 30
    }

    /// With every letter and digit of the kinds that it has.
    #[must_use]
    pub(crate) const fn widened(self) -> Self {
        if self.is_base58() {
            return Self { ascii: (LOWER | UPPER | DIGITS) & !NOT_BASE58, beyond: false };
        }
        let mut ascii = self.ascii;
        if self.ascii & LOWER != 0 {
            ascii |= LOWER;
        }
        if self.ascii & UPPER != 0 {
            ascii |= UPPER;
        }
        if self.ascii & DIGITS != 0 {
            ascii |= DIGITS;
        }
        Self { ascii, beyond: self.beyond }
    }

    /// Without one byte: the separator that ends it.
    #[must_use]
    pub(crate) const fn without(self, byte: u8) -> Self {
        Self { ascii: if byte < 128 { self.ascii & !(1 << byte) } else { self.ascii }, beyond: self.beyond }
    }

    /// The bits of one byte of a text over it.
    pub(crate) fn bits(self) -> f64 {
        if self.beyond { 7.5 } else { f64::from(self.ascii.count_ones().max(1)).log2() }
    }

    /// As a class of the language, without quotes; the separator that it must not hold matters only beyond ASCII.
    pub(crate) fn notation(self, separator: Option<u8>) -> Option<String> {
        if self.beyond {
            return separator.map(|byte| format!("^{}", escaped(byte)));
        }
        let mut out = String::new();
        for (all, first, last) in [(LOWER, b'a', b'z'), (UPPER, b'A', b'Z'), (DIGITS, b'0', b'9')] {
            if self.ascii & all == all {
                out.extend([char::from(first), '-', char::from(last)]);
            } else {
                (first..=last).filter(|byte| self.has(*byte)).for_each(|byte| out.push(char::from(byte)));
            }
        }
        for byte in (0..128).filter(|byte| self.has(*byte) && !byte.is_ascii_alphanumeric() && *byte != b'-')
        {
            out.push_str(&escaped(byte));
        }
        if self.has(b'-') {
            out.push('-');
        }
        Some(out)
    }
}

/// A character of a class inside of a string of the language.
fn escaped(byte: u8) -> String {
    match byte {
        b'\\' => "\\\\\\\\".to_owned(),
        b'^' => "\\\\^".to_owned(),
        b'-' => "\\\\-".to_owned(),
        b'"' => "\\\"".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_written_as_people_write_them() {
        let class = |text: &str| Class::of([text.as_bytes()]).unwrap().widened().notation(None).unwrap();
        assert_eq!(class("uosmo"), "a-z");
        assert_eq!(class("gamm/pool/1-x"), "a-z0-9/-");
        assert_eq!(class("a\\^\""), "a-z\\\"\\\\\\\\\\\\^");
        assert_eq!(Class::of([&[0xff_u8][..]]), None);
        assert_eq!(Class::of(["é".as_bytes()]).unwrap().notation(Some(b'/')).unwrap(), "^/");
    }
}
