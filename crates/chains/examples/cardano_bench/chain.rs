use keyplan_chains::cardano::{ChainPoint, EntityKey, EraCbor, TxoRef, UtxoSetDelta};

/// How much is written and read.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) outputs: u64,
    pub(crate) entities: u64,
}

/// The workload: outputs produced and consumed, and entities written, by one batch.
pub(crate) const BATCH: u64 = 5_000;
const CONSUMED: u64 = 500;
const ENTITIES: u64 = 300;
const BODY: usize = 150;

/// Spreads a number over 64 bits.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(crate) fn hash(number: u64) -> [u8; 32] {
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
pub(crate) struct Block {
    pub(crate) delta: UtxoSetDelta,
    pub(crate) entities: Vec<(EntityKey, [u8; 64])>,
    pub(crate) point: ChainPoint,
}

pub(crate) fn blocks(size: Size) -> impl Iterator<Item = Block> {
    (0..size.outputs / BATCH).map(block)
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

/// How many outputs are left.
pub(crate) fn unspent(size: Size) -> u64 {
    size.outputs - (size.outputs / BATCH - 1) * CONSUMED
}

/// Outputs to look up: none of those that were consumed.
pub(crate) fn hits(size: Size) -> impl Iterator<Item = TxoRef> {
    let batches = size.outputs / BATCH;
    (0..).map(move |at: u64| {
        let (batch, place) = (mixed(at) % batches, CONSUMED + mixed(at ^ 7) % (BATCH - CONSUMED));
        txo(batch * BATCH + place)
    })
}

/// Outputs that never were.
pub(crate) fn misses() -> impl Iterator<Item = TxoRef> {
    (0..).map(|at: u64| txo(u64::MAX / 2 + at))
}
