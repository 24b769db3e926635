//! What the licences of the crates inside of the command ask for: their names, their licences, and the texts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// A crate of somebody else, and the texts of its licence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The licence, as an SPDX expression.
    pub licence: String,
    /// Where it comes from.
    pub repository: String,
    /// The files of its licence, by their paths inside of the package.
    pub texts: BTreeMap<String, String>,
}

/// How deep below a package's folder the licence of code lies that it brings along.
const DEPTH: usize = 4;

/// The crates of others that are part of `root`, from what `cargo metadata` says.
pub fn packages(metadata: &Value, root: &str) -> Result<Vec<Package>> {
    let by_id: BTreeMap<&str, &Value> =
        list(metadata, "packages").iter().map(|one| (text(one, "id"), one)).collect();
    let nodes = metadata.get("resolve").context("cargo metadata has resolved nothing")?;
    let nodes: BTreeMap<&str, &Value> =
        list(nodes, "nodes").iter().map(|one| (text(one, "id"), one)).collect();
    let start = by_id.iter().find(|(_, one)| text(one, "name") == root).map(|(id, _)| *id);
    let start = start.with_context(|| format!("cargo metadata does not know `{root}`"))?;
    let mut seen = BTreeSet::from([start]);
    let mut queue = VecDeque::from([start]);
    while let Some(id) = queue.pop_front() {
        for dependency in nodes.get(id).map(|node| list(node, "deps")).unwrap_or_default() {
            // The kind is null for what becomes part of the program; "dev" and "build" do not.
            let part =
                list(dependency, "dep_kinds").iter().any(|kind| kind.get("kind") == Some(&Value::Null));
            let id = text(dependency, "pkg");
            if part && seen.insert(id) {
                queue.push_back(id);
            }
        }
    }
    let others = seen.iter().filter_map(|id| by_id.get(id)).filter(|one| {
        // What has no source is in this workspace.
        one.get("source").is_some_and(Value::is_string)
    });
    let mut found = others.map(|one| package(one)).collect::<Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

fn package(package: &Value) -> Result<Package> {
    let manifest = PathBuf::from(text(package, "manifest_path"));
    let folder = manifest.parent().context("a manifest lies in a folder")?;
    let mut texts = BTreeMap::new();
    collect(folder, folder, DEPTH, &mut texts)?;
    Ok(Package {
        name: text(package, "name").to_owned(),
        version: text(package, "version").to_owned(),
        licence: text(package, "license").to_owned(),
        repository: text(package, "repository").to_owned(),
        texts,
    })
}

fn collect(root: &Path, folder: &Path, depth: usize, texts: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_dir() {
            if depth > 0 {
                collect(root, &path, depth - 1, texts)?;
            }
        } else if is_licence(&name) {
            let bytes = std::fs::read(&path)?;
            let inside = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            texts.insert(inside, String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned());
        }
    }
    Ok(())
}

fn is_licence(upper: &str) -> bool {
    let begins = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    let ends = [".RS", ".JSON", ".TOML", ".YML", ".YAML", ".HTML"];
    begins.iter().any(|word| upper.starts_with(word)) && !ends.iter().any(|end| upper.ends_with(end))
}

/// The page: who is in the program, then every text once, with whose it is.
pub fn page(packages: &[Package]) -> String {
    let mut out = String::from(
        "# Third-party notices\n\nThe program `keyplan` contains code of these crates, each under its own licence. The texts follow, each once.\n\n\
         | crate | version | licence | source |\n| --- | --- | --- | --- |\n",
    );
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in packages {
        // Writing to a string does not fail.
        let _ = writeln!(out, "| {} | {} | {} | {} |", one.name, one.version, one.licence, one.repository);
        for (file, text) in &one.texts {
            texts.entry(text).or_default().push(format!("{} {} ({file})", one.name, one.version));
        }
    }
    let silent: Vec<String> = packages
        .iter()
        .filter(|one| one.texts.is_empty())
        .map(|one| format!("{} {}", one.name, one.version))
        .collect();
    if !silent.is_empty() {
        let _ = writeln!(out, "\nThese packages hold no licence text of their own: {}.", silent.join(", "));
    }
    let mut texts: Vec<(Vec<String>, &str)> = texts.into_iter().map(|(text, whose)| (whose, text)).collect();
    texts.sort();
    for (whose, text) in texts {
        let _ = write!(out, "\n## {}\n\n````text\n{text}\n````\n", whose.join(", "));
    }
    out
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, texts: &[(&str, &str)]) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT".to_owned(),
            repository: format!("https://example.org/{name}"),
            texts: texts.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect(),
        }
    }

    #[test]
    fn a_text_that_two_crates_share_is_printed_once() {
        let page =
            page(&[one("a", &[("LICENSE", "be kind")]), one("b", &[("COPYING", "be kind")]), one("c", &[])]);
        assert_eq!(page.matches("be kind").count(), 1, "{page}");
        assert!(page.contains("\n## a 1.0.0 (LICENSE), b 1.0.0 (COPYING)\n"), "{page}");
        assert!(page.contains("hold no licence text of their own: c 1.0.0."), "{page}");
    }

    #[test]
    fn sources_that_speak_of_licences_are_none() {
        assert!(is_licence("LICENSE-MIT") && is_licence("COPYING.LESSER"));
        assert!(!is_licence("LICENSE.RS") && !is_licence("NOTES"));
    }
}
