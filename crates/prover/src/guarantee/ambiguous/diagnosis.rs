#![doc = include_str!("KP0002.md")]

use keyplan_plan::diag::Diagnostic;
use keyplan_plan::model::Segment;

use crate::diagnose::lanes::{differing, parting};
use crate::diagnose::witness::{Shown, mark_end, unmarked, with_witness};
use crate::diagnose::{Finding, Made};
use crate::proof::Side;

/// Two argument lists with one key.
pub(crate) fn diagnostic(finding: Finding<'_>, first: &Side, second: &Side) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let sequence = subject.sequence;
    let message = format!("two argument lists of {} make the same key", subject.title());
    let segment = |index: usize| sequence.segments().get(index);
    let (span, label, help) = if let Some(index) = parting(sequence, first, second) {
        (segment(index)?.span(), unmarked(sequence, index), mark_end(sequence, index))
    } else {
        let index = differing(sequence, first, second)?;
        let name = segment(index).map_or("it", Segment::label);
        let lossy = sequence.arguments().any(|argument| argument.shape.loses_information());
        let (label, help) = if lossy {
            (
                format!("two values of `{name}` are written as the same bytes"),
                "choose an encoding that loses nothing",
            )
        } else {
            (
                format!("the bytes of `{name}` can be read in two ways"),
                "begin each alternative with a byte of its own, and mark where a list or an option ends",
            )
        };
        (segment(index)?.span(), label, help.to_owned())
    };
    let diagnostic = Diagnostic::new(finding.code(), message, span, label);
    let shown = |side| Shown { title: "", subject, side, made: Made::Whole };
    Some(
        with_witness(diagnostic, finding, [shown(first), shown(second)])
            .with_help(format!("{help}; to keep it: `accept ambiguous \"why\"`")),
    )
}
