//! `keyplan vectors`: files of vectors against a plan.

use anyhow::Result;
use keyplan_codegen::vectors;

use super::Outcome;
use crate::args::ExplainFormat;
use crate::args::generate::{CheckVectors, Vectors};
use crate::input;
use crate::render::{self, Output};

/// Does what was asked for.
pub(crate) fn run(command: &Vectors, out: &mut Output) -> Result<Outcome> {
    match command {
        Vectors::Check(args) => check(args, out),
    }
}

fn check(args: &CheckVectors, out: &mut Output) -> Result<Outcome> {
    let compiled = input::load(&args.plan)?.compiled;
    let errors: Vec<_> = compiled.errors().cloned().collect();
    let Some(plan) = compiled.plan.as_ref().filter(|_| errors.is_empty()) else {
        render::message(&render::findings(&compiled.sources, &errors));
        return Ok(Outcome::Findings);
    };
    let bytes = input::bytes(&args.file)?;
    let text = String::from_utf8_lossy(&bytes);
    let (wrong, count) = vectors::check(plan, &text);
    let wrong: Vec<(usize, &str)> = wrong.iter().map(|one| (one.line, one.what.as_str())).collect();
    match args.format {
        ExplainFormat::Json => out.json(&render::vectors_json(&args.file, count, &wrong))?,
        ExplainFormat::Text => out.text(&render::vectors(&args.file, count, &wrong))?,
    }
    Ok(if wrong.is_empty() { Outcome::Clean } else { Outcome::Findings })
}
