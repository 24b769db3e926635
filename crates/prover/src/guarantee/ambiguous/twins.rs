//! Two values of one shape with the same bytes, built from the inside out.
//!
//! The graph draws the contents of a frame and long counts as plain bytes. An ambiguity inside of them is one of the whole
//! part: a list of a count whose elements have no end of their own, or a record that can be read in two ways.

use std::collections::BTreeSet;

use keyplan_plan::diag::Span;
use keyplan_plan::dynamic::{Form, Value};
use keyplan_plan::model::{Argument, Framing, Literal, Segment, Sequence, Shape};

use crate::automaton::Arena;
use crate::guarantee::ambiguous::delimited::is_hashed;
use crate::guarantee::ambiguous::law::attempt;
use crate::guarantee::lossy::law::loses;
use crate::layout::Layout;
use crate::least::{least_row, least_value, with};
use crate::product::Budget;
use crate::proof::{Side, Verdict, Witness};
use crate::reader::alone;

/// How deep a value is looked into.
const MOST_DEPTH: u32 = 8;

/// The most elements of a list that are looked at.
const MOST_ELEMENTS: usize = 4;

/// Two argument lists of a layout with one key, which differ in one argument.
pub(crate) fn twin_rows(
    arena: &mut Arena,
    sequence: &Sequence,
    arguments: usize,
    budget: &mut Budget,
) -> Option<(Vec<Value>, Vec<Value>)> {
    for (index, argument) in sequence.arguments().enumerate().take(arguments) {
        let Some((a, b)) = twins(arena, &argument.shape, budget, 0) else { continue };
        let base = least_row(arena, sequence)?;
        return Some((with(&base, index, a), with(&base, index, b)));
    }
    None
}

/// Two argument lists of a layout with one key, as a witness.
pub(crate) fn twin_keys(arena: &mut Arena, layout: &Layout<'_>, budget: &mut Budget) -> Option<Witness> {
    let (a, b) = twin_rows(arena, layout.sequence, usize::MAX, budget)?;
    let side = |values: &[Value]| Side::key(layout.path, layout.sequence, values);
    Witness::same_key(side(&a)?, side(&b)?)
}

/// Two values of a shape that are written alike.
fn twins(arena: &mut Arena, shape: &Shape, budget: &mut Budget, depth: u32) -> Option<(Value, Value)> {
    if depth > MOST_DEPTH || budget.is_spent() || loses(shape) {
        return None;
    }
    match shape {
        Shape::List { item, counts, framing } => {
            let least =
                |from: usize| (from..=from.max(counts.min()) + MOST_ELEMENTS).find(|&n| counts.admits(n));
            if let Some((a, b)) = twins(arena, item, budget, depth + 1) {
                let fill = least_value(arena, item)?;
                let list = |value: Value| {
                    let mut list = vec![fill.clone(); least(1)?];
                    *list.first_mut()? = value;
                    Some(Value::List(list))
                };
                return Some((list(a)?, list(b)?));
            }
            let count = least(2).filter(|&count| count <= MOST_ELEMENTS)?;
            let elements = in_a_row(item, count, framing);
            let (a, b) = readings(arena, &elements, budget)?;
            Some((Value::List(a), Value::List(b)))
        }
        shape => {
            let forms: Vec<Form<'_>> = shape.forms()?.collect();
            for form in &forms {
                if let Some((a, b)) = inside(arena, *form, budget, depth) {
                    return form.value(a).zip(form.value(b));
                }
            }
            if forms.len() < 2 {
                return None;
            }
            // One form may be written as another one is.
            let (a, b) = readings(arena, &alone(shape), budget)?;
            a.into_iter().next().zip(b.into_iter().next())
        }
    }
}

/// The parts of two values of a form: one part has twins, or the arguments of a row together do. What is hashed is looked into:
/// two that are written alike have one digest.
fn inside(
    arena: &mut Arena,
    form: Form<'_>,
    budget: &mut Budget,
    depth: u32,
) -> Option<(Vec<Value>, Vec<Value>)> {
    for (index, shape) in form.shapes().enumerate() {
        let Some((a, b)) = twins(arena, shape, budget, depth + 1) else { continue };
        let Some(row) = form.row() else { return Some((vec![a], vec![b])) };
        let base = least_row(arena, row)?;
        return Some((with(&base, index, a), with(&base, index, b)));
    }
    readings(arena, form.row()?, budget)
}

/// Two readings of one key of a sequence.
fn readings(arena: &mut Arena, sequence: &Sequence, budget: &mut Budget) -> Option<(Vec<Value>, Vec<Value>)> {
    // Whose digest it is cannot be read.
    if sequence.arguments().any(|argument| is_hashed(&argument.shape)) {
        return None;
    }
    let layout = Layout::new(arena, "contents", sequence, BTreeSet::new());
    let drawing = layout.drawing.as_ref()?;
    match attempt(arena, &layout, drawing, budget) {
        Verdict::Fails(witness) => match *witness {
            Witness::SameKey { first, second } => Some((first.values, second.values)),
            _ => None,
        },
        _ => None,
    }
}

/// Some elements of a list as a sequence, with what is between them.
fn in_a_row(item: &Shape, count: usize, framing: &Framing) -> Sequence {
    let mut segments = Vec::new();
    for index in 0..count {
        if let (Framing::Joined(separator), 1..) = (framing, index) {
            let bytes = separator.clone();
            segments.push(Segment::Literal(Literal {
                bytes,
                spelling: String::new(),
                hashed: None,
                span: Span::default(),
            }));
        }
        segments.push(Segment::Argument(Argument {
            name: None,
            type_name: None,
            shape: item.clone(),
            shown: None,
            doc: Vec::new(),
            span: Span::default(),
        }));
    }
    Sequence::new(segments)
}
