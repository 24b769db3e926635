//! What a key means, for people.

use keyplan_plan::diag::grouped;
use keyplan_plan::dynamic::{Failure, Readings};
use keyplan_plan::explain::{Explanation, Front, Nearest, Reading, front, sound};
use keyplan_plan::model::{Family, Opaque, Plan, Scan, Segment, Sequence, Shape};
use keyplan_plan::notation::{argument_name, first_sentence};
use keyplan_report::explain_json::why;
use keyplan_report::json_text;
use keyplan_report::picture::{caret, draw};
use keyplan_report::row::Stored;
use keyplan_report::values::{has_schema, opaque_text, value_pieces, whole_opaque};

use super::picture::coloured;
use super::{DIM, ERROR, NAME, Notation, STRONG, counted, hex, painted};

/// One key: its family and a picture of its bytes, or how far the nearest families get.
pub fn explanation(
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
    let same_family = |a: &Reading<'_>, b: &Reading<'_>| a.decoded.family.path == b.decoded.family.path;
    for (index, readings) in explanation.readings.chunk_by(same_family).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        readings_of_one(plan, key, readings, width, &mut out);
    }
    out
}

/// A line of standard input that is not a key.
pub fn bad_line(line: usize, why: &str) -> String {
    format!("{}: {why}\n", painted(ERROR, format!("line {line} is not a key")))
}

/// Says that there are several readings, and whether that is the plan's fault.
fn several(explanation: &Explanation<'_>, out: &mut String) {
    let mut names: Vec<&str> =
        explanation.readings.iter().map(|reading| reading.decoded.space.name.as_str()).collect();
    let ambiguous = names.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    names.dedup();
    let count = explanation.readings.len();
    let least = if explanation.more { "at least " } else { "" };
    if ambiguous {
        let text = format!("this key is ambiguous: {least}{}", counted(count, "reading", "readings"));
        out.push_str(&painted(ERROR, text));
    } else {
        let text = format!("this key can be in {} spaces", names.len());
        out.push_str(&painted(STRONG, text));
    }
    if names.len() > 1 {
        put!(out, "; choose one with --space: {}", names.join(", "));
    }
    out.push_str("\n\n");
}

/// The readings of one family: what it is, a picture for each, and what else is known.
fn readings_of_one(plan: &Plan, key: &[u8], readings: &[Reading<'_>], width: usize, out: &mut String) {
    let Some(family) = readings.first().map(|reading| reading.decoded.family) else { return };
    heading(&family.path, &family.doc, out);
    if let Some(why) = &family.retired {
        put!(out, "{}: {}\n", painted(ERROR, "retired"), why);
    }
    for reading in readings {
        out.push('\n');
        if let Some(pieces) = reading.pieces(key) {
            out.push_str(&coloured(&draw(key, &pieces, width)));
        } else {
            put!(out, "  {}\n", hex(key));
        }
    }
    scans(family, readings, width, out);
    facts(Notation::of(plan), family, out);
}

/// The scans of the family, each with the bytes of the prefix by which it finds this key.
///
/// ```text
///   scans  all               01
///          by pool in order  010000000000000007
/// ```
fn scans(family: &Family, readings: &[Reading<'_>], width: usize, out: &mut String) {
    let words: Vec<String> = family.scans.iter().map(|scan| super::scan(family, scan)).collect();
    let column = words.iter().map(|words| words.chars().count()).max().unwrap_or(0);
    let title = "scans";
    // Two before the title, and two after each column.
    let bytes_at = title.len() + column + 6;
    let line = (width.saturating_sub(bytes_at) / 2 * 2).max(LEAST_DIGITS);
    for (index, (scan, words)) in family.scans.iter().zip(&words).enumerate() {
        out.push_str(if index == 0 { "\n  " } else { "  " });
        out.push_str(&if index == 0 { painted(DIM, title) } else { " ".repeat(title.len()) });
        let bytes = prefixes(family, scan, readings);
        let mut lines = broken(&bytes, line).into_iter();
        put!(out, "  {words:column$}  {}\n", lines.next().unwrap_or_default());
        for more in lines {
            put!(out, "{:bytes_at$}{more}\n", "");
        }
    }
}

/// The digits of a scan's prefix that a line has at least.
const LEAST_DIGITS: usize = 16;

/// Text in lines of so many characters.
fn broken(text: &str, line: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(line.max(1)).map(|line| line.iter().collect()).collect()
}

/// The prefix of a scan that finds the key; one for each reading, where they differ. `·` is a prefix of no bytes.
fn prefixes(family: &Family, scan: &Scan, readings: &[Reading<'_>]) -> String {
    let mut all: Vec<String> = Vec::new();
    for reading in readings {
        let mut bytes = Vec::new();
        let values = scan.values_of(&family.key, &reading.decoded.values);
        let written = values.is_some_and(|values| scan.write(&family.key, &values, &mut bytes).is_ok());
        let text = if bytes.is_empty() { "·".to_owned() } else { hex(&bytes) };
        if written && !all.contains(&text) {
            all.push(text);
        }
    }
    all.join(" or ")
}

/// `cl.tick — liquidity at every initialised tick of a pool`
fn heading(title: &str, doc: &[String], out: &mut String) {
    out.push_str(&painted(NAME, title));
    if let Some(sentence) = first_sentence(doc) {
        put!(out, " — {sentence}");
    }
    out.push('\n');
}

/// `value  TickInfo (protobuf)`
fn facts(notation: Notation<'_>, family: &Family, out: &mut String) {
    let mut facts = Vec::new();
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
    put!(out, "{}  {}\n", if family.scans.is_empty() { "\n" } else { "" }, facts.join("        "));
}

fn miss(plan: &Plan, spaces: &[usize], key: &[u8], nearest: &[Nearest<'_>], width: usize, out: &mut String) {
    let owner = match spaces {
        [only] => plan.spaces.get(*only).map_or(plan.name.as_str(), |space| space.name.as_str()),
        _ => plan.name.as_str(),
    };
    let title = format!("no family of `{owner}` makes this key");
    put!(out, "{} ({})\n", painted(ERROR, title), counted(key.len(), "byte", "bytes"));
    for front in nearest.iter().filter_map(|found| front(found.family, key)) {
        out.push_str(&the_front(&front));
    }
    for (index, found) in nearest.iter().enumerate() {
        let failure = &found.failure;
        let far = if index == 0 { " gets furthest" } else { "" };
        let place = format!("byte {}, in `{}`", failure.offset, failure.segment);
        put!(out, "\n  {}{far}: {place}\n", painted(NAME, &found.family.path));
        let drawn = caret(key, &found.sound(key), failure.offset, &why(failure), width);
        out.push_str(&coloured(&drawn));
    }
}

/// `prefix of cl.tick, pool_id = 7: rows of the scan by pool_id`
fn the_front(front: &Front<'_>) -> String {
    let family = front.family;
    let values = family.key.arguments().zip(&front.values);
    let mut out = format!("\n  prefix of {}", painted(NAME, &family.path));
    for (argument, value) in values {
        put!(out, ", {} = {}", argument_name(argument), argument.display(value));
    }
    if let Some(scan) = front.scan() {
        put!(out, ": the scan {}", super::scan(family, scan));
    } else if let (1.., Some(next)) = (front.begun, front.next()) {
        put!(out, ", and {} of {}", counted(front.begun, "byte", "bytes"), next.label());
    } else if let Some(next) = front.next() {
        put!(out, "; {} would be next", next.label());
    }
    out.push('\n');
    out
}

/// What a database has under a key, or how many rows begin with it.
pub fn stored(source: &str, space: &str, stored: &Stored) -> String {
    let place = format!("space {} of {source}", painted(NAME, space));
    match stored {
        Stored::Value(value) => format!("\nin {place}: {}\n", super::row::cut(value)),
        Stored::Front(begun) => {
            let rows = match (begun.rows, begun.more) {
                (0, _) => "none begins with it".to_owned(),
                (rows, false) => format!("{} with it", super::row::many(rows, "row begins", "rows begin")),
                (rows, true) => format!("more than {} rows begin with it", grouped(rows)),
            };
            format!("\nno row of {place} has this key; {rows}\n")
        }
    }
}

/// The same as an object on a line of its own.
pub fn stored_json(source: &str, space: &str, stored: &Stored) -> Vec<u8> {
    let object = match stored {
        Stored::Value(value) => {
            serde_json::json!({ "source": source, "space": space, "row": true, "value": hex(value) })
        }
        Stored::Front(begun) => {
            serde_json::json!({ "source": source, "space": space, "row": false, "rows_begin": begun.rows, "more": begun.more })
        }
    };
    format!("{object}\n").into_bytes()
}

/// A value, field or member under its layout.
pub fn part(
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
            let text = format!("this is not a {title}");
            put!(out, "{}: {}\n", painted(ERROR, text), Notation::of(plan).value_layout(sequence));
            let drawn = caret(bytes, &sound(sequence, bytes), failure.offset, &why(failure), width);
            out.push_str(&coloured(&drawn));
        }
        Ok(found) => {
            heading(title, doc, &mut out);
            if found.readings.len() > 1 {
                let count = counted(found.readings.len(), "reading", "readings");
                put!(out, "{}\n", painted(ERROR, format!("ambiguous: {count}")));
            }
            for values in &found.readings {
                out.push('\n');
                match (json(sequence, bytes), value_pieces(sequence, bytes, values)) {
                    (Some(text), _) => out.push_str(&text),
                    (None, Some(pieces)) => {
                        out.push_str(&coloured(&draw(bytes, &pieces, width)));
                        out.push_str(&inside(sequence, bytes).unwrap_or_default());
                    }
                    (None, None) => put!(out, "  {}\n", hex(bytes)),
                }
            }
        }
    }
    out
}

/// What is in a value that is nothing but one of another format, or what is wrong with it.
fn inside(sequence: &Sequence, bytes: &[u8]) -> Option<String> {
    let opaque = whole_opaque(sequence).filter(|_| !bytes.is_empty())?;
    match opaque_text(opaque, bytes)? {
        Ok(text) => Some(format!("  {text}\n")),
        Err(_) if matches!(opaque, Opaque::Proto(_)) && !has_schema(opaque) => None,
        Err(fault) => Some(format!("  {}\n", painted(ERROR, format!("not {}: {fault}", opaque.name())))),
    }
}

/// A value that is nothing but JSON, written out.
fn json(sequence: &Sequence, bytes: &[u8]) -> Option<String> {
    let [Segment::Argument(argument)] = sequence.segments() else { return None };
    let Shape::Opaque(Opaque::Json) = argument.shape else { return None };
    let text = json_text::indented(std::str::from_utf8(bytes).ok()?)?;
    let mut out = String::new();
    for line in text.lines() {
        put!(out, "  {line}\n");
    }
    Some(out)
}
