//! Arguments in the form that the plan shows them in.

use std::fmt;

use keyplan_codec::{Bech32, Hash, Lengths, Segment as _, TimeText9};

use super::{ParseError, Value, parse};
use crate::model::{Argument, Shape, Shown, TimeEncoding};
use crate::notation::hex;

impl Argument {
    /// A value of it as people write it: in the form that the plan gives it, or else as any such value.
    ///
    /// ```
    /// use keyplan_plan::dynamic::Value;
    ///
    /// let text = "plan p; space s { key k = txid: bytes(2).shown(reversed) at: u64.shown(seconds); }";
    /// let plan = keyplan_plan::compile("p", text, |_| Err("no imports".into())).plan.expect("sound");
    /// let arguments: Vec<_> = plan.find("k")[0].1.key.arguments().collect();
    /// let txid = Value::Bytes(vec![0x01, 0x02]);
    /// assert_eq!(arguments[0].display(&txid).to_string(), "0201");
    /// assert_eq!(arguments[0].parse("0201"), Ok(txid));
    /// let at = Value::Unsigned(1_703_097_600);
    /// assert_eq!(arguments[1].display(&at).to_string(), "2023-12-20T18:40:00Z");
    /// assert_eq!(arguments[1].parse("2023-12-20T18:40:00Z"), Ok(at));
    /// ```
    pub fn display<'a>(&'a self, value: &'a Value) -> impl fmt::Display + 'a {
        Displayed { argument: self, value }
    }

    /// A value of it from what a person wrote, in the form of the plan or as any such value.
    pub fn parse(&self, text: &str) -> Result<Value, ParseError> {
        match self.shown.as_ref().and_then(|shown| read(shown, &self.shape, text)) {
            Some(found) => found,
            None => parse(&self.shape, text),
        }
    }

    /// The form that the plan shows a value in; `None` where it gives none, or the value has none.
    pub fn shown_text(&self, value: &Value) -> Option<String> {
        self.shown.as_ref().and_then(|shown| show(shown, value))
    }
}

struct Displayed<'a> {
    argument: &'a Argument,
    value: &'a Value,
}

impl fmt::Display for Displayed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.argument.shown_text(self.value) {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}", self.value.display(&self.argument.shape)),
        }
    }
}

fn show(shown: &Shown, value: &Value) -> Option<String> {
    match (shown, value) {
        (Shown::Bech32(hrp), Value::Bytes(bytes)) => {
            let mut out = Vec::new();
            Bech32 { hrp, lengths: Lengths::ANY }.encode(bytes, &mut out).ok()?;
            String::from_utf8(out).ok()
        }
        (Shown::Reversed, Value::Bytes(bytes)) => {
            let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
            Some(hex(&reversed))
        }
        (Shown::Eip55, Value::Bytes(bytes)) if bytes.len() == 20 => Some(checksummed(&hex(bytes))),
        (Shown::Time { unit }, Value::Unsigned(_) | Value::Signed(_)) => {
            let number = match value {
                Value::Unsigned(n) => i128::try_from(*n).ok()?,
                Value::Signed(n) => *n,
                _ => return None,
            };
            let mut out = Vec::new();
            TimeText9.encode(number.checked_mul(i128::from(*unit))?, &mut out).ok()?;
            let mut text = String::from_utf8(out).ok()?;
            let decimals = 9 - unit.ilog10() as usize;
            // Decimals that the unit cannot have are left out.
            text.truncate(text.len() - 9 + decimals);
            Some(text.trim_end_matches('.').to_owned() + "Z")
        }
        _ => None,
    }
}

/// Hex digits in small letters as an address of Ethereum: a letter is a capital where the hash of the digits has a digit of 8 or
/// more (EIP-55).
fn checksummed(digits: &str) -> String {
    let hash = Hash::Keccak256.digest(digits.as_bytes());
    let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let letters = digits.chars().zip(nibbles);
    let cased = letters.map(|(digit, nibble)| if nibble >= 8 { digit.to_ascii_uppercase() } else { digit });
    "0x".chars().chain(cased).collect()
}

/// Reads the form; `None` if the text is not in it, but may be written as any value of the shape is.
fn read(shown: &Shown, shape: &Shape, text: &str) -> Option<Result<Value, ParseError>> {
    match shown {
        Shown::Bech32(hrp) => {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) || text.starts_with("digest:") {
                return None;
            }
            let own = text.get(..hrp.len() + 1).is_some_and(|head| {
                head.strip_suffix('1').is_some_and(|head| head.eq_ignore_ascii_case(hrp))
            });
            let expected = format!("an address that begins with `{hrp}1`, or hex digits");
            (!own).then_some(Err(ParseError { offset: 0, expected }))
        }
        Shown::Reversed => {
            let all_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            all_digits.then(|| match parse(shape, text)? {
                Value::Bytes(bytes) => Ok(Value::Bytes(bytes.into_iter().rev().collect())),
                other => Ok(other),
            })
        }
        Shown::Eip55 => {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            let is_address = digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_mixed = digits.contains(|c: char| c.is_ascii_uppercase())
                && digits.contains(|c: char| c.is_ascii_lowercase());
            let right = checksummed(&digits.to_ascii_lowercase());
            let expected = format!("capital letters as in {right}");
            (is_address && is_mixed && right.get(2..) != Some(digits))
                .then_some(Err(ParseError { offset: 0, expected }))
        }
        Shown::Time { unit } => {
            let is_time = text.get(..5).is_some_and(|head| head.ends_with('-')) && text.contains('T');
            is_time.then(|| {
                let Value::Time(nanos) = parse(&Shape::Time(TimeEncoding::Nanos), text)? else {
                    return Err(ParseError { offset: 0, expected: "a time".to_owned() });
                };
                let unit = i128::from(*unit);
                if nanos % unit != 0 {
                    return Err(ParseError {
                        offset: 19,
                        expected: "a time without these decimals".to_owned(),
                    });
                }
                // What does not fit the type is said as of any number.
                parse(shape, &(nanos / unit).to_string())
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(domain: &str) -> Argument {
        let text = format!("plan p; space s {{ key k = x: {domain}; }}");
        let plan = crate::compile("p", &text, |_| Err(String::new())).plan.unwrap();
        plan.spaces[0].families[0].key.arguments().next().unwrap().clone()
    }

    #[test]
    fn forms_are_shown_and_read_back() {
        for (domain, shown, plain) in [
            (
                "bytes(20).shown(eip55)",
                "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
                "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
            ),
            ("bytes(3).hex.shown(reversed)", "030201", "0x010203"),
            ("bytes(0..=9).len8.shown(bech32(\"a\"))", "a1qyqszqgpnu2w3y", "0x0101010101"),
            ("u32.le.shown(seconds)", "1970-01-01T00:01:00Z", "60"),
            ("i64.shown(millis)", "1969-12-31T23:59:59.999Z", "-1"),
            ("u64.dec.shown(nanos)", "2023-12-20T18:40:00.123456789Z", "1703097600123456789"),
        ] {
            let argument = argument(domain);
            let value = argument.parse(plain).unwrap();
            let form = argument.display(&value).to_string();
            if !domain.contains("bech32") {
                assert_eq!(form, shown, "{domain}");
            }
            assert_eq!(argument.parse(&form), Ok(value), "{domain}");
        }
    }

    #[test]
    fn a_form_that_is_wrong_is_refused() {
        let wrong = |domain: &str, text: &str| argument(domain).parse(text).unwrap_err().expected;
        let cased = "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        assert!(wrong("bytes(20).shown(eip55)", cased).starts_with("capital letters as in 0x5aAeb6"));
        let other = "an address that begins with `osmo1`, or hex digits";
        assert_eq!(wrong("bytes(20).shown(bech32(\"osmo\"))", "cosmos1qqqq"), other);
        assert!(wrong("u64.shown(seconds)", "2023-12-20T18:40:00.5Z").contains("decimals"));
    }

    #[test]
    fn no_fingerprint_moves_with_a_form() {
        let plan = |domain: &str| {
            let text = format!("plan p; space s {{ key k = x: {domain}; }}");
            crate::compile("p", &text, |_| Err(String::new())).plan.unwrap().fingerprint()
        };
        assert_eq!(plan("bytes(20)"), plan("bytes(20).shown(bech32(\"osmo\"))"));
        assert_eq!(plan("u64"), plan("u64.shown(seconds)"));
    }
}
