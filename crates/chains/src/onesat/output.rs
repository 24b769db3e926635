use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// The id of a transaction in the order of the wire, which is the reverse of the one that people read.
pub type Txid = [u8; 32];

/// An output of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outpoint {
    /// The transaction, in the order of the wire.
    pub txid: Txid,
    /// The number of the output.
    pub vout: u32,
}

impl fmt::Display for Outpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", reversed(&self.txid), self.vout)
    }
}

/// A transaction's id as people read it.
pub(super) fn reversed(txid: &Txid) -> String {
    txid.iter().rev().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Where a transaction is in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MerklePosition {
    /// The height of the block.
    pub height: u32,
    /// The place in the block.
    pub index: u64,
}

/// What is known of an output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The events that it has raised.
    pub events: Vec<String>,
    /// Where its transaction is in the chain.
    pub merkle: Option<MerklePosition>,
    /// What parsers have found, by tag.
    pub data: BTreeMap<String, serde_json::Value>,
    /// The transactions that its admission to a topic depends on, by topic.
    pub deps: BTreeMap<String, Vec<Txid>>,
    /// The outputs that were consumed when it was admitted to a topic, by topic.
    pub inputs: BTreeMap<String, Vec<Outpoint>>,
}

/// The admission of an output to a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicOutput {
    /// The topic.
    pub topic: String,
    /// The transactions that the admission depends on.
    pub deps: Vec<Txid>,
    /// The outputs that were consumed.
    pub inputs: Vec<Outpoint>,
    /// The state of the Merkle proof, if it is indexed by it.
    pub state: Option<u32>,
}
