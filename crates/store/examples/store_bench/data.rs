use std::time::Duration;

use crate::cpu;
use crate::{Figures, Result};

pub(crate) const BATCH: u64 = 5_000;
pub(crate) const CONSUMED: u64 = 500;
pub(crate) const WRITTEN: u64 = 300;

/// The spaces, as the real store names them.
pub(crate) const SPACES: [&str; 3] = ["state-cursor", "state-utxos", "state-entities"];

/// The space of the unspent outputs.
pub(crate) const UTXOS: &str = "state-utxos";

pub(crate) const PLAN: &str = "plan bench; \
    space cursor = \"state-cursor\" { key at = 0x00; } \
    space utxos = \"state-utxos\" { key utxo = txid: bytes(32) index: u32; } \
    space entities = \"state-entities\" { key entity = ns: u64 key: bytes(32); }";

/// Mixes a number.
pub(crate) fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The key of output `n`: a random transaction with two outputs.
pub(crate) fn utxo_key(n: u64) -> [u8; 36] {
    let mut key = [0; 36];
    for (index, part) in (0..4).zip(key.chunks_mut(8)) {
        part.copy_from_slice(&mix((n / 2).wrapping_mul(4).wrapping_add(index)).to_be_bytes());
    }
    let (_, index) = key.split_at_mut(32);
    index.copy_from_slice(&[0, 0, 0, u8::from(n % 2 == 1)]);
    key
}

/// A key that no output has.
pub(crate) fn missing_key(n: u64) -> [u8; 36] {
    let mut key = utxo_key(n);
    if let Some(last) = key.last_mut() {
        *last = 7;
    }
    key
}

/// About 150 bytes, half of them random.
pub(crate) fn utxo_value(n: u64) -> Vec<u8> {
    let mut value = vec![0x58; 75];
    let mut seed = n ^ 0x5555;
    while value.len() < 145 + usize::from(u8::try_from(n % 11).unwrap_or(0)) {
        seed = mix(seed);
        value.extend_from_slice(&seed.to_be_bytes());
    }
    value
}

/// The namespace that has most entities.
pub(crate) const NAMESPACE: u64 = 0x0123_4567_89ab_cdef;

pub(crate) fn entity_key(n: u64) -> [u8; 40] {
    let mut key = [0; 40];
    let namespace = if n % 11 == 10 { mix(n % 5) } else { NAMESPACE };
    let parts = [namespace, mix(n), mix(n ^ 1), mix(n ^ 2), mix(n ^ 3)];
    for (part, to) in parts.into_iter().zip(key.chunks_mut(8)) {
        to.copy_from_slice(&part.to_be_bytes());
    }
    key
}

pub(crate) fn entity_value(n: u64) -> [u8; 64] {
    let mut value = [0x11; 64];
    let (head, _) = value.split_at_mut(8);
    head.copy_from_slice(&mix(n).to_be_bytes());
    value
}

/// One step of an import.
pub(crate) struct Step {
    pub(crate) produced: Vec<([u8; 36], Vec<u8>)>,
    pub(crate) consumed: Vec<[u8; 36]>,
    pub(crate) entities: Vec<([u8; 40], [u8; 64])>,
    pub(crate) cursor: [u8; 84],
}

/// The steps of an import of so many outputs: in the order of transactions, as blocks come.
pub(crate) fn steps(rows: u64) -> impl Iterator<Item = Step> {
    (0..rows / BATCH).map(|number| {
        let first = number * BATCH;
        let consumed = number.checked_sub(8).map(|earlier| earlier * BATCH).into_iter();
        let mut cursor = [0x30; 84];
        let (head, _) = cursor.split_at_mut(8);
        head.copy_from_slice(&number.to_be_bytes());
        Step {
            produced: (first..first + BATCH).map(|n| (utxo_key(n), utxo_value(n))).collect(),
            consumed: consumed.flat_map(|from| (0..CONSUMED).map(move |n| utxo_key(from + n * 10))).collect(),
            entities: (0..WRITTEN)
                .map(|n| mix(number * WRITTEN + n) % 100_000)
                .map(|n| (entity_key(n), entity_value(n)))
                .collect(),
            cursor,
        }
    })
}

/// Whether output `n` is still there after an import of so many.
pub(crate) fn unspent(n: u64, rows: u64) -> bool {
    !n.is_multiple_of(10) || n / BATCH + 8 >= rows / BATCH
}

/// Runs an import and takes its figures; generating the steps is left out.
pub(crate) fn measured(rows: u64, mut commit: impl FnMut(Step) -> Result<()>) -> Result<Figures> {
    let (mut thread, mut generating) = (Duration::ZERO, Duration::ZERO);
    let mut commits = Vec::new();
    let process = cpu::process();
    let mut wall = Duration::ZERO;
    let mut before = cpu::thread();
    for step in steps(rows) {
        let ready = cpu::thread();
        generating += ready.saturating_sub(before);
        let begun = std::time::Instant::now();
        commit(step)?;
        let took = begun.elapsed();
        wall += took;
        commits.push(took.as_secs_f64() * 1e3);
        before = cpu::thread();
        thread += before.saturating_sub(ready);
    }
    let process = cpu::process().saturating_sub(process).saturating_sub(generating);
    commits.sort_by(f64::total_cmp);
    let at = |part: usize| {
        commits.get((commits.len() * part / 1000).min(commits.len() - 1)).copied().unwrap_or(0.0)
    };
    Ok(Figures::from([
        ("thread_cpu_s".into(), thread.as_secs_f64()),
        ("process_cpu_s".into(), process.as_secs_f64()),
        ("wall_s".into(), wall.as_secs_f64()),
        ("commit_p50_ms".into(), at(500)),
        ("commit_p99_ms".into(), at(990)),
        ("commit_max_ms".into(), at(1000)),
    ]))
}

/// Numbers of outputs to look up: those that are there.
pub(crate) fn lookups(rows: u64, seed: u64) -> impl Iterator<Item = u64> {
    (0_u64..)
        .map(move |n| mix(n ^ seed.wrapping_mul(0x1_0000_0001)) % rows)
        .filter(move |&n| unspent(n, rows))
}
