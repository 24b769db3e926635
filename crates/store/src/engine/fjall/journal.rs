//! Looks at the journals before the engine replays them.
//!
//! The engine takes whatever it cannot parse for the torn end of the last write, cuts the journal there and goes on. A
//! single flipped bit in the middle thus loses every batch behind it without a word, and the number of a batch is under
//! no checksum at all. Both show in the structure alone, which is cheap to walk:
//!
//! ```text
//! start  01 | items u32 le | batch number u64 le
//! item   02 | kind u8 | compression u8 | space u64 le | key length u16 le | value length u32 le
//!           | stored length u32 le | key | stored value
//! end    03 | checksum u64 le | "FJL" 03
//! clear  04 | space u64 le
//! ```

use std::fs::{File, TryLockError};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::Error;

const TRAILER: &[u8; 4] = b"FJL\x03";

/// A write is torn at the granularity of pages at best: what was not written reads as zeros up to the next one.
const PAGE: u64 = 4096;

/// Refuses a database whose journals were damaged after they were written.
pub(super) fn check(directory: &Path) -> Result<(), Error> {
    // The engine's own lock, so that no process writes meanwhile. It goes with the file, before the engine takes it.
    let lock = File::open(directory.join("lock")).map_err(Error::io("opening the lock file"))?;
    for _ in 0..LOCK_TRIES {
        match lock.try_lock() {
            Ok(()) => return walk_all(directory),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
            Err(TryLockError::Error(source)) => return Err(Error::io("locking the database")(source)),
        }
    }
    Err(Error::AlreadyOpen { path: directory.to_owned() })
}

/// How often, and how far apart, the lock is tried for: a process that was killed may hold it a moment longer.
const LOCK_TRIES: u32 = 10;
const LOCK_WAIT: Duration = Duration::from_millis(20);

fn walk_all(directory: &Path) -> Result<(), Error> {
    let mut last = None;
    for path in journals(directory)? {
        let file = File::open(&path).map_err(Error::io("opening a journal"))?;
        let walked = Walk { file: BufReader::with_capacity(1 << 18, file), at: 0, last }.run();
        last = walked.map_err(Error::io("reading a journal"))?.map_err(|at| {
            let name = path.file_name().unwrap_or_default().display();
            Error::corrupt(format!(
                "journal `{name}` is not as it was written at byte {at}, and batches follow"
            ))
        })?;
    }
    Ok(())
}

/// The journal that is being written.
pub(super) fn newest(directory: &Path) -> Option<PathBuf> {
    journals(directory).ok()?.pop()
}

/// The journals, oldest first.
fn journals(directory: &Path) -> Result<Vec<PathBuf>, Error> {
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
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

struct Walk {
    file: BufReader<File>,
    at: u64,
    last: Option<u64>,
}

/// The number of the last batch, or the offset of what is damaged.
type Walked = Result<Option<u64>, u64>;

/// What an entry turned out to be.
enum Entry {
    Start { items: u32, number: u64 },
    Item,
    End,
    Malformed,
}

impl Walk {
    fn run(mut self) -> std::io::Result<Walked> {
        // How many items the batch still has, if we are inside one.
        let mut inside: Option<u32> = None;
        loop {
            let begin = self.at;
            let entry = match self.entry() {
                Ok(entry) => entry,
                // The file ends: inside an entry only if that was not written whole, or says that it is longer.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => Entry::Malformed,
                Err(error) => return Err(error),
            };
            inside = match (entry, inside) {
                (Entry::Start { items, number }, None) if self.last.is_none_or(|last| last < number) => {
                    self.last = Some(number);
                    Some(items)
                }
                (Entry::Item, Some(left)) if left > 0 => Some(left - 1),
                (Entry::End, Some(0)) => None,
                _ => return self.ended(begin),
            };
        }
    }

    /// Decides whether the walk ended where writing did: nothing that was finished later may follow.
    fn ended(mut self, at: u64) -> std::io::Result<Walked> {
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(at))?;
        let mut page = Vec::new();
        let rest = PAGE - at % PAGE;
        file.by_ref().take(rest).read_to_end(&mut page)?;
        if page.iter().all(|byte| *byte == 0) {
            return Ok(Ok(self.last));
        }
        let (mut tail, mut chunk) = (page, vec![0; 1 << 18]);
        loop {
            if tail.windows(13).any(|end| end.first() == Some(&3) && end.ends_with(TRAILER)) {
                return Ok(Err(at));
            }
            let keep = tail.len().saturating_sub(12);
            tail.drain(..keep);
            let read = file.read(&mut chunk)?;
            if read == 0 {
                return Ok(Ok(self.last));
            }
            tail.extend_from_slice(chunk.get(..read).unwrap_or_default());
        }
    }

    fn entry(&mut self) -> std::io::Result<Entry> {
        let [tag] = self.take()?;
        Ok(match tag {
            1 => Entry::Start { items: self.u32()?, number: self.u64()? },
            2 => {
                let [kind, compression] = self.take()?;
                self.u64()?;
                let [low, high] = self.take()?;
                let key = u64::from(low) | u64::from(high) << 8;
                let (length, stored) = (self.u32()?, self.u32()?);
                if kind > 4 || compression > 1 || (compression == 0 && length != stored) {
                    return Ok(Entry::Malformed);
                }
                self.skip(key + u64::from(stored))?;
                Entry::Item
            }
            3 => {
                self.u64()?;
                if self.take::<4>()? == *TRAILER { Entry::End } else { Entry::Malformed }
            }
            4 => {
                self.u64()?;
                Entry::Item
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

    fn u32(&mut self) -> std::io::Result<u32> {
        let [a, b, c, d] = self.take()?;
        Ok(u32::from_be_bytes([d, c, b, a]))
    }

    fn u64(&mut self) -> std::io::Result<u64> {
        let (low, high) = (self.u32()?, self.u32()?);
        Ok(u64::from(low) | u64::from(high) << 32)
    }

    fn skip(&mut self, bytes: u64) -> std::io::Result<()> {
        // Seeking past the end succeeds: the next read then says so.
        self.file.seek_relative(i64::try_from(bytes).unwrap_or(i64::MAX))?;
        self.at += bytes;
        Ok(())
    }
}
