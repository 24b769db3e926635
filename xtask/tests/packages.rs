//! Every crate can be published: it packages without a path that leaves it, and says what it is.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is a test, though some of it is outside of the functions marked as one"
)]

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use xtask::archive::Archive;
use xtask::workspace;

/// The crates that are published, as `cargo metadata` tells of them: the workspace's and the one that is its own.
fn published() -> Vec<Value> {
    let mut all = packages(&["--no-deps"]);
    all.extend(packages(&["--no-deps", "--manifest-path", "crates/slate/Cargo.toml"]));
    all.retain(|package| package["publish"].is_null());
    assert!(all.len() > 15, "only {} crates are published", all.len());
    all
}

fn packages(arguments: &[&str]) -> Vec<Value> {
    let metadata = workspace::metadata_of(arguments).unwrap();
    metadata.get("packages").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn name(package: &Value) -> &str {
    package.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

#[test]
fn every_crate_says_what_it_is() {
    let mut wrong = Vec::new();
    for package in published() {
        let mut complain = |what: &str| wrong.push(format!("{}: {what}", name(&package)));
        let count = |key: &str| package[key].as_array().map_or(0, Vec::len);
        if package["description"].as_str().is_none_or(|text| text.len() < 10 || text.ends_with('.')) {
            complain("no description, or one that ends with a stop");
        }
        if !(1..=5).contains(&count("keywords")) || !(1..=5).contains(&count("categories")) {
            complain("one to five keywords and categories");
        }
        if package["keywords"].as_array().unwrap().iter().any(|word| word.as_str().unwrap().len() > 20) {
            complain("a keyword has at most 20 characters");
        }
        if package["license"] != "MIT OR Apache-2.0" || package["repository"].is_null() {
            complain("no licence or repository");
        }
        if package["metadata"]["docs"]["rs"]["all-features"] != true {
            complain("docs.rs does not show all features");
        }
        let readme = std::fs::read_to_string(folder(&package).join("README.md")).unwrap_or_default();
        if !readme.starts_with(&format!("# {}\n", name(&package))) {
            complain("no README.md with its name");
        }
        for feature in package["features"].as_object().unwrap().keys().filter(|one| *one != "default") {
            if !readme.contains(&format!("| `{feature}` |")) {
                complain(&format!("its README.md does not explain the feature `{feature}`"));
            }
        }
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = std::fs::read(folder(&package).join(licence)).ok();
            if text != std::fs::read(workspace::root().join(licence)).ok() {
                complain(&format!("{licence} is not that of the project"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_crate_packages_and_no_path_leaves_it() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
    let run = |more: &[&str]| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let exclude = ["--exclude", "xtask", "--exclude", "keyplan-examples"];
        Command::new(cargo)
            .args(["package", "--quiet", "--workspace", "--no-verify", "--allow-dirty", "--target-dir"])
            .arg(&target)
            .args(exclude)
            .args(more)
            .current_dir(workspace::root())
            .output()
            .unwrap()
    };
    // What was built was fetched, so that the index need not be asked; where it was not, it is.
    let mut output = run(&["--offline"]);
    if !output.status.success() {
        output = run(&[]);
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found = BTreeSet::new();
    for package in packages(&["--no-deps"]).iter().filter(|package| package["publish"].is_null()) {
        let root = format!("{}-{}", name(package), package["version"].as_str().unwrap());
        let bytes = std::fs::read(target.join("package").join(format!("{root}.crate"))).unwrap();
        let archive = Archive::read(&bytes).unwrap();
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(archive.get(&format!("{root}/{file}")).is_some(), "{root} lacks {file}");
        }
        let sources: Vec<&str> = archive
            .paths()
            .filter(|path| Path::new(path).extension().is_some_and(|one| one == "rs"))
            .collect();
        assert!(!sources.is_empty(), "{root} has no source");
        for path in sources {
            let text = String::from_utf8(archive.get(path).unwrap().to_vec()).unwrap();
            for named in named_files(&root, path, &text) {
                if archive.get(&named).is_none() {
                    found.insert(format!("{path} needs {named}"));
                }
            }
        }
    }
    assert_eq!(found, BTreeSet::new());
    std::fs::remove_dir_all(&target).unwrap();
}

/// The files that a source takes in while it is compiled, as paths inside of the archive.
fn named_files(root: &str, source: &str, text: &str) -> Vec<String> {
    let here = Path::new(source).parent().unwrap();
    let mut named = Vec::new();
    for (mark, base) in [
        ("include_str!(\"", here),
        ("include_bytes!(\"", here),
        ("#[path = \"", here),
        ("plan!(\"", Path::new(root)),
    ] {
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            // A macro that is spoken of, in quotes that are escaped, is not called.
            for rest in line.split(mark).skip(1) {
                let file = rest.split('"').next().unwrap();
                named.push(plain(&base.join(file)));
            }
        }
    }
    named
}

/// The path without `..`; one that leaves the archive keeps a mark of it.
fn plain(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if parts.pop().is_none() {
                    return format!("outside: {}", path.display());
                }
            }
            Component::CurDir => {}
            part => parts.push(part.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
}

#[test]
fn a_path_that_leaves_its_crate_is_found() {
    let text = "const A: &str = include_str!(\"../../b.md\");\n// include_str!(\"none\")\nkeyplan::plan!(\"plans/a.keyplan\");\n";
    let expected = ["b.md", "c-1/plans/a.keyplan"];
    assert_eq!(named_files("c-1", "c-1/src/lib.rs", text), expected);
}

#[test]
fn the_oldest_rust_is_stated_once_and_no_dependency_asks_for_more() {
    let parsed =
        |text: &str| -> Vec<u32> { text.split('.').take(2).map(|one| one.parse().unwrap()).collect() };
    let version = |package: &Value| package["rust_version"].as_str().map(parsed);
    let manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml")).unwrap();
    let stated = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap();
    let stated = parsed(stated.trim_matches('"'));
    let members = packages(&["--no-deps"]);
    let own: BTreeSet<&str> = members.iter().map(name).collect();
    for member in &members {
        assert_eq!(version(member).as_ref(), Some(&stated), "{}", name(member));
        let text = std::fs::read_to_string(folder(member).join("Cargo.toml")).unwrap();
        assert!(text.contains("rust-version.workspace = true"), "{}", name(member));
    }
    let all = packages(&[]);
    let others = all.iter().filter(|package| !own.contains(name(package)));
    let newer: Vec<String> = others
        .filter(|package| version(package).is_some_and(|asked| asked > stated))
        .map(|package| format!("{} asks for {}", name(package), package["rust_version"]))
        .collect();
    assert_eq!(newer, Vec::<String>::new());
}
