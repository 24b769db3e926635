//! The store on object storage beside SlateDB by hand, with the same settings and the same rows; and what both ask of the
//! storage.
//!
//! `slate_bench --rows N` prints an object for each measurement, on a cluster of SeaweedFS of its own. `--memory` takes the memory
//! of the process for storage, and `--costs` counts requests and bytes there.

#![expect(clippy::print_stdout, reason = "that is what the program is for")]

#[expect(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "the tests' servers, of which a benchmark needs less"
)]
#[path = "../tests/engine/server.rs"]
mod server;

#[path = "../../store/examples/shared/outputs.rs"]
mod outputs;

use std::fmt;
use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use keyplan_slate::object_store::memory::InMemory;
use keyplan_slate::object_store::path::Path;
use keyplan_slate::object_store::{
    self, CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use keyplan_slate::{Slate, SlateSettings};
use keyplan_store::engine::{Batch, Durability, Engine as _, KeyRange, Snapshot as _, Space};
use slatedb::config::{ScanOptions, Settings};
use slatedb::{Db, WriteBatch};

use outputs::{BATCH, Result, float, key, mixed, seconds, told, value};

fn main() -> Result<()> {
    let (mut rows, mut memory, mut costs) = (100_000_u64, false, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => rows = words.next().ok_or("how many rows?")?.parse()?,
            "--memory" => memory = true,
            "--costs" => costs = true,
            other => return Err(format!("`{other}` is not known").into()),
        }
    }
    if costs {
        return count(rows);
    }
    if memory {
        return compare(rows, None);
    }
    let cluster = server::Cluster::start().ok_or("there is no SeaweedFS")?;
    compare(rows, Some(&cluster.url("bench")))
}

/// Storage for one side: a path of its own below the URL, or memory of its own.
fn place(url: Option<&str>, side: &str) -> Result<(SlateSettings, Option<Arc<InMemory>>)> {
    match url {
        None => {
            let memory = Arc::new(InMemory::new());
            Ok((SlateSettings::new("memory://bench")?.object_store(memory.clone()), Some(memory)))
        }
        Some(url) => {
            let (place, options) = url.split_once('?').unwrap_or((url, ""));
            Ok((SlateSettings::new(&format!("{}/{side}?{options}", place.trim_end_matches('/')))?, None))
        }
    }
}

/// SlateDB by hand: the same object store and settings, awaited on a runtime of its own.
struct Hand {
    runtime: tokio::runtime::Runtime,
    db: Option<Db>,
    store: Arc<dyn ObjectStore>,
}

impl Hand {
    fn open(store: Arc<dyn ObjectStore>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let settings = Settings { flush_interval: Some(Duration::from_millis(100)), ..Settings::default() };
        let db = runtime.block_on(Db::builder("hand", store.clone()).with_settings(settings).build())?;
        Ok(Self { runtime, db: Some(db), store })
    }

    fn db(&self) -> Result<&Db> {
        Ok(self.db.as_ref().ok_or("closed")?)
    }

    fn import(&self, rows: u64) -> Result<()> {
        let db = self.db()?;
        self.runtime.block_on(async {
            for first in (0..rows).step_by(usize::try_from(BATCH)?) {
                let mut batch = WriteBatch::new();
                for number in first..(first + BATCH).min(rows) {
                    batch.put_bytes(Bytes::copy_from_slice(&key(number)), Bytes::from(value(number)));
                }
                db.write(batch).await?;
            }
            db.flush().await?;
            Ok(())
        })
    }

    fn gets(&self, keys: &[[u8; 36]]) -> Result<()> {
        let db = self.db()?;
        self.runtime.block_on(async {
            let view = db.snapshot()?;
            for key in keys {
                black_box(view.get(key).await?);
            }
            Ok(())
        })
    }

    fn scan(&self) -> Result<u64> {
        let db = self.db()?;
        self.runtime.block_on(async {
            let options =
                ScanOptions { read_ahead_bytes: 8 << 20, max_fetch_tasks: 8, ..ScanOptions::default() };
            let view = db.snapshot()?;
            let mut rows = view.scan_with_options(.., &options).await?;
            let mut count = 0;
            while let Some(row) = rows.next().await? {
                black_box(row);
                count += 1;
            }
            Ok(count)
        })
    }

    /// The seconds of one request for a block of a table, the median of some.
    fn requests(&self) -> Result<f64> {
        self.runtime.block_on(async {
            let mut largest: Option<ObjectMeta> = None;
            let mut objects = self.store.list(None);
            while let Some(object) = objects.next().await {
                let object = object?;
                if largest.as_ref().is_none_or(|largest| largest.size < object.size) {
                    largest = Some(object);
                }
            }
            let table = largest.ok_or("there is no object")?;
            let mut times = Vec::new();
            for number in 0..COLD {
                let at = mixed(number) % table.size.saturating_sub(4_096).max(1);
                let begun = Instant::now();
                black_box(self.store.get_range(&table.location, at..(at + 4_096).min(table.size)).await?);
                times.push(begun.elapsed().as_secs_f64());
            }
            Ok(median(&mut times))
        })
    }

    fn reopen(&mut self) -> Result<()> {
        if let Some(db) = self.db.take() {
            self.runtime.block_on(db.close())?;
        }
        self.db = Some(self.runtime.block_on(Db::builder("hand", self.store.clone()).build())?);
        Ok(())
    }
}

/// How many gets are looked at one by one when nothing is in memory.
const COLD: u64 = 200;

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn compare(rows: u64, url: Option<&str>) -> Result<()> {
    let (settings, _) = place(url, "ours")?;
    let (hand_settings, memory) = place(url, "hand")?;
    let hand_store: Arc<dyn ObjectStore> = match memory {
        Some(memory) => memory,
        None => hand_settings.storage()?,
    };
    let mut engine = Slate::open(settings.clone())?;
    let space = engine.create_space(&Space::map("rows"))?;
    let mut hand = Hand::open(hand_store)?;

    let ours = seconds(|| {
        for first in (0..rows).step_by(usize::try_from(BATCH)?) {
            let mut batch = Batch::new();
            for number in first..(first + BATCH).min(rows) {
                batch.put(space, key(number).as_slice(), value(number));
            }
            engine.commit(batch, Durability::Buffer)?;
        }
        Ok(engine.sync()?)
    })?;
    let by_hand = seconds(|| hand.import(rows))?;
    let text = format!(
        "rows/s: ours {:.0}, by hand {:.0}; batches of 1,000, durable at the end",
        float(rows) / ours,
        float(rows) / by_hand
    );
    told("import on object storage, throughput, ours ÷ by hand", by_hand / ours, 0.5, "at least", &text);

    // Everything in tables on both sides, and nothing in memory.
    engine.checkpoint(Duration::from_mins(10))?;
    drop(engine);
    hand.reopen()?;
    let begun = Instant::now();
    let engine = Slate::open(settings)?;
    told("reopen", begun.elapsed().as_secs_f64(), 5.0, "at most", &format!("seconds at {rows} rows"));
    let space = engine.space("rows").ok_or("the rows are not there")?;

    let one = hand.requests()?;
    let mut times = Vec::new();
    let view = engine.snapshot()?;
    for number in 0..COLD {
        let key = key(mixed(7_000_000 + number) % rows);
        times.push(seconds(|| {
            black_box(view.get(space, &key)?);
            Ok(())
        })?);
    }
    drop(view);
    let (cold, one) = (median(&mut times) * 1e3, one * 1e3);
    let text = format!("ms: a get {cold:.2}, a request for 4 KiB {one:.2}; the medians of {COLD}");
    told("cold get, time, ours ÷ one request", cold / one, 1.5, "at most", &text);

    let (mut found, mut first) = (0_u64, 0.0);
    let ours = seconds(|| {
        let begun = Instant::now();
        for row in engine.snapshot()?.range(space, KeyRange::ALL)? {
            black_box(row?);
            if found == 0 {
                first = begun.elapsed().as_secs_f64();
            }
            found += 1;
        }
        Ok(())
    })?;
    let mut theirs = 0;
    let by_hand = seconds(|| {
        theirs = hand.scan()?;
        Ok(())
    })?;
    if (found, theirs) != (rows, rows) {
        return Err(format!("{found} and {theirs} of {rows} rows were scanned").into());
    }
    let text =
        format!("rows/s: ours {:.0}, by hand {:.0}, both cold", float(rows) / ours, float(rows) / by_hand);
    told("scan after reopening, time, ours ÷ by hand", ours / by_hand, 1.1, "at most", &text);
    let text = format!("rows/s, cold; the first row came after {first:.2} s");
    told("scan after reopening", float(rows) / (ours - first), 50_000.0, "at least", &text);

    let (mut best_ours, mut best_hand) = (f64::MAX, f64::MAX);
    let some: Vec<[u8; 36]> = (0..2_000).map(|number| key(mixed(number) % rows)).collect();
    for _ in 0..5 {
        best_ours = best_ours.min(seconds(|| {
            let view = engine.snapshot()?;
            for key in &some {
                black_box(view.get(space, key)?);
            }
            Ok(())
        })?);
        best_hand = best_hand.min(seconds(|| hand.gets(&some))?);
    }
    let each = 1e6 / float(some.len() as u64);
    let text = format!("µs: ours {:.1}, by hand {:.1}, warm", best_ours * each, best_hand * each);
    told("get, time, ours ÷ by hand", best_ours / best_hand, 1.1, "at most", &text);
    Ok(())
}

/// Storage that counts what it is asked.
#[derive(Debug, Default)]
struct Counted {
    store: InMemory,
    puts: AtomicU64,
    put_bytes: AtomicU64,
    gets: AtomicU64,
    get_bytes: AtomicU64,
    lists: AtomicU64,
}

impl Counted {
    fn line(&self, name: &str, rows: u64) {
        let read = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        println!(
            "{{\"costs\":\"{name}\",\"rows\":{rows},\"puts\":{},\"put_bytes\":{},\"gets\":{},\"get_bytes\":{},\"lists\":{}}}",
            read(&self.puts),
            read(&self.put_bytes),
            read(&self.gets),
            read(&self.get_bytes),
            read(&self.lists)
        );
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counted")
    }
}

fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

#[async_trait::async_trait]
impl ObjectStore for Counted {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> object_store::Result<PutResult> {
        add(&self.puts, 1);
        add(&self.put_bytes, payload.content_length() as u64);
        self.store.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        // One to begin and one to end; the parts are counted as one more.
        add(&self.puts, 3);
        self.store.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> object_store::Result<GetResult> {
        let found = self.store.get_opts(location, options).await;
        add(&self.gets, 1);
        if let Ok(found) = &found {
            add(&self.get_bytes, found.range.end - found.range.start);
        }
        found
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> object_store::Result<Vec<Bytes>> {
        add(&self.gets, ranges.len() as u64);
        add(&self.get_bytes, ranges.iter().map(|range| range.end - range.start).sum());
        self.store.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        self.store.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        add(&self.lists, 1);
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> object_store::Result<ListResult> {
        add(&self.lists, 1);
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> object_store::Result<()> {
        add(&self.puts, 1);
        self.store.copy_opts(from, to, options).await
    }
}

/// What an import, a day's blocks and reads ask of the storage.
fn count(rows: u64) -> Result<()> {
    let counted = Arc::new(Counted::default());
    let settings = || -> Result<SlateSettings> {
        Ok(SlateSettings::new("memory://counted")?
            .object_store(counted.clone())
            .flush_interval(Duration::from_secs(1)))
    };
    let mut engine = Slate::open(settings()?)?;
    let space = engine.create_space(&Space::map("rows"))?;
    for first in (0..rows).step_by(usize::try_from(BATCH)?) {
        let mut batch = Batch::new();
        for number in first..(first + BATCH).min(rows) {
            batch.put(space, key(number).as_slice(), value(number));
        }
        engine.commit(batch, Durability::Buffer)?;
    }
    engine.checkpoint(Duration::from_mins(10))?;
    counted.line("import", rows);
    drop(engine);
    counted.line("close", rows);
    let engine = Slate::open(settings()?.memory_cache(1 << 20))?;
    counted.line("open", rows);
    let space = engine.space("rows").ok_or("the rows are not there")?;
    let view = engine.snapshot()?;
    for number in 0..1_000 {
        black_box(view.get(space, &key(mixed(number) % rows))?);
    }
    counted.line("cold gets", 1_000);
    let found = view.range(space, KeyRange::ALL)?.count() as u64;
    counted.line("scan", found);
    drop(view);
    // Blocks of 660 outputs made and 600 spent, each durable by itself.
    for block in 0..10 {
        let mut batch = Batch::new();
        for number in 0..660 {
            let number = rows + block * 660 + number;
            batch.put(space, key(number).as_slice(), value(number));
        }
        for number in 0..600 {
            batch.delete(space, key(block * 600 + number).as_slice());
        }
        engine.commit(batch, Durability::SyncData)?;
    }
    counted.line("blocks", 10);
    drop(engine);
    let held: (u64, u64) = tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
        let mut objects = counted.store.list(None);
        let (mut count, mut bytes) = (0, 0);
        while let Some(object) = objects.next().await {
            count += 1;
            bytes += object.map_or(0, |object| object.size);
        }
        (count, bytes)
    });
    println!("{{\"costs\":\"storage\",\"rows\":{rows},\"objects\":{},\"bytes\":{}}}", held.0, held.1);
    Ok(())
}
