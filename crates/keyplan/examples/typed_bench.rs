//! Typed reads beside hand-written ones of the same database, for counting instructions and allocations.
//!
//! ```text
//! cargo build --release -p keyplan --features redb,lmdb --example typed_bench
//! typed_bench fjall|redb|lmdb fill DIR
//! valgrind --tool=callgrind typed_bench fjall|redb|lmdb get|keep|scan typed|raw PASSES DIR
//! valgrind --tool=callgrind typed_bench fjall get|keep|scan cached PASSES DIR
//! ```
//!
//! `get` looks at a value where the engine has it; `keep` is given one that it could keep. `cached` is `typed` with a row cache that has room for all rows. Each pass reads the same rows. What one
//! pass costs is the difference between two runs, so that opening the database and reading it into the cache do not count; `cargo xtask bench store` does that.

use std::error::Error;
use std::hint::black_box;
use std::ops::Bound;
use std::path::Path;

use fjall::{KeyspaceCreateOptions, Readable as _};
use keyplan::store::cache::Cached;
use keyplan::store::engine::{
    Durability, Engine, Fjall, FjallSettings, Lmdb, LmdbSettings, Redb, RedbSettings,
};
use keyplan::store::{Read as _, Store};
use keyplan::typed::Raw;
use keyplan_lmdb::heed::types::Bytes;
use keyplan_lmdb::{Access, Environment, Options, Sync};
use redb::ReadableDatabase as _;

keyplan::plan! {
    plan bench;

    space utxos = "state-utxos" {
        /// Unspent outputs.
        key utxo = txid: bytes(32) index: u32 -> era: u16 body: raw
            scan all in order;
    }
}

use bench::PLAN;
use bench::utxos::{Utxo, UtxoValue};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ROWS: u64 = 20_000;
const SPACE: &str = "state-utxos";

/// All rows, in the form that the store asks an engine for them in. The compiler makes a copy of an engine's code for each
/// form, and such copies differ by more than what is measured here.
const ALL: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [engine, "fill", directory] => match *engine {
            "fjall" => fill(Fjall::open(directory, FjallSettings::default())?),
            "redb" => fill(Redb::open(directory, RedbSettings::default())?),
            "lmdb" => fill(Lmdb::open(directory, LmdbSettings::default())?),
            other => Err(format!("there is no engine `{other}`").into()),
        },
        [engine, operation, side, passes, directory] => {
            let (passes, directory) = (passes.parse()?, Path::new(directory));
            let sum = match (*engine, *side) {
                ("fjall", "typed") => {
                    typed(Fjall::open(directory, FjallSettings::default())?, operation, passes)
                }
                ("fjall", "cached") => {
                    let engine = Fjall::open(directory, FjallSettings::default())?;
                    typed(Cached::new(engine, 64 << 20), operation, passes)
                }
                ("fjall", "raw") => raw_fjall(directory, operation, passes),
                ("redb", "typed") => {
                    typed(Redb::open(directory, RedbSettings::default())?, operation, passes)
                }
                ("redb", "raw") => raw_redb(directory, operation, passes),
                ("lmdb", "typed") => {
                    typed(Lmdb::open(directory, LmdbSettings::default())?, operation, passes)
                }
                ("lmdb", "raw") => raw_lmdb(directory, operation, passes),
                _ => Err("there is no such engine or side".into()),
            }?;
            black_box(sum);
            Ok(())
        }
        _ => Err("wrong arguments".into()),
    }
}

/// The key of output `n`.
fn parts(n: u64) -> ([u8; 32], u32) {
    let mut txid = [0; 32];
    for (index, part) in (0..4).zip(txid.chunks_mut(8)) {
        let mixed = (n * 4 + index).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        part.copy_from_slice(&(mixed ^ (mixed >> 29)).to_be_bytes());
    }
    (txid, u32::try_from(n % 3).unwrap_or_default())
}

fn key(n: u64) -> [u8; 36] {
    let (txid, index) = parts(n);
    let mut key = [0; 36];
    let (head, tail) = key.split_at_mut(32);
    head.copy_from_slice(&txid);
    tail.copy_from_slice(&index.to_be_bytes());
    key
}

fn fill<E: Engine>(engine: E) -> Result<()> {
    let store = Store::create_on(engine, &PLAN)?;
    let body = [0x58; 148];
    let mut batch = store.batch()?;
    for n in 0..ROWS {
        let (txid, index) = parts(n);
        batch.put(&Utxo { txid, index }, &UtxoValue { era: 6, body: Raw(&body) })?;
    }
    batch.commit(Durability::SyncAll)?;
    // One table, so that every run reads the same.
    store.raw().engine().compact()?;
    Ok(store.shutdown(core::time::Duration::from_mins(1))?)
}

fn typed<E: Engine>(engine: E, operation: &str, passes: u64) -> Result<u64> {
    let store = Store::open_on(engine, &PLAN)?;
    let view = store.snapshot()?;
    let mut sum = 0_u64;
    for _ in 0..passes {
        match operation {
            "get" => {
                for n in 0..ROWS {
                    let (txid, index) = parts(n);
                    let found = view.get_with(&Utxo { txid, index }, |UtxoValue { era, body }| {
                        u64::from(era) + body.0.len() as u64
                    });
                    sum += found?.ok_or("missing")?;
                }
            }
            "keep" => {
                for n in 0..ROWS {
                    let (txid, index) = parts(n);
                    let found = view.get(&Utxo { txid, index })?.ok_or("missing")?;
                    let UtxoValue { era, body } = found.value()?;
                    sum += u64::from(era) + body.0.len() as u64;
                }
            }
            "scan" => view.scan(Utxo::all()).each(|Utxo { txid, index }, UtxoValue { era, body }| {
                black_box(txid);
                sum += u64::from(index) + u64::from(era) + body.0.len() as u64;
            })?,
            _ => {
                for row in view.scan(Utxo::all()) {
                    let row = row?;
                    let (Utxo { txid, index }, UtxoValue { era, body }) = row.read()?;
                    black_box(txid);
                    sum += u64::from(index) + u64::from(era) + body.0.len() as u64;
                }
            }
        }
    }
    Ok(sum)
}

/// What one would write: the key's parts, and the era and the length of the body.
fn by_hand(key: &[u8], value: &[u8]) -> Result<u64> {
    let (txid, index) = key.split_first_chunk::<32>().ok_or("a short key")?;
    black_box(*txid);
    let index = u32::from_be_bytes(index.try_into()?);
    Ok(u64::from(index) + value_by_hand(value)?)
}

fn value_by_hand(value: &[u8]) -> Result<u64> {
    let (era, body) = value.split_first_chunk::<2>().ok_or("a short value")?;
    Ok(u64::from(u16::from_be_bytes(*era)) + body.len() as u64)
}

fn raw_fjall(directory: &Path, operation: &str, passes: u64) -> Result<u64> {
    let database =
        fjall::Database::builder(directory).cache_size(FjallSettings::default().cache_bytes).open()?;
    let keyspace = database.keyspace(SPACE, KeyspaceCreateOptions::default)?;
    let snapshot = database.snapshot();
    let mut sum = 0;
    for _ in 0..passes {
        match operation {
            "get" | "keep" => {
                for n in 0..ROWS {
                    let found = snapshot.get(&keyspace, key(n))?.ok_or("missing")?;
                    sum += value_by_hand(&found)?;
                }
            }
            _ => {
                for row in snapshot.range::<&[u8], _>(&keyspace, ALL) {
                    let (key, value) = row.into_inner()?;
                    sum += by_hand(&key, &value)?;
                }
            }
        }
    }
    Ok(sum)
}

fn raw_redb(directory: &Path, operation: &str, passes: u64) -> Result<u64> {
    let cache = usize::try_from(RedbSettings::default().cache_bytes)?;
    let database = redb::Database::builder().set_cache_size(cache).open(directory.join("keyplan.redb"))?;
    let read = database.begin_read()?;
    let table = read.open_table(redb::TableDefinition::<&[u8], &[u8]>::new(SPACE))?;
    let mut sum = 0;
    for _ in 0..passes {
        match operation {
            "get" | "keep" => {
                for n in 0..ROWS {
                    let found = table.get(key(n).as_slice())?.ok_or("missing")?;
                    sum += value_by_hand(found.value())?;
                }
            }
            _ => {
                for row in table.range::<&[u8]>(ALL)? {
                    let (key, value) = row?;
                    sum += by_hand(key.value(), value.value())?;
                }
            }
        }
    }
    Ok(sum)
}

fn raw_lmdb(directory: &Path, operation: &str, passes: u64) -> Result<u64> {
    let options = Options {
        map_bytes: None,
        least_map_bytes: 0,
        readers: 16,
        databases: 8,
        sync: Sync::Rows,
        access: Access::Read,
        verify: false,
    };
    let environment = Environment::open(directory, &options).map_err(|refused| format!("{refused:?}"))?;
    environment.with(|env| {
        let read = env.read_txn()?;
        let rows = env.open_database::<Bytes, Bytes>(&read, Some(SPACE))?.ok_or("missing")?;
        let mut sum = 0;
        for _ in 0..passes {
            match operation {
                "get" | "keep" => {
                    for n in 0..ROWS {
                        sum += value_by_hand(rows.get(&read, &key(n))?.ok_or("missing")?)?;
                    }
                }
                _ => {
                    for row in rows.range(&read, &ALL)? {
                        let (key, value) = row?;
                        sum += by_hand(key, value)?;
                    }
                }
            }
        }
        Ok(sum)
    })
}
