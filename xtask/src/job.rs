use std::ffi::OsString;
use std::fmt;
use std::process::{Command, ExitStatus};

use anyhow::{Context as _, Result, bail};
use xtask::workspace;

/// A command that can be run, and shown so that a person can run it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    program: String,
    arguments: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

impl Job {
    /// A program with its arguments, separated by spaces, in the root folder.
    pub(crate) fn new(program: &str, arguments: &str) -> Self {
        Self {
            program: program.to_owned(),
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
            variables: Vec::new(),
        }
    }

    /// A Cargo command.
    pub(crate) fn cargo(arguments: &str) -> Self {
        Self::new("cargo", arguments)
    }

    /// Adds one argument, which may have spaces.
    #[must_use]
    pub(crate) fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments, separated by spaces.
    #[must_use]
    pub(crate) fn arguments(mut self, arguments: &str) -> Self {
        self.arguments.extend(arguments.split_whitespace().map(str::to_owned));
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub(crate) fn variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Lets Cargo optimise across crates, as for a program that is published or measured, unless the environment says
    /// otherwise. It doubles the time of a build. Crates are in four units, as they were when the figures were made.
    #[must_use]
    pub(crate) fn across_crates(self) -> Self {
        const SETTINGS: [(&str, &str); 2] =
            [("CARGO_PROFILE_RELEASE_LTO", "thin"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "4")];
        let unset = SETTINGS.into_iter().filter(|(name, _)| std::env::var_os(name).is_none());
        unset.fold(self, |job, (name, value)| job.variable(name, value))
    }

    /// The command, for a caller that needs more of it than to run.
    pub(crate) fn command(&self) -> Command {
        // Cargo tells its children which Cargo it is; `cargo` from the path could be another one.
        let program = match self.program.as_str() {
            "cargo" => std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")),
            program => OsString::from(program),
        };
        let mut command = Command::new(program);
        command.args(&self.arguments).current_dir(workspace::root());
        if self.program == "cargo" {
            // What Cargo tells this program of its own package. Some build scripts look at it, and what depends on them
            // would be built again whenever the same command comes from a shell, and again when it comes from here.
            for (name, _) in std::env::vars_os() {
                if name
                    .to_str()
                    .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
                {
                    command.env_remove(name);
                }
            }
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs it with this process's input and output.
    pub(crate) fn status(&self) -> Result<ExitStatus> {
        self.command().status().with_context(|| format!("cannot run `{self}`"))
    }

    /// Runs it; an error if it fails.
    pub(crate) fn run(&self) -> Result<()> {
        let status = self.status()?;
        if status.success() { Ok(()) } else { bail!("`{self}` failed: {status}") }
    }

    /// Runs it and returns what it prints; an error, with what it says, if it fails.
    pub(crate) fn output(&self) -> Result<String> {
        let output = self.command().output().with_context(|| format!("cannot run `{self}`"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("`{self}` failed: {}\n{}", output.status, said.trim_end());
        }
        String::from_utf8(output.stdout).with_context(|| format!("`{self}` prints what is not UTF-8"))
    }

    /// Whether it can be run, with nothing shown.
    pub(crate) fn succeeds(&self) -> bool {
        self.command().output().is_ok_and(|output| output.status.success())
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quoted(value))?;
        }
        f.write_str(&self.program)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_shown_as_a_shell_takes_it() {
        let job = Job::cargo("doc --no-deps").variable("RUSTDOCFLAGS", "-D warnings").argument("it's");
        assert_eq!(job.to_string(), r"RUSTDOCFLAGS='-D warnings' cargo doc --no-deps 'it'\''s'");
    }
}
