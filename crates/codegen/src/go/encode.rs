//! The statements that append arguments to `dst`.

use std::fmt::Write as _;

use keyplan_codec::{Case, Heights, LenWidth, WideForm};
use keyplan_plan::model::{
    BytesEncoding, Derivation, Derived, Frame, Framing, IntEncoding, IntRange, IntShape, IntType, LengthSet,
    Segment, Shape, TextShape,
};

use super::Go;
use super::names::quoted;
use super::tree::{Constant, Inside, List, Row, Tree, copy};
use crate::regular::{self, Scalar};
use crate::runtime::{Closing, Outcome, Runtime as _};

/// A function body being written.
pub(crate) struct Body {
    pub(crate) code: String,
    /// What errors name as the family.
    path: String,
    /// What is returned beside an error.
    failed: String,
    depth: usize,
    variables: usize,
}

/// What a variable of a body is for. It is called by its word and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    At,
    Sum,
    One,
    Next,
    Fits,
    Index,
    Item,
    Negative,
    High,
    Low,
}

impl Variable {
    const ALL: [Self; 10] = [
        Self::At,
        Self::Sum,
        Self::One,
        Self::Next,
        Self::Fits,
        Self::Index,
        Self::Item,
        Self::Negative,
        Self::High,
        Self::Low,
    ];

    const fn word(self) -> &'static str {
        match self {
            Self::At => "at",
            Self::Sum => "sum",
            Self::One => "one",
            Self::Next => "next",
            Self::Fits => "fits",
            Self::Index => "i",
            Self::Item => "item",
            Self::Negative => "neg",
            Self::High => "hi",
            Self::Low => "lo",
        }
    }
}

/// Whether a body may have a variable of this name, or the package a table.
pub(crate) fn is_numbered(name: &str) -> bool {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let tables = ["alphabet", "known"].into_iter();
    word != name && tables.chain(Variable::ALL.map(Variable::word)).any(|one| one == word)
}

impl Body {
    pub(crate) fn new(path: &str, failed: &str) -> Self {
        Self { code: String::new(), path: path.to_owned(), failed: failed.to_owned(), depth: 1, variables: 0 }
    }

    pub(crate) fn line(&mut self, text: &str) {
        let closes = text.starts_with('}') || text.starts_with("case ") || text.starts_with("default:");
        let depth = self.depth.saturating_sub(usize::from(closes));
        for _ in 0..depth {
            self.code.push('\t');
        }
        self.code.push_str(text);
        self.code.push('\n');
        if text.starts_with('}') {
            self.depth = depth;
        }
        if text.ends_with('{') {
            self.depth += 1;
        }
    }

    fn variable(&mut self, of: Variable) -> String {
        self.variables += 1;
        format!("{}{}", of.word(), self.variables)
    }

    /// Returns an error if there is a fault.
    fn refuse(&mut self, segment: &str) {
        let line = format!(
            "return {}, refused({}, {}, f)",
            self.failed,
            quoted(self.path.as_bytes()),
            quoted(segment.as_bytes())
        );
        self.line(&line);
    }

    fn fallible(&mut self, call: &str, segment: &str) {
        self.line(&format!("if dst, f = {call}; f.code != 0 {{"));
        self.refuse(segment);
        self.line("}");
    }

    fn check(&mut self, fault: &str, segment: &str) {
        self.line(&format!("if f = {fault}; f.code != 0 {{"));
        self.refuse(segment);
        self.line("}");
    }

    /// The statements, after the declarations that they need.
    pub(crate) fn finish(self) -> String {
        let mut out = String::new();
        if self.code.contains("dst[:start]") {
            out.push_str("\tstart := len(dst)\n");
        }
        if self.code.contains("f = ") {
            out.push_str("\tvar f fault\n");
        }
        out + &self.code
    }
}

impl<'p> Go<'p> {
    /// Appends the first `count` segments of a row whose arguments are given by `of`.
    pub(crate) fn put_row(
        &mut self,
        body: &mut Body,
        row: &Row<'p>,
        count: usize,
        of: &[String],
        label: &str,
    ) {
        let within = |name: &str| if label.is_empty() { name.to_owned() } else { format!("{label}.{name}") };
        let mut arguments = row.fields.iter().zip(of);
        for segment in row.sequence.segments().iter().take(count) {
            match segment {
                Segment::Literal(literal) => body.line(&literal_bytes(&literal.bytes)),
                Segment::Argument(argument) => {
                    let Some(((_, tree), of)) = arguments.next() else { continue };
                    let label = argument.name.as_deref().map_or_else(|| label.to_owned(), within);
                    self.put(body, tree, of, &label);
                }
                Segment::Same(same) => {
                    let index = row.sequence.arguments_before(same.of);
                    let Some(((_, tree), of)) = row.fields.get(index).zip(of.get(index)) else { continue };
                    match copy(tree, &same.shape) {
                        Some(copy) => self.put(body, &copy, of, &within(&same.name)),
                        None => self
                            .unsupported(same.span, "a copy of an argument that only its digest is known of"),
                    }
                }
                Segment::Derived(derived) => self.put_derived(body, row, derived, of, label),
            }
        }
    }

    fn put_derived(&mut self, body: &mut Body, row: &Row<'p>, derived: &Derived, of: &[String], label: &str) {
        let at = body.variable(Variable::At);
        body.line(&format!("{at} := len(dst)"));
        let within = |name: &str| if label.is_empty() { name.to_owned() } else { format!("{label}.{name}") };
        let given: Vec<_> = row.sequence.arguments().zip(row.fields.iter().zip(of)).collect();
        for &from in &derived.of {
            if let Some((argument, ((_, tree), of))) = given.get(row.sequence.arguments_before(from)) {
                let label = argument.name.as_deref().map_or_else(|| label.to_owned(), within);
                self.put(body, tree, of, &label);
            }
        }
        let sum = body.variable(Variable::Sum);
        body.line(&format!("{sum} := {}(dst[{at}:])", derive_function(derived.function)));
        if let Some(modulus) = derived.modulus.and_then(|modulus| u64::try_from(modulus).ok()) {
            body.line(&format!("{sum} %= {modulus}"));
        }
        body.line(&format!("dst = dst[:{at}]"));
        let number = match derived.shape.ty.native_bits() {
            64 => sum,
            128 => format!("(Uint128{{Lo: {sum}}})"),
            bits => format!("uint{bits}({sum})"),
        };
        put_int(body, &derived.shape, &number, &within(&derived.name));
    }

    /// The statements for one argument.
    pub(crate) fn put(&mut self, body: &mut Body, tree: &Tree<'p>, of: &str, label: &str) {
        match &tree.inside {
            Inside::Leaf => self.put_leaf(body, tree.shape, &tree.go, of, label),
            Inside::Record(row) => {
                let fields: Vec<String> = row.fields.iter().map(|(name, _)| format!("{of}.{name}")).collect();
                self.put_row(body, row, row.sequence.segments().len(), &fields, label);
            }
            Inside::Enum(constants) => {
                body.line(&format!("switch {} {{", bare(of)));
                for Constant { go, of } in constants {
                    body.line(&format!("case {go}:"));
                    body.line(&literal_bytes(&of.sequence.constant().unwrap_or_default()));
                }
                no_alternative(body, label);
                body.line("}");
            }
            Inside::Choice(variants) => {
                let one = body.variable(Variable::One);
                let used = variants.iter().any(|variant| !variant.row.fields.is_empty());
                body.line(&if used {
                    format!("switch {one} := {of}.(type) {{")
                } else {
                    format!("switch {of}.(type) {{")
                });
                for variant in variants {
                    body.line(&format!("case {}:", variant.go));
                    if used && variant.row.fields.is_empty() {
                        body.line(&format!("_ = {one}"));
                    }
                    let fields: Vec<String> =
                        variant.row.fields.iter().map(|(name, _)| format!("{one}.{name}")).collect();
                    let count = variant.row.sequence.segments().len();
                    self.put_row(
                        body,
                        &variant.row,
                        count,
                        &fields,
                        &format!("{label}.{}", variant.of.label),
                    );
                }
                no_alternative(body, label);
                body.line("}");
            }
            Inside::Option(inner) => {
                body.line(&format!("if {of} != nil {{"));
                self.put(body, inner, &format!("(*{of})"), label);
                body.line("}");
            }
            Inside::List(list) => self.put_list(body, list, of, label),
            Inside::Wrapped(inner) => self.put_wrapped(body, tree.shape, inner, of, label),
            Inside::Hashed => body.line(&format!("dst = append(dst, {of}[:]...)")),
        }
    }

    fn put_list(&mut self, body: &mut Body, list: &List<'p>, of: &str, label: &str) {
        let List { item, counts, framing } = list;
        if **counts != LengthSet::ANY {
            body.line(&format!("if !({}).admits(len({of})) {{", lengths(counts)));
            body.line(&format!("f = fault{{code: xCount, a: len({of})}}"));
            body.refuse(label);
            body.line("}");
        }
        if let Framing::Counted(width) = framing {
            let (next, fits) = (body.variable(Variable::Next), body.variable(Variable::Fits));
            body.line(&format!("{next}, {fits} := appendCount(dst, len({of}), {})", len_width(*width)));
            body.line(&format!("if !{fits} {{"));
            body.line(&format!("f = fault{{code: xCount, a: len({of})}}"));
            body.refuse(label);
            body.line("}");
            body.line(&format!("dst = {next}"));
        }
        let (index, one) = (body.variable(Variable::Index), body.variable(Variable::Item));
        let joined = if let Framing::Joined(separator) = framing { Some(separator) } else { None };
        let first = if joined.is_some() { &index } else { "_" };
        body.line(&format!("for {first}, {one} := range {} {{", bare(of)));
        if let Some(separator) = joined {
            body.line(&format!("if {index} > 0 {{"));
            body.line(&literal_bytes(separator));
            body.line("}");
        }
        self.put(body, item, &one, label);
        body.line("}");
    }

    fn put_wrapped(&mut self, body: &mut Body, shape: &Shape, inner: &Tree<'p>, of: &str, label: &str) {
        let at = body.variable(Variable::At);
        body.line(&format!("{at} := len(dst)"));
        self.put(body, inner, of, label);
        let Closing { function, arguments, outcome } = Self::closing(shape);
        let call = format!("{function}(dst, {at}{arguments})");
        match outcome {
            Outcome::Stays => body.line(&call),
            Outcome::Moves => body.line(&format!("dst = {call}")),
            Outcome::MayRefuse => body.fallible(&call, label),
        }
    }

    fn put_leaf(&mut self, body: &mut Body, shape: &Shape, go: &str, of: &str, label: &str) {
        match shape {
            Shape::Int(int) => put_int(body, int, of, label),
            Shape::Bool(_) | Shape::Float(_) | Shape::Time(_) | Shape::Nibbles { .. } => {
                if let Shape::Nibbles { lengths: of_lengths, .. } = shape {
                    body.check(&format!("nibbleFault({of}, {})", lengths(of_lengths)), label);
                }
                if let Some(scalar) = Scalar::of(shape) {
                    let call = format!("append{}(dst, {of}{})", scalar.name, scalar.argument());
                    if scalar.is_total() {
                        body.line(&format!("dst = {call}"));
                    } else {
                        body.fallible(&call, label);
                    }
                }
            }
            Shape::Score { heights, encoding } => {
                let [name, _] = encoding.codecs();
                if encoding.is_float() {
                    if let Some((least, most)) = heights.map(Heights::floats) {
                        body.check(&format!("rangeFault({of} < {least:?} || {of} > {most:?})"), label);
                    }
                } else if let Some(Heights { least, most }) = heights {
                    let outside = format!(
                        "{of}.Unconfirmed || {of}.Height < {least} || {of}.Height > {most} || {of}.Index > 999999999"
                    );
                    body.check(&format!("rangeFault({outside})"), label);
                }
                body.fallible(&format!("append{name}(dst, {of})"), label);
            }
            Shape::Bytes { lengths, encoding } => self.put_bytes(body, lengths, encoding, go, of, label),
            Shape::Text(text) => self.put_text(body, text, of, label),
            Shape::Opaque(_) => body.line(&format!("dst = append(dst, {of}...)")),
            composite => debug_assert!(!composite.is_leaf(), "every single value is put"),
        }
    }

    fn put_text(&mut self, body: &mut Body, text: &TextShape, of: &str, label: &str) {
        let of = if text.names.is_some() { format!("string({of})") } else { of.to_owned() };
        let alphabet = if text.alphabet.bits() == [u64::MAX; 4] && text.first.is_none() {
            "nil".to_owned()
        } else {
            format!("&{}", self.alphabet(text.alphabet.bits()))
        };
        let first =
            text.first.map_or_else(|| "nil".to_owned(), |first| format!("&{}", self.alphabet(first.bits())));
        let bounds = match &text.lengths {
            LengthSet::Range { min, max } => format!("{}, {}", number(*min), limit(*max)),
            LengthSet::OneOf(lengths) => {
                let mut bounds = String::from("0, -1");
                for length in lengths {
                    let _ = write!(bounds, ", {}", number(*length));
                }
                bounds
            }
        };
        body.check(&format!("textFault({of}, {alphabet}, {first}, {bounds})"), label);
        if !text.except.is_empty() {
            body.check(&format!("exceptFault({of}, {})", left_out(text)), label);
        }
        body.line(&if text.tuple {
            format!("dst = appendTupleText(dst, {of})")
        } else {
            format!("dst = append(dst, {of}...)")
        });
    }

    fn put_bytes(
        &mut self,
        body: &mut Body,
        of_lengths: &LengthSet,
        encoding: &BytesEncoding,
        go: &str,
        of: &str,
        label: &str,
    ) {
        let fixed = go.starts_with('[') && !go.starts_with("[]");
        if !fixed && *of_lengths != LengthSet::ANY {
            body.check(&format!("({}).checkArg(len({of}))", lengths(of_lengths)), label);
        }
        let slice = if fixed { format!("{of}[:]") } else { of.to_owned() };
        match encoding {
            BytesEncoding::Raw => body.line(&format!("dst = append(dst, {slice}...)")),
            BytesEncoding::Class(class) => {
                body.check(&format!("classFault({slice}, &{})", self.alphabet(class.bits())), label);
                body.line(&format!("dst = append(dst, {slice}...)"));
            }
            BytesEncoding::Hex(case) => {
                body.line(&format!("dst = appendHex(dst, {slice}, {})", hex_form(*case)));
            }
            BytesEncoding::Base58 { check } => {
                body.fallible(&format!("appendBase58(dst, {slice}, {check})"), label);
            }
            BytesEncoding::Wide { form, .. } => body.line(&match form {
                WideForm::Be => format!("dst = append(dst, {slice}...)"),
                WideForm::Le => format!("dst = appendReversed(dst, {slice})"),
                WideForm::SignFlip => format!("dst = appendTurned(dst, {slice})"),
            }),
            BytesEncoding::Tuple => body.line(&format!("dst = appendTupleBytes(dst, {slice})")),
            encoding => {
                let argument = regular::bytes_argument(encoding, |text| quoted(text.as_bytes()));
                let call = format!("append{}(dst, {slice}{argument})", regular::name(encoding.row()));
                // What loses some of the bytes takes all of them.
                if encoding.row().loses {
                    body.line(&format!("dst = {call}"));
                } else {
                    body.fallible(&call, label);
                }
            }
        }
    }
}

/// What a statement is about, without the brackets around it that gofmt takes away.
fn bare(of: &str) -> &str {
    let inside = of.strip_prefix('(').and_then(|of| of.strip_suffix(')'));
    inside.filter(|inside| inside.starts_with('*')).unwrap_or(of)
}

/// The variables for the sign and the two words of a number.
fn magnitude(body: &mut Body) -> (String, String, String) {
    (body.variable(Variable::Negative), body.variable(Variable::High), body.variable(Variable::Low))
}

fn no_alternative(body: &mut Body, label: &str) {
    body.line("default:");
    body.line("f = fault{code: fNoAlternative}");
    body.refuse(label);
}

fn literal_bytes(bytes: &[u8]) -> String {
    match bytes {
        [] => "dst = append(dst, \"\"...)".to_owned(),
        [one] => format!("dst = append(dst, 0x{one:02x})"),
        bytes => format!("dst = append(dst, {}...)", quoted(bytes)),
    }
}

/// The values that a text may not have, as arguments of a call.
pub(crate) fn left_out(text: &TextShape) -> String {
    text.except.texts().iter().map(|one| quoted(one.as_bytes())).collect::<Vec<_>>().join(", ")
}

fn put_int(body: &mut Body, int: &IntShape, of: &str, label: &str) {
    let (bits, signed) = (int.ty.native_bits(), int.ty.signed);
    if int.range != native_range(int) {
        let bad = out_of_range(int, of);
        if !bad.is_empty() {
            body.check(&format!("rangeFault({bad})"), label);
        }
    }
    // The number as two words, and as one.
    let words = match (signed, bits) {
        (false, 128) => format!("{of}.Hi, {of}.Lo"),
        (true, 128) => format!("uint64({of}.Hi), {of}.Lo"),
        (true, 64) => format!("uint64({of}>>63), uint64({of})"),
        (false, 64) => format!("0, {of}"),
        (false, _) => format!("0, uint64({of})"),
        (true, _) => format!("uint64(int64({of})>>63), uint64({of})"),
    };
    let plain = if signed { format!("uint{bits}({of})") } else { of.to_owned() };
    let fixed = |order: &str, number: &str| match bits {
        _ if int.ty.is_narrow() => {
            let order = if order == "Big" { "BE" } else { "LE" };
            format!("dst = append{order}(dst, {words}, {})", int.ty.bytes())
        }
        8 => format!("dst = append(dst, {number})"),
        128 => format!("dst = append{}128(dst, {words})", if order == "Big" { "BE" } else { "LE" }),
        bits => format!("dst = binary.{order}Endian.AppendUint{bits}(dst, {number})"),
    };
    match int.encoding {
        IntEncoding::Be => body.line(&fixed("Big", &plain)),
        IntEncoding::Le => body.line(&fixed("Little", &plain)),
        IntEncoding::SignFlip if bits == 128 => {
            body.line(&format!("dst = appendBE128(dst, uint64({of}.Hi)^1<<63, {of}.Lo)"));
        }
        IntEncoding::SignFlip => body.line(&fixed("Big", &format!("{plain}^1<<{}", bits - 1))),
        IntEncoding::Saturating => {
            let negative = if bits == 128 { format!("{of}.Hi < 0") } else { format!("{of} < 0") };
            let zeros = vec!["0"; int.ty.bytes()].join(", ");
            body.line(&format!("if {negative} {{"));
            body.line(&format!("dst = append(dst, {zeros})"));
            body.line("} else {");
            body.line(&fixed("Big", &plain));
            body.line("}");
        }
        IntEncoding::Tick9 => body.line(&format!("dst = appendTick9(dst, {of})")),
        IntEncoding::Dec => match (signed, bits) {
            (false, 128) => body.line(&format!("dst = appendDec128(dst, false, {words})")),
            (true, 128) => {
                let (negative, hi, lo) = magnitude(body);
                body.line(&format!("{negative}, {hi}, {lo} := magnitude128({words})"));
                body.line(&format!("dst = appendDec128(dst, {negative}, {hi}, {lo})"));
            }
            (false, 64) => body.line(&format!("dst = appendDec(dst, {of})")),
            (false, _) => body.line(&format!("dst = appendDec(dst, uint64({of}))")),
            (true, 64) => body.line(&format!("dst = strconv.AppendInt(dst, {of}, 10)")),
            (true, _) => body.line(&format!("dst = strconv.AppendInt(dst, int64({of}), 10)")),
        },
        IntEncoding::DecPadded(width) => body.line(&format!("dst = appendDecPadded(dst, {words}, {width})")),
        IntEncoding::Hex(case) => body.line(&format!("dst = appendHexInt(dst, {words}, {})", hex_form(case))),
        IntEncoding::HexPadded(case, width) => {
            body.line(&format!("dst = appendHexPadded(dst, {words}, {width}, {})", hex_form(case)));
        }
        IntEncoding::Leb128 => body.line(&format!("dst = appendLEB128(dst, {words})")),
        IntEncoding::OrdVar => body.fallible(&format!("appendOrdVar(dst, {words})"), label),
        IntEncoding::CompactSize => body.line(&format!(
            "dst = appendCompactSize(dst, {})",
            if bits == 64 { of.to_owned() } else { format!("uint64({of})") }
        )),
        IntEncoding::OrderedCode if signed => body.line(&format!(
            "dst = appendOrderedInt(dst, {})",
            if bits == 64 { of.to_owned() } else { format!("int64({of})") }
        )),
        IntEncoding::OrderedCode => body.line(&format!(
            "dst = appendOrderedUint(dst, {})",
            if bits == 64 { of.to_owned() } else { format!("uint64({of})") }
        )),
        IntEncoding::Low(width) => body.line(&format!("dst = appendPart(dst, {words}, 0, {width})")),
        IntEncoding::High(width) => {
            let from = int.ty.bytes().saturating_sub(width);
            body.line(&format!("dst = appendPart(dst, {words}, {from}, {width})"));
        }
        IntEncoding::Float => body.line(&format!("dst = appendIntFloat(dst, float64({of}))")),
        IntEncoding::Tuple if signed => {
            let (negative, hi, lo) = magnitude(body);
            body.line(&format!("{negative}, {hi}, {lo} := magnitude128({words})"));
            body.line(&format!("dst = appendTupleInt(dst, {negative}, {hi}, {lo})"));
        }
        IntEncoding::Tuple => body.line(&format!("dst = appendTupleInt(dst, false, {words})")),
        encoding => {
            let (name, number) = (regular::name(encoding.row()), regular::number(encoding));
            body.line(&format!("dst = append{name}(dst, {words}{number})"));
        }
    }
}

/// The condition under which a number is out of a narrowed range.
fn out_of_range(int: &IntShape, of: &str) -> String {
    let [least, most] = range_words(int.range);
    if int.ty.native_bits() == 128 {
        let number =
            if int.ty.signed { format!("uint64({of}.Hi), {of}.Lo") } else { format!("{of}.Hi, {of}.Lo") };
        let signed = int.ty.signed;
        return format!(
            "less128([2]uint64{{{number}}}, {}, {signed}) || less128({}, [2]uint64{{{number}}}, {signed})",
            pair(least),
            pair(most)
        );
    }
    let (low, high) = match (int.range, native_range(int)) {
        (IntRange::Unsigned { min, max }, IntRange::Unsigned { min: least, max: most }) => {
            ((min != least).then(|| min.to_string()), (max != most).then(|| max.to_string()))
        }
        (IntRange::Signed { min, max }, IntRange::Signed { min: least, max: most }) => {
            ((min != least).then(|| min.to_string()), (max != most).then(|| max.to_string()))
        }
        _ => (None, None),
    };
    let low = low.map(|min| format!("{of} < {min}"));
    let high = high.map(|max| format!("{of} > {max}"));
    low.into_iter().chain(high).collect::<Vec<_>>().join(" || ")
}

/// What the Go type of an integer can hold.
pub(crate) const fn native_range(int: &IntShape) -> IntRange {
    IntType { signed: int.ty.signed, bits: int.ty.native_bits() }.range()
}

/// The ends of a range as two words each.
pub(crate) fn range_words(range: IntRange) -> [u128; 2] {
    match range {
        IntRange::Unsigned { min, max } => [min, max],
        IntRange::Signed { min, max } => [min.cast_unsigned(), max.cast_unsigned()],
    }
}

/// `[2]uint64{hi, lo}`.
pub(crate) fn pair(number: u128) -> String {
    format!("[2]uint64{{0x{:x}, 0x{:x}}}", number >> 64, number & u128::from(u64::MAX))
}

/// The runtime's lengths.
pub(crate) fn lengths(lengths: &LengthSet) -> String {
    match lengths {
        LengthSet::Range { min, max } => {
            format!("lengths{{min: {}, max: {}}}", number(*min), limit(*max))
        }
        LengthSet::OneOf(all) => {
            let (min, max) = (number(lengths.min()), number(lengths.max().unwrap_or_default()));
            let all: Vec<String> = all.iter().copied().map(number).collect();
            format!("lengths{{min: {min}, max: {max}, oneOf: []int{{{}}}}}", all.join(", "))
        }
    }
}

/// A greatest number, -1 for none.
pub(crate) fn limit(max: usize) -> String {
    if max == usize::MAX { "-1".to_owned() } else { number(max) }
}

/// A length as an `int` of Go, which has 32 bits on some machines.
pub(crate) fn number(length: usize) -> String {
    if i32::try_from(length).is_ok() { length.to_string() } else { format!("intOf({length})") }
}

pub(crate) const fn hex_form(case: Case) -> &'static str {
    match case {
        Case::Lower => "hexLower",
        Case::Upper => "hexUpper",
    }
}

/// The constant for how a length is written, which is called as the frame is.
pub(crate) fn len_width(width: LenWidth) -> &'static str {
    Frame::Len(width).row().word
}

pub(crate) const fn derive_function(function: Derivation) -> &'static str {
    match function {
        Derivation::Crc16 => "crc16Of",
        Derivation::Crc32 => "crc32Of",
        Derivation::Xxh3 => "xx3Of",
        Derivation::Twox => "twox64Of",
    }
}
