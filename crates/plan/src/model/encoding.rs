//! Encodings: what may come after a domain, and what it makes of the shape before it.

use std::sync::Arc;

use keyplan_codec::{Base58, Case, Hash, LenWidth, Segment as _, Text as TextCodec, WideForm};

use super::resolve::{Resolver, unknown};
use super::{
    BoolEncoding, BytesEncoding, Except, FloatEncoding, Frame, Framing, IntEncoding, IntShape, Name,
    NibbleEncoding, ScoreEncoding, Shape, Shown, TextShape, TimeEncoding, Width,
};
use crate::diag::{Code, Diagnostic, Span};
use crate::syntax::{ast, foreign};

/// The encodings of the language.
const ENCODINGS: &[&str] = &[
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
    "scale_compact",
    "orderedcode",
    "saturating",
    "bits",
    "ordered",
    "badger",
    "exact",
    "height_score",
    "fixed",
    "text9",
    "nanos",
    "except",
    "packed",
    "hex_prefix",
    "counted",
    "bech32",
    "base58",
    "base58check",
    "tuple",
    "len8",
    "len16",
    "len32",
    "len64",
    "len16le",
    "len32le",
    "len64le",
    "varlen",
    "compactlen",
    "scalelen",
    "terminated",
    "escaped",
    "memcmp",
    "fit",
    "desc",
    "hashed",
    "hash_concat",
    "joined",
    "count8",
    "count16",
    "count32",
    "count64",
    "count16le",
    "count32le",
    "count64le",
    "varcount",
    "compactcount",
    "scalecount",
    "raw",
    "shown",
];

/// The words for encodings.
pub fn encodings() -> &'static [&'static str] {
    ENCODINGS
}

/// How many encodings one domain may have. Each is a level of nesting in its shape, and shapes are walked by
/// recursion.
const MAX_ENCODINGS: usize = 8;

/// The most digits that a number is padded to.
const MAX_DIGITS: usize = 64;

/// The most bytes that `fit` pads to: as many as the longest key of the engine that stores are on by default.
const MAX_FIT: usize = 65_535;

impl<'a> Resolver<'a> {
    /// Applies encodings from left to right.
    pub(super) fn encoded(&mut self, shape: Shape, calls: &'a [ast::Call], span: Span) -> Option<Shape> {
        if let Some(call) = calls.get(MAX_ENCODINGS) {
            self.report(Diagnostic::new(
                Code::TooLarge,
                format!("a domain has at most {MAX_ENCODINGS} encodings"),
                call.name.span,
                "one too many",
            ));
            return None;
        }
        // `be` is how an integer is written unless told, and is still what the next encoding would change.
        if let (Shape::Int(int), [first, second, ..]) = (&shape, calls)
            && first.name.text == "be"
            && int_encoding(&second.name.text, None, int).is_some()
        {
            let message = format!("`{}` does not encode an integer that is already `be`", second.name.text);
            let help = format!("write one of them: `.be` or `.{}`", second.name.text);
            let label = "a second form of the integer";
            self.report(Diagnostic::new(Code::BadEncoding, message, second.span, label).with_help(help));
            return None;
        }
        calls.iter().try_fold(shape, |shape, call| self.encode_as(shape, call, span))
    }

    fn encode_as(&mut self, shape: Shape, call: &'a ast::Call, span: Span) -> Option<Shape> {
        let args = call.args.as_deref().unwrap_or_default();
        let name = call.name.text.as_str();
        if let Some(width) = len_width(name) {
            return self.framed(Frame::Len(width), shape, call, span);
        }
        match name {
            "terminated" => self.framed(Frame::Terminated, shape, call, span),
            "escaped" => self.framed(Frame::Escaped, shape, call, span),
            "memcmp" => self.framed(Frame::Memcmp, shape, call, span),
            // Of an integer it is another form than of what is text or bytes.
            "orderedcode" if !matches!(&shape, Shape::Int(_) if shape.is_plain()) => {
                self.framed(Frame::OrderedCode, shape, call, span)
            }
            "shown" => self.shown_as(shape, call, args),
            "desc" => self.without_args(call).map(|()| Shape::Desc(Box::new(shape))),
            "except" => self.excepted(shape, call, args),
            "hashed" | "hash_concat" => self.hashed(shape, call, args),
            name if name == "joined" || count_width(name).is_some() => self.framed_list(shape, call, args),
            _ if !ENCODINGS.contains(&name) => {
                self.unknown_encoding(&shape, call);
                None
            }
            _ => self.leaf(&shape, call, args),
        }
    }

    /// `.shown(bech32("osmo"))`: the form in which people write the argument. The shape stays what it is.
    fn shown_as(&mut self, shape: Shape, call: &ast::Call, args: &[ast::CallArg]) -> Option<Shape> {
        let form = match args {
            [ast::CallArg::Domain(ast::Domain { atom: ast::Atom::Named(form), encodings, .. })]
                if encodings.is_empty() =>
            {
                Some((form.name.text.as_str(), form.args.as_deref()))
            }
            _ => None,
        };
        let inner = shape.values();
        let shown = match (form, inner) {
            (Some(("bech32", Some([ast::CallArg::Text(hrp)]))), Shape::Bytes { .. })
                if bech32_holds(&hrp.value) =>
            {
                Some(Shown::Bech32(hrp.value.clone()))
            }
            (Some(("reversed", None)), Shape::Bytes { .. }) => Some(Shown::Reversed),
            (Some(("eip55", None)), Shape::Bytes { lengths, .. }) if lengths.admits(20) => Some(Shown::Eip55),
            (Some((unit, None)), Shape::Int(_)) => match unit {
                "seconds" => Some(1_000_000_000),
                "millis" => Some(1_000_000),
                "micros" => Some(1000),
                "nanos" => Some(1),
                _ => None,
            }
            .map(|unit| Shown::Time { unit }),
            _ => None,
        };
        if shown.is_none() {
            self.report(
                Diagnostic::new(
                    Code::BadEncoding,
                    format!("there is no such form of {}", shape.kind()),
                    call.span,
                    "shown like this",
                )
                .with_help(match inner {
                    Shape::Bytes { .. } => "write `.shown(bech32(\"osmo\"))`, `.shown(eip55)` or `.shown(reversed)`",
                    Shape::Int(_) => {
                        "write `.shown(seconds)`, `.shown(millis)`, `.shown(micros)` or `.shown(nanos)`"
                    }
                    _ => "bytes have the forms `bech32(\"osmo\")`, `eip55` and `reversed`, integers those of times",
                }),
            );
            return None;
        }
        self.shown = shown;
        Some(shape)
    }

    /// An encoding of a single value, which replaces the default one.
    fn leaf(&mut self, shape: &Shape, call: &ast::Call, args: &[ast::CallArg]) -> Option<Shape> {
        let name = call.name.text.as_str();
        let number = match args {
            [ast::CallArg::Int(int)] if !int.negative => usize::try_from(int.magnitude).ok(),
            _ => None,
        };
        let text = match args {
            [ast::CallArg::Text(text)] => Some(text.value.clone()),
            _ => None,
        };
        let encoded = if shape.is_plain() {
            match shape.clone() {
                Shape::Int(int) => {
                    int_encoding(name, number, &int).map(|encoding| Shape::Int(IntShape { encoding, ..int }))
                }
                Shape::Bool(_) if name == "tuple" => Some(Shape::Bool(BoolEncoding::Tuple)),
                Shape::Float(_) => float_encoding(name, number).map(Shape::Float),
                Shape::Time(_) => time_encoding(name).map(Shape::Time),
                Shape::Score(_) => score_encoding(name).map(Shape::Score),
                Shape::Bytes { lengths, encoding: BytesEncoding::Wide { signed, .. } } => {
                    let form = match name {
                        "be" | "raw" => Some(WideForm::Be),
                        "le" => Some(WideForm::Le),
                        "signflip" if signed => Some(WideForm::SignFlip),
                        _ => None,
                    };
                    let encoding = |form| BytesEncoding::Wide { signed, form };
                    form.map(|form| Shape::Bytes { lengths, encoding: encoding(form) })
                }
                Shape::Bytes { lengths, .. } => bytes_encoding(name, number, text.as_deref())
                    .map(|encoding| Shape::Bytes { lengths, encoding }),
                Shape::Text(text) if name == "tuple" => Some(Shape::Text(TextShape { tuple: true, ..text })),
                Shape::Text(text) if name == "raw" => Some(Shape::Text(text)),
                Shape::Nibbles { lengths, .. } => {
                    nibble_encoding(name).map(|encoding| Shape::Nibbles { lengths, encoding })
                }
                _ => None,
            }
        } else {
            None
        };
        let takes_args = matches!(name, "dec" | "hex" | "HEX" | "fixed" | "bech32" | "fit");
        let args_fit = call.args.is_none() || (takes_args && (number.is_some() || text.is_some()));
        let Some(encoded) = encoded.filter(|_| args_fit) else {
            self.misfit(shape, call);
            return None;
        };
        self.checked(encoded, call)
    }

    /// A text domain without some of its values.
    fn excepted(&mut self, shape: Shape, call: &ast::Call, args: &[ast::CallArg]) -> Option<Shape> {
        let Shape::Text(mut text) = shape else {
            self.misfit(&shape, call);
            return None;
        };
        let mut left_out: Vec<String> = text.except.texts().to_vec();
        for arg in args {
            let ast::CallArg::Text(value) = arg else { return self.bad(call, "`.except(\"tx.height\")`") };
            if text.tuple || !text.admits(&value.value) || value.value.len() > usize::from(u16::MAX) {
                self.report(
                    Diagnostic::new(
                        Code::BadDomain,
                        format!("{:?} is no value of the domain", value.value),
                        value.span,
                        "there is nothing to leave out",
                    )
                    .with_help("`except` comes directly after the text, and names values that it has"),
                );
                return None;
            }
            left_out.push(value.value.clone());
        }
        if left_out.is_empty() {
            return self.bad(call, "`.except(\"tx.height\")`");
        }
        text.except = Arc::new(Except::new(left_out));
        if text.count().is_some_and(|count| count <= text.except.texts().len() as u128) {
            self.report(Diagnostic::new(
                Code::EmptyRange,
                "every value of the domain is left out",
                call.span,
                "nothing is left",
            ));
            return None;
        }
        Some(Shape::Text(text))
    }

    /// Reports a name that is no encoding, with one that it may mean and writes no other bytes than it says.
    fn unknown_encoding(&mut self, shape: &Shape, call: &ast::Call) {
        let name = call.name.text.as_str();
        let little = |name: &str| name.ends_with("le");
        let known: Vec<&str> =
            ENCODINGS.iter().copied().filter(|known| little(known) == little(name)).collect();
        let mut diagnostic = unknown(&call.name, "encoding", &known);
        let here = match name {
            name if Hash::ALL.iter().any(|hash| hash.name() == name) => Some(format!("hashed({name})")),
            "keccak" => Some("hashed(keccak256)".to_owned()),
            name => foreign::encoding(name).map(str::to_owned),
        };
        if let Some(here) = here {
            diagnostic.notes.clear();
            diagnostic = diagnostic.with_help(format!("write `.{here}`"));
        }
        if diagnostic.notes.is_empty() {
            diagnostic = diagnostic.with_help(fitting(shape));
        }
        self.report(diagnostic);
    }

    fn misfit(&mut self, shape: &Shape, call: &ast::Call) {
        let what = match shape {
            // Some encodings of numbers end at 64 bits.
            Shape::Int(int) if int.ty.bits > 64 => "an integer of 128 bits",
            shape => shape.kind(),
        };
        let written = if shape.is_plain() { "" } else { " that is already encoded" };
        self.report(
            Diagnostic::new(
                Code::BadEncoding,
                format!("`{}` does not encode {what}{written}", call.name.text),
                call.span,
                format!("does not fit {what}"),
            )
            .with_help(fitting(shape)),
        );
    }

    /// Refuses widths that cannot hold the domain.
    fn checked(&mut self, shape: Shape, call: &ast::Call) -> Option<Shape> {
        if let Shape::Int(IntShape {
            encoding: IntEncoding::DecPadded(width) | IntEncoding::HexPadded(_, width),
            ..
        }) = &shape
            && *width > MAX_DIGITS
        {
            self.report(
                Diagnostic::new(
                    Code::BadEncoding,
                    format!("a number is padded to at most {MAX_DIGITS} digits"),
                    call.span,
                    "too wide",
                )
                .with_help("40 digits hold every number of 128 bits"),
            );
            return None;
        }
        let too_narrow = match &shape {
            Shape::Int(IntShape { range, encoding, .. }) => {
                let (base, width) = match encoding {
                    IntEncoding::DecPadded(width) => (10u128, *width),
                    IntEncoding::HexPadded(_, width) => (16, *width),
                    _ => return Some(shape),
                };
                let mut limit = 1u128;
                for _ in 0..width.min(MAX_DIGITS) {
                    limit = limit.saturating_mul(base);
                }
                width == 0 || (limit != u128::MAX && !range.below(limit))
            }
            Shape::Bytes { lengths, encoding: BytesEncoding::Bech32(hrp) } => {
                !bech32_holds(hrp) || lengths.max().is_none_or(|max| max > 512)
            }
            Shape::Bytes { lengths, encoding: BytesEncoding::Base58 { .. } } => {
                lengths.max().is_none_or(|max| max > Base58::MOST)
            }
            Shape::Bytes { encoding: BytesEncoding::Fit(width), .. } if *width > MAX_FIT => {
                self.report(
                    Diagnostic::new(
                        Code::BadEncoding,
                        format!("`fit` writes at most {MAX_FIT} bytes"),
                        call.span,
                        "too wide",
                    )
                    .with_help("give it the width that the keys really have"),
                );
                return None;
            }
            Shape::Bytes { encoding: BytesEncoding::Fit(width), .. } => *width == 0,
            Shape::Float(FloatEncoding::Fixed(decimals)) => *decimals > 18,
            _ => false,
        };
        if too_narrow {
            self.report(
                Diagnostic::new(
                    Code::BadEncoding,
                    format!("`{}` cannot hold every value of its domain", call.name.text),
                    call.span,
                    "too narrow, or malformed",
                )
                .with_help("narrow the domain (`u64(0..=999)`, `bytes(1..=64)`) or widen the encoding"),
            );
            return None;
        }
        Some(shape)
    }

    fn without_args(&mut self, call: &ast::Call) -> Option<()> {
        if call.args.is_some() {
            return self.bad(call, &format!("`.{}` alone", call.name.text));
        }
        Some(())
    }

    fn framed(&mut self, frame: Frame, inner: Shape, call: &ast::Call, span: Span) -> Option<Shape> {
        self.without_args(call)?;
        if let Frame::Len(width) = frame
            && Width::of_shape(&inner).min > width.limit()
        {
            self.report(
                Diagnostic::new(
                    Code::EmptyLanguage,
                    format!("`{}` can hold none of these values", call.name.text),
                    span,
                    format!("every value is longer than {} bytes", width.limit()),
                )
                .with_help("use a wider length prefix"),
            );
            return None;
        }
        Some(Shape::Framed { frame, inner: Box::new(inner) })
    }

    fn framed_list(&mut self, shape: Shape, call: &ast::Call, args: &[ast::CallArg]) -> Option<Shape> {
        let Shape::List { item, counts, framing: Framing::ToEnd } = shape else {
            self.misfit(&shape, call);
            return None;
        };
        let framing = match (call.name.text.as_str(), args) {
            ("joined", [ast::CallArg::Text(text)]) if !text.value.is_empty() => {
                Framing::Joined(text.value.clone().into_bytes())
            }
            ("joined", _) => return self.bad(call, "`.joined(\"/\")`"),
            (name, []) if call.args.is_none() => Framing::Counted(count_width(name)?),
            (name, _) => return self.bad(call, &format!("`.{name}` alone")),
        };
        if let Framing::Counted(width) = framing
            && counts.min() > width.limit()
        {
            self.report(Diagnostic::new(
                Code::EmptyLanguage,
                format!("`{}` can count none of these lists", call.name.text),
                call.span,
                format!("every list has more than {} elements", width.limit()),
            ));
            return None;
        }
        Some(Shape::List { item, counts, framing })
    }

    fn hashed(&mut self, inner: Shape, call: &'a ast::Call, args: &'a [ast::CallArg]) -> Option<Shape> {
        let name = call.name.text.as_str();
        let (function, keep) = match args {
            [ast::CallArg::Domain(domain)] => (domain, None),
            [ast::CallArg::Domain(domain), ast::CallArg::Int(keep)] => (domain, Some(keep)),
            _ => return self.bad(call, &format!("`.{name}(xxh3_64)` or `.{name}(sha256, 20)`")),
        };
        let ast::Atom::Named(ast::Call { name: function, args: None, .. }) = &function.atom else {
            return self.bad(call, &format!("`.{name}(xxh3_64)`"));
        };
        let (hash, keep) = self.hash_function(function, keep)?;
        if name == "hash_concat" {
            return Some(Shape::HashConcat { hash, keep, inner: Box::new(inner) });
        }
        let digest =
            |name: &Name| Some((hash.digest(name.text.as_bytes()).get(..keep)?.to_vec(), name.clone()));
        let mut known: Vec<(Vec<u8>, Name)> = match &inner {
            Shape::Text(TextShape { names: Some(set), tuple: false, .. }) => {
                set.names.iter().filter_map(digest).collect()
            }
            _ => Vec::new(),
        };
        known.sort_by(|a, b| a.0.cmp(&b.0));
        Some(Shape::Hashed { hash, keep, inner: Box::new(inner), known: Arc::new(known) })
    }
}

/// Which encodings a domain may have, as help.
fn fitting(shape: &Shape) -> String {
    if matches!(shape, Shape::List { framing: Framing::ToEnd, .. }) {
        return "a list may have: joined(\"/\"), count8 to count64, count16le to count64le, varcount, compactcount, \
                scalecount"
            .to_owned();
    }
    let own = own_encodings(shape).join(", ");
    let any = "len8 to len64, varlen, compactlen, scalelen, terminated, escaped, orderedcode, memcmp, desc, hashed(…), \
               hash_concat(…)";
    match own.as_str() {
        "" => format!("{} may have: {any}", shape.kind()),
        own => format!("{} may have: {own}; anything: {any}", shape.kind()),
    }
}

/// The encodings that replace the default of a plain domain.
fn own_encodings(shape: &Shape) -> Vec<&'static str> {
    if !shape.is_plain() {
        return Vec::new();
    }
    let fits = |name: &&'static str| match shape {
        Shape::Int(int) => int_encoding(name, None, int).is_some(),
        Shape::Float(_) => float_encoding(name, None).is_some() || *name == "fixed",
        Shape::Time(_) => time_encoding(name).is_some(),
        Shape::Score(_) => score_encoding(name).is_some(),
        Shape::Bytes { .. } => {
            bytes_encoding(name, None, None).is_some() || matches!(*name, "fit" | "bech32")
        }
        Shape::Nibbles { .. } => nibble_encoding(name).is_some(),
        Shape::Text(_) => matches!(*name, "raw" | "tuple"),
        Shape::Bool(_) => *name == "tuple",
        _ => false,
    };
    ENCODINGS.iter().copied().filter(fits).collect()
}

fn len_width(name: &str) -> Option<LenWidth> {
    Some(match name {
        "len8" => LenWidth::L8,
        "len16" => LenWidth::L16,
        "len32" => LenWidth::L32,
        "len64" => LenWidth::L64,
        "len16le" => LenWidth::L16Le,
        "len32le" => LenWidth::L32Le,
        "len64le" => LenWidth::L64Le,
        "varlen" => LenWidth::Varint,
        "compactlen" => LenWidth::Compact,
        "scalelen" => LenWidth::Scale,
        _ => return None,
    })
}

fn count_width(name: &str) -> Option<LenWidth> {
    Some(match name {
        "count8" => LenWidth::L8,
        "count16" => LenWidth::L16,
        "count32" => LenWidth::L32,
        "count64" => LenWidth::L64,
        "count16le" => LenWidth::L16Le,
        "count32le" => LenWidth::L32Le,
        "count64le" => LenWidth::L64Le,
        "varcount" => LenWidth::Varint,
        "compactcount" => LenWidth::Compact,
        "scalecount" => LenWidth::Scale,
        _ => return None,
    })
}

fn int_encoding(name: &str, number: Option<usize>, int: &IntShape) -> Option<IntEncoding> {
    let signed = int.ty.signed;
    Some(match (name, number) {
        ("be" | "raw", None) => IntEncoding::Be,
        ("le", None) => IntEncoding::Le,
        ("signflip", None) if signed => IntEncoding::SignFlip,
        ("saturating", None) if signed => IntEncoding::Saturating,
        ("tick9", None) if signed && int.ty.bits == 64 => IntEncoding::Tick9,
        ("dec", None) => IntEncoding::Dec,
        ("tuple", None) => IntEncoding::Tuple,
        ("orderedcode", None) if int.ty.bits <= 64 => IntEncoding::OrderedCode,
        _ if signed => return None,
        ("dec", Some(width)) => IntEncoding::DecPadded(width),
        ("hex", None) => IntEncoding::Hex(Case::Lower),
        ("HEX", None) => IntEncoding::Hex(Case::Upper),
        ("hex", Some(width)) => IntEncoding::HexPadded(Case::Lower, width),
        ("HEX", Some(width)) => IntEncoding::HexPadded(Case::Upper, width),
        ("leb128", None) => IntEncoding::Leb128,
        ("ordvar", None) if int.ty.bits <= 64 => IntEncoding::OrdVar,
        ("bitcoin_varint", None) => IntEncoding::BitcoinVarint,
        ("compact_size", None) if int.ty.bits == 64 => IntEncoding::CompactSize,
        ("scale_compact", None) => IntEncoding::ScaleCompact,
        _ => return None,
    })
}

fn float_encoding(name: &str, number: Option<usize>) -> Option<FloatEncoding> {
    Some(match (name, number) {
        ("bits", None) => FloatEncoding::Bits,
        ("ordered", None) => FloatEncoding::Ordered,
        ("badger", None) => FloatEncoding::Badger,
        ("tuple", None) => FloatEncoding::Tuple,
        ("fixed", Some(decimals)) => FloatEncoding::Fixed(u8::try_from(decimals).ok()?),
        _ => return None,
    })
}

fn time_encoding(name: &str) -> Option<TimeEncoding> {
    match name {
        "text9" => Some(TimeEncoding::Text9),
        "nanos" => Some(TimeEncoding::Nanos),
        _ => None,
    }
}

fn score_encoding(name: &str) -> Option<ScoreEncoding> {
    match name {
        "exact" => Some(ScoreEncoding::Exact),
        "height_score" => Some(ScoreEncoding::HeightScore),
        _ => None,
    }
}

fn bytes_encoding(name: &str, number: Option<usize>, text: Option<&str>) -> Option<BytesEncoding> {
    Some(match (name, number, text) {
        ("raw", None, None) => BytesEncoding::Raw,
        ("hex", None, None) => BytesEncoding::Hex(Case::Lower),
        ("HEX", None, None) => BytesEncoding::Hex(Case::Upper),
        ("tuple", None, None) => BytesEncoding::Tuple,
        ("fit", Some(width), None) => BytesEncoding::Fit(width),
        ("bech32", None, Some(hrp)) => BytesEncoding::Bech32(hrp.to_owned()),
        ("base58", None, None) => BytesEncoding::Base58 { check: false },
        ("base58check", None, None) => BytesEncoding::Base58 { check: true },
        _ => return None,
    })
}

fn nibble_encoding(name: &str) -> Option<NibbleEncoding> {
    match name {
        "packed" => Some(NibbleEncoding::Packed),
        "hex_prefix" => Some(NibbleEncoding::HexPrefix),
        "counted" => Some(NibbleEncoding::Counted),
        _ => None,
    }
}

/// Whether bech32 allows `hrp`: 1 to 83 printable characters, none of them upper case.
fn bech32_holds(hrp: &str) -> bool {
    (1..=83).contains(&hrp.len())
        && hrp.bytes().all(|byte| (33..=126).contains(&byte) && !byte.is_ascii_uppercase())
}

impl Shape {
    /// Whether no encoding has been chosen yet.
    fn is_plain(&self) -> bool {
        match self {
            Self::Int(int) => int.encoding == IntEncoding::Be,
            Self::Bool(encoding) => *encoding == BoolEncoding::Byte,
            Self::Float(encoding) => *encoding == FloatEncoding::Bits,
            Self::Time(encoding) => *encoding == TimeEncoding::Text9,
            Self::Score(encoding) => *encoding == ScoreEncoding::Exact,
            Self::Bytes { encoding, .. } => {
                matches!(encoding, BytesEncoding::Raw | BytesEncoding::Wide { form: WideForm::Be, .. })
            }
            Self::Text(text) => !text.tuple,
            Self::Nibbles { encoding, .. } => *encoding == NibbleEncoding::Unpacked,
            _ => false,
        }
    }

    /// The same values without their encodings, for another copy of an argument.
    pub(super) fn without_encoding(&self) -> Self {
        match self {
            Self::Int(int) => Self::Int(IntShape { encoding: IntEncoding::Be, ..int.clone() }),
            Self::Bool(_) => Self::Bool(BoolEncoding::Byte),
            Self::Float(_) => Self::Float(FloatEncoding::Bits),
            Self::Time(_) => Self::Time(TimeEncoding::Text9),
            Self::Score(_) => Self::Score(ScoreEncoding::Exact),
            Self::Bytes { encoding: BytesEncoding::Class(_), .. } => self.clone(),
            Self::Bytes { lengths, encoding: BytesEncoding::Wide { signed, .. } } => {
                let encoding = BytesEncoding::Wide { signed: *signed, form: WideForm::Be };
                Self::Bytes { lengths: lengths.clone(), encoding }
            }
            Self::Bytes { lengths, .. } => {
                Self::Bytes { lengths: lengths.clone(), encoding: BytesEncoding::Raw }
            }
            Self::Text(text) => Self::Text(TextShape { tuple: false, ..text.clone() }),
            Self::Nibbles { lengths, .. } => {
                Self::Nibbles { lengths: lengths.clone(), encoding: NibbleEncoding::Unpacked }
            }
            Self::Framed { inner, .. }
            | Self::Desc(inner)
            | Self::Hashed { inner, .. }
            | Self::HashConcat { inner, .. } => inner.without_encoding(),
            other => other.clone(),
        }
    }

    /// What kind of value it is, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Int(IntShape { ty, .. }) if ty.signed => "a signed integer",
            Self::Int(_) => "an unsigned integer",
            Self::Bool(_) => "a truth value",
            Self::Float(_) => "a float",
            Self::Time(_) => "a time",
            Self::Score(_) => "a score",
            Self::Bytes { encoding: BytesEncoding::Wide { .. }, .. } => "an integer of 256 bits",
            Self::Bytes { .. } => "bytes",
            Self::Text(_) => "text",
            Self::Nibbles { .. } => "nibbles",
            Self::Opaque(_) => "an opaque value",
            Self::Record(_) => "a record",
            Self::Choice(_) => "a choice",
            Self::Option(_) => "an option",
            Self::List { .. } => "a list",
            Self::Framed { .. } | Self::Desc(_) | Self::Hashed { .. } | Self::HashConcat { .. } => {
                "a framed value"
            }
        }
    }
}

impl TextShape {
    /// The codec of the text itself.
    pub fn codec(&self) -> TextCodec<'_> {
        TextCodec {
            alphabet: &self.alphabet,
            first: self.first.as_ref(),
            lengths: self.lengths.lengths(),
            except: self.except.packed(),
        }
    }

    /// How many texts the alphabets and lengths allow, if that is a small number.
    fn count(&self) -> Option<u128> {
        const MOST: u128 = 1 << 40;
        let size = |alphabet: &keyplan_codec::Alphabet| {
            (0..=u8::MAX).filter(|byte| alphabet.contains(*byte)).count() as u128
        };
        let (first, all) = (size(self.first.as_ref().unwrap_or(&self.alphabet)), size(&self.alphabet));
        let mut sum = 0u128;
        for length in 0..=self.lengths.max()?.min(64) {
            if self.lengths.admits(length) {
                let rest = all.saturating_pow(u32::try_from(length).ok()?.saturating_sub(1));
                sum = sum.saturating_add(if length == 0 { 1 } else { first.saturating_mul(rest) });
            }
        }
        (sum < MOST && self.lengths.max()? <= 64).then_some(sum)
    }

    /// Whether `value` is of the domain.
    pub fn admits(&self, value: &str) -> bool {
        self.codec().decode(value.as_bytes()).is_ok()
    }
}

impl super::IntRange {
    /// Whether every value is below `limit` and none is negative.
    fn below(self, limit: u128) -> bool {
        match self {
            Self::Unsigned { max, .. } => max < limit,
            Self::Signed { min, max } => min >= 0 && max.unsigned_abs() < limit,
        }
    }
}
