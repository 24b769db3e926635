//! Layouts in the words of the plan language.

use keyplan_codec::{Alphabet, Case, LenWidth};
use keyplan_plan::model::{
    Argument, BoolEncoding, BytesEncoding, Derived, Family, FloatEncoding, Frame, Framing, IntEncoding,
    IntShape, LengthSet, NibbleEncoding, Opaque, Scan, ScoreEncoding, Segment, Sequence, Shape, TextShape,
    TimeEncoding,
};

/// The type of an argument as a person would write it: `Denom`, `u64.dec`.
pub(crate) fn type_of(argument: &Argument) -> String {
    let domain = argument.type_name.clone().unwrap_or_else(|| domain(&argument.shape));
    let encodings = encodings(&argument.shape);
    if argument.type_name.is_some() || encodings.is_empty() {
        domain
    } else {
        format!("{domain}.{}", encodings.join("."))
    }
}

/// A shape, domain and encodings: `u64.dec`.
pub(crate) fn shape(shape: &Shape) -> String {
    let mut all = vec![domain(shape)];
    all.extend(encodings(shape));
    all.join(".")
}

/// The parts of a layout in a row: `0x01 pool: u64`.
pub(crate) fn parts(sequence: &Sequence) -> String {
    let parts: Vec<String> = sequence.segments().iter().map(part).collect();
    parts.join(" ")
}

fn part(segment: &Segment) -> String {
    match segment {
        Segment::Literal(literal) => literal.spelling.clone(),
        Segment::Argument(argument) => {
            let text = match &argument.type_name {
                Some(name) => name.clone(),
                None => shape(&argument.shape),
            };
            argument.name.as_ref().map_or(text.clone(), |name| format!("{name}: {text}"))
        }
        Segment::Same(same) => format!("same({})", same.name),
        Segment::Derived(derived) => format!("{} = {}", derived.name, derivation(derived)),
    }
}

/// `crc16(…) % 16384`
pub(crate) fn derivation(derived: &Derived) -> String {
    let modulus = derived.modulus.map_or(String::new(), |modulus| format!(" % {modulus}"));
    format!("{}(…){modulus}", derived.function.name())
}

/// What a scan binds: `by pool, in order`.
pub(crate) fn scan(family: &Family, scan: &Scan) -> String {
    let bound: Vec<&str> =
        family.key.arguments().take(scan.bound).filter_map(|argument| argument.name.as_deref()).collect();
    let mut text = if bound.is_empty() { "all".to_owned() } else { format!("by {}", bound.join(", ")) };
    if scan.in_order {
        text.push_str(" in order");
    }
    text
}

/// The values of a shape, without their encodings.
pub(crate) fn domain(shape: &Shape) -> String {
    match shape {
        Shape::Int(int) if int.range == int.ty.range() => int.ty.name(),
        Shape::Int(int) => format!("{}({})", int.ty.name(), int_range(int)),
        Shape::Bool(_) => "bool".to_owned(),
        Shape::Float(_) => "f64".to_owned(),
        Shape::Time(_) => "time".to_owned(),
        Shape::Score(_) => "score".to_owned(),
        Shape::Bytes { lengths, .. } => call("bytes", &[lengths_text(lengths)]),
        Shape::Text(text) => text_domain(text),
        Shape::Nibbles { lengths, .. } => call("nibbles", &[lengths_text(lengths)]),
        Shape::Opaque(opaque) => opaque.name(),
        Shape::Record(sequence) => format!("({})", parts(sequence)),
        Shape::Choice(alternatives) => {
            let all: Vec<String> =
                alternatives.iter().map(|a| format!("{}: {}", a.label, parts(&a.sequence))).collect();
            format!("({})", all.join(" | "))
        }
        Shape::Option(inner) => format!("option({})", self::shape(inner)),
        Shape::List { item, counts, .. } => call("list", &[Some(self::shape(item)), lengths_text(counts)]),
        Shape::Framed { inner, .. }
        | Shape::Desc(inner)
        | Shape::Hashed { inner, .. }
        | Shape::HashConcat { inner, .. } => domain(inner),
    }
}

fn call(name: &str, args: &[Option<String>]) -> String {
    let args: Vec<&str> = args.iter().flatten().map(String::as_str).collect();
    if args.is_empty() { name.to_owned() } else { format!("{name}({})", args.join(", ")) }
}

fn text_domain(text: &TextShape) -> String {
    if let Some(names) = &text.names {
        return names.name.clone();
    }
    let class = |alphabet: &Alphabet| format!("{:?}", class(alphabet));
    let plain = text.alphabet == Alphabet::UTF8 && text.first.is_none();
    let first = text.first.as_ref().map(class);
    call("text", &[first, (!plain).then(|| class(&text.alphabet)), lengths_text(&text.lengths)])
}

/// The range of an integer: `0..=5`.
pub(crate) fn int_range(int: &IntShape) -> String {
    use keyplan_plan::model::IntRange::{Signed, Unsigned};
    match int.range {
        Unsigned { min, max } => format!("{min}..={max}"),
        Signed { min, max } => format!("{min}..={max}"),
    }
}

/// Lengths or counts: `20 | 32`; `None` if any will do.
pub(crate) fn lengths_text(lengths: &LengthSet) -> Option<String> {
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

/// The characters of an alphabet, as a class of the language.
pub(crate) fn class(alphabet: &Alphabet) -> String {
    let (mut out, listed) = if alphabet.beyond_ascii() {
        ("^".to_owned(), alphabet.complement())
    } else {
        (String::new(), *alphabet)
    };
    let mut byte = 0u8;
    while byte < 128 {
        let first = byte;
        while byte < 128 && listed.contains(byte) {
            byte += 1;
        }
        let run = byte - first;
        match run {
            0 => byte += 1,
            1 | 2 => (first..byte).for_each(|byte| class_char(byte, &mut out)),
            _ => {
                class_char(first, &mut out);
                out.push('-');
                class_char(byte - 1, &mut out);
            }
        }
    }
    out
}

fn class_char(byte: u8, out: &mut String) {
    if matches!(byte, b'-' | b'\\' | b'^') {
        out.push('\\');
    }
    out.push(char::from(byte));
}

/// The encodings of a shape, in the order in which they are applied; none if it is the default.
pub(crate) fn encodings(shape: &Shape) -> Vec<String> {
    let one = |name: &str| vec![name.to_owned()];
    match shape {
        Shape::Int(int) => int_encoding(int.encoding).into_iter().collect(),
        Shape::Bool(BoolEncoding::Tuple) | Shape::Float(FloatEncoding::Tuple) => one("tuple"),
        Shape::Float(FloatEncoding::Ordered) => one("ordered"),
        Shape::Float(FloatEncoding::Badger) => one("badger"),
        Shape::Float(FloatEncoding::Fixed(decimals)) => vec![format!("fixed({decimals})")],
        Shape::Time(TimeEncoding::Nanos) => one("nanos"),
        Shape::Score(ScoreEncoding::HeightScore) => one("height_score"),
        Shape::Bytes { encoding, .. } => match encoding {
            BytesEncoding::Raw => Vec::new(),
            BytesEncoding::Hex(case) => one(hex_name(*case)),
            BytesEncoding::Bech32(hrp) => vec![format!("bech32({hrp:?})")],
            BytesEncoding::Fit(width) => vec![format!("fit({width})")],
            BytesEncoding::Tuple => one("tuple"),
        },
        Shape::Text(text) if text.tuple => one("tuple"),
        Shape::Nibbles { encoding: NibbleEncoding::Packed, .. } => one("packed"),
        Shape::Nibbles { encoding: NibbleEncoding::HexPrefix, .. } => one("hex_prefix"),
        Shape::List { framing, .. } => match framing {
            Framing::ToEnd => Vec::new(),
            Framing::Joined(separator) => vec![format!("joined(\"{}\")", super::escaped(separator))],
            Framing::Counted(width) => one(count_name(*width)),
        },
        Shape::Framed { frame, inner } => behind(inner, frame_name(*frame).to_owned()),
        Shape::Desc(inner) => behind(inner, "desc".to_owned()),
        Shape::Hashed { hash, keep, inner, .. } => {
            behind(inner, format!("hashed({})", hash_args(hash.name(), hash.width(), *keep)))
        }
        Shape::HashConcat { hash, keep, inner } => {
            behind(inner, format!("hash_concat({})", hash_args(hash.name(), hash.width(), *keep)))
        }
        Shape::Bool(_)
        | Shape::Float(_)
        | Shape::Time(_)
        | Shape::Score(_)
        | Shape::Text(_)
        | Shape::Nibbles { .. }
        | Shape::Opaque(_)
        | Shape::Record(_)
        | Shape::Choice(_)
        | Shape::Option(_) => Vec::new(),
    }
}

fn behind(inner: &Shape, name: String) -> Vec<String> {
    let mut all = encodings(inner);
    all.push(name);
    all
}

fn hash_args(name: &str, width: usize, keep: usize) -> String {
    if keep == width { name.to_owned() } else { format!("{name}, {keep}") }
}

fn int_encoding(encoding: IntEncoding) -> Option<String> {
    Some(match encoding {
        IntEncoding::Be => return None,
        IntEncoding::Le => "le".to_owned(),
        IntEncoding::SignFlip => "signflip".to_owned(),
        IntEncoding::Tick9 => "tick9".to_owned(),
        IntEncoding::Dec => "dec".to_owned(),
        IntEncoding::DecPadded(width) => format!("dec({width})"),
        IntEncoding::Hex(case) => hex_name(case).to_owned(),
        IntEncoding::HexPadded(case, width) => format!("{}({width})", hex_name(case)),
        IntEncoding::Leb128 => "leb128".to_owned(),
        IntEncoding::OrdVar => "ordvar".to_owned(),
        IntEncoding::BitcoinVarint => "bitcoin_varint".to_owned(),
        IntEncoding::CompactSize => "compact_size".to_owned(),
        IntEncoding::Saturating => "saturating".to_owned(),
        IntEncoding::Tuple => "tuple".to_owned(),
    })
}

fn hex_name(case: Case) -> &'static str {
    match case {
        Case::Lower => "hex",
        Case::Upper => "HEX",
    }
}

fn frame_name(frame: Frame) -> &'static str {
    match frame {
        Frame::Len(LenWidth::L8) => "len8",
        Frame::Len(LenWidth::L16) => "len16",
        Frame::Len(LenWidth::L32) => "len32",
        Frame::Len(LenWidth::L64) => "len64",
        Frame::Len(LenWidth::L64Le) => "len64le",
        Frame::Len(LenWidth::Varint) => "varlen",
        Frame::Terminated => "terminated",
        Frame::Escaped => "escaped",
        Frame::Memcmp => "memcmp",
    }
}

fn count_name(width: LenWidth) -> &'static str {
    match width {
        LenWidth::L8 => "count8",
        LenWidth::L16 => "count16",
        LenWidth::L32 => "count32",
        LenWidth::L64 | LenWidth::L64Le => "count64",
        LenWidth::Varint => "varcount",
    }
}

/// A value layout in a few words: `TickInfo (protobuf)`.
pub(crate) fn value_layout(sequence: &Sequence) -> String {
    match sequence.segments() {
        [Segment::Argument(Argument { name: None, shape: Shape::Opaque(opaque), .. })] => match opaque {
            Opaque::Proto(message) => format!("{message} (protobuf)"),
            Opaque::Json => "JSON".to_owned(),
            Opaque::Cbor => "CBOR".to_owned(),
            Opaque::Raw => "raw bytes".to_owned(),
        },
        _ => parts(sequence),
    }
}
