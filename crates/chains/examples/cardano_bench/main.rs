//! The state store beside hand-written fjall code: one process, the same records, the same durability.
//!
//! ```text
//! cargo run --release -p keyplan-chains --features store --example cardano_bench -- [--quick] [--json] [DIR]
//! ```
//!
//! Each line is one measurement: ours as a multiple of hand-written code, and both figures. What the calling thread of an
//! import does, and reads, take turns; all threads of an import can only be measured one import after the other. The
//! hand-written code writes a batch in transaction order, with fjall's defaults. With `--json` a line is an object that
//! `cargo xtask bench` records.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a program that measures, and stops at the first error"
)]

mod chain;
// The same clocks and turns as for the store below.
#[expect(dead_code, reason = "some figures are of that benchmark only")]
#[path = "../../../store/examples/store_bench/cpu.rs"]
mod cpu;
mod hand;
mod reads;
#[path = "../../../store/examples/store_bench/turns.rs"]
mod turns;

use std::path::{Path, PathBuf};
use std::time::Duration;

use keyplan_chains::cardano::{ChainPoint, Config, EntityKey, Namespace, StateStore};
use keyplan_store::BulkOptions;
use keyplan_store::engine::Fjall;

use crate::chain::{BATCH, Block, Size};
use crate::cpu::Span;
use crate::hand::Hand;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What hand-written code took, and what ours did.
type Figures = [f64; 2];

/// Entities of one namespace, for iterating over them.
const ITERATED: &str = Namespace::STAKES;

/// What is measured, and the most that ours may be of the hand-written code's.
struct Measure {
    name: &'static str,
    unit: &'static str,
    goal: f64,
}

const fn measure(name: &'static str, unit: &'static str, goal: f64) -> Measure {
    Measure { name, unit, goal }
}

const CALLER: Measure = measure("import, calling thread", "s CPU", 0.90);
/// Each commit reads what it replaces, which hand-written code without rollback does not.
const WITH_HISTORY: Measure = measure("import with history, calling thread", "s CPU", 2.0);
const ALL_THREADS: Measure = measure("import, all threads", "s CPU", 1.05);
const DISK: Measure = measure("disk after import", "MiB", 1.05);
/// In the order in which they are measured.
const READS: [Measure; 5] = [
    measure("get_utxo, hit", "µs CPU", 0.90),
    measure("get_utxo, miss", "µs CPU", 1.05),
    measure("get_utxos of ten", "µs CPU", 0.90),
    measure("iter_entities, a row", "µs CPU", 1.10),
    measure("iter_utxos, a row", "µs CPU", 1.10),
];
const LOAD: Measure = measure("load of a snapshot, of the batched import", "s CPU", 0.35);
const LOAD_DISK: Measure = measure("disk after a load, of the batched import", "MiB", 0.55);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |option: &str| arguments.iter().any(|argument| argument == option);
    let directory = arguments.iter().find(|argument| !argument.starts_with("--")).map(PathBuf::from);
    let size = if given("--quick") {
        Size { outputs: 200_000, entities: 100_000 }
    } else {
        Size { outputs: 2_000_000, entities: 1_000_000 }
    };
    let place = directory.unwrap_or_else(std::env::temp_dir).join("keyplan-cardano-bench");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place)?;

    let say = |measure: &Measure, [hand, ours]: Figures| {
        let (Measure { name, unit, goal }, ratio) = (measure, ours / hand);
        if given("--json") {
            let with = format!("hand-written fjall: {ours:.3} {unit} against {hand:.3}");
            println!(
                "{{\"name\":\"cardano {name}\",\"value\":{ratio},\"goal\":{goal},\"compared_with\":\"{with}\"}}"
            );
        } else {
            println!("{name:<44}{ratio:>7.3} goal {goal:<5} {ours:.3} {unit} against {hand:.3}");
        }
    };
    let [hand, ours, with_history] = callers(&place, size)?;
    say(&CALLER, [hand, ours]);
    say(&WITH_HISTORY, [hand, with_history]);

    let (hand_in, ours_in) = (place.join("hand"), place.join("ours"));
    let (hand_cpu, hand_disk) = imported_by_hand(&hand_in, size)?;
    let (ours_cpu, ours_disk) = imported(&ours_in, size)?;
    say(&ALL_THREADS, [hand_cpu, ours_cpu]);
    say(&DISK, [hand_disk, ours_disk]);
    for (measure, figures) in READS.iter().zip(reads::reads(&hand_in, &ours_in, size)?) {
        say(measure, figures);
    }
    let (load_cpu, load_disk) = loaded(&place.join("load"), size)?;
    say(&LOAD, [hand_cpu, load_cpu]);
    say(&LOAD_DISK, [hand_disk, load_disk]);
    std::fs::remove_dir_all(&place)?;
    Ok(())
}

/// Imports by hand, by ours, and by ours with what rolling back takes, a batch each in turns: processor time of the
/// calling thread.
fn callers(place: &Path, size: Size) -> Result<[f64; 3]> {
    let directories = ["caller-hand", "caller-ours", "caller-history"].map(|name| place.join(name));
    let [hand_in, ours_in, history_in] = &directories;
    let hand = Hand::open(hand_in)?;
    let ours = StateStore::open(ours_in, Config::import())?;
    let history = StateStore::open(history_in, Config::default())?;
    let mut spent = [Duration::ZERO; 3];
    for (number, block) in chain::blocks(size).enumerate() {
        for turn in 0..3 {
            let at = (number + turn) % 3;
            cpu::of_thread(&mut spent[at], || match at {
                0 => hand.commit(&block),
                1 => commit(&ours, &block),
                _ => commit(&history, &block),
            })?;
        }
    }
    drop(hand);
    ours.shutdown()?;
    history.shutdown()?;
    drop((ours, history));
    directories.iter().try_for_each(std::fs::remove_dir_all)?;
    Ok(spent.map(|time| time.as_secs_f64()))
}

/// Processor time of all threads for a commit of each block; making the blocks is not part of it.
fn all_threads(size: Size, mut commit: impl FnMut(&Block) -> Result<()>) -> Result<f64> {
    let span = Span::begin();
    let mut making = Duration::ZERO;
    let mut blocks = chain::blocks(size);
    while let Some(block) = cpu::of_thread(&mut making, || blocks.next()) {
        commit(&block)?;
    }
    Ok(span.process() - making.as_secs_f64())
}

/// An import by hand: processor time of all threads, and disk.
fn imported_by_hand(path: &Path, size: Size) -> Result<(f64, f64)> {
    let hand = Hand::open(path)?;
    let figures = (all_threads(size, |block| hand.commit(block))?, cpu::disk(path)?);
    hand.write_entities(size)?;
    Ok(figures)
}

/// The same by ours.
fn imported(path: &Path, size: Size) -> Result<(f64, f64)> {
    let store = StateStore::open(path, Config::import())?;
    let figures = (all_threads(size, |block| commit(&store, block))?, cpu::disk(path)?);
    for chunk in 0..size.entities / BATCH {
        let mut writer = store.start_writer()?;
        for at in chunk * BATCH..(chunk + 1) * BATCH {
            writer.write_entity(ITERATED, &EntityKey(chain::hash(at)), &[9; 64])?;
        }
        writer.commit()?;
    }
    store.shutdown()?;
    Ok(figures)
}

fn commit(store: &StateStore<Fjall>, block: &Block) -> Result<()> {
    let mut writer = store.start_writer()?;
    writer.apply_utxoset(&block.delta)?;
    for (key, value) in &block.entities {
        writer.write_entity(Namespace::ACCOUNTS, key, value)?;
    }
    writer.set_cursor(block.point);
    Ok(writer.commit()?)
}

/// The same outputs and entities as a snapshot of the state: processor time of all threads, and disk.
fn loaded(path: &Path, size: Size) -> Result<(f64, f64)> {
    let store = StateStore::open(path, Config::default())?;
    let mut load = store.start_load(BulkOptions::default())?;
    let mut pushing = Duration::ZERO;
    for block in chain::blocks(size) {
        // Until the end only this thread works.
        cpu::of_thread(&mut pushing, || -> Result<()> {
            for (txo, output) in &block.delta.produced {
                load.push_utxo(txo, output)?;
            }
            for (key, value) in &block.entities {
                load.push_entity(Namespace::ACCOUNTS, key, value)?;
            }
            Ok(())
        })?;
    }
    let span = Span::begin();
    load.finish(ChainPoint::Slot { slot: size.outputs / BATCH }, |_| ())?;
    let finishing = span.process();
    store.shutdown()?;
    drop(store);
    Ok((pushing.as_secs_f64() + finishing, cpu::disk(path)?))
}
