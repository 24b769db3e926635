//! Encodings: what may come after a domain, and what it makes of the shape before it.

use std::sync::Arc;

use keyplan_codec::{Base58, Hash, Segment as _, Text as TextCodec, WideForm};

use super::resolve::{Resolver, unknown};
use super::table::{self, Given, encodings, read};
use super::{
    BoolEncoding, BytesEncoding, Except, FloatEncoding, Frame, Framing, IntEncoding, IntRange, IntShape,
    Name, NibbleEncoding, ScoreEncoding, Shape, Shown, TextShape, TimeEncoding, Width,
};
use crate::diag::{Code, Diagnostic, Span};
use crate::order::sort_by;
use crate::syntax::{ast, foreign};

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
        // `be` is how an integer is written by default, and is still what the next encoding would change.
        if let (Shape::Int(_), [first, second, ..]) = (&shape, calls)
            && first.name.text == table::BE
            && read(IntEncoding::TABLE, plain_word(&second.name.text, &shape), &Given::Nothing, &shape)
                .is_some()
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
        let is = |row: table::Encoding| row.word == name;
        // Of an integer `orderedcode` is another form than of what is text or bytes.
        let plain = if shape.is_plain() { &shape } else { &Shape::Bool(BoolEncoding::Byte) };
        if let Some(frame) = read(Frame::TABLE, name, &Given::Nothing, plain) {
            return self.framed(frame, shape, call, span);
        }
        if is(table::SHOWN) {
            self.shown_as(shape, call, args)
        } else if is(table::DESC) {
            self.without_args(call).map(|()| Shape::Desc(Box::new(shape)))
        } else if is(table::EXCEPT) {
            self.excepted(shape, call, args)
        } else if is(table::HASHED) || is(table::HASH_CONCAT) {
            self.hashed(shape, call, args)
        } else if Framing::TABLE.iter().any(|maker| is(maker.row)) {
            self.framed_list(shape, call, args)
        } else if encodings().contains(&name) {
            self.leaf(&shape, call, args)
        } else {
            self.unknown_encoding(&shape, call);
            None
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
        let given = match args {
            [] if call.args.is_none() => Given::Nothing,
            [ast::CallArg::Int(int)] if !int.negative => {
                usize::try_from(int.magnitude).map_or(Given::Other, Given::Number)
            }
            [ast::CallArg::Text(text)] => Given::Text(text.value.clone()),
            _ => Given::Other,
        };
        let encoded =
            shape.is_plain().then(|| plain_encoded(shape, plain_word(name, shape), &given)).flatten();
        let Some(encoded) = encoded else {
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
                        format!("{:?} is not a value of the domain", value.value),
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

    /// Reports a name that is not an encoding, with one that it may mean and writes no other bytes than it says.
    fn unknown_encoding(&mut self, shape: &Shape, call: &ast::Call) {
        let name = call.name.text.as_str();
        let little = |name: &str| name.ends_with("le");
        let known: Vec<&str> =
            encodings().iter().copied().filter(|known| little(known) == little(name)).collect();
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
        if let Shape::Int(IntShape {
            encoding: IntEncoding::Saturating,
            range: IntRange::Signed { max: ..0, .. },
            ..
        }) = &shape
        {
            self.report(
                Diagnostic::new(
                    Code::BadEncoding,
                    "`saturating` writes every number of this domain as 0",
                    call.span,
                    "no number of it can be read back",
                )
                .with_help("let the domain reach 0, or write the zeros as a literal"),
            );
            return None;
        }
        let too_narrow = match &shape {
            Shape::Int(IntShape {
                ty, encoding: IntEncoding::Low(width) | IntEncoding::High(width), ..
            }) => !(1..=ty.bytes()).contains(width),
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
            return self.bad(call, &format!("only `.{}`", call.name.text));
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
        let name = call.name.text.as_str();
        let counted = Framing::TABLE.iter().find(|maker| maker.row.word == name);
        let framing = match (counted.and_then(|maker| (maker.make)(&Given::Nothing)), args) {
            (Some(framing), _) if call.args.is_none() => framing,
            (Some(_), _) => return self.bad(call, &format!("only `.{name}`")),
            (None, [ast::CallArg::Text(text)]) if !text.value.is_empty() => {
                Framing::Joined(text.value.clone().into_bytes())
            }
            (None, _) => return self.bad(call, "`.joined(\"/\")`"),
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
        if name == table::HASH_CONCAT.word {
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
        sort_by(&mut known, |a, b| a.0.cmp(&b.0));
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
    let mut own: Vec<&'static str> = Vec::new();
    let rows = table::table().filter(|row| row.domain.admits(shape) && !row.word.is_empty());
    for row in rows.filter(|row| row.domain.is_leaf() && row.word != table::EXCEPT.word) {
        if !own.contains(&row.word) {
            own.push(row.word);
        }
    }
    own.extend(is_number(shape).then_some(table::TEXT.word));
    own
}

/// Whether a shape is an integer, of whatever width.
fn is_number(shape: &Shape) -> bool {
    matches!(shape, Shape::Int(_) | Shape::Bytes { encoding: BytesEncoding::Wide { .. }, .. })
}

/// The word of the table for one that a plan has: an integer as it is, `raw`, is big-endian.
fn plain_word<'w>(word: &'w str, shape: &Shape) -> &'w str {
    if word == table::TEXT.word && is_number(shape) { table::BE } else { word }
}

/// A plain shape with an encoding of its domain.
fn plain_encoded(shape: &Shape, word: &str, given: &Given) -> Option<Shape> {
    Some(match shape {
        Shape::Int(int) => {
            let encoding = read(IntEncoding::TABLE, word, given, shape)?;
            Shape::Int(IntShape { encoding, ..int.clone() })
        }
        Shape::Bool(_) => Shape::Bool(read(BoolEncoding::TABLE, word, given, shape)?),
        Shape::Float(_) => Shape::Float(read(FloatEncoding::TABLE, word, given, shape)?),
        Shape::Time(_) => Shape::Time(read(TimeEncoding::TABLE, word, given, shape)?),
        Shape::Score { heights, .. } => {
            Shape::Score { heights: *heights, encoding: read(ScoreEncoding::TABLE, word, given, shape)? }
        }
        Shape::Bytes { lengths, .. } => {
            let encoding = read(BytesEncoding::TABLE, word, given, shape)?;
            Shape::Bytes { lengths: lengths.clone(), encoding }
        }
        Shape::Nibbles { lengths, .. } => {
            let encoding = read(NibbleEncoding::TABLE, word, given, shape)?;
            Shape::Nibbles { lengths: lengths.clone(), encoding }
        }
        Shape::Text(text) if *given == Given::Nothing && word == table::TEXT_TUPLE.word => {
            Shape::Text(TextShape { tuple: true, ..text.clone() })
        }
        Shape::Text(text) if *given == Given::Nothing && word == table::TEXT.word => {
            Shape::Text(text.clone())
        }
        _ => return None,
    })
}

/// Whether bech32 allows `hrp`: 1 to 83 printable characters, none of them upper case.
fn bech32_holds(hrp: &str) -> bool {
    (1..=83).contains(&hrp.len())
        && hrp.bytes().all(|byte| (33..=126).contains(&byte) && !byte.is_ascii_uppercase())
}

impl Shape {
    /// Whether no encoding has been chosen yet.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Self::Int(int) => int.encoding == IntEncoding::Be,
            Self::Bool(encoding) => *encoding == BoolEncoding::Byte,
            Self::Float(encoding) => *encoding == FloatEncoding::Bits,
            Self::Time(encoding) => *encoding == TimeEncoding::Text9,
            Self::Score { encoding, .. } => *encoding == ScoreEncoding::Exact,
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
            Self::Score { heights, .. } => Self::Score { heights: *heights, encoding: ScoreEncoding::Exact },
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
            Self::Score { .. } => "a score",
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
