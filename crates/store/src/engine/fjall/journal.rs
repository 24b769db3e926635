//! Reads the journals before the engine replays them.
//!
//! The engine takes whatever it cannot parse for the torn end of the last write, cuts the journal there and goes on. A
//! single flipped bit in the middle thus loses every batch after it without a word, and the number of a batch is under
//! no checksum at all. Both show when the journal is walked:
//!
//! ```text
//! start  01 | items u32 le | batch number u64 le
//! item   02 | kind u8 | compression u8 | space u64 le | key length u16 le | value length u32 le
//!           | stored length u32 le | key | stored value
//! end    03 | checksum u64 le | "FJL" 03          the checksum is of the items
//! clear  04 | space u64 le
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::engine::Error;

const TRAILER: &[u8; 4] = b"FJL\x03";

/// The bytes of an end entry.
const END: usize = 13;

/// A write is torn at the granularity of pages at best: what was not written reads as zeros up to the next one.
const PAGE: u64 = 4096;

/// What the whole batches of one journal are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Journal {
    /// The number in the file's name.
    pub(super) id: u64,
    /// The number of the first batch.
    pub(super) first: Option<u64>,
    /// The number of the last batch.
    pub(super) last: Option<u64>,
    /// The offset at which the last batch ends.
    pub(super) end: u64,
    /// For each space of the engine, the number of the last batch that changed it.
    pub(super) spaces: BTreeMap<u64, u64>,
}

impl Journal {
    /// The name of the file.
    pub(super) fn name(&self) -> String {
        name(self.id)
    }
}

/// The name of a journal's file.
pub(super) fn name(id: u64) -> String {
    format!("{id}.jnl")
}

/// Walks every journal of a directory, oldest first. Those that are known are walked on from where they ended.
///
/// Refused if one was damaged after it was written.
pub(super) fn walk_all(directory: &Path, known: &[Journal]) -> Result<Vec<Journal>, Error> {
    let mut walked: Vec<Journal> = Vec::new();
    for (id, path) in journals(directory)? {
        if let Some(before) = walked.last().filter(|before| before.id + 1 != id) {
            return Err(Error::corrupt(format!("journal `{}` is missing", name(before.id + 1))));
        }
        let last = walked.iter().filter_map(|journal| journal.last).max();
        let begin = known.iter().find(|journal| journal.id == id).cloned();
        let journal = walk(&path, begin.unwrap_or(Journal { id, ..Journal::default() }), last)?;
        walked.push(journal);
    }
    Ok(walked)
}

/// What to do with each batch: its number, its spaces, and where it begins and ends.
pub(super) type OnBatch<'f> = &'f mut dyn FnMut(u64, &[u64], u64, u64);

fn walk(path: &Path, begin: Journal, last: Option<u64>) -> Result<Journal, Error> {
    walk_each(path, begin, last, &mut |_, _, _, _| ())
}

/// Walks one journal, and shows every whole batch.
pub(super) fn walk_each(
    path: &Path,
    begin: Journal,
    last: Option<u64>,
    each: OnBatch<'_>,
) -> Result<Journal, Error> {
    let reading = || Error::io("reading a journal");
    let mut file = File::open(path).map_err(Error::io("opening a journal"))?;
    file.seek(SeekFrom::Start(begin.end)).map_err(reading())?;
    let (name, at) = (begin.name(), begin.end);
    let walk =
        Walk { file: BufReader::with_capacity(1 << 18, file), at, found: begin, last, hash: Xxh3::new() };
    walk.run(each).map_err(reading())?.map_err(|at| {
        Error::corrupt(format!("journal `{name}` is not as it was written at byte {at}, and batches follow"))
    })
}

/// The journal that is being written.
pub(super) fn newest(directory: &Path) -> Option<PathBuf> {
    Some(journals(directory).ok()?.pop()?.1)
}

/// The journals with their numbers, oldest first.
pub(super) fn journals(directory: &Path) -> Result<Vec<(u64, PathBuf)>, Error> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(Error::io("listing the journals"))? {
        let path = entry.map_err(Error::io("listing the journals"))?.path();
        let journal = path.extension().is_some_and(|extension| extension == "jnl");
        let number =
            path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<u64>().ok());
        if let Some(number) = number.filter(|_| journal) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

struct Walk {
    file: BufReader<File>,
    at: u64,
    found: Journal,
    /// The number of the last batch, in this journal or an earlier one.
    last: Option<u64>,
    /// Of the items since the last start entry.
    hash: Xxh3,
}

/// The journal, or the offset of what is damaged.
type Walked = Result<Journal, u64>;

/// What an entry turned out to be.
enum Entry {
    Start { items: u32, number: u64 },
    Item { space: u64 },
    End { checksum: u64 },
    Malformed,
}

/// A batch as far as it was read.
struct Inside {
    begin: u64,
    number: u64,
    left: u32,
    spaces: Vec<u64>,
}

impl Walk {
    fn run(mut self, each: OnBatch<'_>) -> std::io::Result<Walked> {
        let known = self.found.last.max(self.last);
        self.last = known;
        let mut inside: Option<Inside> = None;
        loop {
            let begin = self.at;
            let entry = self.entry_or_end()?;
            inside = match (entry, inside) {
                (Entry::Start { items, number }, None) if self.last.is_none_or(|last| last < number) => {
                    Some(Inside { begin, number, left: items, spaces: Vec::new() })
                }
                (Entry::Item { space }, Some(mut batch)) if batch.left > 0 => {
                    batch.left -= 1;
                    // Batches are sorted by space.
                    if batch.spaces.last() != Some(&space) {
                        batch.spaces.push(space);
                    }
                    Some(batch)
                }
                (Entry::End { checksum }, Some(batch))
                    if batch.left == 0 && self.hash.digest() == checksum =>
                {
                    each(batch.number, &batch.spaces, batch.begin, self.at);
                    self.take_in(&batch);
                    None
                }
                _ => return self.ended(begin),
            };
        }
    }

    fn take_in(&mut self, batch: &Inside) {
        self.last = Some(batch.number);
        self.found.first.get_or_insert(batch.number);
        self.found.last = self.last;
        self.found.end = self.at;
        for space in &batch.spaces {
            self.found.spaces.insert(*space, batch.number);
        }
    }

    /// Decides whether the walk ended where writing did: nothing that was finished later may follow.
    ///
    /// One end that follows may be that of the batch that was torn, if its pages reached the disk in another order and
    /// one of them did not. Two cannot, nor can a whole batch.
    fn ended(mut self, at: u64) -> std::io::Result<Walked> {
        let file = self.file.get_mut();
        let Some(data) = next_data(file, at)? else { return Ok(Ok(self.found)) };
        let torn = data >= at - at % PAGE + PAGE;
        let ends = ends_after(file, data)?;
        if ends > 1 || (ends == 1 && (!torn || whole_batch_near(file, data)?)) {
            return Ok(Err(at));
        }
        Ok(Ok(self.found))
    }

    /// An entry. The file ends inside one only if that was not written whole, or says that it is longer.
    fn entry_or_end(&mut self) -> std::io::Result<Entry> {
        match self.entry() {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Entry::Malformed),
            other => other,
        }
    }

    /// Reads an entry; what an item consists of goes into the checksum of its batch.
    fn entry(&mut self) -> std::io::Result<Entry> {
        let [tag] = self.take()?;
        Ok(match tag {
            1 => {
                self.hash.reset();
                Entry::Start { items: le32(self.take()?), number: le64(self.take()?) }
            }
            2 => {
                let head: [u8; 20] = self.take()?;
                self.hash.update(&[tag]);
                self.hash.update(&head);
                let [kind, compression, head @ ..] = head;
                let (space, head) = split::<8, 10>(head);
                let (key, head) = split::<2, 8>(head);
                let (length, stored) = split::<4, 4>(head);
                let (length, stored) = (le32(length), le32(stored));
                if kind > 4 || compression > 1 || (compression == 0 && length != stored) {
                    return Ok(Entry::Malformed);
                }
                let [low, high] = key;
                self.pass(u64::from(low) + (u64::from(high) << 8) + u64::from(stored))?;
                Entry::Item { space: le64(space) }
            }
            3 => {
                let checksum = le64(self.take()?);
                if self.take::<4>()? == *TRAILER { Entry::End { checksum } } else { Entry::Malformed }
            }
            4 => {
                let space: [u8; 8] = self.take()?;
                self.hash.update(&[tag]);
                self.hash.update(&space);
                Entry::Item { space: le64(space) }
            }
            _ => Entry::Malformed,
        })
    }

    fn take<const N: usize>(&mut self) -> std::io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(bytes)
    }

    /// Reads over bytes, into the checksum.
    fn pass(&mut self, mut bytes: u64) -> std::io::Result<()> {
        while bytes > 0 {
            let here = self.file.fill_buf()?;
            let some = here.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
            if some == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.hash.update(here.get(..some).unwrap_or_default());
            self.file.consume(some);
            self.at += some as u64;
            bytes -= some as u64;
        }
        Ok(())
    }
}

/// The offset of the first byte from `at` on that is not zero.
fn next_data(file: &mut File, at: u64) -> std::io::Result<Option<u64>> {
    let mut at = at;
    let mut chunk = vec![0; 1 << 18];
    loop {
        // A journal is allocated ahead, tens of megabytes: what was never written is passed over by the file system.
        #[cfg(target_os = "linux")]
        match rustix::fs::seek(&*file, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => at = at.max(data),
            Err(rustix::io::Errno::NXIO) => return Ok(None),
            Err(_) => {}
        }
        file.seek(SeekFrom::Start(at))?;
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        let found = chunk.get(..read).unwrap_or_default().iter().position(|byte| *byte != 0);
        if let Some(found) = found {
            return Ok(Some(at + found as u64));
        }
        at += read as u64;
    }
}

/// How many end entries there are from `at` on: two mean more than two.
fn ends_after(file: &mut File, at: u64) -> std::io::Result<u32> {
    file.seek(SeekFrom::Start(at))?;
    let (mut tail, mut chunk, mut ends) = (Vec::new(), vec![0; 1 << 18], 0);
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(ends);
        }
        tail.extend_from_slice(chunk.get(..read).unwrap_or_default());
        let is_end = |end: &&[u8]| end.first() == Some(&3) && end.ends_with(TRAILER);
        ends += u32::try_from(tail.windows(END).filter(is_end).take(2).count()).unwrap_or(2);
        if ends > 1 {
            return Ok(ends);
        }
        tail.drain(..tail.len().saturating_sub(END - 1));
    }
}

/// Whether a whole batch begins at `at` or a little later: what is left of an end entry may come before it.
fn whole_batch_near(file: &File, at: u64) -> std::io::Result<bool> {
    for at in at..at + END as u64 {
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(at))?;
        let found = Journal { end: at, ..Journal::default() };
        let file = BufReader::with_capacity(1 << 16, file);
        let mut walk = Walk { file, at, found, last: None, hash: Xxh3::new() };
        if walk.whole_batch()? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Walk {
    /// Whether the batch that begins here is whole.
    fn whole_batch(&mut self) -> std::io::Result<bool> {
        let mut left = None;
        loop {
            left = match (self.entry_or_end()?, left) {
                (Entry::Start { items, .. }, None) => Some(items),
                (Entry::Item { .. }, Some(left @ 1..)) => Some(left - 1),
                (Entry::End { checksum }, Some(0)) => return Ok(self.hash.digest() == checksum),
                _ => return Ok(false),
            };
        }
    }
}

/// The two parts of an array.
fn split<const A: usize, const B: usize>(bytes: impl AsRef<[u8]>) -> ([u8; A], [u8; B]) {
    let (mut first, mut second) = ([0; A], [0; B]);
    for (to, from) in first.iter_mut().chain(&mut second).zip(bytes.as_ref()) {
        *to = *from;
    }
    (first, second)
}

/// The number that the engine writes as these bytes.
pub(super) fn le32(mut bytes: [u8; 4]) -> u32 {
    bytes.reverse();
    u32::from_be_bytes(bytes)
}

/// The number that the engine writes as these bytes.
pub(super) fn le64(mut bytes: [u8; 8]) -> u64 {
    bytes.reverse();
    u64::from_be_bytes(bytes)
}
