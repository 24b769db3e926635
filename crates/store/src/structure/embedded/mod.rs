//! Structures as rows of a space, on any engine.
//!
//! | operation | cost in rows |
//! | --- | --- |
//! | add, remove, get, score, contains | a read, and up to four rows written |
//! | count, size | one row |
//! | members, fields, a range, keys | those that are returned, and one |
//! | pop, claim | those that are returned: where the front was taken is remembered, and not walked again |
//! | remove a range | those that are removed |
//! | rank | the members before it |
//! | sum | the members in the range |
//! | an offset | the members passed over |

mod fresh;
mod gaps;
mod head;
mod hold;
mod layout;
mod queue;
mod row;
mod scratch;
mod span;
mod transaction;
mod view;
mod zset;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) use self::fresh::{Filling, Fresh};
use self::hold::Heads;
pub(crate) use self::layout::{put_score, take_score};
pub use self::row::StructureRow;
pub(crate) use self::row::{head_row, read_item, rows_of, thing_row, with_key};
pub use self::transaction::Transaction;
pub use self::view::View;
use super::{
    Command, Expectation, Kind, Pair, QueueItem, QueueSize, RangeQuery, Reply, Rows, ScoreRange, Scored,
    SetScore, StructureCapabilities, StructureError, StructureRead, Structures,
};
use crate::engine::{Durability, Engine, SpaceId};
use crate::page::Direction;
use crate::store::Store;

/// Structures in a space of a store. Clones are handles on the same structures.
///
/// The rows are those of `plans/structures.keyplan`, whatever the space is called. On an engine with one writer, nobody
/// else may write to the space: counts are kept in memory. On one with [several](crate::engine::Writers::Several), nothing
/// is kept from one transaction to the next, and a transaction that another writer has overtaken is refused as a conflict:
/// [`apply`](Structures::apply) then does its commands again, up to 64 times.
///
/// ```
/// use std::sync::Arc;
/// use keyplan_store::engine::{Durability, Memory};
/// use keyplan_store::structure::{Command, Embedded, RangeQuery, SetScore, StructureRead, Structures};
/// use keyplan_store::{Schema, Store};
///
/// let text = "plan demo; space demo { zset recent = \"z:\" name: text member id: u64 score at: score; }";
/// let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
/// let store = Store::create(Memory::new(), &Schema::of(&compiled).expect("sound"))?;
/// let structures = Embedded::open(Arc::new(store), "demo")?;
///
/// let score = SetScore::confirmed(850_000, 12);
/// let add = Command::ZsetAdd { key: b"z:new", member: &[1], score };
/// let note = Command::HashSet { key: b"h:1", field: b"seen", value: b"yes" };
/// structures.apply(&[add, note], Durability::Buffer)?;
/// assert_eq!(structures.zset_range(b"z:new", &RangeQuery::default())?.len(), 1);
/// assert_eq!(structures.hash_get(b"h:1", b"seen")?.as_deref(), Some(&b"yes"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Embedded<E: Engine>(Arc<Inner<E>>);

struct Inner<E: Engine> {
    store: Arc<Store<E>>,
    space: SpaceId,
    name: Arc<str>,
    // Held by whoever changes something, from its first read to its commit.
    heads: Arc<Mutex<Heads>>,
}

/// How often commands are tried again after a conflict with another writer.
const CONFLICTS: u32 = 64;

impl<E: Engine> Embedded<E> {
    /// The structures of a space of the store's plan. Opened again while they are in use, they are the same ones.
    pub fn open(store: Arc<Store<E>>, space: &str) -> Result<Self, StructureError> {
        let id = store.space(space)?;
        // Two that did not know of each other would each count for itself.
        let heads = store.attached(id, || Mutex::new(Heads::default()));
        Ok(Self(Arc::new(Inner { store, space: id, name: space.into(), heads })))
    }

    /// The store below.
    pub fn store(&self) -> &Arc<Store<E>> {
        &self.0.store
    }

    /// The number of the space in its engine.
    pub fn space(&self) -> SpaceId {
        self.0.space
    }

    /// Begins changes that are committed as one step, with others on the same store if need be.
    ///
    /// Waits until no other transaction is under way.
    pub fn transaction(&self) -> Result<Transaction<'_, E>, StructureError> {
        let heads = self.0.heads.lock().unwrap_or_else(PoisonError::into_inner);
        Transaction::new(&self.0, heads)
    }

    /// Does something in a transaction and commits it. After a conflict with another writer, of whom there is none but on
    /// engines with several, nothing was written, and it is done again from the start, up to 64 times.
    pub fn in_transaction<T>(
        &self,
        durability: Durability,
        mut change: impl FnMut(&mut Transaction<'_, E>) -> Result<T, StructureError>,
    ) -> Result<T, StructureError> {
        let mut tries = 0_u32;
        loop {
            let mut transaction = self.transaction()?;
            let changed = change(&mut transaction)?;
            match transaction.commit(durability) {
                Ok(()) => return Ok(changed),
                Err(error) if error.is_conflict() && tries < CONFLICTS => tries += 1,
                Err(error) => return Err(error),
            }
            // Not at the same moment as the others that were refused.
            let spread = RandomState::new().hash_one(tries) % (1 << tries.min(6));
            std::thread::sleep(Duration::from_millis(spread));
        }
    }

    /// A view of one moment.
    pub fn view(&self) -> Result<View<E>, StructureError> {
        Ok(View::new(self.0.store.engine().snapshot()?, self.0.space, self.0.name.clone()))
    }
}

impl<E: Engine> Clone for Embedded<E> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E: Engine> fmt::Debug for Embedded<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded").field("space", &self.0.name).finish_non_exhaustive()
    }
}

impl<E: Engine> Structures for Embedded<E> {
    fn capabilities(&self) -> StructureCapabilities {
        StructureCapabilities::everything(self.0.store.engine().name())
    }

    fn apply(&self, commands: &[Command<'_>], durability: Durability) -> Result<Vec<Reply>, StructureError> {
        self.in_transaction(durability, |transaction| transaction.apply(commands))
    }

    fn apply_if(
        &self,
        expected: &[Expectation<'_>],
        commands: &[Command<'_>],
        durability: Durability,
    ) -> Result<Vec<Reply>, StructureError> {
        self.in_transaction(durability, |transaction| {
            for one in expected {
                transaction.expect(one)?;
            }
            transaction.apply(commands)
        })
    }

    fn clock(&self) -> Result<u64, StructureError> {
        Ok(queue::clock())
    }

    fn snapshot(&self) -> Result<Box<dyn StructureRead + '_>, StructureError> {
        Ok(Box::new(self.view()?))
    }

    fn apply_one(&self, command: Command<'_>) -> Result<Reply, StructureError> {
        self.in_transaction(Durability::Buffer, |transaction| transaction.apply_one(&command))
    }
}

/// Each read has a view of its own.
impl<E: Engine> StructureRead for Embedded<E> {
    fn space_name(&self) -> Option<&str> {
        Some(&self.0.name)
    }

    fn kind(&self, key: &[u8]) -> Result<Option<Kind>, StructureError> {
        self.view()?.kind(key)
    }

    fn keys(&self, kind: Kind, prefix: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError> {
        self.view()?.read_keys(kind, prefix)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StructureError> {
        self.view()?.get(key)
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        self.view()?.get_many(keys)
    }

    fn scan(&self, prefix: &[u8]) -> Result<Rows<'_, Pair>, StructureError> {
        self.view()?.read_values(prefix)
    }

    fn set_contains(&self, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        self.view()?.set_contains(key, member)
    }

    fn set_contains_many(&self, key: &[u8], members: &[&[u8]]) -> Result<Vec<bool>, StructureError> {
        self.view()?.set_contains_many(key, members)
    }

    fn set_members(&self, key: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError> {
        self.view()?.read_members(key)
    }

    fn set_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        self.view()?.set_count(key)
    }

    fn hash_get(&self, key: &[u8], field: &[u8]) -> Result<Option<Vec<u8>>, StructureError> {
        self.view()?.hash_get(key, field)
    }

    fn hash_get_many(&self, key: &[u8], fields: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        self.view()?.hash_get_many(key, fields)
    }

    fn hash_get_each(&self, places: &[(&[u8], &[u8])]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        self.view()?.hash_get_each(places)
    }

    fn hash_all(&self, key: &[u8]) -> Result<Rows<'_, Pair>, StructureError> {
        self.view()?.read_fields(key)
    }

    fn hash_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        self.view()?.hash_count(key)
    }

    fn zset_score(&self, key: &[u8], member: &[u8]) -> Result<Option<SetScore>, StructureError> {
        self.view()?.zset_score(key, member)
    }

    fn zset_score_each(&self, places: &[(&[u8], &[u8])]) -> Result<Vec<Option<SetScore>>, StructureError> {
        self.view()?.zset_score_each(places)
    }

    fn zset_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        self.view()?.zset_count(key)
    }

    fn zset_sum(&self, key: &[u8], scores: &ScoreRange) -> Result<f64, StructureError> {
        self.view()?.zset_sum(key, scores)
    }

    fn zset_rank(
        &self,
        key: &[u8],
        member: &[u8],
        direction: Direction,
    ) -> Result<Option<u64>, StructureError> {
        self.view()?.zset_rank(key, member, direction)
    }

    fn zset_range(&self, key: &[u8], query: &RangeQuery) -> Result<Vec<Scored>, StructureError> {
        self.view()?.zset_range(key, query)
    }

    fn zset_rows(
        &self,
        key: &[u8],
        scores: &ScoreRange,
        direction: Direction,
        after: Option<&Scored>,
    ) -> Result<Rows<'_, Scored>, StructureError> {
        self.view()?.read_scored(key, scores, direction, after)
    }

    fn queue_size(&self, key: &[u8]) -> Result<QueueSize, StructureError> {
        self.view()?.queue_size(key)
    }

    fn queue_peek(&self, key: &[u8], count: usize) -> Result<Vec<Scored>, StructureError> {
        self.view()?.queue_peek(key, count)
    }

    fn queue_item(&self, key: &[u8], member: &[u8]) -> Result<Option<QueueItem>, StructureError> {
        self.view()?.queue_item(key, member)
    }

    fn queue_items(&self, key: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError> {
        self.view()?.read_items(key)
    }

    fn queue_dead(&self, key: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError> {
        self.view()?.read_dead(key)
    }
}
