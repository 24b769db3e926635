//! All rows of a database, as JSON lines or in the binary form.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use keyplan_database::{DumpFormat, dump};
//! use keyplan_store::engine::{Durability, Memory};
//! use keyplan_store::{Schema, Store};
//!
//! let text = "plan demo; space s { key k = 0x01 id: u8 -> n: u8; }";
//! let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
//! let store = Store::create(Memory::new(), &Schema::of(&compiled).expect("sound"))?;
//! let mut batch = store.batch()?;
//! batch.put(store.space("s")?, [1, 7].as_slice(), [9].as_slice());
//! batch.commit(Durability::SyncAll)?;
//!
//! let (plan, mut out) = (compiled.plan.expect("sound"), Vec::new());
//! dump(&store, &plan, DumpFormat::Json, &mut out, &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!(out, b"{\"family\":\"s.k\",\"args\":{\"id\":7},\"value\":{\"n\":9}}\n");
//! # Ok::<(), keyplan_database::Error>(())
//! ```

use std::io::Write;

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::{Plan, Space};
use keyplan_report::row::{ValueDigits, View, raw_row, row_json};
use keyplan_report::structure::is_structured;
use keyplan_store::engine::{Engine, KeyRange};
use keyplan_store::source::Source;
use keyplan_store::{Direction, PlanFingerprint, Store};

use crate::Told;
use crate::binary::{BlockWriter, NO_PLAN};
use crate::error::{Error, Result};
use crate::foreign::Foreign;
use crate::raw::numbered;

/// How often progress is told.
const REPORT_EVERY: u64 = 5_000;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum DumpFormat {
    /// One object per line, values by their layout where the plan has one, else in hex
    Json,
    /// One object per line, values in hex
    Hex,
    /// One object per line, values in base64
    Base64,
    /// Blocks of rows, keys without what they share, each block with a check
    Binary,
}

/// Writes all rows of a store. Rows of structures are dumped as they are in the engine.
pub fn dump<E: Engine>(
    store: &Store<E>,
    plan: &Plan,
    format: DumpFormat,
    to: &mut dyn Write,
    told: Told<'_>,
) -> Result<u64> {
    let snapshot = store.snapshot()?;
    let mut writer = Writer::new(plan, store.fingerprint(), format, to, told)?;
    for (index, space) in plan.spaces.iter().enumerate() {
        for row in snapshot.range(snapshot.space(space.engine_name())?, KeyRange::ALL)? {
            let (key, value) = row?;
            writer.row(index, &key, &value)?;
        }
    }
    writer.finish()
}

/// Writes all rows of a source that has no plan in it: its spaces are called as those of the plan.
pub fn dump_foreign(
    foreign: &Foreign,
    format: DumpFormat,
    to: &mut dyn Write,
    told: Told<'_>,
) -> Result<u64> {
    let view = foreign.source.view()?;
    let mut writer = Writer::new(&foreign.plan, foreign.plan.fingerprint().into(), format, to, told)?;
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
    told: Told<'a>,
}

impl<'a> Writer<'a> {
    fn new(
        plan: &'a Plan,
        fingerprint: PlanFingerprint,
        format: DumpFormat,
        mut to: &'a mut dyn Write,
        told: Told<'a>,
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
        Ok(Self { plan, decoder: Decoder::new(plan), digits, to, blocks, line: Vec::new(), done: 0, told })
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
            row_json(&mut self.line, &view, whole, self.digits);
            self.to.write_all(&self.line)?;
        }
        self.done += 1;
        if self.done.is_multiple_of(REPORT_EVERY) && (self.told)(self.done).is_break() {
            return Err(Error::Stopped { rows: self.done });
        }
        Ok(())
    }

    fn finish(mut self) -> Result<u64> {
        if let Some(blocks) = self.blocks {
            blocks.finish(&mut self.to)?;
        }
        Ok(self.done)
    }
}

/// Writes all rows of any database without a plan, space by space, in the order of their keys.
pub fn dump_raw(source: &dyn Source, format: DumpFormat, to: &mut dyn Write, told: Told<'_>) -> Result<u64> {
    match format {
        // Without a plan there is nothing to decode by.
        DumpFormat::Json | DumpFormat::Hex => lines(source, ValueDigits::Hex, to, told),
        DumpFormat::Base64 => lines(source, ValueDigits::Base64, to, told),
        DumpFormat::Binary => blocks(source, to, told),
    }
}

fn lines(source: &dyn Source, digits: ValueDigits, to: &mut dyn Write, told: Told<'_>) -> Result<u64> {
    let names: Vec<String> = source.spaces().into_iter().map(|space| space.name).collect();
    let mut line = Vec::new();
    each(source, told, |space, key, value| {
        line.clear();
        let name = names.get(space).map_or("", String::as_str);
        raw_row(&mut line, name, key, value, digits);
        Ok(to.write_all(&line)?)
    })
}

fn blocks(source: &dyn Source, mut to: &mut dyn Write, told: Told<'_>) -> Result<u64> {
    let names: Vec<String> = source.spaces().into_iter().map(|space| space.name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut blocks = BlockWriter::new(&mut to, NO_PLAN, &names)?;
    let rows = each(source, told, |space, key, value| blocks.push(&mut to, space, key, value))?;
    blocks.finish(&mut to)?;
    Ok(rows)
}

/// Hands on each row with the number of its space; returns how many there were.
fn each(
    source: &dyn Source,
    told: Told<'_>,
    mut row: impl FnMut(usize, &[u8], &[u8]) -> Result<()>,
) -> Result<u64> {
    let view = source.view()?;
    let mut done = 0_u64;
    for (index, (id, _)) in numbered(source).into_iter().enumerate() {
        let mut walk = view.walk(id, KeyRange::ALL, Direction::Ascending)?;
        while let Some(found) = walk.next()? {
            row(index, found.key, found.value)?;
            done += 1;
            if done.is_multiple_of(REPORT_EVERY) && told(done).is_break() {
                return Err(Error::Stopped { rows: done });
            }
        }
    }
    Ok(done)
}
