//! Migrations beside a loop that somebody wrote by hand: the same rows, the same engine, batches of the same size.
//!
//! ```text
//! cargo run --release -p keyplan-store --example migrate_bench -- [--rows N] [--json] DIR
//! ```
//!
//! Each side runs in a process of its own on a database of its own. What counts is the processor time of all threads from the opening
//! to the end, the shutdown included. Ours reads everything three times: for the survey, to move, and to compare checksums; a copy
//! is surveyed while it is made, and read to compare checksums. The loop by hand reads once, and checks nothing.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a program that measures, and stops at the first error"
)]

#[expect(dead_code, reason = "some figures are of the other benchmarks only")]
#[path = "store_bench/cpu.rs"]
mod cpu;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use keyplan_plan::{Compiled, compile};
use keyplan_prover::{Options, prove_migration};
use keyplan_store::engine::{Batch, Durability, Engine as _, Fjall, FjallSettings, KeyRange, Snapshot as _};
use keyplan_store::migrate::{Attached, Migration, Step};
use keyplan_store::{Schema, Store};

use crate::cpu::Span;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Rows by owner, in text, which the new plan has in binary under another prefix.
const OLD: &str =
    "plan p; space s { key held = 0x01 owner: bytes(20).hex \"/\" id: u64.dec -> amount: u64 scan all; }";
const NEW: &str = "plan p; space s { key held = 0x02 owner: bytes(20) id: u64 -> amount: u64 scan all; }";

/// As `keyplan db` opens a database: what it keeps in memory does not depend on the machine.
fn settings() -> FjallSettings {
    let mut settings = FjallSettings::default();
    settings.cache_bytes = 64 << 20;
    settings
}

/// Rows in a batch.
const BATCH: usize = 10_000;

fn plan(text: &str) -> Compiled {
    let compiled = compile("p.keyplan", text, |_| Err("no imports".to_owned()));
    assert!(compiled.errors().next().is_none(), "{:?}", compiled.diagnostics);
    compiled
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |option: &str| {
        let place = arguments.iter().position(|argument| argument == option)?;
        arguments.get(place + 1).cloned()
    };
    let rows: u64 = after("--rows").map_or(Ok(2_000_000), |rows| rows.parse())?;
    let directory = arguments.last().ok_or("a directory is needed")?;
    if let Some(side) = after("--child") {
        return child(&side, rows, Path::new(directory));
    }
    let side = |side: &str| -> Result<(f64, f64)> {
        let (mut best, mut peak) = (f64::MAX, 0.0_f64);
        for _ in 0..2 {
            let folder = Path::new(directory).join(side);
            if folder.exists() {
                std::fs::remove_dir_all(&folder)?;
            }
            for step in ["fill", side] {
                let rows = rows.to_string();
                let child = Command::new(std::env::current_exe()?)
                    .args(["--child", step, "--rows", &rows])
                    .arg(&folder)
                    .output()?;
                if !child.status.success() {
                    return Err(String::from_utf8_lossy(&child.stderr).into_owned().into());
                }
                if step == side {
                    let said = String::from_utf8(child.stdout)?;
                    let figures: Vec<f64> =
                        said.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?;
                    (best, peak) = (best.min(figures[0]), peak.max(figures[1]));
                }
            }
            std::fs::remove_dir_all(&folder)?;
        }
        Ok((best, peak))
    };
    let (hand, _) = side("hand")?;
    let (place, most) = side("place")?;
    let (into, most_into) = side("into")?;
    let json = arguments.iter().any(|argument| argument == "--json");
    let say = |name: &str, value: f64, goal: f64, unit: &str, compared_with: &str| {
        if json {
            println!(
                r#"{{"name":"{name}","value":{value:.4},"goal":{goal},"unit":"{unit}","compared_with":"{compared_with}"}}"#
            );
        } else {
            println!("{name:32} {value:8.3} {unit} (goal ≤ {goal})  {compared_with}");
        }
    };
    let of =
        |ours: f64| format!("a loop by hand over {rows} rows on fjall: {ours:.2} s CPU against {hand:.2} s");
    say("in place", place / hand, 1.3, "×", &of(place));
    say("into a copy", into / hand, 0.6, "×", &of(into));
    let memory = format!("the most that the process ever had, at {rows} rows");
    say("memory, in place", most, 256.0, "MiB", &memory);
    say("memory, into a copy", most_into, 256.0, "MiB", &memory);
    let (proof, families) = proof()?;
    let what =
        format!("{families} families of plans/upstream/paw.keyplan, every module moved; the best of 7 runs");
    say("proof", proof, 50.0, "ms", &what);
    Ok(())
}

fn child(side: &str, rows: u64, folder: &Path) -> Result<()> {
    let (old, new) = (plan(OLD), plan(NEW));
    if side == "fill" {
        return fill(&old, rows, folder);
    }
    let span = Span::begin();
    // As `keyplan db migrate` opens a database that it changes.
    let opened = if side == "place" { FjallSettings::rewriting() } else { settings() };
    let engine = Fjall::open(folder, opened)?;
    match side {
        "hand" => {
            by_hand(&engine)?;
            engine.shutdown(Duration::from_mins(1))?;
        }
        "place" => {
            let migration = Migration::between(&old, &new, mapping(&old, &new))?;
            let Attached::Ready(mut running) = migration.attach(engine)? else {
                panic!("it was done already")
            };
            let survey = running.survey(|_| ())?;
            assert_eq!(survey.rows, rows);
            running.begin(&survey, false)?;
            while running.step(BATCH)? != Step::Finished {}
            while running.purge(BATCH)? > 0 {}
        }
        "into" => {
            let migration = Migration::between(&old, &new, mapping(&old, &new))?;
            let copy = folder.join("copy");
            let store = migration.create_copy(Fjall::open(&copy, settings())?)?;
            let survey = migration.copy(&engine, &store, false, |_| ())?;
            assert_eq!(survey.rows, rows);
        }
        other => panic!("no side {other}"),
    }
    cpu::settle();
    let took = span.process();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no figure")?;
    let peak: f64 = peak.split_whitespace().next().ok_or("no figure")?.parse()?;
    println!("{took} {}", peak / 1024.0);
    Ok(())
}

fn mapping(old: &Compiled, new: &Compiled) -> keyplan_plan::mapping::Mapping {
    let proof = prove_migration(old.plan.as_ref().unwrap(), new.plan.as_ref().unwrap(), &Options::default());
    assert_eq!(proof.blockers().count(), 0);
    proof.mapping
}

/// The owner of a row.
fn owner(n: u64) -> [u8; 20] {
    let mut owner = [7; 20];
    owner[..8].copy_from_slice(&(n / 5).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    owner
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn fill(old: &Compiled, rows: u64, folder: &Path) -> Result<()> {
    let store = Store::create(Fjall::open(folder, settings())?, &Schema::of(old).unwrap())?;
    let space = store.space("s")?;
    let mut batch = Batch::new();
    for n in 0..rows {
        let key = [&[1][..], &hex(&owner(n)), b"/", n.to_string().as_bytes()].concat();
        batch.put(space, key, n.to_be_bytes().to_vec());
        if batch.len() == BATCH {
            store.commit(std::mem::take(&mut batch), Durability::Buffer)?;
        }
    }
    store.commit(batch, Durability::SyncAll)?;
    store.engine().shutdown(Duration::from_mins(1))?;
    Ok(())
}

/// What one would write: read, decode, encode, write the new row and delete the old one, batch by batch.
fn by_hand(engine: &Fjall) -> Result<()> {
    let space = engine.space("s").ok_or("no space")?;
    let snapshot = engine.snapshot()?;
    let mut batch = Batch::<Fjall>::new();
    for row in snapshot.range(space, KeyRange::half_open(&[1], &[2]))? {
        let (key, value) = row?;
        let nibble = |digit: u8| match digit {
            b'0'..=b'9' => digit - b'0',
            _ => digit - b'a' + 10,
        };
        let mut new = vec![2];
        new.extend(key[1..41].chunks(2).map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])));
        new.extend(std::str::from_utf8(&key[42..])?.parse::<u64>()?.to_be_bytes());
        batch.put(space, new, &value[..]);
        batch.delete(space, &key[..]);
        if batch.len() >= 2 * BATCH {
            engine.commit(std::mem::take(&mut batch), Durability::Buffer)?;
        }
    }
    engine.commit(batch, Durability::SyncAll)?;
    Ok(())
}

/// How long the proof of a migration takes at best, in milliseconds, and of how many families it is.
fn proof() -> Result<(f64, usize)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/upstream");
    let text = std::fs::read_to_string(folder.join("paw.keyplan"))?;
    let moved = ["0x01", "0x02", "0x03"].iter().fold(text.clone(), |text, prefix| {
        let new = prefix.replace("0x0", "0x1");
        text.replace(&format!("module keeper = {prefix}"), &format!("module keeper = {new}"))
    });
    assert_ne!(text, moved);
    let read = |text: &str| {
        let import =
            |path: &str| std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string());
        compile("paw.keyplan", text, import).plan.unwrap()
    };
    let (old, new) = (read(&text), read(&moved));
    let mut best = f64::MAX;
    for _ in 0..7 {
        let begun = Instant::now();
        std::hint::black_box(prove_migration(&old, &new, &Options::default()));
        best = best.min(begun.elapsed().as_secs_f64() * 1_000.0);
    }
    Ok((best, old.families().count()))
}
