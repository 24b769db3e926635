//! The store of the 1Sat indexer: outputs, the events they raise, topics, queues and progress.
//!
//! [`document`] holds the types of the plan that states 1Sat's document, with its prefixes and keys as constants
//! (`store::hashes::PREFIX` is `h:`, `store::hashes::Satoshis::KEY` is `h:sats`), and [`onesat_v2`](crate::onesat_v2) those of its
//! repaired successor. With the feature `store` there is the store itself, [`OneSat`], on any
//! [`Structures`](keyplan_store::structure::Structures): embedded, or a server that 1Sat's own program uses too.
//!
//! ```
//! # #[cfg(feature = "store")] {
//! use keyplan::codec::Score;
//! use keyplan_chains::onesat::{Event, IndexedTx, NewOutput, OneSat, Outpoint, PlaceQuery};
//!
//! let store = OneSat::in_memory()?;
//! let owner = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";
//! let owned = store.event_name(&Event::Owner { address: owner })?;
//! let output = NewOutput { satoshis: Some(5_000), events: vec![owned.clone()], ..NewOutput::at(0) };
//! let at = Score::Confirmed { height: 850_000, index: 12 };
//! store.apply(&IndexedTx { outputs: vec![output], ..IndexedTx::new([1; 32], at) })?;
//!
//! let outpoint = Outpoint { txid: [1; 32], vout: 0 };
//! assert_eq!(store.satoshis(&[outpoint])?, [Some(5_000)]);
//! let page = store.unspent(&owned, &PlaceQuery::default(), None)?;
//! assert_eq!(page.found[0].member, outpoint);
//!
//! let later = Score::Confirmed { height: 850_001, index: 3 };
//! store.apply(&IndexedTx { spends: vec![outpoint], ..IndexedTx::new([2; 32], later) })?;
//! assert!(store.unspent(&owned, &PlaceQuery::default(), None)?.found.is_empty());
//! store.rollback(&[2; 32])?;
//! assert_eq!(store.unspent(&owned, &PlaceQuery::default(), None)?.found.len(), 1);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where it differs from the real store
//!
//! | there | here |
//! | --- | --- |
//! | each call is a transaction of its own | a transaction is applied as one step where the structures can do that, and can be taken back |
//! | a range from the far end finds nothing on one backend | the same as from the near end, in the other order |
//! | a join drops members whose heads do not meet | members are compared as members, whatever their scores |
//! | pages are offsets, and each reads the set from its start | a token says where to go on |
//! | a prefix is a pattern on one backend | a prefix is bytes |
//! | −0.0 sorts below −∞, NaN meets another number | there is one zero, and NaN is refused |
//! | the event `x:spnd` is the spent set of `x` | refused, and both readings are named |
//! | a queue is read, worked on and then removed from | items are claimed for a time, and no two workers hold one |
//! | a spent output can be spent again | refused, and the transaction that has spent it is named |

#[cfg(feature = "store")]
mod error;
#[cfg(feature = "store")]
mod event;
#[cfg(feature = "store")]
mod layout;
#[cfg(feature = "store")]
mod names;
#[cfg(feature = "store")]
mod output;
#[cfg(feature = "store")]
mod queue;
mod score;
#[cfg(feature = "store")]
mod sets;
#[cfg(feature = "store")]
mod store;
#[cfg(feature = "store")]
mod tx;
#[cfg(feature = "store")]
mod undo;

mod plans {
    keyplan::plan!("plans/onesat.keyplan");
}

#[cfg(feature = "store")]
pub use error::OneSatError;
#[cfg(feature = "store")]
pub use event::{Event, TokenId};
#[cfg(feature = "store")]
pub use layout::Layout;
#[cfg(feature = "store")]
pub use names::{QueueName, SortedSet, TokenList};
#[cfg(feature = "store")]
pub use output::{MerklePosition, Outpoint, Output, TopicOutput, Txid};
pub use plans::onesat as document;
#[cfg(feature = "store")]
pub use queue::{Held, Job};
pub use score::height_score;
#[cfg(feature = "store")]
pub use sets::{Found, FoundPage, Member, PlaceQuery};
#[cfg(feature = "store")]
pub use store::OneSat;
#[cfg(feature = "store")]
pub use tx::{IndexedTx, NewOutput, Queued};
