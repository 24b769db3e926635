//! What a name under the cursor is: its bytes in an example key, where they end, and what is proved of it.

use std::fmt::Write;

use keyplan_plan::diag::{FileId, Span};
use keyplan_plan::dynamic::encode;
use keyplan_plan::explain::pieces;
use keyplan_plan::model::{Argument, Extent, Family, Segment, Sequence, Width};
use keyplan_plan::notation::{Notation, assignments};
use keyplan_plan::sample::arguments;
use keyplan_plan::syntax::ast::Item;
use keyplan_plan::syntax::{TokenKind, lex};
use keyplan_prover::{Guarantee, Statement, Verdict};
use keyplan_report::picture::draw;
use serde_json::{Value, json};

use crate::analysis::{Document, holds};
use crate::language::explained;
use crate::names::{Kind, names};

/// How wide a picture of a key may get.
const WIDTH: usize = 76;

/// The most bytes of an example key that are drawn.
const MOST_BYTES: usize = 96;

/// The hover at an offset; null if there is nothing to say.
pub(crate) fn hover(document: &Document, offset: usize) -> Value {
    let said = at_name(document, offset).or_else(|| at_word(document, offset));
    said.map_or(Value::Null, |text| json!({ "contents": { "kind": "markdown", "value": text } }))
}

fn at_name(document: &Document, offset: usize) -> Option<String> {
    let all = names(&document.trees);
    let name = all.iter().find(|name| holds(name.span, offset))?;
    let family = document.family_at(offset);
    match name.kind {
        Kind::Family if name.declares => Some(of_family(document, family?)),
        Kind::Family => {
            let path = format!("{}.{}", name.scope, name.text);
            let (_, family) = document.plan()?.families().find(|(_, family)| family.path == path)?;
            Some(of_family(document, family))
        }
        Kind::Argument => {
            let family = family?;
            if name.scope.ends_with(" key") {
                return of_argument(document, family, &name.text);
            }
            None
        }
        Kind::Type => {
            let used = all.iter().filter(|other| other.is(name) && !other.declares).count();
            let (doc, span) = declared_type(document, &name.text)?;
            let text = document.compiled.sources.slice(span);
            Some(format!("```keyplan\n{text}\n```\n{}\n\nused {used} times", doc.join("\n")))
        }
        _ => None,
    }
}

/// The documentation of a type or a name set, and its whole declaration.
fn declared_type<'d>(document: &'d Document, name: &str) -> Option<(&'d [String], Span)> {
    document.trees.iter().flat_map(|tree| &tree.items).find_map(|item| match item {
        Item::Type(decl) if decl.name.text == name => Some((decl.doc.as_slice(), decl.span)),
        Item::Names(decl) if decl.name.text == name => Some((decl.doc.as_slice(), decl.span)),
        _ => None,
    })
}

/// A word of the language.
fn at_word(document: &Document, offset: usize) -> Option<String> {
    let tokens = lex(FileId(0), document.text()).tokens;
    // At the first character of a word the mark before it ends.
    let touching = tokens.iter().filter(|token| holds(token.span, offset));
    touching.into_iter().find_map(|token| match &token.kind {
        TokenKind::Ident(word) => explained(word),
        _ => None,
    })
}

fn of_family(document: &Document, family: &Family) -> String {
    let mut out = format!("**{}**\n\n{}\n", family.path, family.doc.join("\n"));
    out.push_str(&picture(&family.key));
    let width = family.key.width();
    let _ = write!(out, "\n{}\n", size(width));
    out.push_str(&verdicts(document, family));
    out
}

fn of_argument(document: &Document, family: &Family, name: &str) -> Option<String> {
    let argument = family.key.arguments().find(|argument| argument.name.as_deref() == Some(name))?;
    let plan = document.plan()?;
    let mut out = format!("```keyplan\n{name}: {}\n```\n", Notation::of(plan).type_of(argument));
    out.push_str(&picture(&family.key));
    let _ = write!(out, "\n{}\n", facts(&family.key, argument));
    out.push_str(&verdicts(document, family));
    Some(out)
}

/// Where an argument's bytes are and how their end is known.
fn facts(sequence: &Sequence, argument: &Argument) -> String {
    let extent = match argument.shape.extent() {
        Extent::Fixed(bytes) => format!("always {bytes} bytes"),
        Extent::Delimited => format!("marks its own end, {}", size(Width::of_shape(&argument.shape))),
        Extent::Open => {
            format!("ends where the next segment begins, {}", size(Width::of_shape(&argument.shape)))
        }
    };
    match offset_of(sequence, argument) {
        Some(offset) => format!("{extent}; from byte {offset}"),
        None => extent,
    }
}

/// Where an argument begins, if that is the same in every key.
pub(crate) fn offset_of(sequence: &Sequence, argument: &Argument) -> Option<usize> {
    let mut at = 0;
    for segment in sequence.segments() {
        match segment {
            Segment::Argument(other) if other.span == argument.span => return Some(at),
            segment => at += fixed_width(segment)?,
        }
    }
    None
}

/// How many bytes a segment always takes; `None` if that differs.
pub(crate) fn fixed_width(segment: &Segment) -> Option<usize> {
    Width::of_segment(segment).fixed()
}

fn size(width: Width) -> String {
    match (width.min, width.max) {
        (min, Some(max)) if min == max => format!("{min} bytes"),
        (min, Some(max)) => format!("{min} to {max} bytes"),
        (min, None) => format!("{min} bytes or more"),
    }
}

/// An example key with what its bytes are.
fn picture(sequence: &Sequence) -> String {
    let drawn = || {
        let values = arguments(sequence)?;
        let mut bytes = Vec::new();
        encode(sequence, &values, &mut bytes).ok()?;
        if bytes.len() > MOST_BYTES {
            return None;
        }
        let pieces = pieces(sequence, &bytes, &values)?;
        let picture = draw(&bytes, &pieces, WIDTH).painted(|_, text| text.to_owned());
        Some(format!("```text\n{}\n\n{}\n```\n", assignments(sequence, &values), picture.trim_end()))
    };
    drawn().unwrap_or_default()
}

/// What is proved of a family, a line each.
fn verdicts(document: &Document, family: &Family) -> String {
    let Some(checked) = &document.checked else { return String::from("not proved yet\n") };
    let own = |statement: &&Statement| statement.family == family.path;
    let mut lines: Vec<String> = Vec::new();
    for statement in checked.statements().filter(own) {
        let claim = claim(family, statement);
        let verdict = match &statement.verdict {
            _ if statement.accepted => "a flaw, accepted".to_owned(),
            Verdict::Holds => "proved".to_owned(),
            Verdict::Assumed(assumption) => format!("proved {assumption}"),
            Verdict::Fails(_) => "**refuted**".to_owned(),
            Verdict::Unknown(_) => "unknown".to_owned(),
        };
        let line = format!("- {claim}: {verdict}");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    // A family meets many others: what holds for all of them is one line.
    let flawed = |line: &String| !line.ends_with(": proved");
    let met = |line: &&String| line.starts_with("- no key of");
    let all_met =
        lines.iter().filter(met).count() > 0 && !lines.iter().any(|line| met(&line) && flawed(line));
    let mut out: Vec<String> = lines.iter().filter(|line| !met(line) || flawed(line)).cloned().collect();
    if all_met {
        out.push("- no key of another family: proved".to_owned());
    }
    out.join("\n") + "\n"
}

fn claim(family: &Family, statement: &Statement) -> String {
    let scan = || {
        let scan = statement.scan.and_then(|id| family.scan(id));
        scan.map_or_else(|| "`scan`".to_owned(), |scan| format!("`scan {}`", scan.words(&family.key)))
    };
    let other = statement.other.as_deref().unwrap_or("another family");
    match statement.guarantee {
        Guarantee::Disjoint => format!("no key of `{other}`"),
        Guarantee::Unambiguous => "one reading per key".to_owned(),
        Guarantee::NoForeignRows => format!("{} returns no row of other families", scan()),
        Guarantee::NoSiblingRows => format!("{} returns no row with other arguments", scan()),
        Guarantee::InOrder => format!("{} is in order", scan()),
        Guarantee::NoMissingRows => format!("{} leaves out no row", scan()),
        Guarantee::Allotted => "its number is its own to use".to_owned(),
        Guarantee::DistinctNames => "known names have digests of their own".to_owned(),
        Guarantee::Lossless => "nothing is lost".to_owned(),
        Guarantee::Fits => "every key fits the engine".to_owned(),
        Guarantee::KeepsOut => format!("keeps out of `{other}`"),
        _ => statement.guarantee.code().to_owned(),
    }
}
