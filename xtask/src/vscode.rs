//! `cargo xtask vscode`: the extension for Visual Studio Code, its grammar tested and its package made.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use xtask::workspace;

use crate::console;
use crate::job::Job;
use crate::site::copy_folder;
use crate::tool::Tool;

/// What the package must hold for an editor to show and serve a plan.
const INSIDE: [&str; 5] = [
    "extension/package.json",
    "extension/extension.js",
    "extension/language-configuration.json",
    "extension/syntaxes/keyplan.tmLanguage.json",
    "extension/node_modules/vscode-languageclient/package.json",
];

/// Tests the grammar and packages the extension in `target/vscode`, where its packages of npm are too.
pub(crate) fn run() -> Result<ExitCode> {
    Tool::TypeScript.need()?;
    let folder = workspace::target()?.join("vscode");
    copy_folder(&workspace::root().join("editors/vscode"), &folder)?;
    let npm = |arguments: &str| {
        let prefix = folder.to_string_lossy();
        Job::new("npm", "--prefix").argument(prefix).arguments(arguments)
    };
    npm("install --no-audit --no-fund --silent --prefer-offline").run()?;
    npm("run --silent test").run()?;
    npm("run --silent package").output()?;
    let package = folder.join("keyplan.vsix");
    let bytes = std::fs::read(&package).with_context(|| format!("cannot read {}", package.display()))?;
    // The names of files are plain text in an archive of this kind.
    for name in INSIDE {
        ensure!(bytes.windows(name.len()).any(|found| found == name.as_bytes()), "the package lacks {name}");
    }
    console::line(format_args!("{} has {} bytes", workspace::relative(&package), bytes.len()));
    Ok(ExitCode::SUCCESS)
}
