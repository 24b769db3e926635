//! `keyplan man`: the manual, from what the command says of itself.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::CommandFactory;
use clap_mangen::Man;

use super::Outcome;
use crate::args::Args;
use crate::render::{self, Output};

/// Prints the page of the command, or writes a page for it and each of its subcommands into a folder.
pub(crate) fn run(folder: Option<&str>, out: &mut Output) -> Result<Outcome> {
    let Some(folder) = folder.map(Path::new) else {
        let mut page = Vec::new();
        Man::new(Args::command()).render(&mut page)?;
        out.raw(&page)?;
        return Ok(Outcome::Clean);
    };
    let wrong = || format!("cannot write into `{}`", folder.display());
    fs::create_dir_all(folder).with_context(wrong)?;
    clap_mangen::generate_to(Args::command(), folder).with_context(wrong)?;
    out.line(&render::pages_written(folder))?;
    Ok(Outcome::Clean)
}
