//! A database file that is read and never written: what the engine writes stays in memory.
//!
//! The engine repairs a file that was not closed when it opens it, and marks it as open. Pages that it writes are kept
//! here instead, and read back from here, so that it works on a file system that cannot be written.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

use crate::engine;

/// Bytes are kept in pieces of this size.
const PIECE: u64 = 4096;

/// The file, and what was written since.
#[derive(Debug)]
pub(super) struct Overlay(Mutex<Pieces>);

#[derive(Debug)]
struct Pieces {
    // Its lock goes with it.
    file: File,
    /// The bytes of the file that still show: it was cut there, and may have grown again.
    below: u64,
    length: u64,
    written: BTreeMap<u64, Vec<u8>>,
}

impl Overlay {
    /// Opens a file, which others may read meanwhile.
    pub(super) fn open(path: &Path, directory: &Path) -> Result<Self, engine::Error> {
        let opening = || engine::Error::io("opening the database file");
        let file = File::open(path).map_err(opening())?;
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(engine::Error::AlreadyOpen { path: directory.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(opening()(error)),
        }
        let length = file.metadata().map_err(opening())?.len();
        Ok(Self(Mutex::new(Pieces { file, below: length, length, written: BTreeMap::new() })))
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pieces {
    /// A piece as it is in the file: zeros where that has ended.
    fn unwritten(&mut self, number: u64) -> Result<Vec<u8>, Error> {
        let at = number * PIECE;
        let mut piece = Vec::new();
        if at < self.below {
            self.file.seek(SeekFrom::Start(at))?;
            (&self.file).take(PIECE.min(self.below - at)).read_to_end(&mut piece)?;
        }
        piece.resize(usize::try_from(PIECE).unwrap_or_default(), 0);
        Ok(piece)
    }

    /// Shows every piece that lies in a range: its number, the part of it, and the offset of that part in the range.
    fn each(
        offset: u64,
        length: usize,
        mut each: impl FnMut(u64, usize, usize, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let size = usize::try_from(PIECE).unwrap_or(usize::MAX);
        let mut done = 0;
        while done < length {
            let at = offset.checked_add(done as u64).ok_or(ErrorKind::InvalidInput)?;
            let begin = usize::try_from(at % PIECE).unwrap_or_default();
            let some = (size - begin).min(length - done);
            each(at / PIECE, begin, some, done)?;
            done += some;
        }
        Ok(())
    }
}

impl StorageBackend for Overlay {
    fn len(&self) -> Result<u64, Error> {
        Ok(self.pieces().length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let mut pieces = self.pieces();
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > pieces.length) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if pieces.written.is_empty() {
            pieces.file.seek(SeekFrom::Start(offset))?;
            return (&pieces.file).read_exact(out);
        }
        Pieces::each(offset, out.len(), |number, begin, some, done| {
            let read;
            let piece = if let Some(piece) = pieces.written.get(&number) {
                piece
            } else {
                read = pieces.unwritten(number)?;
                &read
            };
            let (from, to) = (piece.get(begin..begin + some), out.get_mut(done..done + some));
            if let (Some(from), Some(to)) = (from, to) {
                to.copy_from_slice(from);
            }
            Ok(())
        })
    }

    fn set_len(&self, length: u64) -> Result<(), Error> {
        let mut pieces = self.pieces();
        pieces.length = length;
        // What is cut off reads as zeros if the file grows again.
        if let Some((number, inside)) =
            (length / PIECE < pieces.below.div_ceil(PIECE)).then_some((length / PIECE, length % PIECE))
        {
            let mut piece = match pieces.written.remove(&number) {
                Some(piece) => piece,
                None => pieces.unwritten(number)?,
            };
            piece.iter_mut().skip(usize::try_from(inside).unwrap_or_default()).for_each(|byte| *byte = 0);
            pieces.written.insert(number, piece);
        }
        pieces.below = pieces.below.min(length);
        pieces.written.retain(|number, _| *number * PIECE < length);
        Ok(())
    }

    fn sync_data(&self) -> Result<(), Error> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), Error> {
        let mut pieces = self.pieces();
        Pieces::each(offset, data.len(), |number, begin, some, done| {
            let mut piece = match pieces.written.remove(&number) {
                Some(piece) => piece,
                None => pieces.unwritten(number)?,
            };
            let (to, from) = (piece.get_mut(begin..begin + some), data.get(done..done + some));
            if let (Some(to), Some(from)) = (to, from) {
                to.copy_from_slice(from);
            }
            pieces.written.insert(number, piece);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_the_file_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let original: Vec<u8> = (0..10_000_u32).map(|at| at.to_be_bytes()[3]).collect();
        std::fs::write(&path, &original).unwrap();
        let overlay = Overlay::open(&path, directory.path()).unwrap();
        let all = |length: usize| {
            let mut bytes = vec![0; length];
            overlay.read(0, &mut bytes).unwrap();
            bytes
        };
        assert_eq!(all(10_000), original);
        overlay.write(4_090, &[0xee; 20]).unwrap();
        let mut expected = original.clone();
        expected[4_090..4_110].fill(0xee);
        assert_eq!(all(10_000), expected);
        overlay.set_len(5_000).unwrap();
        overlay.set_len(9_000).unwrap();
        expected.truncate(5_000);
        expected.resize(9_000, 0);
        assert_eq!((overlay.len().unwrap(), all(9_000)), (9_000, expected));
        assert!(overlay.read(8_999, &mut [0; 2]).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), original);
    }
}
