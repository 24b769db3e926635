//! JSON, with offsets: numbers keep their digits, objects their order.

use crate::reader::{Fault, Reader};
use crate::tree::{Data, Node};

/// Reads one value and the space around it.
pub(crate) fn value(reader: &mut Reader<'_>) -> Result<Node, Fault> {
    space(reader)?;
    reader.enter()?;
    let start = reader.at();
    let data = match reader.peek() {
        None => return reader.fault("it ends too soon"),
        Some(b'{') => Data::Map(list(reader, b'}', pair)?),
        Some(b'[') => Data::List(list(reader, b']', value)?),
        Some(b'"') => Data::Text(string(reader)?),
        Some(b't') => word(reader, b"true", Data::Bool(true))?,
        Some(b'f') => word(reader, b"false", Data::Bool(false))?,
        Some(b'n') => word(reader, b"null", Data::Null)?,
        Some(b'-' | b'0'..=b'9') => number(reader)?,
        Some(_) => return reader.fault("a character that begins no value"),
    };
    let end = reader.at();
    reader.leave();
    space(reader)?;
    Ok(Node::new(start..end, data))
}

fn space(reader: &mut Reader<'_>) -> Result<(), Fault> {
    while matches!(reader.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        reader.byte()?;
    }
    Ok(())
}

fn word(reader: &mut Reader<'_>, word: &[u8], data: Data) -> Result<Data, Fault> {
    let start = reader.at();
    if reader.left() >= word.len() && reader.take(word.len())? == word {
        return Ok(data);
    }
    Err(Fault { offset: start, what: "a word that is not a value" })
}

/// Values between two brackets, with commas.
fn list<'v, T>(
    reader: &mut Reader<'v>,
    close: u8,
    mut read: impl FnMut(&mut Reader<'v>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    reader.byte()?;
    space(reader)?;
    let mut all = Vec::new();
    if reader.peek() == Some(close) {
        reader.byte()?;
        return Ok(all);
    }
    loop {
        all.push(read(reader)?);
        match reader.peek() {
            Some(b',') => {
                reader.byte()?;
            }
            Some(found) if found == close => {
                reader.byte()?;
                return Ok(all);
            }
            Some(_) => return reader.fault("neither a comma nor a closing bracket"),
            None => return reader.fault("it ends too soon"),
        }
    }
}

fn pair(reader: &mut Reader<'_>) -> Result<(Node, Node), Fault> {
    space(reader)?;
    if reader.peek() != Some(b'"') {
        return reader.fault("a key that is not a string");
    }
    let key = value(reader)?;
    if reader.peek() != Some(b':') {
        return reader.fault("no colon after a key");
    }
    reader.byte()?;
    Ok((key, value(reader)?))
}

fn string(reader: &mut Reader<'_>) -> Result<String, Fault> {
    let start = reader.at();
    reader.byte()?;
    let mut bytes = Vec::new();
    loop {
        let at = reader.at();
        match reader.byte()? {
            b'"' => break,
            b'\\' => escape(reader, &mut bytes)?,
            0x00..=0x1f => return Err(Fault { offset: at, what: "a control character in a string" }),
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| Fault { offset: start, what: "text that is not UTF-8" })
}

fn escape(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let at = reader.at();
    let c = match reader.byte()? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = unit(reader)?;
            let code = if (0xd800..0xdc00).contains(&first) && reader.peek() == Some(b'\\') {
                reader.byte()?;
                if reader.byte()? != b'u' {
                    return Err(Fault { offset: at, what: "half of a character" });
                }
                let second = unit(reader)?;
                let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400);
                low.map(|low| 0x1_0000 + ((first - 0xd800) << 10) + low)
            } else {
                Some(first)
            };
            let Some(c) = code.and_then(char::from_u32) else {
                return Err(Fault { offset: at, what: "half of a character" });
            };
            c
        }
        _ => return Err(Fault { offset: at, what: "an escape that there is not" }),
    };
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(())
}

fn unit(reader: &mut Reader<'_>) -> Result<u32, Fault> {
    let at = reader.at();
    let digits = reader.take(4)?;
    let mut unit = 0;
    for digit in digits {
        let Some(digit) = char::from(*digit).to_digit(16) else {
            return Err(Fault { offset: at, what: "four hex digits belong here" });
        };
        unit = unit * 16 + digit;
    }
    Ok(unit)
}

/// `-? int frac? exp?`
fn number(reader: &mut Reader<'_>) -> Result<Data, Fault> {
    let start = reader.at();
    let mut text = String::new();
    let mut take = |reader: &mut Reader<'_>| -> Result<(), Fault> {
        text.push(char::from(reader.byte()?));
        Ok(())
    };
    if reader.peek() == Some(b'-') {
        take(reader)?;
    }
    let is_zero = reader.peek() == Some(b'0');
    let wrong = Fault { offset: start, what: "a number that is not JSON's" };
    for (part, marks) in [(0, &b""[..]), (1, b"."), (2, b"eE")] {
        if part > 0 {
            if !reader.peek().is_some_and(|byte| marks.contains(&byte)) {
                continue;
            }
            take(reader)?;
            if part == 2 && matches!(reader.peek(), Some(b'+' | b'-')) {
                take(reader)?;
            }
        }
        let mut digits = 0_usize;
        while matches!(reader.peek(), Some(b'0'..=b'9')) {
            take(reader)?;
            digits += 1;
        }
        if digits == 0 || (part == 0 && is_zero && digits > 1) {
            return Err(wrong);
        }
    }
    Ok(if let Ok(n) = text.parse::<u128>() {
        Data::Unsigned(n)
    } else if let Ok(n) = text.parse::<i128>() {
        if n == 0 { Data::Number(text) } else { Data::Signed(n) }
    } else {
        Data::Number(text)
    })
}
