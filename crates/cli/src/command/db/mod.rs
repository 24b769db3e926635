//! `keyplan db`: a database that has its plan in it.

mod audit;
mod backup;
mod checksum;
mod copy;
mod create;
mod delete;
mod diff;
mod dump;
mod get;
mod iavl;
mod load;
mod migrate;
mod open;
mod parked;
mod plan;
mod prune;
mod put;
mod raw;
mod retire;
mod scan;
mod server;
mod stats;
mod structure;
mod verify;

use anyhow::Result;

use open::{binding, plan_of, planless};
pub(crate) use open::{foreign, opened};

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
