//! What the command does to rows: it deletes, loads and dumps what was asked for, and says what it left out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// As geth lays it out: a scan of headers by number also meets rows of two other families.
const LEAKY: &str = r#"plan chain; space s {
    key header = "h" num: u64 hash: bytes(4) -> raw scan by num accept leak "readers filter by key length";
    key header_td = "h" num: u64 hash: bytes(4) "t" -> raw;
    key canonical = "h" num: u64 "n" -> raw;
    retired "r" "gone since v1";
}"#;

fn keyplan(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    command.current_dir(directory).env("NO_COLOR", "1").args(arguments).output().unwrap()
}

fn printed(directory: &Path, arguments: &[&str]) -> String {
    let output = keyplan(directory, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn complaint(directory: &Path, arguments: &[&str]) -> String {
    let output = keyplan(directory, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn made(plan: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("p.keyplan"), plan).unwrap();
    printed(directory.path(), &["db", "create", "data", "p.keyplan"]);
    directory
}

fn leaky() -> tempfile::TempDir {
    let directory = made(LEAKY);
    let path = directory.path();
    printed(path, &["db", "put", "data", "header", "num=1", "hash=aabbccdd", "value=01"]);
    printed(path, &["db", "put", "data", "header_td", "num=1", "hash=aabbccdd", "value=02"]);
    printed(path, &["db", "put", "data", "canonical", "num=1", "value=03"]);
    directory
}

#[test]
fn deleting_a_scan_keeps_the_rows_of_other_families() {
    let directory = leaky();
    let path = directory.path();
    let others = "; kept what else the scan meets: 1 of s.canonical, 1 of s.header_td\n";
    let dry = printed(path, &["db", "delete", "data", "header", "num=1", "--scan", "--dry-run"]);
    assert_eq!(dry, format!("would delete 1 row{others}"));
    assert_eq!(printed(path, &["db", "scan", "data"]).lines().count(), 3);
    let done = printed(path, &["db", "delete", "data", "header", "num=1", "--scan"]);
    assert_eq!(done, format!("deleted 1 row{others}"));
    let left = printed(path, &["db", "scan", "data"]);
    assert_eq!(left, "s.canonical num=1  → 03\ns.header_td num=1 hash=0xaabbccdd  → 02\n");
}

#[test]
fn a_scan_shows_rows_of_its_family_and_counts_the_others() {
    let directory = leaky();
    let output = keyplan(directory.path(), &["db", "scan", "data", "header", "num=1"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "s.header num=1 hash=0xaabbccdd  → 01\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "not shown: 2 rows of other families in the same range\n");
    let count = printed(directory.path(), &["db", "scan", "data", "header", "num=1", "--count"]);
    assert_eq!(count, "1 row\n");
}

#[test]
fn a_load_refuses_keys_that_are_none_of_the_plan() {
    let directory = made(LEAKY);
    let path = directory.path();
    let good = r#"{"family":"canonical","args":{"num":"1"},"value":"03"}"#;
    for (bad, why) in [
        (r#"{"space":"s","key":"ff00","value":""}"#, "no family makes this key"),
        (
            r#"{"space":"s","key":"72","value":""}"#,
            "is under the prefix 0x72, which is retired (gone since v1)",
        ),
        (r#"{"family":"canonical","args":{"num":"1","num":"2"},"value":""}"#, "`num` is given twice"),
        (r#"{"family":"canonical","args":{"num":"1"},"value":"","value":"00"}"#, "`value` is given twice"),
    ] {
        fs::write(path.join("rows"), format!("{good}\n{bad}\n")).unwrap();
        let said = complaint(path, &["db", "load", "data", "rows"]);
        assert!(said.starts_with("error: line 2: ") && said.contains(why), "{said}");
        assert!(said.ends_with("; nothing was written\n"), "{said}");
    }
    fs::write(path.join("rows"), "{\"space\":\"s\",\"key\":\"ff00\",\"value\":\"\"}\n").unwrap();
    assert_eq!(printed(path, &["db", "load", "data", "rows", "--allow-unknown"]), "loaded 1 row\n");
}

/// Each engine has keys of its own length; the line is named before a batch is gone through in vain.
#[test]
fn a_load_names_the_line_of_a_key_that_the_engine_does_not_take() {
    for (engine, limit) in [("fjall", 65_535), ("lmdb", 511)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        fs::write(path.join("p.keyplan"), "plan p; space s { key row = name: text -> raw scan all; }")
            .unwrap();
        printed(path, &["db", "create", "data", "p.keyplan", "--engine", engine]);
        let line = |length: usize| {
            format!(
                "{{\"family\":\"row\",\"args\":{{\"name\":\"{}\"}},\"value\":\"01\"}}\n",
                "n".repeat(length)
            )
        };
        let rows: String = (1..=8).map(line).collect();
        fs::write(path.join("rows"), format!("{rows}{}{}{rows}", line(limit), line(limit + 1))).unwrap();
        let said = complaint(path, &["db", "load", "data", "rows", "--batch", "4"]);
        let expected = format!(
            "error: line 10: a key, in bytes, of {} is over the limit of {limit}; everything up to line 8 is written, and \
             --resume continues after it\n",
            limit + 1
        );
        assert_eq!(said, expected);
        assert_eq!(printed(path, &["db", "scan", "data", "--count"]), "8 rows\n");
        fs::write(path.join("rows"), format!("{rows}{}", line(limit))).unwrap();
        let done = printed(path, &["db", "load", "data", "rows", "--resume"]);
        assert_eq!(done, "loaded 9 rows, of which 8 were there already\n");
        fs::write(path.join("rows"), format!("{}{}", line(3), line(0))).unwrap();
        let said = complaint(path, &["db", "load", "data", "rows"]);
        assert!(said.starts_with("error: line 2: ") && said.ends_with("; nothing was written\n"), "{said}");
    }
}

#[test]
fn an_empty_input_is_no_dump() {
    let directory = made(LEAKY);
    fs::write(directory.path().join("rows"), "").unwrap();
    let said = complaint(directory.path(), &["db", "load", "data", "rows"]);
    assert!(said.starts_with("error: the input is empty"), "{said}");
}

#[test]
fn a_row_that_was_corrected_is_noticed_by_resume() {
    let directory = made("plan p; space s { key row = id: u32 -> n: u64 scan all in order; }");
    let path = directory.path();
    let line = |id: u32, n: u32| {
        format!("{{\"family\":\"row\",\"args\":{{\"id\":{id}}},\"value\":{{\"n\":\"{n}\"}}}}\n")
    };
    let rows: String = (0..30).map(|id| line(id, id)).collect();
    fs::write(path.join("rows"), format!("{rows}wrong\n")).unwrap();
    let said = complaint(path, &["db", "load", "data", "rows", "--batch", "10"]);
    assert!(
        said.ends_with("everything up to line 30 is written, and --resume continues after it\n"),
        "{said}"
    );
    let corrected: String = (0..31).map(|id| line(id, if id == 3 { 99 } else { id })).collect();
    fs::write(path.join("rows"), corrected).unwrap();
    let said = complaint(path, &["db", "load", "data", "rows", "--resume"]);
    assert!(said.contains("the input up to line 30 is not what the interrupted load read"), "{said}");
    fs::write(path.join("rows"), format!("{rows}{}", line(30, 30))).unwrap();
    let done = printed(path, &["db", "load", "data", "rows", "--resume"]);
    assert_eq!(done, "loaded 31 rows, of which 30 were there already\n");
}

#[test]
fn what_is_dumped_is_loaded_again() {
    let plan = "plan p; space s {
        key row = 0x01 id: u32 -> amount: u64 at: f64;
        key doc = 0x02 id: u32 -> json;
        key pair = 0x03 id: u32 -> (block: u64 hash: bytes(2));
        key plain = 0x04 id: u32 -> raw;
    }";
    let directory = made(plan);
    let path = directory.path();
    printed(path, &["db", "put", "data", "row", "id=1", "amount=10", "at=0.1"]);
    printed(path, &["db", "put", "data", "doc", "id=1", r#"value={"name":"Tether", "n":[1]}"#]);
    printed(path, &["db", "put", "data", "doc", "id=2", "value=22ff22"]);
    printed(path, &["db", "put", "data", "pair", "id=1", "value=(block=5, hash=aabb)"]);
    printed(path, &["db", "put", "data", "plain", "id=1", "value=00ff"]);
    let rows = printed(path, &["db", "dump", "data"]);
    let expected = concat!(
        r#"{"family":"s.row","args":{"id":1},"value":{"amount":"10","at":0.1}}"#,
        "\n",
        r#"{"family":"s.doc","args":{"id":1},"value":{"name":"Tether", "n":[1]}}"#,
        "\n",
        r#"{"family":"s.doc","args":{"id":2},"value":"22ff22"}"#,
        "\n",
        r#"{"family":"s.pair","args":{"id":1},"value":{"value":{"block":"5","hash":"aabb"}}}"#,
        "\n",
        r#"{"family":"s.plain","args":{"id":1},"value":"00ff"}"#,
        "\n",
    );
    assert_eq!(rows, expected);
    fs::write(path.join("rows"), &rows).unwrap();
    printed(path, &["db", "create", "again", "p.keyplan"]);
    assert_eq!(printed(path, &["db", "load", "again", "rows"]), "loaded 5 rows\n");
    let binary = |name: &str| {
        printed(path, &["db", "dump", name, "--format", "binary", "-o", &format!("{name}.kpd")]);
        fs::read(path.join(format!("{name}.kpd"))).unwrap()
    };
    assert_eq!(binary("data"), binary("again"));
    assert_eq!(printed(path, &["db", "get", "data", "doc", "id=1"]), "{\"name\":\"Tether\",\"n\":[1]}\n");
    assert_eq!(printed(path, &["db", "get", "data", "pair", "id=1"]), "(block=5, hash=0xaabb)\n");
    assert_eq!(printed(path, &["db", "get", "data", "--raw", "0400000001"]), "s.plain id=1  → 00ff\n");
}

#[test]
fn ranges_and_conditions_choose_rows() {
    let directory =
        made("plan p; space s { key row = pool: u8 tick: i32.signflip -> n: u64 scan by pool in order; }");
    let path = directory.path();
    for tick in -3..=3 {
        let tick = format!("tick={tick}");
        printed(path, &["db", "put", "data", "row", "pool=7", &tick, "n=1"]);
    }
    let scan = |more: &[&str]| {
        let arguments = [&["db", "scan", "data", "row", "pool=7"], more].concat();
        printed(path, &arguments).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let row = |tick: i32| format!("s.row pool=7 tick={tick}  → n=1");
    assert_eq!(scan(&["--from", "tick=-1", "--to", "tick=2"]), [-1, 0, 1].map(row));
    assert_eq!(scan(&["--from", "tick=-1", "--to", "tick=2", "--rev", "--limit", "1"]), [row(1)]);
    assert_eq!(scan(&["--where", "tick=2"]), [row(2)]);
    assert_eq!(scan(&["--where", "n=2"]), Vec::<String>::new());
    assert_eq!(scan(&["--from", "tick=0", "--count"]), ["4 rows"]);
}

#[test]
fn a_limit_is_one_for_all_spaces() {
    let directory = made("plan p; space a { key x = id: u8 -> raw; } space b { key y = id: u8 -> raw; }");
    let path = directory.path();
    for (family, id) in [("x", "id=1"), ("x", "id=2"), ("y", "id=1")] {
        printed(path, &["db", "put", "data", family, id, "value=00"]);
    }
    let output = keyplan(path, &["db", "scan", "data", "--limit", "2"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "a.x id=1  → 00\na.x id=2  → 00\n");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "there are more rows\n");
}

#[test]
fn verify_looks_into_json_and_cbor_and_says_what_it_did_not_see() {
    let plan = r#"plan p; space s {
        key doc = 0x01 id: u8 -> json; key bin = 0x02 id: u8 -> cbor; key msg = 0x03 id: u8 -> proto("M");
    }"#;
    let directory = made(plan);
    let path = directory.path();
    printed(path, &["db", "put", "data", "doc", "id=1", "value={}"]);
    printed(path, &["db", "put", "data", "msg", "id=1", "value=ff"]);
    let clean = printed(path, &["db", "verify", "data"]);
    let unseen = "not looked at: the inside of protobuf values (1)\n";
    assert_eq!(clean, format!("2 rows: everything that was looked at is of the plan; {unseen}"));
    printed(path, &["db", "put", "data", "doc", "id=2", "value=ff"]);
    printed(path, &["db", "put", "data", "bin", "id=1", "value=ff00ff"]);
    let output = keyplan(path, &["db", "verify", "data"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with(&format!("4 rows: 0 unknown keys, 2 malformed values; {unseen}")), "{text}");
}

#[test]
fn an_unsound_plan_makes_no_database_unless_it_must() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let plan = r#"plan p; space s { key k = a: text("a-z", 1..) b: text("a-z", 1..); }"#;
    fs::write(path.join("p.keyplan"), plan).unwrap();
    let output = keyplan(path, &["db", "create", "data", "p.keyplan"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!path.join("data").exists());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.ends_with("p.keyplan does not keep what it claims; --unsound makes it anyway\n"), "{said}");
    printed(path, &["db", "create", "data", "p.keyplan", "--unsound"]);
    assert_eq!(printed(path, &["db", "plan", "data"]), plan);
}
