//! Every key, value, member and score of a database, held against a plan.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::Arc;
//!
//! use keyplan_report::verify::verify;
//! use keyplan_store::engine::{Durability, Memory};
//! use keyplan_store::{Schema, Store};
//!
//! let text = "plan demo; space s { key k = 0x01 id: u8 -> json; }";
//! let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
//! let store = Arc::new(Store::create(Memory::new(), &Schema::of(&compiled).expect("sound"))?);
//! let mut batch = store.batch()?;
//! batch.put(store.space("s")?, [1, 7].as_slice(), b"{}".as_slice());
//! batch.put(store.space("s")?, [2, 7].as_slice(), b"{}".as_slice());
//! batch.commit(Durability::SyncAll)?;
//!
//! let plan = compiled.plan.expect("sound");
//! let mut wrong = Vec::new();
//! let verified = verify(
//!     &store,
//!     &plan,
//!     &mut |flawed| Ok(wrong.push(flawed.key.to_vec())),
//!     &mut |_| ControlFlow::Continue(()),
//! )?;
//! assert_eq!((verified.rows, verified.unknown, wrong), (2, 1, vec![vec![2, 7]]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod structures;

use std::collections::BTreeMap;
use std::io;
use std::num::TryFromIntError;
use std::ops::ControlFlow;
use std::sync::Arc;

use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::{Family, Plan};
use keyplan_store::engine::{Engine, KeyRange, OwnedKeyRange};
use keyplan_store::source::{Source, SourceError};
use keyplan_store::structure::{StructureError, StructureRead};
use keyplan_store::{Direction, Store, StoreError, StoreSnapshot};

use crate::binding::Binding;
use crate::look::{Looked, look};
use crate::statistics::structures;
use crate::structure::{QUEUE_ITEM, is_structured, queue_item};

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// No family makes its key.
    Unknown(String),
    /// Its value is not what its family says.
    Value(String),
}

/// Something that the plan does not make, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Flawed<'a> {
    /// The space.
    pub space: &'a str,
    /// The family of its key, if it has one.
    pub family: Option<&'a Family>,
    /// Its key.
    pub key: &'a [u8],
    /// The value or member that is wrong; nothing if it is the key.
    pub value: &'a [u8],
    /// What is wrong.
    pub flaw: &'a Flaw,
}

/// Is told what is wrong, as it is found.
pub type Tell<'a> = &'a mut dyn FnMut(&Flawed<'_>) -> io::Result<()>;

/// Is told how many rows were read, and says whether to go on.
pub type Told<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Why a verification did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A structure could not be read.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// The source could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Whoever was told of a flaw could not take it.
    #[error(transparent)]
    Taken(#[from] io::Error),
    /// A queue is longer than this machine can count.
    #[error(transparent)]
    Count(#[from] TryFromIntError),
    /// The rows of structures are known of our own databases only.
    #[error("`{space}` holds structures, which another program's database has no rows of")]
    Structured {
        /// The space of the plan.
        space: String,
    },
    /// Whoever watched the progress asked for an end.
    #[error(
        "{} rows are verified, with {} unknown keys and {} malformed values",
        .0.rows, .0.unknown, .0.malformed
    )]
    Stopped(Verified),
}

/// How often progress is told.
const REPORT_EVERY: u64 = 10_000;

/// What became of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Rows read; of structures their keys, fields, members and items.
    pub rows: u64,
    /// Keys that no family makes.
    pub unknown: u64,
    /// Values, members and scores that are none of the plan.
    pub malformed: u64,
    /// Keys that can be read in several ways.
    pub ambiguous: u64,
    /// What was not looked at, and how often.
    pub unseen: BTreeMap<&'static str, u64>,
}

impl Verified {
    /// Whether everything that was looked at is of the plan.
    pub const fn is_sound(&self) -> bool {
        self.unknown + self.malformed == 0
    }
}

/// What a verification has found so far.
struct Review<'a> {
    found: Verified,
    tell: Tell<'a>,
    told: Told<'a>,
}

impl<'a> Review<'a> {
    fn new(tell: Tell<'a>, told: Told<'a>) -> Self {
        Self { found: Verified::default(), tell, told }
    }

    /// Counts a flaw, and tells of it.
    fn take(
        &mut self,
        space: &str,
        decoded: Option<&Decoded<'_>>,
        key: &[u8],
        value: &[u8],
        flaw: &Flaw,
    ) -> Result<(), VerifyError> {
        match flaw {
            Flaw::Unknown(_) => self.found.unknown += 1,
            Flaw::Value(_) => self.found.malformed += 1,
        }
        let family = decoded.map(|decoded| decoded.family);
        Ok((self.tell)(&Flawed { space, family, key, value, flaw })?)
    }

    /// Counts a key that can be read in several ways.
    fn ambiguous(&mut self) {
        self.found.ambiguous += 1;
    }

    /// Counts what was not looked at.
    fn unseen(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.found.unseen.entry(what).or_default() += count;
        }
    }

    /// Counts a row, or what takes its place; every so often it is told how many there are.
    fn count(&mut self) -> Result<(), VerifyError> {
        self.found.rows += 1;
        if self.found.rows.is_multiple_of(REPORT_EVERY) { self.goes_on() } else { Ok(()) }
    }

    /// Tells how far it has come, and ends if that is asked for.
    fn goes_on(&mut self) -> Result<(), VerifyError> {
        match (self.told)(self.found.rows) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(VerifyError::Stopped(self.found.clone())),
        }
    }
}

/// Decodes every row of a store, and looks into its structures.
pub fn verify<E: Engine>(
    store: &Arc<Store<E>>,
    plan: &Plan,
    tell: Tell<'_>,
    told: Told<'_>,
) -> Result<Verified, VerifyError> {
    let snapshot = store.snapshot()?;
    let decoder = Decoder::new(plan);
    let mut review = Review::new(tell, told);
    for (index, space) in plan.spaces.iter().enumerate() {
        if is_structured(space) {
            let read = structures(store, space)?;
            structures::verify(&*read, plan, index, Queues::Rows, &mut review)?;
            items(&snapshot, &decoder, index, &mut review)?;
            review.goes_on()?;
            continue;
        }
        for row in snapshot.range(snapshot.space(space.engine_name())?, KeyRange::ALL)? {
            let (key, value) = row.map_err(StoreError::from)?;
            row_of(&decoder, index, &key, &value, &mut review)?;
            review.count()?;
        }
    }
    Ok(review.found)
}

/// Decodes every row of a source that has no plan in it.
pub fn verify_source(
    source: &dyn Source,
    plan: &Plan,
    binding: &Binding,
    tell: Tell<'_>,
    told: Told<'_>,
) -> Result<Verified, VerifyError> {
    let decoder = Decoder::new(plan);
    let view = source.view()?;
    let mut review = Review::new(tell, told);
    for &(index, space) in &binding.pairs {
        if let Some(space) = plan.spaces.get(index).filter(|space| is_structured(space)) {
            return Err(VerifyError::Structured { space: space.name.clone() });
        }
        let mut walk = view.walk(space, KeyRange::ALL, Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            row_of(&decoder, index, row.key, row.value, &mut review)?;
            review.count()?;
        }
    }
    Ok(review.found)
}

/// Looks into the structures of a space wherever they are; items of queues that workers hold are not seen.
pub fn verify_structures(
    read: &dyn StructureRead,
    plan: &Plan,
    space: usize,
    tell: Tell<'_>,
    told: Told<'_>,
) -> Result<Verified, VerifyError> {
    let mut review = Review::new(tell, told);
    structures::verify(read, plan, space, Queues::Seen, &mut review)?;
    Ok(review.found)
}

/// How the items of queues are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queues {
    /// By their rows, by somebody else; only the scores of those that wait are looked at here.
    Rows,
    /// As far as a queue shows them: those that workers hold are not shown.
    Seen,
}

/// Looks at a row of a space that holds no structures.
fn row_of(
    decoder: &Decoder<'_>,
    index: usize,
    key: &[u8],
    value: &[u8],
    review: &mut Review<'_>,
) -> Result<(), VerifyError> {
    let read = decoder.decode_all(index, key, 2).map(|mut all| {
        if all.readings.len() > 1 {
            review.ambiguous();
        }
        all.readings.swap_remove(0)
    });
    let flaw = match &read {
        Err(miss) => Flaw::Unknown(miss.to_string()),
        Ok(found) => match found.family.value.as_ref().map(|layout| look(layout, value)) {
            Some(Looked::Unsound(why)) => Flaw::Value(why),
            Some(Looked::Unseen(what)) => {
                review.unseen(what, 1);
                return Ok(());
            }
            Some(Looked::Sound) | None => return Ok(()),
        },
    };
    let space = decoder.plan().spaces.get(index).map_or("", |space| space.name.as_str());
    review.take(space, read.as_ref().ok(), key, value, &flaw)
}

/// Looks at every item of a queue, wherever it is: in waiting, held by a worker, or given up.
fn items<E: Engine>(
    snapshot: &StoreSnapshot<E>,
    decoder: &Decoder<'_>,
    index: usize,
    review: &mut Review<'_>,
) -> Result<(), VerifyError> {
    let Some(space) = decoder.plan().spaces.get(index) else { return Ok(()) };
    let range = OwnedKeyRange::prefix(&[QUEUE_ITEM]);
    for row in snapshot.range(snapshot.space(space.engine_name())?, range.borrow())? {
        let (row, _) = row.map_err(StoreError::from)?;
        let Some((key, member)) = queue_item(&row) else {
            review.take(
                &space.name,
                None,
                &row,
                &[],
                &Flaw::Unknown("it is not a row of a queue".to_owned()),
            )?;
            continue;
        };
        review.count()?;
        // A key that no family makes is told once, for the whole queue.
        let Ok(queue) = decoder.decode(index, key) else { continue };
        match queue.family.member.as_ref().map(|layout| look(layout, member)) {
            Some(Looked::Unsound(why)) => {
                let flaw = Flaw::Value(format!("member: {why}"));
                review.take(&space.name, Some(&queue), key, member, &flaw)?;
            }
            Some(Looked::Unseen(what)) => review.unseen(what, 1),
            Some(Looked::Sound) | None => {}
        }
    }
    Ok(())
}
