//! The state store beside hand-written fjall code: one process, the same records, the same durability.
//!
//! ```text
//! cargo run --release -p keyplan-chains --features store --example cardano_bench -- [--quick] [--json] [DIR]
//! ```
//!
//! Each line is one measurement: ours as a multiple of hand-written code, and both figures. Processor time is read from
//! `/proc`: that of the calling thread in nanoseconds, that of all threads in ticks of a hundredth of a second. The
//! hand-written code writes a batch in transaction order, with fjall's defaults. With `--json` a line is an object that
//! `cargo xtask bench` records.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a program that measures, and stops at the first error"
)]

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable as _};
use keyplan_chains::cardano::{
    ChainPoint, Config, EntityKey, EraCbor, Namespace, StateStore, TxoRef, UtxoSetDelta, cursor::CursorValue,
    entities::EntityNs,
};
use keyplan_store::BulkOptions;

/// How much is written and read.
#[derive(Clone, Copy)]
struct Size {
    outputs: u64,
    entities: u64,
    lookups: u64,
}

/// The workload: outputs produced and consumed, and entities written, by one batch.
const BATCH: u64 = 5_000;
const CONSUMED: u64 = 500;
const ENTITIES: u64 = 300;
const BODY: usize = 150;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let directory = arguments.iter().find(|argument| !argument.starts_with("--")).map(PathBuf::from);
    let size = if quick {
        Size { outputs: 200_000, entities: 100_000, lookups: 20_000 }
    } else {
        Size { outputs: 2_000_000, entities: 1_000_000, lookups: 200_000 }
    };
    let place = directory.unwrap_or_else(std::env::temp_dir).join("keyplan-cardano-bench");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();

    let say = |measure: &Measure, hand: f64, ours: f64| {
        let (Measure { name, unit, goal, .. }, ratio) = (measure, ours / hand);
        if arguments.iter().any(|argument| argument == "--json") {
            let with = format!("hand-written fjall: {ours:.3} {unit} against {hand:.3}");
            println!(
                "{{\"name\":\"cardano {name}\",\"value\":{ratio},\"goal\":{goal},\"compared_with\":\"{with}\"}}"
            );
        } else {
            println!("{name:<44}{ratio:>7.3} goal {goal:<5} {ours:.3} {unit} against {hand:.3}");
        }
    };
    let by_hand = by_hand(&place.join("hand"), size);
    let ours = ours(&place.join("ours"), size, Config::import());
    for (measure, (hand, ours)) in MEASURES.iter().zip(by_hand.iter().zip(&ours)) {
        say(measure, *hand, *ours);
    }
    let history = import_with_history(&place.join("history"), size);
    say(&WITH_HISTORY, by_hand[0], history);
    let (load_cpu, load_disk) = loaded(&place.join("load"), size);
    say(&LOAD, by_hand[1], load_cpu);
    say(&LOAD_DISK, by_hand[2], load_disk);
    std::fs::remove_dir_all(&place).unwrap();
}

/// What is measured, and the most that ours may be of the hand-written code's.
struct Measure {
    name: &'static str,
    unit: &'static str,
    goal: f64,
}

const fn measure(name: &'static str, unit: &'static str, goal: f64) -> Measure {
    Measure { name, unit, goal }
}

/// In the order in which both sides measure.
const MEASURES: [Measure; 8] = [
    measure("import, calling thread", "s CPU", 0.90),
    measure("import, all threads", "s CPU", 1.05),
    measure("disk after import", "MiB", 1.05),
    measure("get_utxo, hit", "µs CPU", 0.90),
    measure("get_utxo, miss", "µs CPU", 1.05),
    measure("get_utxos of ten", "µs CPU", 0.90),
    measure("iter_entities, a row", "µs CPU", 1.10),
    measure("iter_utxos, a row", "µs CPU", 1.10),
];
/// Each commit reads what it replaces, which hand-written code without rollback does not.
const WITH_HISTORY: Measure = measure("import with history, calling thread", "s CPU", 2.0);
const LOAD: Measure = measure("load of a snapshot, of the batched import", "s CPU", 0.35);
const LOAD_DISK: Measure = measure("disk after a load, of the batched import", "MiB", 0.55);

/// What was measured, in the order of [`MEASURES`].
#[derive(Default)]
struct Figures(Vec<f64>);

impl Figures {
    fn add(&mut self, figure: f64) {
        self.0.push(figure);
    }

    /// The processor time of the calling thread for one of `count` operations, in microseconds; the better of two runs.
    fn each(&mut self, count: u64, mut run: impl FnMut()) {
        let mut once = || {
            let begun = Cpu::now();
            run();
            begun.elapsed().thread * 1e6 / as_f64(count)
        };
        let (first, second) = (once(), once());
        self.add(first.min(second));
    }

    /// The figures of an import.
    fn import(&mut self, cpu: Cpu, path: &Path) {
        self.add(cpu.thread);
        self.add(cpu.process);
        self.add(disk(path));
    }
}

/// Processor time in seconds, of the calling thread and of all.
#[derive(Clone, Copy)]
struct Cpu {
    thread: f64,
    process: f64,
}

impl Cpu {
    fn now() -> Self {
        // The thread's own clock counts nanoseconds; the process's fields are in ticks.
        let thread = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        let thread: u64 = thread.split_whitespace().next().unwrap().parse().unwrap();
        let process = std::fs::read_to_string("/proc/self/stat").unwrap();
        let behind_name = process.rsplit_once(')').unwrap().1;
        let fields: Vec<&str> = behind_name.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        Self { thread: as_f64(thread) / 1e9, process: as_f64(ticks) / 100.0 }
    }

    fn elapsed(self) -> Self {
        let now = Self::now();
        Self { thread: now.thread - self.thread, process: now.process - self.process }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure to print")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

fn disk(path: &Path) -> f64 {
    fn bytes(path: &Path) -> u64 {
        let entries = std::fs::read_dir(path).unwrap().map(Result::unwrap);
        let of = |entry: std::fs::DirEntry| match entry.metadata() {
            Ok(found) if found.is_dir() => bytes(&entry.path()),
            // Journals are allocated ahead, and sparse.
            Ok(found) => found.blocks() * 512,
            Err(_) => 0,
        };
        entries.map(of).sum()
    }
    as_f64(bytes(path)) / f64::from(1 << 20)
}

/// Spreads a number over 64 bits.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn hash(number: u64) -> [u8; 32] {
    let mut hash = [0; 32];
    for (at, chunk) in (0_u64..).zip(hash.chunks_exact_mut(8)) {
        chunk.copy_from_slice(&mixed(number ^ (at << 56)).to_be_bytes());
    }
    hash
}

fn txo(number: u64) -> TxoRef {
    TxoRef { tx_hash: hash(number), index: u32::try_from(number % 4).unwrap() }
}

/// Half of a body is random and half repeats, as CBOR of outputs does.
fn body(number: u64) -> Vec<u8> {
    let mut body = vec![0x82; BODY];
    for (at, chunk) in (0_u64..).zip(body[..BODY / 2].chunks_mut(8)) {
        chunk.copy_from_slice(&mixed(number ^ (at << 40)).to_be_bytes()[..chunk.len()]);
    }
    body
}

/// One batch, made before the clock starts.
struct Block {
    delta: UtxoSetDelta,
    entities: Vec<(EntityKey, [u8; 64])>,
    point: ChainPoint,
}

fn block(number: u64) -> Block {
    let of = |block: u64| block * BATCH..(block + 1) * BATCH;
    let consumed = number.checked_sub(1).into_iter().flat_map(of).take(usize::try_from(CONSUMED).unwrap());
    Block {
        delta: UtxoSetDelta {
            produced: of(number).map(|at| (txo(at), EraCbor { era: 6, cbor: body(at) })).collect(),
            consumed: consumed.map(txo).collect(),
            ..UtxoSetDelta::default()
        },
        entities: (0..ENTITIES).map(|at| (EntityKey(hash(number * ENTITIES + at)), [7; 64])).collect(),
        point: ChainPoint::Specific { slot: number, hash: hash(number) },
    }
}

/// The outputs that are looked up: none of those that were consumed.
fn hits(size: Size) -> Vec<TxoRef> {
    let batches = size.outputs / BATCH;
    let number = |at: u64| {
        let (batch, place) = (mixed(at) % batches, CONSUMED + mixed(at ^ 7) % (BATCH - CONSUMED));
        batch * BATCH + place
    };
    (0..size.lookups).map(|at| txo(number(at))).collect()
}

fn misses(size: Size) -> Vec<TxoRef> {
    (0..size.lookups).map(|at| txo(u64::MAX / 2 + at)).collect()
}

/// Entities of one namespace, for iterating over them.
const ITERATED: &str = Namespace::STAKES;

struct Hand {
    database: Database,
    cursor: Keyspace,
    utxos: Keyspace,
    entities: Keyspace,
}

impl Hand {
    fn open(path: &Path) -> Self {
        let database = Database::builder(path).open().unwrap();
        let keyspace = |name| database.keyspace(name, KeyspaceCreateOptions::default).unwrap();
        let (cursor, utxos, entities) =
            (keyspace("state-cursor"), keyspace("state-utxos"), keyspace("state-entities"));
        Self { database, cursor, utxos, entities }
    }

    fn commit(&self, block: &Block) {
        let mut batch = self.database.batch().durability(Some(PersistMode::Buffer));
        for (txo, output) in &block.delta.produced {
            let mut value = Vec::with_capacity(2 + output.cbor.len());
            value.extend_from_slice(&output.era.to_be_bytes());
            value.extend_from_slice(&output.cbor);
            batch.insert(&self.utxos, txo_key(txo), value);
        }
        for txo in &block.delta.consumed {
            batch.remove(&self.utxos, txo_key(txo));
        }
        let ns = EntityNs::ACCOUNTS.digest();
        for (key, value) in &block.entities {
            batch.insert(&self.entities, entity_key(ns, key), value);
        }
        let point = CursorValue { point: block.point }.encode().unwrap();
        batch.insert(&self.cursor, [0_u8], point.as_slice());
        batch.commit().unwrap();
    }
}

fn txo_key(txo: &TxoRef) -> [u8; 36] {
    let mut key = [0; 36];
    key[..32].copy_from_slice(&txo.tx_hash);
    key[32..].copy_from_slice(&txo.index.to_be_bytes());
    key
}

fn entity_key(ns: [u8; 8], entity: &EntityKey) -> [u8; 40] {
    let mut key = [0; 40];
    key[..8].copy_from_slice(&ns);
    key[8..].copy_from_slice(&entity.0);
    key
}

/// Sums the processor time of the calls alone: making the blocks is no part of it.
fn imported(size: Size, mut commit: impl FnMut(&Block)) -> Cpu {
    let begun = Cpu::now();
    let (mut thread, mut making) = (0.0, 0.0);
    for number in 0..size.outputs / BATCH {
        let making_of_it = Cpu::now();
        let block = block(number);
        let ready = Cpu::now();
        making += ready.thread - making_of_it.thread;
        commit(&block);
        thread += ready.elapsed().thread;
    }
    // Other threads work while blocks are made, too.
    Cpu { thread, process: begun.elapsed().process - making }
}

fn by_hand(path: &Path, size: Size) -> Vec<f64> {
    let mut figures = Figures::default();
    let hand = Hand::open(path);
    let cpu = imported(size, |block| hand.commit(block));
    figures.import(cpu, path);
    let ns = EntityNs::of(ITERATED).unwrap().digest();
    for chunk in 0..size.entities / BATCH {
        let mut batch = hand.database.batch().durability(Some(PersistMode::Buffer));
        for at in chunk * BATCH..(chunk + 1) * BATCH {
            batch.insert(&hand.entities, entity_key(ns, &EntityKey(hash(at))), [9_u8; 64]);
        }
        batch.commit().unwrap();
    }
    let get = |snapshot: &fjall::Snapshot, txo: &TxoRef| {
        let value = snapshot.get(&hand.utxos, txo_key(txo)).unwrap()?;
        let (era, cbor) = value.split_first_chunk::<2>().unwrap();
        Some((u16::from_be_bytes(*era), cbor.len()))
    };
    for (refs, found) in [(hits(size), true), (misses(size), false)] {
        let snapshot = hand.database.snapshot();
        let run = || refs.iter().for_each(|txo| assert_eq!(get(&snapshot, txo).is_some(), found));
        run();
        figures.each(size.lookups, run);
    }
    let refs = hits(size);
    figures.each(size.lookups / 10, || {
        for ten in refs.chunks(10) {
            let snapshot = hand.database.snapshot();
            assert_eq!(ten.iter().filter_map(|txo| get(&snapshot, txo)).count(), ten.len());
        }
    });
    figures.each(size.entities, || {
        let snapshot = hand.database.snapshot();
        let rows = snapshot.prefix(&hand.entities, ns).map(|row| row.into_inner().unwrap());
        assert_eq!(
            rows.filter(|(key, value)| key.len() == 40 && value.len() == 64).count() as u64,
            size.entities
        );
    });
    figures.each(size.outputs, || {
        let snapshot = hand.database.snapshot();
        let rows = snapshot.iter(&hand.utxos).map(|row| row.into_inner().unwrap());
        assert!(rows.filter(|(_, value)| value.len() > 2).count() > 0);
    });
    figures.0
}

fn ours(path: &Path, size: Size, config: Config) -> Vec<f64> {
    let mut figures = Figures::default();
    let store = StateStore::open(path, config).unwrap();
    let cpu = imported(size, |block| commit(&store, block));
    figures.import(cpu, path);
    for chunk in 0..size.entities / BATCH {
        let mut writer = store.start_writer().unwrap();
        for at in chunk * BATCH..(chunk + 1) * BATCH {
            writer.write_entity(ITERATED, &EntityKey(hash(at)), &[9; 64]).unwrap();
        }
        writer.commit().unwrap();
    }
    for (refs, found) in [(hits(size), true), (misses(size), false)] {
        let snapshot = store.snapshot().unwrap();
        let run = || refs.iter().for_each(|txo| assert_eq!(snapshot.get_utxo(txo).unwrap().is_some(), found));
        run();
        figures.each(size.lookups, run);
    }
    let refs = hits(size);
    figures.each(size.lookups / 10, || {
        for ten in refs.chunks(10) {
            assert!(!store.get_utxos(ten).unwrap().is_empty());
        }
    });
    figures.each(size.entities, || {
        let rows = store.iter_entities(ITERATED, ..).unwrap().map(Result::unwrap);
        assert_eq!(rows.filter(|(_, value)| value.len() == 64).count() as u64, size.entities);
    });
    figures.each(size.outputs, || {
        let rows = store.iter_utxos().unwrap().map(Result::unwrap);
        assert!(rows.filter(|(_, output)| output.era() == 6).count() > 0);
    });
    store.shutdown().unwrap();
    figures.0
}

fn commit(store: &StateStore<keyplan_store::engine::Fjall>, block: &Block) {
    let mut writer = store.start_writer().unwrap();
    writer.apply_utxoset(&block.delta).unwrap();
    for (key, value) in &block.entities {
        writer.write_entity(Namespace::ACCOUNTS, key, value).unwrap();
    }
    writer.set_cursor(block.point);
    writer.commit().unwrap();
}

/// The import with what rolling back takes: processor time of the calling thread.
fn import_with_history(path: &Path, size: Size) -> f64 {
    let store = StateStore::open(path, Config::default()).unwrap();
    let cpu = imported(size, |block| commit(&store, block));
    store.shutdown().unwrap();
    cpu.thread
}

/// The same outputs and entities as a snapshot of the state: processor time of all threads, and disk.
fn loaded(path: &Path, size: Size) -> (f64, f64) {
    let store = StateStore::open(path, Config::default()).unwrap();
    let mut load = store.start_load(BulkOptions::default()).unwrap();
    let mut pushing = 0.0;
    for number in 0..size.outputs / BATCH {
        let block = block(number);
        // Until the end this thread alone works.
        let begun = Cpu::now();
        for (txo, output) in &block.delta.produced {
            load.push_utxo(txo, output).unwrap();
        }
        for (key, value) in &block.entities {
            load.push_entity(Namespace::ACCOUNTS, key, value).unwrap();
        }
        pushing += begun.elapsed().thread;
    }
    let begun = Cpu::now();
    load.finish(ChainPoint::Slot { slot: size.outputs / BATCH }, |_| ()).unwrap();
    let finishing = begun.elapsed().process;
    store.shutdown().unwrap();
    drop(store);
    (pushing + finishing, disk(path))
}
