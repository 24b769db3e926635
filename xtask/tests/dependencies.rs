//! The crates depend on each other as `ARCHITECTURE.md` says, and on nothing that they do not use.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is a test, though some of it is outside of the functions marked as one"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xtask::{architecture, workspace};

#[test]
fn the_crates_depend_on_each_other_as_the_table_says() {
    let text = std::fs::read_to_string(workspace::root().join("ARCHITECTURE.md")).unwrap();
    let allowed = architecture::allowed(&text).unwrap();
    let found = workspace::dependencies().unwrap();
    assert_eq!(architecture::differences(&allowed, &found), Vec::<String>::new());
}

/// Crates that are named for the features which they switch on, and are used by other crates.
const NAMED_FOR_FEATURES: [&str; 1] = ["reqwest"];

#[test]
fn no_dependency_is_unused() {
    let metadata = workspace::metadata_of(&["--no-deps"]).unwrap();
    let mut unused = Vec::new();
    let mut taken = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap();
        let code = text_of(&[folder.join("src"), folder.join("build.rs")]);
        let everything = text_of(&with_shared(folder));
        for needed in package["dependencies"].as_array().unwrap() {
            let name = needed["name"].as_str().unwrap();
            taken.insert(name.to_owned());
            // Null for what the crate itself needs; tests may use that too.
            let text = if needed["kind"] == Value::Null { &code } else { &everything };
            if !NAMED_FOR_FEATURES.contains(&name) && !names(text, &name.replace('-', "_")) {
                unused.push(format!("{} does not use {name}", package["name"].as_str().unwrap()));
            }
        }
    }
    let manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml")).unwrap();
    let (_, table) = manifest.split_once("[workspace.dependencies]\n").unwrap();
    let (table, _) = table.split_once("\n[").unwrap();
    let offered = table.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    unused.extend(
        offered
            .filter(|name| !taken.contains(*name))
            .map(|name| format!("no crate of the workspace takes {name}")),
    );
    assert_eq!(unused, Vec::<String>::new());
}

/// How many crates the command may be built of, those of the workspace and what only its build needs among them.
const MOST_CRATES_OF_THE_COMMAND: usize = 310;

#[test]
fn the_command_is_built_of_few_crates() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = std::process::Command::new(cargo)
        .args(["tree", "--locked", "--package", "keyplan-cli", "--edges", "normal,build"])
        .args(["--prefix", "none", "--no-dedupe"])
        .current_dir(workspace::root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let crates: BTreeSet<Vec<&str>> =
        tree.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
    assert!((200..=MOST_CRATES_OF_THE_COMMAND).contains(&crates.len()), "{} crates", crates.len());
}

/// A crate's folder, and the folders of the files that its tests share with those of other crates.
fn with_shared(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    for file in sources(folder) {
        let text = std::fs::read_to_string(&file).unwrap();
        let shared =
            text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"));
        all.extend(shared.map(|path| file.parent().unwrap().join(path).parent().unwrap().to_owned()));
    }
    all
}

/// The text of the sources in these places.
fn text_of(places: &[PathBuf]) -> String {
    let files: BTreeSet<PathBuf> = places.iter().flat_map(|place| sources(place)).collect();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// The Rust files at or below a place.
fn sources(place: &Path) -> Vec<PathBuf> {
    if place.is_dir() {
        let inside = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
        return inside.flat_map(|path| sources(&path)).collect();
    }
    let is_rust = place.is_file() && place.extension().is_some_and(|end| end == "rs");
    is_rust.then(|| place.to_owned()).into_iter().collect()
}

/// Whether a name is in a text as a word.
fn names(text: &str, name: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + name.len()..].chars().next())
    })
}

#[test]
fn a_crate_is_used_where_its_name_is_a_word() {
    assert!(names("use toml::Table;", "toml"));
    assert!(!names("use toml_parser::Table;", "toml"));
}
