//! Work that takes longer than a page may wait: in a thread of its own, shared by all who ask for the same, and stopped when
//! somebody says so.

pub(crate) mod checksum;
pub(crate) mod dead;
pub(crate) mod diff;
pub(crate) mod facets;
pub(crate) mod infer;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::params::Problem;

/// How many jobs go on at once.
const RUNNING: usize = 4;
/// How many jobs are kept with their results.
const KEPT: usize = 32;
/// How long whoever asks first waits for a result: short jobs are done by then.
const WAIT: Duration = Duration::from_millis(60);

/// All jobs.
#[derive(Debug, Default)]
pub(crate) struct Jobs(Mutex<Vec<Arc<Job>>>);

/// One job.
#[derive(Debug)]
pub(crate) struct Job {
    name: String,
    rows: AtomicU64,
    stop: AtomicBool,
    state: Mutex<Option<Result<Json, String>>>,
}

/// What a job tells while it works.
#[derive(Clone, Debug)]
pub(crate) struct Told(Arc<Job>);

impl Told {
    /// How many rows were read; whether to go on.
    pub(crate) fn rows(&self, rows: u64) -> ControlFlow<()> {
        self.0.rows.store(rows, Ordering::Relaxed);
        if self.0.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Job {
    fn is_ended(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn json(&self) -> Json {
        let rows = self.rows.load(Ordering::Relaxed);
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            None => json!({ "job": self.name, "state": "running", "looked": rows }),
            Some(Ok(result)) => {
                json!({ "job": self.name, "state": "done", "looked": rows, "result": result })
            }
            Some(Err(why)) if self.stop.load(Ordering::Relaxed) => {
                json!({ "job": self.name, "state": "stopped", "looked": rows, "why": why })
            }
            Some(Err(why)) => json!({ "job": self.name, "state": "failed", "looked": rows, "why": why }),
        }
    }
}

impl Jobs {
    /// The job of this name as it is now; it is begun if there is none, or if it ended and is wanted again.
    pub(crate) fn ask(
        &self,
        name: String,
        again: bool,
        work: impl FnOnce(&Told) -> Result<Json, String> + Send + 'static,
    ) -> Result<Json, Problem> {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if again {
            jobs.retain(|job| job.name != name || !job.is_ended());
        }
        if let Some(found) = jobs.iter().find(|job| job.name == name) {
            return Ok(found.json());
        }
        if jobs.iter().filter(|job| !job.is_ended()).count() >= RUNNING {
            return Err(Problem::Busy(format!("{RUNNING} other jobs go on: stop one, or wait")));
        }
        if jobs.len() >= KEPT
            && let Some(oldest) = jobs.iter().position(|job| job.is_ended())
        {
            jobs.remove(oldest);
        }
        let job = Arc::new(Job {
            name,
            rows: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            state: Mutex::new(None),
        });
        let own = Arc::clone(&job);
        thread::Builder::new()
            .name("keyplan-job".to_owned())
            .spawn(move || {
                let result = work(&Told(Arc::clone(&own)));
                *own.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            })
            .map_err(Problem::failed)?;
        jobs.push(Arc::clone(&job));
        drop(jobs);
        for _ in 0..6 {
            if job.is_ended() {
                break;
            }
            thread::sleep(WAIT / 6);
        }
        Ok(job.json())
    }

    /// Asks a job to end.
    pub(crate) fn stop(&self, name: &str) -> bool {
        let jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = jobs.iter().find(|job| job.name == name);
        found.is_some_and(|job| {
            job.stop.store(true, Ordering::Relaxed);
            true
        })
    }

    pub(crate) fn stop_all(&self) {
        let jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.iter().for_each(|job| job.stop.store(true, Ordering::Relaxed));
    }
}
