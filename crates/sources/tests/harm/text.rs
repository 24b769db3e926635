//! Rows in text and our own dumps: what is wrong, and at which byte.

use std::fmt::Write as _;
use std::fs;

use crate::whole::rows;

/// The error of a file that holds these bytes; its path is left out.
fn error(name: &str, bytes: &[u8]) -> String {
    let directory = tempfile::tempdir().expect("made");
    let path = directory.path().join(name);
    fs::write(&path, bytes).expect("written");
    let error = rows(&path).expect_err("refused").to_string();
    error.replace(&path.display().to_string(), name)
}

#[test]
fn json_is_refused_where_it_breaks() {
    let deep = [b"{\"models\":".as_slice(), &b"[".repeat(100_000)].concat();
    assert!(
        error("state.json", &deep).starts_with("state.json: byte 11: invalid type: sequence"),
        "{}",
        error("state.json", &deep)
    );
    let deep = [b"{\"other\":".as_slice(), &b"[".repeat(100_000)].concat();
    let refused = error("state.json", &deep);
    assert!(refused.starts_with("state.json: byte 100008: EOF while parsing a list"), "{refused}");
    let broken = "{\n\"models\": [\n  {\"key\": \"00\", \"value\": 7}]}";
    let at = broken.find('7').expect("there");
    let refused = error("state.json", broken.as_bytes());
    assert!(refused.starts_with(&format!("state.json: byte {at}: invalid type: integer `7`")), "{refused}");
    assert_eq!(error("state.json", b"{\"other\": 1}"), "state.json: byte 0: no rows are in this JSON");
}

#[test]
fn a_line_that_is_no_row_is_named_by_its_offset() {
    let text = b"{\"key\":\"00\",\"value\":\"01\"}\n{\"key\":\"0\"\n";
    assert_eq!(error("rows.jsonl", text), "rows.jsonl: byte 26: this line is neither a row nor a key");
    let odd = b"{\"key\":\"00\"}\n{\"key\":\"???\"}\n";
    assert_eq!(error("rows.jsonl", odd), "rows.jsonl: byte 13: a key that is neither hex nor base64");
}

/// Spaces in any number and lines of any length are read in chunks.
#[test]
fn many_spaces_and_long_lines_are_read() {
    let directory = tempfile::tempdir().expect("made");
    let path = directory.path().join("rows.jsonl");
    let mut text = String::new();
    for space in 0..60 {
        writeln!(text, "{{\"space\":\"s{space:05}\",\"key\":\"00\",\"value\":\"\"}}").expect("written");
    }
    let value = "ab".repeat(300_000);
    for key in 0..4 {
        writeln!(text, "{{\"space\":\"t\",\"key\":\"0{key}\",\"value\":\"{value}\"}}").expect("written");
    }
    fs::write(&path, text).expect("written");
    let found = rows(&path).expect("reads");
    assert_eq!(found.len(), 64);
    assert_eq!(found.last().map(|row| (row.1.clone(), row.2.len())), Some((vec![3], 300_000)));
}

/// A dump in the form that `keyplan db dump` writes, of one space.
fn dump(blocks: &[&[u8]], rows: u64) -> Vec<u8> {
    let mut out = vec![0x8a, b'K', b'P', b'D', b'\r', b'\n', 0x1a, 1];
    out.extend([0; 16]);
    out.extend([1, 1, b's']);
    for block in blocks {
        out.extend(u32::try_from(block.len()).expect("short").to_be_bytes());
        out.extend(*block);
        out.extend(xxhash_rust::xxh3::xxh3_64(block).to_be_bytes());
    }
    out.extend([0; 4]);
    out.extend(rows.to_be_bytes());
    out
}

#[test]
fn a_dump_is_refused_at_every_changed_byte_after_its_head() {
    let block = [0, 0, 1, b'a', 1, b'x', 0, 1, 1, b'b', 1, b'y'];
    let whole = dump(&[&block], 2);
    let directory = tempfile::tempdir().expect("made");
    let path = directory.path().join("rows.kpd");
    fs::write(&path, &whole).expect("written");
    assert_eq!(rows(&path).expect("reads").len(), 2);
    for place in 27..whole.len() {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[place] ^= 1 << bit;
            let refused = error("rows.kpd", &changed);
            assert!(refused.starts_with("rows.kpd: byte "), "{refused}");
        }
    }
    for end in 8..whole.len() {
        assert!(error("rows.kpd", &whole[..end]).starts_with("rows.kpd: byte "));
    }
}

/// Keys of 64 KiB that share all but nothing: six bytes in the file for each.
#[test]
fn keys_that_share_their_beginning_are_no_bomb() {
    let mut block = vec![0, 0, 0x80, 0x80, 0x04];
    block.extend(vec![b'k'; 1 << 16]);
    block.push(0);
    for _ in 0..5_000 {
        block.extend([0, 0x80, 0x80, 0x04, 0, 0]);
    }
    let refused = error("rows.kpd", &dump(&[&block], 5_001));
    assert!(refused.ends_with("the rows of a block take more than 268435456 bytes"), "{refused}");
}
