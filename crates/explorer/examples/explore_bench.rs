//! How long the explorer takes on a large database: `explore_bench ROWS DIRECTORY`. Prints one JSON object per line.
//!
//! `KEYPLAN_BROWSER` names the folder of `playwright-core`; then the page is also measured in Chromium, by the browser's own clock.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a program that measures, and ends where something is wrong"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use keyplan_explorer::{Explorer, web};
use keyplan_store::engine::{Engine as _, Fjall, FjallSettings};
use keyplan_store::{Access, Schema, Store};
use serde_json::{Value as Json, json};

const PLAN: &str = "plan bench; space s { \
    key trade = 0x01 pool: u32 at: u64 -> amount: u64 price: u64 scan all scan by pool in order; \
    key account = 0x02 owner: bytes(20) -> balance: u64 scan all; \
    key log = 0x03 at: u64 -> raw scan all; }";
const FAMILIES: [&str; 3] = ["s.trade", "s.account", "s.log"];

/// Four fifths are trades, then accounts, then a few lines of a log.
fn fill(directory: &Path, rows: u64) {
    let compiled = keyplan_plan::compile("bench.keyplan", PLAN, |_| Err("no imports".into()));
    let engine = Fjall::open(directory, FjallSettings::default()).unwrap();
    let store = Store::create(engine, &Schema::of(&compiled).unwrap()).unwrap();
    let space = store.space("s").unwrap();
    let (trades, accounts) = (rows * 8 / 10, rows * 19 / 100);
    let trade = |n: u64| {
        let key =
            [&[1], &u32::try_from(n / 1000).unwrap().to_be_bytes()[..], &(n % 1000).to_be_bytes()].concat();
        (key, [n.to_be_bytes(), (n * 7).to_be_bytes()].concat())
    };
    let account = |n: u64| ([&[2], &n.to_be_bytes()[..], &[7; 12]].concat(), n.to_be_bytes().to_vec());
    let log = |n: u64| ([&[3], &n.to_be_bytes()[..]].concat(), vec![b'x'; 200]);
    let all = (0..trades)
        .map(trade)
        .chain((0..accounts).map(account))
        .chain((0..rows - trades - accounts).map(log));
    store.engine().ingest(space, all.map(|(key, value)| Ok((key.into(), value.into())))).unwrap();
    store.engine().shutdown(Duration::from_mins(1)).unwrap();
}

struct Server {
    host: String,
    cookie: String,
}

impl Server {
    fn get(&self, path: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let head = format!("Host: {}\r\nCookie: {}\r\nConnection: close\r\n", self.host, self.cookie);
        write!(stream, "GET {path} HTTP/1.1\r\n{head}\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{path}: {}", String::from_utf8_lossy(&answer));
        let body = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        answer.split_off(body)
    }

    fn json(&self, path: &str) -> Json {
        serde_json::from_slice(&self.get(path)).unwrap()
    }
}

fn say(measure: &str, value: f64, unit: &str, more: &Json) {
    println!("{}", json!({ "measure": measure, "value": value, "unit": unit, "more": more }));
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The most memory that this process had.
fn say_memory(measure: &str, rows: u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes: f64 = peak.trim().trim_end_matches("kB").trim().parse().unwrap();
    say(measure, kibibytes / 1000.0 * 1.024, "MB", &json!({ "rows": rows }));
}

/// Measures the page in a real browser, which prints its own lines.
fn browse(url: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/paint.mjs");
    let modules = std::env::var_os("KEYPLAN_BROWSER").unwrap();
    let mut node = Command::new("node");
    let done = node.arg(script).arg(url).arg(FAMILIES.join(",")).env("MODULES", modules).status().unwrap();
    assert!(done.success());
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rows: u64 = arguments[0].parse().unwrap();
    let directory = Path::new(&arguments[1]);
    // In a process of its own, so that its memory is not counted.
    if arguments.get(2).is_none() {
        let _ = std::fs::remove_dir_all(directory);
        let begun = Instant::now();
        fill(directory, rows);
        say("filled", begun.elapsed().as_secs_f64(), "s", &json!({ "rows": rows }));
        let own = std::env::current_exe().unwrap();
        let browsed = std::env::var_os("KEYPLAN_BROWSER").map(|_| "browse");
        for what in browsed.into_iter().chain(["explore"]) {
            let done = Command::new(&own).args(&arguments).arg(what).status().unwrap();
            assert!(done.success());
        }
        std::fs::remove_dir_all(directory).unwrap();
        return;
    }
    let begun = Instant::now();
    let engine = Fjall::open_read_only(directory, FjallSettings::default()).unwrap();
    let store = Arc::new(Store::open_recorded(engine, Access::ReadOnly).unwrap());
    let explorer = Explorer::of_store(&store).unwrap();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        web::serve_here(explorer, "127.0.0.1:0".parse().unwrap(), |url| tell.send(url.to_owned()).unwrap())
    });
    let url = told.recv().unwrap();
    if arguments[2] == "browse" {
        browse(&url);
        return say_memory("memory beside Chromium", rows);
    }
    let (host, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
    let cookie = format!("keyplan_{}={token}", host.rsplit_once(':').unwrap().1);
    let server = Arc::new(Server { host: host.to_owned(), cookie });
    say("opened", milliseconds(begun.elapsed()), "ms", &Json::Null);
    // What the page asks before it shows anything: itself, its modules, the database, the first counts.
    let begun = Instant::now();
    for path in [
        "/",
        "/assets/app.css",
        "/assets/main.js",
        "/assets/dom.js",
        "/assets/api.js",
        "/assets/tree.js",
        "/api/overview",
    ] {
        server.get(path);
    }
    let first = server.json("/api/walk");
    say("first paint", milliseconds(begun.elapsed()), "ms", &json!({ "state": first["state"] }));
    // The first page of each family, and a page far in, while all rows are counted.
    let mut slowest = (Duration::ZERO, "");
    for family in FAMILIES {
        for page in ["", "&rev=1"] {
            let begun = Instant::now();
            let found = server.json(&format!("/api/rows?family={family}{page}"));
            assert!(!found["rows"].as_array().unwrap().is_empty(), "{family}");
            slowest = slowest.max((begun.elapsed(), family));
        }
    }
    let state = server.json("/api/walk")["state"].clone();
    say("first page", milliseconds(slowest.0), "ms", &json!({ "family": slowest.1, "state": state }));
    let begun = Instant::now();
    let tabs: Vec<_> = (0..50)
        .map(|tab| {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                server.json("/api/overview");
                server.json("/api/walk");
                server.json(&format!("/api/rows?family={}", FAMILIES[tab % FAMILIES.len()]));
            })
        })
        .collect();
    for tab in tabs {
        tab.join().unwrap();
    }
    say("50 tabs", milliseconds(begun.elapsed()), "ms", &Json::Null);
    let walked = loop {
        let walk = server.json("/api/walk");
        if walk["state"] != "walking" {
            break walk;
        }
        thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(walked["total"]["rows"], rows, "{walked}");
    let took = walked["took_ms"].as_f64().unwrap();
    say(
        "counted",
        rows as f64 / (took / 1000.0),
        "rows/s",
        &json!({ "rows": rows, "seconds": took / 1000.0 }),
    );
    say_memory("memory", rows);
}
