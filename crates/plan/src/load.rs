//! Plans from files: one loader and one set of limits for every tool.
//!
//! Nothing here reads a file. The caller gives a function that fetches the bytes of a path, from a disk, a repository or a
//! table, and decides what may be fetched at all. It need not read more of a file than [`ENOUGH`] bytes: what is larger is
//! refused by this module, as are bytes that are not text and plans of too many files.
//!
//! ```
//! use keyplan_plan::load::load;
//!
//! let files = [
//!     ("plans/demo.keyplan", "plan demo; import \"types.keyplan\"; space s { key pool = 0x01 id: Id; }"),
//!     ("plans/types.keyplan", "plan types; type Id = u64;"),
//! ];
//! let fetch = |path: &str| {
//!     let found = files.iter().find(|(name, _)| *name == path);
//!     found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "there is no such file".to_owned())
//! };
//! let compiled = load("plans/demo.keyplan", fetch)?;
//! assert_eq!(compiled.plan.expect("sound").families().count(), 1);
//! # Ok::<(), String>(())
//! ```

use crate::Compiled;
use crate::compile::{compile_with_trees, joined};
use crate::diag::{Diagnostic, FileId, SourceMap};
use crate::notation::hex;
use crate::schema::is_set;
use crate::syntax::{MAX_SOURCE_BYTES, ast, decode_source};

/// How many bytes of a file are enough to tell that it is too large for a plan.
pub const ENOUGH: u64 = MAX_SOURCE_BYTES as u64 + 1;

/// Fetches and compiles a plan and what it imports; the error says why its own file could not be fetched.
///
/// An import that cannot be fetched is a finding.
pub fn load(path: &str, mut fetch: impl FnMut(&str) -> Result<Vec<u8>, String>) -> Result<Compiled, String> {
    let bytes = fetch(path)?;
    Ok(load_bytes(path, &bytes, fetch))
}

/// As [`load`], of a plan whose own bytes are already there.
pub fn load_bytes(path: &str, bytes: &[u8], fetch: impl FnMut(&str) -> Result<Vec<u8>, String>) -> Compiled {
    load_with_trees(path, bytes, fetch).0
}

/// As [`load_bytes`], with the tree of each file of the plan, in the order of the files: what an editor looks into, without
/// reading the text twice. Files of schemas have none.
pub fn load_with_trees(
    path: &str,
    bytes: &[u8],
    mut fetch: impl FnMut(&str) -> Result<Vec<u8>, String>,
) -> (Compiled, Vec<ast::File>) {
    match decode_source(FileId(0), bytes) {
        Ok(text) => compile_with_trees(path, text, |import| imported(import, &fetch(import)?)),
        Err(why) => (unreadable(path, bytes, why), Vec::new()),
    }
}

/// The name under which the sources of a plan have a file that `from` imports as `path`.
///
/// ```
/// assert_eq!(keyplan_plan::load::import_name("plans/a.keyplan", "../types.keyplan"), "types.keyplan");
/// ```
pub fn import_name(from: &str, path: &str) -> String {
    joined(from, path)
}

fn imported(path: &str, bytes: &[u8]) -> Result<String, String> {
    if is_set(path) {
        if bytes.len() > MAX_SOURCE_BYTES {
            return Err("the file is too large for a schema: over 4 MiB".to_owned());
        }
        return Ok(format!("hex:{}", hex(bytes)));
    }
    decode_source(FileId(0), bytes).map(str::to_owned).map_err(|why| why.message)
}

/// A plan whose bytes are not text: what can be read of it, and the one finding.
fn unreadable(path: &str, bytes: &[u8], why: Diagnostic) -> Compiled {
    let mut sources = SourceMap::default();
    // Of a file that is too large nothing is shown.
    let shown = if bytes.len() > MAX_SOURCE_BYTES { &[] } else { bytes };
    sources.add(path, shown.utf8_chunks().next().map_or("", |chunk| chunk.valid()));
    Compiled { sources, plan: None, diagnostics: vec![why] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(root: &[u8], import: &[u8]) -> Vec<String> {
        let fetch = |_: &str| Ok(import.to_vec());
        let compiled = load_bytes("a.keyplan", root, fetch);
        compiled.diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
    }

    #[test]
    fn a_plan_and_its_imports_have_the_same_limits() {
        let root = b"plan a; import \"b.keyplan\"; space s { key k = 0x01; }";
        let large = vec![b' '; MAX_SOURCE_BYTES + 1];
        let too_large = "the file is too large for a plan: over 4 MiB";
        assert_eq!(messages(&large, b""), [too_large]);
        assert_eq!(messages(root, &large), [format!("cannot read `b.keyplan`: {too_large}")]);
        let no_text = "the file is not UTF-8: byte 0xff at offset 0, in line 1";
        assert_eq!(messages(b"\xff", b""), [no_text]);
        assert_eq!(messages(root, b"\xff"), [format!("cannot read `b.keyplan`: {no_text}")]);
    }

    #[test]
    fn a_plan_that_cannot_be_fetched_is_an_error() {
        assert_eq!(
            load("a", |_| Err("there is no such file".to_owned())),
            Err("there is no such file".to_owned())
        );
    }
}
