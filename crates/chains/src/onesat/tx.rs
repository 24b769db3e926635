use std::collections::BTreeMap;

use keyplan::codec::Score;
use keyplan_store::structure::{Command, SetScore, StructureRead};

use super::layout::{deps_value, inputs_value, member_of, merkle_value};
use super::names::{QueueName, SortedSet};
use super::{Layout, MerklePosition, OneSatError, Outpoint, TopicOutput, Txid};
use crate::onesat_v2::store::hashes::{
    OutHashDataField, OutHashDepsField, OutHashEventsField, OutHashInputsField, OutHashMerkleField,
    SatoshisOutpointValue,
};

/// What the indexer has found in a transaction: everything that is written for it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedTx {
    /// The transaction, in the order of the wire.
    pub txid: Txid,
    /// Its place in the chain.
    pub at: Score,
    /// Its outputs.
    pub outputs: Vec<NewOutput>,
    /// The outputs that it spends. What these have raised is noted as spent.
    pub spends: Vec<Outpoint>,
    /// The topics that have applied it.
    pub topics: Vec<String>,
    /// The logs that it is entered in.
    pub logs: Vec<String>,
    /// What is queued for others.
    pub queued: Vec<Queued>,
}

/// An output of an [`IndexedTx`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewOutput {
    /// Its number.
    pub vout: u32,
    /// Its value.
    pub satoshis: Option<u64>,
    /// The names of the events that it raises.
    pub events: Vec<String>,
    /// Where its transaction is in the chain.
    pub merkle: Option<MerklePosition>,
    /// What parsers have found, by tag.
    pub data: BTreeMap<String, serde_json::Value>,
    /// The topics that have admitted it.
    pub topics: Vec<TopicOutput>,
}

/// An entry of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Queued {
    /// The transaction itself, for the worker of a subscription.
    Transaction {
        /// The subscription.
        subscription: String,
    },
    /// An output, for the worker of a token.
    Output {
        /// The token's id, as text.
        token: String,
        /// The output.
        outpoint: Outpoint,
    },
}

impl IndexedTx {
    /// A transaction of which nothing is known but its place.
    pub const fn new(txid: Txid, at: Score) -> Self {
        Self {
            txid,
            at,
            outputs: Vec::new(),
            spends: Vec::new(),
            topics: Vec::new(),
            logs: Vec::new(),
            queued: Vec::new(),
        }
    }
}

impl NewOutput {
    /// An output of which nothing is known but its number.
    pub fn at(vout: u32) -> Self {
        Self { vout, ..Self::default() }
    }
}

/// A change with what it writes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    Field { key: Vec<u8>, field: Vec<u8>, value: Vec<u8> },
    NoField { key: Vec<u8>, field: Vec<u8> },
    Member { key: Vec<u8>, member: Vec<u8>, score: SetScore },
    NoMember { key: Vec<u8>, member: Vec<u8> },
    Item { key: Vec<u8>, item: Vec<u8>, score: SetScore },
    NoItem { key: Vec<u8>, item: Vec<u8> },
}

impl Change {
    pub(super) fn command(&self) -> Command<'_> {
        match self {
            Self::Field { key, field, value } => Command::HashSet { key, field, value },
            Self::NoField { key, field } => Command::HashDelete { key, field },
            Self::Member { key, member, score } => Command::ZsetAdd { key, member, score: *score },
            Self::NoMember { key, member } => Command::ZsetRemove { key, member },
            Self::Item { key, item, score } => Command::QueuePush { key, member: item, score: *score },
            Self::NoItem { key, item } => Command::QueueRemove { key, member: item },
        }
    }
}

/// The changes of a transaction, but for what it spends.
pub(super) fn changes(layout: Layout, tx: &IndexedTx) -> Result<Vec<Change>, OneSatError> {
    let score = layout.score(tx.at)?;
    let mut changes = Vec::new();
    for output in &tx.outputs {
        output_changes(layout, tx.txid, output, score, &mut changes)?;
    }
    let txid = tx.txid.to_vec();
    for topic in &tx.topics {
        let key = layout.sorted_set(SortedSet::TopicTxs(topic))?;
        changes.push(Change::Member { key, member: txid.clone(), score });
    }
    for log in &tx.logs {
        let key = layout.sorted_set(SortedSet::Log(log))?;
        changes.push(Change::Member { key, member: txid.clone(), score });
    }
    for queued in &tx.queued {
        let (queue, item) = match queued {
            Queued::Transaction { subscription } => (QueueName::Subscription(subscription), txid.clone()),
            Queued::Output { token, outpoint } => (QueueName::Token(token), member_of(*outpoint).to_vec()),
        };
        changes.push(Change::Item { key: layout.queue(queue)?, item, score });
    }
    Ok(changes)
}

fn output_changes(
    layout: Layout,
    txid: Txid,
    output: &NewOutput,
    score: SetScore,
    changes: &mut Vec<Change>,
) -> Result<(), OneSatError> {
    let outpoint = Outpoint { txid, vout: output.vout };
    let key = layout.output(outpoint)?;
    let member = member_of(outpoint).to_vec();
    let mut put = |field: Vec<u8>, value: Vec<u8>| {
        changes.push(Change::Field { key: key.clone(), field, value });
    };
    if !output.events.is_empty() {
        put(OutHashEventsField.to_vec()?, json(&output.events, "the events of an output")?);
    }
    if let Some(merkle) = output.merkle {
        put(OutHashMerkleField.to_vec()?, merkle_value(merkle).to_vec());
    }
    for (tag, data) in &output.data {
        put(OutHashDataField { tag }.to_vec()?, json(data, "the data of a parser")?);
    }
    for admitted in &output.topics {
        let topic = admitted.topic.as_str();
        put(OutHashDepsField { topic }.to_vec()?, deps_value(&admitted.deps)?);
        put(OutHashInputsField { topic }.to_vec()?, inputs_value(&admitted.inputs)?);
    }
    if let Some(satoshis) = output.satoshis {
        let value = SatoshisOutpointValue { satoshis }.encode().to_vec();
        changes.push(Change::Field { key: layout.satoshis()?, field: member.clone(), value });
    }
    for event in &output.events {
        let key = layout.sorted_set(SortedSet::Event(event))?;
        changes.push(Change::Member { key, member: member.clone(), score });
    }
    for TopicOutput { topic, state, .. } in &output.topics {
        let key = layout.sorted_set(SortedSet::TopicOutputs(topic))?;
        changes.push(Change::Member { key, member: member.clone(), score });
        if let Some(state) = *state {
            let key = layout.sorted_set(SortedSet::MerkleState { topic, state })?;
            changes.push(Change::Member { key, member: member.clone(), score });
        }
    }
    Ok(())
}

/// The changes of the outputs that a transaction spends: who has spent them, and in which events.
pub(super) fn spend_changes(
    layout: Layout,
    read: &dyn StructureRead,
    tx: &IndexedTx,
    changes: &mut Vec<Change>,
) -> Result<(), OneSatError> {
    if tx.spends.is_empty() {
        return Ok(());
    }
    let score = layout.score(tx.at)?;
    let spends = layout.spends()?;
    let members: Vec<[u8; 36]> = tx.spends.iter().map(|spent| member_of(*spent)).collect();
    let fields: Vec<&[u8]> = members.iter().map(<[u8; 36]>::as_slice).collect();
    let before = read.hash_get_many(&spends, &fields)?;
    let keys = tx.spends.iter().map(|spent| layout.output(*spent)).collect::<Result<Vec<_>, _>>()?;
    let field = OutHashEventsField.to_vec()?;
    let places: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (key.as_slice(), field.as_slice())).collect();
    let events = read.hash_get_each(&places)?;
    for (((outpoint, member), before), events) in tx.spends.iter().zip(&members).zip(before).zip(events) {
        if let Some(by) = before {
            let by = super::layout::read_txid(&by)?;
            if by != tx.txid {
                return Err(OneSatError::AlreadySpent { outpoint: *outpoint, by });
            }
        }
        let (member, value) = (member.to_vec(), tx.txid.to_vec());
        changes.push(Change::Field { key: spends.clone(), field: member.clone(), value });
        for event in events.map(|events| read_events(&events)).transpose()?.unwrap_or_default() {
            let key = layout.sorted_set(SortedSet::EventSpent(&event))?;
            changes.push(Change::Member { key, member: member.clone(), score });
        }
    }
    Ok(())
}

pub(super) fn read_events(bytes: &[u8]) -> Result<Vec<String>, OneSatError> {
    serde_json::from_slice(bytes)
        .map_err(|source| OneSatError::Json { what: "the field `ev` of an output".to_owned(), source })
}

fn json(value: &impl serde::Serialize, what: &str) -> Result<Vec<u8>, OneSatError> {
    serde_json::to_vec(value).map_err(|source| OneSatError::Json { what: what.to_owned(), source })
}
