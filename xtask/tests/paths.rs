//! Nothing in the project names a folder of the machine that it was written on.

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
