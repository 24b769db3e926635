//! What `ARCHITECTURE.md` says of where things are is true.

use xtask::workspace;

const HEADER: &str = "| what | begin in | and then |";

/// The cells of a row that are not empty.
fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// What is in backquotes and looks like a path.
fn paths(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).filter(|name| name.contains(['/', '.'])).collect()
}

#[test]
fn the_map_says_where_to_add_each_kind_of_thing() {
    let text = std::fs::read_to_string(workspace::root().join("ARCHITECTURE.md")).unwrap();
    let (_, table) = text.split_once(HEADER).unwrap();
    let rows: Vec<Vec<&str>> =
        table.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells).collect();
    let named: Vec<&str> = rows.iter().filter_map(|row| row.first().copied()).collect();
    assert_eq!(named, ["an encoding", "an engine", "a guarantee", "a source", "a language"]);
    for row in &rows {
        let [_, first, then] = row.as_slice() else { panic!("{row:?}") };
        let places: Vec<&str> = paths(first).into_iter().chain(paths(then)).collect();
        assert!(places.len() > 1, "{row:?}");
        for place in places {
            assert!(workspace::root().join(place).exists(), "{place}");
        }
    }
}

#[test]
fn every_crate_of_the_map_is_there_and_every_crate_is_on_it() {
    let text = std::fs::read_to_string(workspace::root().join("ARCHITECTURE.md")).unwrap();
    let (_, map) = text.split_once("```text\ncrates/\n").unwrap();
    let (map, _) = map.split_once("\nplans/").unwrap();
    let mut named: Vec<&str> = map
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')))
        .filter_map(|line| line.split_once("/ ").map(|(name, _)| name))
        .collect();
    named.sort_unstable();
    let mut found: Vec<String> = std::fs::read_dir(workspace::root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(named, found);
}
