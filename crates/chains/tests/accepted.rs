//! Flaws that the plans accept: the encoder refuses the arguments that would make them bite, and names the other reading.

use keyplan::typed::{Key, List};
use keyplan_chains::onesat::document::store::{hashes, queues, sorted_sets};
use keyplan_chains::{cosmwasm, paw};

/// What the encoder says of a key; a key that is made is read back as itself.
fn said<K: Key>(key: &K) -> Result<(), String> {
    let bytes = key.to_vec().map_err(|error| error.to_string())?;
    assert_eq!(K::decode(&bytes).map(|read| read.to_string()), Ok(key.to_string()));
    Ok(())
}

fn refused(text: &str) -> Result<(), String> {
    Err(text.to_owned())
}

#[test]
fn two_tokens_in_a_row_are_refused_unless_they_part_in_one_place() {
    use paw::state::dex::PoolByTokens;
    let pair = |token_a, token_b| said(&PoolByTokens { token_a, token_b });
    assert_eq!(
        pair("upaw", "usdc"),
        refused(
            "`state.dex.pool_by_tokens`: its bytes are also pool_by_tokens(token_a=\"\", token_b=\"upawusdc\")"
        )
    );
    assert_eq!(pair("", ""), Ok(()));
}

#[test]
fn a_slash_in_either_text_of_a_nonce_is_refused() {
    use paw::state::{compute, dex, oracle};
    let (channel_id, sender) = ("channel-1", "paw1a");
    assert_eq!(said(&compute::IbcPacketNonce { channel_id, sender }), Ok(()));
    assert_eq!(said(&dex::IbcPacketNonce { channel_id, sender }), Ok(()));
    assert_eq!(said(&oracle::IbcPacketNonce { channel_id, sender }), Ok(()));
    assert_eq!(
        said(&compute::IbcPacketNonce { channel_id, sender: "a/b" }),
        refused(
            "`state.compute.ibc_packet_nonce`: its bytes are also ibc_packet_nonce(channel_id=\"channel-1/a\", \
             sender=\"b\")"
        )
    );
    assert_eq!(
        said(&dex::IbcPacketNonce { channel_id: "channel-1/a", sender: "b" }),
        refused(
            "`state.dex.ibc_packet_nonce`: its bytes are also ibc_packet_nonce(channel_id=\"channel-1\", \
             sender=\"a/b\")"
        )
    );
}

#[test]
fn events_that_look_like_other_sorted_sets_are_refused() {
    use sorted_sets::{Event, EventSpent, Log, MerkleState, topics};
    // Every event may be the name of a log; of the two, only the log is written without being asked twice.
    assert_eq!(
        said(&Event { event: "own:1abc" }),
        refused("`store.sorted_sets.event`: its bytes are also log(log_name=\"own:1abc\")")
    );
    assert_eq!(said(&Log { log_name: "own:1abc" }), Ok(()));
    assert_eq!(
        said(&Event { event: "x:spnd" }),
        refused("`store.sorted_sets.event`: its bytes are also event_spent(event=\"x\")")
    );
    assert_eq!(
        said(&Log { log_name: "tp:foo" }),
        refused("`store.sorted_sets.log`: its bytes are also topic_outputs(topic=\"foo\")")
    );
    assert_eq!(
        said(&EventSpent { event: "x" }),
        refused("`store.sorted_sets.event_spent`: its bytes are also log(log_name=\"x:spnd\")")
    );
    assert_eq!(said(&MerkleState { topic: "t", state: 1 }), Ok(()));
    assert_eq!(said(&topics::TopicTxs { topic: "foo" }), Ok(()));
    assert_eq!(
        said(&topics::TopicOutputs { topic: "foo:tx" }),
        refused("`store.sorted_sets.topics.topic_outputs`: its bytes are also topic_txs(topic=\"foo\")")
    );
    assert_eq!(
        said(&Log { log_name: "merkle:t:1" }),
        refused("`store.sorted_sets.log`: its bytes are also merkle_state(topic=\"t\", state=1)")
    );
}

#[test]
fn a_queue_that_is_called_like_that_of_a_token_is_refused() {
    assert_eq!(said(&queues::WorkQueue { queue_name: "blocks" }), Ok(()));
    assert_eq!(
        said(&queues::WorkQueue { queue_name: "tok:7" }),
        refused("`store.queues.work_queue`: its bytes are also token_queue(token_id=\"7\")")
    );
}

#[test]
fn a_field_that_another_kind_of_field_has_too_is_refused() {
    use hashes::{ProgressField, ProgressPeerField, ProgressSubscriptionField};
    use keyplan::typed::Value as _;
    let peer = ProgressField::Peer(ProgressPeerField { topic: "t", host: "h" });
    assert_eq!(
        peer.to_vec().map_err(|error| error.to_string()),
        Err("`store.hashes.progress field`: its bytes are also subscription(subscription_id=\"peer:t:h\")"
            .to_owned())
    );
    let subscription = ProgressField::Subscription(ProgressSubscriptionField { subscription_id: "s 1" });
    assert_eq!(subscription.to_vec().unwrap(), b"s 1");
}

#[test]
fn a_contract_key_that_comes_apart_in_two_ways_is_refused() {
    use cosmwasm::contract::Entry;
    let namespace: [&[u8]; 1] = [b"balances"];
    let entry = Entry { namespace: List::new(&namespace), key: b"osmo1" };
    let text = entry.to_vec().map_err(|error| error.to_string());
    assert_eq!(
        text,
        Err("`contract.entry`: its bytes are also entry(namespace=[], key=0x000862616c616e6365736f736d6f31)"
            .to_owned())
    );
    assert_eq!(said(&Entry { namespace: List::new(&[]), key: b"config" }), Ok(()));
    assert_eq!(said(&cosmwasm::one::Entry { namespace: b"balances", key: b"osmo1" }), Ok(()));
}
