use std::cmp::Ordering;

use crate::number::{u32_le, u64_be, varint};

const DELETED: u8 = 0x01;
const POINTER: u8 = 0x02;

/// A key at a version: in a file, the key and then 2⁶⁴ − 1 − version, big-endian, so that newer ones come first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VersionedKey {
    pub(super) key: Vec<u8>,
    /// 2⁶⁴ − 1 − version.
    pub(super) age: u64,
}

impl VersionedKey {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let end = bytes.len().checked_sub(8)?;
        Some(Self { key: bytes.get(..end)?.to_vec(), age: u64_be(bytes, end)? })
    }
}

/// What is kept of a key at a version.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) at: VersionedKey,
    pub(super) meta: u8,
    /// Seconds since 1970; 0 if it stays.
    pub(super) expires: u64,
    pub(super) value: EntryValue,
}

/// Where the value of an entry is.
#[derive(Clone, Debug)]
pub(super) enum EntryValue {
    Here(Vec<u8>),
    Log(Pointer),
}

/// A record of a value log: `file (4) | length (4) | offset (4)`, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) file: u32,
    pub(super) len: u32,
    pub(super) offset: u32,
}

impl Pointer {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self { file: u32_le(bytes, 0)?, len: u32_le(bytes, 4)?, offset: u32_le(bytes, 8)? })
    }
}

impl Entry {
    /// Reads what follows the key: `meta (1) | user meta (1) | expiry | value`.
    pub(super) fn read(key: &[u8], rest: &[u8]) -> Option<Self> {
        let meta = *rest.first()?;
        let (expires, value) = varint(rest.get(2..)?)?;
        let value = if meta & POINTER == 0 {
            EntryValue::Here(value.to_vec())
        } else {
            EntryValue::Log(Pointer::read(value)?)
        };
        Some(Self { at: VersionedKey::read(key)?, meta, expires, value })
    }

    /// Whether a reader sees it at `now`, in seconds since 1970.
    pub(super) const fn is_visible(&self, now: u64) -> bool {
        self.meta & DELETED == 0 && (self.expires == 0 || self.expires > now)
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.at.cmp(&other.at)
    }
}
