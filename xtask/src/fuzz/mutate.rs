use super::Rng;

/// The longest input that is made.
const MAX_BYTES: usize = 4096;

/// Numbers at which code tends to break.
const EDGES: [u8; 8] = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff, b'0', b'"'];

/// Makes an input from those that are known: one of them, changed in a few places.
pub fn mutated(rng: &mut Rng, pool: &[Vec<u8>], words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = match rng.below(16) {
        0 => {
            let count = rng.below(64);
            rng.bytes(count)
        }
        _ => rng.pick(pool).cloned().unwrap_or_default(),
    };
    for _ in 0..=rng.below(6) {
        change(rng, &mut bytes, pool, words);
    }
    bytes.truncate(MAX_BYTES);
    bytes
}

fn change(rng: &mut Rng, bytes: &mut Vec<u8>, pool: &[Vec<u8>], words: &[&[u8]]) {
    let at = rng.below(bytes.len() + 1);
    let end = (at + 1 + rng.below(16)).min(bytes.len());
    match rng.below(8) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << rng.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = rng.pick(&EDGES).copied().unwrap_or_default();
            }
        }
        2 => {
            if at < end {
                bytes.drain(at..end);
            }
        }
        3 => {
            let twice = bytes.get(at..end).unwrap_or_default().to_vec();
            insert(bytes, at, &twice);
        }
        4 => {
            let count = 1 + rng.below(8);
            let noise = rng.bytes(count);
            insert(bytes, at, &noise);
        }
        5 => {
            let other = rng.pick(pool).cloned().unwrap_or_default();
            let from = rng.below(other.len() + 1);
            let to = (from + 1 + rng.below(64)).min(other.len());
            insert(bytes, at, other.get(from..to).unwrap_or_default());
        }
        6 => bytes.truncate(at),
        _ => {
            if let Some(word) = rng.pick(words) {
                insert(bytes, at, word);
            }
        }
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    let at = at.min(bytes.len());
    bytes.splice(at..at, piece.iter().copied());
}
