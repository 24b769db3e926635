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
//! | [`Set`] | the rows of a scan, with values of no bytes | keys alone |
//! | [`CountedMap`] | a map's, and a number | a map that knows how many rows it has |
//! | [`IndexedMap`] | a map's, and one for each index | rows that are also found in other ways |
//! | [`HistoryMap`] | a map's, its log, and what changed when | values at earlier heights |
//! | [`Sequence`] | a number | numbers that are given out once |
//! | [`ShardedCounter`] | numbers by shard | a count that many writers add to |
//! | [`Deque`] | elements by place, and both ends | a queue at both ends |

mod counted_map;
mod deque;
mod history_map;
mod indexed_map;
mod item;
mod map;
mod sequence;
mod set;
mod sharded_counter;

pub use counted_map::CountedMap;
pub use deque::Deque;
pub use history_map::{CurrentKey, CurrentValue, History, HistoryMap, HistoryRows, Past, Pruning};
pub use indexed_map::{IndexOf, IndexRows, Indexed, IndexedMap};
pub use item::Item;
pub use map::Map;
pub use sequence::Sequence;
pub use set::Set;
pub use sharded_counter::ShardedCounter;

use super::{Error, Read};
use crate::typed::{Key, ScanOf};

/// A key of a scan's family.
pub type KeyOf<'k, S> = <<S as ScanOf>::Key as Key>::Decoded<'k>;
/// A value of a scan's family.
pub type ValueOf<'v, S> = <<S as ScanOf>::Key as Key>::Value<'v>;

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
    read.get(key)?.map(|found| found.value().map(K::number_of)).transpose()
}
