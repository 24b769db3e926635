//! Findings as annotations of a GitHub workflow.

use keyplan_plan::diag::{Diagnostic, SourceMap, Span};
use keyplan_report::findings::Checked;

use super::check_json::{file_name, severity};

/// All findings, one per line.
pub fn github(plans: &[Checked]) -> String {
    let all = plans
        .iter()
        .flat_map(|plan| plan.diagnostics().map(|diagnostic| annotation(&plan.compiled.sources, diagnostic)));
    all.collect()
}

fn annotation(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let span = diagnostic.span();
    let start = sources.position(span);
    let end = sources.position(Span::new(span.file, span.end, span.end));
    let mut text = diagnostic.message.clone();
    for label in diagnostic.labels.iter().filter(|label| !label.text.is_empty()) {
        text.push('\n');
        text.push_str(&label.text);
    }
    for note in &diagnostic.notes {
        put!(text, "\n{}: {}", note.kind.word(), note.text);
    }
    format!(
        "::{} file={},line={},endLine={},col={},endColumn={},title={}::{}\n",
        severity(diagnostic),
        property(file_name(sources, span)),
        start.line,
        end.line,
        start.column,
        end.column,
        property(&format!("{} {}", diagnostic.code.id(), diagnostic.code.slug())),
        data(&text),
    )
}

/// Text after the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_in_a_path_are_escaped() {
        assert_eq!(property("a,b:c%\n"), "a%2Cb%3Ac%25%0A");
        assert_eq!(data("a,b:c%\n"), "a,b:c%25%0A");
    }
}
