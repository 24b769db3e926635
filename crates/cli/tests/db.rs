//! Databases that are busy, interrupted or large: what `tests/cmd/db.trycmd` cannot show.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use keyplan_store::engine::{Fjall, FjallSettings};
use keyplan_store::{Access, Store};

const PLAN: &str = "plan demo; space s { key row = id: u32 -> n: u64 scan all in order; }";

fn keyplan(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    command.current_dir(directory).env("NO_COLOR", "1").args(arguments).output().unwrap()
}

/// What a command that must succeed prints.
fn printed(directory: &Path, arguments: &[&str]) -> String {
    let output = keyplan(directory, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a command that cannot run says.
fn complaint(directory: &Path, arguments: &[&str]) -> String {
    let output = keyplan(directory, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn made(engine: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("demo.keyplan"), PLAN).unwrap();
    printed(directory.path(), &["db", "create", "data", "demo.keyplan", "--engine", engine]);
    directory
}

fn lines(rows: std::ops::Range<u32>) -> String {
    rows.fold(String::new(), |mut text, id| {
        writeln!(text, r#"{{"family":"row","args":{{"id":{id}}},"value":{{"n":"{}"}}}}"#, id * 2).unwrap();
        text
    })
}

#[test]
fn a_record_is_typed_as_one_and_a_mistake_shows_how() {
    let directory = tempfile::tempdir().unwrap();
    let plan = "plan p; space s { key cursor = 0x00 -> (block: u64 hash: bytes(4)); }";
    std::fs::write(directory.path().join("p.keyplan"), plan).unwrap();
    printed(directory.path(), &["db", "create", "data", "p.keyplan"]);
    let refused = complaint(directory.path(), &["db", "put", "data", "cursor", "block=5", "hash=01020304"]);
    let written = "value=(block=…, hash=…)";
    assert_eq!(
        refused,
        format!(
            "error: the value of s.cursor has no argument `block`, but a record that has it: write '{written}'\n"
        )
    );
    printed(directory.path(), &["db", "put", "data", "cursor", "value=(block=5, hash=01020304)"]);
}

#[test]
fn a_database_that_is_open_is_not_opened_again() {
    let directory = made("fjall");
    let engine = Fjall::open(directory.path().join("data"), FjallSettings::default()).unwrap();
    let store = Store::open_recorded(engine, Access::ReadOnly).unwrap();
    let refused = complaint(directory.path(), &["db", "stats", "data"]);
    let what_to_do = "end that process, or have it call `answer` on its store";
    assert_eq!(
        refused,
        format!("error: `data` is in use by another process, which does not answer for it: {what_to_do}\n")
    );
    drop(store);
    printed(directory.path(), &["db", "stats", "data"]);
}

#[test]
fn stats_show_what_the_row_cache_did_in_the_last_run() {
    let directory = made("fjall");
    let engine = Fjall::open(directory.path().join("data"), FjallSettings::default()).unwrap();
    let compiled = keyplan_plan::compile("demo.keyplan", PLAN, |_| Err("no imports".into()));
    let schema = keyplan_store::Schema::of(&compiled).unwrap();
    let store = Store::open(engine, &schema).unwrap().row_cache(64_000);
    let space = store.space("s").unwrap();
    let mut batch = store.batch().unwrap();
    batch.put(space, [0, 0, 0, 7].as_slice(), [0; 8].as_slice());
    batch.commit(keyplan_store::engine::Durability::Buffer).unwrap();
    for id in [7, 7, 7, 9] {
        store.snapshot().unwrap().get(space, &[0, 0, 0, id]).unwrap();
    }
    store.shutdown(std::time::Duration::from_secs(20)).unwrap();
    drop(store);
    let said = printed(directory.path(), &["db", "stats", "data"]);
    let table =
        said.split_once("reads through the row cache").map(|(_, table)| table.lines().nth(1).unwrap());
    let cells: Vec<&str> = table.unwrap().split_whitespace().collect();
    assert_eq!(cells, ["s.row", "3", "1", "75.0", "%", "0"], "{said}");
    let json = printed(directory.path(), &["db", "stats", "data", "--format", "json"]);
    for part in [r#""reads":[{"#, r#""family":"s.row""#, r#""hits":3"#, r#""misses":1"#, r#""evictions":0"#] {
        assert!(json.contains(part), "{json}");
    }
}

#[test]
fn a_backup_has_the_rows_of_the_database_on_every_engine() {
    for engine in ["fjall", "redb", "lmdb"] {
        let directory = made(engine);
        let load = |rows: std::ops::Range<u32>| {
            std::fs::write(directory.path().join("rows.jsonl"), lines(rows)).unwrap();
            printed(directory.path(), &["db", "load", "data", "rows.jsonl"]);
        };
        load(0..50);
        let said = printed(directory.path(), &["db", "backup", "data", "copy"]);
        assert_eq!(said, "`copy` has 50 rows: 50 written, 0 deleted\n");
        load(50..60);
        let said = printed(directory.path(), &["db", "backup", "data", "copy"]);
        assert_eq!(said, "`copy` has 60 rows: 10 written, 0 deleted\n");
        let dump = |of| printed(directory.path(), &["db", "dump", of]);
        assert_eq!(dump("copy"), dump("data"));
        assert!(printed(directory.path(), &["db", "stats", "copy"]).contains(engine));
    }
}

/// The refusal names a command, and that command shows what differs.
#[test]
fn a_plan_is_compared_with_the_one_in_a_database() {
    for engine in ["fjall", "redb"] {
        let directory = made(engine);
        std::fs::write(
            directory.path().join("other.keyplan"),
            "plan other; space s { key moved = id: u64; }",
        )
        .unwrap();
        let refused = complaint(directory.path(), &["db", "stats", "data", "--plan", "other.keyplan"]);
        assert!(refused.contains("`keyplan check PLAN --against DIR` shows what differs"), "{refused}");
        let compared = keyplan(directory.path(), &["check", "other.keyplan", "--against", "data"]);
        let said = String::from_utf8_lossy(&compared.stdout).into_owned()
            + &String::from_utf8_lossy(&compared.stderr);
        assert!(said.contains("against data:"), "{said}");
    }
}

#[test]
fn a_load_that_stopped_goes_on_where_it_was() {
    for engine in ["fjall", "redb"] {
        let directory = made(engine);
        let (here, file) = (directory.path(), directory.path().join("rows.jsonl"));
        std::fs::write(&file, format!("{}not a row\n{}", lines(0..25), lines(25..40))).unwrap();
        let stopped = complaint(here, &["db", "load", "data", "rows.jsonl", "--batch", "10"]);
        assert_eq!(
            stopped,
            "error: line 26: column 2: expected ident; everything up to line 20 is written, and --resume \
             continues after it\n"
        );
        // Of the batch that the line is in, nothing is written.
        assert_eq!(printed(here, &["db", "scan", "data", "row"]).lines().count(), 20);

        std::fs::write(&file, lines(100..160)).unwrap();
        let other = complaint(here, &["db", "load", "data", "rows.jsonl", "--resume"]);
        assert_eq!(
            other,
            "error: the input up to line 20 is not what the interrupted load read: this is another input, or a row of \
             it was changed; without --resume it is loaded from the beginning\n"
        );
        std::fs::write(&file, lines(0..40)).unwrap();
        let done = printed(here, &["db", "load", "data", "rows.jsonl", "--resume"]);
        assert_eq!(done, "loaded 40 rows, of which 20 were there already\n");
        assert_eq!(printed(here, &["db", "scan", "data", "row"]).lines().count(), 40);
        assert!(!here.join("data/keyplan-load.json").exists());
    }
}

#[test]
fn a_binary_dump_resumes_by_blocks_and_knows_when_it_is_cut() {
    let directory = made("fjall");
    let here = directory.path();
    std::fs::write(here.join("rows.jsonl"), lines(0..30_000)).unwrap();
    printed(here, &["db", "load", "data", "rows.jsonl"]);
    printed(here, &["db", "dump", "data", "--format", "binary", "-o", "rows.kpd"]);
    let whole = std::fs::read(here.join("rows.kpd")).unwrap();
    assert!(whole.len() < 500_000, "{}", whole.len());

    printed(here, &["db", "create", "copy", "demo.keyplan", "--engine", "redb"]);
    std::fs::write(here.join("cut.kpd"), &whole[..whole.len() - 100]).unwrap();
    let stopped = complaint(here, &["db", "load", "copy", "cut.kpd", "--batch", "1000"]);
    assert!(stopped.contains(": the dump is cut off; everything up to block "), "{stopped}");
    let done = printed(here, &["db", "load", "copy", "rows.kpd", "--resume"]);
    assert!(done.starts_with("loaded 30,000 rows, of which "), "{done}");
    assert_eq!(printed(here, &["db", "dump", "copy"]), printed(here, &["db", "dump", "data"]));
    assert_eq!(
        printed(here, &["db", "verify", "copy"]),
        "30,000 rows: every key and value is one of the plan\n"
    );
}

#[test]
fn pages_of_a_scan_are_all_of_it() {
    let directory = made("fjall");
    let here = directory.path();
    std::fs::write(here.join("rows.jsonl"), lines(0..10)).unwrap();
    printed(here, &["db", "load", "data", "rows.jsonl"]);
    let (mut seen, mut token) = (String::new(), None::<String>);
    loop {
        let mut arguments = vec!["db", "scan", "data", "row", "--limit", "4", "--rev"];
        arguments.extend(token.iter().flat_map(|token| ["--token", token]));
        let output = keyplan(here, &arguments);
        seen += str::from_utf8(&output.stdout).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let Some(next) = said.trim().strip_prefix("there are more rows: --token ") else { break };
        token = Some(next.to_owned());
    }
    assert_eq!(seen, printed(here, &["db", "scan", "data", "row", "--rev"]));
    assert_eq!(seen.lines().count(), 10);
}

#[test]
fn structures_are_listed_read_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, directory) = (folder.path(), "five");
    printed(folder, &["demo", directory, "--rows", "600"]);
    let lines = |args: &[&str]| printed(folder, args).lines().map(str::to_owned).collect::<Vec<_>>();
    let token = "ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127_0";
    assert_eq!(
        lines(&["db", "scan", directory, "token_queue"]),
        [format!("store.queues.token_queue token_id=\"{token}\"  2 items")]
    );
    let queue = lines(&["db", "scan", directory, "token_queue", &format!("token_id={token}")]);
    assert_eq!(queue[0], "2 waiting, 0 claimed, 0 dead");
    assert!(queue[1].ends_with("  at 849000/0  waiting"), "{queue:?}");
    assert!(queue[2].ends_with("  at 849000/10  waiting"), "{queue:?}");

    let event = format!("event=id:{token}");
    let up = lines(&["db", "scan", directory, "event", &event]);
    let mut down = lines(&["db", "scan", directory, "event", &event, "--rev"]);
    down.reverse();
    assert_eq!((up.len(), &up), (16, &down));
    assert_eq!(lines(&["db", "scan", directory, "event", &event, "--limit", "3"]), up[..3]);

    let listed = lines(&["db", "scan", directory, "out_hash", "--format", "json"]);
    assert_eq!(listed.len(), 16);
    let first: serde_json::Value = serde_json::from_str(&listed[0]).unwrap();
    assert_eq!((&first["kind"], &first["size"]), (&"hash".into(), &2.into()));
    let (txid, vout) = (first["args"]["txid_le"].as_str().unwrap(), &first["args"]["vout"]);
    let (txid, vout) = (format!("txid_le={txid}"), format!("vout={vout}"));
    let fields = lines(&["db", "get", directory, "out_hash", &txid, &vout, "--format", "json"]);
    let named: Vec<serde_json::Value> = fields
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["field"].clone())
        .collect();
    assert_eq!(named, ["events", "merkle"]);

    let stats: serde_json::Value =
        serde_json::from_str(&lines(&["db", "stats", directory, "--format", "json"])[0]).unwrap();
    assert_eq!(stats["families"]["store.hashes.satoshis"]["members"], 16);
    assert_eq!(stats["unknown"]["rows"], 0);
    assert_eq!(lines(&["db", "verify", directory]).len(), 1);
    assert_eq!(keyplan(folder, &["db", "get", directory, "event", "event=absent"]).status.code(), Some(1));
    let refused = complaint(folder, &["db", "put", directory, "event", "event=x", "value=00"]);
    assert!(refused.contains("lies in a space of hashes, sorted sets, sets or queues"), "{refused}");
}

#[test]
fn a_dump_of_structures_loads_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    printed(folder, &["demo", "old", "--rows", "600"]);
    for plan in ["five", "osmosis_cl", "cosmwasm", "cardano", "paw_v2", "onesat_v2"] {
        let name = format!("{plan}.keyplan");
        std::fs::copy(format!("../../plans/{name}"), folder.join(name)).unwrap();
    }
    // Imports stay inside of the project: a link out of it would not be followed.
    let copied = std::process::Command::new("cp").args(["-r", "../../plans/proto"]).arg(folder).status();
    assert!(copied.unwrap().success());
    for format in ["json", "binary"] {
        printed(folder, &["db", "dump", "old", "-o", "dump", "--format", format]);
        printed(folder, &["db", "create", "new", "five.keyplan"]);
        printed(folder, &["db", "load", "new", "dump"]);
        let scan = |directory| printed(folder, &["db", "scan", directory, "--format", "json"]);
        assert_eq!(scan("old"), scan("new"), "{format}");
        std::fs::remove_dir_all(folder.join("new")).unwrap();
    }
}

/// A plan that takes any key.
const ANY: &str = "plan any; space rows { key row = k: bytes; }";

/// The keys and values of a raw dump, in the order of the keys.
fn raw(directory: &Path, source: &str) -> Vec<String> {
    let text = printed(directory, &["db", "dump", source, "--raw"]);
    let mut rows: Vec<String> = text
        .lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            format!("{} {}", row.get("key").unwrap(), row.get("value").unwrap())
        })
        .collect();
    rows.sort();
    rows
}

#[test]
fn what_is_dumped_from_any_kind_is_loaded_into_any_engine() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    std::fs::write(here.join("any.keyplan"), ANY).unwrap();
    let databases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases");
    for (kind, engine, format) in [
        ("leveldb", "redb", "json"),
        ("goleveldb-crash", "fjall", "binary"),
        ("pebble-13", "fjall", "base64"),
        ("badger", "redb", "binary"),
        ("goleveldb", "fjall", "hex"),
    ] {
        let source = databases.join(kind).join("db");
        let source = source.to_str().unwrap();
        let data = format!("{kind}-data");
        printed(here, &["db", "create", &data, "any.keyplan", "--engine", engine]);
        printed(here, &["db", "dump", source, "--raw", "--format", format, "-o", "dump"]);
        printed(here, &["db", "load", &data, "dump"]);
        let again = printed(here, &["db", "dump", &data, "--format", "hex"]);
        let mut rows: Vec<String> = again
            .lines()
            .map(|line| {
                let row: serde_json::Value = serde_json::from_str(line).unwrap();
                format!("{} {}", row["args"]["k"], row["value"])
            })
            .collect();
        rows.sort();
        assert_eq!(rows, raw(here, source), "{kind}");
        // The dump is itself a source, with the same rows.
        assert_eq!(raw(here, "dump"), raw(here, source), "{kind} as {format}");
    }
}

#[test]
fn several_values_of_a_key_are_not_made_one_in_silence() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    std::fs::write(here.join("any.keyplan"), ANY).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases/lmdb-dupsort/db");
    printed(here, &["db", "create", "data", "any.keyplan"]);
    printed(here, &["db", "dump", source.to_str().unwrap(), "--raw", "-o", "dump"]);
    let bind = ["--bind", "rows=cl", "--bind", "rows=positions_by_pool"];
    let refused = complaint(here, &[&["db", "load", "data", "dump"][..], &bind].concat());
    assert!(refused.contains("comes twice with two values"), "{refused}");
}

#[test]
fn rows_of_two_spaces_are_bound_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    std::fs::write(here.join("any.keyplan"), ANY).unwrap();
    printed(here, &["db", "create", "data", "any.keyplan"]);
    let rows = "{\"space\":\"a\",\"key\":\"01\",\"value\":\"02\"}\n{\"space\":\"b\",\"key\":\"03\",\"value\":\"04\"}\n";
    std::fs::write(here.join("two.jsonl"), rows).unwrap();
    let refused = complaint(here, &["db", "load", "data", "two.jsonl"]);
    assert!(refused.contains("two spaces, `a` and `b`"), "{refused}");
    let bound = ["db", "load", "data", "two.jsonl", "--bind", "rows=a", "--bind", "rows=b"];
    assert_eq!(printed(here, &bound), "loaded 2 rows\n");
}

#[test]
fn figures_are_compared_with_those_before() {
    let directory = made("fjall");
    let here = directory.path();
    let stats = ["db", "stats", "data", "--since", "figures.json", "--format", "json"];
    let first: serde_json::Value = serde_json::from_str(&printed(here, &stats)).unwrap();
    assert_eq!(first.get("since"), None);
    std::fs::write(here.join("rows.jsonl"), lines(0..10)).unwrap();
    printed(here, &["db", "load", "data", "rows.jsonl"]);
    let second: serde_json::Value = serde_json::from_str(&printed(here, &stats)).unwrap();
    assert_eq!(second["since"]["families"]["s.row"]["rows_before"], 0);
    assert_eq!(second["since"]["families"]["s.row"]["rows"], 10);
    assert_eq!(second["families"]["s.row"]["first"], "00000000");
    assert_eq!(second["families"]["s.row"]["last"], "00000009");
    let told = printed(here, &["db", "stats", "data", "--since", "figures.json"]);
    assert!(told.ends_with("no difference\n"), "{told}");
    std::fs::write(here.join("figures.json"), "{}").unwrap();
    let refused = complaint(here, &["db", "stats", "data", "--since", "figures.json"]);
    assert!(refused.contains("has no figures that were kept"), "{refused}");
}

#[test]
fn a_file_of_redb_that_another_program_made_is_a_source() {
    let directory = made("redb");
    let here = directory.path();
    std::fs::write(here.join("rows.jsonl"), lines(0..3)).unwrap();
    printed(here, &["db", "load", "data", "rows.jsonl"]);
    let inside = std::fs::read_dir(here.join("data")).unwrap().map(|entry| entry.unwrap().path());
    let file = inside.into_iter().find(|path| path.extension().is_some_and(|end| end == "redb")).unwrap();
    std::fs::copy(file, here.join("chain")).unwrap();
    let rows = printed(here, &["db", "scan", "chain", "--space", "s", "--format", "json", "--limit", "1"]);
    assert_eq!(rows, "{\"space\":\"s\",\"key\":\"00000000\",\"value\":\"0000000000000000\"}\n");
    let named = printed(here, &["db", "get", "chain", "row", "id=2", "--plan", "demo.keyplan"]);
    assert_eq!(named, "n=4\n");
}
