#![doc = include_str!("KP0016.md")]

use keyplan_plan::diag::{Diagnostic, NoteKind};

use crate::diagnose::subject::Subject;
use crate::diagnose::witness::{Shown, with_witness};
use crate::diagnose::{Finding, Made};
use crate::guarantee::Guarantee;
use crate::proof::{RangeStop, Side};

/// A range, and a row that it leaves out, or one that it holds and that is not its own.
pub(crate) fn diagnostic(
    finding: Finding<'_>,
    start: &Side,
    end: &RangeStop,
    row: &Side,
) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let other = Subject::find(finding.plan, &row.family, finding.statement)?;
    let scan = finding.scan();
    let (message, label, flaw) = match finding.statement.guarantee {
        Guarantee::NoForeignRows => (
            format!("the range {scan} also holds rows of {}", other.title()),
            "holds more than its rows",
            "leak",
        ),
        Guarantee::NoSiblingRows => (
            format!("the range {scan} also holds rows with other arguments"),
            "holds more than its rows",
            "leak",
        ),
        _ => (format!("the range {scan} leaves out rows of its own"), "holds fewer than its rows", "missing"),
    };
    let diagnostic = Diagnostic::new(finding.code(), message, finding.statement.span, label);
    let row_title = format!("row   {}", other.name());
    let start_title = format!("start {}", subject.name());
    let sides = [
        Shown { title: &start_title, subject, side: start, made: finding.prefix_made() },
        Shown { title: &row_title, subject: other, side: row, made: Made::Whole },
    ];
    let hex: Vec<String> = end.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let which = if end.included { "with" } else { "before" };
    let end = if hex.is_empty() { "no byte at all".to_owned() } else { hex.join(" ") };
    let mut diagnostic = with_witness(diagnostic, finding, sides)
        .with_note(NoteKind::Note, format!("the range ends {which} {end}"));
    if let Some(also) = finding.also_leaks() {
        diagnostic = diagnostic.with_note(NoteKind::Note, also);
    }
    Some(diagnostic.with_help(format!(
        "end the range with the prefix, as `scan {}` does; to keep it: `accept {flaw} \"why\"`",
        finding.plain_scan()
    )))
}
