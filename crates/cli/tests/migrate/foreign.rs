//! Databases of other programs, copied under the next plan by the command.

use std::path::Path;

use keyplan_store::engine::{Engine, Redb, RedbSettings, Space};

use crate::command::said;
use crate::support::{Rows, folder, path, rows};

const OLD: &str = "plan node; space s { key row = key: bytes -> raw; }";
const NEW: &str = "plan node; space t { key row = 0x01 key: bytes.hex -> raw from s.row; }";

/// The rows of `testdata/databases/leveldb`, as their engine gave them.
fn expected() -> Vec<(Vec<u8>, Vec<u8>)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/databases/leveldb/expected.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let bytes = |name: &str| {
            let digits = row[name].as_str().unwrap();
            let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
            (0..digits.len()).step_by(2).map(digit).collect::<Vec<u8>>()
        };
        (bytes("key"), bytes("value"))
    };
    text.lines().map(row).collect()
}

#[test]
fn a_database_of_another_program_is_copied_under_the_next_plan() {
    let folder = folder("foreign");
    std::fs::create_dir_all(&folder).unwrap();
    let (old, new, into) = (folder.join("old.keyplan"), folder.join("new.keyplan"), folder.join("into"));
    let (old, new, into) = (path(&old), path(&new), path(&into));
    std::fs::write(old, OLD).unwrap();
    std::fs::write(new, NEW).unwrap();
    let theirs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/databases/leveldb/db");
    let expected = expected();
    // It has no plan in it, and nothing is written there.
    let (code, text) = said(&["db", "migrate", theirs, "--to", new, "--into", into]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("has no plan in it: name one with `--plan PLAN`"), "{text}");
    let (code, text) = said(&["db", "migrate", theirs, "--plan", old, "--to", new, "--apply"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("is only read: `--into DIR2` makes a copy"), "{text}");
    let (code, text) = said(&["db", "migrate", theirs, "--plan", old, "--to", new]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(&format!("{} moved, 0 dropped, 0 without a new key", expected.len())), "{text}");
    let (code, text) =
        said(&["db", "migrate", theirs, "--plan", old, "--to", new, "--into", into, "--engine", "redb"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("counts and checksums of both sides agree"), "{text}");
    let hex =
        |bytes: &[u8]| bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect::<Vec<u8>>();
    let row =
        |(key, value): &(Vec<u8>, Vec<u8>)| (("t".to_owned(), [&[1][..], &hex(key)].concat()), value.clone());
    let copied = rows(&Redb::open_read_only(into, RedbSettings::default()).unwrap());
    assert_eq!(copied, expected.iter().map(row).collect::<Rows>());
}

#[test]
fn a_database_of_ours_without_a_plan_is_copied_and_one_with_a_plan_needs_none() {
    let folder = folder("planless");
    std::fs::create_dir_all(&folder).unwrap();
    let (old, new, bare) = (folder.join("old.keyplan"), folder.join("new.keyplan"), folder.join("bare"));
    let (old, new, bare) = (path(&old), path(&new), path(&bare));
    std::fs::write(old, OLD).unwrap();
    std::fs::write(new, NEW).unwrap();
    let mut engine = Redb::open(bare, RedbSettings::default()).unwrap();
    let space = engine.create_space(&Space::map("entries")).unwrap();
    engine.create_space(&Space::map("others")).unwrap();
    let mut batch = keyplan_store::engine::Batch::new();
    batch.put(space, vec![7], vec![8]);
    engine.commit(batch, keyplan_store::engine::Durability::SyncAll).unwrap();
    drop(engine);
    // Which space is meant is said, and what is left out is told.
    let into = folder.join("into");
    let given = ["db", "migrate", bare, "--plan", old, "--to", new, "--into", path(&into)];
    let (code, text) = said(&given);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--bind PLAN_SPACE=SOURCE_SPACE"), "{text}");
    let (code, text) = said(&[&given[..], &["--bind", "s=entries"]].concat());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("not read: the space `others`"), "{text}");
    let (code, text) = said(&["db", "scan", path(&into), "row"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("key=0x07"), "{text}");
    // The copy has its plan in it.
    let (code, text) = said(&["db", "migrate", path(&into), "--plan", new, "--to", new]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("has its plan in it: --plan is for one that has not"), "{text}");
}
