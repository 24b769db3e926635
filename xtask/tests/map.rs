//! What `ARCHITECTURE.md` says of where things are is true.

use std::path::{Path, PathBuf};

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

/// The source files below a folder, tests aside.
fn below(folder: &Path, all: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "tests") {
                below(&path, all)?;
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            all.push(path);
        }
    }
    Ok(())
}

/// The source files of all crates whose text is as wanted, by their paths in the repository.
fn sources(is_wanted: impl Fn(&str) -> bool) -> std::io::Result<Vec<String>> {
    let mut all = Vec::new();
    for folder in std::fs::read_dir(workspace::root().join("crates"))? {
        let folder = folder?.path().join("src");
        if folder.is_dir() {
            below(&folder, &mut all)?;
        }
    }
    let mut found = Vec::new();
    for file in all {
        if is_wanted(&std::fs::read_to_string(&file)?) {
            found.push(workspace::relative(&file));
        }
    }
    found.sort();
    Ok(found)
}

/// The files that a table of `CONTRIBUTING.md` names.
fn files_of(table: &str) -> Vec<String> {
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| cells(row).first().map(|cell| cell.trim_matches('`').to_owned())).collect()
}

#[test]
fn an_encoding_touches_six_files() {
    let text = std::fs::read_to_string(workspace::root().join("CONTRIBUTING.md")).unwrap();
    let (_, table) = text.split_once("| file | what of it |\n").unwrap();
    let named = files_of(table);
    assert!(named.len() <= 6, "{named:?}");
    for file in &named {
        assert!(workspace::root().join(file).is_file(), "{file}");
    }
    let is_source = |file: &String| Path::new(file).extension().is_some_and(|end| end == "rs");
    let of_integers: Vec<String> =
        named.into_iter().filter(|file| is_source(file) && !file.ends_with("/mod.rs")).collect();
    let (_, table) = text.split_once("| encoding of | its graph |").unwrap();
    let graphs: Vec<Vec<&str>> =
        table.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells).collect();
    // Every enum of the table but that of lists, which are told apart by lengths and literals.
    let domains = [
        ("IntEncoding", "integers", 19),
        ("BoolEncoding", "truth values", 2),
        ("FloatEncoding", "floats", 5),
        ("TimeEncoding", "times", 2),
        ("NibbleEncoding", "nibble paths", 4),
        ("ScoreEncoding", "scores", 2),
        ("BytesEncoding", "bytes", 8),
        ("Frame", "frames", 5),
    ];
    let mut covered: Vec<&str> = domains.iter().map(|(domain, ..)| *domain).chain(["Framing"]).collect();
    covered.sort_unstable();
    assert_eq!(covered, enums_with_rows().unwrap());
    for (domain, kind, least) in domains {
        let row = graphs
            .iter()
            .find(|row| row.first().is_some_and(|kinds| kinds.split(", ").any(|one| one == kind)));
        let graph = row.and_then(|row| row.get(1)).unwrap().trim_matches('`');
        let mut known = of_integers.clone();
        let digits = known.iter_mut().find(|file| file.ends_with("/digits.rs")).unwrap();
        graph.clone_into(digits);
        known.sort_unstable();
        let variants = variants_of(domain).unwrap();
        assert!(variants.len() >= least, "{variants:?}");
        // A `match` without a catch-all names every variant: these are the files that the compiler asks for.
        let asked = sources(|text| variants.iter().all(|variant| names(text, domain, variant)));
        assert_eq!(asked.unwrap(), known, "{domain}");
    }
}

/// Whether a text names a variant of an enum.
fn names(text: &str, domain: &str, variant: &str) -> bool {
    let path = format!("{domain}::{variant}");
    text.match_indices(&path).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + path.len()..].chars().next();
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_part(before) && !is_part(after)
    })
}

/// The enums that have rows in the table of encodings.
fn enums_with_rows() -> std::io::Result<Vec<String>> {
    let table = std::fs::read_to_string(workspace::root().join("crates/plan/src/model/table.rs"))?;
    let rows = table.lines().skip_while(|line| *line != "table! {").take_while(|line| *line != "}");
    let opens = rows.filter_map(|line| line.strip_prefix("    ")?.strip_suffix(" {"));
    let mut found: Vec<String> = opens.filter(|name| !name.starts_with(' ')).map(str::to_owned).collect();
    found.sort_unstable();
    Ok(found)
}

/// The variants of an enum of the table.
fn variants_of(domain: &str) -> std::io::Result<Vec<String>> {
    let table = std::fs::read_to_string(workspace::root().join("crates/plan/src/model/table.rs"))?;
    let start = format!("pub enum {domain} {{");
    let lines = table.lines().skip_while(|line| *line != start).skip(1).take_while(|line| *line != "}");
    let names = lines.filter_map(|line| line.strip_prefix("    "));
    let names = names.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    Ok(names
        .filter_map(|line| line.split(|c: char| !c.is_alphanumeric()).next())
        .map(str::to_owned)
        .collect())
}

#[test]
fn paths_are_taken_apart_in_one_file() {
    // Dots of other things: what is typed in the explorer, kinds of actions, file names, decimals, and the names of protobuf.
    const OTHERS: [&str; 7] = [
        "crates/explorer/src/tui/address.rs",
        "crates/lsp/src/actions.rs",
        "crates/plan/src/dynamic/text.rs",
        "crates/plan/src/schema.rs",
        "crates/report/src/values/faults.rs",
        "crates/sources/src/lsm/directory.rs",
        "crates/values/src/time.rs",
    ];
    let words = [
        "split",
        "rsplit",
        "split_once",
        "rsplit_once",
        "splitn",
        "rsplitn",
        "find",
        "rfind",
        "ends_with",
        "starts_with",
    ];
    // With a dot before or after a name that is put together, as in `ends_with(&format!(".{name}"))`.
    let around = |line: &str| {
        let asks = words.iter().any(|word| line.contains(&format!(".{word}(&format!(")));
        asks && (line.contains(r#"(".{"#) || line.contains(r#"}.")"#))
    };
    let splits =
        |line: &str| words.iter().any(|word| line.contains(&format!(".{word}('.')"))) || around(line);
    let mut found = sources(|text| text.lines().any(splits)).unwrap();
    found.retain(|file| !OTHERS.contains(&file.as_str()));
    assert_eq!(found, ["crates/plan/src/model/path.rs"]);
}

/// The files in which composite shapes are told apart: to each of these a list means something else than a record does. Whoever only
/// wants what is inside asks `crates/plan/src/model/walk.rs`; a file is added here because it cannot.
const TELL_SHAPES_APART: &[&str] = &[
    "crates/codegen/src/go/tree.rs",
    "crates/codegen/src/model/shape.rs",
    "crates/codegen/src/runtime.rs",
    "crates/codegen/src/rust/composite.rs",
    "crates/codegen/src/rust/row.rs",
    "crates/codegen/src/rust/shape.rs",
    "crates/codegen/src/typescript/encode.rs",
    "crates/codegen/src/typescript/types.rs",
    "crates/codegen/src/vectors/domain.rs",
    "crates/codegen/src/vectors/random.rs",
    "crates/plan/src/dynamic/decode.rs",
    "crates/plan/src/dynamic/delimit.rs",
    "crates/plan/src/dynamic/encode.rs",
    "crates/plan/src/dynamic/text.rs",
    "crates/plan/src/explain/anatomy.rs",
    "crates/plan/src/mapping/convert.rs",
    "crates/plan/src/model/domain.rs",
    "crates/plan/src/model/encoding.rs",
    "crates/plan/src/model/escape.rs",
    "crates/plan/src/model/fingerprint.rs",
    "crates/plan/src/model/layout.rs",
    "crates/plan/src/notation/encoding.rs",
    "crates/plan/src/notation/from_json.rs",
    "crates/plan/src/notation/mod.rs",
    "crates/prover/src/automaton/build/mod.rs",
    "crates/prover/src/beginning.rs",
    "crates/prover/src/certificate/ends.rs",
    "crates/prover/src/certificate/order.rs",
    "crates/prover/src/certificate/reason.rs",
    "crates/prover/src/compat/convert.rs",
    "crates/prover/src/compat/migration/takes.rs",
    "crates/prover/src/compat/normal.rs",
    "crates/prover/src/compat/relate.rs",
    "crates/prover/src/guarantee/ambiguous/delimited.rs",
    "crates/prover/src/guarantee/oversize/law.rs",
    "crates/prover/src/guarantee/unordered/diagnosis.rs",
    "crates/prover/src/guarantee/unordered/law.rs",
    "crates/prover/src/guarantee/unordered/lengths.rs",
    "crates/prover/src/guarantee/unordered/merging.rs",
    "crates/prover/src/reader.rs",
    "crates/prover/src/sample.rs",
    "crates/report/src/values/reading.rs",
];

/// How many lines the source of the command may have: what it prints, libraries return.
const MOST_LINES_OF_THE_COMMAND: usize = 5_000;

#[test]
fn the_command_is_thin() {
    let mut files = Vec::new();
    below(&workspace::root().join("crates/cli/src"), &mut files).unwrap();
    let lines: usize = files.iter().map(|file| std::fs::read_to_string(file).unwrap().lines().count()).sum();
    assert!(lines <= MOST_LINES_OF_THE_COMMAND, "{lines} lines");
}

#[test]
fn composite_shapes_are_visited_and_not_matched() {
    const COMPOSITES: [&str; 8] =
        ["Record", "Choice", "Option", "List", "Framed", "Desc", "Hashed", "HashConcat"];
    let tells_apart = |text: &str| {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        COMPOSITES.iter().filter(|shape| names(code, "Shape", shape)).count() > 1
    };
    assert_eq!(sources(tells_apart).unwrap(), TELL_SHAPES_APART);
}
