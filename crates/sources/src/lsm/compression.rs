//! Blocks made whole again, within [`MAX_BLOCK`].

use std::io::Read;

use super::bytes::{Bytes, u32_le, u64_le};

/// The most bytes of one block, stored and made whole. What says that it is larger is refused before memory is taken.
pub(crate) const MAX_BLOCK: usize = 64 * 1024 * 1024;

/// How a table stores the size of a compressed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// LevelDB: only Snappy, which knows its own size; Zstandard in later versions. Also RocksDB's table format 0.
    LevelDb,
    /// RocksDB's table format 1.
    Early,
    /// A varint before the bytes.
    Varint,
}

/// Why a block could not be made whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is damaged.
    Damaged(&'static str),
    /// It is of a compression that is not read here.
    Unsupported(String),
    /// It would have more than [`MAX_BLOCK`] bytes.
    TooLarge,
}

impl Fault {
    /// What is wrong, for a format that has no other answer.
    pub(crate) const fn what(&self) -> &'static str {
        match self {
            Self::Damaged(what) => what,
            Self::Unsupported(_) => "a compression that is not read here",
            Self::TooLarge => "a block that claims to be larger than any is",
        }
    }
}

/// A block in the compression of that number.
pub(crate) fn decompress(number: u8, sizes: Sizes, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    match (number, sizes) {
        (0, _) => Ok(bytes.to_vec()),
        (1, _) => snappy(bytes),
        (2, Sizes::LevelDb) if bytes.starts_with(&ZSTD_MAGIC) => zstd(bytes, None),
        (2, Sizes::LevelDb | Sizes::Early) => zlib(bytes, None),
        (4 | 5, Sizes::LevelDb | Sizes::Early) => {
            let (size, bytes) =
                bytes.split_first_chunk().ok_or(Fault::Damaged("no size before the block"))?;
            lz4(bytes, u64_le(*size))
        }
        // Zstandard came after these forms of a size, and has had the varint from the beginning.
        (7, _) | (2 | 4 | 5, Sizes::Varint) => {
            let mut bytes = Bytes::new(bytes);
            let size = bytes.varint().ok_or(Fault::Damaged("no size before the block"))?;
            match number {
                2 => zlib(bytes.rest(), Some(size)),
                7 => zstd(bytes.rest(), Some(size)),
                _ => lz4(bytes.rest(), size),
            }
        }
        (3, _) => Err(Fault::Unsupported("bzip2 compression".to_owned())),
        (6, _) => Err(Fault::Unsupported("XPRESS compression".to_owned())),
        _ => Err(Fault::Unsupported(format!("compression number {number}"))),
    }
}

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The size that a block claims, if it is allowed.
fn claimed(size: u64) -> Result<usize, Fault> {
    usize::try_from(size).ok().filter(|&size| size <= MAX_BLOCK).ok_or(Fault::TooLarge)
}

/// A block of Snappy, which says its size itself.
pub(crate) fn snappy(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let size = snap::raw::decompress_len(bytes).map_err(|_| Fault::Damaged("no Snappy block"))?;
    // A byte of Snappy makes at most 64: a size beyond that is a lie, and no memory is taken for it.
    if size > MAX_BLOCK || size / 64 > bytes.len() {
        return Err(Fault::TooLarge);
    }
    let mut out = vec![0; size];
    let written = snap::raw::Decoder::new().decompress(bytes, &mut out);
    match written {
        Ok(written) if written == size => Ok(out),
        _ => Err(Fault::Damaged("no Snappy block")),
    }
}

fn lz4(bytes: &[u8], size: u64) -> Result<Vec<u8>, Fault> {
    let size = claimed(size)?;
    // A byte of LZ4 makes at most 255.
    if size / 256 > bytes.len() {
        return Err(Fault::TooLarge);
    }
    let mut out = vec![0; size];
    match lz4_flex::block::decompress_into(bytes, &mut out) {
        Ok(written) if written == size => Ok(out),
        _ => Err(Fault::Damaged("no LZ4 block")),
    }
}

/// RocksDB writes deflate without a header, unless it was set up otherwise.
fn zlib(bytes: &[u8], size: Option<u64>) -> Result<Vec<u8>, Fault> {
    let bare = bounded(flate2::read::DeflateDecoder::new(bytes), size, "no zlib block");
    match bare {
        Err(Fault::Damaged(_)) => bounded(flate2::read::ZlibDecoder::new(bytes), size, "no zlib block"),
        done => done,
    }
}

/// A frame of Zstandard, of which nothing says the size but itself.
pub(crate) fn zstd_frame(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    zstd(bytes, None)
}

fn zstd(bytes: &[u8], size: Option<u64>) -> Result<Vec<u8>, Fault> {
    let limit = match size {
        Some(size) => claimed(size)?,
        None => MAX_BLOCK,
    };
    if let Some(window) = zstd_window(bytes)
        && window > wide_window(limit)
    {
        return Err(Fault::TooLarge);
    }
    let decoder =
        ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|_| Fault::Damaged("no Zstandard block"))?;
    bounded(decoder, size, "no Zstandard block")
}

/// The largest window that makes sense for a block: the decoder takes that much memory.
fn wide_window(limit: usize) -> u64 {
    u64::try_from(limit.max(8 * 1024 * 1024)).unwrap_or(u64::MAX)
}

/// The window that a frame asks for: what a decoder must keep.
fn zstd_window(bytes: &[u8]) -> Option<u64> {
    let mut bytes = Bytes::new(bytes);
    let magic: [u8; 4] = bytes.take(4)?.try_into().ok()?;
    if u32_le(magic) != u32_le(ZSTD_MAGIC) {
        return None;
    }
    let descriptor = bytes.byte()?;
    let single = descriptor & 0x20 != 0;
    if single {
        let width = match descriptor >> 6 {
            0 => 1,
            1 => 2,
            2 => 4,
            _ => 8,
        };
        let dictionary = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied()?;
        bytes.take(dictionary)?;
        let size = super::bytes::little(bytes.take(width)?)?;
        return Some(if width == 2 { size + 256 } else { size });
    }
    let window = bytes.byte()?;
    let base = 1_u64.checked_shl(10 + u32::from(window >> 3))?;
    Some(base + base / 8 * u64::from(window & 7))
}

/// Reads to the end, and no further than is allowed.
fn bounded(reader: impl Read, size: Option<u64>, fault: &'static str) -> Result<Vec<u8>, Fault> {
    let limit = match size {
        Some(size) => claimed(size)?,
        None => MAX_BLOCK,
    };
    let mut out = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(most).read_to_end(&mut out).map_err(|_| Fault::Damaged(fault))?;
    match size {
        _ if out.len() > limit => Err(if size.is_some() { Fault::Damaged(fault) } else { Fault::TooLarge }),
        Some(_) if out.len() < limit => Err(Fault::Damaged(fault)),
        _ => Ok(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_is_a_lie_takes_no_memory() {
        // Snappy: a length of 4 GiB − 1 before one byte.
        assert_eq!(decompress(1, Sizes::Varint, &[0xff, 0xff, 0xff, 0xff, 0x0f, 0]), Err(Fault::TooLarge));
        let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0];
        for number in [2, 4, 5, 7] {
            assert_eq!(
                decompress(number, Sizes::Varint, &huge),
                Err(Fault::TooLarge),
                "compression {number}"
            );
        }
    }

    #[test]
    fn a_block_that_grows_beyond_its_size_is_damaged() {
        use std::io::Write as _;
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&vec![7; 100_000]).expect("written");
        let body = encoder.finish().expect("finished");
        let with_size = |size: u8| [&[size][..], &body].concat();
        assert_eq!(decompress(2, Sizes::Varint, &with_size(100)), Err(Fault::Damaged("no zlib block")));
        let honest = [&[0xa0, 0x8d, 0x06][..], &body].concat();
        assert_eq!(decompress(2, Sizes::Varint, &honest), Ok(vec![7; 100_000]));
    }

    #[test]
    fn bombs_end_at_the_largest_block() {
        use std::io::Write as _;
        // A frame with a window of 128 KiB, of blocks that repeat a byte as often as a block may: four bytes for 128 KiB.
        let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
        for _ in 0..600 {
            bomb.extend([0x02, 0x00, 0x10, 7]);
        }
        bomb.extend([0x03, 0x00, 0x10, 7]);
        assert_eq!(zstd_frame(&bomb), Err(Fault::TooLarge));
        let small = [&bomb[..6], &[0x03, 0x00, 0x10, 7]].concat();
        assert_eq!(zstd_frame(&small), Ok(vec![7; 128 * 1024]));
        // With a size before it, no more than that is made.
        let claimed = [&[100][..], &bomb].concat();
        assert_eq!(decompress(7, Sizes::Varint, &claimed), Err(Fault::Damaged("no Zstandard block")));
        // A window that no block needs.
        let window = [0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 0x01, 0, 0];
        assert_eq!(zstd_frame(&window), Err(Fault::TooLarge));
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        for _ in 0..65 {
            encoder.write_all(&vec![0; 1024 * 1024]).expect("written");
        }
        let bomb = encoder.finish().expect("finished");
        assert_eq!(decompress(2, Sizes::LevelDb, &bomb), Err(Fault::TooLarge));
    }

    #[test]
    fn zstandard_has_its_size_before_it_in_every_table_format_of_rocksdb() {
        // A frame of one raw block.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, b'a', b'b', b'c'];
        let block = [&[3][..], &frame].concat();
        for sizes in [Sizes::LevelDb, Sizes::Early, Sizes::Varint] {
            assert_eq!(decompress(7, sizes, &block), Ok(b"abc".to_vec()), "{sizes:?}");
        }
        // LevelDB's own number for it is 2, and there the frame is all.
        assert_eq!(decompress(2, Sizes::LevelDb, &frame), Ok(b"abc".to_vec()));
    }

    #[test]
    fn what_is_not_read_is_named() {
        assert_eq!(
            decompress(3, Sizes::Varint, &[]),
            Err(Fault::Unsupported("bzip2 compression".to_owned()))
        );
        assert_eq!(
            decompress(99, Sizes::Varint, &[]),
            Err(Fault::Unsupported("compression number 99".to_owned()))
        );
    }
}
