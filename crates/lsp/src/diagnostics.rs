//! Findings under the text, with the keys that show them and the other places that they are about.

use std::fmt::Write;

use keyplan_plan::diag::{Diagnostic, FileId, Label, NoteKind, Severity};
use keyplan_prover::Found;
use keyplan_report::findings::{finding_json, help_page};
use serde_json::{Value, json};

use crate::analysis::Document;
use crate::text::Lines;
use crate::uri::uri_of;

/// Where the pages of the rules are.
const PAGES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// Everything that is known to be wrong with a document. Mistakes of imported files are told at the import.
pub(crate) fn diagnostics(document: &Document) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    if let Some(checked) = &document.checked {
        all.extend(checked.findings.iter().filter_map(|found| diagnostic(document, found)));
    } else {
        let found = document.compiled.diagnostics.iter().cloned().map(Found::from);
        all.extend(found.filter_map(|found| diagnostic(document, &found)));
    }
    all.extend(imports(document));
    all
}

/// A finding of this file; those of imported files have no place in it.
pub(crate) fn diagnostic(document: &Document, found: &Found) -> Option<Value> {
    let Diagnostic { code, message, labels, notes, .. } = &found.diagnostic;
    let (first, rest) = labels.split_first()?;
    if first.span.file != FileId(0) {
        return None;
    }
    let mut text = message.clone();
    if !first.text.is_empty() {
        text.push('\n');
        text.push_str(&first.text);
    }
    for note in notes.iter().filter(|note| note.kind != NoteKind::Reproduce) {
        let _ = write!(text, "\n{}: {}", note.kind.word(), note.text);
    }
    let severity = match found.diagnostic.severity() {
        Severity::Error => 1,
        Severity::Warning => 2,
    };
    let related: Vec<Value> = rest.iter().filter_map(|label| related(document, label)).collect();
    let mut out = json!({
        "range": document.lines.range(document.text(), first.span),
        "severity": severity,
        "code": code.id(),
        "source": "keyplan",
        "message": text,
        "relatedInformation": related,
        "data": finding_json(document.plan(), &document.compiled.sources, found),
    });
    if let (Some(page), Some(out)) = (help_page(*code), out.as_object_mut()) {
        out.insert("codeDescription".to_owned(), json!({ "href": format!("{PAGES}{page}") }));
    }
    Some(out)
}

fn related(document: &Document, label: &Label) -> Option<Value> {
    let source = document.compiled.sources.get(label.span.file)?;
    let lines = if label.span.file == FileId(0) {
        document.lines.clone()
    } else {
        Lines::new(&source.text, document.lines.encoding())
    };
    let uri = if label.span.file == FileId(0) { document.uri.clone() } else { uri_of(&source.name) };
    let message = if label.text.is_empty() { "here" } else { label.text.as_str() };
    Some(
        json!({ "location": { "uri": uri, "range": lines.range(&source.text, label.span) }, "message": message }),
    )
}

/// A diagnostic at each import whose file, or one that it imports, has mistakes or is part of a finding.
fn imports(document: &Document) -> Vec<Value> {
    let proved = document.checked.iter().flat_map(|checked| &checked.findings);
    let wrong: Vec<&Diagnostic> = match &document.checked {
        Some(_) => proved.map(|found| &found.diagnostic).collect(),
        None => document.compiled.errors().collect(),
    };
    let mut all = Vec::new();
    let mut told: Vec<&Diagnostic> = Vec::new();
    for import in document.imports() {
        let inside = document.reached(&import);
        let here = |found: &&&Diagnostic| inside.contains(&found.span().file);
        let Some(first) = wrong.iter().filter(here).find(|found| !told.contains(*found)) else { continue };
        told.extend(wrong.iter().filter(here));
        let message = match document.checked {
            Some(_) => format!("a finding of the imported file: {}", first.message),
            None => format!("the imported file has mistakes: {}", first.message),
        };
        let related: Vec<Value> = first.labels.iter().filter_map(|label| related(document, label)).collect();
        all.push(json!({
            "range": document.lines.range(document.text(), import.span),
            "severity": if first.severity() == Severity::Error { 1 } else { 2 },
            "code": first.code.id(),
            "source": "keyplan",
            "message": message,
            "relatedInformation": related,
        }));
    }
    all
}
