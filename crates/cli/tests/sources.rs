//! Databases of other programs: directories of Fjall without a plan, signals in the middle, and files that were damaged.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use keyplan_store::engine::{Engine as _, Fjall, FjallSettings, Space};
use serde_json::{Value, json};

fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    command.current_dir(directory).env("NO_COLOR", "1").args(arguments);
    command
}

fn keyplan(directory: &Path, arguments: &[&str]) -> Output {
    command(directory, arguments).output().unwrap()
}

/// What a command prints, which ends with this code.
fn printed(directory: &Path, code: i32, arguments: &[&str]) -> String {
    let output = keyplan(directory, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn plan(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans").join(name);
    path.to_str().unwrap().to_owned()
}

/// A state store as Dolos lays it out on Fjall: its keyspaces, and nothing of ours in them.
fn dolos() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let mut engine = Fjall::open(&path, FjallSettings::default()).unwrap();
    let utxos = engine.create_space(&Space::map("state-utxos")).unwrap();
    let entities = engine.create_space(&Space::map("state-entities")).unwrap();
    // A map of two numbers, after the era of the output.
    let output =
        |index: u8| ([&[7; 32][..], &[0, 0, 0, index]].concat(), vec![0, 6, 0xa2, 0, index, 1, 0x20]);
    engine.ingest(utxos, (0..3).map(output).map(|(key, value)| Ok((key.into(), value.into())))).unwrap();
    let key = printed(
        directory.path(),
        0,
        &["encode", &plan("upstream/dolos.keyplan"), "entity", "ns=accounts", "key=0102"],
    );
    let key = hex(key.trim());
    let entity = [(key, vec![0x82, 0x01, 0x62, b'o', b'k']), (vec![0xff; 7], vec![0xff])];
    engine.ingest(entities, entity.into_iter().map(|(key, value)| Ok((key.into(), value.into())))).unwrap();
    drop(engine);
    directory
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.strip_prefix("0x").unwrap_or(text).replace(' ', "");
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// The lines of a command as JSON.
fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_directory_of_fjall_without_a_plan_is_read_under_a_named_one() {
    let directory = dolos();
    let here = directory.path();
    let dolos = plan("upstream/dolos.keyplan");
    let with = |code: i32, arguments: &[&str]| {
        let (command, rest) = arguments.split_at(2);
        printed(here, code, &[command, &["state"], rest, &["--plan", dolos.as_str()]].concat())
    };
    let rows = objects(&with(0, &["db", "scan", "utxo", "--format", "json"]));
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2]["args"]["index"], json!(2), "{}", rows[2]);
    // JSON has no numbers as names: such a map is its pairs.
    let body = json!({"$map": [[0, 2], [1, -1]]});
    assert_eq!(rows[2]["value"], json!({"era": 6, "body": body}), "{}", rows[2]);
    assert_eq!(rows[2].get("decoded"), None, "{}", rows[2]);
    let entity = with(0, &["db", "get", "entity", "ns=accounts", "key=0102"]);
    assert!(entity.contains(r#"[1, "ok"]"#), "{entity}");
    let audit: Value = serde_json::from_str(&with(1, &["db", "audit", "--format", "json"])).unwrap();
    let kinds: Vec<&str> =
        audit["findings"].as_array().unwrap().iter().map(|f| f["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["unknown-key"], "{audit}");
    // The prefix of a scan is explained as that, with the rows that begin with it.
    let front = "07".repeat(32);
    let explained = printed(here, 1, &["explain", "state", &front, "--plan", &dolos, "--space", "utxos"]);
    assert!(explained.contains("3 rows begin with it"), "{explained}");
    // Without a plan there are still its rows.
    let raw = objects(&printed(here, 0, &["db", "dump", "state", "--raw"]));
    let spaces: Vec<&str> = raw.iter().map(|row| row["space"].as_str().unwrap()).collect();
    assert_eq!(spaces.iter().filter(|space| **space == "state-utxos").count(), 3, "{spaces:?}");
    assert_eq!(spaces.iter().filter(|space| **space == "state-entities").count(), 2, "{spaces:?}");
}

/// How many rows the long lists have; an interrupt is looked for after each 10,000 at the latest.
const ROWS: u32 = 50_000;

/// Starts a command that prints a line per row, reads so many that it listens to interrupts, sends one, and reads the rest: how
/// many lines there were, and what was said.
fn interrupted(directory: &Path, arguments: &[&str]) -> (usize, String) {
    let mut child =
        command(directory, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let before = lines.by_ref().take(12_000).map(Result::unwrap).count();
    assert_eq!(before, 12_000, "{arguments:?}");
    // What it goes on to print waits in a pipe that is far shorter than the rest.
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let after = lines.map(Result::unwrap).count();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2), "{arguments:?}: {said}");
    (before + after, said)
}

#[test]
fn an_interrupt_says_what_was_done_and_how_to_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let rows = (0..ROWS).fold(String::new(), |mut text, id| {
        writeln!(text, r#"{{"key":"{id:08x}","value":"{id:064x}"}}"#).unwrap();
        text
    });
    fs::write(here.join("rows.jsonl"), rows).unwrap();
    let (rows, said) = interrupted(here, &["db", "dump", "rows.jsonl", "--raw"]);
    assert_eq!(
        said,
        format!(
            "error: interrupted after {rows} rows: the dump is not whole; the same command starts again\n"
        )
    );
    let (rows, said) = interrupted(here, &["db", "scan", "rows.jsonl"]);
    let last = format!("{:08x}", rows - 1);
    assert_eq!(
        said,
        format!(
            "error: interrupted after {rows} rows; `--after {last}` continues after the last one in space `default`\n"
        )
    );
    // It goes on with the next row, and a limit holds for the whole command.
    let rest = printed(here, 0, &["db", "scan", "rows.jsonl", "--after", &last, "--count"]);
    assert!(rest.replace([',', '_', '\u{202f}'], "").contains(&(ROWS as usize - rows).to_string()), "{rest}");
    assert_eq!(
        printed(here, 0, &["db", "scan", "rows.jsonl", "--after", &last, "--limit", "2"]).lines().count(),
        2
    );
    fs::write(here.join("p.keyplan"), "plan p; space default { key short = id: u16 -> raw; }").unwrap();
    let verify =
        ["db", "verify", "rows.jsonl", "--plan", "p.keyplan", "--format", "json", "--limit", "100000"];
    let (lines, said) = interrupted(here, &verify);
    let expected = format!(
        "error: interrupted: {lines} rows are verified, with {lines} unknown keys and 0 malformed values; nothing was \
         changed, and the same command starts again\n"
    );
    assert_eq!(said, expected);
}

/// Each file below a path that is not empty.
fn files(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if fs::metadata(&path).unwrap().len() > 0 {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A damaged database of our own engines is refused or read; the command has an answer, and no panic.
#[test]
fn damaged_databases_of_our_engines_get_an_answer() {
    for engine in ["redb", "fjall"] {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        fs::write(here.join("p.keyplan"), "plan p; space s { key row = id: u32 -> raw; }").unwrap();
        printed(here, 0, &["db", "create", "data", "p.keyplan", "--engine", engine]);
        for id in 0..3 {
            printed(here, 0, &["db", "put", "data", "row", &format!("id={id}"), "value=00112233"]);
        }
        let whole = printed(here, 0, &["db", "dump", "data", "--raw"]);
        let mut refused = 0;
        for file in files(&here.join("data")) {
            let bytes = fs::read(&file).unwrap();
            for part in [0, 1, 7, 15] {
                let mut changed = bytes.clone();
                let place = bytes.len() * part / 16;
                let end = bytes.len().min(place + 9);
                changed[place..end].fill(0xff);
                fs::write(&file, &changed).unwrap();
                let output = keyplan(here, &["db", "dump", "data", "--raw"]);
                let said = String::from_utf8_lossy(&output.stderr);
                let code = output.status.code();
                assert!(
                    matches!(code, Some(0 | 2)),
                    "{engine}: {} at {place}: {code:?} {said}",
                    file.display()
                );
                if code == Some(2) {
                    refused += 1;
                    assert!(said.starts_with("error: ") && !said.contains("panicked"), "{said}");
                } else {
                    let dumped = String::from_utf8(output.stdout).unwrap();
                    assert!(dumped.lines().all(|line| whole.contains(line)), "{engine}: {}", file.display());
                }
                fs::write(&file, &bytes).unwrap();
            }
        }
        assert!(refused > 0, "{engine}");
    }
}
