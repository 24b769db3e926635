//! How long an edit of a plan of 1,000 families takes until it is answered: `cargo run --release -p keyplan-lsp --example edit_latency`.
//!
//! Times are of this thread's processor where the system tells it (Linux), so that other work on the machine does not count.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use keyplan_lsp::Server;
use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};

const URI: &str = "file:///large.keyplan";
const FAMILIES: usize = 1_000;
const EDITS: i64 = 40;

fn main() {
    let mut text = String::from("plan large;\n\nspace s {\n");
    for index in 0..FAMILIES {
        write!(
            text,
            "    /// Family {index}.\n    key f{index} = 0x{index:04x} pool: u64 owner: bytes(20).hex \"/\" tick: i64.signflip\n        \
            -> amount: u128\n        scan by pool\n        scan by pool, owner in order;\n\n"
        )
        .unwrap();
    }
    text.push_str("}\n");
    let mut server = Server::new(&json!({}));
    notify(&mut server, "didOpen", json!({ "textDocument": { "uri": URI, "version": 0, "text": text } }));
    let proof = Clock::start();
    for job in server.take_jobs() {
        server.proved(job.run());
    }
    let proof = proof.elapsed();
    let mut slowest = Duration::ZERO;
    for version in 1..=EDITS {
        let at = json!({ "line": 3 + 6 * version, "character": 20 });
        let change = json!({ "range": { "start": at, "end": at }, "text": "x" });
        let started = Clock::start();
        let document = json!({ "uri": URI, "version": version });
        notify(&mut server, "didChange", json!({ "textDocument": document, "contentChanges": [change] }));
        slowest = slowest.max(started.elapsed());
    }
    let started = Clock::start();
    for method in ["semanticTokens/full", "documentSymbol", "foldingRange", "codeLens", "inlayHint"] {
        let params = json!({ "textDocument": { "uri": URI } });
        server.handle(Message::Request(Request::new(1.into(), format!("textDocument/{method}"), params)));
    }
    let asked = started.elapsed();
    println!(
        "{FAMILIES} families: slowest of {EDITS} edits {slowest:?}; tokens, symbols, folds, lenses and hints {asked:?}; proof {proof:?}"
    );
}

/// Processor time of this thread, or else time on the clock.
struct Clock {
    processor: Option<Duration>,
    start: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { processor: processor_time(), start: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        match (processor_time(), self.processor) {
            (Some(now), Some(then)) => now.saturating_sub(then),
            _ => self.start.elapsed(),
        }
    }
}

fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn notify(server: &mut Server, method: &str, params: Value) {
    server.handle(Message::Notification(Notification::new(format!("textDocument/{method}"), params)));
}
