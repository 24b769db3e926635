use std::ops::{Bound, ControlFlow};

use keyplan_plan::dynamic::{Decoder, Value, prefix};
use keyplan_plan::model::{Family, Keep, Plan, Retention};

use super::{Removed, Steps};
use crate::engine::{Batch, Engine, OwnedKeyRange, SpaceId};
use crate::error::StoreError;
use crate::snapshot::StoreSnapshot;
use crate::store::Store;

/// The rows of one family that are past the retention which the plan states.
///
/// Rows are looked at group by group: those that agree in the arguments before the one that counts. In a group the rows that
/// go are a range, because the family claims the scan of the group `in order`, and every key is decoded before it goes: a row
/// of another family is never removed.
///
/// ```
/// use keyplan_store::engine::{Durability, Memory};
/// use keyplan_store::{Prune, Schema, Steps, Store, to_the_end};
///
/// let text = "plan p; space s { key vote = 0x01 height: u64 scan all in order retain 10 by height; }";
/// let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("no imports".into()));
/// let store = Store::create(Memory::new(), &Schema::of(&compiled).expect("sound"))?;
/// let space = store.space("s")?;
/// let mut batch = store.batch()?;
/// for height in 1..=25_u64 {
///     batch.put_row(space, &[&[1][..], &height.to_be_bytes()].concat(), b"yes");
/// }
/// batch.commit(Durability::Buffer)?;
/// let plan = compiled.plan.expect("sound");
/// let prune = Prune::new(&plan, "vote", Some(25))?;
/// let steps = Steps { rows: 4, dry_run: false, ..Steps::default() };
/// let removed = prune.run(&store, &steps, to_the_end)?;
/// assert_eq!((removed.rows, removed.steps, removed.ranges), (15, 4, 1));
/// # Ok::<(), keyplan_store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct Prune<'p> {
    decoder: Decoder<'p>,
    space: usize,
    family: &'p Family,
    retention: &'p Retention,
    /// How many segments the scan of a group fixes.
    segments: usize,
    /// The greatest age that goes, for what is kept by height or time.
    cutoff: Option<i128>,
}

impl<'p> Prune<'p> {
    /// The rows of the family at `path` that are past its retention. `now` is the height or the time in nanoseconds; what is
    /// kept by number does not need it.
    pub fn new(plan: &'p Plan, path: &str, now: Option<i128>) -> Result<Self, StoreError> {
        let named = |what: &str| StoreError::NotPruned { family: path.to_owned(), why: what.to_owned() };
        let (space, family) = match plan.find(path).as_slice() {
            [one] => *one,
            [] => return Err(named("the plan has no such family")),
            _ => return Err(named("several families are called so")),
        };
        let retention =
            family.retention.as_ref().ok_or_else(|| named("the plan states no `retain` for it"))?;
        let cutoff = match retention.keep {
            Keep::Newest { .. } => None,
            Keep::Within(kept) => {
                let now = now.ok_or_else(|| named("the present height or time is needed"))?;
                Some(now.saturating_sub(i128::try_from(kept).unwrap_or(i128::MAX)))
            }
        };
        let scan = family.scan_by(retention.bound).ok_or_else(|| named("its rows have no scan"))?;
        let index = plan.spaces.iter().position(|other| other.name == space.name);
        let space = index.ok_or_else(|| named("its space is not there"))?;
        Ok(Self { decoder: Decoder::new(plan), space, family, retention, segments: scan.segments, cutoff })
    }

    /// The family.
    pub const fn family(&self) -> &'p Family {
        self.family
    }

    /// Removes the rows in steps. After each, `progress` is told what is gone so far, and may stop the rest.
    pub fn run<E: Engine>(
        &self,
        store: &Store<E>,
        steps: &Steps,
        mut progress: impl FnMut(&Removed) -> ControlFlow<()>,
    ) -> Result<Removed, StoreError> {
        if !steps.dry_run {
            store.writable()?;
        }
        let name = self.decoder.plan().spaces.get(self.space).map_or("", |space| space.engine_name());
        let space = store.space(name)?;
        let mut removed = Removed::default();
        let mut walk = Walk { rest: OwnedKeyRange::prefix(&self.family.key.literal_prefix()), group: None };
        loop {
            // A snapshot for each step, so that none is held for long and no removed row is walked over again.
            let snapshot = store.snapshot()?;
            let mut batch = Batch::<E>::new();
            let ended =
                self.step(&snapshot, space, &mut walk, steps.rows.max(1), &mut removed, &mut batch)?;
            if !batch.is_empty() {
                removed.steps += 1;
                if !steps.dry_run {
                    store.commit(batch, steps.durability)?;
                }
            }
            if ended {
                return Ok(removed);
            }
            if progress(&removed).is_break() {
                return Err(StoreError::Stopped { done: removed.rows });
            }
        }
    }

    /// Puts up to `limit` rows that go into the batch; whether there are no more.
    fn step<E: Engine>(
        &self,
        snapshot: &StoreSnapshot<E>,
        space: SpaceId,
        walk: &mut Walk,
        limit: usize,
        removed: &mut Removed,
        batch: &mut Batch<E>,
    ) -> Result<bool, StoreError> {
        while batch.len() < limit {
            let Some(row) = snapshot.range(space, walk.rest.borrow())?.next() else { return Ok(true) };
            let (key, _) = row?;
            let Some(values) = self.own(&key) else {
                // A row of another family, or of none: it is not ours to remove.
                walk.rest = walk.rest.clone().after(&key);
                continue;
            };
            let mut group = Vec::new();
            let bound = values.get(..self.retention.bound).unwrap_or_default();
            if prefix(&self.family.key, self.segments, bound, &mut group).is_err() || !key.starts_with(&group)
            {
                walk.rest = walk.rest.clone().after(&key);
                continue;
            }
            let same = walk.group.as_deref() == Some(group.as_slice());
            if !same {
                walk.group = Some(group.clone());
            }
            let mut goes_on = same;
            let mut rest = self.going(snapshot, space, &group)?;
            if let Some(goes) = &mut rest {
                // What a step before has removed is not there; what a dry run has counted is.
                goes.start = later(goes.start.clone(), walk.rest.start.clone());
            }
            let mut full = false;
            if let Some(range) = &rest {
                for row in snapshot.range(space, range.borrow())? {
                    if batch.len() >= limit {
                        full = true;
                        break;
                    }
                    let (key, value) = row?;
                    let own = self.own(&key);
                    if own.as_ref().is_some_and(|values| !self.is_past(values)) {
                        // The rows are in order: what comes after it stays too.
                        break;
                    }
                    walk.rest = walk.rest.clone().after(&key);
                    if own.is_some() {
                        batch.delete(space, &key[..]);
                        removed.add(&key, &value, goes_on);
                        goes_on = true;
                    }
                }
            }
            if full {
                return Ok(false);
            }
            // The rest of the group stays.
            walk.group = None;
            match OwnedKeyRange::prefix(&group).end {
                Bound::Excluded(end) => walk.rest.start = Bound::Included(end),
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    /// The arguments of a key, if it is one of the family's in every reading.
    fn own(&self, key: &[u8]) -> Option<Vec<Value>> {
        let found = self.decoder.decode_all(self.space, key, 4).ok()?;
        if found.readings.iter().any(|read| read.family.path != self.family.path) {
            return None;
        }
        found.readings.into_iter().next().map(|read| read.values)
    }

    /// Whether the row of these arguments is past what is kept by height or time.
    fn is_past(&self, values: &[Value]) -> bool {
        let Some(cutoff) = self.cutoff else { return true };
        match values.get(self.retention.bound) {
            Some(Value::Unsigned(age)) => i128::try_from(*age).is_ok_and(|age| age <= cutoff),
            Some(Value::Signed(age) | Value::Time(age)) => *age <= cutoff,
            _ => false,
        }
    }

    /// The range of a group in which all rows that go are; `None` if none do.
    fn going<E: Engine>(
        &self,
        snapshot: &StoreSnapshot<E>,
        space: SpaceId,
        group: &[u8],
    ) -> Result<Option<OwnedKeyRange>, StoreError> {
        let all = OwnedKeyRange::prefix(group);
        match self.retention.keep {
            // The first row that is not past ends it.
            Keep::Within(_) => Ok(Some(all)),
            Keep::Newest { count, first } => {
                let mut last = None;
                let mut rows = snapshot.range(space, all.borrow())?;
                let mut left = count;
                while left > 0 {
                    let row = if first { rows.next() } else { rows.next_back() };
                    let Some(row) = row else { return Ok(None) };
                    let (key, _) = row?;
                    if self.own(&key).is_some() {
                        left -= 1;
                        last = Some(key.to_vec());
                    }
                }
                let Some(last) = last else { return Ok(None) };
                Ok(Some(if first {
                    OwnedKeyRange { start: Bound::Excluded(last), end: all.end }
                } else {
                    OwnedKeyRange { start: all.start, end: Bound::Excluded(last) }
                }))
            }
        }
    }
}

/// How far a run has come.
struct Walk {
    /// What has not been looked at.
    rest: OwnedKeyRange,
    /// The group that a step has stopped in.
    group: Option<Vec<u8>>,
}

/// The later of two starts.
fn later(a: Bound<Vec<u8>>, b: Bound<Vec<u8>>) -> Bound<Vec<u8>> {
    let place = |bound: &Bound<Vec<u8>>| match bound {
        Bound::Unbounded => (Vec::new(), false),
        Bound::Included(key) => (key.clone(), false),
        Bound::Excluded(key) => (key.clone(), true),
    };
    if place(&b) > place(&a) { b } else { a }
}
