//! `keyplan db dump`: all rows, as JSON lines or in the binary form.

use std::io::{self, Write};

use anyhow::{Result, bail};
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::Plan;
use keyplan_store::engine::{Engine, KeyRange};
use keyplan_store::{Access, Store};

use super::binary::BlockWriter;
use super::server::Server;
use super::structure::is_structured;
use super::{Database, View, on_engine};
use crate::args::db::{Dump, DumpFormat};
use crate::command::Outcome;
use crate::interrupt;
use crate::output_file::OutputFile;
use crate::render::{self, Output, Progress, ValueDigits};

/// How often progress is told.
const REPORT_EVERY: u64 = 5_000;

/// Writes all rows.
pub(super) fn run(args: &Dump, out: &mut Output) -> Result<Outcome> {
    if args.raw {
        return super::raw::run(args, out);
    }
    if let Some(server) = Server::open(&args.source)? {
        return server.dump(args, out);
    }
    let (database, plan) = Database::open(&args.source.target(), Access::ReadOnly)?;
    let Some(path) = &args.output else {
        on_engine!(&database, store => dump(store, &plan, args.format, &mut Raw(out)))?;
        return Ok(Outcome::Clean);
    };
    // It has its name only when it is whole.
    let mut file = OutputFile::create(path)?;
    let rows = on_engine!(&database, store => dump(store, &plan, args.format, &mut file))?;
    file.finish()?;
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

fn dump<E: Engine>(store: &Store<E>, plan: &Plan, format: DumpFormat, to: &mut impl Write) -> Result<u64> {
    let snapshot = store.snapshot()?;
    let decoder = Decoder::new(plan);
    let digits = match format {
        DumpFormat::Base64 => ValueDigits::Base64,
        DumpFormat::Hex => ValueDigits::Hex,
        DumpFormat::Json | DumpFormat::Binary => ValueDigits::Decoded,
    };
    let mut blocks = (format == DumpFormat::Binary)
        .then(|| BlockWriter::new(to, store.fingerprint(), plan))
        .transpose()?;
    let progress = Progress::rows("dumping");
    let mut line = Vec::new();
    let mut done = 0_u64;
    for (index, space) in plan.spaces.iter().enumerate() {
        for row in snapshot.range(snapshot.space(space.engine_name())?, KeyRange::ALL)? {
            let (key, value) = row?;
            if let Some(blocks) = &mut blocks {
                blocks.push(to, index, &key, &value)?;
            } else {
                line.clear();
                let read = decoder.decode(index, &key);
                let view = View { space: &space.name, key: &key, value: &value, decoded: &read };
                // Rows of structures are dumped as they lie in the engine.
                let whole = !is_structured(space) && view.is_unambiguous(&decoder, index);
                render::row_json(&mut line, &view, whole, digits);
                to.write_all(&line)?;
            }
            done += 1;
            if done.is_multiple_of(REPORT_EVERY) {
                progress.set(done);
                if interrupt::came() {
                    bail!("interrupted after {done} rows: the dump is not whole, and has not taken its name");
                }
            }
        }
    }
    if let Some(blocks) = blocks {
        blocks.finish(to)?;
    }
    progress.end();
    Ok(done)
}
