use core::fmt;
use core::ops::Deref;

use blake2::digest::consts::U28;
use blake2::{Blake2b, Blake2b128, Blake2b256};
use ripemd::Ripemd160;
use sha2::{Digest as _, Sha256};
use sha3::Keccak256;
use siphasher::sip::SipHasher24;
use xxhash_rust::xxh3::xxh3_64;
use xxhash_rust::xxh64::xxh64;

use super::{fixed_extent, put_fill, short, wrong_width};
use crate::{DecodeError, Delimited, EncodeError, Fault, Int, Open, Segment, Sink};

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hash {
    /// XXH3 with 64 bits and seed 0, big-endian.
    Xxh3_64,
    /// XXH64 with seed 0, little-endian, as Substrate writes it.
    Twox64,
    /// XXH64 with seeds 0 and 1, each little-endian, as Substrate writes it.
    Twox128,
    /// `BLAKE2b` with 16 bytes of output.
    Blake2b128,
    /// `BLAKE2b` with 32 bytes of output.
    Blake2b256,
    /// SHA-256.
    Sha256,
    /// Keccak-256 as Ethereum uses it, which is not SHA3-256.
    Keccak256,
    /// `BLAKE2b` with 28 bytes of output.
    Blake2b224,
    /// RIPEMD-160 of SHA-256, as Bitcoin uses it.
    Hash160,
    /// SipHash-2-4 with a key of zeros, little-endian.
    Siphash24,
}

impl Hash {
    /// Every hash function.
    pub const ALL: [Self; 10] = [
        Self::Xxh3_64,
        Self::Twox64,
        Self::Twox128,
        Self::Blake2b128,
        Self::Blake2b256,
        Self::Sha256,
        Self::Keccak256,
        Self::Blake2b224,
        Self::Hash160,
        Self::Siphash24,
    ];

    /// Returns how many bytes a digest has.
    #[inline]
    pub const fn width(self) -> usize {
        match self {
            Self::Xxh3_64 | Self::Twox64 | Self::Siphash24 => 8,
            Self::Twox128 | Self::Blake2b128 => 16,
            Self::Hash160 => 20,
            Self::Blake2b224 => 28,
            Self::Blake2b256 | Self::Sha256 | Self::Keccak256 => 32,
        }
    }

    /// Returns the name that the plan language has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xxh3_64 => "xxh3_64",
            Self::Twox64 => "twox_64",
            Self::Twox128 => "twox_128",
            Self::Blake2b128 => "blake2b_128",
            Self::Blake2b256 => "blake2b_256",
            Self::Sha256 => "sha256",
            Self::Keccak256 => "keccak256",
            Self::Blake2b224 => "blake2b_224",
            Self::Hash160 => "hash160",
            Self::Siphash24 => "siphash_24",
        }
    }

    /// Returns the digest of `bytes`.
    #[inline]
    pub fn digest(self, bytes: &[u8]) -> Digest {
        match self {
            Self::Xxh3_64 => Digest::new(xxh3_64(bytes).be_array()),
            Self::Twox64 => Digest::new(xxh64(bytes, 0).le_array()),
            Self::Twox128 => {
                // The second half is above the first, as both are written least significant byte first.
                let halves = u128::from(xxh64(bytes, 1)) << 64 | u128::from(xxh64(bytes, 0));
                Digest::new(halves.le_array())
            }
            Self::Blake2b128 => Digest::new(Blake2b128::digest(bytes).0),
            Self::Blake2b256 => Digest::new(Blake2b256::digest(bytes).0),
            Self::Sha256 => Digest::new(Sha256::digest(bytes).0),
            Self::Keccak256 => Digest::new(Keccak256::digest(bytes).0),
            Self::Blake2b224 => Digest::new(Blake2b::<U28>::digest(bytes).0),
            Self::Hash160 => Digest::new(Ripemd160::digest(Sha256::digest(bytes)).0),
            Self::Siphash24 => Digest::new(SipHasher24::new().hash(bytes).le_array()),
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a hash function gives: at most 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; 32],
    len: usize,
}

impl Digest {
    #[inline]
    fn new<const N: usize>(front: [u8; N]) -> Self {
        let mut bytes = [0; 32];
        for (slot, byte) in bytes.iter_mut().zip(front) {
            *slot = byte;
        }
        Self { bytes, len: N.min(32) }
    }

    /// Returns the first `keep` bytes, or all if there are not so many.
    #[inline]
    fn front(&self, keep: usize) -> &[u8] {
        self.get(..keep).unwrap_or(self)
    }
}

impl Deref for Digest {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(")?;
        for byte in self.iter() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// Only the hash of the argument, which cannot be read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashed {
    /// The hash function.
    pub hash: Hash,
    /// How many bytes of the digest are written, at most all.
    pub keep: usize,
}

impl Hashed {
    /// The whole digest.
    pub const fn whole(hash: Hash) -> Self {
        Self { hash, keep: hash.width() }
    }

    /// Returns how many bytes are written.
    #[inline]
    pub fn width(&self) -> usize {
        self.keep.min(self.hash.width())
    }

    /// Appends the hash of what `inner` appends.
    ///
    /// What is hashed is in `out` for a while, so a buffer must have room for it.
    #[inline]
    pub fn wrap<S, E>(&self, out: &mut S, inner: impl FnOnce(&mut S) -> Result<(), E>) -> Result<(), E>
    where
        S: Sink + ?Sized,
        E: From<EncodeError>,
    {
        let start = out.len();
        inner(out)?;
        let digest = self.hash.digest(out.tail_mut(start));
        out.truncate(start);
        Ok(out.put(digest.front(self.keep))?)
    }
}

impl Segment for Hashed {
    type Arg<'a> = &'a [u8];
    type View<'a> = &'a [u8];

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        out.put(self.hash.digest(arg).front(self.keep))
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let width = self.width();
        if bytes.len() == width { Ok(bytes) } else { Err(wrong_width(bytes.len(), width)) }
    }
}

impl Delimited for Hashed {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, self.width())
    }
}

/// The hash of the argument, then the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashConcat {
    /// The hash function.
    pub hash: Hash,
    /// How many bytes of the digest are written, at most all.
    pub keep: usize,
}

impl HashConcat {
    /// The whole digest.
    pub const fn whole(hash: Hash) -> Self {
        Self { hash, keep: hash.width() }
    }

    /// Returns how many bytes come before the argument.
    #[inline]
    pub fn width(&self) -> usize {
        self.keep.min(self.hash.width())
    }

    /// Appends what `inner` appends, after its hash.
    #[inline]
    pub fn wrap<S, E>(&self, out: &mut S, inner: impl FnOnce(&mut S) -> Result<(), E>) -> Result<(), E>
    where
        S: Sink + ?Sized,
        E: From<EncodeError>,
    {
        let start = out.len();
        put_fill(0, self.width(), out)?;
        inner(out)?;
        if let Some((front, contents)) = out.tail_mut(start).split_at_mut_checked(self.width()) {
            front.copy_from_slice(self.hash.digest(contents).front(self.keep));
        }
        Ok(())
    }
}

impl Segment for HashConcat {
    type Arg<'a> = &'a [u8];
    type View<'a> = &'a [u8];

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        out.put(self.hash.digest(arg).front(self.keep))?;
        out.put(arg)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let Some((front, contents)) = bytes.split_at_checked(self.width()) else {
            return Err(short(bytes.len(), self.width()));
        };
        if front == self.hash.digest(contents).front(self.keep) {
            Ok(contents)
        } else {
            Err(DecodeError::new(0, Fault::Mismatch))
        }
    }
}

impl Open for HashConcat {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        input.len()
    }

    #[inline]
    fn admits(&self, len: usize) -> bool {
        len >= self.width()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    crate::laws! {
        concat: HashConcat::whole(Hash::Twox64), [b"".into(), b"abc".into(), [7; 40].into()], open;
        concat_cut: HashConcat { hash: Hash::Sha256, keep: 2 }, [b"".into(), b"abc".into()], open;
    }

    /// The public key of the private key 1, compressed.
    const GENERATOR: [u8; 33] = [
        0x02, 0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07,
        0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98,
    ];

    #[test]
    fn digests_are_those_of_the_systems_that_use_them() {
        // Dolos hashes its namespaces so, Substrate its pallets; the others are published test values.
        let known: [(Hash, &[u8], &str); 14] = [
            (Hash::Xxh3_64, b"accounts", "138a7b25414c083a"),
            (Hash::Twox64, b"", "99e9d85137db46ef"),
            (Hash::Twox128, b"System", "26aa394eea5630e07c48ae0c9558cef7"),
            (Hash::Twox128, b"Account", "b99d880ec681799c0cf30e8886371da9"),
            (Hash::Blake2b128, b"", "cae66941d9efbd404e4d88758ea67670"),
            (Hash::Blake2b256, b"", "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"),
            (Hash::Sha256, b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (Hash::Keccak256, b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
            (
                Hash::Keccak256,
                b"transfer(address,uint256)",
                "a9059cbb2ab09eb219583f4a59a5d0623ade346d962bcd4e46b11da047c9049b",
            ),
            (Hash::Blake2b224, b"", "836cc68931c2e4e3e838602eca1902591d216837bafddfe6f0c8cb07"),
            (Hash::Hash160, b"", "b472a266d0bd89c13706a4132ccfb16f7c3b9fcb"),
            (Hash::Hash160, &GENERATOR, "751e76e8199196d454941c45d1b3a323f1433bd6"),
            (Hash::Siphash24, b"", "d70077739d4b921e"),
            (Hash::Sha256, b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ];
        for (hash, bytes, digest) in known {
            assert_eq!(format!("{:?}", hash.digest(bytes)), format!("Digest({digest})"), "{hash}");
        }
    }

    #[test]
    fn every_digest_has_the_width_said() {
        for hash in Hash::ALL {
            assert_eq!(hash.digest(b"x").len(), hash.width(), "{hash}");
        }
    }

    #[test]
    fn a_hash_is_cut_to_what_is_kept() {
        let hashed = Hashed { hash: Hash::Sha256, keep: 4 };
        let mut out = Vec::new();
        hashed.encode(b"abc", &mut out).unwrap();
        assert_eq!(out, [0xba, 0x78, 0x16, 0xbf]);
        assert_eq!(hashed.decode(&out), Ok(out.as_slice()));
        assert_eq!(hashed.extent(&[0; 9]), Ok(4));
        assert_eq!(hashed.extent(&[0; 3]), Err(DecodeError::new(3, Fault::Short { missing: 1 })));
        assert_eq!(hashed.decode(&[0; 5]), Err(DecodeError::new(4, Fault::Trailing { extra: 1 })));
        assert_eq!(Hashed { hash: Hash::Sha256, keep: 99 }.width(), 32);
    }

    #[test]
    fn wrapping_in_place_gives_the_same_bytes() {
        for hash in Hash::ALL {
            for inner in [vec![], vec![1, 2, 3], vec![9; 200]] {
                for keep in [3, hash.width(), 99] {
                    let mut direct = b"front".to_vec();
                    let mut wrapped = direct.clone();
                    Hashed { hash, keep }.encode(&inner, &mut direct).unwrap();
                    Hashed { hash, keep }.wrap(&mut wrapped, |out| out.put(&inner)).unwrap();
                    HashConcat { hash, keep }.encode(&inner, &mut direct).unwrap();
                    HashConcat { hash, keep }.wrap(&mut wrapped, |out| out.put(&inner)).unwrap();
                    assert_eq!(direct, wrapped, "{hash} {keep}");
                }
            }
        }
    }

    #[test]
    fn a_hash_that_is_not_that_of_the_argument_is_refused() {
        let concat = HashConcat::whole(Hash::Xxh3_64);
        let mut bytes = Vec::new();
        concat.encode(b"accounts", &mut bytes).unwrap();
        assert_eq!(concat.decode(&bytes), Ok(b"accounts".as_slice()));
        bytes[15] ^= 1;
        assert_eq!(concat.decode(&bytes), Err(DecodeError::new(0, Fault::Mismatch)));
        assert_eq!(concat.decode(&[0; 7]), Err(DecodeError::new(7, Fault::Short { missing: 1 })));
    }
}
