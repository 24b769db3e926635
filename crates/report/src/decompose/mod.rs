//! The keys of a contract that nobody wrote a plan for, split into their components.
//!
//! ```
//! let state = br#"{"models": [{"key": "000762616c616e6365616c696365", "value": "IjUi"}]}"#;
//! let rows = keyplan_report::decompose::decompose(state)?;
//! let (components, rest) = rows[0].best();
//! assert_eq!((components, rest), (vec![b"balance".as_slice()], b"alice".as_slice()));
//! # Ok::<(), keyplan_report::decompose::BadState>(())
//! ```

mod json;
mod split;
mod state;

pub use json::decomposition_json;
pub use split::{Split, component_bytes, ranked};
pub use state::{BadState, Entry, parse};

/// A key of the state, its value, and how it may be split, the likeliest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decomposition {
    /// The row as it was read.
    pub entry: Entry,
    /// All splits; never none.
    pub splits: Vec<Split>,
}

impl Decomposition {
    /// The components of the likeliest split, and what follows them.
    pub fn best(&self) -> (Vec<&[u8]>, &[u8]) {
        match self.splits.first() {
            Some(split) => component_bytes(&self.entry.key, split),
            None => (Vec::new(), &self.entry.key),
        }
    }
}

/// Splits every key of a contract's state, the JSON that `contract-state all` prints.
pub fn decompose(state: &[u8]) -> Result<Vec<Decomposition>, BadState> {
    let entries = parse(state)?;
    let keys: Vec<&[u8]> = entries.iter().map(|entry| entry.key.as_slice()).collect();
    let splits = ranked(&keys);
    Ok(entries.into_iter().zip(splits).map(|(entry, splits)| Decomposition { entry, splits }).collect())
}

/// The number that 4 or 8 bytes make, big-endian.
pub fn integer(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 | 8 => Some(bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))),
        _ => None,
    }
}
