#![doc = include_str!("KP0009.md")]

use keyplan_plan::diag::Diagnostic;
use keyplan_plan::model::{FloatEncoding, IntEncoding, ScoreEncoding, Segment, Shape};

use crate::diagnose::lanes::differing;
use crate::diagnose::witness::{Shown, with_witness};
use crate::diagnose::{Finding, Made};
use crate::proof::Side;

/// Two values that are written as the same bytes.
pub(crate) fn diagnostic(finding: Finding<'_>, first: &Side, second: &Side) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let segment = subject.sequence.segments().get(differing(subject.sequence, first, second)?)?;
    let Segment::Argument(argument) = segment else { return None };
    let name = segment.label();
    let message = format!("two values of `{name}` in {} are written as the same bytes", subject.title());
    let diagnostic = Diagnostic::new(finding.code(), message, segment.span(), "loses information");
    let shown = |side| Shown { title: "", subject, side, made: Made::Whole };
    Some(
        with_witness(diagnostic, finding, [shown(first), shown(second)])
            .with_help(format!("{}; to keep it: `accept lossy \"why\"`", cure(&argument.shape))),
    )
}

fn cure(shape: &Shape) -> &'static str {
    match shape.unwrapped() {
        Shape::Int(int) if int.encoding == IntEncoding::Saturating => {
            "write it `.signflip`, or narrow it to numbers from 0"
        }
        Shape::Int(int) if int.encoding == IntEncoding::Float => {
            "narrow it to numbers up to 2⁵³, which all have a float"
        }
        Shape::Int(int) if int.encoding.row().loses => {
            "narrow it to numbers that differ in what is written, or write more bytes"
        }
        Shape::Float(FloatEncoding::Badger) => "write it `.ordered`",
        Shape::Score { heights: Some(_), encoding: ScoreEncoding::HeightScore } => {
            "write it `.exact`, or narrow it to heights up to 8388607, of which a float tells every place"
        }
        Shape::Score { heights: None, encoding: ScoreEncoding::HeightScore } => "write it `.exact`",
        Shape::Bytes { .. } => "declare the one length that it has, or write its length first",
        _ => "choose an encoding that loses nothing",
    }
}
