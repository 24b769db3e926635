//! Processes that write and are killed at any moment.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use keyplan_store::Store;
use keyplan_store::engine::{Durability, Engine, Survives};
use keyplan_testkit::{Writer, again};

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
        let mut command = again("child");
        command.env(CHILD, format!("{name}:{}", directory.path().display()));
        let child = Writer::start(&mut command, reached);
        // Mostly once it has begun to write, however long that takes here; sometimes while it still opens the database.
        if random.below(4_u64) > 0 {
            child.wait_for_first();
        }
        let longest = *random.pick(&[350_u64, 350, 350, 350, 1_500]);
        std::thread::sleep(Duration::from_millis(20 + random.below(longest)));
        let acknowledged = child.kill();

        let store = Store::open_or_create(E::open_at(directory.path()), &schema()).unwrap();
        let found = read(&store).unwrap();
        let at = cursor(&found);
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
