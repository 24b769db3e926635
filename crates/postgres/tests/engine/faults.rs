//! Connections that are cut, servers that end, replicas that take over.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use keyplan_postgres::{Postgres, PostgresSettings};
use keyplan_store::engine::{Batch, Durability, Engine as _, Error, Snapshot as _, Space, SpaceId};
use keyplan_store::{Store, StoreError};

use crate::chain::{State, apply, commit, cursor, read, schema};
use crate::partition::Network;
use crate::proxy::{Cut, Proxy};
use crate::server::{Server, shared};
use crate::support::{Random, rounds};

fn through(proxy: &Proxy, schema: &str) -> PostgresSettings {
    let url = format!("postgres://keyplan@127.0.0.1:{}/postgres", proxy.port);
    PostgresSettings::new(&url).unwrap().schema(schema).patience(Duration::from_secs(30))
}

fn put(engine: &Postgres, space: SpaceId, number: u64) -> Result<(), Error> {
    let mut batch = Batch::new();
    batch.put(space, b"cursor".as_slice(), number.to_be_bytes().as_slice());
    batch.put(space, number.to_be_bytes().as_slice(), b"row".as_slice());
    engine.commit(batch, Durability::SyncAll)
}

fn at(engine: &Postgres, space: SpaceId) -> u64 {
    let found = engine.snapshot().unwrap().get(space, b"cursor").unwrap();
    found.map_or(0, |value| u64::from_be_bytes(value.as_ref().try_into().unwrap()))
}

#[test]
fn a_commit_whose_answer_was_lost_is_known_to_have_happened() {
    let proxy = Proxy::to(shared().port());
    let mut engine = Postgres::open(through(&proxy, "answers")).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    put(&engine, space, 1).unwrap();
    let mut done = 0;
    for number in (2..12).step_by(2) {
        // A connection that has been used before: nothing but the commit itself is said on it.
        put(&engine, space, number).unwrap();
        proxy.cut(Cut::Answer);
        match put(&engine, space, number + 1) {
            Ok(()) => {
                done += 1;
                assert_eq!(at(&engine, space), number + 1);
            }
            // A server that is slow may lose its connection before it has come to the commit, which is then told.
            Err(Error::Unavailable { .. }) => assert_eq!(at(&engine, space), number),
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(done > 0);
}

#[test]
fn a_commit_that_did_not_arrive_is_known_not_to_have_happened() {
    let proxy = Proxy::to(shared().port());
    let mut engine = Postgres::open(through(&proxy, "requests")).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    put(&engine, space, 1).unwrap();
    for number in 2..8 {
        proxy.cut(Cut::Request);
        let refused = put(&engine, space, number).unwrap_err();
        assert!(matches!(refused, Error::Unavailable { .. }) && refused.is_retryable(), "{refused:?}");
        assert_eq!(at(&engine, space), number - 1);
        put(&engine, space, number).unwrap();
    }
}

#[test]
fn where_no_server_can_be_asked_the_outcome_is_unknown_and_the_cursor_tells() {
    let proxy = Proxy::to(shared().port());
    let settings = through(&proxy, "unknown").patience(Duration::from_millis(300));
    let mut engine = Postgres::open(settings).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    put(&engine, space, 1).unwrap();
    proxy.cut(Cut::AnswerForEver);
    let unknown = put(&engine, space, 2).unwrap_err();
    assert!(matches!(unknown, Error::CommitUnknown { .. }) && unknown.is_fatal(), "{unknown:?}");
    // The handle does not go on with a state that it does not know, also when the server is back.
    proxy.cut(Cut::Nothing);
    assert!(matches!(put(&engine, space, 3), Err(Error::Poisoned { .. })));
    let engine = Postgres::open(through(&proxy, "unknown")).unwrap();
    let space = engine.space("s").unwrap();
    // Whether the batch had come that far: the cursor in it says so.
    let found = at(&engine, space);
    assert!(matches!(found, 1 | 2), "{found}");
    assert_eq!(engine.snapshot().unwrap().contains(space, &2_u64.to_be_bytes()).unwrap(), found == 2);
    put(&engine, space, 3).unwrap();
}

#[test]
fn a_server_that_cannot_be_reached_is_named_without_its_password() {
    let url = "postgres://someone:secret@127.0.0.1:9/db";
    let settings = PostgresSettings::new(url).unwrap().patience(Duration::from_millis(50));
    let refused = Postgres::open(settings).unwrap_err();
    let mut said = format!("{refused} {refused:?}");
    let mut cause: Option<&dyn std::error::Error> = Some(&refused);
    while let Some(error) = cause {
        said += &error.to_string();
        cause = error.source();
    }
    assert!(matches!(refused, Error::Unavailable { .. }) && !said.contains("secret"), "{said}");
}

fn over(network: &Network, schema: &str) -> PostgresSettings {
    let url = format!("postgres://keyplan@127.0.0.1:{}/postgres", network.port);
    PostgresSettings::new(&url).unwrap().schema(schema)
}

/// What was sent before the network broke arrives when it is whole again: after somebody else has gone on, it must do nothing.
#[test]
fn a_batch_that_was_on_its_way_when_the_network_broke_does_not_happen_after_others() {
    let network = Network::to(shared().port());
    let limit = Duration::from_secs(5);
    let mut engine = Postgres::open(over(&network, "divided").limit(limit).patience(limit)).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    put(&engine, space, 1).unwrap();
    network.divide();
    let unknown = put(&engine, space, 2).unwrap_err();
    assert!(matches!(unknown, Error::CommitUnknown { .. }) && unknown.is_fatal(), "{unknown:?}");

    let direct = || PostgresSettings::new(&shared().url()).unwrap().schema("divided");
    let other = Postgres::open(direct()).unwrap();
    let theirs = other.space("s").unwrap();
    assert_eq!(at(&other, theirs), 1);
    put(&other, theirs, 3).unwrap();
    drop(engine);
    network.heal();
    network.until_silent();
    assert_eq!(at(&other, theirs), 3);
    assert!(!other.snapshot().unwrap().contains(theirs, &2_u64.to_be_bytes()).unwrap());
    put(&other, theirs, 4).unwrap();
}

/// A network that breaks and is whole again, over and over, on both sides of a server that takes everybody: what was acknowledged
/// is there, batches are whole, and who can reach the server goes on.
#[test]
fn a_network_that_is_divided_for_a_while_costs_nothing_but_time() {
    let network = Network::to(shared().port());
    let patient = |settings: PostgresSettings| settings.patience(Duration::from_mins(1));
    let store =
        Store::open_or_create(Postgres::open(patient(over(&network, "healed"))).unwrap(), &schema()).unwrap();
    let direct = Postgres::open(patient(PostgresSettings::new(&shared().url()).unwrap().schema("healed")));
    let direct = direct.unwrap();
    let mut random = Random::new(7);
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                match commit(&store, number + 1, Durability::SyncData) {
                    Ok(()) => {
                        number += 1;
                        acknowledged.store(number, Ordering::Release);
                    }
                    // Nothing was written, which is what the error says.
                    Err(StoreError::Engine(error)) if error.is_retryable() => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
        });
        for _ in 0..rounds(5) {
            let now = acknowledged.load(Ordering::Acquire);
            while acknowledged.load(Ordering::Acquire) < now + 3 && !writer.is_finished() {
                std::thread::sleep(Duration::from_millis(2));
            }
            network.divide();
            std::thread::sleep(Duration::from_millis(50 + random.below(300)));
            // The other side reads all the time.
            direct.snapshot().unwrap();
            network.heal();
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    });
    let found = read(&store).unwrap();
    let reached = acknowledged.load(Ordering::Acquire);
    assert_eq!(cursor(&found), reached);
    let mut state = State::default();
    (1..=reached).for_each(|number| apply(&mut state, number));
    assert!(found == state, "the rows are not those of batch {reached}");
    println!("divided {} times in {reached} batches", rounds(5));
}

/// A server that speaks only TLS: it is let in whose authority is known, for the host that its certificate names.
#[test]
fn a_server_is_spoken_to_in_tls_if_its_certificate_is_one_of_those_that_are_trusted() {
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let roots = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = rcgen::Issuer::from_params(&authority, &authority_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = certificate.signed_by(&key, &issuer).unwrap().pem();
    let stranger = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap().cert.pem();

    let mut server = Server::start(&[]);
    server.run_with_tls(&certificate, &key.serialize_pem());
    let at = |host: &str, mode: &str| {
        let url = format!("postgres://keyplan:hush@{host}:{}/postgres?sslmode={mode}", server.port());
        PostgresSettings::new(&url).unwrap().patience(Duration::from_mins(1))
    };
    let mut engine = Postgres::open(at("127.0.0.1", "require").tls_roots(roots.clone())).unwrap();
    let space = engine.create_space(&Space::map("s")).unwrap();
    let mut batch = Batch::new();
    batch.put(space, b"k".as_slice(), b"v".as_slice());
    engine.commit(batch, Durability::SyncAll).unwrap();
    assert!(engine.snapshot().unwrap().contains(space, b"k").unwrap());

    let refused = [
        ("an authority that is not the server's", at("127.0.0.1", "require").tls_roots(stranger)),
        ("the authorities of the system", at("127.0.0.1", "require")),
        ("a host that the certificate does not name", at("localhost", "require").tls_roots(roots)),
        ("no TLS", at("127.0.0.1", "disable")),
    ];
    for (what, settings) in refused {
        // What is refused is tried again until patience ends.
        let error = Postgres::open(settings.patience(Duration::from_secs(2))).expect_err(what);
        let said = format!("{error:?} {error}");
        assert!(!said.contains("hush"), "{what}: {said}");
    }
}

/// A server that ends in the middle of commits, again and again: what it acknowledged is there, and batches are whole.
#[test]
fn a_server_that_is_restarted_loses_nothing_that_it_acknowledged() {
    let mut server = Server::start(&[]);
    let settings = || PostgresSettings::new(&server.url()).unwrap().patience(Duration::from_mins(1));
    let store = Store::open_or_create(Postgres::open(settings()).unwrap(), &schema()).unwrap();
    let mut random = Random::new(6);
    let (mut state, mut reached, mut unknown) = (State::default(), 0, 0);
    for round in 0..rounds(10) {
        let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(reached));
        let pause = Duration::from_millis(20 + random.below(150));
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut number = reached;
                while !stop.load(Ordering::Relaxed) {
                    match commit(&store, number + 1, Durability::SyncData) {
                        Ok(()) => {
                            number += 1;
                            acknowledged.store(number, Ordering::Release);
                        }
                        // Nothing was written, which is what the error says.
                        Err(StoreError::Engine(error)) if error.is_retryable() => unknown += 1,
                        Err(error) => panic!("{error:?}"),
                    }
                }
                number
            });
            std::thread::sleep(pause);
            server.kill();
            server.run();
            std::thread::sleep(pause);
            stop.store(true, Ordering::Relaxed);
            writer.join().unwrap();
        });
        let found = read(&store).unwrap();
        let at = cursor(&found);
        assert_eq!(at, acknowledged.load(Ordering::Acquire), "round {round}");
        for number in reached + 1..=at {
            apply(&mut state, number);
        }
        reached = at;
        assert!(found == state, "round {round}: the rows are not those of batch {at}");
    }
    println!("restarted {} times in {reached} batches; {unknown} commits were told as not done", rounds(10));
}

#[test]
fn a_replica_that_takes_over_has_everything_that_was_acknowledged() {
    let mut primary = Server::start(&["synchronous_standby_names = '*'", "synchronous_commit = local"]);
    let replica = primary.replica(&["synchronous_standby_names = ''"]);
    let url = format!(
        "postgres://keyplan@127.0.0.1:{},127.0.0.1:{}/postgres?options=-csynchronous_commit%3Dremote_apply",
        primary.port(),
        replica.port()
    );
    let settings = PostgresSettings::new(&url).unwrap().patience(Duration::from_mins(1));
    let settings = settings.read_url(&replica.url()).unwrap();
    let store = Store::open_or_create(Postgres::open(settings).unwrap(), &schema()).unwrap();
    let mut state = State::default();
    for number in 1..=20 {
        commit(&store, number, Durability::SyncAll).unwrap();
        apply(&mut state, number);
        // Read from the replica if it is as far, else from the primary: in either case what was just written.
        assert_eq!(cursor(&read(&store).unwrap()), number);
    }
    let reader = Postgres::open_read_only(PostgresSettings::new(&replica.url()).unwrap()).unwrap();
    assert!(matches!(reader.commit(Batch::new(), Durability::SyncAll), Err(Error::Closed)));
    let reader = Store::open_recorded(reader, keyplan_store::Access::ReadOnly).unwrap();
    assert!(read(&reader).unwrap() == state);
    primary.kill();
    replica.promote();
    for number in 21..=30 {
        loop {
            match commit(&store, number, Durability::SyncAll) {
                Ok(()) => break,
                Err(StoreError::Engine(error)) if error.is_retryable() => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        apply(&mut state, number);
    }
    assert!(read(&store).unwrap() == state);
}
