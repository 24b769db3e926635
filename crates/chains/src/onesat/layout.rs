use std::fmt::Display;

use keyplan::codec::Score;
use keyplan::typed::{Key, List};
use keyplan_store::structure::SetScore;

use super::error::malformed;
use super::names::{QueueName, SortedSet};
use super::{MerklePosition, OneSatError, Outpoint, Txid, document};
use crate::onesat_v2 as v2;

/// Which plan the keys of a store are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// `plans/onesat_v2.keyplan`: no name runs into another, and scores are exact. For stores of one's own.
    #[default]
    V2,
    /// `plans/onesat.keyplan`, byte for byte: for a server that 1Sat's own program uses too. Names that would run into
    /// others are refused, and scores are 1Sat's floats.
    Document,
}

/// Encodes with the types of the layout's plan. Both plans have the same fields in the same modules.
macro_rules! bytes {
    ($layout:expr, $($path:ident)::+ $({ $($field:ident $(: $value:expr)?),* $(,)? })?) => {
        match $layout {
            Layout::V2 => v2::store::$($path)::+ $({ $($field $(: $value)?),* })?.to_vec()?,
            Layout::Document => {
                let mut out = Vec::new();
                document::store::$($path)::+ $({ $($field $(: $value)?),* })?.encode_into(&mut out)?;
                out
            }
        }
    };
}

impl Layout {
    pub(super) fn score(self, at: Score) -> Result<SetScore, OneSatError> {
        match self {
            Self::V2 => Ok(SetScore::Place(at)),
            Self::Document => Ok(SetScore::height_score(at)?),
        }
    }

    pub(super) fn output(self, Outpoint { txid: txid_le, vout }: Outpoint) -> Result<Vec<u8>, OneSatError> {
        Ok(bytes!(self, hashes::OutHash { txid_le, vout }))
    }

    /// What the keys of a transaction's outputs begin with.
    pub(super) fn outputs_of(self, txid: Txid) -> Vec<u8> {
        match self {
            Self::V2 => v2::store::hashes::OutHash::by_txid_le(txid).prefix().to_vec(),
            Self::Document => document::store::hashes::OutHash::by_txid_le(txid).prefix().to_vec(),
        }
    }

    pub(super) fn read_output(self, key: &[u8]) -> Result<Outpoint, OneSatError> {
        let (txid, vout) = match self {
            Self::V2 => {
                let key = v2::store::hashes::OutHash::decode(key).map_err(malformed("a key of an output"))?;
                (key.txid_le, key.vout)
            }
            Self::Document => {
                let key =
                    document::store::hashes::OutHash::decode(key).map_err(malformed("a key of an output"))?;
                (key.txid_le, key.vout)
            }
        };
        Ok(Outpoint { txid, vout })
    }

    pub(super) fn satoshis(self) -> Result<Vec<u8>, OneSatError> {
        Ok(bytes!(self, hashes::Satoshis))
    }

    pub(super) fn spends(self) -> Result<Vec<u8>, OneSatError> {
        Ok(bytes!(self, hashes::Spends))
    }

    pub(super) fn progress(self) -> Result<Vec<u8>, OneSatError> {
        Ok(bytes!(self, hashes::Progress))
    }

    pub(super) fn undo(self) -> Result<Vec<u8>, OneSatError> {
        match self {
            Self::V2 => Ok(v2::store::hashes::Undo.to_vec()?),
            Self::Document => Err(OneSatError::NoUndo),
        }
    }

    pub(super) fn set(self, name: &str) -> Result<Vec<u8>, OneSatError> {
        Ok(bytes!(self, sets::NamedSet { name }))
    }

    /// The key of a sorted set. Under the layout of the document a name that is also another's is refused.
    pub(super) fn sorted_set(self, set: SortedSet<'_>) -> Result<Vec<u8>, OneSatError> {
        match self {
            Self::V2 => v2_sorted_set(set),
            Self::Document => document_sorted_set(set),
        }
    }

    pub(super) fn queue(self, queue: QueueName<'_>) -> Result<Vec<u8>, OneSatError> {
        match (self, queue) {
            (Self::V2, QueueName::Subscription(queue_name)) => {
                Ok(v2::store::queues::WorkQueue { queue_name }.to_vec()?)
            }
            (Self::V2, QueueName::Token(token_id)) => {
                Ok(v2::store::queues::TokenQueue { token_id }.to_vec()?)
            }
            (Self::Document, QueueName::Subscription(queue_name)) => {
                let asked = document::store::queues::WorkQueue { queue_name };
                let key = unguarded(&asked)?;
                distinct(&asked, document::store::queues::TokenQueue::decode(&key).ok())?;
                Ok(key)
            }
            (Self::Document, QueueName::Token(token_id)) => {
                unguarded(&document::store::queues::TokenQueue { token_id })
            }
        }
    }

    /// The field of a subscription's progress. Under the layout of the document a name that is also another's is refused.
    pub(super) fn subscription(self, subscription_id: &str) -> Result<Vec<u8>, OneSatError> {
        match self {
            Self::V2 => Ok(v2::store::hashes::ProgressSubscriptionField { subscription_id }.to_vec()?),
            Self::Document => {
                use document::store::hashes::{
                    ProgressOwnerField, ProgressPeerField, ProgressSubscriptionField,
                };
                let name = subscription_id.as_bytes();
                let asked = ProgressSubscriptionField { subscription_id };
                distinct(&asked, ProgressOwnerField::decode(name).ok())?;
                distinct(&asked, ProgressPeerField::decode(name).ok())?;
                Ok(name.to_vec())
            }
        }
    }

    pub(super) fn owner(self, owner_address: &str) -> Result<Vec<u8>, OneSatError> {
        match self {
            Self::V2 => Ok(v2::store::hashes::ProgressOwnerField { owner_address }.to_vec()?),
            Self::Document => {
                let mut out = Vec::new();
                document::store::hashes::ProgressOwnerField { owner_address }.encode_into(&mut out)?;
                Ok(out)
            }
        }
    }

    /// The field of a peer's progress. Under the layout of the document only a topic without a colon can be told apart.
    pub(super) fn peer(self, topic: &str, host: &str) -> Result<Vec<u8>, OneSatError> {
        match self {
            Self::V2 => Ok(v2::store::hashes::ProgressPeerField { topic, host }.to_vec()?),
            Self::Document => {
                use document::store::hashes::ProgressPeerField;
                let asked = ProgressPeerField { topic, host };
                if let Some((other, rest)) = topic.split_once(':') {
                    let host = format!("{rest}:{host}");
                    return Err(collision(&asked, &ProgressPeerField { topic: other, host: &host }));
                }
                let mut out = Vec::new();
                asked.encode_unguarded_into(&mut out)?;
                Ok(out)
            }
        }
    }

    /// Seconds since 1970: a float, or its decimal text in the document's layout.
    pub(super) fn since(self, since: f64) -> Result<Vec<u8>, OneSatError> {
        match self {
            Self::V2 => Ok(v2::store::hashes::ProgressPeerValue { since }.to_vec()?),
            Self::Document => {
                let since = since.to_string();
                Ok(document::store::hashes::ProgressPeerValue { since: &since }.to_vec()?)
            }
        }
    }

    pub(super) fn read_since(self, value: &[u8]) -> Result<f64, OneSatError> {
        let what = "the time of a peer";
        match self {
            Self::V2 => {
                let value = v2::store::hashes::ProgressPeerValue::decode(value).map_err(malformed(what))?;
                Ok(value.since)
            }
            Self::Document => {
                let value =
                    document::store::hashes::ProgressPeerValue::decode(value).map_err(malformed(what))?;
                let since: Result<f64, _> = value.since.parse();
                since
                    .ok()
                    .filter(|since| !since.is_nan())
                    .ok_or_else(|| OneSatError::Time { text: value.since.to_owned() })
            }
        }
    }
}

// What follows is the same in both layouts, by their plans; a test compares them.

pub(super) fn member_of(Outpoint { txid: txid_le, vout }: Outpoint) -> [u8; 36] {
    v2::Outpoint { txid_le, vout }.encode()
}

pub(super) fn read_outpoint(bytes: &[u8]) -> Result<Outpoint, OneSatError> {
    let member = v2::store::sorted_sets::EventMember::decode(bytes).map_err(malformed("an outpoint"))?;
    Ok(Outpoint { txid: member.txid_le, vout: member.vout })
}

pub(super) fn read_txid(bytes: &[u8]) -> Result<Txid, OneSatError> {
    let value =
        v2::store::hashes::SpendsOutpointValue::decode(bytes).map_err(malformed("a transaction id"))?;
    Ok(value.spend_txid_le)
}

pub(super) fn merkle_value(MerklePosition { height, index: idx }: MerklePosition) -> [u8; 12] {
    v2::store::hashes::OutHashMerkleValue { height, idx }.encode()
}

pub(super) fn deps_value(txids: &[Txid]) -> Result<Vec<u8>, OneSatError> {
    Ok(v2::store::hashes::OutHashDepsValue { txids_le: List::new(txids) }.to_vec()?)
}

pub(super) fn inputs_value(inputs: &[Outpoint]) -> Result<Vec<u8>, OneSatError> {
    let inputs: Vec<v2::Outpoint> =
        inputs.iter().map(|input| v2::Outpoint { txid_le: input.txid, vout: input.vout }).collect();
    Ok(v2::store::hashes::OutHashInputsValue { outpoints: List::new(&inputs) }.to_vec()?)
}

fn v2_sorted_set(set: SortedSet<'_>) -> Result<Vec<u8>, OneSatError> {
    use v2::store::sorted_sets::{Event, EventSpent, Log, MerkleState, TopicOutputs, TopicTxs};
    Ok(match set {
        SortedSet::Event(event) => Event { event }.to_vec()?,
        SortedSet::EventSpent(event) => EventSpent { event }.to_vec()?,
        SortedSet::TopicOutputs(topic) => TopicOutputs { topic }.to_vec()?,
        SortedSet::TopicTxs(topic) => TopicTxs { topic }.to_vec()?,
        SortedSet::Log(log_name) => Log { log_name }.to_vec()?,
        SortedSet::MerkleState { topic, state } => MerkleState { state, topic }.to_vec()?,
    })
}

/// The narrower of two families keeps the key that both make, and the wider is refused it.
fn document_sorted_set(set: SortedSet<'_>) -> Result<Vec<u8>, OneSatError> {
    use document::store::sorted_sets::topics::{TopicOutputs, TopicTxs};
    use document::store::sorted_sets::{Event, EventSpent, Log, MerkleState};
    match set {
        SortedSet::Event(event) => {
            let asked = Event { event };
            let key = unguarded(&asked)?;
            apart(&asked, &key)?;
            Ok(key)
        }
        SortedSet::EventSpent(event) => {
            // Outputs are spent that have raised the event, under a name that it can have.
            document_sorted_set(SortedSet::Event(event))?;
            unguarded(&EventSpent { event })
        }
        SortedSet::TopicOutputs(topic) => {
            let asked = TopicOutputs { topic };
            let key = unguarded(&asked)?;
            distinct(&asked, TopicTxs::decode(&key).ok())?;
            Ok(key)
        }
        SortedSet::TopicTxs(topic) => unguarded(&TopicTxs { topic }),
        SortedSet::Log(log_name) => {
            let asked = Log { log_name };
            let key = unguarded(&asked)?;
            apart(&asked, &key)?;
            // The names of events and logs are one; those that the document lists are events.
            distinct(&asked, document::events::Key::decode(log_name.as_bytes()).ok())?;
            Ok(key)
        }
        SortedSet::MerkleState { topic, state } => unguarded(&MerkleState { topic, state }),
    }
}

/// Refuses an event or a log whose key is that of something narrower.
fn apart(asked: &dyn Display, key: &[u8]) -> Result<(), OneSatError> {
    use document::store::sorted_sets::topics::{TopicOutputs, TopicTxs};
    use document::store::sorted_sets::{EventSpent, MerkleState};
    distinct(asked, TopicTxs::decode(key).ok())?;
    distinct(asked, TopicOutputs::decode(key).ok())?;
    distinct(asked, MerkleState::decode(key).ok())?;
    distinct(asked, EventSpent::decode(key).ok())
}

fn unguarded<K: Key>(key: &K) -> Result<Vec<u8>, OneSatError> {
    let mut out = Vec::new();
    key.encode_unguarded_into(&mut out)?;
    Ok(out)
}

fn distinct(asked: &dyn Display, other: Option<impl Display>) -> Result<(), OneSatError> {
    other.map_or(Ok(()), |other| Err(collision(asked, &other)))
}

#[cold]
fn collision(asked: &dyn Display, other: &dyn Display) -> OneSatError {
    OneSatError::Collision { asked: asked.to_string(), other: other.to_string() }
}
