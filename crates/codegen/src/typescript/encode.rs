//! The statements that put arguments into a writer.

use keyplan_codec::{Case, Heights, LenWidth, WideForm};
use keyplan_plan::model::{
    BytesEncoding, Derivation, Derived, Frame, Framing, IntEncoding, IntRange, IntShape, LengthSet, Segment,
    Sequence, Shape, TextShape,
};

use super::TypeScript;
use super::names::{bytes, text};
use super::types::{is_labels, properties};
use crate::regular::{self, Scalar};
use crate::runtime::{Closing, Outcome, Runtime as _};

/// A function body being written.
pub(crate) struct Body {
    pub(crate) code: String,
    depth: usize,
    variables: usize,
}

impl Body {
    pub(crate) const fn new(depth: usize) -> Self {
        Self { code: String::new(), depth, variables: 0 }
    }

    pub(crate) fn line(&mut self, line: &str) {
        if line.starts_with('}') {
            self.depth = self.depth.saturating_sub(1);
        }
        for _ in 0..self.depth {
            self.code.push_str("  ");
        }
        self.code.push_str(line);
        self.code.push('\n');
        if line.ends_with('{') {
            self.depth += 1;
        }
    }

    fn variable(&mut self, name: &str) -> String {
        self.variables += 1;
        format!("{name}${}", self.variables)
    }
}

impl TypeScript<'_> {
    /// Puts the first `count` segments of a layout whose arguments are given by `of`.
    pub(crate) fn put_row(
        &mut self,
        body: &mut Body,
        sequence: &Sequence,
        count: usize,
        of: &[String],
        label: &str,
    ) {
        let within = |name: &str| if label.is_empty() { name.to_owned() } else { format!("{label}.{name}") };
        let shapes: Vec<&Shape> = sequence.arguments().map(|argument| &argument.shape).collect();
        let mut arguments = of.iter();
        for segment in sequence.segments().iter().take(count) {
            match segment {
                Segment::Literal(literal) => body.line(&literal_bytes(&literal.bytes)),
                Segment::Argument(argument) => {
                    let Some(of) = arguments.next() else { continue };
                    let label = argument.name.as_deref().map_or_else(|| label.to_owned(), within);
                    self.put(body, &argument.shape, of, &label);
                }
                Segment::Same(same) => {
                    let index = sequence.arguments_before(same.of);
                    let Some((shape, of)) = shapes.get(index).zip(of.get(index)) else { continue };
                    if !self.put_copy(body, shape, &same.shape, of, &within(&same.name)) {
                        self.unsupported(same.span, "a copy of an argument that only its digest is known of");
                    }
                }
                Segment::Derived(derived) => {
                    self.put_derived(body, sequence, derived, of, label);
                }
            }
        }
    }

    fn put_derived(
        &mut self,
        body: &mut Body,
        sequence: &Sequence,
        derived: &Derived,
        of: &[String],
        label: &str,
    ) {
        let at = body.variable("at");
        body.line(&format!("const {at} = w.at;"));
        let within = |name: &str| if label.is_empty() { name.to_owned() } else { format!("{label}.{name}") };
        for &from in &derived.of {
            let index = sequence.arguments_before(from);
            if let Some((argument, of)) = sequence.arguments().nth(index).zip(of.get(index)) {
                let label = argument.name.as_deref().map_or_else(|| label.to_owned(), within);
                self.put(body, &argument.shape, of, &label);
            }
        }
        let sum = body.variable("sum");
        let modulus = derived.modulus.and_then(|modulus| u64::try_from(modulus).ok());
        let modulus = modulus.map_or_else(String::new, |modulus| format!(" % {modulus}n"));
        let function = derive_function(derived.function);
        let bits = derived.shape.ty.bits;
        let number = format!("BigInt.asUintN({bits}, {function}(cutTail(w, {at})){modulus})");
        let number = if bits <= 32 { format!("Number({number})") } else { number };
        body.line(&format!("const {sum} = {number};"));
        put_int(body, &derived.shape, &sum, &within(&derived.name));
    }

    /// The statements for an argument that was written before as `original`; false if only its digest is known.
    fn put_copy(&mut self, body: &mut Body, original: &Shape, shape: &Shape, of: &str, label: &str) -> bool {
        if original == shape {
            self.put(body, shape, of, label);
            return true;
        }
        match (original, shape) {
            (Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. }, _) => {
                self.put_copy(body, inner, shape, of, label)
            }
            (
                _,
                Shape::Framed { inner, .. }
                | Shape::Desc(inner)
                | Shape::HashConcat { inner, .. }
                | Shape::Hashed { inner, .. },
            ) => {
                let at = body.variable("at");
                body.line(&format!("const {at} = w.at;"));
                let known = self.put_copy(body, original, inner, of, label);
                wrap(body, shape, &at, label);
                known
            }
            (Shape::Hashed { .. }, _) => false,
            _ => {
                self.put(body, shape, of, label);
                true
            }
        }
    }

    /// The statements for one argument.
    pub(crate) fn put(&mut self, body: &mut Body, shape: &Shape, of: &str, label: &str) {
        let quoted = text(label);
        match shape {
            Shape::Int(int) => put_int(body, int, of, label),
            Shape::Bool(_) | Shape::Float(_) | Shape::Time(_) | Shape::Nibbles { .. } => {
                if let Shape::Nibbles { lengths: of_lengths, .. } = shape {
                    body.line(&format!("checkNibbles(w, {of}, {}, {quoted});", lengths(of_lengths)));
                }
                if let Some(scalar) = Scalar::of(shape) {
                    body.line(&format!("put{}(w, {of}{}, {quoted});", scalar.name, scalar.argument()));
                }
            }
            Shape::Score { heights, encoding } => {
                let [name, _] = encoding.codecs();
                if encoding.is_float() {
                    if let Some((least, most)) = heights.map(Heights::floats) {
                        body.line(&format!("checkHeight(w, {of}, {least:?}, {most:?}, {quoted});"));
                    }
                } else if let Some(Heights { least, most }) = heights {
                    body.line(&format!("checkPlace(w, {of}, {least}, {most}, {quoted});"));
                }
                body.line(&format!("put{name}(w, {of}, {quoted});"));
            }
            Shape::Bytes { encoding: BytesEncoding::Wide { signed, form }, .. } => {
                put_wide(body, *signed, *form, of, &quoted);
            }
            Shape::Bytes { lengths, encoding } => {
                put_bytes(body, lengths, encoding, of, &quoted);
                if let BytesEncoding::Class(class) = encoding {
                    let class = self.alphabet(class.bits());
                    body.line(&format!("putClass(w, {of}, {class}, {quoted});"));
                }
            }
            Shape::Text(shape) => self.put_text(body, shape, of, &quoted),
            Shape::Opaque(_) => {
                body.line(&format!("checkBytes(w, {of}, {quoted});"));
                body.line(&format!("putBytes(w, {of});"));
            }
            Shape::Record(sequence) => {
                let fields: Vec<String> =
                    properties(sequence, false).iter().map(|name| format!("{of}.{name}")).collect();
                self.put_row(body, sequence, sequence.segments().len(), &fields, label);
            }
            Shape::Choice(_) => self.put_choice(body, shape, of, label),
            Shape::Option(inner) => {
                let some = body.variable("some");
                body.line(&format!("const {some} = {of};"));
                body.line(&format!("if ({some} !== null && {some} !== undefined) {{"));
                let of = if inner.optional().is_some() { format!("{some}[0]") } else { some };
                self.put(body, inner, &of, label);
                body.line("}");
            }
            Shape::List { .. } => self.put_list(body, shape, of, label),
            Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => {
                let at = body.variable("at");
                body.line(&format!("const {at} = w.at;"));
                self.put(body, inner, of, label);
                wrap(body, shape, &at, label);
            }
            Shape::Hashed { keep, .. } => {
                body.line(&format!("checkBytes(w, {of}, {quoted});"));
                body.line(&format!("checkLength(w, {of}.length, {{ min: {keep}, max: {keep} }}, {quoted});"));
                body.line(&format!("putBytes(w, {of});"));
            }
        }
    }

    fn put_choice(&mut self, body: &mut Body, shape: &Shape, of: &str, label: &str) {
        let Shape::Choice(all) = shape else { return };
        let one = body.variable("one");
        let labels = is_labels(shape);
        body.line(&format!("const {one} = {of};"));
        body.line(&if labels { format!("switch ({one}) {{") } else { format!("switch ({one}.kind) {{") });
        for alternative in all {
            body.line(&format!("case {}: {{", text(&alternative.label)));
            let sequence = &alternative.sequence;
            let fields: Vec<String> =
                properties(sequence, true).iter().map(|name| format!("{one}.{name}")).collect();
            let count = sequence.segments().len();
            self.put_row(body, sequence, count, &fields, &format!("{label}.{}", alternative.label));
            body.line("break;");
            body.line("}");
        }
        body.line("default:");
        body.line(&format!("  noAlternative(w, {});", text(label)));
        body.line("}");
    }

    fn put_list(&mut self, body: &mut Body, shape: &Shape, of: &str, label: &str) {
        let Shape::List { item, counts, framing } = shape else { return };
        let (list, index) = (body.variable("list"), body.variable("i"));
        let quoted = text(label);
        body.line(&format!("const {list} = checkList(w, {of}, {quoted});"));
        if *counts != LengthSet::ANY {
            body.line(&format!("checkCount(w, {list}.length, {}, {quoted});", lengths(counts)));
        }
        if let Framing::Counted(width) = framing {
            let form = len_width(*width);
            body.line(&format!("putListCount(w, {list}.length, {form}, {quoted});"));
        }
        body.line(&format!("for (let {index} = 0; {index} < {list}.length; {index}++) {{"));
        if let Framing::Joined(separator) = framing {
            body.line(&format!("if ({index} > 0) {}", literal_bytes(separator)));
        }
        self.put(body, item, &format!("{list}[{index}]!"), label);
        body.line("}");
    }

    fn put_text(&mut self, body: &mut Body, shape: &TextShape, of: &str, label: &str) {
        let (alphabet, first) = self.alphabets_of(shape);
        let function = if shape.tuple { "putTupleText" } else { "putText" };
        let lens = lengths(&shape.lengths);
        body.line(&format!("{function}(w, {of}, {alphabet}, {first}, {lens}, {label});"));
        if !shape.except.is_empty() {
            body.line(&format!("checkLeftOut(w, {of}, [{}], {label});", left_out(shape)));
        }
    }

    /// The variables of the alphabets of a text; `null` for all of UTF-8.
    pub(crate) fn alphabets_of(&mut self, shape: &TextShape) -> (String, String) {
        let alphabet = if shape.alphabet.bits() == [u64::MAX; 4] && shape.first.is_none() {
            "null".to_owned()
        } else {
            self.alphabet(shape.alphabet.bits())
        };
        let first = shape.first.map_or_else(|| "null".to_owned(), |first| self.alphabet(first.bits()));
        (alphabet, first)
    }
}

/// The statement that follows what is inside of a frame, complemented, or hashed.
fn wrap(body: &mut Body, shape: &Shape, at: &str, label: &str) {
    let Closing { function, arguments, outcome } = TypeScript::closing(shape);
    let label = if outcome == Outcome::MayRefuse { format!(", {}", text(label)) } else { String::new() };
    body.line(&format!("{function}(w, {at}{arguments}{label});"));
}

pub(crate) fn literal_bytes(literal: &[u8]) -> String {
    match literal {
        [one] => format!("putByte(w, 0x{one:02x});"),
        many => format!("putAscii(w, {});", bytes(many)),
    }
}

fn put_bytes(body: &mut Body, of_lengths: &LengthSet, encoding: &BytesEncoding, of: &str, label: &str) {
    body.line(&format!("checkBytes(w, {of}, {label});"));
    if *of_lengths != LengthSet::ANY {
        body.line(&format!("checkLength(w, {of}.length, {}, {label});", lengths(of_lengths)));
    }
    body.line(&match encoding {
        BytesEncoding::Raw => format!("putBytes(w, {of});"),
        // What is put depends on the alphabet, which the caller knows.
        BytesEncoding::Class(_) | BytesEncoding::Wide { .. } => return,
        BytesEncoding::Base58 { check } => format!("putBase58(w, {of}, {check}, {label});"),
        BytesEncoding::Hex(case) => format!("putHex(w, {of}, {});", is_upper(*case)),
        BytesEncoding::Tuple => format!("putTupleBytes(w, {of});"),
        encoding => {
            let argument = regular::bytes_argument(encoding, |text| bytes(text.as_bytes()));
            // What loses some of the bytes takes all of them, and names no argument as wrong.
            let label = if encoding.row().loses { String::new() } else { format!(", {label}") };
            format!("put{}(w, {of}{argument}{label});", regular::name(encoding.row()))
        }
    });
}

/// The least and the greatest number of 256 bits.
pub(crate) const fn wide_range(signed: bool) -> [&'static str; 2] {
    if signed {
        [
            "-57896044618658097711785492504343953926634992332820282019728792003956564819968",
            "57896044618658097711785492504343953926634992332820282019728792003956564819967",
        ]
    } else {
        ["0", "115792089237316195423570985008687907853269984665640564039457584007913129639935"]
    }
}

fn put_wide(body: &mut Body, signed: bool, form: WideForm, of: &str, label: &str) {
    let [least, most] = wide_range(signed);
    body.line(&format!("checkBig(w, {of}, {least}n, {most}n, {label});"));
    let number = if signed { format!("BigInt.asUintN(256, {of})") } else { of.to_owned() };
    body.line(&match form {
        WideForm::Be => format!("putBig(w, {number}, 32);"),
        WideForm::Le => format!("putLittle(w, {number}, 32);"),
        WideForm::SignFlip => format!("putBig(w, {number}, 32); flipSign(w, 32);"),
    });
}

fn put_int(body: &mut Body, int: &IntShape, of: &str, label: &str) {
    let bits = int.ty.bits;
    body.line(&check_int(int, of, label));
    let fixed = |order: &str, of: &str| match bits {
        bits if int.ty.is_narrow() => {
            let big = if bits <= 32 { format!("BigInt({of})") } else { of.to_owned() };
            let function = if order == "BE" { "putBig" } else { "putLittle" };
            format!("{function}(w, {big}, {});", int.ty.bytes())
        }
        8 => format!("putByte(w, {of});"),
        bits => format!("put{order}{bits}(w, {of});"),
    };
    let big = if bits <= 32 { format!("BigInt({of})") } else { of.to_owned() };
    let upper = |digits: String, case: Case| match case {
        Case::Lower => digits,
        Case::Upper => format!("{digits}.toUpperCase()"),
    };
    body.line(&match int.encoding {
        IntEncoding::Be => fixed("BE", of),
        IntEncoding::Le => fixed("LE", of),
        IntEncoding::SignFlip => fixed("BE", of) + &format!(" flipSign(w, {});", int.ty.bytes()),
        IntEncoding::Saturating => {
            let zero = if bits <= 32 { "0" } else { "0n" };
            fixed("BE", &format!("{of} < {zero} ? {zero} : {of}"))
        }
        IntEncoding::Tick9 => format!("putTick9(w, {of});"),
        IntEncoding::Dec => format!("putAscii(w, ({of}).toString());"),
        IntEncoding::DecPadded(width) => {
            format!("putAscii(w, ({of}).toString().padStart({width}, '0'));")
        }
        IntEncoding::Hex(case) => format!("putAscii(w, {});", upper(format!("({of}).toString(16)"), case)),
        IntEncoding::HexPadded(case, width) => {
            format!("putAscii(w, {}.padStart({width}, '0'));", upper(format!("({of}).toString(16)"), case))
        }
        IntEncoding::Leb128 => format!("putLEB128(w, {big});"),
        IntEncoding::OrdVar => format!("putOrdVar(w, {big}, {});", text(label)),
        IntEncoding::OrderedCode if int.ty.signed => format!("putOrderedInt(w, {big});"),
        IntEncoding::OrderedCode => format!("putOrderedUint(w, {big});"),
        IntEncoding::Low(width) => format!("putBig(w, {big}, {width});"),
        IntEncoding::High(width) => {
            format!("putBig(w, {big} >> {}n, {width});", 8 * int.ty.bytes().saturating_sub(width))
        }
        IntEncoding::Float => format!("putIntFloat(w, Number({of}));"),
        IntEncoding::Tuple => format!("putTupleInt(w, {big});"),
        encoding => {
            let (name, number) = (regular::name(encoding.row()), regular::number(encoding));
            format!("put{name}(w, {big}{number});")
        }
    });
}

/// The statement that refuses a number out of its range.
fn check_int(int: &IntShape, of: &str, label: &str) -> String {
    let label = text(label);
    if int.ty.bits == 64 && int.range == int.ty.range() {
        let function = if int.ty.signed { "checkI64" } else { "checkU64" };
        return format!("{function}(w, {of}, {label});");
    }
    let [least, most] = range(int.range);
    if int.ty.bits <= 32 {
        format!("checkNumber(w, {of}, {least}, {most}, {label});")
    } else {
        format!("checkBig(w, {of}, {least}n, {most}n, {label});")
    }
}

/// The values that a text may not have, as elements of a list.
pub(crate) fn left_out(shape: &TextShape) -> String {
    shape.except.texts().iter().map(|one| text(one)).collect::<Vec<_>>().join(", ")
}

/// The ends of a range.
pub(crate) fn range(range: IntRange) -> [String; 2] {
    match range {
        IntRange::Unsigned { min, max } => [min.to_string(), max.to_string()],
        IntRange::Signed { min, max } => [min.to_string(), max.to_string()],
    }
}

/// The runtime's lengths.
pub(crate) fn lengths(lengths: &LengthSet) -> String {
    let limit = |max: usize| if max == usize::MAX { "-1".to_owned() } else { max.to_string() };
    match lengths {
        LengthSet::Range { min, max } => format!("{{ min: {min}, max: {} }}", limit(*max)),
        LengthSet::OneOf(all) => {
            let (min, max) = (lengths.min(), lengths.max().unwrap_or_default());
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            format!("{{ min: {min}, max: {max}, oneOf: [{}] }}", all.join(", "))
        }
    }
}

pub(crate) const fn is_upper(case: Case) -> bool {
    match case {
        Case::Lower => false,
        Case::Upper => true,
    }
}

/// The constant for how a length is written, which is called as the frame is.
pub(crate) fn len_width(width: LenWidth) -> String {
    Frame::Len(width).row().word.to_ascii_uppercase()
}

pub(crate) const fn derive_function(function: Derivation) -> &'static str {
    match function {
        Derivation::Crc16 => "sumCRC16",
        Derivation::Crc32 => "sumCRC32",
        Derivation::Xxh3 => "xx3Of",
        Derivation::Twox => "twox64Of",
    }
}
