//! From the spelling of a literal to its value.

use std::ops::Range;

use super::token::TokenKind;

/// What is wrong with a literal: a stretch of its spelling, and a message.
pub(super) type Fault = (Range<usize>, String);

/// The token of a number, from all the letters and digits that are together.
pub(super) fn number(spelling: &str) -> (TokenKind, Option<Fault>) {
    let all = 0..spelling.len();
    if let Some(digits) = spelling.strip_prefix("0x") {
        let good: String = digits.chars().filter(char::is_ascii_hexdigit).collect();
        let bad = digits.char_indices().find(|(_, digit)| !digit.is_ascii_hexdigit() && *digit != '_');
        let fault = match bad {
            Some((at, digit)) => Some((at + 2..at + 3, format!("`{digit}` is not a hexadecimal digit"))),
            None if good.is_empty() => Some((all, "`0x` without digits".to_owned())),
            None => None,
        };
        return (TokenKind::Hex(good), fault);
    }
    if let Some((at, letter)) = spelling.char_indices().find(|(_, c)| !c.is_ascii_digit() && *c != '_') {
        let message = match (at, letter) {
            (1, 'b' | 'o' | 'X') if spelling.starts_with('0') => {
                "a number is decimal, or hexadecimal after `0x`".to_owned()
            }
            _ => format!("`{letter}` is not a decimal digit"),
        };
        let value = spelling.get(..at).and_then(decimal).unwrap_or_default();
        return (TokenKind::Int(value), Some((at..spelling.len(), message)));
    }
    match decimal(spelling) {
        Some(value) => (TokenKind::Int(value), None),
        None => (TokenKind::Int(u128::MAX), Some((all, "the number does not fit 128 bits".to_owned()))),
    }
}

fn decimal(digits: &str) -> Option<u128> {
    digits.replace('_', "").parse().ok()
}

/// The value of a string, from what is between its quotes.
pub(super) fn text(inner: &str) -> (String, Vec<Fault>) {
    let mut value = String::with_capacity(inner.len());
    let mut faults = Vec::new();
    let mut rest = inner.char_indices();
    while let Some((at, char)) = rest.next() {
        if char != '\\' {
            value.push(char);
            continue;
        }
        match escape(&mut rest) {
            Ok(Escape::Char(char)) => value.push(char),
            Ok(Escape::Byte(byte)) if byte.is_ascii() => value.push(char::from(byte)),
            Ok(Escape::Byte(byte)) => {
                let message = format!("`\\x{byte:02x}` is not a character; write bytes as `b\"…\"`");
                faults.push((at..position(&rest, inner), message));
            }
            Err(message) => faults.push((at..position(&rest, inner), message)),
        }
    }
    (value, faults)
}

/// The value of a byte string, from what is between its quotes.
pub(super) fn bytes(inner: &str) -> (Vec<u8>, Vec<Fault>) {
    let mut value = Vec::with_capacity(inner.len());
    let mut faults = Vec::new();
    let mut rest = inner.char_indices();
    while let Some((at, char)) = rest.next() {
        match char {
            '\\' => match escape(&mut rest) {
                Ok(Escape::Byte(byte)) => value.push(byte),
                Ok(Escape::Char(char)) if char.is_ascii() => value.extend(char.to_string().bytes()),
                Ok(Escape::Char(_)) => {
                    let message = "a byte string holds only ASCII; write `\\xNN`".to_owned();
                    faults.push((at..position(&rest, inner), message));
                }
                Err(message) => faults.push((at..position(&rest, inner), message)),
            },
            _ if char.is_ascii() => value.extend(char.to_string().bytes()),
            _ => {
                let message = "a byte string holds only ASCII; write `\\xNN`".to_owned();
                faults.push((at..at + char.len_utf8(), message));
            }
        }
    }
    (value, faults)
}

/// The bytes of an even number of hexadecimal digits; the last digit of an odd number is left out.
pub(super) fn hex_bytes(digits: &str) -> Vec<u8> {
    let nibbles: Vec<u8> =
        digits.chars().filter_map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
    nibbles.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect()
}

enum Escape {
    Char(char),
    Byte(u8),
}

/// Reads what comes after a backslash.
fn escape(rest: &mut std::str::CharIndices<'_>) -> Result<Escape, String> {
    let Some((_, char)) = rest.next() else {
        return Err("nothing comes after the backslash".to_owned());
    };
    Ok(match char {
        'n' => Escape::Char('\n'),
        'r' => Escape::Char('\r'),
        't' => Escape::Char('\t'),
        '0' => Escape::Char('\0'),
        '\\' | '"' | '\'' => Escape::Char(char),
        'x' => {
            let digits: String = take_digits(rest, 2);
            match u8::from_str_radix(&digits, 16) {
                Ok(byte) if digits.len() == 2 => Escape::Byte(byte),
                _ => return Err("two hexadecimal digits belong after `\\x`".to_owned()),
            }
        }
        'u' => Escape::Char(unicode(rest)?),
        _ => {
            let shown = char.escape_debug();
            return Err(format!(
                "there is no escape `\\{shown}`; write a backslash as `\\\\`, a byte as `\\xNN`"
            ));
        }
    })
}

fn unicode(rest: &mut std::str::CharIndices<'_>) -> Result<char, String> {
    let fault = || "a character is written `\\u{e9}`: one to six hexadecimal digits in braces".to_owned();
    if !rest.as_str().starts_with('{') {
        return Err(fault());
    }
    rest.next();
    let digits = take_digits(rest, 7);
    if !rest.as_str().starts_with('}') {
        return Err(fault());
    }
    rest.next();
    if digits.is_empty() || digits.len() > 6 {
        return Err(fault());
    }
    let code = u32::from_str_radix(&digits, 16).map_err(|_| fault())?;
    char::from_u32(code).ok_or_else(|| format!("U+{code:04X} is not a character"))
}

fn take_digits(rest: &mut std::str::CharIndices<'_>, most: usize) -> String {
    let mut digits = String::new();
    while digits.len() < most
        && let Some(digit) = rest.as_str().chars().next().filter(char::is_ascii_hexdigit)
    {
        digits.push(digit);
        rest.next();
    }
    digits
}

fn position(rest: &std::str::CharIndices<'_>, inner: &str) -> usize {
    inner.len() - rest.as_str().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(at: Range<usize>, message: &str) -> Fault {
        (at, message.to_owned())
    }

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!(number("1_000"), (TokenKind::Int(1000), None));
        assert_eq!(number("007"), (TokenKind::Int(7), None));
        assert_eq!(number("0x0_1"), (TokenKind::Hex("01".to_owned()), None));
        assert_eq!(number(&u128::MAX.to_string()), (TokenKind::Int(u128::MAX), None));
        assert_eq!(
            number("340282366920938463463374607431768211456"),
            (TokenKind::Int(u128::MAX), Some(fault(0..39, "the number does not fit 128 bits")))
        );
        assert_eq!(number("12u8"), (TokenKind::Int(12), Some(fault(2..4, "`u` is not a decimal digit"))));
        assert_eq!(
            number("0b11"),
            (TokenKind::Int(0), Some(fault(1..4, "a number is decimal, or hexadecimal after `0x`")))
        );
        assert_eq!(
            number("0x0g"),
            (TokenKind::Hex("0".to_owned()), Some(fault(3..4, "`g` is not a hexadecimal digit")))
        );
        assert_eq!(number("0x"), (TokenKind::Hex(String::new()), Some(fault(0..2, "`0x` without digits"))));
    }

    #[test]
    fn escapes_are_those_of_rust() {
        assert_eq!(text(r#"\n\r\t\\\"\0\x7f\u{e9}é"#), ("\n\r\t\\\"\0\x7f\u{e9}é".to_owned(), vec![]));
        assert_eq!(bytes(r"\x00ns\xff"), (b"\x00ns\xff".to_vec(), vec![]));
        assert_eq!(
            text(r"a\qb"),
            (
                "ab".to_owned(),
                vec![fault(1..3, r"there is no escape `\q`; write a backslash as `\\`, a byte as `\xNN`")]
            )
        );
        assert_eq!(
            text(r"\xff"),
            (String::new(), vec![fault(0..4, r#"`\xff` is not a character; write bytes as `b"…"`"#)])
        );
        assert_eq!(text(r"\u{d800}x"), ("x".to_owned(), vec![fault(0..8, "U+D800 is not a character")]));
        assert_eq!(bytes("é"), (vec![], vec![fault(0..2, r"a byte string holds only ASCII; write `\xNN`")]));
    }

    #[test]
    fn hex_digits_become_bytes() {
        assert_eq!(hex_bytes("00fF"), [0x00, 0xff]);
        assert_eq!(hex_bytes("123"), [0x12]);
    }
}
