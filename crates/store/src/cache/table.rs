use std::hint::black_box;
use std::sync::atomic::{self, Ordering};
use std::sync::{MutexGuard, PoisonError};

use byteview::ByteView;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::families::Families;
use super::fault::{Fault, Faults};
use super::sync::{AtomicUsize, Mutex};

/// Rows in buckets of eight, each bucket with a lock of its own.
///
/// A row is found with one look at a bucket, and room is made within the bucket: a hand goes round its rows, two of them for
/// each that has to go, and of those that were not read since it was there last the oldest goes. So what was read often stays
/// for a while, and what was written lately stays longer than what was written before. What a bucket knows of commits it
/// knows of all keys that belong to it, also of those that are not in it.
pub(super) struct Table {
    buckets: Box<[Line]>,
    // So that nobody can choose keys that meet in one bucket.
    seed: u64,
    /// Bytes of rows that there is room for, besides the buckets themselves.
    room: usize,
    // Bytes of rows, and rows.
    bytes: AtomicUsize,
    rows: AtomicUsize,
    // The bucket that is looked at next when room is needed and a row's own bucket has none to give.
    sweep: AtomicUsize,
    faults: Faults,
}

/// A bucket begins on a line of the processor's cache.
#[repr(align(64))]
struct Line(Mutex<Bucket>);

const WAYS: usize = 8;

/// Rows whose keys belong together by their hashes.
///
/// What a look begins with comes first, on the line that the lock is on: a key that is not here costs that line and no
/// other. The compiler would put it last.
#[repr(C)]
struct Bucket {
    /// The last commit that touched any key that belongs here, cached or not.
    commit: u64,
    /// A part of each row's hash; 0 is not a row.
    tags: [u16; WAYS],
    /// How often each row was read, less what the hand took off when it passed, in two bits each.
    counts: u16,
    /// Which rows say that there is no such key.
    absent: u8,
    hand: u8,
    /// Tags of keys that were looked for last and not found here.
    missed: [u16; 3],
    /// The places in the order in which their rows came, the oldest in the lowest four bits.
    order: u32,
    rows: [Row; WAYS],
}

#[derive(Default)]
struct Row {
    /// The first commit that it is true of.
    valid_from: u64,
    key_length: u32,
    space: u16,
    family: u16,
    /// The key, and the value after it.
    both: ByteView,
}

/// Where a key belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    bucket: usize,
    tag: u16,
    space: u16,
    pub(super) family: u16,
}

impl Place {
    /// Where it is counted.
    pub(super) fn stripe(self) -> usize {
        self.tag.into()
    }
}

/// What a look for a key gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The value, or that there is none.
    Hit(Option<ByteView>),
    /// Nothing that is true of this snapshot.
    Miss(Missed),
}

/// What a key that was looked for in vain may leave here once it is read below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Missed {
    /// Its bucket has room.
    room: bool,
    /// It was missed lately, too.
    again: bool,
}

impl Missed {
    /// Nothing: there is a row that is newer, or no table.
    const NOTHING: Self = Self { room: false, again: false };

    /// Whether what was read is worth keeping. Once rows have to give way, a key enters when it is missed for the second
    /// time; one that does not exist always.
    pub(super) const fn keeps(self, exists: bool) -> bool {
        self.again || (exists && self.room)
    }
}

/// What a commit does to a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'v> {
    /// It has this value now.
    Put(&'v [u8]),
    /// What is known of it is no longer known.
    Forget,
}

/// Rows up to this length are held in the bucket itself.
const IN_PLACE: usize = 20;

/// The bytes that a row takes besides its place in a bucket: what the allocator gives out for it and its count.
const fn weight(length: usize) -> usize {
    // Whatever length somebody expects of rows, there is a number for it.
    if length <= IN_PLACE { 0 } else { length.saturating_add(8 + 8 + 15) / 16 * 16 }
}

impl Table {
    /// A table of `budget` bytes for rows of about `row_bytes`; `None` if not even one bucket fits.
    pub(super) fn new(budget: usize, row_bytes: usize, seed: u64, faults: Faults) -> Option<Self> {
        let bucket = size_of::<Line>();
        // Rows are spread unevenly: with 15 places for 13 rows, the bytes are full before most buckets are.
        let each = bucket.saturating_add((WAYS * 13).saturating_mul(weight(row_bytes)) / 15);
        // A table of the smallest size holds a few rows of any length.
        let count = (budget / each.max(1)).max(usize::from(budget >= 2 * bucket)).min(u32::MAX as usize);
        let room = budget.checked_sub(count.checked_mul(bucket)?).filter(|_| count > 0)?;
        let empty = || Bucket {
            commit: 1,
            tags: [0; WAYS],
            counts: 0,
            absent: 0,
            hand: 0,
            missed: [0; 3],
            order: 0x7654_3210,
            rows: Default::default(),
        };
        let mut buckets = Vec::new();
        // More than there is: then rather no cache than no process.
        buckets.try_reserve_exact(count).ok()?;
        buckets.extend((0..count).map(|_| Line(Mutex::new(empty()))));
        let buckets = buckets.into_boxed_slice();
        let (bytes, rows, sweep) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        Some(Self { buckets, seed, room, bytes, rows, sweep, faults })
    }

    /// The bytes of rows and buckets now.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.buckets.len() * size_of::<Line>()
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.load(Ordering::Relaxed)
    }

    /// Where a key of a space belongs.
    #[inline]
    pub(super) fn place(&self, space: u16, family: u16, key: &[u8]) -> Place {
        let hash = xxh3_64_with_seed(key, self.seed ^ u64::from(space));
        // The upper half chooses the bucket, the lower the tag.
        let bucket = ((hash >> 32) * self.buckets.len() as u64) >> 32;
        let [.., high, low] = hash.to_be_bytes();
        let tag = u16::from_be_bytes([high, low]).max(1);
        Place { bucket: usize::try_from(bucket).unwrap_or_default(), tag, space, family }
    }

    /// Looks for a key as a snapshot of commit `at` has it.
    #[inline]
    pub(super) fn look(&self, place: Place, key: &[u8], at: u64) -> Look {
        let Some(mut bucket) = self.lock(place.bucket) else { return Look::Miss(Missed::NOTHING) };
        let Some(found) = bucket.find(place, key) else { return Look::Miss(self.missed(&mut bucket, place)) };
        let Some(row) = bucket.rows.get(found) else { return Look::Miss(Missed::NOTHING) };
        if row.valid_from > at && !self.faults.has(Fault::HitWithoutAge) {
            return Look::Miss(Missed::NOTHING);
        }
        let value = (bucket.absent & (1 << found) == 0).then(|| row.both.slice(row.key_length as usize..));
        bucket.count(found);
        Look::Hit(value)
    }

    /// Whether a key is there, as a snapshot of commit `at` has it.
    #[inline]
    pub(super) fn look_only(&self, place: Place, key: &[u8], at: u64) -> Result<bool, Missed> {
        let mut bucket = self.lock(place.bucket).ok_or(Missed::NOTHING)?;
        let Some(found) = bucket.find(place, key) else { return Err(self.missed(&mut bucket, place)) };
        let valid_from = bucket.rows.get(found).ok_or(Missed::NOTHING)?.valid_from;
        if valid_from > at && !self.faults.has(Fault::HitWithoutAge) {
            return Err(Missed::NOTHING);
        }
        bucket.count(found);
        Ok(bucket.absent & (1 << found) == 0)
    }

    /// Notes that a key is not in its bucket. What it may leave there is decided now, while the bucket is at hand: most
    /// keys that are missed leave nothing, and need no second look.
    #[inline]
    fn missed(&self, bucket: &mut Bucket, place: Place) -> Missed {
        // Rows give way one by one, so that a full table always lacks a little.
        let full = self.bytes.load(Ordering::Relaxed) >= self.room - self.room / 64;
        let room = !full && bucket.tags.contains(&0);
        Missed { room, again: bucket.seen_before(place.tag) }
    }

    /// Keeps what a snapshot of commit `at` has read, unless a later commit touched the key's bucket.
    pub(super) fn fill(&self, place: Place, key: &[u8], value: Option<&[u8]>, at: u64, families: &Families) {
        if !self.takes(key.len() + value.map_or(0, <[u8]>::len)) {
            return;
        }
        let Some(bucket) = self.lock(place.bucket) else { return };
        let found = bucket.find(place, key);
        let touched = if self.faults.has(Fault::MarkInRow) {
            // Forgotten with the row.
            found.and_then(|found| bucket.rows.get(found)).map_or(0, |row| row.valid_from)
        } else {
            bucket.commit
        };
        if touched > at && !self.faults.has(Fault::FillWithoutTest) {
            return;
        }
        // Somebody else was faster; what is there is as new, or newer.
        if found.is_some() && !self.faults.has(Fault::FillWithoutTest) {
            return;
        }
        let valid_from = if self.faults.has(Fault::FillFromZero) { 0 } else { bucket.commit };
        let row = Row {
            valid_from,
            key_length: length(key),
            space: place.space,
            family: place.family,
            both: ByteView::fused(key, value.unwrap_or_default()),
        };
        self.insert(bucket, place, found, row, value.is_none(), families);
    }

    /// Makes what a commit did to a key what is known of it.
    pub(super) fn change(
        &self,
        place: Place,
        key: &[u8],
        change: Change<'_>,
        commit: u64,
        families: &Families,
    ) {
        // Copied before the lock is taken.
        let put = match change {
            Change::Put(value) if self.takes(key.len() + value.len()) => Some(ByteView::fused(key, value)),
            _ => None,
        };
        let Some(mut bucket) = self.lock(place.bucket) else { return };
        let found = bucket.find(place, key);
        if found.is_some() || !self.faults.has(Fault::MarkOnlyCached) {
            bucket.commit = bucket.commit.max(commit);
        }
        if let Some(both) = put {
            let (key_length, space, family) = (length(key), place.space, place.family);
            let row = Row { valid_from: commit, key_length, space, family, both };
            self.insert(bucket, place, found, row, false, families);
        } else if let Some(found) = found {
            self.remove(&mut bucket, found);
        }
    }

    /// Forgets all rows: a commit touched keys that are not known one by one.
    pub(super) fn forget_all(&self, commit: u64) {
        for at in 0..self.buckets.len() {
            let Some(mut bucket) = self.lock(at) else { return };
            bucket.commit = bucket.commit.max(commit);
            for row in 0..WAYS {
                self.remove(&mut bucket, row);
            }
        }
    }

    /// Has the processor fetch the buckets of keys that will be changed next, all at once: at a lock it waits for one.
    #[inline]
    pub(super) fn fetch(&self, places: impl Iterator<Item = Place>) {
        for place in places {
            // Any read of the line will do, and this one needs no lock.
            black_box(self.buckets.get(place.bucket).is_some_and(|line| line.0.is_poisoned()));
        }
    }

    /// Whether a row of this length is worth its room: it may not drive out everything else.
    const fn takes(&self, length: usize) -> bool {
        weight(length) <= self.room / 8
    }

    fn lock(&self, bucket: usize) -> Option<MutexGuard<'_, Bucket>> {
        Some(self.buckets.get(bucket)?.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts a row into its bucket and makes room for it.
    fn insert(
        &self,
        mut bucket: MutexGuard<'_, Bucket>,
        place: Place,
        found: Option<usize>,
        row: Row,
        absent: bool,
        families: &Families,
    ) {
        let length = row.both.len();
        let reads = found.map_or(0, |found| bucket.reads(found));
        if let Some(found) = found {
            self.remove(&mut bucket, found);
        }
        let free = bucket.tags.iter().position(|tag| *tag == 0);
        let Some(at) = free.or_else(|| self.evict(&mut bucket, None, families)) else { return };
        let Bucket { rows, tags, .. } = &mut *bucket;
        if let (Some(slot), Some(tag)) = (rows.get_mut(at), tags.get_mut(at)) {
            *slot = row;
            *tag = place.tag;
        }
        bucket.absent = bucket.absent & !(1 << at) | u8::from(absent) << at;
        bucket.set_count(at, reads);
        bucket.renew(at);
        self.rows.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(weight(length), Ordering::Relaxed);
        // Its own bucket gives room first: it is at hand.
        while self.over() && bucket.filled() > WAYS / 2 {
            if self.evict(&mut bucket, Some(at), families).is_none() {
                break;
            }
        }
        drop(bucket);
        self.make_room(families);
    }

    fn over(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.room
    }

    /// Goes through the buckets until the rows fit again.
    fn make_room(&self, families: &Families) {
        // Each bucket gives a row at the latest when the hand has been round it four times.
        let mut left = self.buckets.len().saturating_mul(4 * WAYS);
        while self.over() && left > 0 {
            left -= 1;
            let at = self.sweep.fetch_add(1, Ordering::Relaxed) % self.buckets.len().max(1);
            let Some(mut bucket) = self.lock(at) else { return };
            if bucket.filled() > 0 {
                self.evict(&mut bucket, None, families);
            }
        }
    }

    /// Takes out the row whose turn it is, and says where it was. `keep` is spared.
    fn evict(&self, bucket: &mut Bucket, keep: Option<usize>, families: &Families) -> Option<usize> {
        // What was read long ago is forgotten little by little, whoever has to go.
        bucket.advance();
        bucket.advance();
        for _ in 0..4 * WAYS {
            if let Some(at) = bucket.oldest_unread(keep) {
                if let Some(row) = bucket.rows.get(at) {
                    families.evicted(row.family, at);
                }
                self.remove(bucket, at);
                return Some(at);
            }
            bucket.advance();
        }
        None
    }

    fn remove(&self, bucket: &mut Bucket, at: usize) {
        let (Some(row), Some(tag)) = (bucket.rows.get_mut(at), bucket.tags.get_mut(at)) else { return };
        if *tag == 0 {
            return;
        }
        *tag = 0;
        let gone = std::mem::take(row);
        self.rows.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(weight(gone.both.len()), Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(super) fn evict_key(&self, place: Place, key: &[u8]) {
        let mut bucket = self.lock(place.bucket).unwrap();
        if let Some(found) = bucket.find(place, key) {
            self.remove(&mut bucket, found);
        }
    }
}

impl Bucket {
    #[inline]
    fn find(&self, place: Place, key: &[u8]) -> Option<usize> {
        self.tags.iter().zip(&self.rows).position(|(tag, row)| {
            *tag == place.tag
                && row.space == place.space
                && row.both.get(..row.key_length as usize).is_some_and(|found| found == key)
        })
    }

    fn filled(&self) -> usize {
        self.tags.iter().filter(|tag| **tag != 0).count()
    }

    fn reads(&self, at: usize) -> u16 {
        self.counts >> (2 * at) & 3
    }

    fn set_count(&mut self, at: usize, count: u16) {
        self.counts = self.counts & !(3 << (2 * at)) | count.min(3) << (2 * at);
    }

    /// The places, that of the oldest row first.
    fn by_age(&self) -> impl Iterator<Item = usize> + use<> {
        let order = self.order;
        (0..WAYS).map(move |nth| (order >> (4 * nth) & 15) as usize)
    }

    /// Notes that a row has just come to a place.
    fn renew(&mut self, at: usize) {
        let others = self.by_age().filter(|other| *other != at);
        let order =
            others.chain([at]).zip(0_u32..).map(|(at, nth)| u32::try_from(at).unwrap_or(0) << (4 * nth));
        self.order = order.sum();
    }

    /// The row that came first of those that were not read since the hand passed them.
    fn oldest_unread(&self, keep: Option<usize>) -> Option<usize> {
        let is_row = |at: &usize| self.tags.get(*at).is_some_and(|tag| *tag != 0);
        self.by_age().find(|at| Some(*at) != keep && is_row(at) && self.reads(*at) == 0)
    }

    /// Moves the hand on by a place.
    fn advance(&mut self) {
        let at = usize::from(self.hand) % WAYS;
        self.hand = self.hand.wrapping_add(1);
        self.set_count(at, self.reads(at).saturating_sub(1));
    }

    /// Notes that a row was read.
    fn count(&mut self, at: usize) {
        let reads = self.reads(at);
        if reads < 3 {
            self.set_count(at, reads + 1);
        }
    }

    /// Whether a key was missed here lately; it is from now on.
    fn seen_before(&mut self, tag: u16) -> bool {
        if self.missed.contains(&tag) {
            return true;
        }
        self.missed.rotate_right(1);
        self.missed[0] = tag;
        false
    }
}

fn length(key: &[u8]) -> u32 {
    u32::try_from(key.len()).unwrap_or(u32::MAX)
}

/// A number that differs from one table to the next.
pub(super) fn seed() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    static NEXT: atomic::AtomicU64 = atomic::AtomicU64::new(0);
    RandomState::new().hash_one(NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(budget: usize, row_bytes: usize) -> Table {
        Table::new(budget, row_bytes, 7, Faults::default()).unwrap()
    }

    #[test]
    fn a_bucket_is_six_lines_of_the_processor_s_cache() {
        assert_eq!((size_of::<Row>(), size_of::<Line>()), (40, 384));
    }

    #[test]
    fn a_key_that_is_not_there_costs_one_line_of_the_processor_s_cache() {
        // The lock has eight bytes before the bucket.
        assert!(8 + std::mem::offset_of!(Bucket, rows) <= 64);
    }

    #[test]
    fn there_is_no_table_below_two_buckets() {
        assert!(Table::new(767, 200, 7, Faults::default()).is_none());
        assert_eq!(table(768, 200).buckets.len(), 1);
    }

    #[test]
    fn bytes_stay_within_the_budget_whatever_rows_come() {
        let families = Families::default();
        for (budget, longest) in
            [(4_000, 10), (4_000, 3_000), (64_000, 100), (1 << 20, 60), (1 << 20, 20_000)]
        {
            let table = table(budget, 200);
            let mut random = 1_u64;
            for commit in 2..20_000_u64 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let key = (random >> 50).to_be_bytes();
                let place = table.place(0, 0, &key);
                let value = vec![7; usize::try_from(random >> 33).unwrap() % longest];
                match random >> 32 & 7 {
                    0 => table.change(place, &key, Change::Forget, commit, &families),
                    1..5 => table.change(place, &key, Change::Put(&value), commit, &families),
                    _ => table.fill(place, &key, Some(&value), commit, &families),
                }
                assert!(table.bytes() <= budget, "{} of {budget} after {commit}", table.bytes());
            }
            let real: usize = (0..table.buckets.len())
                .map(|at| {
                    let bucket = table.lock(at).unwrap();
                    let rows = bucket.tags.iter().zip(&bucket.rows).filter(|(tag, _)| **tag != 0);
                    rows.map(|(_, row)| weight(row.both.len())).sum::<usize>()
                })
                .sum();
            assert_eq!(table.bytes.load(Ordering::Relaxed), real);
            assert!(table.rows() > 0);
            table.forget_all(30_000);
            assert_eq!((table.rows(), table.bytes.load(Ordering::Relaxed)), (0, 0));
        }
    }

    #[test]
    fn most_of_the_budget_is_used_where_rows_are_as_long_as_expected() {
        let (table, families) = (table(1 << 20, 200), Families::default());
        for number in 0..40_000_u64 {
            let key = number.to_be_bytes();
            table.change(table.place(0, 0, &key), &key, Change::Put(&[1; 192]), 2, &families);
        }
        assert!(table.bytes() > (1 << 20) / 100 * 95, "{}", table.bytes());
    }

    #[test]
    fn rows_that_are_read_stay_longer_than_rows_that_are_not() {
        let (table, families) = (table(256 << 10, 200), Families::default());
        let hot: Vec<[u8; 8]> = (0..200_u64).map(u64::to_be_bytes).collect();
        let read = |key: &[u8; 8]| matches!(table.look(table.place(0, 0, key), key, 2), Look::Hit(Some(_)));
        for key in &hot {
            table.change(table.place(0, 0, key), key, Change::Put(&[1; 192]), 2, &families);
        }
        for number in 1_000..20_000_u64 {
            let key = number.to_be_bytes();
            table.change(table.place(0, 0, &key), &key, Change::Put(&[1; 192]), 2, &families);
            read(&hot[usize::try_from(number % 200).unwrap()]);
        }
        let kept = hot.iter().filter(|key| read(key)).count();
        assert!(kept > 180, "{kept} of 200");
    }

    #[test]
    fn what_was_written_lately_is_found_where_there_is_room_for_little_more() {
        // Blocks that make ten rows and spend eight of those of the last 560 blocks, each once.
        let (table, families) = (table(1 << 20, 200), Families::default());
        let mut random = 1_u64;
        let mut below = |limit: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(random >> 33).unwrap() % limit
        };
        let mut blocks: Vec<Vec<u64>> = Vec::new();
        let (mut hits, mut reads) = (0, 0);
        for block in 0..3_000_u64 {
            let commit = block + 2;
            for _ in 0..8 {
                let age = below(2_000).min(below(560));
                let Some(of) = blocks.len().checked_sub(age + 1).map(|at| &mut blocks[at]) else { continue };
                if of.is_empty() {
                    continue;
                }
                let key = of.swap_remove(below(of.len())).to_be_bytes();
                let place = table.place(0, 0, &key);
                if block > 1_500 {
                    reads += 1;
                    hits += usize::from(matches!(table.look(place, &key, commit), Look::Hit(Some(_))));
                }
                table.change(place, &key, Change::Forget, commit, &families);
            }
            let made: Vec<u64> = (0..10).map(|row| block * 10 + row).collect();
            for row in &made {
                let key = row.to_be_bytes();
                table.change(table.place(0, 0, &key), &key, Change::Put(&[1; 192]), commit, &families);
            }
            blocks.push(made);
        }
        assert!(reads > 10_000 && hits * 100 > reads * 80, "{hits} of {reads}");
    }

    #[test]
    fn a_key_that_does_not_exist_enters_when_it_is_missed_again() {
        let (table, families) = (table(1 << 16, 200), Families::default());
        let place = table.place(0, 0, b"none");
        let Look::Miss(first) = table.look(place, b"none", 5) else { panic!("nothing is there yet") };
        assert!(!first.keeps(false) && first.keeps(true));
        let again = table.look_only(place, b"none", 5).unwrap_err();
        assert!(again.keeps(false));
        table.fill(place, b"none", None, 5, &families);
        assert_eq!(table.look(place, b"none", 5), Look::Hit(None));
        assert_eq!(table.look_only(place, b"none", 5), Ok(false));
        // The same bytes in another space are another key.
        assert!(matches!(table.look(Place { space: 1, ..place }, b"none", 5), Look::Miss(_)));
    }

    #[test]
    fn once_rows_have_to_give_way_a_key_enters_when_it_is_missed_again() {
        let (table, families) = (table(1 << 14, 200), Families::default());
        for number in 0..1_000_u64 {
            let key = number.to_be_bytes();
            table.change(table.place(0, 0, &key), &key, Change::Put(&[1; 192]), 2, &families);
        }
        let full = |key: &[u8]| {
            let place = table.place(0, 0, key);
            let Look::Miss(first) = table.look(place, key, 5) else { return false };
            let Look::Miss(again) = table.look(place, key, 5) else { return false };
            !first.keeps(true) && again.keeps(true)
        };
        // Some buckets may have room, and the bytes be below the budget by less than a row.
        let waited = (2_000..2_100_u64).filter(|number| full(&number.to_be_bytes())).count();
        assert!(waited > 50, "{waited} of 100");
    }

    #[test]
    fn a_row_that_is_newer_than_the_snapshot_is_not_read_into_the_cache_again() {
        let (table, families) = (table(1 << 16, 200), Families::default());
        let place = table.place(0, 0, b"k");
        table.change(place, b"k", Change::Put(b"new"), 7, &families);
        for _ in 0..3 {
            let Look::Miss(missed) = table.look(place, b"k", 5) else { panic!("it is of a later commit") };
            assert!(!missed.keeps(true) && !missed.keeps(false));
        }
    }
}
