//! What a key stands for, for people.

use keyplan_plan::dynamic::{Decoded, Failure, Readings, readings};
use keyplan_plan::model::{Family, Opaque, Plan, Segment, Sequence, Shape, Space};

use super::explain_json::why;
use super::picture::{caret, picture};
use super::{DIM, ERROR, NAME, Notation, STRONG, counted, hex, painted, pretty, visible};
use crate::anatomy::{Piece, PieceKind, dissect};
use crate::command::Explanation;

/// One key: its family and a picture of its bytes, or how far the nearest families get.
pub(crate) fn explanation(
    plan: &Plan,
    spaces: &[usize],
    key: &[u8],
    explanation: &Explanation<'_>,
    width: usize,
) -> String {
    let mut out = String::new();
    if explanation.readings.is_empty() {
        miss(plan, spaces, key, &explanation.nearest, width, &mut out);
        return out;
    }
    if explanation.readings.len() > 1 {
        several(explanation, &mut out);
    }
    let same_family = |a: &Decoded<'_>, b: &Decoded<'_>| a.family.path == b.family.path;
    for (index, readings) in explanation.readings.chunk_by(same_family).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        readings_of_one(plan, key, readings, width, &mut out);
    }
    out
}

/// A line of standard input that is no key.
pub(crate) fn bad_line(line: usize, why: &str) -> String {
    format!("{}: {why}\n", painted(ERROR, format!("line {line} is not a key")))
}

/// Says that there are several readings, and whether that is the plan's fault.
fn several(explanation: &Explanation<'_>, out: &mut String) {
    let mut names: Vec<&str> =
        explanation.readings.iter().map(|reading| reading.space.name.as_str()).collect();
    let ambiguous = names.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    names.dedup();
    let count = explanation.readings.len();
    let least = if explanation.more { "at least " } else { "" };
    if ambiguous {
        let text = format!("this key is ambiguous: {least}{}", counted(count, "reading", "readings"));
        out.push_str(&painted(ERROR, text));
    } else {
        let text = format!("this key can stand in {} spaces", names.len());
        out.push_str(&painted(STRONG, text));
    }
    if names.len() > 1 {
        put!(out, "; choose one with --space: {}", names.join(", "));
    }
    out.push_str("\n\n");
}

/// The readings of one family: what it is, a picture for each, and what else is known.
fn readings_of_one(plan: &Plan, key: &[u8], readings: &[Decoded<'_>], width: usize, out: &mut String) {
    let Some(family) = readings.first().map(|reading| reading.family) else { return };
    heading(&family.path, &family.doc, out);
    if let Some(why) = &family.retired {
        put!(out, "{}: {}\n", painted(ERROR, "retired"), visible(why));
    }
    for reading in readings {
        out.push('\n');
        if let Some(mut pieces) = dissect(&family.key, &reading.values) {
            name_prefix(reading.space, family, &mut pieces);
            out.push_str(&picture(key, &pieces, width));
        } else {
            put!(out, "  {}\n", hex(key));
        }
    }
    facts(Notation::of(plan), family, out);
}

/// `cl.tick — liquidity at every initialised tick of a pool`
fn heading(title: &str, doc: &[String], out: &mut String) {
    out.push_str(&painted(NAME, title));
    if let Some(sentence) = first_sentence(doc) {
        put!(out, " — {sentence}");
    }
    out.push('\n');
}

/// The first sentence of a documentation, as it stands behind a dash.
pub(crate) fn first_sentence(doc: &[String]) -> Option<String> {
    let paragraph: Vec<&str> =
        doc.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
    let text = visible(&paragraph.join(" "));
    let sentence = text.split_once(". ").map_or(text.as_str(), |(first, _)| first).trim_end_matches('.');
    let mut chars = sentence.chars();
    let first = chars.next()?;
    let acronym = chars.clone().next().is_some_and(char::is_uppercase);
    let head = if acronym { first.to_string() } else { first.to_lowercase().to_string() };
    Some(format!("{head}{}", chars.as_str()))
}

/// Labels the literals in front with the modules and the family that they stand for.
pub(super) fn name_prefix(space: &Space, family: &Family, pieces: &mut [Piece]) {
    let mut modules: Vec<(usize, &str)> = Vec::new();
    let mut module = family.module.and_then(|id| space.modules.get(id.0));
    while let Some(outer) = module {
        modules.push((outer.prefix.len(), &outer.name));
        module = outer.parent.and_then(|id| space.modules.get(id.0));
    }
    let mut end = 0;
    let mut named = false;
    for piece in pieces.iter_mut().take_while(|piece| piece.kind == PieceKind::Literal) {
        end += piece.len;
        let module = modules.iter().rev().find(|(prefix, _)| *prefix == end);
        if let Some((_, name)) = module {
            (*name).clone_into(&mut piece.label);
        } else if !named && modules.iter().all(|(prefix, _)| *prefix < end) {
            named = true;
            piece.label.clone_from(&family.name);
        }
    }
}

/// `scans  by pool in order        value  TickInfo (protobuf)`
fn facts(notation: Notation<'_>, family: &Family, out: &mut String) {
    let mut facts = Vec::new();
    let scans: Vec<String> = family.scans.iter().map(|scan| super::scan(family, scan)).collect();
    if !scans.is_empty() {
        facts.push(("scans", scans.join("; ")));
    }
    if let Some(value) = &family.value {
        facts.push(("value", notation.value_layout(value)));
    }
    if let Some(member) = &family.member {
        facts.push(("member", notation.parts(member)));
    }
    if let Some(score) = &family.score {
        facts.push(("score", notation.parts(score)));
    }
    if !family.fields.is_empty() {
        let names: Vec<&str> = family.fields.iter().map(|field| field.name.as_str()).collect();
        facts.push(("fields", names.join(", ")));
    }
    let mut kinds: Vec<&str> = family.accepts.iter().map(|accept| accept.kind.word()).collect();
    kinds.dedup();
    if !kinds.is_empty() {
        facts.push(("accepted flaws", kinds.join(", ")));
    }
    if facts.is_empty() {
        return;
    }
    let facts: Vec<String> =
        facts.into_iter().map(|(name, text)| format!("{}  {text}", painted(DIM, name))).collect();
    put!(out, "\n  {}\n", facts.join("        "));
}

fn miss(
    plan: &Plan,
    spaces: &[usize],
    key: &[u8],
    nearest: &[(String, Failure)],
    width: usize,
    out: &mut String,
) {
    let owner = match spaces {
        [only] => plan.spaces.get(*only).map_or(plan.name.as_str(), |space| space.name.as_str()),
        _ => plan.name.as_str(),
    };
    let title = format!("no family of `{owner}` makes this key");
    put!(out, "{} ({})\n", painted(ERROR, title), counted(key.len(), "byte", "bytes"));
    for (index, (path, failure)) in nearest.iter().enumerate() {
        let far = if index == 0 { " gets furthest" } else { "" };
        let place = format!("byte {}, in `{}`", failure.offset, failure.segment);
        put!(out, "\n  {}{far}: {place}\n", painted(NAME, path));
        let family = plan.families().find(|(_, family)| family.path == *path);
        let groups = family.map_or(Vec::new(), |(_, family)| sound_groups(&family.key, key, failure));
        out.push_str(&caret(key, &groups, failure.offset, &why(failure), width));
    }
}

/// How many tries the search for the segments before a fault may take.
const TRIES: usize = 64;

/// The lengths of the pieces that were read before the one that broke.
fn sound_groups(sequence: &Sequence, key: &[u8], failure: &Failure) -> Vec<usize> {
    let broken = sequence.segments().iter().position(|segment| segment.label() == failure.segment);
    let before: Vec<Segment> = sequence.segments().iter().take(broken.unwrap_or(0)).cloned().collect();
    let before = Sequence::new(before);
    // The broken segment begins at its fault or before it; where, only its predecessors know.
    let ends = (0..=failure.offset.min(key.len())).rev().take(TRIES);
    for end in ends.filter(|end| before.width().admits(*end)) {
        let found = readings(&before, key.get(..end).unwrap_or_default(), 1);
        if let Some(values) = found.ok().and_then(|mut found| found.readings.pop()) {
            let pieces = dissect(&before, &values).unwrap_or_default();
            return pieces.iter().map(|piece| piece.len).collect();
        }
    }
    Vec::new()
}

/// A value, field or member under its layout.
pub(crate) fn part(
    plan: &Plan,
    title: &str,
    doc: &[String],
    sequence: &Sequence,
    bytes: &[u8],
    found: &Result<Readings, Failure>,
    width: usize,
) -> String {
    let mut out = String::new();
    match found {
        Err(failure) => {
            let text = format!("this is no {title}");
            put!(out, "{}: {}\n", painted(ERROR, text), Notation::of(plan).value_layout(sequence));
            let groups = sound_groups(sequence, bytes, failure);
            out.push_str(&caret(bytes, &groups, failure.offset, &why(failure), width));
        }
        Ok(found) => {
            heading(title, doc, &mut out);
            if found.readings.len() > 1 {
                let count = counted(found.readings.len(), "reading", "readings");
                put!(out, "{}\n", painted(ERROR, format!("ambiguous: {count}")));
            }
            for values in &found.readings {
                out.push('\n');
                match (json(sequence, bytes), dissect(sequence, values)) {
                    (Some(text), _) => out.push_str(&text),
                    (None, Some(pieces)) => out.push_str(&picture(bytes, &pieces, width)),
                    (None, None) => put!(out, "  {}\n", hex(bytes)),
                }
            }
        }
    }
    out
}

/// A value that is nothing but JSON, written out.
fn json(sequence: &Sequence, bytes: &[u8]) -> Option<String> {
    let [Segment::Argument(argument)] = sequence.segments() else { return None };
    let Shape::Opaque(Opaque::Json) = argument.shape else { return None };
    let text = pretty::indented(std::str::from_utf8(bytes).ok()?)?;
    let mut out = String::new();
    for line in text.lines() {
        put!(out, "  {line}\n");
    }
    Some(out)
}
