#![doc = include_str!("KP0003.md")]

use keyplan_plan::diag::{Diagnostic, NoteKind};

use crate::diagnose::subject::Subject;
use crate::diagnose::witness::{Shown, with_witness};
use crate::diagnose::{Finding, Made};
use crate::proof::Side;

/// A scan, and a row of another family that it returns.
pub(crate) fn diagnostic(finding: Finding<'_>, scan: &Side, row: &Side) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let other = Subject::find(finding.plan, &row.family, finding.statement)?;
    let message = format!("the scan {} also returns rows of {}", finding.scan(), other.title());
    let diagnostic = Diagnostic::new(
        finding.code(),
        message,
        finding.statement.span,
        "other families have keys with this prefix",
    )
    .with_label(other.name_span(), "its keys begin with the same bytes");
    let row_title = format!("row   {}", other.name());
    let scan_title = format!("scan  {}", subject.name());
    let sides = [
        Shown {
            title: &scan_title,
            subject: finding.scanned_subject()?,
            side: scan,
            made: finding.prefix_made(),
        },
        Shown { title: &row_title, subject: other, side: row, made: Made::Whole },
    ];
    let mut diagnostic = with_witness(diagnostic, finding, sides);
    if let Some(also) = finding.also_leaks() {
        diagnostic = diagnostic.with_note(NoteKind::Note, also);
    }
    Some(diagnostic.with_help(format!(
        "begin `{}` with bytes that no other family begins with; to keep it: `accept leak \"why\"`",
        subject.family.name
    )))
}
