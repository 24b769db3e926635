//! The two keys of a witness, drawn and with what they are made of; and how to mark where a part ends.

use keyplan_plan::diag::{Diagnostic, NoteKind};
use keyplan_plan::model::{Extent, Segment, Sequence};

use super::Finding;
use super::lanes::{Row, draw};
use super::recipe::{Made, recipe};
use super::subject::Subject;
use crate::proof::Side;

/// A side of a witness, with what a table calls it.
pub(crate) struct Shown<'a> {
    pub(crate) title: &'a str,
    pub(crate) subject: Subject<'a>,
    pub(crate) side: &'a Side,
    pub(crate) made: Made,
}

/// Adds the keys of a witness and what they are made of.
pub(crate) fn with_witness(
    diagnostic: Diagnostic,
    finding: Finding<'_>,
    sides: [Shown<'_>; 2],
) -> Diagnostic {
    let recipes: Vec<_> = sides
        .iter()
        .filter_map(|shown| recipe(finding.path, shown.subject, shown.side, shown.made))
        .collect();
    let rows =
        sides.map(|shown| Row { title: shown.title.to_owned(), subject: shown.subject, side: shown.side });
    diagnostic.with_note(NoteKind::Witness, draw(&rows)).with_recipes(recipes)
}

/// How to mark where a segment ends.
pub(crate) fn mark_end(sequence: &Sequence, index: usize) -> String {
    let Some(segment) = sequence.segments().get(index) else { return String::new() };
    let name = segment.label();
    if sequence.ends_like_a_zero(index) {
        return format!(
            "put a literal after `{name}` that does not begin with `ff`, or write it `.terminated`"
        );
    }
    if sequence.segments().get(index + 1).is_some_and(|next| matches!(next, Segment::Literal(_))) {
        // What comes after it may also be in it.
        return format!(
            "narrow `{name}` so that it cannot hold what comes after it, or write its length first: `.len8`"
        );
    }
    format!("end `{name}` with a byte that it cannot hold, or write its length first: `.len8`")
}

/// What is wrong with a segment that ends at two places.
pub(crate) fn unmarked(sequence: &Sequence, index: usize) -> String {
    let name = sequence.segments().get(index).map_or("it", Segment::label);
    if sequence.ends_like_a_zero(index) {
        return format!("`{name}` ends with `00`, and a zero in it begins with `00` too");
    }
    let literal_behind =
        sequence.segments().get(index + 1).is_some_and(|next| matches!(next, Segment::Literal(_)));
    if literal_behind && sequence.extents().get(index) == Some(&Extent::Open) {
        format!("`{name}` may itself hold what marks its end")
    } else {
        format!("nothing marks where `{name}` ends")
    }
}
