//! Instructions, counted by valgrind.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::job::Job;

/// What one turn of a program's loop costs: the difference between two runs, so that starting the program does not
/// count. The program takes `arguments` and then how many turns to run.
pub(super) fn instructions(program: &Path, arguments: &[&str], count: u32) -> Result<f64> {
    let (few, many) = (collected(program, arguments, count)?, collected(program, arguments, 2 * count)?);
    Ok((many - few) / f64::from(count))
}

fn collected(program: &Path, arguments: &[&str], count: u32) -> Result<f64> {
    let job = Job::new("valgrind", "--tool=callgrind --callgrind-out-file=/dev/null")
        .argument(program.to_string_lossy());
    let job = arguments.iter().fold(job, |job, argument| job.argument(*argument)).argument(count.to_string());
    let output = job.command().output().with_context(|| format!("cannot run `{job}`"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("`{job}` failed: {}\n{said}", output.status);
    }
    let count = said.lines().find_map(|line| line.split_once("Collected :")).map(|(_, count)| count.trim());
    let count = count.with_context(|| format!("`{job}` does not say what it counted:\n{said}"))?;
    count.parse().with_context(|| format!("`{job}` counted {count}"))
}
