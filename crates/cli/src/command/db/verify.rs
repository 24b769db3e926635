//! `keyplan db verify`: every key, value, member and score, held against the plan.

use std::io;
use std::ops::ControlFlow;

use anyhow::Result;
use keyplan_database::on_engine;
use keyplan_report::verify::{Flawed, Tell, Told, Verified, VerifyError, verify, verify_source};
use keyplan_store::Access;

use super::server::Server;
use super::{foreign, opened};
use crate::args::db::{RowFormat, Verify};
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Decodes everything.
pub(super) fn run(args: &Verify, out: &mut Output) -> Result<Outcome> {
    if let Some(server) = Server::open(&args.source)? {
        return server.verify(args, out);
    }
    if let Some(foreign) = foreign(&args.source)? {
        return review(args, out, interrupt::goes_on, |tell, told| {
            verify_source(&*foreign.source, &foreign.plan, &foreign.binding, tell, told)
        });
    }
    let (database, plan) = opened(&args.source.target(), Access::ReadOnly)?;
    review(
        args,
        out,
        interrupt::goes_on,
        |tell, told| on_engine!(&database, store => verify(store, &plan, tell, told)),
    )
}

/// Prints what is wrong as it is found, up to a limit, and what became of it.
pub(super) fn review(
    args: &Verify,
    out: &mut Output,
    goes_on: impl Fn() -> ControlFlow<()>,
    verify: impl FnOnce(Tell<'_>, Told<'_>) -> Result<Verified, VerifyError>,
) -> Result<Outcome> {
    let progress = Progress::rows("verifying");
    let mut found = 0_usize;
    let mut tell = |flawed: &Flawed<'_>| -> io::Result<()> {
        found += 1;
        match args.format {
            _ if found > args.limit => Ok(()),
            RowFormat::Text => out.text(&render::flaw(flawed)),
            RowFormat::Json => out.json(&render::flaw_json(flawed)),
        }
    };
    let mut told = |rows| {
        progress.set(rows);
        goes_on()
    };
    let verified = match verify(&mut tell, &mut told) {
        Err(error @ VerifyError::Stopped(_)) => {
            out.flush()?;
            return Err(interrupt::ended(error));
        }
        done => done?,
    };
    progress.end();
    match args.format {
        RowFormat::Text => out.line(&render::verified(&verified, args.limit))?,
        RowFormat::Json => out.json(&render::verified_json(&verified))?,
    }
    Ok(if verified.is_sound() { Outcome::Clean } else { Outcome::Findings })
}
