//! `keyplan vectors`: files of vectors against a plan.

use anyhow::Result;
use keyplan_codegen::vectors;
use serde_json::json;

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
    if args.format == ExplainFormat::Json {
        let wrong: Vec<_> = wrong.iter().map(|one| json!({"line": one.line, "what": one.what})).collect();
        let found = json!({"file": args.file, "lines": count, "wrong": wrong});
        out.json(found.to_string().as_bytes())?;
        out.text("\n")?;
    } else {
        for one in &wrong {
            out.line(&format!("{}:{}: {}", args.file, one.line, one.what))?;
        }
        out.line(&format!("{count} lines, {} wrong", wrong.len()))?;
    }
    Ok(if wrong.is_empty() { Outcome::Clean } else { Outcome::Findings })
}
