//! The state store of a Cardano node, as Dolos has it: the chain's position, the unspent outputs, and entities.
//!
//! The keys and values are those of `plans/cardano_store.keyplan`: the three spaces of the real store, byte for byte,
//! and one of our own for rolling back. [`document`] holds the types of the plan that states Dolos's document.
//!
//! With the feature `store` there is the store itself, [`StateStore`], on fjall, on redb (feature `redb`) and in memory.
//! It reads through [`StateSnapshot`]s and writes through [`StateWriter`]s; a [`StateLoad`] fills it from a snapshot:
//!
//! ```
//! # #[cfg(feature = "store")] {
//! use keyplan_chains::cardano::{
//!     ChainPoint, Config, EntityKey, EraCbor, Namespace, StateStore, TxoRef, UtxoSetDelta,
//! };
//!
//! let store = StateStore::in_memory(Config::default())?;
//! let output = TxoRef { tx_hash: [7; 32], index: 0 };
//! let account = EntityKey::padded(b"stake1")?;
//!
//! let mut writer = store.start_writer()?;
//! writer.write_entity(Namespace::ACCOUNTS, &account, &[0x01])?;
//! writer.apply_utxoset(&UtxoSetDelta {
//!     produced: vec![(output, EraCbor { era: 6, cbor: vec![0x80] })],
//!     ..UtxoSetDelta::default()
//! })?;
//! writer.set_cursor(ChainPoint::Slot { slot: 1 });
//! writer.commit()?;
//!
//! let snapshot = store.snapshot()?;
//! assert_eq!(snapshot.read_cursor()?, Some(ChainPoint::Slot { slot: 1 }));
//! assert_eq!(snapshot.get_utxos(&[output])?[&output].cbor(), [0x80]);
//! assert_eq!(snapshot.iter_entities(Namespace::ACCOUNTS, ..)?.count(), 1);
//!
//! let mut writer = store.start_writer()?;
//! writer.apply_utxoset(&UtxoSetDelta { consumed: vec![output], ..UtxoSetDelta::default() })?;
//! writer.set_cursor(ChainPoint::Slot { slot: 2 });
//! writer.commit()?;
//! assert!(store.get_utxos(&[output])?.is_empty());
//!
//! store.rollback_to(&ChainPoint::Slot { slot: 1 })?;
//! assert_eq!(store.get_utxos(&[output])?[&output].era(), 6);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where it differs from the real store
//!
//! | there | here |
//! | --- | --- |
//! | two points of one slot are equal or not, depending on the side | [`ChainPoint`] has an equality, and an order that agrees with it |
//! | an entity's key is cut or filled up to 32 bytes | [`EntityKey::padded`] refuses what is longer |
//! | the full range leaves out the key `ff…ff` | `..` is every key; `a..b` and `a..=b` are what they say |
//! | malformed rows are skipped, or read as missing | they are errors that name the row |
//! | bytes after a valid cursor are ignored | they are an error |
//! | each read has a snapshot of its own | so too; [`StateStore::snapshot`] is one for a group of reads |
//! | two names with one hash share their rows | the second name is refused |
//!
//! # Hostile input
//!
//! Rows that another program wrote, or that were damaged, give errors and no panic.

#[cfg(feature = "store")]
mod config;
#[cfg(feature = "store")]
mod engine;
#[cfg(feature = "store")]
mod entity;
mod entity_key;
#[cfg(feature = "store")]
mod error;
#[cfg(feature = "store")]
mod history;
#[cfg(feature = "store")]
mod layout;
#[cfg(feature = "store")]
mod load;
#[cfg(feature = "store")]
mod names;
mod point;
#[cfg(feature = "store")]
mod rows;
#[cfg(feature = "store")]
mod schema;
#[cfg(feature = "store")]
mod snapshot;
#[cfg(feature = "store")]
mod store;
mod utxo;
#[cfg(feature = "store")]
mod writer;

mod plans {
    keyplan::plan!("plans/cardano.keyplan");
    keyplan::plan!("plans/cardano_store.keyplan");
}

#[cfg(feature = "store")]
pub use config::Config;
#[cfg(feature = "store")]
pub use engine::StateEngine;
#[cfg(feature = "store")]
pub use entity::Entity;
#[cfg(feature = "minicbor")]
pub use entity::{CborEntity, CborError};
pub use entity_key::{EntityKey, EntityKeyTooLong};
#[cfg(feature = "store")]
pub use error::StateError;
#[cfg(feature = "store")]
pub use history::RolledBack;
#[cfg(feature = "store")]
pub use load::StateLoad;
pub use plans::cardano as document;
#[cfg(feature = "laws")]
pub use plans::cardano_store::TYPES;
pub use plans::cardano_store::{
    ChainPoint, Namespace, PLAN, Position, Replaced, ReplacedValuesValuesList, cursor, entities, undo, utxos,
};
#[cfg(feature = "store")]
pub use rows::{Entities, TypedEntities, Utxos};
#[cfg(feature = "store")]
pub use schema::StateSchema;
#[cfg(feature = "store")]
pub use snapshot::{FoundNamespace, StateSnapshot};
#[cfg(feature = "store")]
pub use store::{KeptSetting, StateStore};
pub use utxo::{EraCbor, Output, TxoRef, UtxoSetDelta};
#[cfg(feature = "store")]
pub use writer::StateWriter;
