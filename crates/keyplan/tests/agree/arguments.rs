use keyplan::codec::EncodeError as Refusal;
use keyplan::laws::{Misfit, Part, TypeEntry};
use keyplan::plan::dynamic::{EncodeError, EncodeFault, Value, encode, readings};
use keyplan::plan::model::{
    AcceptKind, BytesEncoding, Family, FloatEncoding, ScoreEncoding, Segment, Sequence, Shape,
};
use keyplan::typed::{KeyFault, SegmentError};

/// What two paths agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// The bytes.
    Bytes,
    /// The fault of an argument, and the argument.
    Refusal,
    /// That there is no such value: one path has an error, the other has a type that cannot hold it.
    Type,
}

/// How often they agreed on what.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreed {
    pub(crate) bytes: usize,
    pub(crate) refusals: usize,
    pub(crate) types: usize,
}

impl Agreed {
    pub(crate) fn add(&mut self, agreement: Agreement) {
        match agreement {
            Agreement::Bytes => self.bytes += 1,
            Agreement::Refusal => self.refusals += 1,
            Agreement::Type => self.types += 1,
        }
    }

    /// A comparison that saw only one kind of outcome would show little.
    pub(crate) fn all_seen(&self, plan: &str) {
        assert!(
            self.bytes > 0 && self.refusals + self.types > self.bytes / 20,
            "{plan}: {self:?}: there must be arguments of each kind"
        );
    }
}

/// Makes a type of `values` and compares its bytes, or its error, with those of the dynamic path.
pub(crate) fn agree_on_arguments(
    family: &Family,
    layout: &Sequence,
    entry: &TypeEntry,
    values: &[Value],
) -> Agreement {
    let what = || format!("{} {:?} of {values:?}", entry.family, entry.part);
    let mut bytes = Vec::new();
    match (encode(layout, values, &mut bytes), (entry.make)(values)) {
        (Ok(()), Ok(made)) => {
            assert_eq!(made.bytes.as_ref(), Ok(&bytes), "{}", what());
            let (same, again) = made.again.unwrap().unwrap_or_else(|error| panic!("{}: {error}", what()));
            let alone = readings(layout, &bytes, 2).is_ok_and(|all| all.readings.len() == 1 && !all.more);
            if alone && !layout_loses(layout) {
                assert!(same, "{} is read as {again}", what());
                assert_eq!(again, made.shown, "{}", what());
            }
            let flawed = family.accepted(AcceptKind::Ambiguous).next().is_some()
                || family.accepted(AcceptKind::Overlap).next().is_some();
            match made.guarded {
                Ok(guarded) => assert_eq!(guarded, bytes, "{}", what()),
                Err(error) => {
                    let guard = matches!(error.fault, KeyFault::OtherReading(_)) && flawed;
                    assert!(guard, "{} is refused: {error}", what());
                }
            }
            Agreement::Bytes
        }
        (Err(error), Ok(made)) => {
            let Err(refused) = made.bytes else { panic!("{} is made, but {error}", what()) };
            assert_eq!(refused.fault, fault(&error), "{}", what());
            assert!(names(layout, &error, refused.segment), "{}: {error}, but {refused}", what());
            if !matches!(entry.part, Part::Field(_)) {
                assert!(refused.family.starts_with(entry.family), "{}: {refused}", what());
            }
            Agreement::Refusal
        }
        (Err(error), Err(Misfit::Refused(SegmentError { fault: found, .. }))) => {
            assert_eq!(found, fault(&error), "{}", what());
            Agreement::Refusal
        }
        (Err(_), Err(_)) => Agreement::Type,
        (Ok(()), Err(misfit)) => panic!("{}: {misfit}", what()),
    }
}

/// The fault as types have it.
fn fault(error: &EncodeError) -> KeyFault {
    match &error.fault {
        EncodeFault::Refused(fault) => KeyFault::Argument(*fault),
        EncodeFault::Count { found } => KeyFault::Count { found: *found },
        other => panic!("{other:?} has no counterpart: a type cannot be made so"),
    }
}

/// Whether `segment` is the narrowest argument on the way to the fault: elements of lists and alternatives are not
/// arguments, and have none of their own to name.
fn names(layout: &Sequence, error: &EncodeError, segment: &str) -> bool {
    let mut narrowest = "";
    let mut at = Place::Row(layout);
    for name in &error.path {
        at = match at {
            Place::Row(row) => {
                let found = row.segments().iter().find_map(|part| match part {
                    Segment::Argument(argument) if argument.name.as_ref() == Some(name) => {
                        Some(&argument.shape)
                    }
                    Segment::Same(same) if same.name == *name => Some(&same.shape),
                    _ => None,
                });
                narrowest = name;
                match found {
                    Some(shape) => Place::in_shape(shape),
                    None => return narrowest == segment,
                }
            }
            Place::Choice(shape) => {
                let Shape::Choice(alternatives) = shape else { return false };
                let alternative = alternatives.iter().find(|alternative| alternative.label == *name);
                let sequence = &alternative.unwrap().sequence;
                match sequence.arguments().next() {
                    Some(argument) if argument.name.is_none() => {
                        narrowest = "value";
                        Place::in_shape(&argument.shape)
                    }
                    _ => Place::Row(sequence),
                }
            }
            Place::List(item) => Place::in_shape(item),
            Place::Leaf => return false,
        };
    }
    narrowest == segment
}

enum Place<'m> {
    Row(&'m Sequence),
    Choice(&'m Shape),
    List(&'m Shape),
    Leaf,
}

impl<'m> Place<'m> {
    fn in_shape(shape: &'m Shape) -> Self {
        match shape {
            Shape::Record(row) => Self::Row(row),
            Shape::Choice(_) => Self::Choice(shape),
            Shape::List { item, .. } => Self::List(item),
            Shape::Option(inner)
            | Shape::Desc(inner)
            | Shape::Framed { inner, .. }
            | Shape::HashConcat { inner, .. }
            | Shape::Hashed { inner, .. } => Self::in_shape(inner),
            _ => Self::Leaf,
        }
    }
}

fn layout_loses(layout: &Sequence) -> bool {
    layout.arguments().any(|argument| loses(&argument.shape))
}

/// Whether what is read back may differ from what was written.
pub(crate) fn loses(shape: &Shape) -> bool {
    match shape {
        Shape::Hashed { .. } => true,
        Shape::Int(int) => int.encoding.row().loses,
        Shape::Float(encoding) => *encoding == FloatEncoding::Badger,
        Shape::Score { encoding, .. } => *encoding == ScoreEncoding::HeightScore,
        Shape::Bytes { encoding, .. } => matches!(encoding, BytesEncoding::Fit(_)),
        Shape::Record(sequence) => layout_loses(sequence),
        Shape::Choice(alternatives) => {
            alternatives.iter().any(|alternative| layout_loses(&alternative.sequence))
        }
        Shape::Option(inner) | Shape::Desc(inner) => loses(inner),
        Shape::List { item: inner, .. } | Shape::Framed { inner, .. } | Shape::HashConcat { inner, .. } => {
            loses(inner)
        }
        _ => false,
    }
}

/// Whether an error is that of a buffer which is too short.
pub(crate) fn is_full(fault: KeyFault) -> bool {
    matches!(fault, KeyFault::Argument(Refusal::Full { .. }))
}
