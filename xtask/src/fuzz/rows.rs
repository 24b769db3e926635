//! Files of rows: dumps, JSON lines, the state of a contract, lists of keys.

use std::fs;

use super::source::{self, Directory};

/// Pieces that random input hardly ever hits on.
pub(super) const WORDS: &[&[u8]] = &[
    b"{\"key\":\"00\",\"value\":\"01\"}\n",
    b"{\"space\":\"s\",\"key\":\"",
    b"\"store\":",
    b"\"base64\":\"AA==\"",
    b"{\"models\":[",
    b"{\"contract_state\":[",
    b"0x",
    b"AQ==\n",
    b"\r\n",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x00\x00\x00\x00",
];

/// What a dump begins with: the mark, no plan, one space.
const HEAD: &[u8] = b"\x8aKPD\r\n\x1a\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\x01s\x01t";

/// Any bytes as a file of rows give rows in order, or an error about the file.
///
/// If the first byte is 0, the rest is the file; if it is 1, the rest is the one block of a dump, whose length and check are
/// right.
///
/// # Panics
///
/// If the claim does not hold.
pub fn rows(bytes: &[u8]) {
    let &[form, ref rest @ ..] = bytes else { return };
    let file = if form % 2 == 0 { rest.to_vec() } else { dump(rest) };
    let directory = Directory::new("rows");
    let path = directory.0.join("rows");
    if fs::write(&path, file).is_ok() {
        source::read(&path, true);
    }
}

/// A dump of one block.
fn dump(block: &[u8]) -> Vec<u8> {
    let mut out = HEAD.to_vec();
    // How many rows there are is said at the end: here as many as there are, if the block is whole.
    let mut count = 0_u64;
    let mut rest = block;
    while !rest.is_empty() {
        let Some(after) = row(rest) else { break };
        (rest, count) = (after, count + 1);
    }
    if !block.is_empty() {
        out.extend(u32::try_from(block.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend(block);
        out.extend_from_slice(&keyplan_codec::Hash::Xxh3_64.digest(block));
    }
    out.extend([0; 4]);
    out.extend(count.to_be_bytes());
    out
}

/// What follows the row at the beginning of a block.
fn row(mut rest: &[u8]) -> Option<&[u8]> {
    let mut number = || {
        let end = rest.iter().take(10).position(|byte| byte & 0x80 == 0)?;
        let (digits, after) = rest.split_at_checked(end + 1)?;
        rest = after;
        let sum = |number: u64, byte: &u8| number << 7 | u64::from(byte & 0x7f);
        usize::try_from(digits.iter().rev().fold(0, sum)).ok()
    };
    let (_space, _shared, own) = (number()?, number()?, number()?);
    rest = rest.get(own..)?;
    let end = rest.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let (digits, after) = rest.split_at_checked(end + 1)?;
    let length = digits.iter().rev().fold(0_u64, |number, byte| number << 7 | u64::from(byte & 0x7f));
    after.get(usize::try_from(length).ok()?..)
}

/// One file of each form.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 6] = [
        b"{\"space\":\"s\",\"key\":\"00\",\"value\":\"01\"}\n{\"space\":\"s\",\"key\":\"0001\",\"value\":\"\"}\n",
        b"{\"key\":\"AQ==\",\"base64\":\"AAE=\"}\n{\"store\":\"t\",\"key\":\"AA==\"}\n",
        b"{\"models\":[{\"key\":\"0006\",\"value\":\"AA==\"},{\"key\":\"00\",\"value\":\"\"}],\"pagination\":{}}",
        b"[{\"key\":\"0006\",\"value\":\"AA==\"}]",
        b"{\n \"contract_state\": [{\"key\":\"00\",\"value\":\"AA==\"}]\n}\n",
        b"0x00\n0001\nff00\n",
    ];
    let mut out: Vec<Vec<u8>> = texts.iter().map(|text| [&[0][..], text].concat()).collect();
    let block = b"\x00\x00\x01a\x01x\x00\x01\x01b\x01y\x01\x00\x00\x00";
    out.push([&[1][..], block].concat());
    out.push([&[0][..], &dump(block)].concat());
    out
}
