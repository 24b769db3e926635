//! Nothing in the project is of the machine that it was written on: no name of a folder, and nothing that a tool left over.

use std::collections::BTreeSet;

use xtask::workspace;

/// Places that exist on one machine only, put together here so that this file does not name one.
fn places() -> Vec<String> {
    let mut places: Vec<String> = ["home", "Users", "root/.", "mnt/c"]
        .iter()
        .map(|name| format!("/{name}/").replace("./", "."))
        .collect();
    places.push(format!("C:{}Users", '\\'));
    places.push(format!("{}/", workspace::root().display()));
    let variables = ["HOME", "CARGO_HOME", "RUSTUP_HOME"];
    let folders = variables.iter().filter_map(|name| std::env::var(name).ok());
    places.extend(folders.filter(|folder| folder.len() > 1).map(|folder| format!("{folder}/")));
    places
}

#[test]
fn no_file_names_a_folder_of_one_machine() {
    let places = places();
    let mut found = BTreeSet::new();
    for path in workspace::files().unwrap() {
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in text.lines().enumerate() {
            if places.iter().any(|place| line.contains(place.as_str())) {
                found.insert(format!("{}:{}: {}", workspace::relative(&path), number + 1, line.trim()));
            }
        }
    }
    assert_eq!(found, BTreeSet::new());
}

/// How the names of files end that editors, merges and test tools leave behind.
const LEFT_OVER: [&str; 8] =
    [".pending-snap", ".snap.new", ".orig", ".rej", ".swp", ".profraw", ".stderr.new", "~"];

#[test]
fn nothing_that_a_tool_left_over_is_in_the_project() {
    let names = workspace::files().unwrap();
    let names = names.iter().map(|path| workspace::relative(path));
    let found: Vec<String> = names.filter(|name| LEFT_OVER.iter().any(|end| name.ends_with(end))).collect();
    assert_eq!(found, Vec::<String>::new());
}
