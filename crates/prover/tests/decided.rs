//! Nearly everything is decided: of the plans of the repository and the examples of its documentation no more than one statement
//! in a thousand is unknown.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

use keyplan_plan::model::Plan;
use keyplan_prover::{Options, Statement, Verdict, prove};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder with this ending, in their order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn compile(text: &str, folder: &Path) -> Option<Plan> {
    let read = |import: &str| fs::read_to_string(folder.join(import)).map_err(|error| error.to_string());
    keyplan_plan::compile("p.keyplan", text, read).plan
}

/// The examples of a page that are whole plans.
fn examples(page: &str) -> Vec<&str> {
    let blocks = page.split("```").skip(1).step_by(2);
    let plans = blocks.filter_map(|block| block.strip_prefix("keyplan\n"));
    plans.filter(|text| text.contains("plan ")).collect()
}

/// How many statements plans have, and those that are unknown.
fn unknown(plans: Vec<(String, Plan)>) -> (usize, Vec<String>) {
    let (mut all, mut unknown) = (0, Vec::new());
    for (name, plan) in plans {
        let report = prove(&plan, &Options::default());
        all += report.statements.len();
        let open = |s: &&Statement| matches!(s.verdict, Verdict::Unknown(_));
        unknown
            .extend(report.statements.iter().filter(open).map(|statement| format!("{name}: {statement:?}")));
    }
    (all, unknown)
}

#[test]
fn the_plans_of_the_repository_are_decided() {
    let mut plans = Vec::new();
    for path in ["plans", "docs"].iter().flat_map(|folder| files(&root().join(folder), "keyplan")) {
        let plan = compile(&fs::read_to_string(&path).unwrap(), path.parent().unwrap());
        plans.push((path.display().to_string(), plan.unwrap_or_else(|| panic!("{path:?}"))));
    }
    let (all, unknown) = unknown(plans);
    println!("{} of {all} statements of the plans are unknown", unknown.len());
    assert!(all > 4_000, "{all}");
    assert!(unknown.len() * 1_000 <= all, "{} of {all}\n{}", unknown.len(), unknown.join("\n"));
}

#[test]
fn the_examples_of_the_documentation_are_decided() {
    let mut plans = Vec::new();
    for path in files(&root().join("docs"), "md") {
        let page = fs::read_to_string(&path).unwrap();
        let compiled = examples(&page).into_iter().filter_map(|text| compile(text, path.parent().unwrap()));
        plans.extend(compiled.map(|plan| (path.display().to_string(), plan)));
    }
    assert!(plans.len() > 10, "{} examples", plans.len());
    let (all, unknown) = unknown(plans);
    println!("{} of {all} statements of the examples are unknown", unknown.len());
    assert!(unknown.len() * 1_000 <= all, "{} of {all}\n{}", unknown.len(), unknown.join("\n"));
}
