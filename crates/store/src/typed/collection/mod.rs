//! Collections whose rows are families of a plan.
//!
//! A collection brings no layout of its own: the plan declares the families that it keeps its rows in, so that what is
//! proved of keys and scans holds for them too, and every tool knows them. A collection says how these families belong
//! together, and keeps them in step: everything that one call changes is in one [`Batch`](super::Batch).
//!
//! | collection | families | what it is for |
//! | --- | --- | --- |
//! | [`Item`] | one key | one value |
//! | [`Map`] | the rows of a scan | values by key |
//! | [`Set`] | the rows of a scan, with values of no bytes | only keys |
//! | [`CountedMap`] | a map's, and a number | a map that knows how many rows it has |
//! | [`SummedMap`] | a map's, and two numbers | a map that also knows what its rows add up to |
//! | [`ExpiringMap`] | a map's, and its rows by their ends | rows that end by themselves |
//! | [`IndexedMap`] | a map's, and one for each index | rows that are also found in other ways |
//! | [`HistoryMap`] | a map's, its log, and what changed when | values at earlier heights |
//! | [`Sequence`] | a number | numbers that are given out once |
//! | [`ShardedCounter`] | numbers by shard | a count that many writers add to |
//! | [`Deque`] | elements by place, and both ends | a queue at both ends |
//! | [`Nonces`] | the last number of a sender | only a greater number passes |
//! | [`Locks`] | an owner and an end | one holder at a time, and none for ever |
//!
//! ```
//! keyplan::plan! {
//!     plan bank;
//!
//!     space state {
//!         key config = 0x01 -> version: u32;
//!         key balance = 0x02 owner: u64 denom: text("a-z", 3..=8) -> amount: u64
//!             scan all
//!             scan by owner in order;
//!         key balances = 0x03 -> count: u64;
//!         key frozen = 0x04 owner: u64 -> "" scan all in order;
//!     }
//! }
//! use bank::state::{Balance, BalanceValue, Balances, BalancesValue, Config, ConfigValue, Frozen};
//! use keyplan::store::Store;
//! use keyplan::store::collection::{CountedMap, Item, Map, NumberKey, Set};
//! use keyplan::store::engine::{Durability, Memory};
//!
//! impl NumberKey for Balances {
//!     fn value_of(count: u64) -> BalancesValue {
//!         BalancesValue { count }
//!     }
//!     fn number_of(value: BalancesValue) -> u64 {
//!         value.count
//!     }
//! }
//!
//! let store = Store::create_on(Memory::new(), &bank::PLAN)?;
//! let config = Item::new(Config);
//! let balances = CountedMap::new(Balance::all(), Balances);
//! let of_seven = Map::new(Balance::by_owner(7));
//! let frozen = Set::new(Frozen::all());
//!
//! let mut batch = store.batch()?;
//! config.put(&mut batch, &ConfigValue { version: 1 })?;
//! balances.put(&mut batch, &Balance { owner: 7, denom: "atom" }, &BalanceValue { amount: 10 })?;
//! balances.put(&mut batch, &Balance { owner: 8, denom: "osmo" }, &BalanceValue { amount: 20 })?;
//! assert!(frozen.insert(&mut batch, &Frozen { owner: 8 })?);
//! assert!(!frozen.insert(&mut batch, &Frozen { owner: 8 })?);
//! batch.commit(Durability::Buffer)?;
//!
//! let view = store.snapshot()?;
//! assert_eq!((balances.count(&view)?, of_seven.count(&view)?), (2, 1));
//! // A row of somebody else is not one of this map's.
//! assert!(of_seven.get(&view, &Balance { owner: 8, denom: "osmo" }).is_err());
//! # Ok::<(), keyplan::store::Error>(())
//! ```

mod counted_map;
mod deque;
mod expiring_map;
mod history_map;
mod indexed_map;
mod item;
mod locks;
mod map;
mod nonces;
mod sequence;
mod set;
mod sharded_counter;
mod summed_map;

pub use counted_map::CountedMap;
pub use deque::Deque;
pub use expiring_map::{Expiring, ExpiringKey, ExpiringMap, ExpiringRows, ExpiringValue};
pub use history_map::{CurrentKey, CurrentValue, History, HistoryMap, HistoryRows, Past, Pruning};
pub use indexed_map::{IndexOf, IndexRows, Indexed, IndexedMap};
pub use item::Item;
pub use locks::{Held, LockGuard, LockKey, Locks};
pub use map::Map;
pub use nonces::Nonces;
pub use sequence::Sequence;
pub use set::Set;
pub use sharded_counter::ShardedCounter;
pub use summed_map::{Summed, SummedMap};

use super::{Error, Read, Row, Stored};
use keyplan_typed::{Key, ScanOf};

/// A key of a scan's family.
pub type KeyOf<'k, S> = <<S as ScanOf>::Key as Key>::Decoded<'k>;
/// A value of a scan's family.
pub type ValueOf<'v, S> = <<S as ScanOf>::Key as Key>::Value<'v>;

/// A value of a family as something that can be read gives it.
pub type StoredIn<K, R> = Stored<K, <R as Read>::Bytes>;
/// A row that an index named, as something that can be read gives it.
pub type RowIn<K, R> = Row<K, Vec<u8>, <R as Read>::Bytes>;

/// A family whose value is one number, such as `-> count: u64`.
pub trait NumberKey: Key {
    /// The value that says `number`.
    fn value_of(number: u64) -> Self::Value<'static>;
    /// The number that a value says.
    fn number_of(value: Self::Value<'_>) -> u64;
}

/// A family whose value is two numbers, such as `-> head: u64 tail: u64`.
pub trait SpanKey: Key {
    /// The value that says where something starts and ends.
    fn value_of(start: u64, end: u64) -> Self::Value<'static>;
    /// The start and the end that a value says.
    fn span_of(value: Self::Value<'_>) -> (u64, u64);
}

/// The number under a key, if there is one.
fn number<K: NumberKey, R: Read>(read: &R, key: &K) -> Result<Option<u64>, Error> {
    read.get_with(key, K::number_of)
}
