//! Layouts in the words of the plan language, and values as text and as JSON.
//!
//! [`Notation`] writes types and layouts as a person would write them in a plan. [`Value::display`] and
//! [`parse`](crate::dynamic::parse) are values as text, both ways; [`write_json`] and, with the feature `json`,
//! `arguments_from_json` are values as JSON, both ways.
//!
//! ```
//! use keyplan_plan::notation::Notation;
//!
//! let text = "plan demo; space s { key pool = 0x01 id: u64.dec \"/\" owner: bytes(20 | 32).hex; }";
//! let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
//! let layout = &plan.find("pool")[0].1.key;
//! assert_eq!(Notation::of(&plan).parts(layout), "0x01 id: u64.dec \"/\" owner: bytes(20 | 32).hex");
//! ```

mod bytes;
mod encoding;
#[cfg(feature = "json")]
mod from_json;
mod json;
mod visible;

pub use bytes::{assignments, escaped, hex, hex_into, printable};
pub use encoding::encodings;
#[cfg(feature = "json")]
pub use from_json::{JsonError, arguments_from_json, layout_from_json, plain_arguments_from_json};
pub use json::{write_argument_json, write_bytes, write_json, write_number, write_shown_json, write_string};
pub use visible::{is_hidden, visible, visible_json};

use keyplan_codec::Alphabet;

#[cfg(doc)]
use crate::dynamic::Value;
use crate::model::{
    Argument, BytesEncoding, Derived, Family, IntShape, LengthSet, NamedType, Opaque, Plan, Scan, Segment,
    Sequence, Shape, TextShape,
};

/// Writes layouts with the types of one plan.
#[derive(Clone, Copy, Debug)]
pub struct Notation<'p> {
    types: &'p [NamedType],
}

impl<'p> Notation<'p> {
    /// The notation of a plan.
    pub fn of(plan: &'p Plan) -> Self {
        Self { types: &plan.types }
    }

    /// The type of an argument as a person would write it: `Denom`, `Address.hex`, `u64.dec`.
    pub fn type_of(self, argument: &Argument) -> String {
        let Some(name) = &argument.type_name else { return self.shape(&argument.shape) };
        // Encodings that the type brings with it are not written again.
        let of_type = self.types.iter().find(|ty| ty.name == *name);
        let known = of_type.map_or(0, |ty| encodings(&ty.shape).len());
        let mut all = vec![name.clone()];
        all.extend(encodings(&argument.shape).into_iter().skip(known));
        all.join(".")
    }

    /// A shape, domain and encodings: `u64.dec`.
    pub fn shape(self, shape: &Shape) -> String {
        let mut all = vec![self.domain(shape)];
        all.extend(encodings(shape));
        all.join(".")
    }

    /// The parts of a layout in a row: `0x01 pool: u64`.
    pub fn parts(self, sequence: &Sequence) -> String {
        let parts: Vec<String> = sequence.segments().iter().map(|segment| self.part(segment)).collect();
        parts.join(" ")
    }

    fn part(self, segment: &Segment) -> String {
        match segment {
            Segment::Literal(literal) => literal.spelling.clone(),
            Segment::Argument(argument) => match &argument.name {
                Some(name) => format!("{name}: {}", self.type_of(argument)),
                None => self.type_of(argument),
            },
            Segment::Same(same) => format!("same({})", same.name),
            Segment::Derived(derived) => format!("{} = {}", derived.name, derivation(derived)),
        }
    }

    /// A value layout in a few words: `TickInfo (protobuf)`.
    pub fn value_layout(self, sequence: &Sequence) -> String {
        match sequence.segments() {
            [Segment::Argument(Argument { name: None, shape: Shape::Opaque(opaque), .. })] => match opaque {
                Opaque::Proto(message) => format!("{} (protobuf)", message.name),
                Opaque::Coded(coded) => {
                    format!("{} ({})", self.domain(&coded.shape), coded.codec.title())
                }
                Opaque::Json => "JSON".to_owned(),
                Opaque::Cbor => "CBOR".to_owned(),
                Opaque::Rlp => "RLP".to_owned(),
                Opaque::Raw => "raw bytes".to_owned(),
            },
            _ => self.parts(sequence),
        }
    }

    /// The values of a shape, without their encodings.
    pub fn domain(self, shape: &Shape) -> String {
        match shape {
            Shape::Int(int) if int.range == int.ty.range() => int.ty.name(),
            Shape::Int(int) => format!("{}({})", int.ty.name(), int_range(int)),
            Shape::Bool(_) => "bool".to_owned(),
            Shape::Float(_) => "f64".to_owned(),
            Shape::Time(_) => "time".to_owned(),
            Shape::Score { heights: None, .. } => "score".to_owned(),
            Shape::Score { heights: Some(heights), .. } => {
                format!("score({}..={})", heights.least, heights.most)
            }
            Shape::Bytes { lengths, encoding: BytesEncoding::Class(class) } => {
                call("bytes", &[Some(byte_class(class)), lengths_text(lengths)])
            }
            Shape::Bytes { encoding: BytesEncoding::Wide { signed, .. }, .. } => {
                if *signed { "i256" } else { "u256" }.to_owned()
            }
            Shape::Bytes { lengths, .. } => call("bytes", &[lengths_text(lengths)]),
            Shape::Text(TextShape { names: Some(names), .. }) => names.name.clone(),
            Shape::Text(text) => text_domain(text),
            Shape::Nibbles { lengths, .. } => call("nibbles", &[lengths_text(lengths)]),
            Shape::Opaque(Opaque::Coded(coded)) => {
                format!("{}({})", coded.codec.word(), self.domain(&coded.shape))
            }
            Shape::Opaque(opaque) => opaque.name(),
            Shape::Record(sequence) => format!("({})", self.parts(sequence)),
            Shape::Choice(alternatives) => {
                let all: Vec<String> = alternatives
                    .iter()
                    .map(|a| format!("{}: {}", a.label, self.parts(&a.sequence)))
                    .collect();
                format!("({})", all.join(" | "))
            }
            Shape::Option(inner) => format!("option({})", self.shape(inner)),
            Shape::List { item, counts, .. } => call("list", &[Some(self.shape(item)), lengths_text(counts)]),
            Shape::Framed { inner, .. }
            | Shape::Desc(inner)
            | Shape::Hashed { inner, .. }
            | Shape::HashConcat { inner, .. } => self.domain(inner),
        }
    }
}

/// `crc16(…) % 16384`
pub fn derivation(derived: &Derived) -> String {
    let modulus = derived.modulus.map_or(String::new(), |modulus| format!(" % {modulus}"));
    format!("{}(…){modulus}", derived.function.name())
}

/// What a scan binds: `by pool, in order`.
pub fn scan(family: &Family, scan: &Scan) -> String {
    let mut text = scan.words(&family.key);
    let company: Vec<&str> = scan.with.iter().map(|company| company.path.as_str()).collect();
    if !company.is_empty() {
        text = format!("{text} with {}", company.join(", "));
    }
    if scan.own {
        text.insert_str(0, "own ");
    }
    if scan.in_order {
        text.push_str(" in order");
    }
    text
}

/// The first sentence of a documentation, as it is written after a dash.
///
/// ```
/// use keyplan_plan::notation::first_sentence;
///
/// let doc = ["The ticks of a pool.".to_owned(), "More of them.".to_owned()];
/// assert_eq!(first_sentence(&doc).as_deref(), Some("the ticks of a pool"));
/// assert_eq!(first_sentence(&[]), None);
/// ```
pub fn first_sentence(doc: &[String]) -> Option<String> {
    let paragraph: Vec<&str> =
        doc.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
    let text = paragraph.join(" ");
    let sentence = text.split_once(". ").map_or(text.as_str(), |(first, _)| first).trim_end_matches('.');
    let mut chars = sentence.chars();
    let first = chars.next()?;
    let acronym = chars.clone().next().is_some_and(char::is_uppercase);
    let head = if acronym { first.to_string() } else { first.to_lowercase().to_string() };
    Some(format!("{head}{}", chars.as_str()))
}

/// The name of an argument as it is typed and printed; `value` for one without a name.
pub fn argument_name(argument: &Argument) -> &str {
    argument.name.as_deref().unwrap_or("value")
}

/// The bytes of a scan's prefix, of the example that the plan gives or of simple arguments: `0c 31 7c`.
pub fn scan_bytes(family: &Family, scan: &Scan) -> Option<String> {
    let bytes = scan.example.clone().or_else(|| {
        let values = crate::sample::arguments(&scan.prefix(&family.key))?;
        let mut bytes = Vec::new();
        scan.write(&family.key, &values, &mut bytes).ok().map(|()| bytes)
    })?;
    (!bytes.is_empty()).then(|| hex(&bytes))
}

fn call(name: &str, args: &[Option<String>]) -> String {
    let args: Vec<&str> = args.iter().flatten().map(String::as_str).collect();
    if args.is_empty() { name.to_owned() } else { format!("{name}({})", args.join(", ")) }
}

/// A text's alphabet and lengths, whatever names are known of it.
pub fn text_domain(text: &TextShape) -> String {
    let class = |alphabet: &Alphabet| format!("{:?}", class(alphabet));
    let plain = text.alphabet == Alphabet::UTF8 && text.first.is_none();
    let first = text.first.as_ref().map(class);
    call("text", &[first, (!plain).then(|| class(&text.alphabet)), lengths_text(&text.lengths)])
}

/// The range of an integer: `0..=5`.
pub fn int_range(int: &IntShape) -> String {
    use crate::model::IntRange::{Signed, Unsigned};
    match int.range {
        Unsigned { min, max } => format!("{min}..={max}"),
        Signed { min, max } => format!("{min}..={max}"),
    }
}

/// Lengths or counts: `20 | 32`; `None` if any will do.
pub fn lengths_text(lengths: &LengthSet) -> Option<String> {
    match lengths {
        LengthSet::OneOf(lengths) => {
            Some(lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" | "))
        }
        LengthSet::Range { .. } => match (lengths.min(), lengths.max()) {
            (0, None) => None,
            (min, None) => Some(format!("{min}..")),
            (min, Some(max)) if min == max => Some(min.to_string()),
            (min, Some(max)) => Some(format!("{min}..={max}")),
        },
    }
}

/// A class of bytes, as it is in a plan: `"\\x01-\\xff"`.
pub fn byte_class(class: &Alphabet) -> String {
    let shown = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"/:._ |".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("\\\\x{byte:02x}")
        }
    };
    let mut out = String::new();
    let mut bytes = (0..=u8::MAX).filter(|byte| class.contains(*byte)).peekable();
    while let Some(first) = bytes.next() {
        let mut last = first;
        while let Some(next) = bytes.next_if(|next| last.checked_add(1) == Some(*next)) {
            last = next;
        }
        out.push_str(&shown(first));
        if last > first {
            if last - first > 1 {
                out.push('-');
            }
            out.push_str(&shown(last));
        }
    }
    format!("\"{out}\"")
}

/// The characters of an alphabet, as a class of the language: letters and digits in runs, then the others.
pub fn class(alphabet: &Alphabet) -> String {
    let (mut out, listed) = if alphabet.beyond_ascii() {
        ("^".to_owned(), alphabet.complement())
    } else {
        (String::new(), *alphabet)
    };
    for run in [b'a'..=b'z', b'A'..=b'Z', b'0'..=b'9'] {
        runs(run.filter(|byte| listed.contains(*byte)), &mut out);
    }
    for byte in
        (0..128u8).filter(|byte| listed.contains(*byte) && !byte.is_ascii_alphanumeric() && *byte != b'-')
    {
        if byte == b'\\' || (byte == b'^' && out.is_empty()) {
            out.push('\\');
        }
        out.push(char::from(byte));
    }
    // In last place a hyphen means itself.
    if listed.contains(b'-') {
        out.push('-');
    }
    out
}

/// Characters in ascending order, with `a-z` for three or more in a row.
fn runs(bytes: impl Iterator<Item = u8>, out: &mut String) {
    let all: Vec<u8> = bytes.collect();
    for run in all.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        match run {
            [first, _, .., last] => out.extend([char::from(*first), '-', char::from(*last)]),
            few => few.iter().for_each(|byte| out.push(char::from(*byte))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The class that a plan gives back for the class it was written with.
    fn again(text: &str) -> String {
        let plan = format!("plan p; space s {{ key k = a: text({text:?}, 1..=2); }}");
        let plan = crate::compile("p", &plan, |_| Err(String::new())).plan.unwrap();
        let argument = plan.spaces[0].families[0].key.arguments().next().unwrap();
        let Shape::Text(text) = &argument.shape else { panic!("not a text") };
        class(&text.alphabet)
    }

    #[test]
    fn a_class_is_written_as_people_write_it() {
        assert_eq!(again("a-zA-Z0-9/:._-"), "a-zA-Z0-9./:_-");
        assert_eq!(again("1-9A-HJ-NP-Za-km-z"), "a-km-zA-HJ-NP-Z1-9");
        assert_eq!(again("^/"), "^/");
        assert_eq!(again("ab"), "ab");
    }

    #[test]
    fn a_written_class_means_the_same() {
        for text in ["a-zA-Z0-9/:._-", "\\\\\\^-", "^\\-\\^a", "+,./", "!-~"] {
            assert_eq!(again(&again(text)), again(text), "{text}");
        }
    }
}
