//! A finding for programs: version 1 of the format that docs/findings.schema.json describes.

use keyplan_plan::diag::{Code, Severity, SourceMap, Span};
use keyplan_plan::model::Plan;
use keyplan_prover::{Found, Repair, Verdict, has_page};
use serde::Serialize;
use serde_json::Value;

use super::witness_json;

/// One finding.
#[derive(Clone, Debug, Serialize)]
pub struct FindingJson<'a> {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    message: &'a str,
    /// Where its page is, if it has one: a path in the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    labels: Vec<LabelJson<'a>>,
    notes: Vec<NoteJson<'a>>,
    /// The space of the statement that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<&'a str>,
    /// The family, field, member or score.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<&'a str>,
    /// The keys that show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Value>,
    repairs: Vec<RepairJson<'a>>,
}

#[derive(Clone, Debug, Serialize)]
struct LabelJson<'a> {
    file: &'a str,
    start: Place,
    end: Place,
    text: &'a str,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Place {
    /// In bytes, from the beginning of the file.
    offset: u32,
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
}

#[derive(Clone, Debug, Serialize)]
struct NoteJson<'a> {
    kind: &'static str,
    text: &'a str,
}

/// A change to a plan's text that cures a finding; proved.
#[derive(Clone, Debug, Serialize)]
pub struct RepairJson<'a> {
    title: &'a str,
    needs_migration: bool,
    keeps_claims: bool,
    /// By how many bytes keys grow at least.
    grows_least: i64,
    /// By how many they grow at most; nothing if there is no longest key.
    grows_most: Option<i64>,
    edit: EditJson<'a>,
}

#[derive(Clone, Debug, Serialize)]
struct EditJson<'a> {
    file: &'a str,
    start: Place,
    end: Place,
    text: &'a str,
}

/// A finding as data.
pub fn finding_json<'a>(plan: Option<&Plan>, sources: &'a SourceMap, found: &'a Found) -> FindingJson<'a> {
    let diagnostic = &found.diagnostic;
    let labels = diagnostic.labels.iter().map(|label| LabelJson {
        file: file_name(sources, label.span),
        start: place(sources, label.span, label.span.start),
        end: place(sources, label.span, label.span.end),
        text: &label.text,
    });
    let notes = diagnostic.notes.iter().map(|note| NoteJson { kind: note.kind.word(), text: &note.text });
    let statement = found.statement.as_ref();
    let witness = plan.zip(statement).and_then(|(plan, statement)| match &statement.verdict {
        Verdict::Fails(witness) => Some(witness_json(plan, statement, witness)),
        _ => None,
    });
    FindingJson {
        code: diagnostic.code.id(),
        name: diagnostic.code.slug(),
        severity: match diagnostic.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: &diagnostic.message,
        help: help_page(diagnostic.code),
        labels: labels.collect(),
        notes: notes.collect(),
        space: statement.map(|statement| statement.space.as_str()),
        family: statement.map(|statement| statement.family.as_str()),
        other: statement.and_then(|statement| statement.other.as_deref()),
        witness,
        repairs: found.repairs.iter().map(|repair| repair_json(sources, repair)).collect(),
    }
}

fn repair_json<'a>(sources: &'a SourceMap, repair: &'a Repair) -> RepairJson<'a> {
    let (span, text) = &repair.edit;
    RepairJson {
        title: &repair.title,
        needs_migration: repair.needs_migration,
        keeps_claims: repair.keeps_claims,
        grows_least: repair.cost.0,
        grows_most: repair.cost.1,
        edit: EditJson {
            file: file_name(sources, *span),
            start: place(sources, *span, span.start),
            end: place(sources, *span, span.end),
            text,
        },
    }
}

/// The page of a code, as a path in the repository.
pub fn help_page(code: Code) -> Option<String> {
    has_page(code).then(|| format!("docs/rules/{}.md", code.id()))
}

fn place(sources: &SourceMap, span: Span, offset: u32) -> Place {
    let position = sources.position(Span::new(span.file, offset, offset));
    Place { offset, line: position.line, column: position.column }
}

fn file_name(sources: &SourceMap, span: Span) -> &str {
    sources.get(span.file).map_or("", |file| file.name.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::checked;
    use super::*;

    #[test]
    fn a_repair_is_an_edit() {
        let checked = checked("plan p; space s { key k = a: text(\"a\", 1..=3) b: text(\"a\", 1..=3); }");
        let plan = checked.compiled.plan.as_ref();
        let found = &checked.findings[0];
        let data = serde_json::to_value(finding_json(plan, &checked.compiled.sources, found)).unwrap();
        assert_eq!(data["help"], "docs/rules/KP0002.md");
        assert_eq!((&data["space"], &data["family"]), (&json!("s"), &json!("s.k")));
        assert_eq!(data["witness"]["first"]["hex"], "616161");
        assert_eq!(
            data["repairs"],
            json!([{
                "title": "end `a` with \"/\", a byte that it cannot contain",
                "needs_migration": true,
                "keeps_claims": true,
                "grows_least": 1,
                "grows_most": 1,
                "edit": {
                    "file": "demo.keyplan",
                    "start": { "offset": 45, "line": 1, "column": 46 },
                    "end": { "offset": 45, "line": 1, "column": 46 },
                    "text": " \"/\"",
                },
            }])
        );
    }
}
