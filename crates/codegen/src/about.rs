//! What the documentation of a family's type says, in every language.

use keyplan_plan::diag::SourceMap;
use keyplan_plan::model::{Family, Field};
use keyplan_prover::Report;

use crate::prove::is_exact;

/// The lines after the first one: what the plan says, what it accepts, and what is not to be scanned. `deprecated` is what the
/// language writes before the reason that a family is no longer written.
pub(crate) fn about(
    first: String,
    deprecated: &str,
    family: &Family,
    report: &Report,
    sources: &SourceMap,
) -> Vec<String> {
    let mut about = vec![first];
    if let Some(name) = &family.real_name {
        about.push(String::new());
        about.push(format!("In the program: `{}`.", name.replace('`', "'")));
    }
    if !family.doc.is_empty() {
        about.push(String::new());
        about.extend(family.doc.iter().cloned());
    }
    for accept in &family.accepts {
        about.push(String::new());
        about.push(format!("Accepted as {}: {}", accept.kind.word(), accept.why));
    }
    for scan in family.scans.iter().filter(|scan| !is_exact(report, family, scan)) {
        about.push(String::new());
        about.push(format!(
            "Not to be scanned as declared, since other rows come along: `{}`.",
            sources.slice(scan.span)
        ));
    }
    if let Some(why) = &family.retired {
        about.push(String::new());
        let since = family.retired_since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
        about.push(format!("{deprecated} no longer written{since}: {why}"));
    }
    about
}

/// The lines of a field of a hash: the first, and what the plan says.
pub(crate) fn of_field(first: String, field: &Field) -> Vec<String> {
    let mut about = vec![first];
    if !field.doc.is_empty() {
        about.push(String::new());
        about.extend(field.doc.iter().cloned());
    }
    about
}

/// A piece of a plan in one line, without the comments and documentation on lines of their own.
pub(crate) fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}
