//! The test program run again, as a process of its own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// This test program with one of its tests only, by its whole path.
pub fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command
}

/// A process that writes `acknowledged NUMBER` after each batch, until it is killed.
pub struct Writer {
    child: Child,
    last: Arc<AtomicU64>,
    begun: u64,
    listener: JoinHandle<()>,
}

impl Writer {
    /// Starts a command; `reached` is the last number that was acknowledged before.
    pub fn start(command: &mut Command, reached: u64) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let last = Arc::new(AtomicU64::new(reached));
        let lines = BufReader::new(child.stdout.take().unwrap());
        let listener = std::thread::spawn({
            let last = Arc::clone(&last);
            move || {
                for line in lines.lines().map_while(Result::ok) {
                    if let Some((_, number)) = line.split_once("acknowledged ") {
                        last.store(number.trim().parse().unwrap(), Ordering::Release);
                    }
                }
            }
        });
        Self { child, last, begun: reached, listener }
    }

    /// Waits until it has acknowledged something, however long that takes on this machine, but no longer than a minute.
    pub fn wait_for_first(&self) {
        let begun = Instant::now();
        while self.last.load(Ordering::Acquire) == self.begun && begun.elapsed() < Duration::from_mins(1) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills it; returns the last number that it acknowledged. A process that had panicked before fails the test.
    pub fn kill(mut self) -> u64 {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.listener.join().unwrap();
        let mut complaint = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert!(!complaint.contains("panicked"), "{complaint}");
        self.last.load(Ordering::Acquire)
    }
}
