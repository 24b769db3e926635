//! The binary form of a dump.
//!
//! ```text
//! 8a 4b 50 44 0d 0a 1a 01 | fingerprint (16) | number of spaces | their names, each after its length
//! block:  length (4) | rows | xxh3_64 of the rows (8)
//! row:    space | bytes shared with the key before | length of the rest | the rest | length of the value | the value
//! end:    00000000 | number of rows (8)
//! ```
//!
//! Numbers inside are LEB128, those with a width big-endian. The last byte of the first eight is the version. The
//! fingerprint of a dump that was made without a plan is zero.

use std::io::{Read, Write};

use keyplan_codec::{Delimited as _, Hash, Leb128, Segment as _};
use keyplan_store::PlanFingerprint;

use crate::error::{Result, bail, refused};

const MAGIC: [u8; 8] = [0x8a, b'K', b'P', b'D', b'\r', b'\n', 0x1a, 1];

/// The byte that tells a binary dump from JSON.
pub(crate) const FIRST: u8 = 0x8a;

/// The fingerprint of a dump that was made without a plan.
pub(crate) const NO_PLAN: PlanFingerprint = PlanFingerprint([0; 16]);

/// A block is written out when it has this many bytes.
const BLOCK: usize = 256 * 1024;

/// A block is also written out when its keys have this many bytes, whatever they share: a reader has them whole.
const KEYS: usize = 16 * 1024 * 1024;

/// The most spaces, and the longest name of one, that are read.
const MAX_SPACES: u64 = 4096;
const MAX_NAME: u64 = 1024;

/// Collects rows into blocks.
pub(crate) struct BlockWriter {
    block: Vec<u8>,
    last: Vec<u8>,
    /// The bytes of the block's keys.
    keys: usize,
    rows: u64,
}

impl BlockWriter {
    /// Writes what comes before the blocks.
    pub(crate) fn new(to: &mut impl Write, fingerprint: PlanFingerprint, names: &[&str]) -> Result<Self> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&fingerprint.0);
        put_number(names.len(), &mut head)?;
        for name in names {
            put_bytes(name.as_bytes(), &mut head)?;
        }
        to.write_all(&head)?;
        Ok(Self { block: Vec::new(), last: Vec::new(), keys: 0, rows: 0 })
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, to: &mut impl Write, space: usize, key: &[u8], value: &[u8]) -> Result<()> {
        let shared = self.last.iter().zip(key).take_while(|(a, b)| a == b).count();
        put_number(space, &mut self.block)?;
        put_number(shared, &mut self.block)?;
        put_bytes(key.get(shared..).unwrap_or_default(), &mut self.block)?;
        put_bytes(value, &mut self.block)?;
        key.clone_into(&mut self.last);
        self.rows += 1;
        self.keys = self.keys.saturating_add(key.len());
        if self.block.len() >= BLOCK || self.keys >= KEYS { self.flush(to) } else { Ok(()) }
    }

    /// Writes the rest, and the end.
    pub(crate) fn finish(mut self, to: &mut impl Write) -> Result<()> {
        if !self.block.is_empty() {
            self.flush(to)?;
        }
        to.write_all(&[0; 4])?;
        to.write_all(&self.rows.to_be_bytes())?;
        Ok(())
    }

    fn flush(&mut self, to: &mut impl Write) -> Result<()> {
        let length = u32::try_from(self.block.len()).map_err(|_| refused!("a row is over 4 GiB"))?;
        to.write_all(&length.to_be_bytes())?;
        to.write_all(&self.block)?;
        to.write_all(&Hash::Xxh3_64.digest(&self.block))?;
        self.block.clear();
        // A block can be read by itself.
        self.last.clear();
        self.keys = 0;
        Ok(())
    }
}

/// What comes before the blocks of a dump.
#[derive(Debug)]
pub(crate) struct Head {
    /// The layout that it was made under; all zero if it was made without a plan.
    pub(crate) fingerprint: PlanFingerprint,
    /// The engine's names of its spaces.
    pub(crate) spaces: Vec<String>,
}

/// Reads what comes before the blocks.
pub(crate) fn read_head(from: &mut impl Read) -> Result<Head> {
    let mut magic = [0; 8];
    from.read_exact(&mut magic).map_err(|_| refused!("this is not a dump: it is too short"))?;
    if magic != MAGIC {
        if magic.split_last().map(|(_, rest)| rest) == MAGIC.split_last().map(|(_, rest)| rest) {
            bail!("this dump is of a version that is not known");
        }
        bail!("this is neither JSON lines nor a binary dump");
    }
    let mut fingerprint = [0; 16];
    from.read_exact(&mut fingerprint)?;
    let count = read_number(from)?;
    if count > MAX_SPACES {
        bail!("this dump is damaged: it has {count} spaces");
    }
    let mut spaces = Vec::new();
    for _ in 0..count {
        let length = read_number(from)?;
        if length > MAX_NAME {
            bail!("this dump is damaged: a space has a name of {length} bytes");
        }
        let mut name = Vec::new();
        from.take(length).read_to_end(&mut name)?;
        spaces
            .push(String::from_utf8(name).map_err(|_| refused!("this dump is damaged: a name is not text"))?);
    }
    Ok(Head { fingerprint: PlanFingerprint(fingerprint), spaces })
}

/// Reads the next block into `block`; `None` after it, the number of rows that the dump claims to have.
pub(crate) fn read_block(from: &mut impl Read, block: &mut Vec<u8>) -> Result<Option<u64>> {
    let cut = |_: std::io::Error| refused!("the dump is cut off");
    let mut length = [0; 4];
    from.read_exact(&mut length).map_err(cut)?;
    let length = u64::from(u32::from_be_bytes(length));
    block.clear();
    let mut check = [0; 8];
    if length == 0 {
        from.read_exact(&mut check).map_err(cut)?;
        return Ok(Some(u64::from_be_bytes(check)));
    }
    // Memory grows with what is there, not with what the length claims.
    let found = from.take(length).read_to_end(block)?;
    if u64::try_from(found).ok() != Some(length) {
        bail!("the dump is cut off");
    }
    from.read_exact(&mut check).map_err(cut)?;
    if *Hash::Xxh3_64.digest(block) != check {
        bail!("the block is damaged: its check does not match");
    }
    Ok(None)
}

/// Hands on each row of a block: the index of its space, its key, its value.
pub(crate) fn read_rows(
    mut block: &[u8],
    mut row: impl FnMut(u64, &[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let mut key = Vec::new();
    while !block.is_empty() {
        let space = take_number(&mut block)?;
        let shared = usize::try_from(take_number(&mut block)?)?;
        if shared > key.len() {
            bail!("the block is damaged: a key shares more than there is");
        }
        key.truncate(shared);
        key.extend_from_slice(take_bytes(&mut block)?);
        row(space, &key, take_bytes(&mut block)?)?;
    }
    Ok(())
}

fn put_number(n: usize, out: &mut Vec<u8>) -> Result<()> {
    Ok(Leb128::<u64>::new().encode(u64::try_from(n)?, out)?)
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    put_number(bytes.len(), out)?;
    out.extend_from_slice(bytes);
    Ok(())
}

fn take_number(from: &mut &[u8]) -> Result<u64> {
    let number = Leb128::<u64>::new();
    let (own, rest) = from.split_at(number.extent(from)?);
    *from = rest;
    Ok(number.decode(own)?)
}

fn take_bytes<'b>(from: &mut &'b [u8]) -> Result<&'b [u8]> {
    let length = usize::try_from(take_number(from)?)?;
    let (own, rest) =
        from.split_at_checked(length).ok_or_else(|| refused!("the block is damaged: a row is cut off"))?;
    *from = rest;
    Ok(own)
}

fn read_number(from: &mut impl Read) -> Result<u64> {
    let mut bytes = Vec::new();
    loop {
        let mut byte = [0];
        from.read_exact(&mut byte)?;
        bytes.extend_from_slice(&byte);
        if byte[0] & 0x80 == 0 || bytes.len() > 10 {
            return Ok(Leb128::<u64>::new().decode(&bytes)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(rows: &[(usize, Vec<u8>, Vec<u8>)]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut blocks = BlockWriter::new(&mut out, PlanFingerprint([7; 16]), &["a", "bee"]).unwrap();
        for (space, key, value) in rows {
            blocks.push(&mut out, *space, key, value).unwrap();
        }
        blocks.finish(&mut out).unwrap();
        out
    }

    type Rows = Vec<(usize, Vec<u8>, Vec<u8>)>;

    fn read(mut bytes: &[u8]) -> Result<(Head, Rows, u64)> {
        let head = read_head(&mut bytes)?;
        let (mut rows, mut block) = (Vec::new(), Vec::new());
        loop {
            if let Some(claimed) = read_block(&mut bytes, &mut block)? {
                return Ok((head, rows, claimed));
            }
            read_rows(&block, |space, key, value| {
                rows.push((usize::try_from(space)?, key.to_vec(), value.to_vec()));
                Ok(())
            })?;
        }
    }

    fn rows() -> Rows {
        let key = |n: u32| [b"prefix".as_slice(), &n.to_be_bytes()].concat();
        let mut rows: Rows = (0..3000).map(|n| (0, key(n), vec![7; 100])).collect();
        rows.extend([(1, Vec::new(), Vec::new()), (1, vec![0xff], vec![1; BLOCK])]);
        rows
    }

    #[test]
    fn rows_read_back_as_they_were_written() {
        let (head, found, claimed) = read(&dump(&rows())).unwrap();
        assert_eq!(
            (head.fingerprint, head.spaces),
            (PlanFingerprint([7; 16]), vec!["a".into(), "bee".into()])
        );
        assert_eq!((found, claimed), (rows(), 3002));
        assert_eq!(read(&dump(&[])).unwrap().2, 0);
    }

    #[test]
    fn a_dump_that_is_cut_or_changed_is_refused() {
        let rows: Rows = (0..20_u8).map(|n| (0, vec![n, n], vec![n; 3])).collect();
        let whole = dump(&rows);
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "cut at {length}");
        }
        // Behind the head every byte is covered by a check or by the lengths around it.
        for at in 31..whole.len() - 12 {
            let mut changed = whole.clone();
            changed[at] ^= 0x01;
            assert!(read(&changed).is_err(), "changed at {at}");
        }
    }
}
