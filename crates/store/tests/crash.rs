//! Faults: processes killed at any moment, damaged and missing files, full disks, directories that cannot be written.
#![cfg(test)]

mod support;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keyplan_plan::compile;
use keyplan_store::engine::{
    Batch, Durability, Engine, Error, Fjall, FjallSettings, KeyRange, Redb, RedbSettings, SpaceId, Survives,
};
use keyplan_store::{Schema, Store, StoreError};
use support::{Opened, Random, rounds, small_fjall};

const PLAN: &str = "plan p; space cursor = \"state-cursor\" { key at = 0x00; } \
                    space utxos = \"state-utxos\" { key utxo = txid: bytes(32) index: u32; } \
                    space entities = \"state-entities\" { key entity = ns: u64 key: bytes(32); }";

fn schema() -> Schema {
    Schema::of(&compile("p.keyplan", PLAN, |_| Err("no imports".into()))).unwrap()
}

const SPACES: [&str; 3] = ["state-cursor", "state-utxos", "state-entities"];

/// All rows of the three spaces.
type State = [BTreeMap<Vec<u8>, Vec<u8>>; 3];

/// A change of one row of one of the spaces.
type Change = (usize, Vec<u8>, Option<Vec<u8>>);

/// What batch `number` does: outputs come and go, entities are rewritten, the cursor moves.
fn changes(number: u64) -> Vec<Change> {
    let mut random = Random::new(number);
    let mut changes = vec![(0, vec![0], Some(number.to_be_bytes().to_vec()))];
    let utxo = |batch: u64, index: u64| {
        let mut random = Random::new(batch.wrapping_mul(1_000).wrapping_add(index));
        let mut key = random.bytes(32);
        key.extend(u32::try_from(index).unwrap().to_be_bytes());
        key
    };
    for index in 0..40 {
        changes.push((1, utxo(number, index), Some(random.bytes(120))));
    }
    for index in 0..35 {
        if let Some(earlier) = number.checked_sub(3) {
            changes.push((1, utxo(earlier, index), None));
        }
    }
    for _ in 0..10 {
        let mut key = random.below(3).to_be_bytes().to_vec();
        key.extend([0; 31]);
        key.push(u8::try_from(random.below(200)).unwrap());
        let value = (random.below(5) > 0).then(|| random.bytes(60));
        changes.push((2, key, value));
    }
    changes
}

fn apply(state: &mut State, number: u64) {
    for (space, key, value) in changes(number) {
        match value {
            Some(value) => state[space].insert(key, value),
            None => state[space].remove(&key),
        };
    }
}

fn ids<E: Engine>(store: &Store<E>) -> [SpaceId; 3] {
    SPACES.map(|name| store.space(name).unwrap())
}

fn commit<E: Engine>(store: &Store<E>, number: u64, durability: Durability) -> Result<(), StoreError> {
    let ids = ids(store);
    let mut batch = Batch::<E>::new();
    for (space, key, value) in changes(number) {
        match value {
            Some(value) => batch.put(ids[space], key, value),
            None => batch.delete(ids[space], key),
        }
    }
    store.commit(batch, durability)
}

fn read<E: Engine>(store: &Store<E>) -> Result<State, StoreError> {
    let snapshot = store.snapshot()?;
    let mut state = State::default();
    for (name, rows) in SPACES.iter().zip(&mut state) {
        // A damaged database may lack a space: then it has no rows.
        let Ok(space) = store.space(name) else { continue };
        for row in snapshot.range(space, KeyRange::ALL)? {
            let (key, value) = row?;
            rows.insert(key.to_vec(), value.to_vec());
        }
        // Point reads take another way than scans.
        for (key, value) in rows.iter().step_by(17) {
            assert_eq!(snapshot.get(space, key)?.as_deref(), Some(value.as_slice()));
        }
    }
    Ok(state)
}

fn cursor(state: &State) -> u64 {
    state[0].get(&[0][..]).map_or(0, |value| u64::from_be_bytes(value.as_slice().try_into().unwrap()))
}

const CHILD: &str = "KEYPLAN_CRASH_CHILD";

/// Not a test by itself: the process that is killed. It commits batch after batch and says so.
#[test]
fn child() {
    let Ok(directory) = std::env::var(CHILD) else { return };
    let (engine, directory) = directory.split_once(':').unwrap();
    let directory = Path::new(directory);
    match engine {
        "fjall" => import(&Store::open_or_create(Fjall::open_at(directory), &schema()).unwrap()),
        "redb" => import(&Store::open_or_create(Redb::open_at(directory), &schema()).unwrap()),
        other => panic!("no engine {other}"),
    }
}

fn import<E: Engine>(store: &Store<E>) {
    let mut number = cursor(&read(store).unwrap());
    let mut out = std::io::stdout().lock();
    loop {
        number += 1;
        let durability = if number.is_multiple_of(4) { Durability::SyncData } else { Durability::Buffer };
        commit(store, number, durability).unwrap();
        let survives = store.engine().capabilities().survives(durability) >= Survives::Process;
        if survives {
            writeln!(out, "acknowledged {number}").unwrap();
            out.flush().unwrap();
        }
    }
}

fn survives_being_killed<E: Opened>(seed: u64, rounds: u64) {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random::new(seed);
    let mut state = State::default();
    let mut reached = 0;
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(CHILD, format!("{}:{}", E::NAME, directory.path().display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let acknowledged = Arc::new(AtomicU64::new(reached));
        let lines = BufReader::new(child.stdout.take().unwrap());
        let listener = std::thread::spawn({
            let acknowledged = acknowledged.clone();
            move || {
                for line in lines.lines() {
                    let Ok(line) = line else { break };
                    if let Some((_, number)) = line.split_once("acknowledged ") {
                        acknowledged.store(number.trim().parse().unwrap(), Ordering::Release);
                    }
                }
            }
        });
        std::thread::sleep(Duration::from_millis(
            20 + random.below(if round % 5 == 0 { 1_500 } else { 350 }),
        ));
        child.kill().unwrap();
        child.wait().unwrap();
        listener.join().unwrap();
        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert!(!complaint.contains("panicked"), "{complaint}");

        let store = Store::open_or_create(E::open_at(directory.path()), &schema()).unwrap();
        let found = read(&store).unwrap();
        let at = cursor(&found);
        let acknowledged = acknowledged.load(Ordering::Acquire);
        assert!(
            at >= acknowledged,
            "round {round}: batch {acknowledged} was acknowledged, and {at} is the last"
        );
        assert!(at >= reached, "round {round}: what was there before is gone");
        for number in reached + 1..=at {
            apply(&mut state, number);
        }
        reached = at;
        assert!(found == state, "round {round}: the rows are not those of batch {at}");
    }
    assert!(reached > rounds, "the child hardly came to write");
    println!("{} was killed {rounds} times in {reached} batches", E::NAME);
}

#[test]
fn fjall_is_at_one_committed_batch_after_a_kill() {
    survives_being_killed::<Fjall>(1, rounds(20));
}

#[test]
fn redb_is_at_one_committed_batch_after_a_kill() {
    survives_being_killed::<Redb>(2, rounds(20));
}

/// The files of a database, each with what is written in it and its length: journals are allocated ahead with zeros.
#[derive(Clone)]
struct Files(Vec<(PathBuf, Vec<u8>, u64)>);

impl Files {
    fn read(directory: &Path) -> Self {
        let mut found = Vec::new();
        let mut waiting = vec![directory.to_owned()];
        while let Some(at) = waiting.pop() {
            for entry in std::fs::read_dir(at).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    waiting.push(path);
                    continue;
                }
                let mut bytes = std::fs::read(&path).unwrap();
                let length = bytes.len() as u64;
                // By pages first: a journal is tens of megabytes of zeros.
                while bytes.len() > 4096 && bytes.ends_with(&[0; 4096]) {
                    bytes.truncate(bytes.len() - 4096);
                }
                let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
                bytes.truncate(written);
                found.push((path.strip_prefix(directory).unwrap().to_owned(), bytes, length));
            }
        }
        found.sort();
        Self(found)
    }

    fn write(&self, directory: &Path) {
        for (name, bytes, length) in &self.0 {
            let path = directory.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(*length).unwrap();
        }
    }

    /// Cuts a file, or flips bits in it; says which and where.
    fn damage(&mut self, random: &mut Random, only: &str) -> String {
        let some: Vec<usize> = (0..self.0.len())
            .filter(|&at| !self.0[at].1.is_empty() && self.0[at].0.to_string_lossy().contains(only))
            .collect();
        let (name, bytes, length) = &mut self.0[*random.pick(&some)];
        let written = bytes.len() as u64;
        if only.is_empty() && random.below(3) == 0 {
            *length = random.below(written);
            bytes.truncate(usize::try_from(*length).unwrap());
            return format!("{} cut to {length}", name.display());
        }
        let mut places = Vec::new();
        for _ in 0..=random.below(3) {
            let at = usize::try_from(random.below(written)).unwrap();
            bytes[at] ^= 1 << random.below(8);
            places.push(at);
        }
        format!("{} changed at {places:?}", name.display())
    }
}

/// What became of a damaged database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// All rows are there.
    Whole,
    /// There was an error, when opening or when reading.
    Refused,
    /// The rows are exactly those of an earlier batch.
    Earlier,
}

/// How a database ends before it is damaged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Shutdown,
    Drop,
}

/// How many batches a database that is damaged has.
const LAST: u64 = 60;

fn damaged<E: Engine>(
    end: End,
    only: &str,
    rounds: u64,
    open: impl Fn(&Path) -> Result<E, Error>,
) -> BTreeMap<Outcome, u64> {
    let directory = tempfile::tempdir().unwrap();
    let original = directory.path().join("original");
    let store = Store::open_or_create(open(&original).unwrap(), &schema()).unwrap();
    let mut states = vec![State::default()];
    for number in 1..=LAST {
        commit(&store, number, Durability::Buffer).unwrap();
        let mut state = states.last().unwrap().clone();
        apply(&mut state, number);
        states.push(state);
        if number == LAST / 2 {
            store.engine().checkpoint(Duration::from_secs(20)).unwrap();
        }
    }
    if end == End::Shutdown {
        store.shutdown(Duration::from_secs(20)).unwrap();
    }
    drop(store);

    let whole = Files::read(&original);
    let mut random = Random::new(rounds);
    let mut outcomes = BTreeMap::new();
    for round in 0..rounds {
        let broken = directory.path().join("broken");
        let mut files = whole.clone();
        let what = files.damage(&mut random, only);
        files.write(&broken);
        let found = open(&broken).map_err(StoreError::from);
        let found = found.and_then(|engine| read(&Store::open(engine, &schema())?));
        let outcome = match found {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                Outcome::Refused
            }
            Ok(state) if Some(&state) == states.last() => Outcome::Whole,
            Ok(state) => {
                let at = usize::try_from(cursor(&state)).unwrap();
                assert!(state == states[at], "round {round}: {what}: the rows of no batch");
                // That is right for a journal that was cut: it looks like a write that was torn.
                assert!(what.contains(".jnl cut"), "round {round}: {what}: batches are lost without a word");
                Outcome::Earlier
            }
        };
        *outcomes.entry(outcome).or_default() += 1;
        std::fs::remove_dir_all(&broken).unwrap();
    }
    println!("{rounds} times damaged: {outcomes:?}");
    outcomes
}

fn open_fjall(path: &Path) -> Result<Fjall, Error> {
    Fjall::open(path, small_fjall())
}

#[test]
fn fjall_gives_an_error_or_the_right_rows_when_a_file_is_damaged() {
    let outcomes = damaged(End::Shutdown, "", rounds(40), open_fjall);
    assert_eq!(outcomes.get(&Outcome::Earlier), None, "everything is in tables after a shutdown");
    assert!(outcomes.contains_key(&Outcome::Refused) && outcomes.contains_key(&Outcome::Whole));
    damaged(End::Drop, "", rounds(41), open_fjall);
}

#[test]
fn fjall_loses_no_batch_in_silence_when_a_journal_is_damaged() {
    let outcomes = damaged(End::Drop, ".jnl", rounds(100), open_fjall);
    assert_eq!(outcomes.get(&Outcome::Earlier), None);
}

#[test]
fn a_damaged_journal_can_be_given_up_behind_the_damage() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(open_fjall(directory.path()).unwrap(), &schema()).unwrap();
    for number in 1..=20 {
        commit(&store, number, Durability::Buffer).unwrap();
    }
    drop(store);
    let mut files = Files::read(directory.path());
    let (_, journal, _) = files.0.iter_mut().find(|(name, ..)| name.ends_with("0.jnl")).unwrap();
    // The tag of the first item of a batch in the middle: behind a trailer and a start entry.
    let trailers: Vec<usize> =
        journal.windows(4).enumerate().filter(|(_, at)| at == b"FJL\x03").map(|(at, _)| at).collect();
    let tag = trailers[trailers.len() / 2] + 4 + 13;
    assert_eq!(journal[tag], 2);
    journal[tag] = 0x82;
    files.write(directory.path());

    let refused = open_fjall(directory.path()).unwrap_err();
    let expected = format!(
        "the database is damaged: journal `0.jnl` is not as it was written at byte {tag}, and batches follow"
    );
    assert_eq!(refused.to_string(), expected);
    let mut settings = small_fjall();
    settings.damaged_journal = keyplan_store::engine::DamagedJournal::Truncate;
    let store = Store::open(Fjall::open(directory.path(), settings).unwrap(), &schema()).unwrap();
    let found = read(&store).unwrap();
    let mut state = State::default();
    (1..=cursor(&found)).for_each(|number| apply(&mut state, number));
    assert!(found == state && cursor(&found) < 20);
}

#[test]
fn redb_gives_an_error_or_the_right_rows_when_a_file_is_damaged() {
    let outcomes = damaged(End::Shutdown, "", rounds(40), |path| Redb::open(path, RedbSettings::default()));
    assert_eq!(outcomes.get(&Outcome::Earlier), None);
    assert!(outcomes.contains_key(&Outcome::Refused));
}

/// A small file system in memory, if this process may mount one.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(size: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let done = Self::mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], directory.path());
        done.then_some(Self(directory))
    }

    fn remount(&self, options: &str) {
        assert!(Self::mount(&["-o", &format!("remount,{options}")], self.0.path()));
    }

    fn mount(arguments: &[&str], at: &Path) -> bool {
        let command = Command::new("mount").args(arguments).arg(at).stderr(Stdio::null()).status();
        command.is_ok_and(|status| status.success())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn goes_on_once_the_disk_has_room_again<E: Opened>() {
    let Some(disk) = Mounted::new("6m") else {
        assert!(std::env::var_os("CI").is_none(), "mounting a file system is not allowed: run as root");
        println!("not allowed to mount a file system: skipped");
        return;
    };
    let directory = disk.0.path().join("db");
    let mut state = State::default();
    let mut committed = 0;
    {
        let store = Store::open_or_create(E::open_at(&directory), &schema()).unwrap();
        let refused = loop {
            match commit(&store, committed + 1, Durability::SyncData) {
                Ok(()) => committed += 1,
                Err(error) => break error,
            }
            assert!(committed < 100_000);
        };
        assert!(
            matches!(
                &refused,
                StoreError::Engine(Error::CommitUnknown { .. } | Error::Io { .. } | Error::Poisoned)
            ),
            "{refused:?}"
        );
        // The handle says that it is of no more use, and goes without hanging.
        assert!(commit(&store, committed + 2, Durability::SyncData).is_err());
    }
    disk.remount("size=200m");
    let store = Store::open(E::open_at(&directory), &schema()).unwrap();
    let found = read(&store).unwrap();
    // The batch that failed may or may not be there, as its error says; what was acknowledged is.
    assert!((committed..=committed + 1).contains(&cursor(&found)), "{committed} {}", cursor(&found));
    (1..=cursor(&found)).for_each(|number| apply(&mut state, number));
    assert!(found == state);
    commit(&store, cursor(&found) + 1, Durability::SyncAll).unwrap();
}

#[test]
fn a_store_goes_on_once_the_disk_has_room_again() {
    goes_on_once_the_disk_has_room_again::<Fjall>();
    goes_on_once_the_disk_has_room_again::<Redb>();
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_and_no_loss() {
    let Some(disk) = Mounted::new("100m") else {
        assert!(std::env::var_os("CI").is_none(), "mounting a file system is not allowed: run as root");
        println!("not allowed to mount a file system: skipped");
        return;
    };
    let directory = disk.0.path().join("db");
    let store = Store::open_or_create(open_fjall(&directory).unwrap(), &schema()).unwrap();
    commit(&store, 1, Durability::SyncAll).unwrap();
    drop(store);
    disk.remount("ro");
    let refused = open_fjall(&directory).unwrap_err();
    assert!(
        matches!(&refused, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::ReadOnlyFilesystem)
    );
    assert!(open_fjall(&disk.0.path().join("new")).is_err());
    disk.remount("rw");
    let store = Store::open(open_fjall(&directory).unwrap(), &schema()).unwrap();
    assert_eq!(cursor(&read(&store).unwrap()), 1);
}

const FEW_FILES: &str = "KEYPLAN_FEW_FILES";

/// Not a test by itself: an import in a process that may open few files.
#[test]
fn child_with_few_files() {
    let Ok(directory) = std::env::var(FEW_FILES) else { return };
    // Small memtables make many small tables; a soak takes the real ones, and ten times the rows.
    let (settings, rows) =
        if rounds(0) > 0 { (FjallSettings::default(), 2_000_000) } else { (small_fjall(), 200_000_u64) };
    let store = Store::open_or_create(Fjall::open(directory, settings.clone()).unwrap(), &schema()).unwrap();
    let [_, utxos, _] = ids(&store);
    let mut random = Random::new(9);
    for _ in 0..rows / 5_000 {
        let mut batch = Batch::<Fjall>::new();
        for _ in 0..5_000 {
            batch.put(utxos, random.bytes(36), vec![0x58; 150]);
        }
        store.commit(batch, Durability::Buffer).unwrap();
    }
    assert_eq!(store.snapshot().unwrap().range(utxos, KeyRange::ALL).unwrap().count() as u64, rows);
    store.shutdown(Duration::from_secs(60)).unwrap();
    println!("imported {rows} rows with {} files", settings.open_files);
}

#[test]
fn an_import_passes_with_128_open_files() {
    let directory = tempfile::tempdir().unwrap();
    let run = Command::new("sh")
        .args(["-c", "ulimit -n 128 && exec \"$0\" --exact child_with_few_files --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .env(FEW_FILES, directory.path())
        .output()
        .unwrap();
    let (said, complaint) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && complaint.is_empty(), "{said}{complaint}");
    // The engine was told of the limit, and keeps to half of it.
    assert!(said.contains("rows with 64 files"), "{said}");
}
