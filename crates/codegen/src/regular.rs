//! Values whose functions in the runtimes of Go and TypeScript are called by the word of the encoding.
//!
//! `.scale_compact` is written by `appendScaleCompact` in Go and by `putScaleCompact` in TypeScript, which are given the number and what
//! is in brackets; `decodeScaleCompact` reads it, and `extentScaleCompact` says where it ends if its bytes tell. Every integer whose
//! encoding is not in [`NAMED`] is of this kind: a generator needs no line for it, and does not compile while a runtime lacks one of the
//! functions. So are all truth values, floats, times and nibble paths, which have the name of their domain before the word:
//! `appendFloatOrdered`, and `appendBool` where there is no word; byte strings and frames that are not in [`NAMED_BYTES`] or
//! [`NAMED_FRAMES`], of which `longestBech32` says how far one may go, and `frameMemcmp` and `unframeMemcmp` are both ways; and scores,
//! by the names of their codecs: `appendScoreExact`, `decodeScoreWithin`.

use keyplan_codec::{Hash, Heights};
use keyplan_plan::model::{
    BoolEncoding, BytesEncoding, Encoding, ExtentRule, FloatEncoding, Frame, IntEncoding, NibbleEncoding,
    OrderRule, ScoreEncoding, Shape, TimeEncoding,
};

/// Words of the encodings that a generator names by itself: built into the languages, written for one width, or with functions
/// that others share.
const NAMED: &[&str] = &[
    "be",
    "le",
    "signflip",
    "tick9",
    "dec",
    "hex",
    "HEX",
    "leb128",
    "ordvar",
    "bitcoin_varint",
    "compact_size",
    "orderedcode",
    "saturating",
    "low",
    "high",
    "float",
    "tuple",
];

/// The same of byte strings.
const NAMED_BYTES: &[&str] =
    &["", "raw", "hex", "HEX", "base58", "base58check", "be", "le", "signflip", "tuple"];

/// The same of frames, lengths aside.
const NAMED_FRAMES: &[&str] = &["terminated", "escaped", "orderedcode"];

/// A truth value, a float, a time or a nibble path, as its functions are called.
pub(crate) struct Scalar {
    /// The name of the functions after `append`, `put`, `decode` and `extent`.
    pub(crate) name: String,
    /// What is in brackets.
    number: Option<usize>,
    domain: &'static str,
    row: &'static Encoding,
}

impl Scalar {
    /// The scalar that a shape is, if it is one.
    pub(crate) fn of(shape: &Shape) -> Option<Self> {
        let (domain, row, number) = match shape {
            Shape::Bool(encoding) => (BOOL, encoding.row(), None),
            Shape::Float(encoding) => (FLOAT, encoding.row(), encoding.number()),
            Shape::Time(encoding) => (TIME, encoding.row(), None),
            Shape::Nibbles { encoding, .. } => (NIBBLES, encoding.row(), None),
            _ => return None,
        };
        Some(Self { name: format!("{domain}{}", name(row)), number, domain, row })
    }

    /// Whether it is a float, of which two are written alike at least: the zeros.
    pub(crate) fn is_float(&self) -> bool {
        self.domain == FLOAT
    }

    /// Whether its encoding merges more of them.
    pub(crate) const fn loses(&self) -> bool {
        self.row.loses
    }

    /// Whether every value is written: truth values are, and floats if what other encodings refuse is lost.
    pub(crate) fn is_total(&self) -> bool {
        self.domain == BOOL || self.is_float() && self.loses()
    }

    /// What is in brackets, as one more argument of a call.
    pub(crate) fn argument(&self) -> String {
        self.number.map_or_else(String::new, |number| format!(", {number}"))
    }

    /// The functions that read it and what is in brackets, as fields of a node.
    pub(crate) fn fields(&self) -> String {
        let keep = self.number.map_or_else(String::new, |number| format!(", keep: {number}"));
        let is_marked = self.row.extent == ExtentRule::Marked;
        let extent = if is_marked { format!(", extent: extent{}", self.name) } else { String::new() };
        format!("decode: decode{}{extent}{keep}", self.name)
    }
}

const BOOL: &str = "Bool";
const FLOAT: &str = "Float";
const TIME: &str = "Time";
const NIBBLES: &str = "Nibbles";

/// The name that functions have after `append`, `put`, `decode` or `extent`.
pub(crate) fn name(row: &Encoding) -> String {
    let parts = row.word.split('_');
    parts
        .flat_map(|part| {
            part.chars().take(1).map(|first| first.to_ascii_uppercase()).chain(part.chars().skip(1))
        })
        .collect()
}

/// What is in brackets, as one more argument of a call.
pub(crate) fn number(encoding: IntEncoding) -> String {
    encoding.number().map_or_else(String::new, |number| format!(", {number}"))
}

/// The functions that read it, as fields of a node.
pub(crate) fn fields(row: &Encoding) -> String {
    let name = name(row);
    match row.extent {
        ExtentRule::Marked => format!("decode: decode{name}, extent: extent{name}"),
        ExtentRule::Open => format!("decode: decode{name}, longest: longest{name}"),
        _ => format!("decode: decode{name}"),
    }
}

/// What is in the brackets of a byte string, as one more argument of a call; `quoted` is how the language writes a text.
pub(crate) fn bytes_argument(encoding: &BytesEncoding, quoted: impl Fn(&str) -> String) -> String {
    let number = encoding.number().map(|number| format!(", {number}"));
    number.or_else(|| encoding.text().map(|text| format!(", {}", quoted(text)))).unwrap_or_default()
}

/// The functions that read a byte string and what is in brackets, as fields of a node; `loss` is how the language writes which values
/// are one.
pub(crate) fn bytes_fields(
    encoding: &BytesEncoding,
    quoted: impl Fn(&str) -> String,
    loss: impl Fn(&str) -> String,
) -> String {
    let (row, name) = (encoding.row(), name(encoding.row()));
    let end = match row.extent {
        ExtentRule::Marked => format!(", extent: extent{name}"),
        ExtentRule::Open | ExtentRule::Length => format!(", longest: longest{name}"),
        _ => String::new(),
    };
    let loss = if row.loses { format!(", loss: {}", loss(&name)) } else { String::new() };
    // A width is also that of the node.
    let number = encoding.number().filter(|_| row.extent != ExtentRule::Argument);
    let number = number.map_or_else(String::new, |number| format!(", keep: {number}"));
    let text = encoding.text().map_or_else(String::new, |text| format!(", text: {}", quoted(text)));
    format!("decode: decode{name}{end}{loss}{number}{text}")
}

/// The ends of the scores of some heights: as heights, or as the bits of floats.
pub(crate) fn score_range(heights: Heights, encoding: ScoreEncoding) -> [u128; 2] {
    if encoding.is_float() {
        let (least, most) = heights.floats();
        [least.to_bits().into(), most.to_bits().into()]
    } else {
        [heights.least.into(), heights.most.into()]
    }
}

/// The name that the functions of a frame have after `frame`, `extent` and `unframe`.
pub(crate) fn frame_name(frame: Frame) -> String {
    match frame {
        Frame::Len(_) => "Len".to_owned(),
        Frame::OrderedCode => "Ordered".to_owned(),
        frame => name(frame.row()),
    }
}

/// The function that a hash is called by.
pub(crate) const fn hash_function(hash: Hash) -> &'static str {
    match hash {
        Hash::Xxh3_64 => "sumXXH3",
        Hash::Twox64 => "sumTwox64",
        Hash::Twox128 => "sumTwox128",
        Hash::Blake2b128 => "sumBlake2b128",
        Hash::Blake2b256 => "sumBlake2b256",
        Hash::Sha256 => "sumSHA256",
        Hash::Keccak256 => "sumKeccak256",
        Hash::Blake2b224 => "sumBlake2b224",
        Hash::Hash160 => "sumHash160",
        Hash::Siphash24 => "sumSiphash24",
    }
}

/// Which encodings need a function.
#[derive(Clone, Copy)]
pub(crate) enum Needed {
    /// All of them.
    Always,
    /// Those whose bytes say where they end.
    Marked,
    /// Those that end where something else begins.
    Open,
}

impl Needed {
    const fn by(self, row: &Encoding) -> bool {
        match self {
            Self::Always => true,
            Self::Marked => matches!(row.extent, ExtentRule::Marked),
            Self::Open => matches!(row.extent, ExtentRule::Open | ExtentRule::Length),
        }
    }
}

/// Refuses to compile while the texts lack a function of an encoding, whose word is the message.
pub(crate) const fn declared(start: &str, needed: Needed, texts: &[&str]) {
    all_declared(IntEncoding::ROWS, NAMED, start, "", needed, texts);
}

/// The same of byte strings.
pub(crate) const fn bytes_declared(start: &str, needed: Needed, texts: &[&str]) {
    all_declared(BytesEncoding::ROWS, NAMED_BYTES, start, "", needed, texts);
}

/// The same of frames; of each, what comes after the words that functions begin with.
pub(crate) const fn frames_declared(starts: [&str; 3], texts: &[&str]) {
    let mut rows = Frame::ROWS;
    let [frame, extent, unframe] = starts;
    while let [row, rest @ ..] = rows {
        rows = rest;
        // Lengths have functions in common.
        if !matches!(row.order, OrderRule::OneLength) && !is_named(NAMED_FRAMES, row.word) {
            assert!(one_declares(texts, frame, "", row.word), "{}", row.word);
            assert!(one_declares(texts, extent, "", row.word), "{}", row.word);
            assert!(one_declares(texts, unframe, "", row.word), "{}", row.word);
        }
    }
}

/// The same of scores, whose functions are called by the names of their codecs.
pub(crate) const fn scores_declared(put: &str, decode: &str, texts: &[&str]) {
    let mut codecs = ScoreEncoding::CODECS;
    while let [names, rest @ ..] = codecs {
        codecs = rest;
        let [any, within] = *names;
        assert!(one_declares(texts, put, "", any), "{}", any);
        assert!(one_declares(texts, decode, "", any), "{}", any);
        assert!(one_declares(texts, decode, "", within), "{}", within);
    }
}

const fn all_declared(
    mut rows: &[Encoding],
    named: &[&str],
    start: &str,
    domain: &str,
    needed: Needed,
    texts: &[&str],
) {
    while let [row, rest @ ..] = rows {
        rows = rest;
        let needless = is_named(named, row.word) || !needed.by(row);
        assert!(needless || one_declares(texts, start, domain, row.word), "{}", row.word);
    }
}

/// The same of truth values, floats, times and nibble paths.
pub(crate) const fn scalars_declared(start: &str, needed: Needed, texts: &[&str]) {
    let mut domains: &[(&str, &[Encoding])] = &[
        (BOOL, BoolEncoding::ROWS),
        (FLOAT, FloatEncoding::ROWS),
        (TIME, TimeEncoding::ROWS),
        (NIBBLES, NibbleEncoding::ROWS),
    ];
    while let [(domain, rows), rest @ ..] = domains {
        domains = rest;
        all_declared(rows, &[], start, domain, needed, texts);
    }
}

const fn one_declares(mut texts: &[&str], start: &str, domain: &str, word: &str) -> bool {
    while let [text, rest @ ..] = texts {
        texts = rest;
        if declares(text, start, domain, word) {
            return true;
        }
    }
    false
}

const fn is_named(mut named: &[&str], word: &str) -> bool {
    while let [one, rest @ ..] = named {
        named = rest;
        if one.len() == word.len() && continues(one.as_bytes(), word.as_bytes()).is_some() {
            return true;
        }
    }
    false
}

const fn declares(text: &str, start: &str, domain: &str, word: &str) -> bool {
    let mut text = text.as_bytes();
    while let [byte, rest @ ..] = text {
        text = rest;
        // Functions begin lines.
        if *byte == b'\n'
            && let Some(after) = continues(rest, start.as_bytes())
            && let Some(after) = continues(after, domain.as_bytes())
            && calls(after, word.as_bytes())
        {
            return true;
        }
    }
    false
}

/// What is after `start`, if a text begins with it.
const fn continues<'t>(mut text: &'t [u8], mut start: &[u8]) -> Option<&'t [u8]> {
    while let [wanted, rest @ ..] = start {
        let [found, after @ ..] = text else { return None };
        if *found != *wanted {
            return None;
        }
        (text, start) = (after, rest);
    }
    Some(text)
}

/// Whether a text begins with the name that a word gives and the bracket of its arguments.
const fn calls(mut text: &[u8], mut word: &[u8]) -> bool {
    while let [wanted, rest @ ..] = word {
        word = rest;
        if *wanted == b'_' {
            continue;
        }
        let [found, after @ ..] = text else { return false };
        if !found.eq_ignore_ascii_case(wanted) {
            return false;
        }
        text = after;
    }
    matches!(text, [b'(', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_called_by_the_word() {
        let row = IntEncoding::ScaleCompact.row();
        assert_eq!(name(row), "ScaleCompact");
        assert_eq!(fields(row), "decode: decodeScaleCompact, extent: extentScaleCompact");
        assert_eq!(number(IntEncoding::Low(3)), ", 3");
        let scalar = |shape: Shape| Scalar::of(&shape).map(|scalar| scalar.fields());
        assert_eq!(
            scalar(Shape::Float(FloatEncoding::Fixed(3))).unwrap(),
            "decode: decodeFloatFixed, keep: 3"
        );
        assert_eq!(scalar(Shape::Bool(BoolEncoding::Byte)).unwrap(), "decode: decodeBool");
    }

    #[test]
    fn a_runtime_that_lacks_a_function_is_noticed() {
        let text = "\nfunc appendScaleCompact(dst []byte) []byte {\n}\n";
        assert!(declares(text, "func append", "", "scale_compact"));
        assert!(declares(text, "func append", "Scale", "compact"));
        assert!(!declares(text, "func append", "", "scale"));
        assert!(!declares(text, "func decode", "", "scale_compact"));
        assert!(!declares(text, "func append", "", "scale_compact_more"));
    }
}
