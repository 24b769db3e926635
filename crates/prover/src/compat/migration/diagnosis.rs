//! What keeps a database from being carried from one plan to the next, for the people who write plans.

use std::fmt::Write as _;

use keyplan_plan::diag::{Code, Diagnostic, NoteKind};
use keyplan_plan::model::{DottedPath, Plan};

use crate::compat::{Counterexample, Decision, Duty, Forgotten, MigrationProof, Obligation, Part, Taken};
use crate::diagnose::Page;
use crate::diagnose::lanes::{Row, draw};
use crate::diagnose::subject::Subject;
use crate::proof::Side;

pub(crate) const TOTAL: Page = Page { code: Code::NoNewKey, text: include_str!("KP0031.md") };
pub(crate) const INJECTIVE: Page = Page { code: Code::MergedKeys, text: include_str!("KP0032.md") };
pub(crate) const READABLE: Page = Page { code: Code::UnreadableKey, text: include_str!("KP0033.md") };
pub(crate) const APART: Page = Page { code: Code::CrossingKeys, text: include_str!("KP0034.md") };
pub(crate) const COMPLETE: Page = Page { code: Code::UnspokenFamily, text: include_str!("KP0035.md") };
pub(crate) const FORGOTTEN: Page = Page { code: Code::ForgottenPrefix, text: include_str!("KP0036.md") };

/// Everything of a migration that a person must look at, in the order of the new plan's text.
pub fn diagnose_migration(proof: &MigrationProof, old: &Plan, new: &Plan) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = proof.findings().map(|duty| diagnostic(duty, old, new)).collect();
    all.sort_by(|a, b| (a.span(), a.code, &a.message).cmp(&(b.span(), b.code, &b.message)));
    all
}

fn diagnostic(duty: &Duty, old: &Plan, new: &Plan) -> Diagnostic {
    let from = &duty.from;
    let message = match duty.obligation {
        Obligation::Total => format!("keys of the old `{from}` have no new key"),
        Obligation::Injective => format!("two keys of the old `{from}` become one"),
        Obligation::Readable => format!("keys of the old `{from}` do not tell their arguments"),
        Obligation::Apart => format!("new keys are keys of an old family that stays: `{from}`"),
        Obligation::Complete => format!("nothing says what becomes of the old `{from}`"),
    };
    let label = match duty.obligation {
        Obligation::Complete => "no family here comes from it",
        _ => "its rows come from there",
    };
    let unknown = matches!(duty.decision, Decision::Unknown(_));
    let message = if unknown { format!("not proved that not: {message}") } else { message };
    let shown = Diagnostic::new(duty.obligation.code(), message, duty.span, label);
    let shown = match &duty.decision {
        Decision::Refuted(found) => with_example(shown, found, old, new),
        Decision::Unknown(why) => shown.with_note(NoteKind::Note, why.clone()),
        Decision::Proved | Decision::Assumed(_) => shown,
    };
    let name = DottedPath(from).last();
    shown.with_help(match duty.obligation {
        Obligation::Total => format!(
            "say what becomes of such rows, and where arguments come from: `from {from}(new = old) park`"
        ),
        Obligation::Injective => "keep every argument of the old key, and mark where each ends".to_owned(),
        Obligation::Readable => format!(
            "say that such rows are set aside, `from {from} park`, or that the new domains decide, `from {from} fitting`"
        ),
        Obligation::Apart => "take a prefix that no retired family has".to_owned(),
        Obligation::Complete => format!(
            "name it in the family that takes its rows, `from {from}`; or retire its prefix; or `drop {from} \"why\";`, if \
             nobody needs `{name}`"
        ),
    })
}

fn with_example(shown: Diagnostic, found: &Counterexample, old: &Plan, new: &Plan) -> Diagnostic {
    match found {
        Counterexample::Refused { old: Some(side), why } => {
            with_rows(shown, &[(old, "old", side)]).with_note(NoteKind::Note, why.clone())
        }
        Counterexample::Refused { old: None, why } => shown.with_note(NoteKind::Note, why.clone()),
        Counterexample::Merged { first, second, new: key } => {
            let shared = format!("both become {}", hex(key));
            with_rows(shown, &[(old, "old", first), (old, "old", second)]).with_note(NoteKind::Note, shared)
        }
        Counterexample::TwoReadings { first, second } => {
            with_rows(shown, &[(old, "one", first), (old, "two", second)])
        }
        Counterexample::Crossing { new: fresh, old: side } => {
            with_rows(shown, &[(new, "new", fresh), (old, "old", side)])
        }
        Counterexample::Unspoken { example, why } => {
            let shown = match example {
                Some(side) => with_rows(shown, &[(old, "old", side)]),
                None => shown,
            };
            shown.with_note(NoteKind::Note, why.clone())
        }
    }
}

/// The keys as the other findings draw them.
fn with_rows(shown: Diagnostic, sides: &[(&Plan, &str, &Side)]) -> Diagnostic {
    let rows: Option<Vec<Row<'_>>> = sides
        .iter()
        .map(|(plan, title, side)| {
            let subject = Subject::changed(plan, &side.family, Part::Key)?;
            Some(Row { title: (*title).to_owned(), subject, side })
        })
        .collect();
    if let Some(rows) = rows {
        return shown.with_note(NoteKind::Witness, draw(&rows));
    }
    let keys = sides.iter().map(|(_, title, side)| format!("{title} {}", hex(&side.bytes)));
    shown.with_note(NoteKind::Witness, keys.collect::<Vec<_>>().join(", "))
}

/// Every prefix of a release that a plan has forgotten, as a person must see it.
pub fn diagnose_forgotten(forgotten: &[Forgotten]) -> Vec<Diagnostic> {
    let one = |found: &Forgotten| {
        let prefix = hex(&found.prefix);
        let wrote = format!("release {:?} wrote keys under it in {:?}", found.release, found.space);
        if let Some(Taken { family, key }) = &found.taken {
            let takes = if key.is_some() { "takes" } else { "may take" };
            let message = format!("`{family}` {takes} keys under {prefix}, the prefix of `{}`", found.family);
            let (kind, note) = match key {
                Some(key) => (NoteKind::Witness, format!("both make {}", hex(key))),
                None => (NoteKind::Note, "that it takes none is neither proved nor refuted".to_owned()),
            };
            return Diagnostic::new(Code::ForgottenPrefix, message, found.span, "is another family")
                .with_note(kind, note)
                .with_note(NoteKind::Note, wrote)
                .with_help("begin it with bytes that no earlier family has used");
        }
        let message = format!("the plan has forgotten {prefix}, the prefix of `{}`", found.family);
        Diagnostic::new(Code::ForgottenPrefix, message, found.span, "does not keep it")
            .with_note(NoteKind::Note, wrote)
            .with_help(format!("keep it from being used again: `retired 0x{prefix} \"what it was\";`"))
    };
    forgotten.iter().map(one).collect()
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
