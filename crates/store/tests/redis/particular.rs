//! What is particular to a server: its own types, other programs, passwords, pages, buckets.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use keyplan_store::engine::{Durability, Memory};
use keyplan_store::structure::{
    Atomicity, Claim, Command, Embedded, Expectation, Kind, QueueSize, Redis, RedisSettings, ScoreRange,
    Scored, Search, SearchMode, SetScore, StructureError, StructureRead as _, Structures,
};
use keyplan_store::{Direction, Schema, Store};

use crate::cluster::{Cluster, tell};
use crate::server::{Server, free_port};
use crate::support::Random;

/// What another program on the same server says and sees.
struct Other(redis::Connection);

impl Other {
    fn new(server: &Server) -> Self {
        let client = redis::Client::open(format!("redis://{}", server.address())).unwrap();
        Self(client.get_connection().unwrap())
    }

    fn ask<T: redis::FromRedisValue>(&mut self, words: &[&[u8]]) -> T {
        let mut command = redis::Cmd::new();
        for word in words {
            command.arg(*word);
        }
        command.query(&mut self.0).unwrap()
    }
}

#[test]
fn what_a_server_cannot_do_is_refused_by_name() {
    let (_server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    let refused = |result: Result<(), StructureError>| result.unwrap_err().to_string();
    assert_eq!(refused(redis.snapshot().map(drop)), "`redis` has no snapshots");
    assert_eq!(
        refused(redis.capabilities().need_atomicity(Atomicity::Everything)),
        "`redis` has no atomic writes across slots"
    );
    assert_eq!(
        refused(redis.zset_add(b"z", b"m", SetScore::confirmed(1, 2)).map(drop)),
        "`redis` has no exact scores"
    );
}

#[test]
fn another_program_sees_the_servers_own_types_under_the_same_bytes() {
    let (server, settings) = crate::server();
    let redis = Redis::open(settings.shared_queues("q:")).unwrap();
    let outpoint = [&[0xde; 32][..], &[0, 0, 0, 1]].concat();
    let output = [b"h:", outpoint.as_slice()].concat();
    let score = SetScore::Number(850_000.000_000_123);
    let commands = [
        Command::HashSet { key: &output, field: b"ev", value: b"[]" },
        Command::HashSet { key: b"h:sats", field: &outpoint, value: &[0, 0, 0, 0, 0, 0, 0, 1] },
        Command::ZsetAdd { key: b"z:ev:own:1A", member: &outpoint, score },
        Command::SetAdd { key: b"s:white", member: b"1A" },
        Command::QueuePush { key: b"q:tok", member: &outpoint, score },
        Command::Put { key: b"plain", value: b"value" },
    ];
    redis.apply(&commands, Durability::Buffer).unwrap();
    let mut other = Other::new(&server);
    assert_eq!(other.ask::<Vec<u8>>(&[b"HGET", &output, b"ev"]), b"[]");
    assert_eq!(other.ask::<Vec<u8>>(&[b"HGET", b"h:sats", &outpoint]), [0, 0, 0, 0, 0, 0, 0, 1]);
    let rows: Vec<(Vec<u8>, f64)> = other.ask(&[b"ZRANGE", b"z:ev:own:1A", b"0", b"-1", b"WITHSCORES"]);
    assert_eq!(rows, [(outpoint.clone(), 850_000.000_000_123)]);
    let rows: Vec<(Vec<u8>, f64)> = other.ask(&[b"ZRANGE", b"q:tok", b"0", b"-1", b"WITHSCORES"]);
    assert_eq!(rows, [(outpoint, 850_000.000_000_123)]);
    assert_eq!(other.ask::<Vec<String>>(&[b"SMEMBERS", b"s:white"]), ["1A"]);
    assert_eq!(other.ask::<String>(&[b"GET", b"plain"]), "value");
}

#[test]
fn what_another_program_pushes_is_claimed_and_not_held_twice() {
    let (server, settings) = crate::server();
    let redis = Redis::open(settings.shared_queues("q:")).unwrap();
    let mut other = Other::new(&server);
    let lease = Duration::from_mins(1);
    let _: i64 = other.ask(&[b"ZADD", b"q:main", b"2", b"b", b"1", b"a"]);
    assert_eq!(redis.kind(b"q:main").unwrap(), Some(Kind::Queue));
    let first = redis.queue_claim(b"q:main", Claim::new(1, lease)).unwrap();
    assert_eq!(first.iter().map(|item| item.member.as_slice()).collect::<Vec<_>>(), [b"a"]);
    // The other program pushes what a worker holds. It does not become free by that, and comes back afterwards.
    let _: i64 = other.ask(&[b"ZADD", b"q:main", b"0", b"a"]);
    let second = redis.queue_claim(b"q:main", Claim::new(5, lease)).unwrap();
    assert_eq!(second.iter().map(|item| item.member.as_slice()).collect::<Vec<_>>(), [b"b"]);
    assert!(redis.queue_acknowledge(b"q:main", b"a", first[0].receipt).unwrap());
    assert_eq!(redis.queue_size(b"q:main").unwrap(), QueueSize { waiting: 1, claimed: 1, dead: 0 });
    let third = redis.queue_claim(b"q:main", Claim::new(5, lease)).unwrap();
    assert_eq!((third[0].member.as_slice(), third[0].attempts), (b"a".as_slice(), 1));
    // Nothing waits, and the queue is there all the same.
    let keys: Result<Vec<Vec<u8>>, _> = redis.keys(Kind::Queue, b"q:").unwrap().collect();
    assert_eq!(keys.unwrap(), [b"q:main"]);
    // The other program takes one back for good.
    let _: i64 = other.ask(&[b"ZREM", b"q:main", b"b"]);
    assert_eq!(redis.zset_add(b"q:main", b"x", SetScore::Number(1.0)).unwrap_err().to_string(), {
        "key 0x713a6d61696e is a queue, and was used as a sorted set"
    });
}

#[test]
fn a_key_holds_one_kind_of_thing() {
    let (server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    let score = SetScore::Number(1.0);
    let writes: [(Kind, Command<'_>); 5] = [
        (Kind::Value, Command::Put { key: b"k", value: b"v" }),
        (Kind::Set, Command::SetAdd { key: b"k", member: b"m" }),
        (Kind::Hash, Command::HashSet { key: b"k", field: b"f", value: b"v" }),
        (Kind::Zset, Command::ZsetAdd { key: b"k", member: b"m", score }),
        (Kind::Queue, Command::QueuePush { key: b"k", member: b"m", score }),
    ];
    let undo = [
        Command::Delete { key: b"k" },
        Command::SetRemove { key: b"k", member: b"m" },
        Command::HashDelete { key: b"k", field: b"f" },
        Command::ZsetRemove { key: b"k", member: b"m" },
        Command::QueueRemove { key: b"k", member: b"m" },
    ];
    for ((found, write), undo_write) in writes.iter().zip(undo) {
        redis.apply_one(*write).unwrap();
        assert_eq!(redis.kind(b"k").unwrap(), Some(*found));
        for (expected, wrong) in writes.iter().filter(|(kind, _)| kind != found) {
            let error = redis.apply_one(*wrong).unwrap_err().to_string();
            assert_eq!(error, format!("key 0x6b is a {found}, and was used as a {expected}"));
        }
        redis.apply_one(undo_write).unwrap();
        assert_eq!(redis.kind(b"k").unwrap(), None);
    }
    // Something that is none of these, and what is beside a queue.
    let mut other = Other::new(&server);
    let _: i64 = other.ask(&[b"RPUSH", b"list", b"x"]);
    for error in [
        redis.kind(b"list").unwrap_err(),
        redis.get(b"list").unwrap_err(),
        redis.queue_push(b"list", b"m", score).unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "the server refused: key 0x6c697374 holds a list, which is not a structure of these"
        );
    }
    redis.queue_push(b"k", b"m", score).unwrap();
    let beside: Vec<Vec<u8>> = other.ask(&[b"KEYS", b"{*"]);
    assert_eq!(beside.len(), 1);
    assert_eq!(
        redis.zset_count(&beside[0]).unwrap_err().to_string(),
        "`redis` has no keys of the form that is used beside a queue or a spread hash"
    );
}

#[test]
fn a_failed_command_of_a_list_is_named() {
    let (_server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    redis.put(b"plain", b"").unwrap();
    let commands = [
        Command::SetAdd { key: b"s", member: b"1" },
        Command::SetAdd { key: b"plain", member: b"2" },
        Command::SetAdd { key: b"s", member: b"3" },
    ];
    let error = redis.apply(&commands, Durability::Buffer).unwrap_err();
    let StructureError::Partly { at: 1, source } = &error else { panic!("{error:?}") };
    assert_eq!(source.to_string(), "key 0x706c61696e is a plain value, and was used as a set");
    assert!(redis.set_contains(b"s", b"1").unwrap());
}

#[test]
fn a_prefix_with_any_byte_is_no_pattern() {
    let (_server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    for byte in 0..=255_u8 {
        redis.put(&[b'p', byte, b'x'], &[byte]).unwrap();
    }
    for byte in 0..=255_u8 {
        let found: Result<Vec<_>, _> = redis.scan(&[b'p', byte]).unwrap().collect();
        assert_eq!(found.unwrap(), [(vec![b'p', byte, b'x'], vec![byte])]);
    }
    assert_eq!(redis.keys(Kind::Value, b"").unwrap().count(), 256);
}

#[test]
fn large_values_and_many_rows_come_page_by_page() {
    let (_server, settings) = crate::server();
    let redis = Redis::open(settings.timeout(Duration::from_secs(30))).unwrap();
    let large = vec![0xa5; 16 << 20];
    redis.put(b"large", &large).unwrap();
    assert!(!redis.put(b"large", &large).unwrap());
    assert!(redis.get(b"large").unwrap() == Some(large.clone()));
    redis.put(b"large2", b"small").unwrap();
    let found: Vec<usize> = redis.scan(b"large").unwrap().map(|row| row.unwrap().1.len()).collect();
    assert_eq!(found.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from([5, 16 << 20]));
    redis.hash_set(b"h", &large, &large).unwrap();
    assert!(redis.hash_get(b"h", &large).unwrap() == Some(large));

    let names: Vec<[u8; 4]> = (0..50_000_u32).map(u32::to_be_bytes).collect();
    for chunk in names.chunks(5_000) {
        let mut commands = Vec::new();
        for name in chunk {
            commands.push(Command::SetAdd { key: b"s", member: name });
            commands.push(Command::HashSet { key: b"many", field: name, value: name });
        }
        redis.apply(&commands, Durability::Buffer).unwrap();
    }
    let members: Result<BTreeSet<Vec<u8>>, _> = redis.set_members(b"s").unwrap().collect();
    assert!(members.unwrap().into_iter().eq(names.iter().map(|name| name.to_vec())));
    let fields: Result<BTreeSet<_>, _> = redis.hash_all(b"many").unwrap().collect();
    assert!(fields.unwrap().into_iter().eq(names.iter().map(|name| (name.to_vec(), name.to_vec()))));
    let few: Vec<&[u8]> = names.iter().take(2_500).map(<[u8; 4]>::as_slice).collect();
    assert_eq!(redis.set_contains_many(b"s", &few).unwrap(), vec![true; 2_500]);
}

#[test]
fn rows_go_on_from_behind_a_member_that_is_gone() {
    let (_server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    // Three scores only, so that most rows are told apart by their bytes.
    let mut expected: Vec<Scored> = (0..3_000_u32)
        .map(|at| Scored { member: at.to_be_bytes().to_vec(), score: SetScore::Number(f64::from(at % 3)) })
        .collect();
    let adds =
        expected.iter().map(|row| Command::ZsetAdd { key: b"z", member: &row.member, score: row.score });
    redis.apply(&adds.collect::<Vec<_>>(), Durability::Buffer).unwrap();
    expected.sort_by(|a, b| a.score.order(b.score).then_with(|| a.member.cmp(&b.member)));
    let gone = expected.remove(1_700);
    redis.zset_remove(b"z", &gone.member).unwrap();
    let rows = |direction, after: Option<&Scored>| -> Vec<Scored> {
        let rows = redis.zset_rows(b"z", &ScoreRange::ALL, direction, after).unwrap();
        rows.map(Result::unwrap).collect()
    };
    assert_eq!(rows(Direction::Ascending, None), expected);
    assert_eq!(rows(Direction::Ascending, Some(&gone)), expected[1_700..]);
    let mut before: Vec<Scored> = expected[..1_700].to_vec();
    before.reverse();
    assert_eq!(rows(Direction::Descending, Some(&gone)), before);
    expected.reverse();
    assert_eq!(rows(Direction::Descending, None), expected);
}

#[test]
fn scripts_that_were_flushed_are_loaded_again() {
    let (server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    let mut other = Other::new(&server);
    for round in 0..3_u8 {
        assert!(redis.queue_push(b"q", &[round], SetScore::Number(1.0)).unwrap());
        let _: String = other.ask(&[b"SCRIPT", b"FLUSH"]);
    }
    assert_eq!(redis.queue_peek(b"q", 9).unwrap().len(), 3);
}

#[test]
fn threads_share_few_connections() {
    let (server, settings) = crate::server();
    let redis = Redis::open(settings.connections(2)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8_u8 {
            let redis = &redis;
            scope.spawn(move || {
                for round in 0..200_u8 {
                    assert!(redis.set_add(b"s", &[thread, round]).unwrap());
                }
            });
        }
    });
    assert_eq!(redis.set_count(b"s").unwrap(), 1_600);
    let clients = tell(&server, &["CLIENT", "LIST"]);
    assert_eq!(clients.lines().count(), 3, "{clients}");
}

#[test]
fn a_password_is_asked_for_and_given() {
    let server = Server::start(&["--requirepass", "s3cret"]).unwrap_or_else(|error| panic!("{error}"));
    let address = server.address();
    let redis = Redis::connect(&format!("redis://:s3cret@{address}/3")).unwrap();
    redis.put(b"k", b"v").unwrap();
    let redis = Redis::connect(&format!("redis://default:s3cret@{address}/3")).unwrap();
    assert_eq!(redis.get(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
    let redis = Redis::connect(&format!("redis://:s3cret@{address}")).unwrap();
    assert_eq!(redis.get(b"k").unwrap(), None);
    let refused = |url: String| Redis::connect(&url).unwrap_err().to_string();
    assert_eq!(refused(format!("redis://{address}")), "the server refused: NOAUTH Authentication required.");
    assert_eq!(
        refused(format!("redis://:wrong@{address}")),
        "the server refused: the password: WRONGPASS invalid username-password pair or user is disabled."
    );
    assert_eq!(
        refused(format!("redis://:s3cret@{address}/99")),
        "the server refused: the database: ERR DB index is out of range"
    );
}

#[test]
fn a_server_with_tls_is_known_by_its_certificate() {
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let named = |alternative: Vec<String>, name: &str| {
        let mut parameters = rcgen::CertificateParams::new(alternative).unwrap();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
        parameters
    };
    let mut authority = named(Vec::new(), "authority");
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = rcgen::Issuer::from_params(&authority, &authority_key);
    let signed = |name: &str| {
        let key = rcgen::KeyPair::generate().unwrap();
        let parameters = named(vec![name.to_owned()], name);
        (parameters.signed_by(&key, &issuer).unwrap().pem(), key.serialize_pem())
    };
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (certificate, key) = signed("127.0.0.1");
    let (client, client_key) = signed("client");
    let roots = authority_certificate.pem();
    let port = free_port().unwrap();
    let server = Server::start_with(
        port,
        &[
            "--port",
            "0",
            "--tls-port",
            &port.to_string(),
            "--tls-cert-file",
            &file("server.pem", &certificate),
            "--tls-key-file",
            &file("server.key", &key),
            "--tls-ca-cert-file",
            &file("roots.pem", &roots),
        ],
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let settings = RedisSettings::new(&format!("rediss://{}", server.address())).unwrap();
    let known = settings.clone().tls_roots(roots);
    let redis = Redis::open(known.clone().tls_identity(client, client_key)).unwrap();
    let large = vec![7; 1 << 20];
    redis.put(b"k", &large).unwrap();
    assert!(redis.get(b"k").unwrap() == Some(large));
    assert!(redis.queue_push(b"q", b"m", SetScore::Number(1.0)).unwrap());
    // Without the client's certificate, and with another authority for the server's.
    assert!(matches!(Redis::open(known).unwrap_err(), StructureError::Connection { .. }));
    let stranger = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let unknown = settings.tls_roots(stranger.cert.pem());
    assert!(matches!(Redis::open(unknown).unwrap_err(), StructureError::Connection { .. }));
}

/// Searches on a server find what they find in memory.
#[test]
fn a_search_reads_a_server_as_it_reads_memory() {
    let (_server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    let plan = "plan test; space things { hash thing = key: bytes field any = field: bytes -> raw; }";
    let compiled = keyplan_plan::compile("test.keyplan", plan, |_| Err("no imports".into()));
    let memory = Store::create(Memory::new(), &Schema::of(&compiled).unwrap()).unwrap();
    let memory = Embedded::open(Arc::new(memory), "things").unwrap();
    let mut random = Random::new(3);
    let keys: [&[u8]; 3] = [b"z:1", b"z:2", b"z:3"];
    for key in keys {
        for _ in 0..300 {
            let member = [u8::try_from(random.below(256)).unwrap(), u8::try_from(random.below(3)).unwrap()];
            let score = SetScore::Number(f64::from(u32::try_from(random.below(5)).unwrap()));
            assert_eq!(
                redis.zset_add(key, &member, score).unwrap(),
                memory.zset_add(key, &member, score).unwrap()
            );
        }
    }
    for mode in [SearchMode::Union, SearchMode::Intersection, SearchMode::Difference] {
        for direction in [Direction::Ascending, Direction::Descending] {
            let scores = ScoreRange::between(1.0, 3.0);
            let search = Search { mode, direction, scores, limit: Some(70), ..Search::of(&keys) };
            let mut token: Option<Vec<u8>> = None;
            loop {
                let page = search.run(&redis, token.as_deref()).unwrap();
                assert_eq!(page, search.run(&memory, token.as_deref()).unwrap());
                match page.next {
                    Some(next) => token = Some(next.into_bytes()),
                    None => break,
                }
            }
        }
    }
}

/// Settings for a plan in which `h:sats` is spread.
pub(crate) fn spread(settings: RedisSettings, buckets: u16) -> RedisSettings {
    let text = format!(
        "plan test;
        space store {{
            module hashes = \"h:\" {{
                hash satoshis = \"sats\" field outpoint = txid: bytes(32) vout: u32 -> satoshis: u64 spread {buckets};
                hash spends = \"spnd\" field outpoint = txid: bytes(32) vout: u32 -> txid: bytes(32);
            }}
        }}"
    );
    let compiled = keyplan_plan::compile("test.keyplan", &text, |_| Err("no imports".into()));
    settings.plan(&compiled.plan.unwrap())
}

/// A hash that is spread lies on every master, and reads as one.
pub(crate) fn spread_over_slots(cluster: &Cluster) {
    let settings = spread(RedisSettings::new(&cluster.url()).unwrap(), 64);
    let redis = Redis::open(settings).unwrap();
    let fields: Vec<[u8; 4]> = (0..2_000_u32).map(u32::to_be_bytes).collect();
    let sets = fields.iter().map(|field| Command::HashSet { key: b"h:sats", field, value: field });
    redis.apply(&sets.collect::<Vec<_>>(), Durability::Buffer).unwrap();
    assert_eq!(redis.hash_count(b"h:sats").unwrap(), 2_000);
    assert_eq!(redis.kind(b"h:sats").unwrap(), Some(Kind::Hash));
    let keys: Result<Vec<_>, _> = redis.keys(Kind::Hash, b"h:sa").unwrap().collect();
    assert_eq!(keys.unwrap(), [b"h:sats"]);
    let all: Result<BTreeSet<_>, _> = redis.hash_all(b"h:sats").unwrap().collect();
    assert!(all.unwrap().into_iter().eq(fields.iter().map(|field| (field.to_vec(), field.to_vec()))));
    let asked: Vec<&[u8]> = fields.iter().map(<[u8; 4]>::as_slice).collect();
    let found = redis.hash_get_many(b"h:sats", &asked).unwrap();
    assert!(found.into_iter().eq(fields.iter().map(|field| Some(field.to_vec()))));
    assert!(redis.hash_delete(b"h:sats", &fields[0]).unwrap());
    assert_eq!(redis.hash_get(b"h:sats", &fields[0]).unwrap(), None);
    for server in &cluster.servers[..3] {
        let buckets: u64 = tell(server, &["DBSIZE"]).parse().unwrap_or_default();
        assert!(buckets > 10, "{buckets} buckets on {}", server.address());
    }
    assert_eq!(
        redis.set_add(b"h:sats", b"m").unwrap_err().to_string(),
        "key 0x683a73617473 is a hash, and was used as a set"
    );
}

/// A slot that moves from one master to another is found before, while and after it does.
pub(crate) fn slots_that_move(cluster: &Cluster) {
    let redis = Redis::connect(&cluster.url()).unwrap();
    let slot = tell(&cluster.servers[0], &["CLUSTER", "KEYSLOT", "moved"]);
    let at = slot.parse::<usize>().unwrap() / 5461;
    let (source, target) = (&cluster.servers[at], &cluster.servers[(at + 1) % 3]);
    let ids = [source, target].map(|server| tell(server, &["CLUSTER", "MYID"]));
    let score = SetScore::Number(1.0);
    redis.put(b"moved", b"1").unwrap();
    redis.queue_push(b"{moved}queue", b"m", score).unwrap();
    tell(target, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &ids[0]]);
    tell(source, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &ids[1]]);
    // What is at the source is still there, and what is new is at the target already.
    assert_eq!(redis.get(b"moved").unwrap().as_deref(), Some(b"1".as_slice()));
    assert!(redis.put(b"{moved}new", b"2").unwrap());
    let commands = [
        Command::Put { key: b"{moved}new", value: b"3" },
        Command::Put { key: b"moved", value: b"4" },
        Command::Put { key: b"elsewhere", value: b"5" },
    ];
    redis.apply(&commands, Durability::Buffer).unwrap();
    let (host, port) = ("127.0.0.1", target.port.to_string());
    let mut other = Other::new(source);
    loop {
        let left: Vec<Vec<u8>> = other.ask(&[b"CLUSTER", b"GETKEYSINSLOT", slot.as_bytes(), b"100"]);
        let Some(key) = left.first() else { break };
        let _: String = other.ask(&[b"MIGRATE", host.as_bytes(), port.as_bytes(), key, b"0", b"5000"]);
    }
    assert_eq!(redis.get(b"moved").unwrap().as_deref(), Some(b"4".as_slice()));
    for server in [target, source] {
        tell(server, &["CLUSTER", "SETSLOT", &slot, "NODE", &ids[1]]);
    }
    assert_eq!(redis.get(b"{moved}new").unwrap().as_deref(), Some(b"3".as_slice()));
    let claimed = redis.queue_claim(b"{moved}queue", Claim::new(9, Duration::from_secs(9))).unwrap();
    assert!(redis.queue_acknowledge(b"{moved}queue", b"m", claimed[0].receipt).unwrap());
}

/// Commands that are done together lie in one slot, or are refused by both keys.
pub(crate) fn keys_of_several_slots(cluster: &Cluster) {
    let redis = Redis::connect(&cluster.url()).unwrap();
    let put = |key| Command::Put { key, value: b"v" };
    let refused = redis.apply_if(&[], &[put(b"one"), put(b"two")], Durability::Buffer).unwrap_err();
    let words = "keys 0x6f6e65 and 0x74776f lie in different slots of the cluster, and commands that are done together in one: write \
                 the same `{tag}` in both";
    assert_eq!(refused.to_string(), words);
    let read = Expectation::Value { key: b"one", value: None };
    let refused = redis.apply_if(&[read], &[put(b"two")], Durability::Buffer).unwrap_err();
    assert!(matches!(refused, StructureError::Slots { .. }), "{refused}");
    assert_eq!(redis.get_many(&[b"one", b"two"]).unwrap(), [None, None]);
    let pushed = Command::QueuePush { key: b"{x}q", member: b"m", score: SetScore::Number(1.0) };
    redis.apply_if(&[], &[put(b"{x}a"), put(b"{x}b"), pushed], Durability::Buffer).unwrap();
    assert_eq!(redis.queue_size(b"{x}q").unwrap().waiting, 1);
}

#[test]
fn what_a_server_would_find_wrong_too_late_is_refused_before() {
    let (_server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    let first = Command::Put { key: b"first", value: b"v" };
    let endless = Command::ZsetIncrement { key: b"z", member: b"m", by: f64::INFINITY };
    let refused = redis.apply_if(&[], &[first, endless], Durability::Buffer).unwrap_err();
    assert_eq!(refused.to_string(), "`redis` has no endless increments in commands that are done together");
    let other = Command::SetAdd { key: b"first", member: b"m" };
    let refused = redis.apply_if(&[], &[first, other], Durability::Buffer).unwrap_err();
    assert!(matches!(refused, StructureError::WrongKind { .. }), "{refused}");
    assert_eq!(redis.get(b"first").unwrap(), None);
}
