//! `keyplan explain --decompose`: the keys of a contract that nobody wrote a plan for.

use std::fs::File;
use std::io::{self, Read};

use anyhow::{Context as _, Result, anyhow, bail};
use keyplan_report::decompose::{decompose, decomposition_json};
use keyplan_report::files::reason;

use super::Outcome;
use crate::args::ExplainFormat;
use crate::render::{self, Output};

/// The largest state that is read.
const MAX_STATE: u64 = 1 << 30;

/// Splits every key of a contract's state.
pub(crate) fn run(file: &str, format: ExplainFormat, out: &mut Output) -> Result<Outcome> {
    let text = read(file)?;
    let rows = decompose(&text).map_err(|error| anyhow!("{}: {error}", name(file)))?;
    match format {
        ExplainFormat::Text => out.text(&render::decompositions(&rows))?,
        ExplainFormat::Json => {
            let mut buffer = Vec::new();
            for row in &rows {
                buffer.clear();
                decomposition_json(&mut buffer, row);
                out.json(&buffer)?;
            }
        }
    }
    Ok(Outcome::Clean)
}

fn name(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

/// What a file, a pipe or standard input holds.
fn read(file: &str) -> Result<Vec<u8>> {
    let input: Box<dyn Read> = if file == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).map_err(|error| anyhow!("cannot read `{file}`: {}", reason(&error)))?)
    };
    let mut text = Vec::new();
    input
        .take(MAX_STATE + 1)
        .read_to_end(&mut text)
        .with_context(|| format!("cannot read {}", name(file)))?;
    if text.len() as u64 > MAX_STATE {
        bail!("{}: over {} MiB of state", name(file), MAX_STATE >> 20);
    }
    Ok(text)
}
