use super::{Extent, IntShape, Shape, Shown, Width, escape};
use crate::diag::Span;
use keyplan_codec::Hash;

/// Segments in a row: the layout of a key, a field, a member, a value, a record or an alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    segments: Vec<Segment>,
    extents: Vec<Extent>,
    widths: Vec<Width>,
    tails: Vec<Width>,
    width: Width,
    extent: Extent,
    arguments: usize,
    plain: bool,
    lead: (usize, usize),
}

impl Default for Sequence {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Sequence {
    /// Puts segments in a row.
    pub fn new(segments: Vec<Segment>) -> Self {
        let widths: Vec<Width> = segments.iter().map(Width::of_segment).collect();
        let extents = escape::extents(&segments, &widths);
        let mut width = Width::exactly(0);
        let mut tails = vec![width];
        for segment in widths.iter().rev() {
            width = segment.then(width);
            tails.push(width);
        }
        tails.reverse();
        let extent = Extent::of_row(&extents);
        let arguments = segments.iter().filter(|s| matches!(s, Segment::Argument(_))).count();
        let plain = segments.iter().all(|s| matches!(s, Segment::Literal(_) | Segment::Argument(_)));
        let literals = segments.iter().map_while(|segment| match segment {
            Segment::Literal(literal) => Some(literal.bytes.len()),
            _ => None,
        });
        let lead = literals.fold((0, 0), |(count, bytes), len| (count + 1, bytes + len));
        Self { segments, extents, widths, tails, width, extent, arguments, plain, lead }
    }

    /// The segments, first to last.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The bytes of a layout that has only literals, and so is of one key.
    pub fn constant(&self) -> Option<Vec<u8>> {
        let literals = self.segments.iter().map(|segment| match segment {
            Segment::Literal(literal) => Some(literal.bytes.as_slice()),
            _ => None,
        });
        literals.collect::<Option<Vec<_>>>().map(|literals| literals.concat())
    }

    /// Where each segment ends, before what comes after it.
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// How many bytes each segment may take.
    pub fn widths(&self) -> &[Width] {
        &self.widths
    }

    /// How many bytes everything from segment `index` on may take.
    pub fn tail(&self, index: usize) -> Width {
        self.tails.get(index).copied().unwrap_or(Width::exactly(0))
    }

    /// How many segments come before the first that is not a literal, and how many bytes they have.
    pub fn lead(&self) -> (usize, usize) {
        self.lead
    }

    /// Whether no segment depends on another.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// How many bytes it may take.
    pub fn width(&self) -> Width {
        self.width
    }

    /// Where its bytes end.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// The arguments, first to last.
    pub fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Argument(argument) => Some(argument),
            _ => None,
        })
    }

    /// How many arguments there are.
    pub fn argument_count(&self) -> usize {
        self.arguments
    }

    /// The index among the arguments of the one called `name`.
    pub fn argument_index(&self, name: &str) -> Option<usize> {
        self.arguments().position(|argument| argument.name.as_deref() == Some(name))
    }

    /// The bytes that every key begins with.
    pub fn literal_prefix(&self) -> Vec<u8> {
        self.segments
            .iter()
            .map_while(|segment| match segment {
                Segment::Literal(literal) => Some(literal.bytes.as_slice()),
                _ => None,
            })
            .flatten()
            .copied()
            .collect()
    }

    /// The number of segments that a scan over the first `bound` arguments fixes: those arguments, what is
    /// between them, and the literals directly after the last one.
    pub fn scanned_segments(&self, bound: usize) -> usize {
        let mut seen = 0;
        for (index, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Literal(_) => {}
                Segment::Argument(_) if seen < bound => seen += 1,
                Segment::Same(same) if self.arguments_before(same.of) < bound => {}
                Segment::Derived(derived)
                    if derived.of.iter().all(|&of| self.arguments_before(of) < bound) => {}
                _ => return index,
            }
        }
        self.segments.len()
    }

    /// How many arguments come before the segment at `index`.
    pub fn arguments_before(&self, index: usize) -> usize {
        self.segments.iter().take(index).filter(|s| matches!(s, Segment::Argument(_))).count()
    }
}

/// A piece of a layout.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// Bytes that are always the same.
    Literal(Literal),
    /// A value that the caller gives.
    Argument(Argument),
    /// An argument written once more.
    Same(Same),
    /// A value computed from arguments.
    Derived(Derived),
}

impl Segment {
    /// Where it is declared.
    pub fn span(&self) -> Span {
        match self {
            Self::Literal(literal) => literal.span,
            Self::Argument(argument) => argument.span,
            Self::Same(same) => same.span,
            Self::Derived(derived) => derived.span,
        }
    }

    /// What a person calls it: the argument's name, or the literal as it was written.
    pub fn label(&self) -> &str {
        match self {
            Self::Literal(literal) => &literal.spelling,
            Self::Argument(argument) => argument.name.as_deref().unwrap_or("value"),
            Self::Same(same) => &same.name,
            Self::Derived(derived) => &derived.name,
        }
    }
}

/// Bytes that are always the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How a person wrote them, such as `0x01` or `xxh3_64("accounts")`.
    pub spelling: String,
    /// The constant that was hashed and the function, if it is the hash of one.
    pub hashed: Option<(Hash, Vec<u8>)>,
    /// Where it is declared.
    pub span: Span,
}

/// A value that the caller gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name; `None` where a layout is one unnamed domain.
    pub name: Option<String>,
    /// The type it was declared with, if it has a name of its own.
    pub type_name: Option<String>,
    /// Its values and their bytes.
    pub shape: Shape,
    /// The form in which people write it, if the plan gives one. No part of the layout, nor of the fingerprint.
    pub shown: Option<Shown>,
    /// What it is. No part of the layout, nor of the fingerprint.
    pub doc: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// An argument written once more.
#[derive(Clone, Debug, PartialEq)]
pub struct Same {
    /// The argument's name.
    pub name: String,
    /// The index of its segment in the sequence, before this one.
    pub of: usize,
    /// How it is written here.
    pub shape: Shape,
    /// Where it is declared.
    pub span: Span,
}

/// A value computed from the bytes of arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// What it is called.
    pub name: String,
    /// The function.
    pub function: Derivation,
    /// The indices of the segments that go into it, in order.
    pub of: Vec<usize>,
    /// What the result is reduced by.
    pub modulus: Option<u128>,
    /// How it is written.
    pub shape: IntShape,
    /// Where it is declared.
    pub span: Span,
}

/// A function of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// CRC-16, CCITT/XMODEM.
    Crc16,
    /// CRC-32, IEEE.
    Crc32,
    /// XXH3, 64 bits.
    Xxh3,
    /// XXH64, seed 0.
    Twox,
}

impl Derivation {
    /// Its name in a plan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crc16 => "crc16",
            Self::Crc32 => "crc32",
            Self::Xxh3 => "xxh3_64",
            Self::Twox => "twox_64",
        }
    }
}
