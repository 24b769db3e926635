//! The 1Sat store.
#![cfg(test)]

mod suite;

use std::sync::Arc;

use keyplan_chains::onesat::{
    Event, Layout, OneSat, OneSatError, PlaceQuery, QueueName, SortedSet, document,
};
use keyplan_chains::onesat_v2;
use keyplan_store::engine::{Fjall, FjallSettings, Lmdb, LmdbSettings, Memory};
use keyplan_store::structure::{Embedded, Kind, SetScore, StructureRead as _, Structures as _};
use keyplan_store::{Schema, Store};
use suite::{OWNER, everything_is_read_back, full, outpoint, token};

/// A store with the keys of the document, in memory.
fn as_documented() -> OneSat<Embedded<Memory>> {
    let compiled =
        keyplan::plan::compile("onesat.keyplan", document::PLAN.text(), |_| Err("no imports".into()));
    let store = Store::create(Memory::new(), &Schema::of(&compiled).unwrap()).unwrap();
    OneSat::on(Embedded::open(Arc::new(store), document::store::SPACE).unwrap(), Layout::Document)
}

#[test]
fn everything_is_read_back_under_either_layout() {
    everything_is_read_back(&OneSat::in_memory().unwrap());
    everything_is_read_back(&as_documented());
}

#[test]
fn a_transaction_taken_back_leaves_the_store_as_it_was() {
    suite::a_transaction_taken_back_leaves_the_store_as_it_was(&OneSat::in_memory().unwrap());
}

#[test]
fn a_transaction_that_was_confirmed_is_taken_back_whole() {
    let directory = tempfile::tempdir().unwrap();
    suite::a_transaction_that_was_confirmed_is_taken_back_whole(|| {
        OneSat::with_engine(Fjall::open(directory.path(), FjallSettings::default()).unwrap()).unwrap()
    });
}

#[test]
fn a_chain_of_transactions_is_taken_back_step_by_step() {
    suite::a_chain_of_transactions_is_taken_back_step_by_step(&OneSat::in_memory().unwrap());
}

#[test]
fn a_search_has_ends_and_a_direction() {
    suite::a_search_has_ends_and_a_direction(&OneSat::in_memory().unwrap());
}

#[test]
fn jobs_are_held_by_one_worker_and_come_back() {
    for store in [OneSat::in_memory().unwrap(), as_documented()] {
        suite::jobs_are_held_by_one_worker_and_come_back(&store);
    }
}

#[test]
fn tokens_are_listed_and_progress_is_kept() {
    for store in [OneSat::in_memory().unwrap(), as_documented()] {
        suite::tokens_are_listed_and_progress_is_kept(&store);
    }
}

#[test]
fn names_that_run_into_others_are_refused_under_the_layout_of_the_document() {
    let store = as_documented();
    let all = PlaceQuery::default();
    let set = |set| store.range(set, &all, None).unwrap_err().to_string();
    assert_eq!(
        set(SortedSet::Event("own:x:spnd")),
        r#"event(event="own:x:spnd") has the same key as event_spent(event="own:x")"#
    );
    assert_eq!(
        set(SortedSet::EventSpent("tp:foo")),
        r#"event(event="tp:foo") has the same key as topic_outputs(topic="foo")"#
    );
    assert_eq!(
        set(SortedSet::Event("tp:foo:tx")),
        r#"event(event="tp:foo:tx") has the same key as topic_txs(topic="foo")"#
    );
    assert_eq!(
        set(SortedSet::Log("merkle:t:1")),
        r#"log(log_name="merkle:t:1") has the same key as merkle_state(topic="t", state=1)"#
    );
    assert_eq!(
        set(SortedSet::TopicOutputs("foo:tx")),
        r#"topic_outputs(topic="foo:tx") has the same key as topic_txs(topic="foo")"#
    );
    let own = format!("own:{OWNER}");
    assert_eq!(
        set(SortedSet::Log(&own)),
        format!(r#"log(log_name="{own}") has the same key as own(address="{OWNER}")"#)
    );
    let said = store.queue_size(QueueName::Subscription("tok:x")).unwrap_err().to_string();
    assert_eq!(said, r#"work_queue(queue_name="tok:x") has the same key as token_queue(token_id="x")"#);
    let said = store.set_subscription_height(OWNER, 1).unwrap_err().to_string();
    assert!(said.contains(" has the same key as "), "{said}");
    let said = store.set_peer_seen("a:b", "c", 1.0).unwrap_err().to_string();
    assert!(said.contains(r#"topic="a:b", host="c""#) && said.contains(r#"topic="a", host="b:c""#), "{said}");

    // The same names are nobody else's under the repaired layout.
    let store = OneSat::in_memory().unwrap();
    for name in ["own:x:spnd", "tp:foo", "tp:foo:tx", "merkle:t:1"] {
        assert_eq!(store.count(SortedSet::Event(name)).unwrap(), 0);
        assert_eq!(store.count(SortedSet::Log(name)).unwrap(), 0);
    }
    store.set_subscription_height(OWNER, 1).unwrap();
    assert_eq!(store.owner_height(OWNER).unwrap(), None);
    store.set_peer_seen("a:b", "c", 1.5).unwrap();
    assert_eq!(store.peer_seen("a", "b:c").unwrap(), None);
}

#[test]
fn the_keys_under_the_layout_of_the_document_are_those_of_the_document() {
    let store = as_documented();
    store.apply(&full(&store)).unwrap();
    store.set_subscription_height("sub", 7).unwrap();
    let structures = store.structures();
    let keys = |kind| -> Vec<String> {
        let keys = structures.keys(kind, b"").unwrap();
        keys.map(|key| key.unwrap().escape_ascii().to_string()).collect()
    };
    let txid = "ab".repeat(32);
    let wire = "\\x01".repeat(32);
    assert_eq!(
        keys(Kind::Zset),
        [
            format!("z:list:{OWNER}:{txid}i0"),
            "z:merkle:tm_bsv21:2".to_owned(),
            format!("z:own:{OWNER}"),
            "z:tp:tm_bsv21".to_owned(),
            "z:tp:tm_bsv21:tx".to_owned(),
            "z:tx:pending".to_owned(),
        ]
    );
    assert_eq!(keys(Kind::Queue), ["q:junglebus".to_owned(), format!("q:tok:{txid}i0")]);
    let output = |vout| format!("h:{wire}\\x00\\x00\\x00\\x0{vout}");
    assert_eq!(keys(Kind::Hash), [output(0), output(1), "h:prog".to_owned(), "h:sats".to_owned()]);
    assert_eq!(structures.hash_get(b"h:prog", b"sub").unwrap(), Some(vec![0, 0, 0, 7]));
    let fields: Vec<String> = structures
        .hash_all(&[&b"h:"[..], &[1; 32], &[0; 4]].concat())
        .unwrap()
        .map(|row| String::from_utf8(row.unwrap().0).unwrap())
        .collect();
    assert_eq!(fields, ["dp:tm_bsv21", "dt:bsv21", "ev", "in:tm_bsv21", "ms"]);
    let at = structures.zset_score(b"z:tx:pending", &[1; 32]).unwrap();
    assert_eq!(at, Some(SetScore::Number(850_000.000_000_012)));
    assert!(matches!(store.rollback(&[1; 32]), Err(OneSatError::NoUndo)));
}

#[test]
fn both_layouts_write_fields_and_members_alike() {
    use document::store::hashes as theirs;
    use onesat_v2::store::hashes as ours;
    assert_eq!(theirs::OutHashEventsField.encode(), ours::OutHashEventsField.encode());
    assert_eq!(theirs::OutHashMerkleField.encode(), ours::OutHashMerkleField.encode());
    let (height, idx) = (850_000, u64::MAX - 1);
    assert_eq!(
        theirs::OutHashMerkleValue { height, idx }.encode(),
        ours::OutHashMerkleValue { height, idx }.encode()
    );
    assert_eq!(
        theirs::OutHashDataField { tag: "t" }.to_vec().unwrap(),
        ours::OutHashDataField { tag: "t" }.to_vec().unwrap()
    );
    assert_eq!(
        theirs::OutHashDepsField { topic: "t" }.to_vec().unwrap(),
        ours::OutHashDepsField { topic: "t" }.to_vec().unwrap()
    );
    assert_eq!(
        theirs::OutHashInputsField { topic: "t" }.to_vec().unwrap(),
        ours::OutHashInputsField { topic: "t" }.to_vec().unwrap()
    );
    let (txid_le, vout) = ([3; 32], 4);
    assert_eq!(
        theirs::SatoshisOutpointField { txid_le, vout }.encode(),
        ours::SatoshisOutpointField { txid_le, vout }.encode()
    );
    assert_eq!(
        theirs::SatoshisOutpointField { txid_le, vout }.encode(),
        onesat_v2::Outpoint { txid_le, vout }.encode()
    );
}

#[test]
fn a_key_that_holds_something_else_is_refused_by_the_name_of_its_family() {
    let store = as_documented();
    store.structures().set_add(b"h:sats", b"member").unwrap();
    let error = store.satoshis(&[outpoint(1, 0)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a key of `store.hashes.satoshis` holds something else: key 0x683a73617473 is a set, and was used as a hash"
    );
}

#[test]
fn every_pattern_of_an_event_is_made_and_read() {
    let id = token(7);
    let events = [
        (Event::Owner { address: OWNER }, format!("own:{OWNER}")),
        (Event::Transaction { txid: [0xab; 32] }, format!("txid:{}", "ab".repeat(32))),
        (Event::Token { id }, format!("id:{}", "ab".repeat(32))),
        (Event::Symbol { symbol: "PEPE" }, "sym:PEPE".to_owned()),
        (Event::P2pkh { address: OWNER, id }, format!("p2pkh:{OWNER}:{}", "ab".repeat(32))),
        (Event::Cosigner { address: OWNER, id }, format!("cos:{OWNER}:{}", "ab".repeat(32))),
        (Event::Ltm { id }, format!("ltm:{}", "ab".repeat(32))),
        (Event::Pow20 { id }, format!("pow20:{}", "ab".repeat(32))),
        (Event::Listed { id }, format!("list:{}", "ab".repeat(32))),
        (Event::ListedBy { address: OWNER, id }, format!("list:{OWNER}:{}", "ab".repeat(32))),
        (Event::Named("anything"), "anything".to_owned()),
    ];
    for (store, joint) in [(OneSat::in_memory().unwrap(), "_7"), (as_documented(), "i7")] {
        for (event, front) in &events {
            let name = store.event_name(event).unwrap();
            let tail = name.strip_prefix(front.as_str()).unwrap();
            assert!(tail.is_empty() || tail == joint, "{name}");
            assert_eq!(store.parse_event(&name), *event);
        }
    }
    let refused = OneSat::in_memory().unwrap().event_name(&Event::Owner { address: "0OIl" });
    assert!(matches!(refused, Err(OneSatError::Unwritable(_))));
}

/// The whole suite on LMDB, in a database that is opened again for each part of it.
#[test]
fn the_store_on_lmdb_does_what_the_others_do() {
    let directory = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        let engine = Lmdb::open(directory.path().join(name), LmdbSettings::default()).unwrap();
        OneSat::with_engine(engine).unwrap()
    };
    everything_is_read_back(&open("read"));
    suite::a_transaction_taken_back_leaves_the_store_as_it_was(&open("back"));
    suite::a_transaction_that_was_confirmed_is_taken_back_whole(|| open("confirmed"));
    suite::a_chain_of_transactions_is_taken_back_step_by_step(&open("chain"));
    suite::a_search_has_ends_and_a_direction(&open("search"));
    suite::jobs_are_held_by_one_worker_and_come_back(&open("jobs"));
    suite::tokens_are_listed_and_progress_is_kept(&open("tokens"));
}

#[cfg(feature = "redis")]
#[path = "../../../store/tests/redis/server.rs"]
mod server;

/// With the keys that 1Sat's own program uses, its queues among them.
#[cfg(feature = "redis")]
#[test]
fn everything_is_read_back_from_a_server() {
    use keyplan_store::structure::{Redis, RedisSettings};
    let server = server::Server::start(&[]).unwrap_or_else(|error| panic!("{error}"));
    let settings = RedisSettings::new(&format!("redis://{}", server.address())).unwrap();
    let redis = Redis::open(settings.shared_queues("q:")).unwrap();
    everything_is_read_back(&OneSat::on(redis, Layout::Document));
}
