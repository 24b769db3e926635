//! The read commands on a real server.
#![cfg(test)]

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use keyplan_store::structure::{Redis, SetScore, Structures as _};

/// A server of this test's own, which ends with it.
struct Server {
    child: Child,
    url: String,
    _data: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .current_dir(data.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is missing: install it with `apt-get install redis-server`");
        let server = Self { child, url: format!("redis://127.0.0.1:{port}"), _data: data };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() && Redis::connect(&server.url).is_ok() {
                return server;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("redis-server did not start");
    }

    fn keyplan(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
        command.env("NO_COLOR", "1").args(arguments);
        command.args(["--engine", "redis", "--url", &self.url, "--plan", "../../plans/onesat.keyplan"]);
        command.output().unwrap()
    }

    fn lines(&self, arguments: &[&str]) -> Vec<String> {
        let output = self.keyplan(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn read_commands_understand_the_keys_of_a_server() {
    let server = Server::start();
    let redis = Redis::connect(&server.url).unwrap();
    let outpoint = |n: u8| [&[n; 32][..], &[0, 0, 0, n]].concat();
    for n in 1..=3 {
        redis.zset_add(b"z:own:x", &outpoint(n), SetScore::Number(850_000.0 + f64::from(n))).unwrap();
        redis.hash_set(b"h:sats", &outpoint(n), &u64::from(n).to_be_bytes()).unwrap();
    }
    redis.set_add(b"s:bsv21:whitelist", b"token").unwrap();
    redis.put(b"stray", b"value").unwrap();

    let up = server.lines(&["db", "scan", "event", "event=own:x"]);
    assert_eq!(up.len(), 3);
    assert!(up[0].ends_with(" vout=1  at 850001"), "{up:?}");
    let down = server.lines(&["db", "scan", "event", "event=own:x", "--rev", "--limit", "1"]);
    assert_eq!(down, up[2..]);

    let values = server.lines(&["db", "get", "satoshis"]);
    assert!(values.iter().any(|line| line.ends_with("vout=2  → satoshis=2")), "{values:?}");
    let stats = server.lines(&["db", "stats", "--format", "json"]);
    let stats: serde_json::Value = serde_json::from_str(&stats[0]).unwrap();
    assert_eq!(stats["families"]["store.hashes.satoshis"]["members"], 3);
    assert_eq!(stats["unknown"]["rows"], 1);
    assert_eq!(server.lines(&["db", "scan", "--unknown"]), ["store: unknown 7374726179  a plain value"]);
    assert_eq!(server.lines(&["db", "dump"]).len(), 8);

    let verified = server.keyplan(&["db", "verify"]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(String::from_utf8(verified.stdout).unwrap().contains("1 unknown key, 0 malformed values"));
}

#[test]
fn nobody_at_the_other_end_is_said_at_once() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("redis://127.0.0.1:{free}");
    let arguments = ["db", "stats", "--url", &url, "--plan", "../../plans/onesat.keyplan"];
    let output = Command::new(env!("CARGO_BIN_EXE_keyplan")).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: cannot reach the server: "), "{said}");
}
