//! What can be done about findings: proved repairs, an `accept` with a reason, and scans that could be claimed.

use keyplan_plan::diag::{FileId, Span};
use keyplan_plan::model::{DottedPath, Family};
use keyplan_plan::syntax::ast::{FamilyDecl, Item, Member};
use keyplan_prover::{Found, Repair};
use keyplan_report::findings::{Checked, Repairs};
use serde_json::{Value, json};

use crate::analysis::{Document, compile};
use crate::diagnostics::diagnostic;
use crate::text::Lines;
use crate::uri::uri_of;

/// The kinds of actions that there are: what cures a finding, and what changes a sound plan.
const FIX: &str = "quickfix";
const REFACTOR: &str = "refactor";

/// The most families of a plan for which a scan that could be claimed is proved on the spot.
const MOST_FAMILIES: usize = 200;

/// The actions for a range, or those of them whose kinds are wanted.
pub(crate) fn actions(document: &Document, range: Option<&Value>, only: Option<&[Value]>) -> Value {
    let wanted = |kind: &str| {
        only.is_none_or(|only| {
            only.iter().filter_map(Value::as_str).any(|only| {
                kind.strip_prefix(only).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    };
    let text = document.text();
    let at = |end: &str| {
        document.lines.offset(text, range.and_then(|range| range.get(end)).unwrap_or(&Value::Null))
    };
    let (first, last) = (at("start"), at("end"));
    let touches =
        |span: Span| span.file == FileId(0) && span.start as usize <= last && first <= span.end as usize;
    let mut all: Vec<Value> = Vec::new();
    let found = document.checked.iter().flat_map(|checked| &checked.findings);
    for found in found.filter(|found| wanted(FIX) && touches(found.diagnostic.span())) {
        all.extend(
            found
                .repairs
                .iter()
                .enumerate()
                .filter_map(|(n, repair)| repaired(document, found, repair, n == 0)),
        );
        all.extend(accepted(document, found));
    }
    let family =
        document.plan().into_iter().flat_map(keyplan_plan::model::Plan::families).map(|(_, family)| family);
    if wanted(REFACTOR)
        && let Some(family) = family.into_iter().find(|family| touches(family.span))
    {
        all.extend(scans(document, family));
    }
    Value::Array(all)
}

fn action(
    document: &Document,
    title: &str,
    uri: &str,
    range: &Value,
    text: &str,
    found: Option<&Found>,
    preferred: bool,
) -> Value {
    let mut out = json!({
        "title": title,
        "kind": if found.is_some() { FIX } else { REFACTOR },
        "isPreferred": preferred,
        "edit": { "changes": { uri: [{ "range": range, "newText": text }] } },
    });
    if let (Some(found), Some(out)) = (found, out.as_object_mut()) {
        out.insert("data".to_owned(), json!({ "code": found.diagnostic.code.id() }));
        // Which finding it cures.
        out.insert("diagnostics".to_owned(), diagnostic(document, found).into_iter().collect());
    }
    out
}

fn repaired(document: &Document, found: &Found, repair: &Repair, preferred: bool) -> Option<Value> {
    let (span, text) = &repair.edit;
    let source = document.compiled.sources.get(span.file)?;
    let lines = Lines::new(&source.text, document.lines.encoding());
    let uri = if span.file == FileId(0) { document.uri.clone() } else { uri_of(&source.name) };
    let migration = if repair.needs_migration { "needs a migration" } else { "needs no migration" };
    let title = format!("{} (proved; {migration})", repair.title);
    Some(action(document, &title, &uri, &lines.range(&source.text, *span), text, Some(found), preferred))
}

/// An `accept` clause for what a finding is about.
fn accepted(document: &Document, found: &Found) -> Option<Value> {
    let statement = found.statement.as_ref()?;
    let kind = statement.guarantee.accepted_as()?;
    let plan = document.plan()?;
    let family = plan.families().map(|(_, family)| family).find(|family| family.path == statement.of)?;
    let word = kind.word();
    let of = match (word, statement.other.as_deref()) {
        ("overlap", Some(other)) => {
            let other = DottedPath(other).rest().unwrap_or(other);
            format!("({other})")
        }
        _ => String::new(),
    };
    let clause = format!("accept {word}{of} \"say why\"");
    let (range, text) = clause_at_end(document, family, &clause)?;
    let title = format!("keep the flaw: `accept {word}{of} \"…\"`");
    Some(action(document, &title, &document.uri, &range, &text, Some(found), false))
}

/// Where a new clause of a family goes, and its text with the space around it.
fn clause_at_end(document: &Document, family: &Family, clause: &str) -> Option<(Value, String)> {
    if family.span.file != FileId(0) {
        return None;
    }
    let text = document.text();
    let end = (family.span.end as usize).checked_sub(1)?;
    let declared = text.get(family.span.start as usize..end)?;
    let indent = {
        let line = text.get(..family.span.start as usize)?.rsplit('\n').next().unwrap_or_default();
        line.len() - line.trim_start().len()
    };
    let new = if declared.contains('\n') || declared.len() + clause.len() > 90 {
        format!("\n{}{clause}", " ".repeat(indent + 4))
    } else {
        format!(" {clause}")
    };
    Some((document.lines.range_of(text, end, end), new))
}

/// Scans that a family does not claim and that would be proved.
fn scans(document: &Document, family: &Family) -> Vec<Value> {
    let (Some(plan), Some(checked)) = (document.plan(), &document.checked) else { return Vec::new() };
    if plan.families().count() > MOST_FAMILIES || declaration(document, family).is_none() {
        return Vec::new();
    }
    let names: Vec<&str> = family.key.arguments().filter_map(|argument| argument.name.as_deref()).collect();
    let claimed = |bound: usize| family.scans.iter().any(|scan| scan.bound == bound && scan.part.is_none());
    let missing = (0..names.len()).filter(|bound| !claimed(*bound));
    let mut all = Vec::new();
    for bound in missing.take(4) {
        let by = if bound == 0 {
            "all".to_owned()
        } else {
            format!("by {}", names.get(..bound).unwrap_or_default().join(", "))
        };
        for order in [" in order", ""] {
            let clause = format!("scan {by}{order}");
            if let Some(action) = provable(document, family, checked, &clause) {
                all.push(action);
                break;
            }
        }
    }
    all
}

/// An action that adds a clause, if everything that is claimed then is proved.
fn provable(document: &Document, family: &Family, before: &Checked, clause: &str) -> Option<Value> {
    let (range, new) = clause_at_end(document, family, clause)?;
    let text = document.text();
    let end = (family.span.end as usize).checked_sub(1)?;
    let edited = format!("{}{new}{}", text.get(..end)?, text.get(end..)?);
    let sources = &document.compiled.sources;
    let compiled = compile(&document.path, &edited, |path| {
        sources.find(path).and_then(|id| sources.get(id)).map(|source| source.text.clone())
    });
    let options = before.proof.as_ref().map(|(options, _)| options);
    let after = Checked::new(&document.path, compiled, options, Repairs::Unasked);
    let sound = after.proof.is_some() && after.findings.len() <= before.findings.len();
    let title = format!("claim `{clause}` (proved)");
    sound.then(|| action(document, &title, &document.uri, &range, &new, None, false))
}

/// The declaration of a family in this file.
fn declaration<'d>(document: &'d Document, family: &Family) -> Option<&'d FamilyDecl> {
    fn inside(members: &[Member], span: Span) -> Option<&FamilyDecl> {
        members.iter().find_map(|member| match member {
            Member::Family(decl) if decl.span == span => Some(decl),
            Member::Module(decl) => inside(&decl.members, span),
            _ => None,
        })
    }
    document.tree()?.items.iter().find_map(|item| match item {
        Item::Space(decl) => inside(&decl.members, family.span),
        _ => None,
    })
}
