#![doc = include_str!("KP0010.md")]

use keyplan_plan::diag::{Diagnostic, NoteKind};
use keyplan_plan::model::{BytesEncoding, Family, Plan, Sequence, Shape};
use keyplan_plan::order::sort_by_key;

use crate::diagnose::Finding;
use crate::diagnose::lanes::{Row, draw};
use crate::diagnose::shorten::thousands;
use crate::diagnose::subject::Subject;
use crate::guarantee::Guarantee;
use crate::proof::{Side, Statement};
use crate::prove::Options;

/// A key that is too long, of a family whose bounds allow it.
pub(crate) fn diagnostic(finding: Finding<'_>, key: &Side, limit: usize) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let engine = finding.options.engine.name();
    let message = match subject.sequence.longest() {
        Some(longest) => format!(
            "keys of {} have up to {} bytes, and {engine} takes {}",
            subject.title(),
            thousands(longest),
            thousands(limit)
        ),
        None => format!(
            "keys of {} have no longest length, and {engine} takes {} bytes",
            subject.title(),
            thousands(limit)
        ),
    };
    let row = Row { title: String::new(), subject, side: key };
    Some(
        Diagnostic::new(
            finding.code(),
            message,
            subject.name_span(),
            "may make a key that the engine refuses",
        )
        .with_note(NoteKind::Witness, format!("{}\n({} bytes)", draw(&[row]), thousands(key.bytes.len())))
        .with_help(
            "narrow its longest argument, or store a hash of it; to keep it: `accept oversize \"why\"`",
        ),
    )
}

/// Whether a statement is about keys of which some argument has no longest length at all.
pub(crate) fn is_endless(plan: &Plan, statement: &Statement) -> bool {
    statement.guarantee == Guarantee::Fits
        && Subject::find(plan, &statement.family, statement).is_some_and(|subject| !bounded(subject.sequence))
}

/// One warning for all families with such keys.
pub(crate) fn endless(plan: &Plan, statements: &[&Statement], options: &Options) -> Option<Diagnostic> {
    let mut families: Vec<&Family> = statements
        .iter()
        .filter_map(|s| Subject::find(plan, &s.family, s))
        .map(|subject| subject.family)
        .collect();
    sort_by_key(&mut families, |family| family.name_span);
    let first = families.first()?;
    let message = format!(
        "{} without a longest length: {} takes {} bytes",
        match families.len() {
            1 => format!("`{}` has keys", first.path),
            n => format!("{n} families have keys"),
        },
        options.engine.name(),
        thousands(options.engine.longest_key())
    );
    let paths: Vec<&str> = families.iter().map(|family| family.path.as_str()).collect();
    let diagnostic = Diagnostic::new(
        keyplan_plan::diag::Code::Oversize,
        message,
        first.name_span,
        "no argument bounds its length",
    );
    let diagnostic =
        if paths.len() > 1 { diagnostic.with_note(NoteKind::Note, lines(&paths)) } else { diagnostic };
    Some(diagnostic.with_help("give texts and bytes a longest length, as in `text(1..=64)`").as_warning())
}

/// Names with commas between them, in lines that can be read.
fn lines(names: &[&str]) -> String {
    const WIDTH: usize = 90;
    let mut out = String::new();
    let mut width = 0;
    for name in names {
        if width > 0 {
            // A comma comes after each but the last.
            let fits = width + name.len() + 3 <= WIDTH;
            out.push_str(if fits { ", " } else { ",\n" });
            width = if fits { width + 2 } else { 0 };
        }
        out.push_str(name);
        width += name.len();
    }
    out
}

/// Whether every argument has a longest value by its own declaration, apart from what a length in front can say.
fn bounded(sequence: &Sequence) -> bool {
    sequence.arguments().all(|argument| bounded_shape(&argument.shape))
}

fn bounded_shape(shape: &Shape) -> bool {
    match shape {
        Shape::Bytes { lengths, encoding } => {
            lengths.max().is_some() || matches!(encoding, BytesEncoding::Fit(_))
        }
        Shape::Nibbles { lengths, .. } => lengths.max().is_some(),
        Shape::Text(text) => text.lengths.max().is_some(),
        Shape::List { item, counts, .. } => counts.max().is_some() && bounded_shape(item),
        Shape::Opaque(_) => false,
        // A digest; or a number, a truth value, a time: nothing is inside of it.
        other => other.digest().is_some() || other.children().all(bounded_shape),
    }
}
