//! The store on PostgreSQL beside statements by hand on the same client, on a server of its own.
//!
//! `postgres_bench --rows N` prints an object for each measurement. By hand means one connection, prepared statements, arrays
//! with `unnest`, `COPY` in its binary form, and a cursor of the server.

#![expect(clippy::print_stdout, reason = "that is what the program is for")]

#[expect(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the tests' server, of which a benchmark needs less"
)]
#[path = "../tests/engine/server.rs"]
mod server;

use std::hint::black_box;
use std::pin::pin;
use std::time::Instant;

use futures_util::TryStreamExt as _;
use keyplan_postgres::{Postgres, PostgresSettings};
use keyplan_store::engine::{Batch, Durability, Engine as _, KeyRange, Snapshot as _, Space};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Rows of one batch.
const BATCH: u64 = 1_000;

fn key(number: u64) -> [u8; 36] {
    let mut key = [0; 36];
    for (at, bytes) in (0_u64..).zip(key.chunks_mut(8)) {
        let word = mixed(number.wrapping_add(at << 56)).to_be_bytes();
        bytes.iter_mut().zip(word).for_each(|(byte, from)| *byte = from);
    }
    key
}

fn value(number: u64) -> Vec<u8> {
    (0_u64..19).flat_map(|at| mixed(number ^ (at << 40)).to_be_bytes()).take(150).collect()
}

fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

fn told(name: &str, value: f64, goal: f64, bound: &str, compared_with: &str) {
    println!(
        "{{\"name\":\"{name}\",\"value\":{value:.3},\"goal\":{goal},\"bound\":\"{bound}\",\"compared_with\":\"{compared_with}\"}}"
    );
}

fn seconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}

fn float(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// What one would write.
struct Hand {
    runtime: tokio::runtime::Runtime,
    client: Client,
}

const PUT: &str = "INSERT INTO hand SELECT * FROM unnest($1::bytea[], $2::bytea[]) \
    ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v";

impl Hand {
    fn open(url: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
            tokio::spawn(connection);
            let tables = "CREATE TABLE hand (k bytea PRIMARY KEY, v bytea NOT NULL); \
                          CREATE TABLE loaded (k bytea PRIMARY KEY, v bytea NOT NULL)";
            client.batch_execute(tables).await?;
            Ok::<_, tokio_postgres::Error>(client)
        })?;
        Ok(Self { runtime, client })
    }

    fn batches(&self, rows: std::ops::Range<u64>) -> Result<()> {
        self.runtime.block_on(async {
            let put = self.client.prepare_typed(PUT, &[Type::BYTEA_ARRAY, Type::BYTEA_ARRAY]).await?;
            for first in rows.clone().step_by(usize::try_from(BATCH)?) {
                let some = first..(first + BATCH).min(rows.end);
                let keys: Vec<[u8; 36]> = some.clone().map(key).collect();
                let keys: Vec<&[u8]> = keys.iter().map(<[u8; 36]>::as_slice).collect();
                let values: Vec<Vec<u8>> = some.map(value).collect();
                self.client.execute(&put, &[&keys, &values]).await?;
            }
            Ok(())
        })
    }

    fn load(&mut self, rows: u64) -> Result<()> {
        let client = &mut self.client;
        self.runtime.block_on(async {
            let transaction = client.transaction().await?;
            let sink = transaction.copy_in("COPY loaded FROM STDIN BINARY").await?;
            let mut writer = pin!(BinaryCopyInWriter::new(sink, &[Type::BYTEA, Type::BYTEA]));
            for (key, number) in sorted(rows) {
                writer.as_mut().write(&[&key.as_slice(), &value(number)]).await?;
            }
            writer.finish().await?;
            transaction.commit().await?;
            Ok(())
        })
    }

    fn scan(&mut self) -> Result<u64> {
        let client = &mut self.client;
        self.runtime.block_on(async {
            let transaction = client.transaction().await?;
            let statement = transaction.prepare("SELECT k, v FROM loaded ORDER BY k").await?;
            let portal = transaction.bind(&statement, &[]).await?;
            let mut count = 0;
            loop {
                let mut page = pin!(transaction.query_portal_raw(&portal, 2_000).await?);
                let before = count;
                while let Some(row) = page.try_next().await? {
                    black_box(row.try_get::<_, &[u8]>(1)?);
                    count += 1;
                }
                if count == before {
                    return Ok(count);
                }
            }
        })
    }

    fn gets(&mut self, keys: &[[u8; 36]]) -> Result<()> {
        let client = &mut self.client;
        self.runtime.block_on(async {
            let transaction = client.transaction().await?;
            let get = transaction.prepare("SELECT v FROM loaded WHERE k = $1").await?;
            for key in keys {
                black_box(transaction.query_opt(&get, &[&key.as_slice()]).await?);
            }
            Ok(())
        })
    }
}

fn sorted(rows: u64) -> Vec<([u8; 36], u64)> {
    let mut all: Vec<([u8; 36], u64)> = (0..rows).map(|number| (key(number), number)).collect();
    all.sort_unstable();
    all
}

fn main() -> Result<()> {
    let mut rows = 100_000_u64;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => rows = words.next().ok_or("how many rows?")?.parse()?,
            other => return Err(format!("`{other}` is not known").into()),
        }
    }
    let server = server::Server::start(&["fsync = on", "shared_buffers = 256MB"]);
    let settings = PostgresSettings::new(&server.url())?;
    let mut engine = Postgres::open(settings)?;
    let (put, loaded) =
        (engine.create_space(&Space::map("put"))?, engine.create_space(&Space::map("loaded"))?);
    let mut hand = Hand::open(&server.url())?;

    // In turns, so that a growing table and a busy machine are the same for both.
    let (mut ours, mut by_hand) = (0.0, 0.0);
    let step = (rows / 5).max(BATCH);
    for first in (0..rows).step_by(usize::try_from(step)?) {
        let end = (first + step).min(rows);
        ours += seconds(|| {
            for from in (first..end).step_by(usize::try_from(BATCH)?) {
                let mut batch = Batch::new();
                for number in from..(from + BATCH).min(end) {
                    batch.put(put, key(number).as_slice(), value(number));
                }
                engine.commit(batch, Durability::SyncData)?;
            }
            Ok(())
        })?;
        by_hand += seconds(|| hand.batches(first..end))?;
    }
    let rate = |time: f64| float(rows) / time;
    let text = format!(
        "rows/s: ours {:.0}, by hand {:.0}; batches of 1,000, each durable",
        rate(ours),
        rate(by_hand)
    );
    told("PostgreSQL, batches, throughput, ours ÷ unnest by hand", by_hand / ours, 0.9, "at least", &text);

    let all = sorted(rows);
    let ours = seconds(|| {
        let rows = all.iter().map(|(key, number)| Ok((key.as_slice().into(), value(*number).into())));
        engine.ingest(loaded, rows)?;
        Ok(())
    })?;
    let by_hand = seconds(|| hand.load(rows))?;
    let text = format!("rows/s: ours {:.0}, by hand {:.0}", rate(ours), rate(by_hand));
    told("PostgreSQL, loads, throughput, ours ÷ COPY by hand", by_hand / ours, 0.9, "at least", &text);

    let (mut best, mut best_hand) = (f64::MAX, f64::MAX);
    for _ in 0..3 {
        let mut count = 0_u64;
        best = best.min(seconds(|| {
            for row in engine.snapshot()?.range(loaded, KeyRange::ALL)? {
                black_box(row?);
                count += 1;
            }
            Ok(())
        })?);
        let mut theirs = 0;
        best_hand = best_hand.min(seconds(|| {
            theirs = hand.scan()?;
            Ok(())
        })?);
        if (count, theirs) != (rows, rows) {
            return Err(format!("{count} and {theirs} of {rows} rows were scanned").into());
        }
    }
    let text = format!("rows/s: ours {:.0}, by hand {:.0}", rate(best), rate(best_hand));
    told("PostgreSQL, scan, throughput, ours ÷ a cursor by hand", best_hand / best, 0.9, "at least", &text);

    let some: Vec<[u8; 36]> = (0..1_000).map(|number| key(mixed(number) % rows)).collect();
    let (mut best, mut best_hand) = (f64::MAX, f64::MAX);
    for _ in 0..5 {
        best = best.min(seconds(|| {
            let view = engine.snapshot()?;
            for key in &some {
                black_box(view.get(loaded, key)?);
            }
            Ok(())
        })?);
        best_hand = best_hand.min(seconds(|| hand.gets(&some))?);
    }
    let each = 1e6 / float(some.len() as u64);
    let text = format!("µs: ours {:.0}, by hand {:.0}", best * each, best_hand * each);
    told("PostgreSQL, get, time, ours ÷ by hand", best / best_hand, 1.1, "at most", &text);

    let size = hand.runtime.block_on(async {
        let row = hand.client.query_one("SELECT pg_total_relation_size('loaded')", &[]).await?;
        row.try_get::<_, i64>(0)
    })?;
    println!("{{\"costs\":\"postgres storage\",\"rows\":{rows},\"bytes\":{size}}}");
    Ok(())
}
