#![doc = include_str!("KP0008.md")]

use keyplan_plan::diag::{Diagnostic, NoteKind, Span};
use keyplan_plan::model::{Segment, Sequence, Shape};

use crate::diagnose::Finding;

/// Two names with one digest.
pub(crate) fn diagnostic(finding: Finding<'_>, first: &[u8], second: &[u8], digest: &[u8]) -> Diagnostic {
    let shown = |name: &[u8]| format!("\"{}\"", name.escape_ascii());
    let space = &finding.statement.space;
    let message = format!("the names {} and {} of `{space}` have one digest", shown(first), shown(second));
    let place = |name: &[u8]| span_of(finding, name).unwrap_or(finding.statement.span);
    let (one, two) = (place(first), place(second));
    let hex: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut diagnostic = Diagnostic::new(finding.code(), message, two, "has the digest");
    if one != two {
        diagnostic = diagnostic.with_label(one, "that this has");
    }
    diagnostic
        .with_note(NoteKind::Witness, format!("{}    {}  {}", hex.join(" "), shown(first), shown(second)))
        .with_help(
            "rename one of them, or keep more bytes of the digest: names that collide cannot be accepted",
        )
}

fn span_of(finding: Finding<'_>, name: &[u8]) -> Option<Span> {
    let space = finding.plan.spaces.iter().find(|space| space.name == finding.statement.space)?;
    space.families.iter().find_map(|family| in_sequence(&family.key, name))
}

fn in_sequence(sequence: &Sequence, name: &[u8]) -> Option<Span> {
    sequence.segments().iter().find_map(|segment| match segment {
        Segment::Literal(literal) => {
            literal.hashed.as_ref().filter(|(_, hashed)| hashed == name).map(|_| literal.span)
        }
        Segment::Argument(argument) => in_shape(&argument.shape, name),
        Segment::Same(same) => in_shape(&same.shape, name),
        Segment::Derived(_) => None,
    })
}

fn in_shape(shape: &Shape, name: &[u8]) -> Option<Span> {
    let hashed = match shape {
        Shape::Hashed { known, .. } => known.iter().find(|(_, known)| known.text.as_bytes() == name),
        _ => None,
    };
    hashed
        .map(|(_, known)| known.span)
        .or_else(|| shape.inner().and_then(|inner| in_shape(inner, name)))
        .or_else(|| shape.rows().find_map(|row| in_sequence(row, name)))
}
