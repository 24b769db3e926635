//! One walk over all rows: how many there are of each family, which no family makes, and which have two readings.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::{Family, Space};
use keyplan_plan::notation::assignments;
use keyplan_report::audit::unread;
use keyplan_report::binding::Binding;
use keyplan_report::structure::{is_structured, row_key};
use keyplan_store::Direction;
use keyplan_store::engine::KeyRange;
use keyplan_store::source::{RowRef, Source, SourceError, Walk as Rows};

use crate::reading::Reading;
use crate::show::cut;

/// How many rows are read between two looks at the clock and at whether to stop.
const STEP: usize = 256;
/// How often what was counted is told, unless telling it takes long.
const TOLD: Duration = Duration::from_millis(100);
/// How many groups of one kind are kept apart.
pub(crate) const GROUPS: usize = 512;
/// How many keys of a group are kept.
pub(crate) const EXAMPLES: usize = 100;
/// How many bytes of a key are kept as an example.
const KEPT: usize = 1024;

/// How much there is of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Rows of the database.
    pub(crate) rows: u64,
    /// Keys of the plan: fewer than rows where a key holds a structure.
    pub(crate) keys: u64,
    pub(crate) key_bytes: u64,
    pub(crate) value_bytes: u64,
}

impl Counts {
    pub(crate) const fn bytes(self) -> u64 {
        self.key_bytes.saturating_add(self.value_bytes)
    }

    fn add(&mut self, row: RowRef<'_>, keys: u64) {
        self.rows += 1;
        self.keys += keys;
        self.key_bytes = self.key_bytes.saturating_add(row.key.len() as u64);
        self.value_bytes = self.value_bytes.saturating_add(row.value.len() as u64);
    }
}

/// Keys that are alike in what is wrong with them.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) space: usize,
    pub(crate) label: String,
    pub(crate) families: Vec<String>,
    pub(crate) offset: Option<usize>,
    pub(crate) message: String,
    pub(crate) counts: Counts,
    pub(crate) shortest: usize,
    pub(crate) longest: usize,
    /// The first of them, as they lie in the database.
    pub(crate) examples: Vec<Vec<u8>>,
}

/// The state of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Walking,
    Done,
    Stopped,
    Failed(String),
}

impl State {
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Walking => "walking",
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Failed(_) => "failed",
        }
    }
}

/// What was counted so far.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) state: State,
    pub(crate) total: Counts,
    /// By space and family.
    pub(crate) families: Vec<Vec<Counts>>,
    /// Which spaces of the plan were walked to their end.
    pub(crate) whole: Vec<bool>,
    pub(crate) unread: BTreeMap<(usize, String), Group>,
    pub(crate) several: BTreeMap<(usize, String), Group>,
    /// Rows whose group found no room.
    pub(crate) beyond: u64,
    pub(crate) took: Duration,
}

impl Tally {
    pub(crate) fn unread_total(&self) -> Counts {
        total(self.unread.values())
    }

    pub(crate) fn several_total(&self) -> Counts {
        total(self.several.values())
    }
}

fn total<'g>(groups: impl Iterator<Item = &'g Group>) -> Counts {
    groups.fold(Counts::default(), |sum, group| Counts {
        rows: sum.rows + group.counts.rows,
        keys: sum.keys + group.counts.keys,
        key_bytes: sum.key_bytes + group.counts.key_bytes,
        value_bytes: sum.value_bytes + group.counts.value_bytes,
    })
}

/// A walk in a thread of its own, and what it has counted.
#[derive(Debug)]
pub(crate) struct Walk {
    tally: Mutex<Tally>,
    stop: AtomicBool,
    pub(crate) reading: Arc<Reading>,
}

impl Walk {
    /// Begins to walk.
    pub(crate) fn begin(
        reading: Arc<Reading>,
        source: Arc<dyn Source>,
        binding: Binding,
    ) -> io::Result<Arc<Self>> {
        let families =
            reading.plan.spaces.iter().map(|space| vec![Counts::default(); space.families.len()]).collect();
        let bound = |index: usize| binding.pairs.iter().any(|(plan, _)| *plan == index);
        let tally = Tally {
            state: State::Walking,
            total: Counts::default(),
            families,
            whole: (0..reading.plan.spaces.len()).map(|index| !bound(index)).collect(),
            unread: BTreeMap::new(),
            several: BTreeMap::new(),
            beyond: 0,
            took: Duration::ZERO,
        };
        let walk = Arc::new(Self { tally: Mutex::new(tally), stop: AtomicBool::new(false), reading });
        let own = Arc::clone(&walk);
        thread::Builder::new().name("keyplan-walk".to_owned()).spawn(move || {
            let begun = Instant::now();
            let mut tally = own.tally().clone();
            let ended = own.run(&*source, &binding, begun, &mut tally);
            tally.took = begun.elapsed();
            tally.state = match ended {
                Ok(true) => State::Done,
                Ok(false) => State::Stopped,
                Err(error) => State::Failed(error.to_string()),
            };
            *own.tally() = tally;
        })?;
        Ok(walk)
    }

    /// What was counted so far.
    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for an end.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.tally().state != State::Walking
    }

    /// Walks all spaces. It counts for itself and tells now and then: nobody who looks waits for a read.
    fn run(
        &self,
        source: &dyn Source,
        binding: &Binding,
        begun: Instant,
        tally: &mut Tally,
    ) -> Result<bool, SourceError> {
        let decoder = Decoder::new(&self.reading.plan);
        let view = source.view()?;
        let mut next = begun;
        for &(index, id) in &binding.pairs {
            let Some(space) = self.reading.plan.spaces.get(index) else { continue };
            let mut pass = Pass::new(&self.reading, &decoder, space, index);
            let mut rows = view.walk(id, KeyRange::ALL, Direction::Ascending)?;
            loop {
                if self.stop.load(Ordering::Relaxed) {
                    return Ok(false);
                }
                let more = pass.step(&mut *rows, tally)?;
                let now = Instant::now();
                if now >= next {
                    tally.took = now.duration_since(begun);
                    *self.tally() = tally.clone();
                    // With very many groups telling takes long: it never takes more than a tenth of the time.
                    next = now + TOLD.max(now.elapsed() * 10);
                }
                if !more {
                    if let Some(whole) = tally.whole.get_mut(index) {
                        *whole = true;
                    }
                    break;
                }
            }
        }
        Ok(true)
    }
}

/// One space while it is walked.
struct Pass<'r> {
    reading: &'r Reading,
    decoder: &'r Decoder<'r>,
    space: &'r Space,
    index: usize,
    structured: bool,
    /// Rows come in the order of their keys, so that most are of the family of the row before.
    last: Option<(&'r Family, usize, bool)>,
}

impl<'r> Pass<'r> {
    fn new(reading: &'r Reading, decoder: &'r Decoder<'r>, space: &'r Space, index: usize) -> Self {
        Self { reading, decoder, space, index, structured: is_structured(space), last: None }
    }

    /// Counts some rows; whether there are more.
    fn step(&mut self, rows: &mut dyn Rows, tally: &mut Tally) -> Result<bool, SourceError> {
        for _ in 0..STEP {
            let Some(row) = rows.next()? else { return Ok(false) };
            self.row(row, tally);
        }
        Ok(true)
    }

    fn row(&mut self, row: RowRef<'_>, tally: &mut Tally) {
        let (key, keys) = if self.structured {
            // Only the row of a value, or the head of a structure, is a key of its own.
            let own = row.key.first().is_some_and(|tag| *tag <= 2);
            (row_key(row.key), u64::from(own))
        } else {
            (Some(row.key), 1)
        };
        tally.total.add(row, keys);
        let Some(key) = key else {
            let label = "00000000 row".to_owned();
            let message = "the row is not of a structure".to_owned();
            let new = || self.group(label.clone(), Vec::new(), Some(0), &message);
            return count(&mut tally.unread, &mut tally.beyond, (self.index, label.clone()), row, keys, new);
        };
        match self.decoder.decode(self.index, key) {
            Err(miss) => {
                let why = unread(key, &miss);
                let place = (self.index, why.label.clone());
                let new = || {
                    self.group(why.label, why.family.into_iter().collect(), Some(why.offset), &why.message)
                };
                count(&mut tally.unread, &mut tally.beyond, place, row, keys, new);
            }
            Ok(decoded) => {
                let (at, sure) = self.place(decoded.family);
                let counts = tally.families.get_mut(self.index).and_then(|all| all.get_mut(at));
                if let Some(counts) = counts {
                    counts.add(row, keys);
                }
                if !sure {
                    self.readings(key, row, keys, tally);
                }
            }
        }
    }

    /// The number of a family in its space, and whether its keys are known to have one reading.
    fn place(&mut self, family: &'r Family) -> (usize, bool) {
        if let Some((last, at, sure)) = self.last
            && std::ptr::eq(last, family)
        {
            return (at, sure);
        }
        let at = self.space.families.iter().position(|other| std::ptr::eq(other, family)).unwrap_or_default();
        let sure = self.reading.is_sure(family);
        self.last = Some((family, at, sure));
        (at, sure)
    }

    fn readings(&self, key: &[u8], row: RowRef<'_>, keys: u64, tally: &mut Tally) {
        let Ok(found) = self.decoder.decode_all(self.index, key, 2) else { return };
        if found.readings.len() < 2 {
            return;
        }
        let mut families: Vec<String> =
            found.readings.iter().map(|reading| reading.family.path.clone()).collect();
        families.sort_unstable();
        families.dedup();
        let label = families.join(" ");
        let new = || {
            let shown: Vec<String> = found.readings.iter().map(reading_text).collect();
            self.group(label.clone(), families, None, &shown.join(" = "))
        };
        count(&mut tally.several, &mut tally.beyond, (self.index, label.clone()), row, keys, new);
    }

    fn group(&self, label: String, families: Vec<String>, offset: Option<usize>, message: &str) -> Group {
        Group {
            space: self.index,
            label,
            families,
            offset,
            message: cut(message, 400),
            counts: Counts::default(),
            shortest: usize::MAX,
            longest: 0,
            examples: Vec::new(),
        }
    }
}

/// `cl.tick pool_id=7 tick=-100`
pub(crate) fn reading_text(decoded: &Decoded<'_>) -> String {
    let arguments = assignments(&decoded.family.key, &decoded.values);
    cut(format!("{} {arguments}", decoded.family.path).trim_end(), 400)
}

fn count(
    groups: &mut BTreeMap<(usize, String), Group>,
    beyond: &mut u64,
    place: (usize, String),
    row: RowRef<'_>,
    keys: u64,
    new: impl FnOnce() -> Group,
) {
    let room = groups.len() < GROUPS;
    let group = match groups.entry(place) {
        std::collections::btree_map::Entry::Occupied(group) => group.into_mut(),
        std::collections::btree_map::Entry::Vacant(place) if room => place.insert(new()),
        std::collections::btree_map::Entry::Vacant(_) => {
            *beyond += 1;
            return;
        }
    };
    group.counts.add(row, keys);
    group.shortest = group.shortest.min(row.key.len());
    group.longest = group.longest.max(row.key.len());
    if group.examples.len() < EXAMPLES && row.key.len() <= KEPT {
        group.examples.push(row.key.to_vec());
    }
}
