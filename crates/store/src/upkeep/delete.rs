use std::collections::BTreeMap;
use std::ops::ControlFlow;

use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::{Family, Plan, Scan};

use crate::engine::{Batch, Durability, Engine, OwnedKeyRange};
use crate::error::StoreError;
use crate::store::Store;

/// How many rows of a scan are looked at in one step.
const CHUNK: usize = 10_000;

/// What became of the rows of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// How many were deleted.
    pub rows: u64,
    /// How many of others were met and kept, by their family.
    pub kept: BTreeMap<String, u64>,
    /// Whether it was asked for an end before all were looked at; the same call goes on.
    pub stopped: bool,
}

/// The rows of a declared scan, to be deleted.
pub struct DeleteScan<'p> {
    decoder: Decoder<'p>,
    space: usize,
    family: &'p Family,
    /// What the plan says of it.
    claim: &'p Scan,
    prefix: Vec<u8>,
}

impl<'p> DeleteScan<'p> {
    /// The rows of a scan of a family of the plan's space at `space`; `prefix` is what its bound arguments make.
    pub fn new(plan: &'p Plan, space: usize, family: &'p Family, claim: &'p Scan, prefix: Vec<u8>) -> Self {
        Self { decoder: Decoder::new(plan), space, family, claim, prefix }
    }

    /// Deletes the rows that are the family's and have these arguments, however they are read. A flaw that the plan accepts
    /// may bring others into the range: they are counted and kept. `told` hears how many are gone, and may stop between two steps.
    pub fn run<E: Engine>(
        &self,
        store: &Store<E>,
        dry_run: bool,
        mut told: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Deleted, StoreError> {
        let name = self.decoder.plan().spaces.get(self.space).map_or("", |space| space.engine_name());
        let space = store.space(name)?;
        let mut deleted = Deleted::default();
        let mut rest = OwnedKeyRange::prefix(&self.prefix);
        loop {
            // A snapshot for each step, so that none is held for long and no deleted row is walked over again.
            let snapshot = store.snapshot()?;
            let mut batch = Batch::<E>::new();
            let mut last = None;
            for row in snapshot.range(space, rest.borrow())?.take(CHUNK) {
                let (key, _) = row?;
                match self.stranger(&key) {
                    None => batch.delete(space, &key[..]),
                    Some(of) => *deleted.kept.entry(of).or_default() += 1,
                }
                last = Some(key);
            }
            let Some(last) = last else { break };
            rest = rest.after(&last);
            deleted.rows += u64::try_from(batch.len()).unwrap_or(u64::MAX);
            if !dry_run {
                store.commit(batch, Durability::SyncData)?;
            }
            if told(deleted.rows).is_break() {
                deleted.stopped = true;
                break;
            }
        }
        Ok(deleted)
    }

    /// Whose row a key is, unless every reading of it is a row of this scan.
    fn stranger(&self, key: &[u8]) -> Option<String> {
        let Ok(found) = self.decoder.decode_all(self.space, key, 4) else {
            return Some("keys of no family".to_owned());
        };
        let other = found.readings.iter().find(|read| !self.is_own(read));
        other.map(|read| read.family.path.clone())
    }

    fn is_own(&self, read: &Decoded<'_>) -> bool {
        let (key, mut bytes) = (&self.family.key, Vec::new());
        read.family.path == self.family.path
            && self.claim.values_of(key, &read.values).is_some_and(|values| {
                self.claim.write(key, &values, &mut bytes).is_ok() && bytes == self.prefix
            })
    }
}
