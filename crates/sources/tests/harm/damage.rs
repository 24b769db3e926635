//! Bits that flip and lengths that lie, in every file of every format.

use std::fs;
use std::path::Path;

use keyplan_sources::SourceError;

use crate::whole::{blamed, copy, databases, names, rows};

/// How the bytes of a file are checked by their format.
enum Checked {
    /// Every byte that is read is.
    Every,
    /// The format has no sums: a change inside of a key or a value is another key or value.
    None,
    /// As [`Every`](Self::Every), but the end of a log that a crash could have left is one.
    Log,
}

fn checked(name: &str) -> Checked {
    match Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some("mdb" | "sqlite") => Checked::None,
        Some("log" | "vlog" | "sqlite-wal") => Checked::Log,
        _ => Checked::Every,
    }
}

/// The places of a file that are tried: all of a short one; of a long one its two ends, where the structures are, and some
/// between them.
fn places(length: usize) -> Vec<usize> {
    const ALL: usize = 24;
    const ENDS: usize = 4;
    const BETWEEN: usize = 3;
    if length <= ALL {
        return (0..length).collect();
    }
    let between = (1..=BETWEEN).map(|part| part * (length / (BETWEEN + 1)));
    let ends = (0..ENDS).flat_map(|step| [step * 11, length.saturating_sub(1 + step * 11)]);
    let mut places: Vec<usize> = between.chain(ends).filter(|&place| place < length).collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    same: usize,
    other: usize,
}

/// What is done to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Harm {
    Bit,
    Ones,
}

/// Reads every damaged form of a database.
fn attempt(harm: Harm, change: impl Fn(&mut [u8], usize)) {
    let mut refused = 0;
    for (database, original) in databases() {
        let expected = rows(&original).expect("reads");
        let directory = copy(&original);
        let mut tally = Tally::default();
        for name in names(&original) {
            let bytes = fs::read(original.join(&name)).expect("read");
            let path = directory.path().join(&name);
            for place in places(bytes.len()) {
                let mut changed = bytes.clone();
                change(&mut changed, place);
                if changed == bytes {
                    continue;
                }
                fs::write(&path, &changed).expect("written");
                match rows(directory.path()) {
                    Ok(found) if found == expected => tally.same += 1,
                    Ok(_) => {
                        tally.other += 1;
                        match checked(&name) {
                            Checked::Every => panic!("{database}: {name}: byte {place} gave other rows"),
                            // The last record or commit is gone.
                            Checked::Log if harm == Harm::Bit => {
                                assert!(place > bytes.len() / 2, "{database}: {name}: byte {place}");
                            }
                            // Ones over the whole header of a record look like the end of some logs.
                            Checked::Log | Checked::None => {}
                        }
                    }
                    Err(error) => {
                        tally.refused += 1;
                        let place = blamed(&error).unwrap_or_else(|| panic!("{database}: {name}: {error}"));
                        assert!(place.starts_with(directory.path()), "{error}");
                        assert!(
                            !matches!(error, SourceError::Changing { .. }),
                            "{database}: {name}: {error}"
                        );
                    }
                }
            }
            fs::write(&path, &bytes).expect("written");
        }
        // Of LMDB's pages most bytes are of keys and values.
        assert!(tally.refused > 0 || database.starts_with("lmdb"), "{database}: {tally:?}");
        refused += tally.refused;
    }
    assert!(refused > 200, "{refused} were refused");
}

#[test]
fn a_flipped_bit_is_found_wherever_the_format_can_tell() {
    attempt(Harm::Bit, |bytes, place| bytes[place] ^= 1 << (place % 8));
}

#[test]
fn lengths_of_all_ones_are_found_and_take_no_memory() {
    attempt(Harm::Ones, |bytes, place| {
        let end = bytes.len().min(place + 9);
        bytes[place..end].fill(0xff);
    });
}
