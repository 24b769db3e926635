//! Reads from memory: the row cache above fjall beside raw fjall, LMDB and redb, on the same rows and the same work.
//!
//! `rows_bench --rows N --dir DIRECTORY` prints an object for each measurement; `--part reads`, `blocks` or `structures` does one
//! part alone, and `--part 'absent, repeated'`, or another kind of reads, that kind. Every side has the same budget of memory, half
//! of what the rows take; LMDB has none, and reads from the system's. What counts is processor time of the thread that reads
//! or commits, the median of bursts that the sides take in turns.

#![expect(
    clippy::indexing_slicing,
    reason = "the sides are four everywhere, and a wrong figure is worse than a panic"
)]

mod sides;
mod structures;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use sides::{Cached, RawFjall, RawLmdb, RawRedb, Side};
use work::{Chain, Key, Random, Zipf, key};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

struct Asked {
    rows: u64,
    /// `reads`, one kind of them, `blocks` or `structures`; all of them if nothing is asked for.
    part: Option<String>,
    bursts: usize,
    directory: PathBuf,
}

fn main() -> Result<()> {
    let asked = asked()?;
    let wanted = |part: &str| asked.part.as_deref().is_none_or(|only| only == part);
    let reads: Vec<&Reads> = READS.iter().filter(|reads| wanted("reads") || wanted(reads.name)).collect();
    if !reads.is_empty() || wanted("blocks") {
        engines(&asked, &reads, wanted("blocks"))?;
    }
    if wanted("structures") {
        for (name, with, without) in structures::measure(&asked.directory, asked.rows, asked.bursts)? {
            let text = format!("µs: with the cache {with:.2}, without {without:.2}");
            told(&format!("{name} on hot members, without the cache ÷ with it"), without / with, 2.0, &text);
        }
    }
    Ok(())
}

/// The row cache beside the engines by hand.
fn engines(asked: &Asked, reads: &[&Reads], replay: bool) -> Result<()> {
    let budget = asked.rows * work::ROW_BYTES / 2;
    let cached = Cached::fill(&asked.directory, asked.rows, budget)?;
    let fjall = RawFjall::fill(&asked.directory, asked.rows, budget)?;
    let lmdb = RawLmdb::fill(&asked.directory, asked.rows)?;
    let redb = RawRedb::fill(&asked.directory, asked.rows, budget)?;
    let sides: [&dyn Side; 4] = [&cached, &fjall, &lmdb, &redb];
    for reads in reads {
        let times = reads.measure(asked, &sides)?;
        let [ours, raw, lmdb, _] = times;
        told(&format!("{}, raw fjall ÷ ours", reads.name), raw / ours, reads.fjall, &Reads::text(times));
        if let Some(goal) = reads.lmdb {
            told(&format!("{}, raw LMDB ÷ ours", reads.name), lmdb / ours, goal, &Reads::text(times));
        }
    }
    if replay { blocks(asked, &sides) } else { Ok(()) }
}

fn asked() -> Result<Asked> {
    let mut asked =
        Asked { rows: 1_000_000, part: None, bursts: 7, directory: std::env::temp_dir().join("rows_bench") };
    let mut words = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        match name.as_str() {
            "--rows" => asked.rows = value.parse()?,
            "--part" => asked.part = Some(value),
            "--bursts" => asked.bursts = value.parse()?,
            "--dir" => asked.directory = value.into(),
            other => return Err(format!("`{other}` is not known").into()),
        }
    }
    Ok(asked)
}

/// A way to read, and what it is to reach.
struct Reads {
    name: &'static str,
    keys: fn(&mut Random, u64, usize) -> Vec<Key>,
    /// How many gets come first, for a hundred rows: what is hot has been seen twice then, and caches are full.
    warm: u64,
    fjall: f64,
    lmdb: Option<f64>,
}

const READS: [Reads; 6] = [
    Reads { name: "hot set fits", keys: hot, warm: 30, fjall: 12.0, lmdb: Some(3.0) },
    Reads {
        name: "Zipf 0.99",
        keys: |random, rows, count| zipf(random, rows, count, 0.99),
        warm: 200,
        fjall: 2.5,
        lmdb: Some(0.6),
    },
    Reads {
        name: "Zipf 0.8",
        keys: |random, rows, count| zipf(random, rows, count, 0.8),
        warm: 200,
        fjall: 1.7,
        lmdb: None,
    },
    Reads { name: "uniform", keys: uniform, warm: 100, fjall: 0.9, lmdb: None },
    Reads { name: "absent, repeated", keys: absent_repeated, warm: 20, fjall: 5.0, lmdb: None },
    Reads { name: "absent, never repeated", keys: absent, warm: 10, fjall: 0.85, lmdb: None },
];

fn hot(random: &mut Random, rows: u64, count: usize) -> Vec<Key> {
    let few = (rows / 20).max(1);
    (0..count).map(|_| key(random.below(few) * 20)).collect()
}

fn zipf(random: &mut Random, rows: u64, count: usize, exponent: f64) -> Vec<Key> {
    let zipf = Zipf::new(rows, exponent);
    // The hottest rows are not neighbours.
    (0..count).map(|_| key(zipf.sample(random).wrapping_mul(2_654_435_761) % rows)).collect()
}

fn uniform(random: &mut Random, rows: u64, count: usize) -> Vec<Key> {
    (0..count).map(|_| key(random.below(rows))).collect()
}

fn absent_repeated(random: &mut Random, rows: u64, count: usize) -> Vec<Key> {
    let few = (rows / 50).max(1);
    (0..count).map(|_| key(2 * rows + random.below(few))).collect()
}

fn absent(random: &mut Random, rows: u64, count: usize) -> Vec<Key> {
    (0..count).map(|_| key(4 * rows + random.next() % (1 << 60))).collect()
}

impl Reads {
    /// Microseconds per get, for each side.
    fn measure(&self, asked: &Asked, sides: &[&dyn Side; 4]) -> Result<[f64; 4]> {
        let burst = usize::try_from((asked.rows / 10).clamp(2_000, 100_000))?;
        let mut random = Random(7);
        for _ in 0..usize::try_from(asked.rows * self.warm / 100)?.div_ceil(burst) {
            let keys = (self.keys)(&mut random, asked.rows, burst);
            for side in sides {
                side.gets(&keys)?;
            }
        }
        let mut times: [Vec<Duration>; 4] = Default::default();
        for turn in 0..asked.bursts {
            let keys = (self.keys)(&mut random, asked.rows, burst);
            for step in 0..sides.len() {
                let at = (turn + step) % sides.len();
                let begun = cpu();
                sides[at].gets(&keys)?;
                times[at].push(cpu().saturating_sub(begun));
            }
        }
        Ok(times.map(|mut times| {
            median(&mut times).as_secs_f64() * 1e6 / f64::from(u32::try_from(burst).unwrap_or(1))
        }))
    }

    fn text([ours, fjall, lmdb, redb]: [f64; 4]) -> String {
        format!("µs per get: ours {ours:.2}, raw fjall {fjall:.2}, raw LMDB {lmdb:.2}, raw redb {redb:.2}")
    }
}

/// Blocks of 300 transactions with two inputs each, and now and then five of them taken back.
fn blocks(asked: &Asked, sides: &[&dyn Side; 4]) -> Result<()> {
    let count = usize::try_from((asked.rows / 2_500).clamp(20, 400))?;
    // A chain that has run for a while: nearly all of the recent outputs that a block spends have been made by then.
    // Fewer rows have not so many old ones to spend.
    let warm = if asked.rows < 250_000 { usize::try_from(asked.rows / 1_000)? } else { 700 };
    let mut chain = Chain::new(asked.rows);
    let (mut gets, mut commits): ([Vec<Duration>; 4], [Vec<Duration>; 4]) = Default::default();
    for number in 0..warm + count {
        let changes = if number % 50 == 49 { chain.taken_back(5) } else { vec![chain.next_block()] };
        for change in changes {
            for step in 0..sides.len() {
                let at = (number + step) % sides.len();
                let begun = cpu();
                sides[at].gets(&change.read)?;
                let read = cpu();
                sides[at].commit(&change)?;
                if number >= warm {
                    gets[at].push(read.saturating_sub(begun));
                    commits[at].push(cpu().saturating_sub(read));
                }
            }
        }
    }
    let millis = |times: Duration| times.as_secs_f64() * 1e3;
    let whole: [Vec<Duration>; 4] = std::array::from_fn(|at| {
        gets[at].iter().zip(&commits[at]).map(|(one, other)| *one + *other).collect()
    });
    let middle = |mut times: Vec<Duration>| millis(median(&mut times));
    let slow = |mut times: Vec<Duration>| {
        times.sort();
        millis(times.get(times.len() * 99 / 100).copied().unwrap_or_default())
    };
    let [get, get_fjall, ..] = gets.map(middle);
    let [commit, commit_fjall, ..] = commits.map(middle);
    let [late, late_fjall, ..] = whole.clone().map(slow);
    let [block, fjall, lmdb, redb] = whole.map(middle);
    let text = format!(
        "ms per block: ours {block:.2}, raw fjall {fjall:.2}, raw LMDB {lmdb:.2}, raw redb {redb:.2}"
    );
    let gets = format!("ms for 600 gets: ours {get:.2}, raw fjall {get_fjall:.2}");
    told("UTxO replay, gets, raw fjall ÷ ours", get_fjall / get, 1.8, &gets);
    told("UTxO replay, block, raw fjall ÷ ours", fjall / block, 1.2, &text);
    let text_late = format!("ms, 99 of 100 blocks: ours {late:.2}, raw fjall {late_fjall:.2}");
    told("UTxO replay, p99 of a block, raw fjall ÷ ours", late_fjall / late, 1.1, &text_late);
    told("UTxO replay, block, raw LMDB ÷ ours", lmdb / block, 2.5, &text);
    told("UTxO replay, block, raw redb ÷ ours", redb / block, 5.0, &text);
    let text = format!("ms per commit: ours {commit:.2}, raw fjall {commit_fjall:.2}");
    told("UTxO replay, commit, raw fjall ÷ ours", commit_fjall / commit, 0.8, &text);
    Ok(())
}

/// Processor time of this thread.
fn cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Prints a measurement.
#[expect(clippy::print_stdout, reason = "that is what the program is for")]
fn told(name: &str, value: f64, goal: f64, compared_with: &str) {
    println!(
        "{{\"name\":\"{name}\",\"value\":{value:.3},\"goal\":{goal},\"bound\":\"at least\",\"compared_with\":\"{compared_with}\"}}"
    );
}
