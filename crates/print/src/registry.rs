//! The registry of a plan, and a document compared with it.

use keyplan_plan::model::DottedPath;
use keyplan_report::registry::{DocumentFault, ModuleEntry, Registry};

use super::{DIM, ERROR, STRONG, painted};

/// Modules, ranges and numbers, for people.
pub fn registry(registry: &Registry) -> String {
    let mut out = String::new();
    for (index, entry) in registry.modules.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        module(&mut out, entry);
    }
    for old in &registry.retired {
        let since = since(old.since.as_deref());
        put!(
            out,
            "{} 0x{} {}\n",
            old.space,
            old.prefix,
            painted(DIM, format!("retired{since}: {}", old.why))
        );
    }
    if registry.modules.is_empty() && registry.retired.is_empty() {
        put!(out, "{} has no modules\n", registry.plan);
    }
    out
}

fn since(since: Option<&str>) -> String {
    since.map(|since| format!(" since {since}")).unwrap_or_default()
}

fn module(out: &mut String, entry: &ModuleEntry) {
    let about = entry.about.as_deref().unwrap_or_default();
    put!(out, "{} 0x{}  {about}\n", painted(STRONG, &entry.path), entry.prefix);
    if let Some(file) = &entry.file {
        put!(out, "  {}\n", painted(DIM, file));
    }
    let width = entry.allotments.iter().map(|range| range.name.len()).max().unwrap_or_default();
    for range in &entry.allotments {
        let next = range.next.map_or("none left".to_owned(), |next| format!("next 0x{next:02x}"));
        put!(
            out,
            "  0x{:02x}..=0x{:02x} {:width$}  {} used, {} retired, {} free: {next}\n",
            range.first,
            range.last,
            range.name,
            range.used,
            range.retired,
            range.free
        );
    }
    for number in &entry.used {
        let names: Vec<&str> = number.by.iter().map(|path| DottedPath(path).last()).collect();
        let place = number.allotment.as_deref().unwrap_or("no range");
        let says = number.says.as_ref().map(|says| format!(", and says {says}")).unwrap_or_default();
        let place = if entry.allotments.is_empty() { String::new() } else { format!("  {place}{says}") };
        put!(out, "  0x{:02x} {}{}\n", number.number, names.join(", "), painted(DIM, &place));
    }
    for number in &entry.retired {
        let text = format!("retired{}: {}", since(number.since.as_deref()), number.why);
        put!(out, "  0x{:02x} {}\n", number.number, painted(DIM, &text));
    }
    for path in &entry.unnumbered {
        put!(out, "  {} {path}\n", painted(DIM, "no number:"));
    }
}

/// What is wrong with a document, a line each.
pub fn document_faults(document: &str, plan: &str, faults: &[DocumentFault]) -> String {
    let mut out = String::new();
    for fault in faults {
        let place = fault.line.map_or_else(|| document.to_owned(), |line| format!("{document}:{line}"));
        put!(out, "{place}: {} {}\n", painted(ERROR, "wrong:"), fault.what);
    }
    match faults.len() {
        0 => put!(out, "{document} agrees with {plan}\n"),
        1 => put!(out, "1 line does not agree with {plan}\n"),
        count => put!(out, "{count} statements do not agree with {plan}\n"),
    }
    out
}

/// One fault as JSON.
pub fn document_fault_json(document: &str, fault: &DocumentFault) -> String {
    serde_json::json!({ "file": document, "line": fault.line, "what": fault.what }).to_string()
}
