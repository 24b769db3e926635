//! The nodes of an IAVL tree, as rows hold them.
//!
//! ```text
//! key `s` version (8) nonce (4):  height | size | key | leaf: value
//!                                                     | inner: hash | mode | left | right     each version and nonce, or a hash
//! key `n` hash (32):              height | size | version | key | leaf: value | inner: left hash | right hash
//! ```
//!
//! Numbers are zigzag varints, byte strings have their length before them.

use sha2::{Digest as _, Sha256};

use crate::lsm::Bytes;

/// The hash of a node.
pub type Hash = [u8; 32];

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Place {
    /// By the version that made it and its number in it.
    New { version: u64, nonce: u32 },
    /// By its hash, as before iavl 1.
    Legacy(Hash),
}

impl Place {
    /// The key of its row, within the store.
    pub(crate) fn key(&self) -> Vec<u8> {
        match self {
            Self::New { version, nonce } => {
                [&b"s"[..], &version.to_be_bytes(), &nonce.to_be_bytes()].concat()
            }
            Self::Legacy(hash) => [&b"n"[..], hash].concat(),
        }
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) height: i64,
    pub(crate) size: u64,
    pub(crate) version: u64,
    pub(crate) key: Vec<u8>,
    pub(crate) body: Body,
}

/// What is below a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Leaf {
        value: Vec<u8>,
    },
    /// The smallest key on the right is the node's own.
    Inner {
        left: Place,
        right: Place,
        hash: Option<Hash>,
    },
}

/// No tree is higher: heights are of one signed byte.
const MAX_HEIGHT: i64 = 127;

impl Node {
    /// Reads the row of a node; the error says what is wrong.
    pub(crate) fn read(place: &Place, row: &[u8]) -> Result<Self, &'static str> {
        let mut bytes = Bytes::new(row);
        let cut = "a node that is cut off";
        let height = bytes.signed().ok_or(cut)?;
        let size = bytes.signed().and_then(|size| u64::try_from(size).ok()).ok_or(cut)?;
        if !(0..=MAX_HEIGHT).contains(&height) {
            return Err("a node of an impossible height");
        }
        let version = match place {
            Place::New { version, .. } => *version,
            Place::Legacy(_) => number(&mut bytes).ok_or(cut)?,
        };
        let key = bytes.prefixed().ok_or(cut)?.to_vec();
        let body = if height == 0 {
            Body::Leaf { value: bytes.prefixed().ok_or(cut)?.to_vec() }
        } else {
            inner(place, &mut bytes).ok_or(cut)?
        };
        if !bytes.is_empty() {
            return Err("bytes after a node");
        }
        if (height == 0) != (size == 1) {
            return Err("a node of an impossible size");
        }
        Ok(Self { height, size, version, key, body })
    }

    /// The hash of a leaf.
    pub(crate) fn leaf_hash(&self, value: &[u8]) -> Hash {
        let mut bytes = self.head();
        put_bytes(&self.key, &mut bytes);
        put_bytes(&Sha256::digest(value), &mut bytes);
        Sha256::digest(&bytes).into()
    }

    /// The hash of an inner node, from those of its children.
    pub(crate) fn inner_hash(&self, left: &Hash, right: &Hash) -> Hash {
        let mut bytes = self.head();
        put_bytes(left, &mut bytes);
        put_bytes(right, &mut bytes);
        Sha256::digest(&bytes).into()
    }

    fn head(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(96);
        put_number(u64::try_from(self.height).unwrap_or(0), &mut bytes);
        put_number(self.size, &mut bytes);
        put_number(self.version, &mut bytes);
        bytes
    }
}

/// A number that is not negative.
fn number(bytes: &mut Bytes<'_>) -> Option<u64> {
    bytes.signed().and_then(|number| u64::try_from(number).ok())
}

fn inner(place: &Place, bytes: &mut Bytes<'_>) -> Option<Body> {
    if let Place::Legacy(_) = place {
        let (left, right) = (hash(bytes)?, hash(bytes)?);
        return Some(Body::Inner { left: Place::Legacy(left), right: Place::Legacy(right), hash: None });
    }
    let own = hash(bytes)?;
    let mode = bytes.signed().filter(|mode| (0..=3).contains(mode))?;
    let left = child(mode & 1 != 0, bytes)?;
    let right = child(mode & 2 != 0, bytes)?;
    Some(Body::Inner { left, right, hash: Some(own) })
}

fn child(legacy: bool, bytes: &mut Bytes<'_>) -> Option<Place> {
    if legacy {
        return hash(bytes).map(Place::Legacy);
    }
    let version = number(bytes)?;
    let nonce = number(bytes).and_then(|nonce| u32::try_from(nonce).ok())?;
    Some(Place::New { version, nonce })
}

fn hash(bytes: &mut Bytes<'_>) -> Option<Hash> {
    bytes.prefixed()?.try_into().ok()
}

/// A zigzag varint of a number that is not negative.
fn put_number(number: u64, out: &mut Vec<u8>) {
    put_varint(u128::from(number) << 1, out);
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(bytes.len() as u128, out);
    out.extend_from_slice(bytes);
}

fn put_varint(mut value: u128, out: &mut Vec<u8>) {
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or(0);
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place::New { version: 5, nonce: 2 };

    #[test]
    fn a_leaf_has_its_key_and_its_value() {
        let node = Node::read(&PLACE, &[0, 2, 1, b'k', 2, b'v', b'w']);
        let body = Body::Leaf { value: b"vw".to_vec() };
        assert_eq!(node, Ok(Node { height: 0, size: 1, version: 5, key: b"k".to_vec(), body }));
    }

    #[test]
    fn broken_nodes_are_refused() {
        let read = |row: &[u8]| Node::read(&PLACE, row).map(drop);
        assert_eq!(read(&[]), Err("a node that is cut off"));
        assert_eq!(
            read(&[0, 2, 1, b'k', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
            Err("a node that is cut off")
        );
        assert_eq!(read(&[0, 2, 1, b'k', 0, 7]), Err("bytes after a node"));
        assert_eq!(read(&[1, 2, 1, b'k', 0]), Err("a node of an impossible height"));
        assert_eq!(read(&[0, 4, 1, b'k', 0]), Err("a node of an impossible size"));
    }
}
