//! Structures with the row cache and without it, on fjall, with the same budget.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use keyplan_store::cache::{Cached, MemoryBudget};
use keyplan_store::engine::{Durability, Engine, Fjall, FjallSettings};
use keyplan_store::structure::{Claim, Command, Embedded, SetScore, StructureRead, Structures as _};
use keyplan_store::{Schema, Store};

use crate::work::{Random, key};
use crate::{Result, cpu, median};

const HASH: &[u8] = b"h";
const SET: &[u8] = b"s";
const QUEUE: &[u8] = b"q";

/// How many operations a turn has.
const TURN: u32 = 500;

fn open<E: Engine>(engine: E, members: u64) -> Result<Embedded<E>> {
    let text = "plan bench; space things { hash thing = key: bytes field any = field: bytes -> raw; }";
    let compiled = keyplan_plan::compile("bench.keyplan", text, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).ok_or("the plan does not compile")?;
    let structures = Embedded::open(Arc::new(Store::open_or_create(engine, &schema)?), "things")?;
    for first in (0..members).step_by(500) {
        let names: Vec<_> = (first..(first + 500).min(members)).map(key).collect();
        let mut commands = Vec::new();
        for member in &names {
            commands.push(Command::HashSet { key: HASH, field: member, value: &[7; 100] });
            commands.push(Command::SetAdd { key: SET, member });
            commands.push(Command::QueuePush { key: QUEUE, member, score: SetScore::Number(0.0) });
        }
        structures.apply(&commands, Durability::Buffer)?;
    }
    // From tables, as most of what a long run has written is.
    structures.store().engine().compact()?;
    Ok(structures)
}

/// What is done to structures, on each side.
trait Operations {
    fn hash_get(&self, member: &[u8]) -> Result<()>;
    fn set_contains(&self, member: &[u8]) -> Result<()>;
    /// Claims an item and gives it back: the same items are claimed again and again.
    fn claim(&self, member: &[u8]) -> Result<()>;
}

impl<E: Engine> Operations for Embedded<E> {
    fn hash_get(&self, member: &[u8]) -> Result<()> {
        black_box(StructureRead::hash_get(self, HASH, member)?);
        Ok(())
    }

    fn set_contains(&self, member: &[u8]) -> Result<()> {
        black_box(StructureRead::set_contains(self, SET, member)?);
        Ok(())
    }

    fn claim(&self, _: &[u8]) -> Result<()> {
        for item in self.queue_claim(QUEUE, Claim::new(1, Duration::from_mins(1)))? {
            self.queue_release(QUEUE, &item.member, item.receipt)?;
        }
        Ok(())
    }
}

type Operation = fn(&dyn Operations, &[u8]) -> Result<()>;

/// Microseconds of an operation on members that are hot, with the cache and without.
pub(crate) fn measure(directory: &Path, rows: u64, bursts: usize) -> Result<Vec<(&'static str, f64, f64)>> {
    let members = (rows / 10).max(1_000);
    let hot = (members / 20).max(1);
    let budget = (members * 400).max(8 << 20);
    let (with, without) = (directory.join("structures-cached"), directory.join("structures"));
    for path in [&with, &without] {
        if path.exists() {
            std::fs::remove_dir_all(path)?;
        }
    }
    let divided = MemoryBudget::of(budget);
    let settings = |bytes: u64| {
        let mut settings = FjallSettings::default();
        settings.cache_bytes = bytes;
        settings
    };
    let cached = open(Cached::new(Fjall::open(&with, settings(divided.blocks))?, divided.rows), members)?;
    let plain = open(Fjall::open(&without, settings(budget))?, members)?;
    let sides: [&dyn Operations; 2] = [&cached, &plain];
    let operations: [(&str, Operation); 3] = [
        ("hash get", |side, member| side.hash_get(member)),
        ("set contains", |side, member| side.set_contains(member)),
        ("claim", |side, member| side.claim(member)),
    ];
    let mut measured = Vec::new();
    for (name, operation) in operations {
        let mut random = Random(5);
        let mut times: [Vec<Duration>; 2] = Default::default();
        // What is hot has been seen several times before anything counts.
        let warm = usize::try_from(4 * hot)? / TURN as usize + 1;
        for turn in 0..warm + 20 * bursts {
            let names: Vec<_> = (0..TURN).map(|_| key(random.below(hot) * 20)).collect();
            for (side, times) in sides.iter().zip(&mut times) {
                let begun = cpu();
                names.iter().try_for_each(|member| operation(*side, member))?;
                if turn >= warm {
                    times.push(cpu().saturating_sub(begun));
                }
            }
        }
        let [with, without] = times.map(|mut times| median(&mut times).as_secs_f64() * 1e6 / f64::from(TURN));
        measured.push((name, with, without));
    }
    Ok(measured)
}
