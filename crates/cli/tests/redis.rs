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
        Self::start_with(&[], "")
    }

    /// A server with options of its own, and what comes before the host in its URL.
    fn start_with(options: &[&str], credentials: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(options)
            .current_dir(data.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is missing: install it with `apt-get install redis-server`");
        let server = Self { child, url: format!("redis://{credentials}127.0.0.1:{port}"), _data: data };
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

    // The URL may be in place of the directory. Those that read no server say who does, without the password.
    let typed = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
        command.env("NO_COLOR", "1").args(words).output().unwrap()
    };
    let same = typed(&["db", "get", &server.url, "satoshis", "--plan", "../../plans/onesat.keyplan"]);
    assert_eq!(String::from_utf8(same.stdout).unwrap().lines().collect::<Vec<_>>(), values);
    let refused = typed(&["db", "parked", &server.url.replace("://", "://u:hush@")]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("is a server of another program") && !said.contains("hush"), "{said}");

    let verified = server.keyplan(&["db", "verify"]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(String::from_utf8(verified.stdout).unwrap().contains("1 unknown key, 0 malformed values"));
}

#[test]
fn a_server_is_carried_into_a_database_and_back_to_another_server() {
    let server = Server::start();
    let redis = Redis::connect(&server.url).unwrap();
    let outpoint = |n: u8| [&[n; 32][..], &[0, 0, 0, n]].concat();
    for n in 1..=3 {
        let at = SetScore::Number(850_000.0 + f64::from(n) / 1e9);
        redis.zset_add(b"z:own:x", &outpoint(n), at).unwrap();
        redis.zset_add(b"z:own:x:spnd", &outpoint(n), at).unwrap();
        redis.hash_set(b"h:sats", &outpoint(n), &u64::from(n).to_be_bytes()).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let (data, back) = (folder.path().join("data"), folder.path().join("back.keyplan"));
    let keyplan = |args: &[&str]| {
        let done =
            Command::new(env!("CARGO_BIN_EXE_keyplan")).env("NO_COLOR", "1").args(args).output().unwrap();
        let said = [done.stdout, done.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
        (done.status.code(), said)
    };
    let plans = ["--plan", "../../plans/onesat.keyplan", "--to", "../../plans/onesat_v2.keyplan"];
    let from = [&["db", "migrate", server.url.as_str()][..], &plans].concat();
    // What names do not tell is told; the plan says that such keys may be set aside.
    let (code, said) = keyplan(&from);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("readings: store.sorted_sets.event"), "{said}");
    let (code, said) = keyplan(&[&from[..], &["--prefer", "event_spent"]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("9 rows: 6 moved, 0 dropped, 0 without a new key"), "{said}");
    assert!(said.ends_with("nothing was written: --into DIR2 makes a copy\n"), "{said}");
    let into = ["--prefer", "event_spent", "--into", data.to_str().unwrap()];
    let (code, said) = keyplan(&[&from[..], &into].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("counts and checksums of both sides agree\n"), "{said}");
    let (code, said) = keyplan(&["db", "scan", data.to_str().unwrap(), "event_spent", "event=own:x"]);
    assert_eq!((code, said.lines().count()), (Some(0), 3), "{said}");
    assert!(said.lines().next().unwrap().ends_with(" vout=1  at 850000/1"), "{said}");

    // And to another server, whose scores are floats: the plan says so.
    let text = std::fs::read_to_string("../../plans/onesat_v2.keyplan").unwrap();
    let floats = text.replace("score at: score\n", "score at: score.height_score\n");
    std::fs::write(&back, floats).unwrap();
    let other = Server::start();
    let args =
        ["db", "migrate", data.to_str().unwrap(), "--to", back.to_str().unwrap(), "--into", &other.url];
    let (code, said) = keyplan(&args);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("copied to the server: counts and checksums of both sides agree\n"), "{said}");
    let there = Redis::connect(&other.url).unwrap();
    let score =
        keyplan_store::structure::StructureRead::zset_score(&there, b"z:es:own:x", &outpoint(2)).unwrap();
    assert_eq!(score, Some(SetScore::Number(850_000.0 + 2.0 / 1e9)));
    let (code, said) = keyplan(&args);
    assert_eq!((code, said.contains("the server has keys")), (Some(2), true), "{said}");
}

#[test]
fn nobody_at_the_other_end_is_said_at_once() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("redis://127.0.0.1:{free}");
    let arguments = ["db", "stats", "--url", &url, "--plan", "../../plans/onesat.keyplan"];
    let output = Command::new(env!("CARGO_BIN_EXE_keyplan")).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: cannot connect to the server: "), "{said}");
}

/// What a node says that can be reached tells more than that another one cannot, whichever comes first.
#[test]
fn a_node_that_refuses_the_password_is_told_before_one_that_is_away() {
    let server = Server::start_with(&["--requirepass", "s3cret", "--cluster-enabled", "yes"], ":s3cret@");
    let (_, there) = server.url.rsplit_once('@').unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for nodes in [format!("{there},127.0.0.1:{free}"), format!("127.0.0.1:{free},{there}")] {
        let url = format!("redis-cluster://:hunter2@{nodes}");
        let arguments = ["db", "stats", "--url", &url, "--plan", "../../plans/onesat.keyplan"];
        let output = Command::new(env!("CARGO_BIN_EXE_keyplan")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        let refusal =
            "the server refused: the password: WRONGPASS invalid username-password pair or user is disabled.";
        assert!(said.starts_with(&format!("error: cannot connect to the server: {refusal}")), "{said}");
        assert!(!said.contains("hunter2") && !said.contains("onnection refused"), "{said}");
    }
}

#[test]
fn a_server_is_explored_in_the_browser() {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};

    let server = Server::start();
    let redis = Redis::connect(&server.url).unwrap();
    redis.zset_add(b"z:own:x", &[7; 36], SetScore::Number(850_000.5)).unwrap();
    redis.put(b"stray", b"value").unwrap();
    let mut explore = Command::new(env!("CARGO_BIN_EXE_keyplan"))
        .args(["explore", &server.url, "--plan", "../../plans/onesat.keyplan"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(explore.stdout.take().unwrap()).lines();
    let find =
        |line: String| line.split_whitespace().find(|word| word.starts_with("http://")).map(str::to_owned);
    let url = lines.find_map(|line| find(line.unwrap())).expect("an address");
    let (host, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
    let port = host.rsplit_once(':').unwrap().1;
    let ask = |page: &str| -> serde_json::Value {
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!("Host: {host}\r\nConnection: close\r\nCookie: keyplan_{port}={token}\r\n");
        write!(stream, "GET /api/{page} HTTP/1.1\r\n{head}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or_else(|_| panic!("{answer}"))
    };
    assert_eq!(ask("overview")["kind"], "redis");
    let all = ask("rows?space=store");
    assert_eq!(all["rows"].as_array().unwrap().len(), 2, "{all}");
    let unread = ask("rows?space=store&only=unread");
    assert_eq!(unread["rows"][0]["key"], "7374726179", "{unread}");
    let key = ask("key?key=7a3a6f776e3a78");
    let family = key["spaces"][0]["readings"][0]["family"].as_str().unwrap();
    let held = ask(&format!("structure?family={family}&key=7a3a6f776e3a78"));
    assert_eq!(held["parts"][0]["score"], "850000.5", "{held}");
    explore.kill().unwrap();
    explore.wait().unwrap();
}
