//! Processes that write and are killed at any moment.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use keyplan_store::Store;
use keyplan_store::engine::{Durability, Engine, Survives};

use super::chain::{State, apply, commit, cursor, read, schema};
use super::support::{Opened, Random};

/// An engine whose databases other processes open.
pub(crate) trait Shared: Opened {
    /// Sees to it that they can.
    fn prepare(_: &Path) {}
}

/// Says to the test `child` of the same program what it is to write to: an engine and a place.
pub(crate) const CHILD: &str = "KEYPLAN_CRASH_CHILD";

/// Commits batch after batch, and says so.
pub(crate) fn import<E: Engine>(store: &Store<E>) {
    let mut number = cursor(&read(store).unwrap());
    let mut out = std::io::stdout().lock();
    loop {
        number += 1;
        let durability = if number.is_multiple_of(4) { Durability::SyncData } else { Durability::Buffer };
        commit(store, number, durability).unwrap();
        let survives = store.engine().capabilities().survives(durability) >= Survives::Process;
        if survives {
            writeln!(out, "acknowledged {number}").unwrap();
            out.flush().unwrap();
        }
    }
}

/// A child that commits is killed at random moments: nothing that it acknowledged is lost, and no half of a batch is seen.
pub(crate) fn survives_being_killed<E: Shared>(name: &str, seed: u64, rounds: u64) {
    let directory = tempfile::tempdir().unwrap();
    E::prepare(directory.path());
    let mut random = Random::new(seed);
    let mut state = State::default();
    let mut reached = 0;
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(CHILD, format!("{name}:{}", directory.path().display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let acknowledged = Arc::new(AtomicU64::new(reached));
        let lines = BufReader::new(child.stdout.take().unwrap());
        let listener = std::thread::spawn({
            let acknowledged = acknowledged.clone();
            move || {
                for line in lines.lines() {
                    let Ok(line) = line else { break };
                    if let Some((_, number)) = line.split_once("acknowledged ") {
                        acknowledged.store(number.trim().parse().unwrap(), Ordering::Release);
                    }
                }
            }
        });
        // Mostly once it has begun to write, however long that takes here; sometimes while it still opens the database.
        if random.below(4) > 0 {
            let begun = Instant::now();
            while acknowledged.load(Ordering::Acquire) == reached && begun.elapsed() < Duration::from_mins(1)
            {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let longest = *random.pick(&[350, 350, 350, 350, 1_500]);
        std::thread::sleep(Duration::from_millis(20 + random.below(longest)));
        child.kill().unwrap();
        child.wait().unwrap();
        listener.join().unwrap();
        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert!(!complaint.contains("panicked"), "{complaint}");

        let store = Store::open_or_create(E::open_at(directory.path()), &schema()).unwrap();
        let found = read(&store).unwrap();
        let at = cursor(&found);
        let acknowledged = acknowledged.load(Ordering::Acquire);
        assert!(
            at >= acknowledged,
            "round {round}: batch {acknowledged} was acknowledged, and {at} is the last"
        );
        assert!(at >= reached, "round {round}: what was there before is gone");
        for number in reached + 1..=at {
            apply(&mut state, number);
        }
        reached = at;
        assert!(found == state, "round {round}: the rows are not those of batch {at}");
    }
    assert!(reached > rounds / 2, "the child hardly came to write");
    println!("{name} was killed {rounds} times in {reached} batches");
}
