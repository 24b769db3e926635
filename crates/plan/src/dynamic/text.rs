//! Values as a person writes them, and back.

use std::fmt;

use keyplan_codec::{Bech32, Score, Segment as _, TimeText9};

use super::{Value, wide};
use crate::model::{Alternative, Argument, BytesEncoding, IntRange, LengthSet, Sequence, Shape};

/// Why text is not a value of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The offset of the character that breaks it.
    pub offset: usize,
    /// What belongs there.
    pub expected: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: expected {}", self.offset, self.expected)
    }
}

impl std::error::Error for ParseError {}

/// What a text in quotes begins with where it needs none.
const QUOTED: &str = "text:\"";

/// A text as [`parse`] takes it where it needs no quotes: as it is, unless it holds what no command line can.
pub fn typed_text(text: &str) -> String {
    if text.contains('\0') || text.starts_with(QUOTED) { format!("text:{text:?}") } else { text.to_owned() }
}

/// Reads a value as a person writes it.
///
/// | values | written |
/// | --- | --- |
/// | integers | `42`, `-7`, `0x2a` |
/// | bytes, nibbles | hex digits, with or without `0x` |
/// | bytes of an address | also as bech32 text with its checksum, whatever its prefix |
/// | text | as it is; in quotes inside of other values; also as `text:"a\0b"`, for what cannot be typed |
/// | time | `2006-01-02T15:04:05.000000000` in UTC, with a `Z` or without, with fewer decimals or none, or nanoseconds |
/// | score | `850000/123`, or `@1703097600.123456789` for an unconfirmed one |
/// | digest of an unknown name | `digest:138a7b25414c083a` |
/// | record | `(txid=00ff, vout=1)` |
/// | choice | `spread(pool=1)`, `buy` |
/// | option | `none`, `some(5)` |
/// | list | `[1, 2, 3]` |
pub fn parse(shape: &Shape, text: &str) -> Result<Value, ParseError> {
    // At the outermost level a text needs no quotes.
    if let Shape::Text(_) = shape.values()
        && !(shape.unwrapped().digest().is_some() && text.starts_with("digest:"))
    {
        if !text.starts_with(QUOTED) {
            return Ok(Value::Text(text.to_owned()));
        }
        let mut reader = Reader { text, at: QUOTED.len() - 1 };
        let value = reader.quoted()?;
        return if reader.at < text.len() { Err(reader.expected("the end")) } else { Ok(Value::Text(value)) };
    }
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(shape)?;
    reader.space();
    if reader.at < text.len() { Err(reader.expected("the end")) } else { Ok(value) }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn expected(&self, what: &str) -> ParseError {
        let before = self.text.get(..self.at).unwrap_or_default();
        ParseError { offset: before.chars().count(), expected: what.to_owned() }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn need(&mut self, token: &str) -> Result<(), ParseError> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    fn word(&mut self, member: impl Fn(char) -> bool) -> &'t str {
        self.space();
        let rest = self.rest();
        let end = rest.find(|c| !member(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn value(&mut self, shape: &Shape) -> Result<Value, ParseError> {
        self.space();
        match shape {
            Shape::Int(int) => self.integer(int.range),
            Shape::Bool(_) => match self.word(char::is_alphanumeric) {
                "true" | "1" => Ok(Value::Bool(true)),
                "false" | "0" => Ok(Value::Bool(false)),
                _ => Err(self.expected("true or false")),
            },
            Shape::Float(_) => self.float().map(Value::Float),
            Shape::Time(_) => self.time(),
            Shape::Score { .. } => self.score(),
            Shape::Bytes { encoding: BytesEncoding::Wide { signed, .. }, .. } => self.wide(*signed),
            Shape::Bytes { lengths, .. } => self.bytes_of(lengths).map(Value::Bytes),
            Shape::Opaque(_) => self.bytes().map(Value::Bytes),
            Shape::Text(_) => self.quoted().map(Value::Text),
            Shape::Nibbles { .. } => {
                self.eat("0x");
                let digits = self.word(|c| c.is_ascii_hexdigit());
                let nibble = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                Ok(Value::Nibbles(digits.chars().filter_map(nibble).collect()))
            }
            Shape::Record(sequence) => {
                self.need("(")?;
                self.arguments(sequence).map(Value::Record)
            }
            Shape::Choice(alternatives) => self.choice(alternatives),
            Shape::Option(inner) => {
                if self.eat("none") {
                    return Ok(Value::Option(None));
                }
                self.need("some")?;
                self.need("(")?;
                let value = self.value(inner)?;
                self.need(")")?;
                Ok(Value::Option(Some(Box::new(value))))
            }
            Shape::List { item, .. } => {
                self.need("[")?;
                let mut values = Vec::new();
                if self.eat("]") {
                    return Ok(Value::List(values));
                }
                loop {
                    values.push(self.value(item)?);
                    if self.eat("]") {
                        return Ok(Value::List(values));
                    }
                    self.need(",")?;
                }
            }
            Shape::Hashed { inner, .. } => {
                if self.eat("digest:") {
                    return self.bytes().map(Value::Digest);
                }
                self.value(inner)
            }
            Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => {
                self.value(inner)
            }
        }
    }

    /// The arguments of a record or alternative, after its opening parenthesis.
    fn arguments(&mut self, sequence: &Sequence) -> Result<Vec<Value>, ParseError> {
        let mut values: Vec<Option<Value>> = vec![None; sequence.argument_count()];
        let unnamed = sequence.arguments().all(|argument| argument.name.is_none());
        loop {
            if self.eat(")") {
                break;
            }
            let before = self.at;
            let index = if unnamed {
                Some(0)
            } else {
                let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
                let index = sequence.argument_index(name);
                if index.is_none() {
                    self.at = before;
                    let names: Vec<&str> = sequence.arguments().filter_map(|a| a.name.as_deref()).collect();
                    return Err(self.expected(&format!("one of: {}", names.join(", "))));
                }
                self.need("=")?;
                index
            };
            let argument = index.and_then(|index| sequence.arguments().nth(index));
            let Some((argument, slot)) = argument.zip(index.and_then(|index| values.get_mut(index))) else {
                return Err(self.expected("`)`"));
            };
            if slot.is_some() {
                self.at = before;
                return Err(self.expected("an argument that was not given yet"));
            }
            *slot = Some(self.argument(argument)?);
            if !self.eat(",") {
                self.need(")")?;
                break;
            }
        }
        let missing = sequence.arguments().zip(&values).find(|(_, value)| value.is_none());
        if let Some((argument, _)) = missing {
            let name = argument.name.as_deref().unwrap_or("the value");
            return Err(self.expected(&format!("the argument `{name}`")));
        }
        Ok(values.into_iter().flatten().collect())
    }

    /// A value inside of another: in the form that the plan shows it in, which ends before a comma or a bracket.
    fn argument(&mut self, argument: &Argument) -> Result<Value, ParseError> {
        if argument.shown.is_none() {
            return self.value(&argument.shape);
        }
        let before = self.at;
        let word = self.word(|c| !matches!(c, ',' | ')' | ']' | ' '));
        argument.parse(word).map_err(|error| {
            self.at = before;
            self.expected(&error.expected)
        })
    }

    fn choice(&mut self, alternatives: &[Alternative]) -> Result<Value, ParseError> {
        let before = self.at;
        let label = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        let found = alternatives.iter().enumerate().find(|(_, alternative)| alternative.label == label);
        let Some((index, alternative)) = found else {
            self.at = before;
            let labels: Vec<&str> = alternatives.iter().map(|a| a.label.as_str()).collect();
            return Err(self.expected(&format!("one of: {}", labels.join(", "))));
        };
        let opened = self.eat("(");
        if opened {
            return Ok(Value::Choice(index, self.arguments(&alternative.sequence)?));
        }
        if alternative.sequence.argument_count() > 0 {
            return Err(self.expected("`(` and the arguments of the alternative"));
        }
        Ok(Value::Choice(index, Vec::new()))
    }

    fn integer(&mut self, range: IntRange) -> Result<Value, ParseError> {
        let before = self.at;
        let negative = self.eat("-");
        let word = self.word(|c| c.is_ascii_alphanumeric() || c == '_').replace('_', "");
        let magnitude = match word.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16),
            None => word.parse(),
        };
        let value = magnitude.ok().and_then(|magnitude| range.value(negative, magnitude));
        value.ok_or_else(|| {
            self.at = before;
            match range {
                IntRange::Unsigned { min, max } => self.expected(&format!("a number from {min} to {max}")),
                IntRange::Signed { min, max } => self.expected(&format!("a number from {min} to {max}")),
            }
        })
    }

    fn wide(&mut self, signed: bool) -> Result<Value, ParseError> {
        let before = self.at;
        let negative = self.eat("-");
        let word = self.word(|c| c.is_ascii_alphanumeric() || c == '_').replace('_', "");
        wide::parse(negative, &word, signed).map(|bytes| Value::Bytes(bytes.to_vec())).ok_or_else(|| {
            self.at = before;
            let kind =
                if signed { "a number from -2^255 to 2^255 - 1" } else { "a number from 0 to 2^256 - 1" };
            self.expected(kind)
        })
    }

    fn float(&mut self) -> Result<f64, ParseError> {
        let before = self.at;
        if self.eat("bits:") {
            let word = self.word(|c| c.is_ascii_hexdigit());
            if let (16, Ok(bits)) = (word.len(), u64::from_str_radix(word, 16)) {
                return Ok(f64::from_bits(bits));
            }
        }
        let word = self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
        word.parse().map_err(|_| {
            self.at = before;
            self.expected("a number, such as 1.5, or `bits:` and 16 hex digits")
        })
    }

    fn time(&mut self) -> Result<Value, ParseError> {
        let before = self.at;
        let word = self.word(|c| !matches!(c, ',' | ')' | ']' | ' '));
        let nanos = TimeText9.decode(time_text(word).as_bytes()).ok().or_else(|| word.parse().ok());
        nanos.map(Value::Time).ok_or_else(|| {
            self.at = before;
            let zone = word.len() > 19 && word.get(19..).is_some_and(|rest| rest.contains(['+', '-']));
            self.expected(if zone {
                "a time in UTC, such as 2006-01-02T15:04:05Z, without an offset from it"
            } else {
                "a time in UTC, such as 2006-01-02T15:04:05Z or 2006-01-02T15:04:05.123456789, or nanoseconds since 1970"
            })
        })
    }

    /// A score, or the float that a lossy one is read back as.
    fn score(&mut self) -> Result<Value, ParseError> {
        let before = self.at;
        let wanted = "a score: `850000/123`, `@1703097600.123456789`, or a float";
        let score = if self.eat("@") {
            let seconds = self.word(|c| c.is_ascii_digit());
            let nanos = if self.eat(".") { self.word(|c| c.is_ascii_digit()) } else { "0" };
            let padded = format!("{nanos:0<9}");
            match (seconds.parse(), padded.len(), padded.parse()) {
                (Ok(seconds), 9, Ok(nanos)) => Some(Value::Score(Score::Unconfirmed { seconds, nanos })),
                _ => None,
            }
        } else {
            let head = self.word(|c| c.is_ascii_digit());
            if self.eat("/") {
                let index = self.word(|c| c.is_ascii_digit());
                match (head.parse(), index.parse()) {
                    (Ok(height), Ok(index)) => Some(Value::Score(Score::Confirmed { height, index })),
                    _ => None,
                }
            } else {
                self.at = before;
                return self.float().map(Value::Float).map_err(|_| self.expected(wanted));
            }
        };
        score.ok_or_else(|| {
            self.at = before;
            self.expected(wanted)
        })
    }

    /// Bytes of one of the lengths, as hex digits or as a bech32 address.
    fn bytes_of(&mut self, lengths: &LengthSet) -> Result<Vec<u8>, ParseError> {
        self.space();
        let before = self.at;
        let bytes = match self.address()? {
            Some(bytes) => bytes,
            None => self.bytes()?,
        };
        if !lengths.admits(bytes.len()) {
            self.at = before;
            let wanted = crate::notation::lengths_text(lengths).unwrap_or_default();
            return Err(self.expected(&format!("{wanted} bytes, found {}", bytes.len())));
        }
        Ok(bytes)
    }

    /// The bytes of bech32 text; nothing is read of a text that is not bech32. What has the form of an address and another
    /// checksum was mistyped.
    fn address(&mut self) -> Result<Option<Vec<u8>>, ParseError> {
        let before = self.at;
        let word = self.word(|c| c.is_ascii_alphanumeric());
        let lengths = LengthSet::ANY;
        let parts = word.rsplit_once('1').filter(|(hrp, _)| !hrp.is_empty() && !is_hex(word));
        let read = parts.and_then(|(hrp, _)| {
            let segment = Bech32 { hrp, lengths: lengths.lengths() };
            Some(segment.decode(word.as_bytes()).ok()?.bytes().collect())
        });
        if read.is_none() {
            self.at = before;
            let is_data = |c| "qpzry9x8gf2tvdw0s3jn54khce6mua7l".contains(c);
            if parts.is_some_and(|(_, data)| data.len() > 6 && data.chars().all(is_data)) {
                return Err(self.expected("a bech32 address: one or more characters of this one are wrong"));
            }
        }
        Ok(read)
    }

    fn bytes(&mut self) -> Result<Vec<u8>, ParseError> {
        self.eat("0x");
        let digits = self.word(|c| c.is_ascii_hexdigit());
        let next = self.rest().chars().next().filter(|c| !matches!(c, ',' | ')' | ']' | ' '));
        if let Some(next) = next {
            return Err(self.expected(&format!(
                "bytes as hex digits, such as 0x00ff, or as a bech32 address, found {next:?}"
            )));
        }
        if digits.len() % 2 == 1 {
            return Err(self.expected(&format!("an even number of hex digits, such as 0x0{digits:.16}")));
        }
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let byte = |pair: &[u8]| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        };
        digits
            .as_bytes()
            .chunks(2)
            .map(byte)
            .collect::<Option<_>>()
            .ok_or_else(|| self.expected("hex digits"))
    }

    /// Text in quotes, with the escapes that [`fmt::Debug`] writes; or a bare word.
    fn quoted(&mut self) -> Result<String, ParseError> {
        if !self.eat("\"") {
            let word = self.word(|c| !matches!(c, ',' | ')' | ']' | '(' | '[' | '"' | ' '));
            return Ok(word.to_owned());
        }
        let mut text = String::new();
        loop {
            let mut rest = self.rest().chars();
            let Some(c) = rest.next() else { return Err(self.expected("a closing `\"`")) };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(text),
                '\\' => text.push(self.escape()?),
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let Some(c) = self.rest().chars().next() else { return Err(self.expected("an escape")) };
        self.at += c.len_utf8();
        Ok(match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            '\\' | '"' | '\'' => c,
            'u' => {
                self.need("{")?;
                let digits = self.word(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                self.need("}")?;
                code.ok_or_else(|| self.expected("a character"))?
            }
            _ => return Err(self.expected("an escape such as `\\n`")),
        })
    }
}

fn is_hex(word: &str) -> bool {
    word.strip_prefix("0x").unwrap_or(word).bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A time as people and programs write it, as [`TimeText9`] reads it: `Z` taken off, decimals filled up, a date begun at
/// midnight.
fn time_text(word: &str) -> String {
    let word = word.strip_suffix(['Z', 'z']).unwrap_or(word);
    let (whole, decimals) = word.split_once('.').unwrap_or((word, ""));
    let whole = match whole.len() {
        10 => format!("{whole}T00:00:00"),
        _ => whole.to_owned(),
    };
    format!("{whole}.{decimals:0<9}")
}

impl Value {
    /// The value as [`parse`] reads it.
    ///
    /// Text is in quotes, since it may be inside of other values.
    pub fn display<'a>(&'a self, shape: &'a Shape) -> impl fmt::Display + 'a {
        Displayed { value: self, shape }
    }
}

struct Displayed<'a> {
    value: &'a Value,
    shape: &'a Shape,
}

impl fmt::Display for Displayed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(f, self.value, self.shape)
    }
}

fn write_value(f: &mut fmt::Formatter<'_>, value: &Value, shape: &Shape) -> fmt::Result {
    match (value, shape.values()) {
        (Value::Unsigned(n), _) => write!(f, "{n}"),
        (Value::Signed(n), _) => write!(f, "{n}"),
        (Value::Bool(value), _) => write!(f, "{value}"),
        (Value::Float(value), _) if value.is_nan() || (*value == 0.0 && value.is_sign_negative()) => {
            write!(f, "bits:{:016x}", value.to_bits())
        }
        (Value::Float(value), _) => write!(f, "{value:?}"),
        (Value::Bytes(bytes), Shape::Bytes { encoding: BytesEncoding::Wide { signed, .. }, .. }) => {
            f.write_str(&wide::decimal(bytes, *signed))
        }
        (Value::Bytes(bytes), _) => write_hex(f, "0x", bytes),
        (Value::Text(text), _) => write!(f, "{text:?}"),
        // Nothing at all would not be read as a value.
        (Value::Nibbles(nibbles), _) if nibbles.is_empty() => f.write_str("0x"),
        (Value::Nibbles(nibbles), _) => nibbles.iter().try_for_each(|nibble| write!(f, "{nibble:x}")),
        (Value::Time(nanos), _) => {
            let mut text = Vec::new();
            match TimeText9.encode(*nanos, &mut text) {
                Ok(()) => f.write_str(&String::from_utf8_lossy(&text)),
                Err(_) => write!(f, "{nanos}"),
            }
        }
        (Value::Score(Score::Confirmed { height, index }), _) => write!(f, "{height}/{index}"),
        (Value::Score(Score::Unconfirmed { seconds, nanos }), _) => write!(f, "@{seconds}.{nanos:09}"),
        (Value::Digest(digest), _) => write_hex(f, "digest:", digest),
        (Value::Record(values), Shape::Record(sequence)) => write_arguments(f, values, sequence),
        (Value::Choice(index, values), Shape::Choice(alternatives)) => {
            let Some(alternative) = alternatives.get(*index) else { return f.write_str("?") };
            f.write_str(&alternative.label)?;
            if values.is_empty() { Ok(()) } else { write_arguments(f, values, &alternative.sequence) }
        }
        (Value::Option(None), _) => f.write_str("none"),
        (Value::Option(Some(value)), Shape::Option(inner)) => {
            f.write_str("some(")?;
            write_value(f, value, inner)?;
            f.write_str(")")
        }
        (Value::List(values), Shape::List { item, .. }) => {
            f.write_str("[")?;
            for (index, value) in values.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_value(f, value, item)?;
            }
            f.write_str("]")
        }
        (value, _) => write!(f, "{value:?}"),
    }
}

fn write_arguments(f: &mut fmt::Formatter<'_>, values: &[Value], sequence: &Sequence) -> fmt::Result {
    f.write_str("(")?;
    for (index, (value, argument)) in values.iter().zip(sequence.arguments()).enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        if let Some(name) = &argument.name {
            write!(f, "{name}=")?;
        }
        write!(f, "{}", argument.display(value))?;
    }
    f.write_str(")")
}

fn write_hex(f: &mut fmt::Formatter<'_>, prefix: &str, bytes: &[u8]) -> fmt::Result {
    f.write_str(prefix)?;
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value, or the error, of `text` for an argument of `domain`.
    fn read(domain: &str, text: &str) -> Result<Value, String> {
        let plan = format!("plan p; space s {{ key k = a: {domain}; }}");
        let plan = crate::compile("p.keyplan", &plan, |_| Err(String::new())).plan.unwrap();
        let (_, family) = plan.find("k")[0];
        parse(&family.key.arguments().next().unwrap().shape, text).map_err(|error| error.to_string())
    }

    #[test]
    fn times_are_read_as_programs_write_them() {
        let noon = Value::Time(1_714_564_800_000_000_000);
        for text in ["2024-05-01T12:00:00.000000000", "2024-05-01T12:00:00Z", "2024-05-01T12:00:00.0"] {
            assert_eq!(read("time", text), Ok(noon.clone()), "{text}");
        }
        assert_eq!(read("time", "2024-05-01"), Ok(Value::Time(1_714_521_600_000_000_000)));
        assert_eq!(read("time", "2024-05-01T12:00:00.25Z"), Ok(Value::Time(1_714_564_800_250_000_000)));
        assert_eq!(
            read("time", "2024-05-01T12:00:00+02:00"),
            Err("character 0: expected a time in UTC, such as 2006-01-02T15:04:05Z, without an offset from it"
                .to_owned())
        );
        assert_eq!(
            read("time", "noon"),
            Err("character 0: expected a time in UTC, such as 2006-01-02T15:04:05Z or \
                2006-01-02T15:04:05.123456789, or nanoseconds since 1970"
                .to_owned())
        );
    }

    #[test]
    fn an_address_is_read_with_its_checksum() {
        let address = "cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu";
        let bytes: Vec<u8> = (1..=20).collect();
        assert_eq!(read("bytes(20)", address), Ok(Value::Bytes(bytes.clone())));
        assert_eq!(
            read("(who: bytes(20))", &format!("(who={address})")),
            Ok(Value::Record(vec![Value::Bytes(bytes)]))
        );
        let broken = "cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xx";
        assert_eq!(
            read("bytes(20)", broken),
            Err("character 0: expected a bech32 address: one or more characters of this one are wrong"
                .to_owned())
        );
    }

    #[test]
    fn a_text_that_no_command_line_holds_is_typed_in_quotes() {
        for text in ["a\0b", "text:\"a\"", "\0", "plain", "a\"b\\"] {
            assert_eq!(read("text", &typed_text(text)), Ok(Value::Text(text.to_owned())), "{text:?}");
        }
        assert_eq!(typed_text("a\0"), r#"text:"a\0""#);
        assert!(read("text", r#"text:"a"b"#).is_err());
        assert!(read("text", r#"text:"a"#).is_err());
    }

    #[test]
    fn bytes_say_what_they_lack() {
        let wrong = |text: &str| read("bytes(20 | 32)", text).unwrap_err();
        assert_eq!(
            wrong("vitalik.eth"),
            "character 0: expected bytes as hex digits, such as 0x00ff, or as a bech32 address, found 'v'"
        );
        assert_eq!(wrong("0x00ff"), "character 0: expected 20 | 32 bytes, found 2");
        assert_eq!(wrong("abc"), "character 3: expected an even number of hex digits, such as 0x0abc");
    }
}
