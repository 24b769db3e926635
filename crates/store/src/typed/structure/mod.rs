//! Hashes, sets, sorted sets and queues by the types of their families.
//!
//! [`Step::update`] reads, decides and writes as one step, between processes too; [`Nonces`] and [`Locks`] are made of that.
//!
//! A handle is of one family: it takes the family's keys, members, fields and scores, and gives them back. It is on
//! whatever [`Structures`](raw::Structures) there are: in a space of a [`Store`](super::Store), on a Redis server, or a
//! snapshot of either. Bytes of another program that are not what the plan says are an error, never a value.
//!
//! ```
//! keyplan::plan! {
//!     plan feed;
//!
//!     space feed {
//!         /// What happened, newest last.
//!         zset event = "ev:" name: text("a-z", 1..=20)
//!             member txid: bytes(32) vout: u32
//!             score height: u64;
//!         hash token = "tok:" id: u64
//!             field symbol = "sym" -> symbol: text("A-Z", 1..=8);
//!     }
//! }
//! use feed::feed::{Event, EventMember, EventScore, Token, TokenSymbolField, TokenSymbolValue};
//! use keyplan::store::engine::{Durability, Memory};
//! use keyplan::store::Store;
//! use keyplan::store::structure::{Hash, Step, Zset};
//!
//! let store = Store::create_on(Memory::new(), &feed::PLAN)?;
//! let structures = store.structures("feed")?;
//!
//! let events = Zset::<Event, _>::on(&structures)?;
//! let (sales, member) = (Event { name: "sales" }, EventMember { txid: [7; 32], vout: 1 });
//! assert!(events.add(&sales, &member, &EventScore { height: 850_000 })?);
//! for found in events.range(&sales, EventScore { height: 800_000 }..)? {
//!     assert_eq!(found.member()?, member);
//!     assert_eq!(found.score()?.height, 850_000);
//! }
//!
//! // Several families in one step.
//! let mut step = Step::new();
//! step.zset_remove(&sales, &member)?;
//! step.hash_set(&Token { id: 1 }, TokenSymbolField {}, &TokenSymbolValue { symbol: "SAT" })?;
//! step.apply(&structures, Durability::Buffer)?;
//! let symbol = Hash::<Token, _>::on(&structures)?.get(&Token { id: 1 }, TokenSymbolField {})?;
//! assert_eq!(symbol.unwrap().value()?.symbol, "SAT");
//! # Ok::<(), keyplan::store::Error>(())
//! ```

mod found;
mod hash;
mod locks;
mod nonces;
mod queue;
mod set;
mod step;
mod zset;

pub use crate::structure as raw;
pub use found::{FoundField, FoundItem, FoundMember, FoundScored, FoundValue};
pub use hash::Hash;
pub use locks::{Held, LockField, LockGuard, Locks};
pub use nonces::{Nonces, NumberField};
pub use queue::Queue;
pub use set::Set;
pub use step::Step;
pub use zset::Zset;

use crate::structure::{Kind, SetScore, StructureRead};

use super::Error;
use super::row::key_of;
use keyplan_typed::{Key, Rank, Ranked, ScoredKey, Value};

/// Keys that are found, one after the other, each with its bytes.
pub type Keys<'r> = Box<dyn Iterator<Item = Result<Vec<u8>, Error>> + Send + 'r>;

/// Refuses structures of another space than a family's.
fn in_space<K: Key>(read: &(impl StructureRead + ?Sized)) -> Result<(), Error> {
    match read.space_name() {
        Some(found) if found != K::SPACE => {
            Err(Error::OtherSpace { family: K::FAMILY, wanted: K::SPACE, found: found.to_owned() })
        }
        _ => Ok(()),
    }
}

/// The keys of a family that hold something. A key of another family is an error.
fn keys<K: Key>(read: &(impl StructureRead + ?Sized), kind: Kind) -> Result<Keys<'_>, Error> {
    let found = read.keys(kind, K::PREFIX)?;
    Ok(Box::new(found.map(|key| {
        let key = key?;
        key_of::<K>(&key)?;
        Ok(key)
    })))
}

/// The score as structures keep it. It must be one of the plan, and equal to what is kept.
fn kept<'s, K: ScoredKey>(score: &K::Score<'s>) -> Result<SetScore, Error>
where
    K::Score<'s>: Ranked,
{
    score.to_vec()?;
    match score.rank() {
        Some(Rank::Number(number)) => Ok(SetScore::Number(number)),
        Some(Rank::Place(place)) => Ok(SetScore::Place(place)),
        None => Err(Error::Unranked { family: K::FAMILY, score: format!("{score}") }),
    }
}

/// The score of the plan that structures have kept.
fn read_back<'s, K: ScoredKey>(kept: SetScore) -> Result<K::Score<'s>, Error>
where
    K::Score<'s>: Ranked,
{
    let rank = match kept {
        SetScore::Number(number) => Rank::Number(number),
        SetScore::Place(place) => Rank::Place(place),
    };
    let foreign = |source| {
        let bytes = match kept {
            SetScore::Number(number) => number.to_bits().to_be_bytes().to_vec(),
            SetScore::Place(place) => format!("{place:?}").into_bytes(),
        };
        Error::foreign_part(K::FAMILY, "score", &bytes, source)
    };
    let score = <K::Score<'s>>::of_rank(rank).ok_or_else(|| foreign(None))?;
    match score.to_vec() {
        Ok(_) => Ok(score),
        Err(error) => Err(foreign(Some(error))),
    }
}
