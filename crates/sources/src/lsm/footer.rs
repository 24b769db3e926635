//! The end of a table: which format it has, and where its other parts are.
//!
//! ```text
//! LevelDB, RocksDB 0:  metaindex | index | padding to 40        | magic (8)
//! RocksDB 1 to 5:      check (1) | metaindex | index | padding to 41 | version (4) | magic (8)
//! RocksDB 6 and later: check (1) | 3e 00 7a 00 | footer's check (4) | base (4) | metaindex's size (4) | zeros (24) | version (4) | magic (8)
//! Pebble:              as RocksDB 1 to 5, with a magic and versions of its own
//! ```

use super::bytes::{Bytes, u64_le};
use super::checksum::{Checksum, of_place};
use super::compression::Sizes;

/// Where a block lies, without the five bytes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl Handle {
    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        Some(Self { offset: bytes.varint()?, size: bytes.varint()? })
    }
}

/// The bytes after a block: its compression, and its check.
pub(crate) const BLOCK_TRAILER: u64 = 5;

/// What a footer says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footer {
    pub(crate) checksum: Checksum,
    /// What the place of a block is mixed with; 0 if it is not.
    pub(crate) base: u32,
    pub(crate) metaindex: Handle,
    /// From RocksDB's format 6 on it is in the metaindex.
    pub(crate) index: Option<Handle>,
    pub(crate) sizes: Sizes,
    /// The version of Pebble's own format.
    pub(crate) pebble: Option<u32>,
}

/// Why there is no footer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FooterFault {
    Damaged(&'static str),
    Unsupported(String),
}

/// The longest footer.
pub(crate) const LONG: usize = 53;
const SHORT: usize = 48;

const LEVELDB: u64 = 0xdb47_7524_8b80_fb57;
const ROCKSDB: u64 = 0x88e2_41b7_85f4_cff7;
/// RocksDB's other kinds of tables.
const PLAIN: [u64; 2] = [0x8242_2296_63bf_9564, 0x4f34_18eb_7a8f_13b8];
const CUCKOO: u64 = 0x9267_89d0_c5f1_7873;
/// `f0 9f aa b3` twice.
const PEBBLE: u64 = u64_le([0xf0, 0x9f, 0xaa, 0xb3, 0xf0, 0x9f, 0xaa, 0xb3]);

/// The last version of RocksDB's block-based tables that is understood.
const ROCKSDB_LAST: u32 = 7;
/// The last version of Pebble's tables that is made of rows.
const PEBBLE_LAST: u32 = 4;
const EXTENDED: [u8; 4] = [0x3e, 0x00, 0x7a, 0x00];

/// Whether these are the last bytes of a table of LevelDB.
pub(crate) fn is_leveldb_magic(bytes: &[u8]) -> bool {
    bytes.last_chunk().is_some_and(|magic| u64_le(*magic) == LEVELDB)
}

impl Footer {
    /// Reads the last bytes of a file of `size` bytes: at most [`LONG`] of them.
    pub(crate) fn read(tail: &[u8], size: u64) -> Result<Self, FooterFault> {
        let no_table = FooterFault::Damaged("no table: its last eight bytes are not a known magic");
        let Some((_, magic)) = tail.split_last_chunk::<8>() else { return Err(no_table) };
        match u64_le(*magic) {
            LEVELDB => Self::short(tail).ok_or(FooterFault::Damaged("a broken footer")),
            magic @ (ROCKSDB | PEBBLE) => Self::long(tail, magic == PEBBLE, size),
            magic if PLAIN.contains(&magic) => Err(unsupported("a plain table of RocksDB")),
            CUCKOO => Err(unsupported("a cuckoo table of RocksDB")),
            _ => Err(no_table),
        }
    }

    fn short(tail: &[u8]) -> Option<Self> {
        let start = tail.len().checked_sub(SHORT)?;
        let mut bytes = Bytes::new(tail.get(start..)?);
        let (metaindex, index) = (Handle::read(&mut bytes)?, Handle::read(&mut bytes)?);
        let (checksum, sizes) = (Checksum::Crc32c, Sizes::LevelDb);
        Some(Self { checksum, base: 0, metaindex, index: Some(index), sizes, pebble: None })
    }

    fn long(tail: &[u8], pebble: bool, size: u64) -> Result<Self, FooterFault> {
        let broken = || FooterFault::Damaged("a broken footer");
        let tail: &[u8; LONG] = tail.last_chunk().ok_or_else(broken)?;
        let mut bytes = Bytes::new(tail);
        let number = bytes.byte().ok_or_else(broken)?;
        let checksum =
            Checksum::of(number).ok_or_else(|| unsupported(&format!("checksum number {number}")))?;
        let body = bytes.take(40).ok_or_else(broken)?;
        let version = bytes.fixed32().ok_or_else(broken)?;
        check_version(version, pebble)?;
        if !pebble && version >= 6 {
            return Self::extended(tail, checksum, size);
        }
        let mut body = Bytes::new(body);
        let metaindex = Handle::read(&mut body).ok_or_else(broken)?;
        let index = Handle::read(&mut body).ok_or_else(broken)?;
        let sizes = if version < 2 && !pebble { Sizes::Early } else { Sizes::Varint };
        let pebble = pebble.then_some(version);
        Ok(Self { checksum, base: 0, metaindex, index: Some(index), sizes, pebble })
    }

    fn extended(tail: &[u8; LONG], checksum: Checksum, size: u64) -> Result<Self, FooterFault> {
        let broken = || FooterFault::Damaged("a broken footer");
        let mut bytes = Bytes::new(tail);
        bytes.byte();
        if bytes.take(4) != Some(&EXTENDED) {
            return Err(broken());
        }
        let stored = bytes.fixed32().ok_or_else(broken)?;
        let base = bytes.fixed32().ok_or_else(broken)?;
        let metaindex = u64::from(bytes.fixed32().ok_or_else(broken)?);
        let place = size.checked_sub(LONG as u64).ok_or_else(broken)?;
        let mut without = *tail;
        without.iter_mut().skip(5).take(4).for_each(|byte| *byte = 0);
        let computed = checksum.over(&without).wrapping_add(of_place(base, place));
        if checksum != Checksum::None && computed != stored {
            return Err(FooterFault::Damaged("the footer does not fit its check"));
        }
        let offset = place.checked_sub(metaindex + BLOCK_TRAILER).ok_or_else(broken)?;
        let metaindex = Handle { offset, size: metaindex };
        Ok(Self { checksum, base, metaindex, index: None, sizes: Sizes::Varint, pebble: None })
    }
}

fn check_version(version: u32, pebble: bool) -> Result<(), FooterFault> {
    match (version, pebble) {
        (0, _) => Err(FooterFault::Damaged("a broken footer")),
        (version, true) if version > PEBBLE_LAST => {
            Err(unsupported(&format!("a columnar table of Pebble (version {version})")))
        }
        (version, false) if version > ROCKSDB_LAST => {
            Err(unsupported(&format!("table format {version} of RocksDB")))
        }
        _ => Ok(()),
    }
}

fn unsupported(what: &str) -> FooterFault {
    FooterFault::Unsupported(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last bytes of tables that RocksDB 9.8 wrote with its other two formats.
    #[test]
    fn other_kinds_of_tables_are_refused_by_name() {
        for (magic, name) in [
            ([0x73, 0x78, 0xf1, 0xc5, 0xd0, 0x89, 0x67, 0x92], "a cuckoo table of RocksDB"),
            ([0xb8, 0x13, 0x8f, 0x7a, 0xeb, 0x18, 0x34, 0x4f], "a plain table of RocksDB"),
        ] {
            let tail = [[0; 45].as_slice(), &magic].concat();
            assert_eq!(Footer::read(&tail, 2812).err(), Some(FooterFault::Unsupported(name.to_owned())));
        }
    }
}
