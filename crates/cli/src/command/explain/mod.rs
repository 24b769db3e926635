//! `keyplan explain`: what a key means.

mod part;

use std::io;
use std::path::Path;

use anyhow::{Result, bail};
use keyplan_database::{ExplainedRows, find, value_part};
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::explain::{Explanation, explain};
use keyplan_plan::model::Plan;
use keyplan_report::explain_json::{bad_line_json, explanation_json};
use keyplan_report::key_text::{self, KeyText};
use keyplan_report::lines::{Lines, MAX_LINE};
use keyplan_report::row::Stored;

use super::Outcome;
use crate::args::{Explain, ExplainFormat, InputFormat};
use crate::input;
use crate::render::{self, Output};

/// How many readings of a part are looked for.
const READINGS: usize = 16;

/// Explains keys, or a part of a row.
pub(crate) fn run(args: &Explain, out: &mut Output) -> Result<Outcome> {
    let path = args.plan.as_deref().unwrap_or_default();
    let rows = if args.under.is_some() || Path::new(path).is_dir() {
        let named = args.under.as_deref().map(|path| || input::asked(path));
        Some(ExplainedRows::open(path, named, &args.bind)?)
    } else {
        None
    };
    let read;
    let plan = if let Some(rows) = &rows {
        rows.plan()
    } else {
        let Some(found) = input::plan(path)? else { return Ok(Outcome::Findings) };
        read = found;
        &read
    };
    if let Some(family) = &args.family {
        return part::run(args, plan, family, out);
    }
    let spaces = match &args.space {
        Some(name) => vec![find::space(plan, name)?],
        None => (0..plan.spaces.len()).collect(),
    };
    let mut explainer = Explainer {
        decoder: Decoder::new(plan),
        spaces,
        rows: rows.as_ref().map(|rows| (path, rows)),
        format: args.format,
        buffer: Vec::new(),
        count: 0,
        failed: false,
    };
    if args.value.is_some() && (args.keys.len() != 1 || args.keys.iter().any(|key| key == "-")) {
        bail!("--value is the value of one key: name just that key, or the family with --family");
    }
    let stdin = args.keys.is_empty() || args.keys.iter().any(|key| key == "-");
    if stdin {
        explainer.stream(args.input, out)?;
    }
    let mut key = Vec::new();
    for text in args.keys.iter().filter(|text| *text != "-") {
        key_text::read(text.as_bytes(), args.input.into(), &mut key)
            .map_err(|error| anyhow::Error::new(error).context(format!("`{text}` is not a key")))?;
        let explanation = explainer.explain(&key, out)?;
        if explanation.readings.is_empty()
            && args.format == ExplainFormat::Text
            && let Some(note) = not_hex(text, args.input, &key)
        {
            out.line(&note)?;
        }
        if let Some(value) = &args.value {
            explainer.failed |= !part::value_of_key(args, plan, &explanation, value, out)?;
        }
    }
    Ok(if explainer.failed { Outcome::Findings } else { Outcome::Clean })
}

/// How a key was read that is not hex, although nothing said how it is written: most often a digit is mistyped.
fn not_hex(text: &str, input: InputFormat, key: &[u8]) -> Option<String> {
    let mut bytes = Vec::new();
    if input != InputFormat::Auto {
        return None;
    }
    let error = key_text::read(text.as_bytes(), KeyText::Hex, &mut bytes).err()?;
    let is_base64 = key_text::read(text.as_bytes(), KeyText::Base64, &mut bytes).is_ok() && bytes == key;
    let read = if is_base64 { "base64" } else { "text" };
    Some(format!("\n  it was read as {read}, because it is not hex: {error}"))
}

struct Explainer<'p> {
    decoder: Decoder<'p>,
    spaces: Vec<usize>,
    /// The database that the rows are in, and what it was called.
    rows: Option<(&'p str, &'p ExplainedRows)>,
    format: ExplainFormat,
    buffer: Vec<u8>,
    count: usize,
    failed: bool,
}

impl<'p> Explainer<'p> {
    /// Explains the keys on standard input, one per line. A line that is not a key is answered, and the next one read.
    fn stream(&mut self, format: InputFormat, out: &mut Output) -> Result<()> {
        let mut lines = Lines::new(io::stdin().lock());
        let mut key = Vec::new();
        while let Some(line) = lines.next()? {
            let error = match line.text {
                Some([]) => continue,
                Some(text) => {
                    key_text::read(text, format.into(), &mut key).err().map(|error| error.to_string())
                }
                None => Some(format!("over {MAX_LINE} bytes long")),
            };
            match error {
                None => drop(self.explain(&key, out)?),
                Some(why) => self.refuse(line.number, &why, out)?,
            }
        }
        Ok(())
    }

    fn refuse(&mut self, line: usize, why: &str, out: &mut Output) -> Result<()> {
        self.failed = true;
        match self.format {
            ExplainFormat::Json => {
                self.buffer.clear();
                bad_line_json(&mut self.buffer, line, why);
                out.json(&self.buffer)?;
            }
            ExplainFormat::Text => {
                self.separate(out)?;
                out.text(&render::bad_line(line, why))?;
            }
        }
        Ok(())
    }

    fn separate(&mut self, out: &mut Output) -> Result<()> {
        if self.count > 0 {
            out.line("")?;
        }
        self.count += 1;
        Ok(())
    }

    fn explain(&mut self, key: &[u8], out: &mut Output) -> Result<Explanation<'p>> {
        let explanation = explain(&self.decoder, &self.spaces, key);
        self.failed |= explanation.readings.is_empty();
        match self.format {
            ExplainFormat::Json => {
                self.buffer.clear();
                explanation_json(&mut self.buffer, key, &explanation);
                out.json(&self.buffer)?;
            }
            ExplainFormat::Text => {
                self.separate(out)?;
                let text = render::explanation(self.plan(), &self.spaces, key, &explanation, out.width());
                out.text(&text)?;
            }
        }
        if let Some((name, rows)) = self.rows {
            self.stored(name, rows, key, &explanation, out)?;
        }
        Ok(explanation)
    }

    /// What the database has under a key, or how many rows begin with it.
    fn stored(
        &mut self,
        name: &str,
        rows: &ExplainedRows,
        key: &[u8],
        explanation: &Explanation<'p>,
        out: &mut Output,
    ) -> Result<()> {
        for found in rows.stored(self.plan(), &self.spaces, key, explanation)? {
            match self.format {
                ExplainFormat::Json => {
                    out.json(&render::stored_json(name, &found.space.name, &found.stored))?;
                }
                ExplainFormat::Text => out.text(&render::stored(name, &found.space.name, &found.stored))?,
            }
            if let (Stored::Value(value), Some(family)) = (found.stored, found.family)
                && family.value.is_some()
            {
                let value = value_part(family, None, value)?;
                self.failed |= !part::part(self.plan(), &value, self.format, out)?;
            }
        }
        Ok(())
    }

    fn plan(&self) -> &'p Plan {
        self.decoder.plan()
    }
}
