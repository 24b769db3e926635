#![doc = include_str!("KP0001.md")]

use keyplan_plan::diag::Diagnostic;

use crate::diagnose::subject::{Part, Subject};
use crate::diagnose::witness::{Shown, with_witness};
use crate::diagnose::{Finding, Made};
use crate::proof::Side;

/// Two families, or two fields of a hash, and a key of both.
pub(crate) fn diagnostic(finding: Finding<'_>, first: &Side, second: &Side) -> Option<Diagnostic> {
    let one = Subject::find(finding.plan, &first.family, finding.statement)?;
    let two = Subject::find(finding.plan, &second.family, finding.statement)?;
    // What is written first in the plan is named first.
    let ((one, first), (two, second)) = if two.name_span() < one.name_span() {
        ((two, second), (one, first))
    } else {
        ((one, first), (two, second))
    };
    let message = format!("{} and {} make the same key", one.title(), two.title());
    let help = match (one.part, two.part) {
        (Part::Key, Part::Key) => format!(
            "begin one of them with bytes that the other cannot begin with, or keep it: `accept overlap({}) \"why\"`",
            two.family.local_path()
        ),
        _ => "begin one of them with bytes that the other cannot begin with, or keep it: `accept ambiguous \"why\"`"
            .to_owned(),
    };
    let diagnostic = Diagnostic::new(finding.code(), message, two.name_span(), "makes a key")
        .with_label(one.name_span(), "that this makes too");
    let (one_name, two_name) = (one.name(), two.name());
    let sides = [
        Shown { title: &one_name, subject: one, side: first, made: Made::Whole },
        Shown { title: &two_name, subject: two, side: second, made: Made::Whole },
    ];
    Some(with_witness(diagnostic, finding, sides).with_help(help))
}
