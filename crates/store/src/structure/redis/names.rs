//! The keys on the server: those of the caller, and those that are beside them.

use std::collections::BTreeMap;

use super::slot::{TAG, crc16, slot, tag};

/// The keys of a queue, all in one slot.
///
/// What is beside the key is named `{tag}key:keyplan:part`. The tag is the first word that lies in the slot of the
/// key, so that no byte of the key can move the rest to another slot.
#[derive(Debug)]
pub(super) struct QueueKeys {
    /// In the order of the script's `KEYS`.
    pub(super) all: [Vec<u8>; 6],
}

const WAITING: &[u8] = b":keyplan:waiting";
const LEASES: &[u8] = b":keyplan:leases";
const DEAD: &[u8] = b":keyplan:dead";
/// What is known of the items of a queue is under a key with this end.
pub(super) const ITEMS: &[u8] = b":keyplan:items";
const RECEIPT: &[u8] = b":keyplan:receipt";

impl QueueKeys {
    /// The keys of a queue; its items wait under its own key if another program shares it.
    pub(super) fn new(key: &[u8], shared: bool) -> Self {
        let tag = tag(slot(key));
        let beside = |part: &[u8]| [b"{".as_slice(), &tag, b"}", key, part].concat();
        let waiting = if shared { key.to_vec() } else { beside(WAITING) };
        Self { all: [key.to_vec(), waiting, beside(LEASES), beside(DEAD), beside(ITEMS), beside(RECEIPT)] }
    }

    pub(super) fn waiting(&self) -> &[u8] {
        let [_, waiting, ..] = &self.all;
        waiting
    }

    pub(super) fn leases(&self) -> &[u8] {
        let [_, _, leases, ..] = &self.all;
        leases
    }

    pub(super) fn dead(&self) -> &[u8] {
        let [_, _, _, dead, ..] = &self.all;
        dead
    }

    pub(super) fn items(&self) -> &[u8] {
        let [_, _, _, _, items, _] = &self.all;
        items
    }
}

/// Whether a key is beside another one. Nobody else may use such a key.
pub(super) fn stands_beside(key: &[u8]) -> bool {
    key.first() == Some(&b'{')
        && key.get(TAG + 1) == Some(&b'}')
        && [WAITING, LEASES, DEAD, ITEMS, RECEIPT].iter().any(|end| key.ends_with(end))
}

/// The key that another one is beside.
pub(super) fn behind<'k>(key: &'k [u8], part: &[u8]) -> Option<&'k [u8]> {
    key.get(TAG + 2..)?.strip_suffix(part)
}

/// Hashes that are spread over buckets, so that a cluster shares the load of one key.
///
/// A field of the hash `key` lies in the hash `key{n}`, where `n` is the CRC-16 of the field modulo the number of
/// buckets.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    buckets: BTreeMap<Vec<u8>, u16>,
}

impl Spread {
    pub(super) fn insert(&mut self, key: Vec<u8>, buckets: u16) {
        self.buckets.insert(key, buckets);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u16)> {
        self.buckets.iter().map(|(key, buckets)| (key.as_slice(), *buckets))
    }

    /// How many buckets a hash has, if it is spread.
    pub(super) fn of(&self, key: &[u8]) -> Option<u16> {
        if self.buckets.is_empty() { None } else { self.buckets.get(key).copied() }
    }

    /// The key of the bucket that a field lies in, if the hash is spread.
    pub(super) fn bucket(&self, key: &[u8], field: &[u8]) -> Option<Vec<u8>> {
        self.of(key).map(|buckets| bucket(key, crc16(field) % buckets))
    }

    /// The keys of all buckets of a hash, or its own key if it is not spread.
    pub(super) fn all(&self, key: &[u8]) -> Vec<Vec<u8>> {
        match self.of(key) {
            Some(buckets) => (0..buckets).map(|at| bucket(key, at)).collect(),
            None => vec![key.to_vec()],
        }
    }

    /// The hash that a key is a bucket of.
    pub(super) fn whole(&self, key: &[u8]) -> Option<&[u8]> {
        let open = key.iter().position(|byte| *byte == b'{')?;
        let (whole, buckets) = self.buckets.get_key_value(key.get(..open)?)?;
        (0..*buckets).any(|at| bucket(whole, at) == key).then_some(whole)
    }
}

fn bucket(key: &[u8], at: u16) -> Vec<u8> {
    [key, b"{", itoa::Buffer::new().format(at).as_bytes(), b"}"].concat()
}

/// A pattern that matches the keys with a prefix, whatever bytes it has.
pub(super) fn pattern(prefix: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::with_capacity(prefix.len() + 1);
    escape(prefix, &mut pattern);
    pattern.push(b'*');
    pattern
}

/// A pattern that matches what is beside the keys with a prefix.
pub(super) fn pattern_beside(prefix: &[u8], part: &[u8]) -> Vec<u8> {
    let mut pattern = b"{????}".to_vec();
    escape(prefix, &mut pattern);
    pattern.push(b'*');
    pattern.extend_from_slice(part);
    pattern
}

fn escape(bytes: &[u8], pattern: &mut Vec<u8>) {
    for byte in bytes {
        if matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\' | b'^') {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_queue_share_a_slot_whatever_bytes_it_has() {
        for key in [b"q:main".as_slice(), b"", b"a}b", b"a{}b", b"{x}y", b"q:{x", b"{}", b"\xff\x00}{"] {
            let keys = QueueKeys::new(key, false);
            let slots = keys.all.each_ref().map(|key| slot(key));
            assert_eq!(slots, [slot(key); 6], "{key:?}");
            let [_, beside @ ..] = &keys.all;
            assert!(beside.iter().all(|key| stands_beside(key)), "{key:?}");
            assert_eq!(behind(keys.items(), ITEMS), Some(key));
        }
    }

    #[test]
    fn a_prefix_is_bytes_and_no_pattern() {
        assert_eq!(pattern(b"a*b[c]?\\"), b"a\\*b\\[c\\]\\?\\\\*");
        assert_eq!(pattern_beside(b"q*", ITEMS), b"{????}q\\**:keyplan:items");
    }

    #[test]
    fn a_bucket_knows_its_hash() {
        let mut spread = Spread::default();
        spread.insert(b"h:sats".to_vec(), 16);
        let bucket = spread.bucket(b"h:sats", b"field").unwrap();
        assert_eq!(spread.whole(&bucket), Some(b"h:sats".as_slice()));
        let others = [b"h:sats".as_slice(), b"h:sats{16}", b"h:sats{x}", b"h:other{1}"];
        assert_eq!(others.map(|key| spread.whole(key)), [None; 4]);
        assert_eq!(spread.all(b"h:sats").len(), 16);
        assert_eq!(spread.all(b"h:spnd"), [b"h:spnd"]);
    }
}
