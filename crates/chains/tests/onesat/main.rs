//! The 1Sat store.
#![cfg(test)]

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use keyplan::codec::Score;
use keyplan_chains::onesat::{
    Event, FoundPage, Held, IndexedTx, Job, Layout, Member, MerklePosition, NewOutput, OneSat, OneSatError,
    Outpoint, Output, PlaceQuery, QueueName, Queued, SortedSet, TokenId, TokenList, TopicOutput, document,
};
use keyplan_chains::onesat_v2;
use keyplan_store::engine::{Engine, Fjall, FjallSettings, KeyRange, Memory};
use keyplan_store::structure::{
    Claim, Embedded, Kind, Now, QueueSize, SearchMode, SetScore, StructureRead as _, Structures,
};
use keyplan_store::{Direction, Schema, Store};

const OWNER: &str = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";

fn token(vout: u32) -> TokenId {
    TokenId { txid: [0xab; 32], vout }
}

fn outpoint(txid: u8, vout: u32) -> Outpoint {
    Outpoint { txid: [txid; 32], vout }
}

const fn confirmed(height: u32, index: u64) -> Score {
    Score::Confirmed { height, index }
}

/// A store with the keys of the document, in memory.
fn as_documented() -> OneSat<Embedded<Memory>> {
    let compiled =
        keyplan::plan::compile("onesat.keyplan", document::PLAN.text(), |_| Err("no imports".into()));
    let store = Store::create(Memory::new(), &Schema::of(&compiled).unwrap()).unwrap();
    OneSat::on(Embedded::open(Arc::new(store), document::store::SPACE).unwrap(), Layout::Document)
}

/// Everything that is in a store.
fn rows<E: Engine>(store: &OneSat<Embedded<E>>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let structures = store.structures();
    let snapshot = structures.store().snapshot().unwrap();
    let rows = snapshot.range(structures.space(), KeyRange::ALL).unwrap();
    rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

/// A transaction with something of everything.
fn full<S: Structures>(store: &OneSat<S>) -> IndexedTx {
    let owned = store.event_name(&Event::Owner { address: OWNER }).unwrap();
    let listed = store.event_name(&Event::ListedBy { address: OWNER, id: token(0) }).unwrap();
    let first = NewOutput {
        satoshis: Some(1),
        events: vec![owned.clone(), listed],
        merkle: Some(MerklePosition { height: 850_000, index: 12 }),
        data: BTreeMap::from([("bsv21".to_owned(), serde_json::json!({"amt": "5"}))]),
        topics: vec![TopicOutput {
            topic: "tm_bsv21".to_owned(),
            deps: vec![[8; 32], [9; 32]],
            inputs: vec![outpoint(8, 1)],
            state: Some(2),
        }],
        ..NewOutput::at(0)
    };
    let second = NewOutput { satoshis: Some(5_000), events: vec![owned], ..NewOutput::at(1) };
    IndexedTx {
        outputs: vec![first, second],
        topics: vec!["tm_bsv21".to_owned()],
        logs: vec!["tx:pending".to_owned()],
        queued: vec![
            Queued::Transaction { subscription: "junglebus".to_owned() },
            Queued::Output { token: store.token_text(token(0)).unwrap(), outpoint: outpoint(1, 0) },
        ],
        ..IndexedTx::new([1; 32], confirmed(850_000, 12))
    }
}

fn members<M: Clone>(page: &FoundPage<M>) -> Vec<M> {
    page.found.iter().map(|found| found.member.clone()).collect()
}

fn everything_is_read_back<S: Structures>(store: &OneSat<S>) {
    let tx = full(store);
    store.apply(&tx).unwrap();
    let (first, second) = (outpoint(1, 0), outpoint(1, 1));
    let expected = Output {
        events: tx.outputs[0].events.clone(),
        merkle: tx.outputs[0].merkle,
        data: tx.outputs[0].data.clone(),
        deps: BTreeMap::from([("tm_bsv21".to_owned(), vec![[8; 32], [9; 32]])]),
        inputs: BTreeMap::from([("tm_bsv21".to_owned(), vec![outpoint(8, 1)])]),
    };
    assert_eq!(store.output(first).unwrap(), Some(expected));
    assert_eq!(store.output(outpoint(1, 2)).unwrap(), None);
    assert_eq!(store.outputs_of([1; 32]).unwrap(), [first, second]);
    assert_eq!(store.satoshis(&[second, outpoint(3, 0), first]).unwrap(), [Some(5_000), None, Some(1)]);
    let owned = &tx.outputs[1].events[0];
    assert_eq!(store.parse_event(owned), Event::Owner { address: OWNER });
    let all = PlaceQuery::default();
    assert_eq!(members(&store.search(&[owned], SearchMode::Union, &all, None).unwrap()), [first, second]);
    let topic = SortedSet::TopicOutputs("tm_bsv21");
    assert_eq!(members(&store.range(topic, &all, None).unwrap()), [Member::Output(first)]);
    let log = SortedSet::Log("tx:pending");
    assert_eq!(members(&store.range(log, &all, None).unwrap()), [Member::Transaction([1; 32])]);
    let state = SortedSet::MerkleState { topic: "tm_bsv21", state: 2 };
    assert_eq!(members(&store.range(state, &all, None).unwrap()), [Member::Output(first)]);
    assert_eq!(store.count(state).unwrap(), 1);
    assert!(store.topic_applied("tm_bsv21", [1; 32]).unwrap().is_some());
    assert_eq!(store.topic_applied("tm_bsv21", [2; 32]).unwrap(), None);
    let subscription = QueueName::Subscription("junglebus");
    assert_eq!(store.queue_peek(subscription, 9).unwrap(), [Job::Transaction([1; 32])]);

    // Another transaction spends the second output.
    let spend = IndexedTx { spends: vec![second], ..IndexedTx::new([2; 32], confirmed(850_001, 0)) };
    store.apply(&spend).unwrap();
    assert_eq!(store.spends(&[first, second]).unwrap(), [None, Some([2; 32])]);
    assert_eq!(members(&store.unspent(owned, &all, None).unwrap()), [first]);
    let gone = store.range(SortedSet::EventSpent(owned), &all, None).unwrap();
    assert_eq!(members(&gone), [Member::Output(second)]);
    let again = IndexedTx { txid: [3; 32], ..spend };
    let refused = store.apply(&again).unwrap_err().to_string();
    assert_eq!(refused, format!("output {}_1 is spent by {}", "01".repeat(32), "02".repeat(32)));
}

#[test]
fn everything_is_read_back_under_either_layout() {
    everything_is_read_back(&OneSat::in_memory().unwrap());
    everything_is_read_back(&as_documented());
}

#[test]
fn a_transaction_taken_back_leaves_the_store_as_it_was() {
    let store = OneSat::in_memory().unwrap();
    let empty = rows(&store);
    store.apply(&full(&store)).unwrap();
    let one = rows(&store);
    let spends = vec![outpoint(1, 1)];
    store.apply(&IndexedTx { spends, ..IndexedTx::new([2; 32], confirmed(850_001, 0)) }).unwrap();
    let refused = store.rollback(&[1; 32]).unwrap_err().to_string();
    assert_eq!(refused, format!("output {}_1 is spent by {}", "01".repeat(32), "02".repeat(32)));
    store.rollback(&[2; 32]).unwrap();
    assert_eq!(rows(&store), one);
    store.rollback(&[1; 32]).unwrap();
    assert_eq!(rows(&store), empty);
    let refused = store.rollback(&[1; 32]).unwrap_err();
    assert!(matches!(refused, OneSatError::NothingToUndo { txid } if txid == [1; 32]));
}

#[test]
fn a_transaction_that_was_confirmed_is_taken_back_whole() {
    let directory = tempfile::tempdir().unwrap();
    let open =
        || OneSat::with_engine(Fjall::open(directory.path(), FjallSettings::default()).unwrap()).unwrap();
    let store = open();
    let seen = Score::Unconfirmed { seconds: 1_703_097_600, nanos: 123_456_789 };
    let tx = IndexedTx { at: seen, ..full(&store) };
    store.apply(&tx).unwrap();
    let owned = tx.outputs[1].events[0].clone();
    store.apply(&full(&store)).unwrap();
    let page = store.search(&[&owned], SearchMode::Union, &PlaceQuery::default(), None).unwrap();
    let places: Vec<SetScore> = page.found.iter().map(|found| found.at).collect();
    assert_eq!(places, [SetScore::Place(confirmed(850_000, 12)); 2]);
    drop(store);
    let store = open();
    store.rollback(&[1; 32]).unwrap();
    assert_eq!(rows(&store), []);
    store.apply(&tx).unwrap();
    store.settle(&[[1; 32]]).unwrap();
    assert!(matches!(store.rollback(&[1; 32]), Err(OneSatError::NothingToUndo { .. })));
}

#[test]
fn a_chain_of_transactions_is_taken_back_step_by_step() {
    let store = OneSat::in_memory().unwrap();
    let mut states = vec![rows(&store)];
    let count = 40_u8;
    for number in 1..=count {
        let event = format!("sym:{}", number % 3);
        let outputs = (0..3).map(|vout| NewOutput {
            satoshis: Some(u64::from(number)),
            events: vec![event.clone(), "all".to_owned()],
            ..NewOutput::at(vout)
        });
        let before = number - 1;
        let spends = if before > 0 { vec![outpoint(before, u32::from(number % 3))] } else { vec![] };
        let at = confirmed(u32::from(number) / 4, u64::from(number));
        let tx = IndexedTx { outputs: outputs.collect(), spends, ..IndexedTx::new([number; 32], at) };
        store.apply(&tx).unwrap();
        states.push(rows(&store));
    }
    let query = PlaceQuery { limit: Some(7), ..PlaceQuery::default() };
    let mut found = Vec::new();
    let mut token = None;
    loop {
        let page = store.unspent("all", &query, token.as_deref()).unwrap();
        found.extend(members(&page));
        token = page.next;
        if token.is_none() {
            break;
        }
    }
    assert_eq!(found.len(), usize::from(count) * 3 - usize::from(count - 1));
    for number in (1..=count).rev() {
        states.pop();
        store.rollback(&[number; 32]).unwrap();
        assert_eq!(rows(&store), *states.last().unwrap(), "after taking back {number}");
    }
}

#[test]
fn a_search_has_ends_and_a_direction() {
    let store = OneSat::in_memory().unwrap();
    for number in 0..10_u8 {
        let outputs = vec![NewOutput { events: vec!["e".to_owned()], ..NewOutput::at(0) }];
        let at = confirmed(u32::from(number), 0);
        store.apply(&IndexedTx { outputs, ..IndexedTx::new([number; 32], at) }).unwrap();
    }
    let query = PlaceQuery {
        from: Bound::Included(confirmed(2, 0)),
        to: Bound::Excluded(confirmed(7, 0)),
        direction: Direction::Descending,
        limit: Some(3),
    };
    let page = store.search(&["e"], SearchMode::Union, &query, None).unwrap();
    assert_eq!(members(&page), [6, 5, 4].map(|number| outpoint(number, 0)));
    let page = store.search(&["e"], SearchMode::Union, &query, page.next.as_deref()).unwrap();
    assert_eq!(members(&page), [3, 2].map(|number| outpoint(number, 0)));
    assert_eq!(page.next, None);
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
fn jobs_are_held_by_one_worker_and_come_back() {
    for store in [OneSat::in_memory().unwrap(), as_documented()] {
        let token = store.token_text(token(1)).unwrap();
        let queue = QueueName::Token(&token);
        for number in 0..3 {
            let at = confirmed(10 - u32::from(number), 0);
            assert!(store.push_output(&token, outpoint(number, 0), at).unwrap());
        }
        store.push_transaction("sub", [7; 32], confirmed(1, 1)).unwrap();
        let claim = |now| Claim::new(2, Duration::from_secs(1)).attempts(2).at(Now::Millis(now));
        let held = store.claim(queue, claim(0)).unwrap();
        let jobs = |held: &[Held]| -> Vec<Job> { held.iter().map(|held| held.job).collect() };
        assert_eq!(jobs(&held), [2, 1].map(|number| Job::Output(outpoint(number, 0))));
        assert!(store.acknowledge(queue, &held[0]).unwrap());
        // The other worker went away: its job comes back, and is given up the next time.
        let again = store.claim(queue, claim(1_000)).unwrap();
        assert_eq!(jobs(&again), [1, 0].map(|number| Job::Output(outpoint(number, 0))));
        assert!(!store.acknowledge(queue, &held[1]).unwrap());
        assert!(store.release(queue, &again[1]).unwrap());
        let last = store.claim(queue, claim(2_000)).unwrap();
        assert_eq!(jobs(&last), [Job::Output(outpoint(0, 0))]);
        assert_eq!(store.queue_dead(queue).unwrap(), [(Job::Output(outpoint(1, 0)), 2)]);
        assert!(store.bury(queue, &last[0]).unwrap());
        let size = QueueSize { waiting: 0, claimed: 0, dead: 2 };
        assert_eq!(store.queue_size(queue).unwrap(), size);
        let subscription = QueueName::Subscription("sub");
        assert_eq!(store.queue_peek(subscription, 5).unwrap(), [Job::Transaction([7; 32])]);
    }
}

#[test]
fn tokens_are_listed_and_progress_is_kept() {
    for store in [OneSat::in_memory().unwrap(), as_documented()] {
        assert!(store.list_token(TokenList::Whitelist, token(3)).unwrap());
        assert!(!store.list_token(TokenList::Whitelist, token(3)).unwrap());
        assert!(store.is_listed(TokenList::Whitelist, token(3)).unwrap());
        assert!(!store.is_listed(TokenList::Blacklist, token(3)).unwrap());
        assert_eq!(store.listed(TokenList::Whitelist).unwrap(), [store.token_text(token(3)).unwrap()]);
        assert!(store.unlist_token(TokenList::Whitelist, token(3)).unwrap());
        assert_eq!(store.listed(TokenList::Whitelist).unwrap(), Vec::<String>::new());

        store.set_subscription_height("sub", 850_000).unwrap();
        store.set_owner_height(OWNER, 849_999).unwrap();
        store.set_peer_seen("tm_x", "example.com:8080", 1_703_097_600.25).unwrap();
        assert_eq!(store.subscription_height("sub").unwrap(), Some(850_000));
        assert_eq!(store.subscription_height("other").unwrap(), None);
        assert_eq!(store.owner_height(OWNER).unwrap(), Some(849_999));
        assert_eq!(store.peer_seen("tm_x", "example.com:8080").unwrap(), Some(1_703_097_600.25));
    }
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
