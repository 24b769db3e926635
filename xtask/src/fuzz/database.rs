//! A whole database of another program, changed in a few places.

use std::fs;

use super::source::{self, Directory, databases, is_log};
use crate::fuzz::Rng;

/// How many changes of one input are made.
const CHANGES: usize = 12;
/// How long one change is: file, place (2), what is done, with which byte.
const CHANGE: usize = 5;

/// A database that was changed in a few places gives rows in order, or an error about one of its files.
///
/// The first byte chooses the database. If the second is odd, the checks of logs and tables are made right afterwards, so
/// that what is in them is read. Then come changes: the file, the place in it as a part of 65,536, what is done (a byte is
/// set, a bit flipped, bytes are all ones, the rest is cut off, bytes are repeated), and the byte.
///
/// # Panics
///
/// If the claim does not hold.
pub fn database(bytes: &[u8]) {
    let &[chosen, sealed, ref rest @ ..] = bytes else { return };
    let all = databases();
    let Some(database) = all.get(usize::from(chosen) % all.len().max(1)) else { return };
    let mut files = database.files.clone();
    let names: Vec<String> = files.keys().cloned().collect();
    for change in rest.chunks_exact(CHANGE).take(CHANGES) {
        let &[file, high, low, what, byte] = change else { continue };
        let Some(name) = names.get(usize::from(file) % names.len().max(1)) else { continue };
        let Some(content) = files.get_mut(name) else { continue };
        let part = usize::from(high) << 8 | usize::from(low);
        let place = part * content.len() / 65_536;
        apply(content, place, what, byte);
    }
    if sealed % 2 == 1 {
        for (name, content) in &mut files {
            if is_log(name) {
                source::seal(content);
            } else {
                seal_table(content);
            }
        }
    }
    let directory = Directory::new(&database.name);
    for (name, content) in &files {
        if fs::write(directory.0.join(name), content).is_err() {
            return;
        }
    }
    source::read(&directory.0, true);
}

fn apply(content: &mut Vec<u8>, place: usize, what: u8, byte: u8) {
    let end = (place + 1 + usize::from(byte % 16)).min(content.len());
    match what % 5 {
        0 => {
            if let Some(found) = content.get_mut(place) {
                *found = byte;
            }
        }
        1 => {
            if let Some(found) = content.get_mut(place) {
                *found ^= 1 << (byte % 8);
            }
        }
        2 => content.get_mut(place..end).unwrap_or_default().fill(0xff),
        3 => content.truncate(place),
        _ => {
            let twice = content.get(place..end).unwrap_or_default().to_vec();
            content.splice(place..place, twice);
        }
    }
}

/// Each database, once as it is and several times with changes, with its checks as they are and made right.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(5);
    let mut out = Vec::new();
    for (number, _) in (0_u8..).zip(databases()) {
        out.push(vec![number, 0]);
        for sealed in [0, 1, 1, 1] {
            let changes = rng.bytes(CHANGE * 2);
            out.push([&[number, sealed][..], &changes].concat());
        }
    }
    out
}

/// Makes the checks of a table of LevelDB's first format right: a masked CRC-32C after each block and its kind of
/// compression. Other tables, and what has no footer any more, stay as they are.
fn seal_table(table: &mut [u8]) {
    const MAGIC: [u8; 8] = [0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb];
    const FOOTER: usize = 48;
    if !table.ends_with(&MAGIC) {
        return;
    }
    let Some(footer) = table.len().checked_sub(FOOTER).and_then(|start| table.get(start..)) else { return };
    let mut rest = footer;
    let handles: Option<Vec<(usize, usize)>> = (0..2).map(|_| handle(&mut rest)).collect();
    let Some(handles) = handles else { return };
    for &block in &handles {
        seal_block(table, block);
    }
    // The second handle is that of the index. Compressed, it is left as it is.
    let Some(&(start, length)) = handles.get(1) else { return };
    let index = start.checked_add(length).and_then(|end| table.get(start..end)).unwrap_or_default().to_vec();
    for block in index_handles(&index) {
        seal_block(table, block);
    }
}

/// The handles in a block of an index: `shared | own | length of the value | key | value`, until something does not fit.
fn index_handles(index: &[u8]) -> Vec<(usize, usize)> {
    let mut rest = index;
    let mut out = Vec::new();
    loop {
        let (Some(_), Some(own), Some(length)) = (varint(&mut rest), varint(&mut rest), varint(&mut rest))
        else {
            return out;
        };
        let Some(value) = own.checked_add(length).and_then(|end| rest.get(own..end)) else { return out };
        let mut value = value;
        let Some(found) = handle(&mut value) else { return out };
        out.push(found);
        rest = rest.get(own + length..).unwrap_or_default();
    }
}

fn seal_block(table: &mut [u8], (start, length): (usize, usize)) {
    let Some(end) = start.checked_add(length) else { return };
    let Some(body) = end.checked_add(1).and_then(|end| table.get(start..end)) else { return };
    let check = crc32c::crc32c(body).rotate_right(15).wrapping_add(0xa282_ead8);
    let mut bytes = check.to_be_bytes();
    bytes.reverse();
    if let Some(stored) = end.checked_add(5).and_then(|after| table.get_mut(end + 1..after)) {
        stored.copy_from_slice(&bytes);
    }
}

fn handle(rest: &mut &[u8]) -> Option<(usize, usize)> {
    Some((varint(rest)?, varint(rest)?))
}

fn varint(rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0_u64;
    for shift in (0..63).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(number).ok();
        }
    }
    None
}
