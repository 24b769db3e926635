//! The grammar of editors against the parser: both accept and refuse the same plans, over everything in the repository.
//!
//! Needs a C compiler and the library of tree-sitter, which the test command installs.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use keyplan_plan::diag::{Code, FileId};
use keyplan_plan::syntax::parse;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The plans below a folder, whole files and blocks of documents.
fn plans(folder: &Path, all: &mut Vec<(String, String)>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.display().to_string();
        if path.is_dir() {
            if !["target", "node_modules"].iter().any(|skipped| path.ends_with(skipped)) {
                plans(&path, all);
            }
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        // What is no text has no syntax.
        let Some(text) = fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
            continue;
        };
        match extension {
            Some("keyplan") => all.push((name, text)),
            Some("md") => {
                for (index, block) in text.split("```keyplan\n").skip(1).enumerate() {
                    let block = block.split("```").next().unwrap();
                    all.push((format!("{name} block {index}"), block.to_owned()));
                }
            }
            _ => {}
        }
    }
}

/// Whether the parser accepts a text: characters that cannot be seen and limits are no matter of syntax.
fn accepted(text: &str) -> bool {
    let found = parse(FileId(0), text).diagnostics;
    found.iter().all(|found| matches!(found.code, Code::HiddenCharacter | Code::TooDeep | Code::TooLarge))
}

#[test]
fn the_grammar_of_editors_accepts_what_the_parser_does() {
    let mut all = Vec::new();
    for folder in ["plans", "testdata", "docs", "crates"] {
        plans(&root().join(folder), &mut all);
    }
    assert!(all.len() > 100, "{}", all.len());
    let refused = all.iter().filter(|(_, text)| !accepted(text)).count();
    assert!(refused > 10, "only {refused} plans are refused");
    // A plan that lacks one of its tokens is mostly refused.
    let whole = fs::read_to_string(root().join("docs/example.keyplan")).unwrap();
    let words: Vec<&str> = whole.split_inclusive(' ').collect();
    for index in 0..words.len() {
        let mut fewer = words.clone();
        fewer.remove(index);
        all.push((format!("docs/example.keyplan without word {index}"), fewer.concat()));
    }

    let folder = tempfile::tempdir().unwrap();
    let grammar = root().join("editors/tree-sitter-keyplan");
    let program = folder.path().join("accepts");
    let built = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .args([grammar.join("test/accepts.c"), grammar.join("src/parser.c")])
        .arg("-I")
        .arg(grammar.join("src"))
        .arg("-ltree-sitter")
        .status()
        .expect("a C compiler");
    assert!(built.success(), "cargo xtask test installs what this needs");
    let mut run = Command::new(&program);
    for (index, (_, text)) in all.iter().enumerate() {
        let path = folder.path().join(index.to_string());
        fs::write(&path, text).unwrap();
        run.arg(path);
    }
    let said = String::from_utf8(run.output().unwrap().stdout).unwrap();
    let verdicts: Vec<bool> = said.lines().map(|line| line == "1").collect();
    assert_eq!(verdicts.len(), all.len());
    let differ: Vec<(&str, bool)> = all
        .iter()
        .zip(verdicts)
        .filter(|((_, text), verdict)| accepted(text) != *verdict)
        .map(|((name, _), verdict)| (name.as_str(), verdict))
        .collect();
    assert_eq!(differ, []);
}
