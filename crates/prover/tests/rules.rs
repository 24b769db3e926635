//! The rules as people meet them: their pages, and `testdata/rules/*.md` with a plan and what is said about it.
//!
//! With `KEYPLAN_BLESS=1` in the environment the expected output is rewritten.

#![cfg(test)]

use std::path::PathBuf;

use keyplan_plan::compile;
use keyplan_plan::diag::{Diagnostic, SourceMap, Style, render};
use keyplan_plan::model::Plan;
use keyplan_prover::{
    Options, PAGES, Page, Version, compare, diagnose, diagnose_changes, diagnose_forgotten,
    diagnose_migration, forgotten, prove, prove_migration,
};

fn plan(name: &str, text: &str) -> (SourceMap, Plan) {
    let compiled = compile(name, text, |_| Err("a rule imports nothing".to_owned()));
    assert_eq!(compiled.diagnostics, Vec::new(), "{name} does not compile:\n{text}");
    (compiled.sources, compiled.plan.unwrap())
}

/// What is asked of a plan and the one before it.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    Compatible,
    Migration,
    Releases,
}

impl Asked {
    /// What the page of a code, or the case of a file, is about.
    fn by(name: &str) -> Self {
        match name {
            "KP0031"
            | "KP0032"
            | "KP0033"
            | "KP0034"
            | "KP0035"
            | "no_new_key.keyplan"
            | "merged_keys.keyplan"
            | "unreadable_key.keyplan"
            | "crossing_keys.keyplan"
            | "unspoken_family.keyplan" => Self::Migration,
            "KP0036" | "forgotten_prefix.keyplan" => Self::Releases,
            _ => Self::Compatible,
        }
    }
}

/// Everything that is found in a plan, with its text; and in what became of the plan before, if there is one.
fn found(name: &str, text: &str, previous: Option<&str>) -> (SourceMap, Vec<Diagnostic>) {
    let (sources, plan_now) = plan(name, text);
    let options = Options::default();
    let report = prove(&plan_now, &options);
    let mut diagnostics = diagnose(&plan_now, &report, &options, name);
    if let Some(previous) = previous {
        let (_, old) = plan("previous.keyplan", previous);
        match Asked::by(name) {
            Asked::Compatible => {}
            Asked::Migration => {
                let proof = prove_migration(&old, &plan_now, &options);
                return (sources, diagnose_migration(&proof, &old, &plan_now));
            }
            Asked::Releases => {
                return (sources, diagnose_forgotten(&forgotten([("v1", &old)], &plan_now)));
            }
        }
        let changes = compare(&old, &plan_now, &report);
        let old = Version { plan: &old, path: Some("previous.keyplan") };
        diagnostics.extend(diagnose_changes(&changes, old, Version { plan: &plan_now, path: Some(name) }));
    }
    (sources, diagnostics)
}

fn codes(page: &Page, text: &str) -> Vec<&'static str> {
    let (_, diagnostics) = found(page.code.id(), text, page.previous());
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

/// The first of two plans on a page, and where the text after it begins.
fn previous(page: &str) -> (Option<&str>, usize) {
    if page.matches("```keyplan\n").count() < 2 {
        return (None, 0);
    }
    let start = page.find("```keyplan\n").unwrap() + "```keyplan\n".len();
    let length = page[start..].find("```\n").unwrap();
    (Some(&page[start..start + length]), start + length + "```\n".len())
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
        let (previous, from) = previous(&page);
        let (before, rest) = page[from..].split_once("```keyplan\n").unwrap();
        let before = format!("{}{before}", &page[..from]);
        let (plan, rest) = rest.split_once("```\n").unwrap();
        let (between, rest) = rest.split_once("```text\n").unwrap();
        let (expected, after) = rest.split_once("```\n").unwrap();
        let name = format!("{}.keyplan", case.file_stem().unwrap().to_str().unwrap());
        let (sources, diagnostics) = found(&name, plan, previous);
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
