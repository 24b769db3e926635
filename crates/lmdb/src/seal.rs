//! What was in a file when it was last closed, in a file beside it.
//!
//! LMDB keeps no checksums. One of everything that the last transaction reaches is written when a database is shut
//! down, with the number of that transaction. Later transactions make the checksum worthless, and leave the number as a lower
//! bound. The file is text, one fact per line, with its own checksum at the end; without it, or if it is damaged itself, less is
//! known.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::FILE;
use crate::inspect::Found;

/// The file.
pub(crate) const SEAL: &str = "keyplan.seal";
/// What it is written to first.
const NEW: &str = "keyplan.seal.new";

const FIRST_LINE: &str = "keyplan-seal 1";

/// What a seal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// The number of the last transaction.
    pub(crate) transaction: u64,
    /// The checksum of all pages that it reaches.
    digest: u128,
}

/// Reads the seal of a database; `None` if it has none, or none that is whole.
pub(crate) fn read(directory: &Path) -> Option<Sealed> {
    let text = std::fs::read_to_string(directory.join(SEAL)).ok()?;
    let (lines, checksum) = text.trim_end().rsplit_once('\n')?;
    let checksum = u128::from_str_radix(checksum.strip_prefix("checksum ")?, 16).ok()?;
    if xxh3_128(lines.as_bytes()) != checksum {
        return None;
    }
    let mut lines = lines.lines();
    (lines.next()? == FIRST_LINE).then_some(())?;
    let transaction = lines.next()?.strip_prefix("transaction ")?.parse().ok()?;
    let digest = u128::from_str_radix(lines.next()?.strip_prefix("digest ")?, 16).ok()?;
    Some(Sealed { transaction, digest })
}

/// Writes the seal. What was there before is replaced at once, or not at all.
pub(crate) fn write(directory: &Path, found: Found) -> io::Result<()> {
    let lines = format!("{FIRST_LINE}\ntransaction {}\ndigest {:032x}", found.transaction, found.digest);
    let text = format!("{lines}\nchecksum {:032x}\n", xxh3_128(lines.as_bytes()));
    let new = directory.join(NEW);
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(new, directory.join(SEAL))
}

/// What is wrong with a file, by its seal.
pub(crate) fn broken(sealed: Sealed, found: Found) -> Option<String> {
    if found.transaction < sealed.transaction {
        let (now, then) = (found.transaction, sealed.transaction);
        return Some(format!(
            "{FILE} ends with transaction {now}, and had {then} when it was closed (the file {SEAL} says so)"
        ));
    }
    let changed = found.transaction == sealed.transaction && found.digest != sealed.digest;
    changed.then(|| {
        format!("{FILE} has other bytes than when it was closed (the file {SEAL} has their checksum)")
    })
}
