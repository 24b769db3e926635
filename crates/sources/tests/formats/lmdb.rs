use keyplan_sources::lmdb::Lmdb;
use keyplan_store::engine::{Space, SpaceKind};
use keyplan_store::source::Source;

use crate::damage::{Open, cut, flip, flood};
use crate::expected::{check, copy, expected, files, folder};

const OPEN: Open = |path| Ok(Box::new(Lmdb::open(path)?));

#[test]
fn named_databases_are_spaces_and_long_values_are_whole() {
    let path = folder("lmdb").join("db");
    let before = files(&path);
    let source = Lmdb::open(&path).expect("opened");
    let names: Vec<String> = source.spaces().into_iter().map(|space| space.name).collect();
    assert_eq!(names, ["cursor", "datums", "entities", "utxos"]);
    check(&source, &expected("lmdb", ""));
    assert_eq!(files(&path), before);
}

#[test]
fn a_key_comes_once_for_each_of_its_values() {
    let source = Lmdb::open(&folder("lmdb-dupsort").join("db")).expect("opened");
    let multimap = |name: &str| Space { kind: SpaceKind::Multimap, ..Space::map(name) };
    assert_eq!(source.spaces(), [Space::map("cl"), multimap("positions_by_pool"), multimap("state_tags")]);
    check(&source, &expected("lmdb-dupsort", ""));
}

#[test]
fn the_directory_and_the_file_both_open() {
    let path = folder("lmdb").join("db");
    assert_eq!(Lmdb::file_of(&path), Some(path.join("data.mdb")));
    assert_eq!(Lmdb::file_of(&path.join("data.mdb")), Some(path.join("data.mdb")));
    assert_eq!(Lmdb::file_of(&path.join("lock.mdb")), None);
    check(&Lmdb::open(&path.join("data.mdb")).expect("opened"), &expected("lmdb", ""));
}

#[test]
fn damaged_files_are_refused_or_read_and_never_loop() {
    for name in ["lmdb", "lmdb-dupsort"] {
        let rows = expected(name, "");
        // A page without a check of its own can hide a change in the bytes of a key or a value.
        for tally in [flip(name, "data.mdb", 3203, &rows, OPEN), flood(name, "data.mdb", 3191, &rows, OPEN)] {
            assert!(tally.refused > 0 && tally.same > 0, "{name}: {tally:?}");
        }
        let tally = cut(name, "data.mdb", 20477, &rows, OPEN);
        // The last page of one file is free.
        assert!(tally.refused > 0 && tally.same <= 1 && tally.other == 0, "{name}: {tally:?}");
    }
}

#[test]
fn a_branch_that_leads_to_itself_ends() {
    let directory = copy("lmdb");
    let path = directory.path().join("data.mdb");
    let mut bytes = std::fs::read(&path).expect("readable");
    let number = |bytes: &[u8], at: usize| usize::from(bytes[at]) | usize::from(bytes[at + 1]) << 8;
    let pages = bytes.len() / 4096;
    let mut branches = 0;
    for page in 2..pages {
        let at = page * 4096;
        if bytes[at + 10] & 1 == 1 {
            // Every node of the branch leads back to the branch.
            let count = (number(&bytes, at + 12) - 16) / 2;
            for node in 0..count {
                let slot = at + 16 + 2 * node;
                let node = at + number(&bytes, slot);
                bytes[node] = u8::try_from(page).expect("a small file");
                bytes[node + 1..node + 6].fill(0);
            }
            branches += 1;
        }
    }
    assert!(branches > 0);
    std::fs::write(&path, bytes).expect("written");
    let found = OPEN(directory.path())
        .and_then(|source| crate::expected::rows(&*source, keyplan_store::Direction::Ascending));
    let error = found.expect_err("refused").to_string();
    assert!(error.contains("data.mdb: byte"), "{error}");
}
