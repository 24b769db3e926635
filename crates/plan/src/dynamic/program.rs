//! The families of a space as a short program each: for keys whose every segment has one possible end.
//!
//! Most layouts need no search. Their steps lie side by side in one array, a few words each, so that reading a key
//! touches little memory however many families there are. What is not as simple, and every key that a program refuses,
//! is left to the search, which is the one to say why.

use keyplan_codec::{
    Alphabet, Be, Bool, Bytes, Case, Decimal, HexBytes, Lengths, Open as _, Segment as _, SignFlip, Text,
    Tick9,
};

use super::Value;
use crate::model::{
    BoolEncoding, BytesEncoding, IntEncoding, IntShape, LengthSet, Segment, Sequence, Shape, Space, TextShape,
};
use crate::program::Program;

/// The programs of a space.
#[derive(Debug, Default)]
pub(super) struct Programs {
    heads: Vec<Head>,
    steps: Vec<Step>,
    alphabets: Vec<Alphabet>,
}

/// Where a family's program lies.
#[derive(Clone, Copy, Debug)]
struct Head {
    start: u32,
    // 0 for a layout without a program.
    len: u16,
    arguments: u16,
    // The bytes of the leading literals, which the dispatch has compared already.
    lead: u32,
}

/// One segment. A step that may have several lengths ends where its bytes do, and the next step cannot go on with them.
#[derive(Clone, Copy, Debug)]
enum Step {
    Literal { len: u8, bytes: [u8; 7] },
    U8,
    U16,
    U32,
    U64,
    U128,
    I64Flipped,
    Tick9,
    Bool,
    Raw { len: u32 },
    RawRest { min: u32, max: u32 },
    Decimal32,
    Decimal64,
    Hex { case: Case, min: u16, max: u16 },
    Text { alphabet: u16, min: u32, max: u32 },
}

impl Programs {
    pub(super) fn new(space: &Space) -> Self {
        let mut programs = Self::default();
        for family in &space.families {
            let start = programs.steps.len();
            let head = programs.write(&family.key).unwrap_or_else(|| {
                programs.steps.truncate(start);
                Head { start: 0, len: 0, arguments: 0, lead: 0 }
            });
            programs.heads.push(head);
        }
        programs
    }

    fn write(&mut self, sequence: &Sequence) -> Option<Head> {
        let (lead, lead_bytes) = sequence.lead();
        let start = u32::try_from(self.steps.len()).ok()?;
        let program = Program::of(sequence);
        if !program.is_direct() {
            return None;
        }
        let segments = program.steps.get(lead..)?;
        for step in segments {
            let step = match step.segment {
                Segment::Literal(literal) => {
                    let mut bytes = [0; 7];
                    let len = literal.bytes.len();
                    bytes.get_mut(..len)?.copy_from_slice(&literal.bytes);
                    Step::Literal { len: u8::try_from(len).ok()?, bytes }
                }
                Segment::Argument(argument) => self.argument(&argument.shape)?,
                Segment::Same(_) | Segment::Derived(_) => return None,
            };
            self.steps.push(step);
        }
        // A layout of only literals has no step; the search reads it at once.
        let len = u16::try_from(segments.len()).ok().filter(|&len| len > 0)?;
        let arguments = u16::try_from(sequence.argument_count()).ok()?;
        Some(Head { start, len, arguments, lead: u32::try_from(lead_bytes).ok()? })
    }

    fn argument(&mut self, shape: &Shape) -> Option<Step> {
        let bounds = |lengths: &LengthSet| match lengths {
            LengthSet::Range { min, max } => {
                let max = if *max == usize::MAX { u32::MAX } else { u32::try_from(*max).ok()? };
                Some((u32::try_from(*min).ok()?, max))
            }
            LengthSet::OneOf(_) => None,
        };
        Some(match shape {
            Shape::Int(IntShape { ty, range, encoding }) if *range == ty.range() => {
                match (encoding, ty.signed, ty.bits) {
                    (IntEncoding::Be, false, 8) => Step::U8,
                    (IntEncoding::Be, false, 16) => Step::U16,
                    (IntEncoding::Be, false, 32) => Step::U32,
                    (IntEncoding::Be, false, 64) => Step::U64,
                    (IntEncoding::Be, false, 128) => Step::U128,
                    (IntEncoding::SignFlip, true, 64) => Step::I64Flipped,
                    (IntEncoding::Tick9, true, 64) => Step::Tick9,
                    (IntEncoding::Dec, false, 32) => Step::Decimal32,
                    (IntEncoding::Dec, false, 64) => Step::Decimal64,
                    _ => return None,
                }
            }
            Shape::Bool(BoolEncoding::Byte) => Step::Bool,
            Shape::Bytes { lengths, encoding: BytesEncoding::Raw } => match lengths.fixed() {
                Some(len) => Step::Raw { len: u32::try_from(len).ok()? },
                None => bounds(lengths).map(|(min, max)| Step::RawRest { min, max })?,
            },
            Shape::Bytes { lengths, encoding: BytesEncoding::Hex(case) } => {
                let (min, max) = bounds(lengths)?;
                let (min, max) = (u16::try_from(min).ok()?, u16::try_from(max).ok()?);
                Step::Hex { case: *case, min, max }
            }
            Shape::Text(TextShape { alphabet, first: None, lengths, tuple: false, except, .. })
                if except.is_empty() =>
            {
                let (min, max) = bounds(lengths)?;
                let known = self.alphabets.iter().position(|known| known == alphabet);
                let index = known.unwrap_or_else(|| {
                    self.alphabets.push(*alphabet);
                    self.alphabets.len() - 1
                });
                Step::Text { alphabet: u16::try_from(index).ok()?, min, max }
            }
            _ => return None,
        })
    }

    /// The only reading of a key that begins with the leading literals of the family at `index`; `None` if there is no
    /// program for the family or the key does not fit it.
    pub(super) fn run(&self, index: usize, key: &[u8]) -> Option<Vec<Value>> {
        let head = self.heads.get(index).filter(|head| head.len > 0)?;
        let start = head.start as usize;
        let steps = self.steps.get(start..start + usize::from(head.len))?;
        let mut rest = key.get(head.lead as usize..)?;
        let mut values = Vec::with_capacity(usize::from(head.arguments));
        for (index, step) in steps.iter().enumerate() {
            let last = index + 1 == steps.len();
            let extent = self.extent(*step, rest, last);
            let (bytes, behind) = rest.split_at_checked(extent)?;
            values.extend(self.value(*step, bytes)?);
            rest = behind;
        }
        rest.is_empty().then_some(values)
    }

    /// How many bytes a step takes.
    fn extent(&self, step: Step, rest: &[u8], last: bool) -> usize {
        match step {
            Step::Literal { len, .. } => usize::from(len),
            Step::U8 | Step::Bool => 1,
            Step::U16 => 2,
            Step::U32 => 4,
            Step::U64 | Step::I64Flipped => 8,
            Step::U128 => 16,
            Step::Tick9 => 9,
            Step::Raw { len } => len as usize,
            _ if last => rest.len(),
            Step::RawRest { .. } => rest.len(),
            Step::Decimal32 | Step::Decimal64 => Decimal::<u64>::full().longest(rest),
            Step::Hex { case, .. } => HexBytes { case, lengths: Lengths::ANY }.longest(rest),
            Step::Text { alphabet, .. } => {
                self.alphabets.get(usize::from(alphabet)).map_or(0, |alphabet| alphabet.run(rest))
            }
        }
    }

    /// The value of a step, `Some(None)` for a literal that fits.
    #[expect(clippy::option_option, reason = "a step may fail, and may have no value")]
    fn value(&self, step: Step, bytes: &[u8]) -> Option<Option<Value>> {
        let lengths = |min: u32, max: u32| Lengths::Range {
            min: min as usize,
            max: if max == u32::MAX { usize::MAX } else { max as usize },
        };
        let unsigned = |n: u64| Value::Unsigned(n.into());
        Some(Some(match step {
            Step::Literal { len, bytes: literal } => {
                return (literal.get(..usize::from(len)) == Some(bytes)).then_some(None);
            }
            Step::U8 => unsigned(Be::<u8>::new().decode(bytes).ok()?.into()),
            Step::U16 => unsigned(Be::<u16>::new().decode(bytes).ok()?.into()),
            Step::U32 => unsigned(Be::<u32>::new().decode(bytes).ok()?.into()),
            Step::U64 => unsigned(Be::<u64>::new().decode(bytes).ok()?),
            Step::U128 => Value::Unsigned(Be::<u128>::new().decode(bytes).ok()?),
            Step::I64Flipped => Value::Signed(SignFlip::<i64>::new().decode(bytes).ok()?.into()),
            Step::Tick9 => Value::Signed(Tick9.decode(bytes).ok()?.into()),
            Step::Bool => Value::Bool(Bool.decode(bytes).ok()?),
            Step::Raw { .. } => Value::Bytes(bytes.to_vec()),
            Step::RawRest { min, max } => {
                Value::Bytes(Bytes { lengths: lengths(min, max) }.decode(bytes).ok()?.to_vec())
            }
            Step::Decimal32 => unsigned(Decimal::<u32>::full().decode(bytes).ok()?.into()),
            Step::Decimal64 => unsigned(Decimal::<u64>::full().decode(bytes).ok()?),
            Step::Hex { case, min, max } => {
                let lengths = lengths(min.into(), max.into());
                Value::Bytes(HexBytes { case, lengths }.decode(bytes).ok()?.bytes().collect())
            }
            Step::Text { alphabet, min, max } => {
                let alphabet = self.alphabets.get(usize::from(alphabet))?;
                let text = Text { alphabet, lengths: lengths(min, max), ..Text::ANY };
                Value::Text(text.decode(bytes).ok()?.to_owned())
            }
        }))
    }
}
