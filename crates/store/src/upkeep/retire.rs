use std::ops::ControlFlow;

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::{FamilyKind, Plan};
use keyplan_plan::notation::hex;

use super::{Removed, Steps};
use crate::engine::{Batch, Engine, OwnedKeyRange};
use crate::error::StoreError;
use crate::store::Store;

/// Something that a plan has given up and that may still have rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetiredTarget {
    /// What it is called: the path of a family, or a space and a prefix, `state.0x030c`.
    pub name: String,
    /// The index of its space in the plan.
    pub space: usize,
    /// What its keys begin with.
    pub prefix: Vec<u8>,
    /// The family, if it is one.
    pub family: Option<String>,
    /// Since when.
    pub since: Option<String>,
    /// Why.
    pub why: String,
}

/// Everything that a plan has given up: families first, then prefixes, each in the order of the plan.
pub fn retired_targets(plan: &Plan) -> Vec<RetiredTarget> {
    let mut all = Vec::new();
    for (index, space) in plan.spaces.iter().enumerate() {
        // Rows of structures are not those of the plan.
        for family in space.families.iter().filter(|family| family.kind == FamilyKind::Key) {
            let Some(why) = &family.retired else { continue };
            all.push(RetiredTarget {
                name: family.path.clone(),
                space: index,
                prefix: family.key.literal_prefix(),
                family: Some(family.path.clone()),
                since: family.retired_since.clone(),
                why: why.clone(),
            });
        }
        for old in space.retired.iter().chain(space.modules.iter().flat_map(|module| &module.retired)) {
            all.push(RetiredTarget {
                name: format!("{}.0x{}", space.name, hex(&old.prefix)),
                space: index,
                prefix: old.prefix.clone(),
                family: None,
                since: old.since.clone(),
                why: old.why.clone(),
            });
        }
    }
    all
}

/// The rows of something that a plan has given up.
///
/// Every key is read under the plan before it goes. A row that a family in use may have made is never removed: it is counted
/// and kept.
#[derive(Debug)]
pub struct Retire<'p> {
    decoder: Decoder<'p>,
    target: RetiredTarget,
}

impl<'p> Retire<'p> {
    /// The rows of what is called `name`: the path of a family or an end of it, or a prefix such as `state.0x030c`.
    pub fn new(plan: &'p Plan, name: &str) -> Result<Self, StoreError> {
        let suffix = format!(".{name}");
        let mut found: Vec<RetiredTarget> = retired_targets(plan)
            .into_iter()
            .filter(|target| target.name == name || target.name.ends_with(&suffix))
            .collect();
        match (found.pop(), found.is_empty()) {
            (Some(target), true) => Ok(Self { decoder: Decoder::new(plan), target }),
            (None, _) => Err(StoreError::NotRetired { name: name.to_owned() }),
            (Some(_), false) => Err(StoreError::NotRetired { name: format!("{name}, one of several") }),
        }
    }

    /// What is retired.
    pub const fn target(&self) -> &RetiredTarget {
        &self.target
    }

    /// Removes the rows in steps, and returns with them how many rows of families in use were met and kept.
    ///
    /// `look` is lent every row that goes, or would.
    pub fn run<E: Engine>(
        &self,
        store: &Store<E>,
        steps: &Steps,
        mut look: impl FnMut(&[u8], &[u8]),
        mut progress: impl FnMut(&Removed) -> ControlFlow<()>,
    ) -> Result<(Removed, u64), StoreError> {
        if !steps.dry_run {
            store.writable()?;
        }
        let name = self.decoder.plan().spaces.get(self.target.space).map_or("", |space| space.engine_name());
        let space = store.space(name)?;
        let (mut removed, mut kept) = (Removed::default(), 0_u64);
        let mut rest = OwnedKeyRange::prefix(&self.target.prefix);
        let mut goes_on = false;
        loop {
            let snapshot = store.snapshot()?;
            let mut batch = Batch::<E>::new();
            let mut last = None;
            for row in snapshot.range(space, rest.borrow())?.take(steps.rows.max(1)) {
                let (key, value) = row?;
                if self.goes(&key) {
                    look(&key, &value);
                    removed.add(&key, &value, goes_on);
                    goes_on = true;
                    batch.delete(space, &key[..]);
                } else {
                    kept += 1;
                    goes_on = false;
                }
                last = Some(key);
            }
            let Some(last) = last else { return Ok((removed, kept)) };
            rest = rest.after(&last);
            if !batch.is_empty() {
                removed.steps += 1;
                if !steps.dry_run {
                    store.commit(batch, steps.durability)?;
                }
            }
            if progress(&removed).is_break() {
                return Err(StoreError::Stopped { done: removed.rows });
            }
        }
    }

    /// Whether a key is one of what is retired, and of nothing that is in use.
    fn goes(&self, key: &[u8]) -> bool {
        let readings = match self.decoder.decode_all(self.target.space, key, 8) {
            // What may have more readings than were looked at stays.
            Ok(found) if found.more => return false,
            Ok(found) => found.readings,
            Err(_) => Vec::new(),
        };
        let unused = readings.iter().all(|read| read.family.retired.is_some());
        match &self.target.family {
            None => unused,
            Some(path) => !readings.is_empty() && readings.iter().all(|read| read.family.path == *path),
        }
    }
}
