#![doc = include_str!("KP0005.md")]

use keyplan_plan::codec::WideForm;
use keyplan_plan::diag::{Diagnostic, NoteKind};
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{
    BytesEncoding, FloatEncoding, Frame, Framing, IntEncoding, OrderRule, ScoreEncoding, Segment, Sequence,
    Shape,
};

use crate::diagnose::lanes::differing;
use crate::diagnose::witness::{Shown, with_witness};
use crate::diagnose::{Finding, Made};
use crate::proof::Side;
use crate::written::written;

/// Two rows in the wrong order.
pub(crate) fn rows(finding: Finding<'_>, first: &Side, second: &Side) -> Option<Diagnostic> {
    let note = "`first` comes before `second`, but its bytes come after";
    let titles = [("first", first, Made::Whole), ("second", second, Made::Whole)];
    diagnostic(finding, titles, note)
}

/// A row on the wrong side of the end of a range.
pub(crate) fn range(finding: Finding<'_>, end: &Side, row: &Side) -> Option<Diagnostic> {
    let note = if row.bytes >= end.bytes {
        "the row comes before the end of the range, but its bytes do not"
    } else {
        "the row does not come before the end of the range, but its bytes do"
    };
    diagnostic(finding, [("end", end, Made::Front), ("row", row, Made::Whole)], note)
}

fn diagnostic<'a>(
    finding: Finding<'a>,
    sides: [(&'a str, &'a Side, Made); 2],
    note: &str,
) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let [(_, first, _), (_, second, _)] = sides;
    let message = format!("the scan {} is not in order", finding.scan());
    let mut diagnostic = Diagnostic::new(finding.code(), message, finding.statement.span, "claims an order");
    let mut help = "use encodings whose bytes sort as their values do";
    let start = finding.statement.scan.and_then(|id| subject.family.scan(id)).map(|scan| scan.segments);
    let early = subject.sequence.segments().iter().enumerate().skip(start.unwrap_or_default());
    let mut early = early.filter(|(index, segment)| match segment {
        Segment::Derived(derived) => derived.of.iter().any(|of| of > index),
        _ => false,
    });
    if let Some((_, segment)) = early.next() {
        help = "put it after the arguments that it is derived from";
        diagnostic =
            diagnostic.with_label(segment.span(), "sorts before the arguments that it is derived from");
    } else if let Some(index) = differing(subject.sequence, first, second) {
        let segment = subject.sequence.segments().get(index)?;
        let values = first.values.iter().zip(&second.values).find(|(a, b)| a != b);
        let (why, cure) = match (segment, values) {
            (Segment::Argument(argument), Some((a, b))) => reason(&argument.shape, a, b),
            _ => BEHIND,
        };
        help = cure;
        diagnostic = diagnostic.with_label(segment.span(), why);
    }
    let shown = sides.map(|(title, side, made)| Shown { title, subject, side, made });
    Some(
        with_witness(diagnostic, finding, shown)
            .with_note(NoteKind::Note, note)
            .with_help(format!("{help}; to keep it: `accept unordered \"why\"`")),
    )
}

/// Why bytes do not sort as values do, and what would.
type Cause = (&'static str, &'static str);

const BEHIND: Cause = (
    "what comes after a short value sorts above a longer one",
    "write it `.terminated`, or put after it a byte below all that it holds",
);

/// Why the bytes of two values of a shape do not sort as the values do.
fn reason(shape: &Shape, a: &Value, b: &Value) -> Cause {
    match (shape, a, b) {
        (Shape::Record(sequence), Value::Record(a), Value::Record(b)) => of_rows(sequence, a, b),
        (Shape::Choice(alternatives), Value::Choice(i, a), Value::Choice(j, b)) => {
            match alternatives.get(*i).filter(|_| i == j) {
                Some(alternative) => of_rows(&alternative.sequence, a, b),
                None => (
                    "its alternatives do not sort as they are listed",
                    "begin each alternative with a byte of its own, the first with the least",
                ),
            }
        }
        (Shape::Option(inner), Value::Option(Some(a)), Value::Option(Some(b))) => reason(inner, a, b),
        (Shape::Desc(inner), ..) => reason(inner, a, b),
        // Where the length is the same, it is not the cause.
        (Shape::Framed { frame, inner }, ..)
            if !matches!(frame, Frame::Len(_)) || length(inner, a) == length(inner, b) =>
        {
            reason(inner, a, b)
        }
        _ => of_shape(shape),
    }
}

/// How many bytes a value takes.
fn length(shape: &Shape, value: &Value) -> Option<usize> {
    written(shape, value).map(|bytes| bytes.len())
}

/// The same of the first arguments that two rows do not share.
fn of_rows(sequence: &Sequence, a: &[Value], b: &[Value]) -> Cause {
    let mut pairs = sequence.arguments().zip(a.iter().zip(b));
    pairs.find(|(_, (a, b))| a != b).map_or(BEHIND, |(argument, (a, b))| reason(&argument.shape, a, b))
}

/// Why the bytes of a shape do not sort as its values do, whichever they are.
fn of_shape(shape: &Shape) -> Cause {
    match shape {
        Shape::Int(int) => match int.encoding {
            IntEncoding::Be if int.ty.signed => {
                ("two's complement: negative numbers sort last", "write it `.signflip`")
            }
            IntEncoding::Le if int.ty.signed => {
                ("the least byte comes first", "write it `.signflip`: big-endian, with its sign bit flipped")
            }
            IntEncoding::Le => ("the least byte comes first", "write it big-endian, the default"),
            IntEncoding::Dec => {
                ("as text, 10 sorts before 9", "pad it, as in `.dec(20)`, or write it big-endian")
            }
            IntEncoding::Hex(_) => {
                ("as text, 10 sorts before 9", "pad it, as in `.hex(16)`, or write it big-endian")
            }
            IntEncoding::Low(_) | IntEncoding::High(_) => {
                ("what is not written has no place in the order", "write all of its bytes, or narrow it")
            }
            IntEncoding::Float => (
                "a float rounds, and negative ones sort above positive ones",
                "write it big-endian, or narrow it",
            ),
            IntEncoding::Saturating => ("negative numbers are all written as 0", "write it `.signflip`"),
            encoding if matches!(encoding.row().order, OrderRule::Below(_)) => {
                ("numbers of different lengths do not sort in this form", "write it `.ordvar`, or big-endian")
            }
            _ => BEHIND,
        },
        Shape::Float(FloatEncoding::Bits) => {
            ("negative floats sort above positive ones", "write it `.ordered`")
        }
        Shape::Float(FloatEncoding::Badger) => ("-0.0 and NaN sort out of place", "write it `.ordered`"),
        Shape::Score { encoding: ScoreEncoding::HeightScore, .. } => {
            ("a float does not keep chain order", "write it `.exact`")
        }
        Shape::Bytes { encoding: BytesEncoding::Bech32(_), .. } => {
            ("bech32 does not keep the order of bytes", "write it `.hex`, or raw")
        }
        Shape::Bytes { encoding: BytesEncoding::Base58 { .. }, .. } => {
            ("base58 does not keep the order of bytes", "write it `.hex`, or raw")
        }
        Shape::Bytes { encoding: BytesEncoding::Wide { form: WideForm::Le, .. }, .. } => {
            ("the least significant byte comes first", "write it big-endian")
        }
        Shape::Bytes { encoding: BytesEncoding::Wide { signed: true, .. }, .. } => {
            ("negative numbers sort above positive ones", "write it `.signflip`")
        }
        Shape::Bytes { encoding: BytesEncoding::Fit(_), .. } => {
            ("bytes that are cut or padded lose their order", "write it `.terminated`")
        }
        Shape::Framed { frame: Frame::Len(_), .. } => {
            ("its length comes first, so shorter values do", "write it `.terminated`")
        }
        Shape::List { framing: Framing::Counted(_), .. } => {
            ("its count comes first, so shorter lists do", "write it `.terminated`")
        }
        Shape::Hashed { .. } | Shape::HashConcat { .. } => {
            ("a hash does not keep order", "leave `in order` out: rows under a hash have none")
        }
        _ => BEHIND,
    }
}
