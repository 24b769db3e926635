//! A LevelDB of one log, written here: rows that no engine would write.

use std::path::Path;

const BLOCK: usize = 32 * 1024;

/// Writes a database of these rows.
pub(crate) fn write(directory: &Path, rows: &[(Vec<u8>, Vec<u8>)]) {
    // Comparator, log 3, next file 4, last sequence number.
    let comparator = b"leveldb.BytewiseComparator";
    let mut edit = vec![1, u8::try_from(comparator.len()).expect("short")];
    edit.extend(comparator);
    edit.extend([2, 3, 3, 4, 4]);
    put_number(rows.len() as u64, &mut edit);
    let mut batch = little(1, 8);
    batch.extend(little(rows.len() as u64, 4));
    for (key, value) in rows {
        batch.push(1);
        for bytes in [key, value] {
            put_number(bytes.len() as u64, &mut batch);
            batch.extend(bytes);
        }
    }
    std::fs::write(directory.join("CURRENT"), "MANIFEST-000002\n").expect("written");
    std::fs::write(directory.join("MANIFEST-000002"), log(&edit)).expect("written");
    std::fs::write(directory.join("000003.log"), log(&batch)).expect("written");
}

/// A log of one record, in as many pieces as it takes.
pub(crate) fn log(record: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = record;
    let mut first = true;
    loop {
        let room = BLOCK - out.len() % BLOCK;
        if room < 7 {
            out.resize(out.len() + room, 0);
            continue;
        }
        let (piece, after) = rest.split_at(rest.len().min(room - 7));
        let kind = match (first, after.is_empty()) {
            (true, true) => 1,
            (true, false) => 2,
            (false, false) => 3,
            (false, true) => 4,
        };
        let check = crc32c::crc32c_append(crc32c::crc32c(&[kind]), piece);
        let masked = check.rotate_right(15).wrapping_add(0xa282_ead8);
        out.extend(little(masked.into(), 4));
        out.extend(little(piece.len() as u64, 2));
        out.push(kind);
        out.extend(piece);
        (rest, first) = (after, false);
        if rest.is_empty() {
            return out;
        }
    }
}

/// A number with its low byte first.
pub(crate) fn little(number: u64, bytes: usize) -> Vec<u8> {
    number.to_be_bytes().into_iter().rev().take(bytes).collect()
}

/// A number in groups of seven bits, the low ones first.
pub(crate) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(u8::try_from(number & 0x7f).expect("seven bits") | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).expect("seven bits"));
}
