//! `keyplan db dump`: all rows, as JSON lines or in the binary form.

use std::io::{self, Write};

use anyhow::{Result, bail};
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::{Plan, Space};
use keyplan_store::engine::{Engine, KeyRange};
use keyplan_store::{Access, Direction, PlanFingerprint, Store};

use super::binary::BlockWriter;
use super::foreign::Foreign;
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
    if let Some(foreign) = Foreign::open(&args.source)? {
        return written(args, out, |to| dump_foreign(&foreign, args.format, to));
    }
    let (database, plan) = Database::open(&args.source.target(), Access::ReadOnly)?;
    written(args, out, |to| on_engine!(&database, store => dump(store, &plan, args.format, to)))
}

/// Writes to where it was asked for; how many rows there are is told of a file.
pub(super) fn written(
    args: &Dump,
    out: &mut Output,
    dump: impl FnOnce(&mut dyn Write) -> Result<u64>,
) -> Result<Outcome> {
    let Some(path) = &args.output else {
        dump(&mut Raw(out))?;
        return Ok(Outcome::Clean);
    };
    // It has its name only when it is whole.
    let mut file = OutputFile::create(path)?;
    let rows = dump(&mut file)?;
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

fn dump<E: Engine>(store: &Store<E>, plan: &Plan, format: DumpFormat, to: &mut dyn Write) -> Result<u64> {
    let snapshot = store.snapshot()?;
    let mut writer = Writer::new(plan, store.fingerprint(), format, to)?;
    for (index, space) in plan.spaces.iter().enumerate() {
        for row in snapshot.range(snapshot.space(space.engine_name())?, KeyRange::ALL)? {
            let (key, value) = row?;
            writer.row(index, &key, &value)?;
        }
    }
    writer.finish()
}

/// Dumps a source that has no plan in it: its spaces are called as those of the plan.
fn dump_foreign(foreign: &Foreign, format: DumpFormat, to: &mut dyn Write) -> Result<u64> {
    let view = foreign.source.view()?;
    let mut writer = Writer::new(&foreign.plan, foreign.plan.fingerprint().into(), format, to)?;
    for &(index, space) in &foreign.binding.pairs {
        let mut walk = view.walk(space, KeyRange::ALL, Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            writer.row(index, row.key, row.value)?;
        }
    }
    writer.finish()
}

/// Writes rows one after the other.
struct Writer<'a> {
    plan: &'a Plan,
    decoder: Decoder<'a>,
    digits: ValueDigits,
    to: &'a mut dyn Write,
    blocks: Option<BlockWriter>,
    line: Vec<u8>,
    done: u64,
    progress: Progress,
}

impl<'a> Writer<'a> {
    fn new(
        plan: &'a Plan,
        fingerprint: PlanFingerprint,
        format: DumpFormat,
        mut to: &'a mut dyn Write,
    ) -> Result<Self> {
        let digits = match format {
            DumpFormat::Base64 => ValueDigits::Base64,
            DumpFormat::Hex => ValueDigits::Hex,
            DumpFormat::Json | DumpFormat::Binary => ValueDigits::Decoded,
        };
        let blocks = (format == DumpFormat::Binary)
            .then(|| {
                let names: Vec<&str> = plan.spaces.iter().map(Space::engine_name).collect();
                BlockWriter::new(&mut to, fingerprint, &names)
            })
            .transpose()?;
        let (decoder, progress) = (Decoder::new(plan), Progress::rows("dumping"));
        Ok(Self { plan, decoder, digits, to, blocks, line: Vec::new(), done: 0, progress })
    }

    fn row(&mut self, index: usize, key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(blocks) = &mut self.blocks {
            blocks.push(&mut self.to, index, key, value)?;
        } else if let Some(space) = self.plan.spaces.get(index) {
            self.line.clear();
            let read = self.decoder.decode(index, key);
            let view = View { space: &space.name, key, value, decoded: &read };
            // Rows of structures are dumped as they are in the engine.
            let whole = !is_structured(space) && view.is_unambiguous(&self.decoder, index);
            render::row_json(&mut self.line, &view, whole, self.digits);
            self.to.write_all(&self.line)?;
        }
        self.done += 1;
        if self.done.is_multiple_of(REPORT_EVERY) {
            self.progress.set(self.done);
            if interrupt::came() {
                let done = self.done;
                bail!("interrupted after {done} rows: the dump is not whole, and has not taken its name");
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<u64> {
        if let Some(blocks) = self.blocks {
            blocks.finish(&mut self.to)?;
        }
        self.progress.end();
        Ok(self.done)
    }
}
