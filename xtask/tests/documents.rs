//! The documents that people write: their plans are plans, and their links lead somewhere.

use std::path::Path;

use keyplan_plan::compile;
use xtask::workspace;

/// Every page that people write, by its path. Test cases are left out: they show mistakes on purpose.
fn pages() -> anyhow::Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    for file in workspace::files()? {
        let path = workspace::relative(&file);
        if file.extension().is_some_and(|extension| extension == "md") && !path.contains("testdata/") {
            pages.push((path, std::fs::read_to_string(file)?));
        }
    }
    Ok(pages)
}

#[test]
fn every_plan_in_a_document_has_a_meaning() {
    let mut found = 0;
    for (page, text) in pages().unwrap() {
        for block in text.split("```keyplan\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let whole = block.lines().any(|line| line.starts_with("plan "));
            let plan = if whole { block.to_owned() } else { format!("plan example;\n{block}") };
            let compiled = compile(&page, &plan, |_| Err("no imports".to_owned()));
            let errors: Vec<_> = compiled.errors().collect();
            assert_eq!(errors, Vec::<&keyplan_plan::diag::Diagnostic>::new(), "in {page}:\n{block}");
            found += 1;
        }
    }
    assert!(found > 0, "no document has a plan");
}

/// Programs as a compiler reads them: without comments and white space.
fn bare(program: &str) -> String {
    let lines = program.lines().map(|line| line.split("// ").next().unwrap_or_default());
    lines.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect::<String>().replace(",)", ")")
}

/// A block is a file of the examples, or lines of one or of a test, or it is on a page that is run with the documentation. Lines that
/// are statements by themselves may be of several programs.
#[test]
fn every_program_in_rust_is_compiled() {
    let root = workspace::root();
    let is_built =
        |path: &str| path.starts_with("examples/") || path.contains("/examples/") || path.contains("/tests/");
    let mut programs = Vec::new();
    let mut documentation = String::new();
    for file in workspace::files().unwrap() {
        let path = workspace::relative(&file);
        if file.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&file).unwrap();
            documentation.extend(text.lines().filter(|line| line.contains("include_str!")));
            if is_built(&path) {
                programs.push(bare(&text));
            }
        }
    }
    let is_known = |block: &str| programs.iter().any(|program| program.contains(block));
    let (mut found, mut lost) = (0, Vec::new());
    for (page, text) in pages().unwrap() {
        for block in text.split("```rust").skip(1) {
            let (form, block) = block.split_once('\n').unwrap();
            let block = block.split("```").next().unwrap();
            let included = block.strip_prefix("{{#include ../../").and_then(|rest| rest.split('}').next());
            let is_compiled = included.is_some_and(|file| is_built(file) && root.join(file).exists())
                || is_known(&bare(block))
                || block
                    .lines()
                    .map(bare)
                    .all(|line| line.ends_with(';') && line.len() > 40 && is_known(&line))
                || (form.is_empty() && documentation.contains(&format!("../{page}\"")));
            found += 1;
            if !is_compiled {
                lost.push(format!("{page}:\n{block}"));
            }
        }
    }
    assert!(found > 10, "{found}");
    assert_eq!(lost, Vec::<String>::new());
}

#[test]
fn every_link_to_a_file_leads_to_one() {
    let mut broken = Vec::new();
    for (page, text) in pages().unwrap() {
        let folder = Path::new(&page).parent().unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let files = targets.map(|target| target.split('#').next().unwrap());
        let files = files.filter(|file| !file.is_empty() && !file.contains("://") && !file.contains(' '));
        let absent = files.filter(|file| !workspace::root().join(folder).join(file).exists());
        broken.extend(absent.map(|file| format!("{page}: {file}")));
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = std::fs::read_to_string(workspace::root().join("docs/SUMMARY.md")).unwrap();
    let mut lost = Vec::new();
    for (page, _) in pages().unwrap() {
        let Some(inside) = page.strip_prefix("docs/").filter(|inside| *inside != "SUMMARY.md") else {
            continue;
        };
        // The pages of the rules are added when the site is built.
        if !inside.starts_with("rules/") && !summary.contains(&format!("]({inside})")) {
            lost.push(page);
        }
    }
    assert_eq!(lost, Vec::<String>::new());
}
