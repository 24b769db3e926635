//! What a 1Sat store does on any engine.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use keyplan::codec::Score;
use keyplan_chains::onesat::{
    Event, FoundPage, Held, IndexedTx, Job, Member, MerklePosition, NewOutput, OneSat, OneSatError, Outpoint,
    Output, PlaceQuery, QueueName, Queued, SortedSet, TokenId, TokenList, TopicOutput,
};
use keyplan_store::Direction;
use keyplan_store::engine::{Engine, KeyRange};
use keyplan_store::structure::{Claim, Embedded, Now, QueueSize, SearchMode, SetScore, Structures};

pub(crate) const OWNER: &str = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";

pub(crate) fn token(vout: u32) -> TokenId {
    TokenId { txid: [0xab; 32], vout }
}

pub(crate) fn outpoint(txid: u8, vout: u32) -> Outpoint {
    Outpoint { txid: [txid; 32], vout }
}

pub(crate) const fn confirmed(height: u32, index: u64) -> Score {
    Score::Confirmed { height, index }
}

/// Everything that is in a store.
pub(crate) fn rows<E: Engine>(store: &OneSat<Embedded<E>>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let structures = store.structures();
    let snapshot = structures.store().snapshot().unwrap();
    let rows = snapshot.range(structures.space(), KeyRange::ALL).unwrap();
    rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

/// A transaction with something of everything.
pub(crate) fn full<S: Structures>(store: &OneSat<S>) -> IndexedTx {
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

pub(crate) fn members<M: Clone>(page: &FoundPage<M>) -> Vec<M> {
    page.found.iter().map(|found| found.member.clone()).collect()
}

pub(crate) fn everything_is_read_back<S: Structures>(store: &OneSat<S>) {
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

pub(crate) fn a_transaction_taken_back_leaves_the_store_as_it_was<E: Engine>(store: &OneSat<Embedded<E>>) {
    let empty = rows(store);
    store.apply(&full(store)).unwrap();
    let one = rows(store);
    let spends = vec![outpoint(1, 1)];
    store.apply(&IndexedTx { spends, ..IndexedTx::new([2; 32], confirmed(850_001, 0)) }).unwrap();
    let refused = store.rollback(&[1; 32]).unwrap_err().to_string();
    assert_eq!(refused, format!("output {}_1 is spent by {}", "01".repeat(32), "02".repeat(32)));
    store.rollback(&[2; 32]).unwrap();
    assert_eq!(rows(store), one);
    store.rollback(&[1; 32]).unwrap();
    assert_eq!(rows(store), empty);
    let refused = store.rollback(&[1; 32]).unwrap_err();
    assert!(matches!(refused, OneSatError::NothingToUndo { txid } if txid == [1; 32]));
}

pub(crate) fn a_transaction_that_was_confirmed_is_taken_back_whole<E: Engine>(
    open: impl Fn() -> OneSat<Embedded<E>>,
) {
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

pub(crate) fn a_chain_of_transactions_is_taken_back_step_by_step<E: Engine>(store: &OneSat<Embedded<E>>) {
    let mut states = vec![rows(store)];
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
        states.push(rows(store));
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
        assert_eq!(rows(store), *states.last().unwrap(), "after taking back {number}");
    }
}

pub(crate) fn a_search_has_ends_and_a_direction<E: Engine>(store: &OneSat<Embedded<E>>) {
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

pub(crate) fn jobs_are_held_by_one_worker_and_come_back<S: Structures>(store: &OneSat<S>) {
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

pub(crate) fn tokens_are_listed_and_progress_is_kept<S: Structures>(store: &OneSat<S>) {
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
