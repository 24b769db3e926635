//! A master of a cluster is killed in the middle of a load.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use keyplan_store::structure::{Redis, RedisSettings, StructureRead as _, Structures as _};

use crate::cluster::{Cluster, until};

/// Ends the load, also if the test fails while it runs.
struct Stop<'t>(&'t AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn what_was_acknowledged_outlives_the_master_that_did() {
    let mut cluster = Cluster::start();
    let settings = RedisSettings::new(&cluster.url()).unwrap().timeout(Duration::from_secs(2));
    // With one replica for each master, what the replica has cannot be lost with the master. Afterwards there is one
    // less, so that nothing in these slots would be acknowledged any more.
    let careful = Redis::open(settings.clone().replicas(1)).unwrap();
    let redis = Redis::open(settings).unwrap();
    let (stop, killed) = (AtomicBool::new(false), AtomicBool::new(false));
    let done: [AtomicUsize; 4] = Default::default();
    let write = |worker: u32, done: &AtomicUsize| {
        let mut acknowledged: BTreeMap<[u8; 4], [u8; 4]> = BTreeMap::new();
        let mut failed = Vec::new();
        for round in 0_u32.. {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let (key, value) = ((worker * 1_000 + round % 200).to_be_bytes(), round.to_be_bytes());
            let client = if killed.load(Ordering::Relaxed) { &redis } else { &careful };
            match client.put(&key, &value) {
                Ok(_) => {
                    acknowledged.insert(key, value);
                    done.fetch_add(1, Ordering::Relaxed);
                }
                // It may or may not have been done: the key has no value that one could count on.
                Err(error) => {
                    acknowledged.remove(&key);
                    failed.push(error.to_string());
                }
            }
        }
        (acknowledged, failed)
    };
    let results = std::thread::scope(|scope| {
        let stopped = Stop(&stop);
        let write = &write;
        let workers: Vec<_> =
            (0..).zip(&done).map(|(worker, done)| scope.spawn(move || write(worker, done))).collect();
        let each_has = |counts: [usize; 4]| {
            done.iter().zip(counts).all(|(done, count)| done.load(Ordering::Relaxed) > count)
        };
        until("a load", || each_has([125; 4]));
        cluster.servers[0].kill();
        killed.store(true, Ordering::Relaxed);
        let at_the_kill = done.each_ref().map(|done| done.load(Ordering::Relaxed));
        // Each worker writes its 200 keys in turn, and a third of these was with the master that is gone: so many are
        // done only if a replica took over.
        until("the load goes on", || each_has(at_the_kill.map(|count| count + 500)));
        drop(stopped);
        workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    for (acknowledged, failed) in results {
        // The cure for a master that is gone is to wait: only what was under way when it went has failed.
        assert!(failed.len() < 5, "{failed:?}");
        assert!(acknowledged.len() > 100, "{}: {failed:?}", acknowledged.len());
        for (key, value) in acknowledged {
            assert_eq!(redis.get(&key).unwrap(), Some(value.to_vec()), "{key:?}");
        }
    }
    for key in 0..1_000_u32 {
        redis.put(&key.to_be_bytes(), b"afterwards").unwrap();
    }
}
