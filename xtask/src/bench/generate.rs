//! Generated Go and TypeScript against code written by hand: `benches/generate`, in one run of each language.

use anyhow::{Context as _, Result};
use xtask::workspace;

use super::figures::told;
use super::{Effort, Group, Measurement, build_more, program};
use crate::job::Job;
use crate::tool::Tool;

pub(super) struct Generate;

/// What is measured, in the folder that the plan and the programs are in.
const FOLDER: &str = "benches/generate";

impl Group for Generate {
    fn name(&self) -> &'static str {
        "generate"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        Tool::Go.need()?;
        Tool::TypeScript.need()?;
        build_more("--package keyplan-cli")?;
        let scratch = workspace::scratch()?.join("generate-bench");
        if scratch.exists() {
            std::fs::remove_dir_all(&scratch).context("cannot remove what an earlier run left")?;
        }
        let mut lines = go(&scratch.join("go").to_string_lossy(), effort)?;
        lines.extend(typescript(&scratch.join("typescript").to_string_lossy(), effort)?);
        std::fs::remove_dir_all(&scratch).context("cannot remove what was generated")?;
        Ok(lines)
    }
}

fn go(folder: &str, effort: Effort) -> Result<Vec<Measurement>> {
    generated("go", folder)?;
    copied("measure_test.go", folder)?;
    std::fs::write(format!("{folder}/go.mod"), "module example.com/bench\n\ngo 1.19\n")?;
    told(&inside(folder, "go test -count=1 -v -run '^TestMeasure$' .", effort))
}

fn typescript(folder: &str, effort: Effort) -> Result<Vec<Measurement>> {
    generated("typescript", folder)?;
    copied("measure.mjs", folder)?;
    std::fs::write(format!("{folder}/package.json"), "{\"type\":\"module\"}\n")?;
    let compile = "tsc --strict --target es2022 --module es2022 --moduleResolution bundler bench.ts";
    told(&inside(folder, &format!("{compile} && node measure.mjs"), effort))
}

fn generated(language: &str, folder: &str) -> Result<()> {
    Job::new(&program("keyplan")?, "generate")
        .argument(language)
        .argument(format!("{FOLDER}/bench.keyplan"))
        .argument("-o")
        .argument(folder)
        .output()
        .map(drop)
}

fn copied(name: &str, folder: &str) -> Result<()> {
    let from = workspace::root().join(FOLDER).join(name);
    std::fs::copy(&from, format!("{folder}/{name}"))
        .with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

/// A command of the shell in a folder.
fn inside(folder: &str, command: &str, effort: Effort) -> Job {
    let job =
        Job::new("sh", "-c").argument(format!("cd \"$1\" && {command}")).argument("sh").argument(folder);
    match effort {
        Effort::Quick => job.variable("KEYPLAN_BENCH_QUICK", "1"),
        Effort::Full => job,
    }
}
