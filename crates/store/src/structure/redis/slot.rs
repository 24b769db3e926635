//! Which slot of a cluster a key lies in.

use std::sync::LazyLock;

/// How many slots a cluster has.
pub(super) const SLOTS: u16 = 16_384;

/// How long a [`tag`] is.
pub(super) const TAG: usize = 4;

/// The slot of a key: by what is between its first braces, if that is something, else by all of it.
pub(super) fn slot(key: &[u8]) -> u16 {
    crc16(hashed(key)) % SLOTS
}

/// Four letters and digits that lie in a slot. Between braces at the front of a key, they put it there.
pub(super) fn tag(slot: u16) -> [u8; TAG] {
    TAGS.get(usize::from(slot)).copied().unwrap_or_default()
}

/// The checksum that slots are made of: CRC-16 with the polynomial 0x1021, from 0.
pub(super) fn crc16(bytes: &[u8]) -> u16 {
    let table = &*TABLE;
    bytes.iter().fold(0, |crc, byte| {
        let [high, _] = u16::to_be_bytes(crc);
        (crc << 8) ^ table.get(usize::from(high ^ byte)).copied().unwrap_or_default()
    })
}

fn hashed(key: &[u8]) -> &[u8] {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let rest = key.get(open + 1..)?;
        let close = rest.iter().position(|byte| *byte == b'}')?;
        rest.get(..close)
    });
    tag.filter(|tag| !tag.is_empty()).unwrap_or(key)
}

static TABLE: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let entry = |high: u16| {
        (0..8).fold(high << 8, |crc, _| if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 })
    };
    (0..256).map(entry).collect()
});

/// The first word over letters and digits for each slot, in the order of words, so that it is the same everywhere.
static TAGS: LazyLock<Vec<[u8; TAG]>> = LazyLock::new(|| {
    let digits = || b'0'..=b'9';
    let letters = || digits().chain(b'a'..=b'z');
    let mut tags = vec![None; usize::from(SLOTS)];
    let mut left = tags.len();
    let words = letters().flat_map(|a| {
        letters().flat_map(move |b| letters().flat_map(move |c| letters().map(move |d| [a, b, c, d])))
    });
    for word in words {
        if let Some(place @ None) = tags.get_mut(usize::from(slot(&word))) {
            *place = Some(word);
            left -= 1;
            if left == 0 {
                break;
            }
        }
    }
    tags.into_iter().map(Option::unwrap_or_default).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_cluster_specification() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        let slots =
            [b"foo".as_slice(), b"{user1000}.following", b"foo{}{bar}", b"foo{{bar}}zap", b""].map(slot);
        assert_eq!(slots, [12182, 3443, slot_of_all(b"foo{}{bar}"), slot_of_all(b"{bar"), 0]);
    }

    fn slot_of_all(bytes: &[u8]) -> u16 {
        crc16(bytes) % SLOTS
    }

    #[test]
    fn every_slot_has_a_tag_that_lies_in_it() {
        let wrong: Vec<_> = (0..SLOTS).filter(|at| slot(&tag(*at)) != *at).collect();
        assert_eq!(wrong, Vec::<u16>::new());
    }
}
