//! A layout as byte lanes: each segment a box with what it is, how it is written and how many bytes it takes.

use std::fmt::Write as _;

use keyplan_plan::model::{Segment, Sequence, Shape, Width};

use super::width;
use keyplan_plan::notation::derivation;
use keyplan_plan::notation::encodings;
use keyplan_plan::notation::{Notation, hex};

/// The widest row of boxes.
const WIDTH: usize = 100;

/// How deep records and choices are drawn.
const DEPTH: usize = 8;

/// Draws a layout, then the records and choices in it.
pub(super) fn lanes(notation: Notation<'_>, sequence: &Sequence) -> String {
    let mut out = String::new();
    draw(notation, sequence, "", DEPTH, &mut out);
    out
}

fn draw(notation: Notation<'_>, sequence: &Sequence, name: &str, depth: usize, out: &mut String) {
    boxes(notation, sequence, out);
    if depth == 0 {
        return;
    }
    for argument in sequence.arguments() {
        let inner = match &argument.name {
            Some(inner) if name.is_empty() => inner.clone(),
            Some(inner) => format!("{name}.{inner}"),
            None => name.to_owned(),
        };
        nested(notation, &argument.shape, &inner, depth - 1, out);
    }
}

fn nested(notation: Notation<'_>, shape: &Shape, name: &str, depth: usize, out: &mut String) {
    let (name, shape) = innermost(shape, name);
    for (label, sequence) in shape.labelled() {
        let which = label.map_or_else(String::new, |label| format!(" = {label}"));
        let _ = write!(out, "\n{name}{which}:\n");
        draw(notation, sequence, &name, depth, out);
    }
}

/// What is inside of all that an argument is written around, and its name: an element of a list is called `name[…]`.
pub(super) fn innermost<'m>(mut shape: &'m Shape, name: &str) -> (String, &'m Shape) {
    let mut name = name.to_owned();
    while let Some(inner) = shape.inner() {
        if let Shape::List { .. } = shape {
            name.push_str("[…]");
        }
        shape = inner;
    }
    (name, shape)
}

fn boxes(notation: Notation<'_>, sequence: &Sequence, out: &mut String) {
    let all: Vec<[String; 4]> = sequence.segments().iter().map(|segment| label(notation, segment)).collect();
    if all.is_empty() {
        out.push_str("(no bytes)\n");
    }
    let mut rest = all.as_slice();
    while !rest.is_empty() {
        let mut total = 1;
        let fit = rest.iter().take_while(|label| {
            total += columns(label) + 3;
            total <= WIDTH
        });
        let (row, behind) = rest.split_at(fit.count().max(1));
        row_of_boxes(row, out);
        rest = behind;
    }
}

fn row_of_boxes(row: &[[String; 4]], out: &mut String) {
    let edge = |left: char, between: &str, right: char| {
        let lines: Vec<String> = row.iter().map(|label| "─".repeat(columns(label) + 2)).collect();
        format!("{left}{}{right}\n", lines.join(between))
    };
    out.push_str(&edge('┌', "┬", '┐'));
    for line in 0..4 {
        // A line that no box uses is left out.
        if row.iter().all(|label| label.get(line).is_none_or(String::is_empty)) {
            continue;
        }
        for label in row {
            let text = label.get(line).map_or("", String::as_str);
            let padding = columns(label) - text.chars().count();
            let _ = write!(out, "│ {text}{} ", " ".repeat(padding));
        }
        out.push_str("│\n");
    }
    out.push_str(&edge('└', "┴", '┘'));
}

fn columns(label: &[String; 4]) -> usize {
    label.iter().map(|line| line.chars().count()).max().unwrap_or_default()
}

/// The lines of a box: what it is, its type, its encoding, its width.
fn label(notation: Notation<'_>, segment: &Segment) -> [String; 4] {
    let width = width(Width::of_segment(segment));
    match segment {
        Segment::Literal(literal) => {
            let digits = hex(&literal.bytes);
            let spelling = if literal.spelling.starts_with("0x") { "" } else { &literal.spelling };
            [digits, shortened(spelling), String::new(), width]
        }
        Segment::Argument(argument) => {
            let name = argument.name.as_deref().unwrap_or("value");
            let ty = argument.type_name.clone().unwrap_or_else(|| short_domain(notation, &argument.shape));
            [name.to_owned(), shortened(&ty), shortened(&encoding(&argument.shape)), width]
        }
        Segment::Same(same) => [same.name.clone(), "again".to_owned(), encoding(&same.shape), width],
        Segment::Derived(derived) => {
            let shape = Shape::Int(derived.shape.clone());
            [derived.name.clone(), derivation(derived), encoding(&shape), width]
        }
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 1).chain(['…']).collect()
}

/// A domain, without what is inside of it: that is drawn below.
fn short_domain(notation: Notation<'_>, shape: &Shape) -> String {
    let values = shape.values();
    if let Some(inner) = values.optional() {
        return format!("option of {}", short_domain(notation, inner));
    }
    if values.is_leaf() { notation.domain(values) } else { values.kind().trim_start_matches("a ").to_owned() }
}

/// How a shape is written, with the default spelled out.
pub(super) fn encoding(shape: &Shape) -> String {
    let all = encodings(shape);
    if !all.is_empty() {
        return all.join(", ");
    }
    match shape {
        Shape::Int(int) if int.ty.bits > 8 => "big-endian",
        Shape::Float(_) => "IEEE-754 bits, big-endian",
        Shape::Time(_) => "text9",
        Shape::Score { .. } => "exact",
        Shape::Bytes { .. } => "raw",
        Shape::Text(_) => "UTF-8",
        _ => "",
    }
    .to_owned()
}
