//! The servers that pages name: each page gets some of this test's own, and reads as if they were those of its text.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

#[expect(dead_code, reason = "replicas and crashes are for the tests of the engine")]
#[path = "../../../postgres/tests/engine/server.rs"]
mod postgres;
#[cfg(feature = "slate")]
#[expect(dead_code, reason = "parts of a cluster are killed by the tests of the engine")]
#[path = "../../../slate/tests/engine/server.rs"]
mod s3;

/// What a page calls its servers.
const POSTGRES: &str = "postgres://indexer@db.example/chain";
const BUCKET: &str = "s3://bucket/chain";
const FOLDER: &str = "file:///srv";
const REDIS: &str = "redis://localhost";

/// The servers of one page. They end with it.
pub(crate) struct Servers {
    /// What is typed in place of what the page has.
    typed: Vec<(String, String)>,
    /// What the page has in place of what is printed.
    printed: Vec<(String, String)>,
    _postgres: Option<postgres::Server>,
    #[cfg(feature = "slate")]
    _s3: Option<s3::Cluster>,
    _redis: Option<Redis>,
}

impl Servers {
    /// Starts those that a page names; none if this build, or this machine, cannot have one of them.
    pub(crate) fn of(page: &str, folder: &Path) -> Option<Self> {
        let mut typed = Vec::new();
        let mut printed = Vec::new();
        let postgres = page.contains(POSTGRES).then(|| postgres::Server::start(&[]));
        if let Some(server) = &postgres {
            typed.push((POSTGRES.to_owned(), server.url()));
            printed
                .push(("postgres://127.0.0.1/postgres".to_owned(), "postgres://db.example/chain".to_owned()));
        }
        if page.contains(FOLDER) {
            let real = format!("file://{}/srv", folder.display());
            typed.push((FOLDER.to_owned(), real.clone()));
            printed.push((real, FOLDER.to_owned()));
        }
        #[cfg(feature = "slate")]
        let s3 = if page.contains(BUCKET) {
            let cluster = s3::Cluster::start()?;
            typed.push((BUCKET.to_owned(), format!("'{}'", cluster.url("chain"))));
            Some(cluster)
        } else {
            None
        };
        if cfg!(not(feature = "slate")) && (page.contains(BUCKET) || page.contains(FOLDER)) {
            return None;
        }
        let redis = page.contains(REDIS).then(Redis::start);
        if let Some(server) = &redis {
            let real = format!("redis://127.0.0.1:{}", server.port);
            typed.push((REDIS.to_owned(), real.clone()));
            printed.push((real, REDIS.to_owned()));
        }
        Some(Self {
            typed,
            printed,
            _postgres: postgres,
            #[cfg(feature = "slate")]
            _s3: s3,
            _redis: redis,
        })
    }

    /// A command of the page as it is typed here.
    pub(crate) fn command(&self, shown: &str) -> String {
        self.typed.iter().fold(shown.to_owned(), |command, (shown, real)| command.replace(shown, real))
    }

    /// What was printed here as the page has it.
    pub(crate) fn output(&self, real: &str) -> String {
        self.printed.iter().fold(real.to_owned(), |text, (real, shown)| text.replace(real, shown))
    }
}

/// A Redis server.
struct Redis {
    child: Child,
    port: u16,
}

impl Redis {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is missing: install it with `apt-get install redis-server`");
        let server = Self { child, port };
        let up = || {
            (0..400).any(|_| {
                TcpStream::connect(("127.0.0.1", port)).is_ok() || {
                    sleep(Duration::from_millis(50));
                    false
                }
            })
        };
        assert!(up(), "redis-server did not start");
        server
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
