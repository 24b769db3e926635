use std::fmt;

use keyplan_codec::{Alphabet, Case, Hash};

use super::table::{self, Encoding, Part};
use super::{
    BytesEncoding, Family, Frame, Framing, IntEncoding, IntRange, IntShape, LengthSet, Opaque, Plan, Segment,
    Sequence, Shape,
};
use crate::order::sort;

/// A number that stands for the layout of a plan.
///
/// It is the hash of a canonical description of every byte the plan can write: spaces by the name that engines
/// know, families sorted by their layout, segments, value layouts, fields, members and scores. Comments,
/// documentation, scans, `accept`, the order of declarations and the names of families and arguments are not in it.
/// Every encoding has a tag of its own in `table.rs`, which does not change when the code does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// The fingerprint of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut spaces: Vec<Vec<u8>> = plan
            .spaces
            .iter()
            .map(|space| {
                let mut families: Vec<Vec<u8>> = space.families.iter().map(family).collect();
                sort(&mut families);
                let mut out = Description::default();
                out.text(&space.engine_name);
                out.many(&families);
                out.bytes
            })
            .collect();
        sort(&mut spaces);
        let mut out = Description::default();
        out.text("keyplan layout 2");
        out.many(&spaces);
        Self::of_bytes(&out.bytes)
    }

    /// The fingerprint of one family: of its key, value, fields, members and scores, whatever it is called.
    pub fn of_family(described: &Family) -> Self {
        let mut out = Description::default();
        out.text("keyplan family 1");
        out.blob(&family(described));
        Self::of_bytes(&out.bytes)
    }

    fn of_bytes(description: &[u8]) -> Self {
        let digest = Hash::Blake2b128.digest(description);
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(digest.iter()) {
            *to = *from;
        }
        Self(bytes)
    }

    /// Its bytes.
    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

fn family(family: &Family) -> Vec<u8> {
    let mut out = Description::default();
    out.text(family.kind.keyword());
    out.sequence(&family.key);
    out.optional(family.value.as_ref());
    out.optional(family.member.as_ref());
    out.optional(family.score.as_ref());
    let mut fields: Vec<Vec<u8>> = family
        .fields
        .iter()
        .map(|field| {
            let mut out = Description::default();
            out.sequence(&field.key);
            out.optional(field.value.as_ref());
            out.bytes
        })
        .collect();
    sort(&mut fields);
    out.many(&fields);
    out.bytes
}

/// A canonical description: every piece is preceded by a tag or a length, so that no two layouts share one.
#[derive(Default)]
struct Description {
    bytes: Vec<u8>,
}

impl Description {
    fn number(&mut self, n: u128) {
        self.bytes.extend_from_slice(&n.to_be_bytes());
    }

    fn size(&mut self, n: usize) {
        self.number(n as u128);
    }

    fn blob(&mut self, bytes: &[u8]) {
        self.size(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.blob(text.as_bytes());
    }

    fn many(&mut self, blobs: &[Vec<u8>]) {
        self.size(blobs.len());
        for blob in blobs {
            self.blob(blob);
        }
    }

    fn optional(&mut self, sequence: Option<&Sequence>) {
        match sequence {
            Some(sequence) => self.sequence(sequence),
            None => self.text("absent"),
        }
    }

    /// A sequence with its records written out and its literals joined, since neither changes a byte.
    fn sequence(&mut self, sequence: &Sequence) {
        self.text("sequence");
        let mut pending = Vec::new();
        self.row(sequence, &mut pending);
        self.flush(&mut pending);
        self.text("end");
    }

    fn flush(&mut self, literal: &mut Vec<u8>) {
        if !literal.is_empty() {
            self.text("literal");
            self.blob(literal);
            literal.clear();
        }
    }

    fn row(&mut self, sequence: &Sequence, pending: &mut Vec<u8>) {
        for segment in sequence.segments() {
            match segment {
                Segment::Literal(literal) => pending.extend_from_slice(&literal.bytes),
                Segment::Argument(argument) => match &argument.shape {
                    Shape::Record(inner) if inner.is_plain() => {
                        self.row(inner, pending);
                    }
                    shape => {
                        self.flush(pending);
                        self.shape(shape);
                    }
                },
                Segment::Same(same) => {
                    self.flush(pending);
                    self.text("same");
                    self.size(sequence.arguments_before(same.of));
                    self.shape(&same.shape);
                }
                Segment::Derived(derived) => {
                    self.flush(pending);
                    self.text("derived");
                    self.text(derived.function.name());
                    self.size(derived.of.len());
                    for &of in &derived.of {
                        self.size(sequence.arguments_before(of));
                    }
                    self.number(derived.modulus.unwrap_or(0));
                    self.int(&derived.shape);
                }
            }
        }
    }

    fn int(&mut self, int: &IntShape) {
        self.text("int");
        self.text(&int.ty.name());
        match int.range {
            IntRange::Unsigned { min, max } => {
                self.number(min);
                self.number(max);
            }
            IntRange::Signed { min, max } => {
                self.bytes.extend_from_slice(&min.to_be_bytes());
                self.bytes.extend_from_slice(&max.to_be_bytes());
            }
        }
        let (row, part) = int.encoding.parts();
        self.text(row.tag);
        if let IntEncoding::HexPadded(case, _) = int.encoding {
            self.text(match case {
                Case::Lower => "lower",
                Case::Upper => "upper",
            });
        }
        self.part(part);
    }

    /// The tag of an encoding, and after it what is in its brackets.
    fn encoding(&mut self, (row, part): (&Encoding, Option<Part<'_>>)) {
        self.text(row.tag);
        self.part(part);
    }

    fn part(&mut self, part: Option<Part<'_>>) {
        match part {
            Some(Part::Number(number)) => self.size(number),
            Some(Part::Text(text)) => self.text(text),
            None => {}
        }
    }

    fn alphabet(&mut self, alphabet: Alphabet) {
        for word in alphabet.bits() {
            self.number(u128::from(word));
        }
    }

    fn lengths(&mut self, lengths: &LengthSet) {
        match lengths {
            LengthSet::Range { min, max } => {
                self.text("range");
                self.size(*min);
                // "No limit" is not a number: it must not depend on the width of a pointer.
                self.number(if *max == usize::MAX { u128::MAX } else { *max as u128 });
            }
            LengthSet::OneOf(set) => {
                self.text("one of");
                self.size(set.len());
                for &n in set {
                    self.size(n);
                }
            }
        }
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Int(int) => self.int(int),
            Shape::Bool(encoding) => self.leaf("bool", encoding.parts()),
            Shape::Float(encoding) => self.leaf("float", encoding.parts()),
            Shape::Time(encoding) => self.leaf("time", encoding.parts()),
            Shape::Score { heights, encoding } => {
                self.leaf("score", encoding.parts());
                if let Some(heights) = heights {
                    self.text("heights");
                    self.number(heights.least.into());
                    self.number(heights.most.into());
                }
            }
            Shape::Bytes { lengths, encoding } => {
                self.text("bytes");
                self.lengths(lengths);
                self.encoding(encoding.parts());
                if let BytesEncoding::Class(class) = encoding {
                    self.alphabet(*class);
                }
            }
            Shape::Text(text) => {
                self.text(text.row().tag);
                self.alphabet(text.alphabet);
                self.alphabet(text.first.unwrap_or(text.alphabet));
                self.lengths(&text.lengths);
                if !text.except.is_empty() {
                    self.text(table::EXCEPT.tag);
                    self.size(text.except.texts().len());
                    for left_out in text.except.texts() {
                        self.text(left_out);
                    }
                }
            }
            Shape::Nibbles { lengths, encoding } => {
                self.leaf("nibbles", encoding.parts());
                self.lengths(lengths);
            }
            Shape::Opaque(opaque) => {
                self.text("opaque");
                self.text(opaque.tag());
                match opaque {
                    Opaque::Proto(message) => self.text(&message.name),
                    Opaque::Coded(coded) => self.wrapped(coded.codec.word(), &coded.shape),
                    _ => {}
                }
            }
            Shape::Record(sequence) => self.sequence(sequence),
            Shape::Choice(alternatives) => {
                self.text("choice");
                self.size(alternatives.len());
                for alternative in alternatives {
                    self.sequence(&alternative.sequence);
                }
            }
            Shape::Option(inner) => self.wrapped("option", inner),
            Shape::List { item, counts, framing } => {
                self.text("list");
                self.lengths(counts);
                if matches!(framing, Framing::Counted(_)) {
                    self.text("counted");
                }
                self.encoding(framing.parts());
                if let Framing::Joined(separator) = framing {
                    self.blob(separator);
                }
                self.shape(item);
            }
            Shape::Framed { frame, inner } => {
                self.text(if matches!(frame, Frame::Len(_)) { "length" } else { "frame" });
                self.wrapped(frame.row().tag, inner);
            }
            Shape::Desc(inner) => self.wrapped(table::DESC.tag, inner),
            Shape::Hashed { hash, keep, inner, .. } => {
                self.text(hash.name());
                self.size(*keep);
                self.wrapped(table::HASHED.tag, inner);
            }
            Shape::HashConcat { hash, keep, inner } => {
                self.text(hash.name());
                self.size(*keep);
                self.wrapped(table::HASH_CONCAT.tag, inner);
            }
        }
    }

    fn leaf(&mut self, domain: &str, encoding: (&Encoding, Option<Part<'_>>)) {
        self.text(domain);
        self.encoding(encoding);
    }

    fn wrapped(&mut self, tag: &str, inner: &Shape) {
        self.text(tag);
        self.shape(inner);
    }
}
