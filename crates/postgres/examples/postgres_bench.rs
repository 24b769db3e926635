//! The store on PostgreSQL beside statements by hand on the same client, on a server of its own.
//!
//! `postgres_bench --rows N` prints an object for each measurement. By hand means one connection, prepared statements, arrays
//! with `unnest`, `COPY` in its binary form, and a cursor of the server. `--costs` says what the rows take on the disk of a server
//! and in its log instead.

#![expect(clippy::print_stdout, reason = "that is what the program is for")]

#[expect(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the tests' server, of which a benchmark needs less"
)]
#[path = "../tests/engine/server.rs"]
mod server;

#[path = "../../store/examples/shared/outputs.rs"]
mod outputs;

use std::hint::black_box;
use std::pin::pin;

use futures_util::TryStreamExt as _;
use keyplan_postgres::{Postgres, PostgresSettings};
use keyplan_store::engine::{Batch, Durability, Engine as _, KeyRange, Snapshot as _, Space};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls, Statement};

use outputs::{BATCH, Result, float, key, mixed, seconds, told, value};

/// What one would write.
struct Hand {
    runtime: tokio::runtime::Runtime,
    client: Client,
    put: Statement,
}

const PUT: &str = "INSERT INTO hand SELECT * FROM unnest($1::bytea[], $2::bytea[]) \
    ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v";

impl Hand {
    fn open(url: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let (client, put) = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
            tokio::spawn(connection);
            let tables = "CREATE TABLE hand (k bytea PRIMARY KEY, v bytea NOT NULL); \
                          CREATE TABLE loaded (k bytea PRIMARY KEY, v bytea NOT NULL)";
            client.batch_execute(tables).await?;
            let put = client.prepare_typed(PUT, &[Type::BYTEA_ARRAY, Type::BYTEA_ARRAY]).await?;
            Ok::<_, tokio_postgres::Error>((client, put))
        })?;
        Ok(Self { runtime, client, put })
    }

    fn batch(&self, rows: std::ops::Range<u64>) -> Result<()> {
        self.runtime.block_on(async {
            let keys: Vec<[u8; 36]> = rows.clone().map(key).collect();
            let keys: Vec<&[u8]> = keys.iter().map(<[u8; 36]>::as_slice).collect();
            let values: Vec<Vec<u8>> = rows.map(value).collect();
            self.client.execute(&self.put, &[&keys, &values]).await?;
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

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn sorted(rows: u64) -> Vec<([u8; 36], u64)> {
    let mut all: Vec<([u8; 36], u64)> = (0..rows).map(|number| (key(number), number)).collect();
    all.sort_unstable();
    all
}

fn main() -> Result<()> {
    let (mut rows, mut costs) = (100_000_u64, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => rows = words.next().ok_or("how many rows?")?.parse()?,
            "--costs" => costs = true,
            other => return Err(format!("`{other}` is not known").into()),
        }
    }
    if costs {
        return count(rows);
    }
    let server = server::Server::start(&["fsync = on", "shared_buffers = 256MB"]);
    let settings = PostgresSettings::new(&server.url())?;
    let mut engine = Postgres::open(settings)?;
    let (put, loaded) =
        (engine.create_space(&Space::map("put"))?, engine.create_space(&Space::map("loaded"))?);
    let mut hand = Hand::open(&server.url())?;

    // A batch each in turns, so that a growing table and a busy machine are the same for both; the median counts.
    let (mut ours, mut by_hand) = (Vec::new(), Vec::new());
    for first in (0..rows).step_by(usize::try_from(BATCH)?) {
        let end = (first + BATCH).min(rows);
        ours.push(seconds(|| {
            let mut batch = Batch::new();
            for number in first..end {
                batch.put(put, key(number).as_slice(), value(number));
            }
            Ok(engine.commit(batch, Durability::SyncData)?)
        })?);
        by_hand.push(seconds(|| hand.batch(first..end))?);
    }
    let rate = |time: f64| float(rows) / time;
    let (ours, by_hand) = (median(&mut ours), median(&mut by_hand));
    let text =
        format!("ms per batch of 1,000, durable: ours {:.2}, by hand {:.2}", ours * 1e3, by_hand * 1e3);
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

    Ok(())
}

/// What a load, an import in batches and a day's blocks take on the server's disk, and in its log.
fn count(rows: u64) -> Result<()> {
    let server = server::Server::start(&["wal_level = replica"]);
    let mut engine = Postgres::open(PostgresSettings::new(&server.url())?)?;
    let (loaded, put) =
        (engine.create_space(&Space::map("loaded"))?, engine.create_space(&Space::map("put"))?);
    let hand = Hand::open(&server.url())?;
    let ask = |asked: &str| -> Result<i64> {
        hand.runtime.block_on(async { Ok(hand.client.query_one(asked, &[]).await?.try_get(0)?) })
    };
    let log = || ask("SELECT (pg_current_wal_insert_lsn() - '0/0')::int8");
    let said = |name: &str, rows: u64, what: &str, bytes: i64| {
        println!("{{\"costs\":\"{name}\",\"rows\":{rows},\"what\":\"{what}\",\"bytes\":{bytes}}}");
    };
    let disk = |table: usize| {
        let table = format!("'keyplan.space_{table}'");
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>((
            ask(&format!("SELECT pg_table_size({table})"))?,
            ask(&format!("SELECT pg_indexes_size({table})"))?,
        ))
    };

    let begun = log()?;
    let all = sorted(rows);
    engine
        .ingest(loaded, all.iter().map(|(key, number)| Ok((key.as_slice().into(), value(*number).into()))))?;
    said("load", rows, "log", log()? - begun);
    let (table, index) = disk(0)?;
    said("load", rows, "table", table);
    said("load", rows, "index", index);

    let begun = log()?;
    for first in (0..rows).step_by(usize::try_from(BATCH)?) {
        let mut batch = Batch::new();
        for number in first..(first + BATCH).min(rows) {
            batch.put(put, key(number).as_slice(), value(number));
        }
        engine.commit(batch, Durability::Buffer)?;
    }
    said("batches", rows, "log", log()? - begun);
    let (table, index) = disk(1)?;
    said("batches", rows, "table", table);
    said("batches", rows, "index", index);

    // Blocks of 660 outputs made and 600 spent, each durable by itself.
    let begun = log()?;
    for block in 0..10 {
        let mut batch = Batch::new();
        for number in 0..660 {
            let number = rows + block * 660 + number;
            batch.put(put, key(number).as_slice(), value(number));
        }
        for number in 0..600 {
            batch.delete(put, key(block * 600 + number).as_slice());
        }
        engine.commit(batch, Durability::SyncData)?;
    }
    said("blocks", 10, "log", log()? - begun);
    Ok(())
}
