//! A plan's reference as Markdown. The same plan gives the same page.

mod carried;
mod family;
mod lanes;
mod module;
mod types;

use std::fmt::Write as _;

use keyplan_plan::model::{Family, Module, ModuleId, Plan, Space};

use keyplan_plan::notation::{Notation, first_sentence};

pub use carried::carried;

/// The whole page.
///
/// ```
/// let plan = keyplan_plan::compile("demo.keyplan", "plan demo; space s { key pool = 0x01 id: u64; }", |_| {
///     Err("no imports".into())
/// });
/// let page = keyplan_report::reference::reference(&plan.plan.expect("sound"));
/// assert!(page.starts_with("# demo\n"));
/// ```
pub fn reference(plan: &Plan) -> String {
    let mut page = Page::of(plan);
    page.line(&format!("# {}", plan.name));
    page.paragraphs(&plan.doc);
    let scans: usize = plan.families().map(|(_, family)| family.scans.len()).sum();
    let accepted: usize = plan.families().map(|(_, family)| family.accepts.len()).sum();
    page.table(
        &["plan", "fingerprint", "spaces", "families", "scans", "accepted flaws"],
        &[vec![
            code(&plan.name),
            code(&plan.fingerprint().to_string()),
            plan.spaces.len().to_string(),
            plan.families().count().to_string(),
            scans.to_string(),
            accepted.to_string(),
        ]],
    );
    for space in &plan.spaces {
        space_section(&mut page, space);
    }
    types::sections(&mut page, plan);
    page.text
}

fn space_section(page: &mut Page<'_>, space: &Space) {
    page.line(&format!("## Space {}", code(&space.name)));
    page.paragraphs(&space.doc);
    if space.engine_name != space.name {
        page.line(&format!("Engines know it as {}.", code(&space.engine_name)));
    }
    let rows: Vec<Vec<String>> =
        space.families.iter().map(|family| overview(page.notation, family)).collect();
    page.table(&["family", "key", "purpose"], &rows);
    module::retired(page, &space.retired);
    for family in space.families.iter().filter(|family| family.module.is_none()) {
        family::section(page, space, family, "###");
    }
    for (index, module) in space.modules.iter().enumerate() {
        module_section(page, space, ModuleId(index), module);
    }
}

fn module_section(page: &mut Page<'_>, space: &Space, id: ModuleId, module: &Module) {
    page.line(&format!("### Module {}, {}", code(&module.path), code(&spaced(&module.prefix))));
    page.paragraphs(&module.doc);
    let families: Vec<&Family> = space.families.iter().filter(|family| family.module == Some(id)).collect();
    module::allotments(page, module, &families);
    module::retired(page, &module.retired);
    for family in families {
        family::section(page, space, family, "####");
    }
}

/// A line of the table of families.
fn overview(notation: Notation<'_>, family: &Family) -> Vec<String> {
    let anchor = family.path.replace('.', "");
    vec![
        format!("[`{}`](#{anchor})", family.local_path()),
        code(&notation.parts(&family.key)),
        first_sentence(&family.doc).unwrap_or_default(),
    ]
}

/// Markdown, piece by piece, with an empty line between two pieces.
struct Page<'p> {
    text: String,
    notation: Notation<'p>,
}

impl<'p> Page<'p> {
    fn of(plan: &'p Plan) -> Self {
        Self { text: String::new(), notation: Notation::of(plan) }
    }

    fn line(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Documentation as it was written.
    fn paragraphs(&mut self, doc: &[String]) {
        let text = doc.join("\n");
        if !text.trim().is_empty() {
            self.line(text.trim_end());
        }
    }

    /// A table; nothing at all without rows.
    fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        if rows.is_empty() {
            return;
        }
        let mut text = format!("| {} |\n|{}\n", head.join(" | "), " --- |".repeat(head.len()));
        for row in rows {
            let cells: Vec<String> =
                row.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        self.line(text.trim_end());
    }

    /// Text whose columns must stay as they are.
    fn block(&mut self, text: &str) {
        self.line(&format!("```text\n{}\n```", text.trim_end()));
    }
}

/// `text` in code type; nothing if it is empty.
fn code(text: &str) -> String {
    match text {
        "" => String::new(),
        text if text.contains('`') => format!("`` {text} ``"),
        text => format!("`{text}`"),
    }
}

/// Bytes as hex, a space between two.
fn spaced(bytes: &[u8]) -> String {
    let all: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    all.join(" ")
}

/// `18 bytes`, `4 to 20 bytes`, `at least 4 bytes`
fn width(width: keyplan_plan::model::Width) -> String {
    match width.max {
        Some(max) if max == width.min => counted(max, "byte", "bytes"),
        Some(max) => format!("{} to {}", width.min, counted(max, "byte", "bytes")),
        None if width.min == 0 => "any number of bytes".to_owned(),
        None => format!("at least {}", counted(width.min, "byte", "bytes")),
    }
}

/// `1 byte`, `2 bytes`
fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
