use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use keyplan::typed::Value as _;
use keyplan_store::engine::{Durability, Engine, Fjall, FjallSettings, Memory};
use keyplan_store::structure::{Command, Embedded, Kind, Structures};
use keyplan_store::{PlanFile, Schema, Store};

use super::error::malformed;
use super::layout::{member_of, read_txid};
use super::tx::{Change, IndexedTx, changes, read_events, spend_changes};
use super::{Event, Layout, MerklePosition, OneSatError, Outpoint, Output, TokenId, Txid, undo};
use crate::onesat_v2 as v2;
use crate::onesat_v2::store::hashes::{
    OutHashDepsValue, OutHashField, OutHashInputsValue, OutHashMerkleValue, ProgressSubscriptionValue,
    SatoshisOutpointValue,
};

/// The store of the 1Sat indexer, on structures that are embedded or on a server.
///
/// One handle writes at a time: [`OneSat::apply`] and [`OneSat::rollback`] of one handle wait for each other.
pub struct OneSat<S> {
    structures: S,
    layout: Layout,
    // Held from the first read of a change to its end.
    writing: Mutex<()>,
}

impl OneSat<Embedded<Fjall>> {
    /// Opens a store in a directory, and makes it if there is none, with the layout `onesat_v2`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OneSatError> {
        let engine = Fjall::open(path, FjallSettings::default()).map_err(keyplan_store::StoreError::from)?;
        Self::with_engine(engine)
    }
}

impl OneSat<Embedded<Memory>> {
    /// An empty store in memory, with the layout `onesat_v2`.
    pub fn in_memory() -> Result<Self, OneSatError> {
        Self::with_engine(Memory::new())
    }
}

impl<E: Engine> OneSat<Embedded<E>> {
    /// Opens the store on an engine, and makes it if there is none, with the layout `onesat_v2`.
    pub fn with_engine(engine: E) -> Result<Self, OneSatError> {
        let store = Store::open_or_create(engine, &schema())?;
        Ok(Self::on(Embedded::open(Arc::new(store), v2::store::SPACE)?, Layout::V2))
    }
}

impl<S: Structures> OneSat<S> {
    /// The store on structures, with a layout: that of the document for a server that 1Sat's own program uses too.
    pub const fn on(structures: S, layout: Layout) -> Self {
        Self { structures, layout, writing: Mutex::new(()) }
    }

    /// The structures below.
    pub const fn structures(&self) -> &S {
        &self.structures
    }

    /// The layout.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The name of an event: what an output is indexed under.
    pub fn event_name(&self, event: &Event<'_>) -> Result<String, OneSatError> {
        event.name(self.layout)
    }

    /// What the name of an event says.
    pub fn parse_event<'n>(&self, name: &'n str) -> Event<'n> {
        Event::parse(name, self.layout)
    }

    /// The id of a token as text: what its queue is called by.
    pub fn token_text(&self, token: TokenId) -> Result<String, OneSatError> {
        token.text(self.layout)
    }

    /// Writes everything that was found in a transaction, as one step where the structures can do that.
    ///
    /// A transaction that was applied before is applied again, as when it has come into a block; taking it back then
    /// takes back all of it. An output that another transaction has spent is refused.
    pub fn apply(&self, tx: &IndexedTx) -> Result<(), OneSatError> {
        self.apply_with(tx, Durability::Buffer)
    }

    /// The same, and returns when it is as durable as asked for.
    pub fn apply_with(&self, tx: &IndexedTx, durability: Durability) -> Result<(), OneSatError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changes = changes(self.layout, tx)?;
        spend_changes(self.layout, &self.structures, tx, &mut changes)?;
        if self.layout.keeps_undo() {
            let (key, field) = (self.layout.undo()?, tx.txid.to_vec());
            let mut undo = undo::inverse(&self.structures, &changes)?;
            // What an earlier application has replaced comes after what this one has.
            if let Some(before) = self.structures.hash_get(&key, &field)? {
                undo.extend(undo::decode(&before)?);
            }
            changes.push(Change::Field { key, field, value: undo::encode(&undo)? });
        }
        self.write(&changes, durability)
    }

    /// Takes a transaction back: everything that it has written is as it was before, and what it has spent is not.
    ///
    /// Refused while another transaction spends one of its outputs: take that one back first.
    pub fn rollback(&self, txid: &Txid) -> Result<(), OneSatError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, field) = (self.layout.undo()?, txid.to_vec());
        let Some(value) = self.structures.hash_get(&key, &field)? else {
            return Err(OneSatError::NothingToUndo { txid: *txid });
        };
        let outputs = self.outputs_of(*txid)?;
        for (outpoint, by) in outputs.iter().zip(self.spends(&outputs)?) {
            if let Some(by) = by {
                return Err(OneSatError::AlreadySpent { outpoint: *outpoint, by });
            }
        }
        let mut changes = undo::decode(&value)?;
        changes.push(Change::NoField { key, field });
        self.write(&changes, Durability::Buffer)
    }

    /// Forgets what transactions have replaced: those that are so deep in the chain that they stay.
    pub fn settle(&self, txids: &[Txid]) -> Result<(), OneSatError> {
        let key = self.layout.undo()?;
        let changes: Vec<Change> =
            txids.iter().map(|txid| Change::NoField { key: key.clone(), field: txid.to_vec() }).collect();
        self.write(&changes, Durability::Buffer)
    }

    fn write(&self, changes: &[Change], durability: Durability) -> Result<(), OneSatError> {
        let commands: Vec<Command<'_>> = changes.iter().map(Change::command).collect();
        self.structures.apply(&commands, durability)?;
        Ok(())
    }

    /// What is known of an output; `None` if nothing is.
    pub fn output(&self, outpoint: Outpoint) -> Result<Option<Output>, OneSatError> {
        let key = self.layout.output(outpoint)?;
        let mut output = Output::default();
        let mut any = false;
        for row in self.structures.hash_all(&key)? {
            let (field, value) = row?;
            read_field(&mut output, &field, &value)?;
            any = true;
        }
        Ok(any.then_some(output))
    }

    /// The outputs of a transaction of which anything is known, in order.
    pub fn outputs_of(&self, txid: Txid) -> Result<Vec<Outpoint>, OneSatError> {
        let keys = self.structures.keys(Kind::Hash, &self.layout.outputs_of(txid))?;
        let mut outputs: Vec<Outpoint> =
            keys.map(|key| self.layout.read_output(&key?)).collect::<Result<_, _>>()?;
        if !self.structures.capabilities().ordered_members {
            // A server gives keys in any order, and one of them twice if others go meanwhile.
            outputs.sort_unstable_by_key(|output| output.vout);
            outputs.dedup();
        }
        Ok(outputs)
    }

    /// The values of outputs: one slot for each, in the order given.
    pub fn satoshis(&self, outpoints: &[Outpoint]) -> Result<Vec<Option<u64>>, OneSatError> {
        let values = self.bulk(&self.layout.satoshis()?, outpoints)?;
        let read = |value: Vec<u8>| {
            let value = SatoshisOutpointValue::decode(&value).map_err(malformed("the value of an output"))?;
            Ok(value.satoshis)
        };
        values.into_iter().map(|value| value.map(read).transpose()).collect()
    }

    /// The transactions that have spent outputs: one slot for each, in the order given.
    pub fn spends(&self, outpoints: &[Outpoint]) -> Result<Vec<Option<Txid>>, OneSatError> {
        let values = self.bulk(&self.layout.spends()?, outpoints)?;
        values.into_iter().map(|value| value.map(|value| read_txid(&value)).transpose()).collect()
    }

    fn bulk(&self, key: &[u8], outpoints: &[Outpoint]) -> Result<Vec<Option<Vec<u8>>>, OneSatError> {
        let fields: Vec<[u8; 36]> = outpoints.iter().map(|outpoint| member_of(*outpoint)).collect();
        let fields: Vec<&[u8]> = fields.iter().map(<[u8; 36]>::as_slice).collect();
        Ok(self.structures.hash_get_many(key, &fields)?)
    }

    /// The last block that a subscription has delivered.
    pub fn subscription_height(&self, subscription: &str) -> Result<Option<u32>, OneSatError> {
        self.height(&self.layout.subscription(subscription)?)
    }

    /// Notes the last block that a subscription has delivered.
    pub fn set_subscription_height(&self, subscription: &str, height: u32) -> Result<(), OneSatError> {
        self.set_progress(&self.layout.subscription(subscription)?, &height_value(height))
    }

    /// The last block up to which an owner's history is complete.
    pub fn owner_height(&self, address: &str) -> Result<Option<u32>, OneSatError> {
        self.height(&self.layout.owner(address)?)
    }

    /// Notes the last block up to which an owner's history is complete.
    pub fn set_owner_height(&self, address: &str, height: u32) -> Result<(), OneSatError> {
        self.set_progress(&self.layout.owner(address)?, &height_value(height))
    }

    /// When a peer was last spoken to about a topic, in seconds since 1970.
    pub fn peer_seen(&self, topic: &str, host: &str) -> Result<Option<f64>, OneSatError> {
        let field = self.layout.peer(topic, host)?;
        let value = self.structures.hash_get(&self.layout.progress()?, &field)?;
        value.map(|value| self.layout.read_since(&value)).transpose()
    }

    /// Notes when a peer was last spoken to about a topic.
    pub fn set_peer_seen(&self, topic: &str, host: &str, since: f64) -> Result<(), OneSatError> {
        self.set_progress(&self.layout.peer(topic, host)?, &self.layout.since(since)?)
    }

    fn height(&self, field: &[u8]) -> Result<Option<u32>, OneSatError> {
        let value = self.structures.hash_get(&self.layout.progress()?, field)?;
        let read = |value: Vec<u8>| {
            let value = ProgressSubscriptionValue::decode(&value).map_err(malformed("a height"))?;
            Ok(value.height)
        };
        value.map(read).transpose()
    }

    fn set_progress(&self, field: &[u8], value: &[u8]) -> Result<(), OneSatError> {
        self.structures.hash_set(&self.layout.progress()?, field, value)?;
        Ok(())
    }
}

impl<S: fmt::Debug> fmt::Debug for OneSat<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneSat")
            .field("structures", &self.structures)
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

/// The name under which the plan is recorded.
const PLAN_FILE: &str = "onesat_v2.keyplan";

/// The schema of the plan that the types are made from.
fn schema() -> Schema {
    let files = vec![PlanFile { name: PLAN_FILE.to_owned(), text: v2::PLAN.text().to_owned() }];
    Schema { files, ..Schema::from(&v2::PLAN) }
}

fn height_value(height: u32) -> [u8; 4] {
    ProgressSubscriptionValue { height }.encode()
}

fn read_field(output: &mut Output, field: &[u8], value: &[u8]) -> Result<(), OneSatError> {
    let what = |name: &dyn fmt::Display| format!("the field `{name}` of an output");
    let field = OutHashField::decode(field).map_err(malformed("the field of an output"))?;
    match field {
        OutHashField::Events(_) => output.events = read_events(value)?,
        OutHashField::Merkle(field) => {
            let value = OutHashMerkleValue::decode(value).map_err(malformed(what(&field)))?;
            output.merkle = Some(MerklePosition { height: value.height, index: value.idx });
        }
        OutHashField::Data(field) => {
            let data = serde_json::from_slice(value)
                .map_err(|source| OneSatError::Json { what: what(&field), source })?;
            output.data.insert(field.tag.to_owned(), data);
        }
        OutHashField::Deps(field) => {
            let value = OutHashDepsValue::decode(value).map_err(malformed(what(&field)))?;
            output.deps.insert(field.topic.to_owned(), value.txids_le.iter().collect());
        }
        OutHashField::Inputs(field) => {
            let value = OutHashInputsValue::decode(value).map_err(malformed(what(&field)))?;
            let inputs = value.outpoints.iter();
            let inputs = inputs.map(|input| Outpoint { txid: input.txid_le, vout: input.vout });
            output.inputs.insert(field.topic.to_owned(), inputs.collect());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_the_types_is_that_of_their_plan() {
        let compiled = keyplan::plan::compile(PLAN_FILE, v2::PLAN.text(), |_| Err("no imports".into()));
        assert_eq!(Schema::of(&compiled), Some(schema()));
    }
}
