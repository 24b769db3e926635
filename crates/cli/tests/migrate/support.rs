//! Databases to be carried over.

use std::path::Path;

use keyplan_plan::{Compiled, compile};

pub(crate) use crate::rows::{Rows, fill, folder, rows};

pub(crate) fn plan(name: &str, text: &str) -> Compiled {
    let compiled = compile(name, text, |_| Err("imports nothing".to_owned()));
    assert_eq!(compiled.errors().count(), 0, "{name}: {:?}", compiled.diagnostics);
    compiled
}

pub(crate) fn path(folder: &Path) -> &str {
    folder.to_str().unwrap()
}
