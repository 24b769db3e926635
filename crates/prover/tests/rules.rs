//! The rules as people meet them: their pages, and `testdata/rules/*.md` with a plan and what is said about it.
//!
//! With `KEYPLAN_BLESS=1` in the environment the expected output is written anew.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;

use keyplan_plan::compile;
use keyplan_plan::diag::{Diagnostic, SourceMap, Style, render};
use keyplan_prover::{Options, PAGES, Page, diagnose, prove};

/// Everything that is found in a plan, with its text.
fn found(name: &str, text: &str) -> (SourceMap, Vec<Diagnostic>) {
    let compiled = compile(name, text, |_| Err("a rule imports nothing".to_owned()));
    assert_eq!(compiled.diagnostics, Vec::new(), "{name} has no meaning:\n{text}");
    let plan = compiled.plan.unwrap();
    let options = Options::default();
    let diagnostics = diagnose(&plan, &prove(&plan, &options), &options, name);
    (compiled.sources, diagnostics)
}

fn codes(page: &Page, text: &str) -> Vec<&'static str> {
    let (_, diagnostics) = found(page.code.id(), text);
    diagnostics.iter().map(|diagnostic| diagnostic.code.id()).collect()
}

#[test]
fn the_example_of_a_page_has_its_fault_and_no_other() {
    for page in PAGES {
        assert_eq!(codes(page, page.example()), [page.code.id()], "{}", page.example());
    }
}

#[test]
fn what_a_page_gives_instead_is_proved() {
    for page in PAGES {
        assert_eq!(codes(page, page.instead()), Vec::<&str>::new(), "{}", page.instead());
    }
}

#[test]
fn a_page_has_its_four_sections() {
    for page in PAGES {
        let headings: Vec<&str> = page.text.lines().filter(|line| line.starts_with('#')).collect();
        let title = format!("# {}: {}", page.code.id(), page.code.slug());
        let sections = ["## What it finds", "## Why it matters", "## Example", "## Instead"];
        assert_eq!(headings, [title.as_str()].into_iter().chain(sections).collect::<Vec<_>>());
    }
}

#[test]
fn findings_read_as_written_down() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rules");
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    let mut covered: Vec<&str> = Vec::new();
    for case in cases {
        let page = std::fs::read_to_string(&case).unwrap();
        let (before, rest) = page.split_once("```keyplan\n").unwrap();
        let (plan, rest) = rest.split_once("```\n").unwrap();
        let (between, rest) = rest.split_once("```text\n").unwrap();
        let (expected, after) = rest.split_once("```\n").unwrap();
        let name = format!("{}.keyplan", case.file_stem().unwrap().to_str().unwrap());
        let (sources, diagnostics) = found(&name, plan);
        let said = render(&diagnostics, &sources, Style::Plain);
        if std::env::var_os("KEYPLAN_BLESS").is_some() {
            let fresh = format!("{before}```keyplan\n{plan}```\n{between}```text\n{said}```\n{after}");
            std::fs::write(&case, fresh).unwrap();
        } else {
            assert_eq!(said, expected, "in {}", case.display());
        }
        covered.extend(diagnostics.iter().map(|diagnostic| diagnostic.code.id()));
    }
    for page in PAGES {
        assert!(covered.contains(&page.code.id()), "no case has {}", page.code.id());
    }
}
