//! `keyplan expand`: a plan as Rust.

use anyhow::Result;

use super::Outcome;
use crate::args::Expand;
use crate::input;
use crate::render::{self, Output};

/// Prints what the macro makes of a plan.
pub(crate) fn run(args: &Expand, out: &mut Output) -> Result<Outcome> {
    let compiled = input::load(&args.plan)?.compiled;
    match keyplan_codegen::rust::expand(&compiled) {
        Ok(code) => {
            out.text(&keyplan_codegen::rust::format(&code))?;
            Ok(Outcome::Clean)
        }
        Err(diagnostics) => {
            render::message(&render::findings(&compiled.sources, &diagnostics));
            Ok(Outcome::Findings)
        }
    }
}
