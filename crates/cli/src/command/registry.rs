//! `keyplan registry`: who may use which number of a plan's modules.

use anyhow::Result;
use keyplan_report::files::read_text;
use keyplan_report::registry::{Registry, check_document};

use super::Outcome;
use crate::args::{self, ExplainFormat};
use crate::input;
use crate::render::{self, Output};

/// The most that is read of a document.
const MOST: u64 = 16 << 20;

/// Shows the registry of a plan, or compares a document with it.
pub(crate) fn run(args: &args::Registry, out: &mut Output) -> Result<Outcome> {
    let compiled = input::load(&args.plan)?.compiled;
    let Some(plan) = &compiled.plan else {
        render::message(&render::findings(&compiled.sources, &compiled.diagnostics));
        return Ok(Outcome::Findings);
    };
    let Some(document) = &args.check else {
        let sources = &compiled.sources;
        let several = sources.files().len() > 1;
        let file = |span: keyplan_plan::diag::Span| {
            sources.get(span.file).filter(|_| several).map(|file| file.name.clone())
        };
        let mut registry = Registry::of(plan, file);
        if let Some(module) = &args.module {
            anyhow::ensure!(registry.only(module), "no module of the plan is called `{module}`");
        }
        match args.format {
            ExplainFormat::Text => out.text(&render::registry(&registry))?,
            ExplainFormat::Json => out.line(&registry.to_json().to_string())?,
        }
        return Ok(Outcome::Clean);
    };
    let faults = check_document(plan, &read_text(document, MOST, "a document")?);
    match args.format {
        ExplainFormat::Text => out.text(&render::document_faults(document, &args.plan, &faults))?,
        ExplainFormat::Json => {
            for fault in &faults {
                out.line(&render::document_fault_json(document, fault))?;
            }
        }
    }
    Ok(if faults.is_empty() { Outcome::Clean } else { Outcome::Findings })
}
