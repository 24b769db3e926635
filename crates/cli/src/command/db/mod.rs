//! `keyplan db`: a database that has its plan in it.

mod audit;
mod backup;
mod binary;
mod checksum;
mod copy;
mod create;
mod database;
mod delete;
mod diff;
mod dump;
mod filter;
mod foreign;
mod get;
mod growth;
mod iavl;
mod load;
mod look;
mod migrate;
mod parked;
mod plan;
mod prune;
mod put;
mod raw;
mod remote;
mod retire;
mod row;
mod scan;
mod server;
mod stats;
mod structure;
mod verify;

use anyhow::Result;

pub(crate) use copy::Copied;
pub(crate) use database::{Database, is_lmdb, on_engine};
pub(crate) use delete::Deleted;
pub(crate) use foreign::{Foreign, open as open_source};
#[cfg(feature = "explore")]
pub(crate) use foreign::{given, is_own, place};
pub(crate) use growth::{Amount, Growth};
pub(crate) use look::{Looked, look};
pub(crate) use remote::{ByUrl, Opening, Remote, is_url, on_remote, refuse_directory, settings, shown};
pub(crate) use row::{View, opaque, opaque_value};
#[cfg(feature = "explore")]
pub(crate) use server::only_space;
pub(crate) use structure::is_structured;
pub(crate) use verify::{Flaw, Verified};

use super::Outcome;
use crate::args::db::Db;
use crate::render::Output;

/// Does what was asked for.
pub(super) fn run(command: Db, out: &mut Output) -> Result<Outcome> {
    match command {
        Db::Create(args) => create::run(&args, out),
        Db::Plan(args) => plan::run(&args, out),
        Db::Put(args) => put::run(&args, out),
        Db::Get(args) => get::run(&args, out),
        Db::Scan(args) => scan::run(&args, out),
        Db::Delete(args) => delete::run(&args, out),
        Db::Prune(args) => prune::run(&args, out),
        Db::Retire(args) => retire::run(&args, out),
        Db::Load(args) => load::run(&args, out),
        Db::Dump(args) => dump::run(&args, out),
        Db::Backup(args) => backup::run(&args, out),
        Db::Stats(args) => stats::run(&args, out),
        Db::Verify(args) => verify::run(&args, out),
        Db::Iavl(args) => iavl::run(&args, out),
        Db::History(args) => iavl::history(&args, out),
        Db::Audit(args) => audit::run(&args, out),
        Db::Diff(args) => diff::run(&args, out),
        Db::Checksum(args) => checksum::run(&args, out),
        Db::Migrate(args) => migrate::run(&args, out),
        Db::Parked(args) => parked::run(&args, out),
        Db::Copy(args) => copy::run(&args, out),
    }
}
