use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use keyplan_database::open;
use keyplan_infer::{Inference, Options, infer};
use keyplan_report::output_file;

use super::Outcome;
use crate::args::ExplainFormat;
use crate::args::infer::Infer;
use crate::render::{self, Output, Progress};

/// Says which known plan fits a source, or drafts one.
pub(super) fn run(args: &Infer, out: &mut Output) -> Result<Outcome> {
    let file = args.output.as_deref().map(Path::new);
    if let Some(file) = file.filter(|file| file.exists()) {
        bail!("`{}` is there already: a draft replaces no file", file.display());
    }
    let opened = open(&args.source, None)?;
    let mut options = Options::default().draft(args.draft || file.is_some());
    options = options.space(args.space.clone()).values(args.values);
    if let Some(stem) = file.and_then(Path::file_stem) {
        options = options.name(stem.to_string_lossy());
    }
    let progress = Progress::rows("reading");
    let found = infer(&*opened.source, &options, |rows| {
        progress.set(rows);
        ControlFlow::Continue(())
    })
    .with_context(|| format!("cannot draft a plan of `{}`", args.source))?;
    progress.end();
    if let (Some(file), Some(draft)) = (file, &found.draft) {
        output_file::write(file, draft.text.as_bytes())?;
    }
    match args.format {
        ExplainFormat::Text => out.text(&render::inference(&found, args.output.as_deref()))?,
        ExplainFormat::Json => out.json(&render::inference_json(&found)?)?,
    }
    Ok(outcome(&found))
}

/// Keys that a draft does not explain are a finding.
fn outcome(found: &Inference) -> Outcome {
    let is_whole = found.draft.as_ref().is_none_or(|draft| draft.explained_keys() == draft.keys());
    if is_whole { Outcome::Clean } else { Outcome::Findings }
}
