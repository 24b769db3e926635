//! Servers that refuse, answer slowly, answer with anything, or go away.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use keyplan_store::engine::Durability;
use keyplan_store::structure::{
    Claim, Command, Kind, RangeQuery, Redis, RedisSettings, ScoreRange, SetScore, StructureError,
    StructureRead as _, Structures as _,
};

use crate::server::{Server, free_port};
use crate::support::Random;

/// Something that listens, and does with each connection what it is told to.
fn listener(serve: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> RedisSettings {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(stream.unwrap()));
        }
    });
    let settings = RedisSettings::new(&format!("redis://127.0.0.1:{port}")).unwrap();
    settings.timeout(Duration::from_millis(300)).patience(Duration::from_millis(100))
}

/// Says that it is there when asked, and answers everything else with these bytes.
fn answering(answer: Vec<u8>) -> Redis {
    let settings = listener(move |mut stream| {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            let bytes = if buffer[..read].ends_with(b"PING\r\n") { b"+PONG\r\n".as_slice() } else { &answer };
            if stream.write_all(bytes).is_err() {
                return;
            }
        }
    });
    Redis::open(settings.largest_answer(1 << 20)).unwrap()
}

fn kind(error: &StructureError) -> &'static str {
    match error {
        StructureError::Connection { .. } => "connection",
        StructureError::Timeout { .. } => "timeout",
        StructureError::Answer { .. } => "answer",
        StructureError::Refused { .. } => "refused",
        StructureError::Partly { .. } => "partly",
        _ => "other",
    }
}

#[test]
fn nobody_there_is_said_at_once() {
    let start = Instant::now();
    let port = free_port().unwrap();
    let error = Redis::connect(&format!("redis://127.0.0.1:{port}")).unwrap_err();
    assert_eq!(error.to_string(), format!("the server cannot be reached: 127.0.0.1:{port}"));
    let error = Redis::connect(&format!("redis-cluster://127.0.0.1:{port}")).unwrap_err();
    assert_eq!(error.to_string(), format!("the server cannot be reached: 127.0.0.1:{port}"));
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn garbage_is_an_error() {
    let nested = b"*1\r\n".repeat(10_000);
    let garbage: [(&[u8], &str); 12] = [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "answer"),
        (b"\0\0\0\0\r\n", "answer"),
        (b":99999999999999999999\r\n", "answer"),
        (b"+OK\r\n", "answer"),
        (b"*0\r\n", "answer"),
        (b"*-1\r\n", "answer"),
        (b":-7\r\n", "answer"),
        (&nested, "answer"),
        (b"-ERR no\r\n", "refused"),
        // These promise more than they bring.
        (b"$9223372036854775807\r\nabc", "timeout"),
        (b"*9223372036854775807\r\n", "timeout"),
        (b"%4611686018427387903\r\n", "timeout"),
    ];
    for (garbage, expected) in garbage {
        let redis = answering(garbage.to_vec());
        let shown = String::from_utf8_lossy(&garbage[..garbage.len().min(20)]).into_owned();
        assert_eq!(kind(&redis.set_count(b"k").unwrap_err()), expected, "{shown:?}");
        assert_eq!(kind(&redis.set_add(b"k", b"m").unwrap_err()), expected, "{shown:?}");
    }
}

#[test]
fn random_answers_never_end_in_a_panic() {
    let mut random = Random::new(5);
    let pieces: [&[u8]; 12] =
        [b"*", b"$", b":", b"+", b"-", b"\r\n", b"1", b"-1", b"0", b"5", b"MOVED 1 127.0.0.1:1", b"_"];
    for _ in 0..60 {
        let length = 1 + random.below(20);
        let mut answer: Vec<u8> = (0..length).flat_map(|_| random.pick(&pieces).to_vec()).collect();
        if random.below(4) == 0 {
            answer = random.bytes(40);
        }
        answer.extend_from_slice(b"\r\n");
        let redis = answering(answer);
        let _ = redis.get(b"k");
        let _ = redis.kind(b"k");
        let _ = redis.zset_range(b"k", &RangeQuery::default());
        let _ = redis.hash_all(b"k").map(Iterator::count);
        let _ = redis.keys(Kind::Zset, b"").map(|keys| keys.take(10).count());
        let _ = redis.queue_size(b"k");
    }
}

#[test]
fn an_answer_without_end_is_cut() {
    let settings = listener(|mut stream| {
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(b"+PONG\r\n");
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(b"+");
        while stream.write_all(&[b'a'; 4096]).is_ok() {}
    });
    let redis = Redis::open(settings.timeout(Duration::from_secs(20)).largest_answer(1 << 20)).unwrap();
    let error = redis.get(b"k").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server gave an answer that cannot be read: it is longer than 1048576 bytes"
    );
}

#[test]
fn silence_and_drops_are_a_timeout() {
    let silent = |mut stream: TcpStream| {
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(b"+PONG\r\n");
        std::thread::sleep(Duration::from_secs(20));
    };
    let dripping = |mut stream: TcpStream| {
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(b"+PONG\r\n");
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(b"$100000\r\n");
        while stream.write_all(b"a").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    for settings in [listener(silent), listener(dripping)] {
        let redis = Redis::open(settings).unwrap();
        let start = Instant::now();
        let error = redis.get(b"k").unwrap_err();
        assert_eq!(error.to_string(), "the server did not answer within 300ms");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
    // One that does not even say that it is there.
    let settings = listener(|_stream| std::thread::sleep(Duration::from_secs(20)));
    assert_eq!(kind(&Redis::open(settings).unwrap_err()), "timeout");
}

#[test]
fn a_pipeline_that_breaks_tells_how_far_it_came() {
    // The first batch is read whole before the first answer: it is one round trip.
    let settings = listener(|mut stream| {
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(b"+PONG\r\n");
        let mut seen = Vec::new();
        while seen.windows(4).filter(|window| window == b"SADD").count() < 5 {
            let read = stream.read(&mut buffer).unwrap();
            seen.extend_from_slice(&buffer[..read]);
        }
        let _ = stream.write_all(b":1\r\n:0\r\n");
    });
    let redis = Redis::open(settings).unwrap();
    let commands = [Command::SetAdd { key: b"k", member: b"m" }; 5];
    let error = redis.apply(&commands, Durability::Buffer).unwrap_err();
    assert_eq!(error.to_string(), "command 2 failed, and 2 before it were done");
    let StructureError::Partly { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(
        source.to_string(),
        "the server cannot be reached: the connection broke while an answer was awaited"
    );
}

#[test]
fn a_server_that_goes_away_is_missed_and_found_again() {
    let (mut server, settings) = crate::server();
    let redis = Redis::open(settings.clone().patience(Duration::from_secs(10))).unwrap();
    let hasty = Redis::open(settings.patience(Duration::ZERO)).unwrap();
    redis.set_add(b"s", b"m").unwrap();
    server.kill();
    // So long that the connections are looked at before they are used again.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(kind(&hasty.set_count(b"s").unwrap_err()), "connection");
    std::thread::scope(|scope| {
        // A write that finds nobody waits: it was certainly not done.
        let waiting = scope.spawn(|| redis.set_add(b"s", b"new"));
        std::thread::sleep(Duration::from_millis(300));
        let port = server.port.to_string();
        server = Server::start_with(server.port, &["--port", &port]).unwrap();
        assert!(waiting.join().unwrap().unwrap());
    });
    assert_eq!(hasty.set_count(b"s").unwrap(), 1);
}

#[test]
fn what_is_wrong_with_a_command_is_found_before_anything_is_sent() {
    let (_server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    let good = Command::SetAdd { key: b"s", member: b"m" };
    let bad = [
        (
            Command::ZsetAdd { key: b"z", member: b"m", score: SetScore::Number(f64::NAN) },
            "a score is not a number",
        ),
        (
            Command::ZsetAdd { key: b"z", member: b"m", score: SetScore::confirmed(1, 2) },
            "`redis` has no exact scores",
        ),
        (
            Command::ZsetRemoveRange { key: b"z", scores: ScoreRange::from(SetScore::confirmed(1, 2)) },
            "`redis` has no exact scores",
        ),
        (Command::ZsetIncrement { key: b"z", member: b"m", by: f64::NAN }, "a score is not a number"),
    ];
    for (bad, expected) in bad {
        let error = redis.apply(&[good, bad], Durability::Buffer).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let error = redis.apply(&[good], Durability::SyncAll).unwrap_err();
    assert_eq!(error.to_string(), "`redis` has no writes that wait for the disk");
    assert_eq!(redis.kind(b"s").unwrap(), None);
}

/// What a server must not do to a scan: stay where it is, go in a circle.
#[test]
fn a_scan_that_goes_in_a_circle_ends() {
    for cursors in [&["7"][..], &["7", "8"]] {
        let cursors: Vec<String> = cursors.iter().map(ToString::to_string).collect();
        let settings = listener(move |mut stream| {
            let mut buffer = [0; 4096];
            let mut next = cursors.iter().cycle();
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                let answer = if buffer[..read].ends_with(b"PING\r\n") {
                    "+PONG\r\n".to_owned()
                } else {
                    format!("*2\r\n$1\r\n{}\r\n*1\r\n$1\r\nk\r\n", next.next().unwrap())
                };
                if stream.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        });
        let redis = Redis::open(settings).unwrap();
        let error = redis.keys(Kind::Set, b"").unwrap().find_map(Result::err).unwrap();
        assert_eq!(
            error.to_string(),
            "the server gave an answer that cannot be read: the server's scan does not come to an end"
        );
    }
}

#[test]
fn answers_that_nobody_asked_for_are_noticed() {
    let redis = answering(b"$1\r\na\r\n$1\r\nb\r\n".to_vec());
    assert_eq!(
        redis.get(b"k").unwrap_err().to_string(),
        "the server gave an answer that cannot be read: the server sent more answers than it was asked for"
    );
}

#[test]
fn a_server_without_tls_is_said_to_have_none() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let settings = RedisSettings::new(&format!("rediss://127.0.0.1:{port}")).unwrap();
    let settings = settings.timeout(Duration::from_millis(100)).patience(Duration::from_millis(50));
    let pem = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap().cert.pem();
    let error = Redis::open(settings.tls_roots(pem)).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        (error.to_string(), cause),
        (
            format!(
                "the server cannot be reached: 127.0.0.1:{port} makes no TLS connection; a server without TLS is `redis://`"
            ),
            "no answer to a TLS handshake within 100ms".to_owned()
        )
    );
}

#[test]
fn a_queue_takes_no_more_than_the_server_has_memory_for() {
    let server = Server::start(&["--maxmemory-policy", "noeviction"]).unwrap();
    let redis = Redis::connect(&format!("redis://{}", server.address())).unwrap();
    redis.queue_push(b"q", b"early", 1.0.into()).unwrap();
    let client = redis::Client::open(format!("redis://{}", server.address())).unwrap();
    let mut connection = client.get_connection().unwrap();
    redis::cmd("CONFIG").arg(&["SET", "maxmemory", "1"]).exec(&mut connection).unwrap();
    for refused in
        [redis.hash_set(b"h", b"f", b"v").map(drop), redis.queue_push(b"q", b"late", 2.0.into()).map(drop)]
    {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("OOM"), "{refused}");
    }
    // What is there can be worked off: that gives memory back.
    let claimed = redis.queue_claim(b"q", Claim::new(5, Duration::from_secs(9))).unwrap();
    assert_eq!(claimed.len(), 1);
}
