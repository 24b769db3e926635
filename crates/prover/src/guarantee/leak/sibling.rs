#![doc = include_str!("KP0004.md")]

use keyplan_plan::diag::Diagnostic;
use keyplan_plan::model::Segment;

use crate::diagnose::lanes::{differing, parting};
use crate::diagnose::witness::{Shown, mark_end, unmarked, with_witness};
use crate::diagnose::{Finding, Made};
use crate::proof::Side;

/// A scan, and a row of its own family with other bound arguments.
pub(crate) fn diagnostic(finding: Finding<'_>, scan: &Side, row: &Side) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let sequence = subject.sequence;
    let message = format!("the scan {} also returns rows with other arguments", finding.scan());
    let diagnostic = Diagnostic::new(
        finding.code(),
        message,
        finding.statement.span,
        "claims only the rows with these arguments",
    );
    let segment = |index: usize| sequence.segments().get(index);
    let (diagnostic, help) = if let Some(index) = parting(sequence, scan, row) {
        let mut help = mark_end(sequence, index);
        if sequence.ends_like_a_zero(index) && !matches!(segment(index + 1), Some(Segment::Literal(_))) {
            let plain = finding.plain_scan();
            help = format!("{help}; a range up to the zero has these rows only: `scan {plain} to 0xff`");
        }
        (diagnostic.with_label(segment(index)?.span(), unmarked(sequence, index)), help)
    } else {
        let index = differing(sequence, scan, row)?;
        let name = segment(index).map_or("it", Segment::label);
        let label = format!("two values of `{name}` are written as the same bytes");
        (
            diagnostic.with_label(segment(index)?.span(), label),
            "choose an encoding that loses nothing".to_owned(),
        )
    };
    let sides = [
        Shown { title: "scan", subject: finding.scanned_subject()?, side: scan, made: finding.prefix_made() },
        Shown { title: "row", subject, side: row, made: Made::Whole },
    ];
    Some(
        with_witness(diagnostic, finding, sides)
            .with_help(format!("{help}; to keep it: `accept leak \"why\"`")),
    )
}
