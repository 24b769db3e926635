//! A Redis server of a test's own, which can be killed and started again with what it had written down.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use keyplan_store::structure::{Redis, RedisSettings};
use tempfile::TempDir;

pub(crate) struct Server {
    port: u16,
    child: Option<Child>,
    directory: TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Self { port, child: None, directory: tempfile::tempdir().unwrap() };
        server.run();
        server
    }

    /// Starts it, with what it has on disk.
    pub(crate) fn run(&mut self) {
        // The shell kills the server when this process closes its input, by ending or otherwise.
        let child = Command::new("sh")
            .arg("-c")
            .arg("redis-server \"$@\" & server=$!; read -r _; kill -9 $server; wait $server")
            .arg("sh")
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always"])
            .args(["--port", &self.port.to_string(), "--dir", self.directory.path().to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.child = Some(child);
        let start = Instant::now();
        while start.elapsed() < Duration::from_mins(1) {
            let there = TcpStream::connect(("127.0.0.1", self.port)).is_ok();
            if there && Redis::open(self.settings()).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("redis-server does not listen: install it with `apt-get install redis-server`");
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }

    pub(crate) fn settings(&self) -> RedisSettings {
        RedisSettings::new(&format!("redis://127.0.0.1:{}", self.port))
            .unwrap()
            .patience(Duration::from_millis(200))
    }

    pub(crate) fn redis(&self) -> Redis {
        Redis::open(self.settings()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
