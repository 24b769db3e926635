//! `keyplan db dump`: all rows, as JSON lines or in the binary form.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Result, anyhow};
use keyplan_database::{Error, dump, dump_foreign, dump_raw, on_engine, rows};
use keyplan_report::output_file::OutputFile;
use keyplan_sources::Options;
use keyplan_store::Access;

use super::server::Server;
use super::{foreign, opened};
use crate::args::db::Dump;
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Writes all rows.
pub(super) fn run(args: &Dump, out: &mut Output) -> Result<Outcome> {
    let format = args.format;
    if args.raw {
        let typed = args.source.directory.as_deref().unwrap_or_default();
        let mut options = Options::default();
        (options.kind, options.height) = (args.kind, args.height);
        let source = rows(Path::new(typed), &options)?;
        let anew = "the dump is not whole; the same command starts again";
        return written(args, out, anew, |to, told| dump_raw(&*source, format, to, told));
    }
    if let Some(server) = Server::open(&args.source)? {
        return server.dump(args, out);
    }
    let unnamed = "the dump is not whole, and has not taken its name";
    if let Some(foreign) = foreign(&args.source)? {
        return written(args, out, unnamed, |to, told| dump_foreign(&foreign, format, to, told));
    }
    let (database, plan) = opened(&args.source.target(), Access::ReadOnly)?;
    written(
        args,
        out,
        unnamed,
        |to, told| on_engine!(&database, store => dump(store, &plan, format, to, told)),
    )
}

type Told<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Writes to where it was asked for; how many rows there are is told of a file. `left` says what an interrupt leaves.
fn written(
    args: &Dump,
    out: &mut Output,
    left: &str,
    dump: impl FnOnce(&mut dyn Write, Told<'_>) -> Result<u64, Error>,
) -> Result<Outcome> {
    let progress = Progress::rows("dumping");
    let mut told = |rows| {
        progress.set(rows);
        interrupt::goes_on()
    };
    let stopped = |error| match error {
        Error::Stopped { rows } => anyhow!("interrupted after {rows} rows: {left}"),
        error => error.into(),
    };
    let Some(path) = &args.output else {
        dump(&mut Raw(out), &mut told).map_err(stopped)?;
        return Ok(Outcome::Clean);
    };
    // It has its name only when it is whole.
    let mut file = OutputFile::create(path)?;
    let rows = dump(&mut file, &mut told).map_err(stopped)?;
    file.finish()?;
    progress.end();
    render::message(&render::dumped(rows, path));
    Ok(Outcome::Clean)
}

/// Standard output as a stream of bytes.
struct Raw<'o>(&'o mut Output);

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.raw(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
