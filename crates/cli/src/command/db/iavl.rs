//! `keyplan db iavl` and `keyplan db history`: the multistore of a Cosmos node.

use std::path::Path;

use anyhow::{Context as _, Result};
use keyplan_sources::Source as _;
use keyplan_sources::iavl::Iavl as Multistore;
use keyplan_sources::lsm::Lsm;

use crate::args::db::RowFormat;
use crate::args::iavl::{History, Iavl};
use crate::command::Outcome;
use crate::render::{self, Output};

/// Shows what is there and, if asked, recomputes every root hash.
pub(super) fn run(args: &Iavl, out: &mut Output) -> Result<Outcome> {
    let multistore = open(&args.source, args.height)?;
    let mut report = multistore.report()?;
    let commits = multistore.commits()?;
    if args.verify {
        report.checked = multistore.verify(args.height)?;
    }
    match args.format {
        RowFormat::Text => out.text(&render::multistore(&report, &commits, args.verify))?,
        RowFormat::Json => out.json(&render::multistore_json(&report, &commits, args.verify))?,
    }
    Ok(if report.matches() { Outcome::Clean } else { Outcome::Findings })
}

/// Shows one key across the versions that are kept.
pub(super) fn history(args: &History, out: &mut Output) -> Result<Outcome> {
    let digits = args.key.strip_prefix("0x").unwrap_or(&args.key);
    let key = const_hex::decode(digits).with_context(|| format!("the key `{}` is not hex", args.key))?;
    let multistore = open(&args.source, None)?;
    let stores = match &args.space {
        Some(store) => vec![store.clone()],
        None => multistore.spaces().into_iter().map(|space| space.name).collect(),
    };
    let mut found = false;
    for store in stores {
        let changes = multistore.history(&store, &key)?;
        if changes.iter().all(|change| change.value.is_none()) {
            continue;
        }
        found = true;
        match args.format {
            RowFormat::Text => out.text(&render::key_history(&store, &key, &changes))?,
            RowFormat::Json => out.json(&render::key_history_json(&store, &key, &changes))?,
        }
    }
    Ok(if found { Outcome::Clean } else { Outcome::Findings })
}

fn open(path: &Path, height: Option<u64>) -> Result<Multistore> {
    std::fs::metadata(path).with_context(|| path.display().to_string())?;
    Ok(Multistore::open(&Lsm::open(path)?, path, height)?)
}
