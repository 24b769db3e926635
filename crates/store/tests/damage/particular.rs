//! Damage of one kind at one place, with the error that it gives.

use std::time::Duration;

use keyplan_store::engine::{
    Batch, DamagedJournal, Durability, Engine as _, Error, Fjall, KeyRange, Redb, RedbSettings,
    Snapshot as _, Space,
};
use keyplan_store::{Store, StoreError};

use crate::chain::{State, apply, commit, cursor, read, schema};
use crate::files::{self, Files};
use crate::support::small_fjall;
use crate::{End, LAST, flush_fjall, made, open_fjall};

/// Opens what is left after `break_it`, and gives the error. Nothing may have been changed.
fn refusal(end: End, break_it: impl FnOnce(&mut Files)) -> String {
    let directory = tempfile::tempdir().unwrap();
    let (mut files, _) = made(directory.path(), end, open_fjall, flush_fjall);
    break_it(&mut files);
    let broken = directory.path().join("broken");
    files.write(&broken);
    let written = Files::read(&broken);
    let said = open_fjall(&broken).map(drop).unwrap_err().to_string();
    let read_only = Fjall::open_read_only(&broken, small_fjall()).map(drop).unwrap_err().to_string();
    assert_eq!(said, read_only);
    assert_eq!(Files::read(&broken), written);
    said
}

/// The offsets at which the batches of a journal end.
fn ends(journal: &[u8]) -> Vec<usize> {
    let trailers = journal.windows(4).enumerate().filter(|(_, at)| at == b"FJL\x03");
    trailers.map(|(at, _)| at + 4).collect()
}

#[test]
fn a_zeroed_page_in_a_journal_is_named() {
    for end in [End::Drop, End::Killed] {
        let said = refusal(end, |files| {
            let journal = &mut files.file("0.jnl").1;
            let page = journal.len() / 4096 / 2 * 4096;
            journal[page..page + 4096].fill(0);
        });
        assert!(
            said.starts_with("the database is damaged: journal `0.jnl` is not as it was written at byte"),
            "{said}"
        );
    }
}

#[test]
fn a_journal_that_was_cut_or_emptied_is_named_though_a_killed_process_left_it() {
    for keep in [0, 5] {
        let said = refusal(End::Killed, |files| {
            let (_, journal, length) = files.file("0.jnl");
            let end = if keep == 0 { 0 } else { ends(journal)[keep] };
            journal.truncate(end);
            *length = end as u64;
            files.remove("keyplan.mark");
        });
        let begin = "the database is damaged: `0.jnl` ends at byte ";
        assert!(said.starts_with(begin) && said.contains("that is in table `keyspaces/"), "{said}");
    }
}

#[test]
fn a_journal_that_was_cut_behind_every_table_is_named_once_the_database_was_closed() {
    let said = refusal(End::Drop, |files| {
        let (_, journal, length) = files.file("0.jnl");
        let ends = ends(journal);
        journal.truncate(ends[ends.len() - 2]);
        *length = journal.len() as u64;
    });
    let end = "bytes of batches when the database was last open";
    assert!(
        said.starts_with("the database is damaged: `0.jnl` ends at byte ") && said.ends_with(end),
        "{said}"
    );
}

#[test]
fn a_keyspace_without_its_version_is_named_and_keeps_its_tables() {
    for number in 0..=4 {
        let file = format!("keyspaces/{number}/current");
        // The last one is the metadata's: it has no table, but rows in a journal.
        let said = refusal(End::Killed, |files| {
            files.remove(&file);
            files.remove("keyplan.mark");
        });
        assert_eq!(said, format!("the database is damaged: `{file}` is missing"));
    }
}

#[test]
fn a_keyspace_that_is_gone_is_named() {
    for number in 0..=4 {
        let folder = format!("keyspaces/{number}");
        let said = refusal(End::Drop, |files| files.remove(&format!("{folder}/")));
        assert_eq!(said, format!("the database is damaged: `{folder}` is missing"));
    }
}

#[test]
fn a_block_that_opening_reads_is_compared_with_its_checksum_before_the_engine_sees_it() {
    let directory = tempfile::tempdir().unwrap();
    let (whole, _) = made(directory.path(), End::Shutdown, open_fjall, flush_fjall);
    let mut tried = 0;
    for (at, (name, bytes, _)) in whole.0.iter().enumerate() {
        if files::kind(name) != "table" {
            continue;
        }
        // Every block but those with rows: the index, the filter, the properties.
        let blocks: Vec<usize> = (0..bytes.len().saturating_sub(40))
            .filter(|&at| bytes[at..].starts_with(b"LSM\x03") && bytes[at + 4] != 0)
            .collect();
        assert!(blocks.len() >= 2, "{blocks:?}");
        for block in blocks {
            for byte in [block + 10, block + 35] {
                let mut files = whole.clone();
                files.0[at].1[byte] ^= 1;
                let broken = directory.path().join("broken");
                files.write(&broken);
                let said = open_fjall(&broken).map(drop).unwrap_err().to_string();
                let expected =
                    format!("the database is damaged: `{}` is not as it was written", name.display());
                assert_eq!(said, expected, "byte {byte}");
                assert!(Files::read(&broken) == files, "{said}, and files were changed");
                std::fs::remove_dir_all(&broken).unwrap();
                tried += 1;
            }
        }
    }
    assert!(tried > 8, "{tried}");
}

#[test]
fn a_space_that_is_gone_is_not_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let (mut files, _) = made(directory.path(), End::Drop, open_fjall, flush_fjall);
    // Nothing is known of it, as in a database that an earlier version made.
    files.remove("keyplan.mark");
    let lost = (1..=4).find(|number| {
        let broken = directory.path().join(format!("broken{number}"));
        let mut files = files.clone();
        files.remove(&format!("keyspaces/{number}/"));
        files.write(&broken);
        let opened = open_fjall(&broken).map_err(StoreError::from);
        let said =
            opened.and_then(|engine| Store::open(engine, &schema()).map(drop)).unwrap_err().to_string();
        said == "the database is damaged: space `state-utxos` is missing, and it was made with it"
    });
    assert!(lost.is_some());
}

#[test]
fn a_table_of_another_keyspace_is_named() {
    let said = refusal(End::Drop, |files| {
        let tables: Vec<usize> = (0..files.0.len())
            .filter(|&at| {
                crate::files::kind(&files.0[at].0) == "table" && !files.0[at].0.starts_with("keyspaces/0")
            })
            .collect();
        let [one, .., other] = tables[..] else { panic!("two tables at least") };
        let (name, other_name) = (files.0[one].0.clone(), files.0[other].0.clone());
        files.0.swap(one, other);
        (files.0[one].0, files.0[other].0) = (name, other_name);
    });
    assert!(said.contains("is a table of keyspace") || said.contains("is table"), "{said}");
}

#[test]
fn a_damaged_journal_can_be_given_up_after_the_damage() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(open_fjall(directory.path()).unwrap(), &schema()).unwrap();
    for number in 1..=20 {
        commit(&store, number, Durability::Buffer).unwrap();
    }
    drop(store);
    let mut files = Files::read(directory.path());
    let journal = &mut files.file("0.jnl").1;
    // The tag of the first item of a batch in the middle: after a trailer and a start entry.
    let ends = ends(journal);
    let tag = ends[ends.len() / 2] + 13;
    assert_eq!(journal[tag], 2);
    journal[tag] = 0x82;
    files.write(directory.path());

    let refused = open_fjall(directory.path()).unwrap_err();
    let expected = format!(
        "the database is damaged: journal `0.jnl` is not as it was written at byte {tag}, and batches follow"
    );
    assert_eq!(refused.to_string(), expected);
    let mut settings = small_fjall();
    settings.damaged_journal = DamagedJournal::Truncate;
    let store = Store::open(Fjall::open(directory.path(), settings).unwrap(), &schema()).unwrap();
    let found = read(&store).unwrap();
    let mut state = State::default();
    (1..=cursor(&found)).for_each(|number| apply(&mut state, number));
    assert!(found == state && cursor(&found) < 20);
    drop(store);
    // What was given up is not missed any longer.
    assert_eq!(
        cursor(&read(&Store::open(open_fjall(directory.path()).unwrap(), &schema()).unwrap()).unwrap()),
        cursor(&found)
    );
}

#[test]
fn a_batch_that_was_torn_is_not_damage() {
    let directory = tempfile::tempdir().unwrap();
    let (files, states) = made(directory.path(), End::Killed, open_fjall, flush_fjall);
    for (round, missing) in [1, 13, 14, 200, 3_000].into_iter().enumerate() {
        let mut files = files.clone();
        let journal = &mut files.file("0.jnl").1;
        let kept = journal.len() - missing;
        journal.truncate(kept);
        let torn = directory.path().join(format!("torn{round}"));
        files.write(&torn);
        let store = Store::open(open_fjall(&torn).unwrap(), &schema()).unwrap();
        assert!(Some(&read(&store).unwrap()) == states.get(usize::try_from(LAST - 1).unwrap()), "{missing}");
    }
}

#[test]
fn a_bulk_load_that_was_compacted_opens_again() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open_fjall(directory.path()).unwrap();
    let store = Store::open_or_create(engine, &schema()).unwrap();
    let space = store.space("state-utxos").unwrap();
    let rows = |count: u16| (0..count).map(|key| Ok((key.to_be_bytes().to_vec().into(), vec![7; 20].into())));
    for _ in 0..3 {
        store.engine().ingest(space, rows(5_000)).unwrap();
        store.engine().compact().unwrap();
    }
    drop(store);
    let read = Files::read(directory.path());
    let copy = directory.path().join("copy");
    let mut files = read;
    files.remove("keyplan.mark");
    files.write(&copy);
    for path in [directory.path(), &copy] {
        let store = Store::open(open_fjall(path).unwrap(), &schema()).unwrap();
        let snapshot = store.engine().snapshot().unwrap();
        let space = store.space("state-utxos").unwrap();
        assert_eq!(snapshot.range(space, KeyRange::ALL).unwrap().count(), 5_000);
    }
}

#[test]
fn one_engine_does_not_make_a_database_in_a_directory_of_the_other() {
    let directory = tempfile::tempdir().unwrap();
    let (fjall, redb) = (directory.path().join("fjall"), directory.path().join("redb"));
    drop(open_fjall(&fjall).unwrap());
    drop(Redb::open(&redb, RedbSettings::default()).unwrap());
    let (one, other) = (Files::read(&fjall), Files::read(&redb));
    let said = open_fjall(&redb).map(drop).unwrap_err().to_string();
    assert_eq!(said, format!("`{}` holds a database of the engine `redb`", redb.display()));
    let said = Redb::open(&fjall, RedbSettings::default()).map(drop).unwrap_err().to_string();
    assert_eq!(said, format!("`{}` holds a database of the engine `fjall`", fjall.display()));
    assert_eq!((Files::read(&fjall), Files::read(&redb)), (one, other));
}

#[test]
fn a_space_of_one_database_is_none_of_another() {
    let directory = tempfile::tempdir().unwrap();
    let mut one = open_fjall(&directory.path().join("one")).unwrap();
    let mut other = open_fjall(&directory.path().join("other")).unwrap();
    let mut redb = Redb::open(directory.path().join("redb"), RedbSettings::default()).unwrap();
    let space = one.create_space(&Space::map("a")).unwrap();
    other.create_space(&Space::map("b")).unwrap();
    redb.create_space(&Space::map("c")).unwrap();
    let mut batch = Batch::new();
    batch.put(space, [1].as_slice(), [2].as_slice());
    let refused = other.commit(batch, Durability::Buffer).unwrap_err();
    assert!(matches!(refused, Error::NoSpace { number } if number == space.0), "{refused}");
    assert!(matches!(other.snapshot().unwrap().get(space, &[1]), Err(Error::NoSpace { .. })));
    assert!(matches!(redb.snapshot().unwrap().get(space, &[1]), Err(Error::NoSpace { .. })));
    assert!(one.shutdown(Duration::from_secs(5)).is_ok());
}
