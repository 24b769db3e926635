//! What a check is of: the plans that were named or those of the project, and the findings that are known.

use std::io;
use std::path::{Path, PathBuf};

use keyplan_prover::Engine;

use crate::findings::Checked;
use crate::findings::baseline::{Baseline, BaselineError};
use crate::project::{Project, ProjectError};

/// The file of known findings where nothing else is said.
const BASELINE: &str = "keyplan.baseline";

/// What was asked for; what is left out is what the project says.
#[derive(Clone, Debug, Default)]
pub struct TaskOptions {
    /// The plans.
    pub plans: Vec<String>,
    /// The engine that keys must fit.
    pub engine: Option<Engine>,
    /// Whether warnings count as findings.
    pub deny_warnings: bool,
    /// The file of known findings.
    pub baseline: Option<PathBuf>,
}

/// Plans to be checked, and how.
#[derive(Clone, Debug)]
pub struct Task {
    /// The plans, as they are seen from the folder of the task.
    pub plans: Vec<String>,
    /// The project around the folder, if there is one.
    pub project: Option<Project>,
    /// The engine that keys must fit.
    pub engine: Engine,
    /// Whether warnings count as findings.
    pub deny_warnings: bool,
    here: PathBuf,
    baseline: Option<PathBuf>,
}

/// Known findings of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Those that were found again.
    pub again: usize,
    /// Those that were not.
    pub gone: usize,
}

/// Why there is nothing to check.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The project cannot be read.
    #[error("keyplan.toml")]
    Project {
        /// What is wrong with it.
        source: ProjectError,
    },
    /// The plans of the project cannot be listed.
    #[error(transparent)]
    Plans(ProjectError),
    /// No plan was named, and there is no project.
    #[error(
        "no plan was given, and neither this folder nor one above it has a `keyplan.toml`; \
        `keyplan init` writes one, `keyplan check PLAN` checks a single plan"
    )]
    NoPlan,
    /// The baseline cannot be read.
    #[error("cannot read the baseline `{}`", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The baseline is none.
    #[error("the baseline `{}`", path.display())]
    Baseline {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: BaselineError,
    },
}

impl Task {
    /// What is to be checked from a folder: what was asked for, and after it what the project says.
    pub fn of(here: &Path, options: TaskOptions) -> Result<Self, TaskError> {
        let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
        let project = Project::around(&here).map_err(|source| TaskError::Project { source })?;
        let plans = match &project {
            _ if !options.plans.is_empty() => options.plans,
            Some(project) => {
                let seen = |path: String| project.seen_from(&here, &path);
                project.plans().map_err(TaskError::Plans)?.into_iter().map(seen).collect()
            }
            None => return Err(TaskError::NoPlan),
        };
        let settings = project.as_ref().map(|project| &project.settings);
        let engine =
            options.engine.or(settings.and_then(|settings| settings.engine)).unwrap_or(Engine::Fjall);
        let in_project = |name: &String| project.as_ref().map(|project| project.root.join(name));
        // The one that `--write-baseline` writes counts where the settings name none.
        let written = || in_project(&BASELINE.to_owned()).filter(|path| path.is_file());
        let of_project =
            settings.and_then(|settings| settings.baseline.as_ref()).and_then(in_project).or_else(written);
        let deny_warnings = options.deny_warnings || settings.is_some_and(|settings| settings.deny_warnings);
        Ok(Self { plans, engine, deny_warnings, here, baseline: options.baseline.or(of_project), project })
    }

    /// The path of a plan from the root of the project, which is what a baseline knows it by.
    fn name(&self, path: &str) -> String {
        let Some(project) = &self.project else { return path.to_owned() };
        let full = self.here.join(path);
        let full = full.canonicalize().unwrap_or(full);
        full.strip_prefix(&project.root).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
    }

    /// Takes the known findings out.
    pub fn take_known(&self, plans: &mut [Checked]) -> Result<Known, TaskError> {
        let Some(path) = &self.baseline else { return Ok(Known::default()) };
        let text = std::fs::read_to_string(path)
            .map_err(|source| TaskError::Unread { path: path.clone(), source })?;
        let mut baseline =
            Baseline::parse(&text).map_err(|source| TaskError::Baseline { path: path.clone(), source })?;
        let again = plans.iter_mut().map(|plan| baseline.take(&self.name(&plan.path.clone()), plan)).sum();
        Ok(Known { again, gone: baseline.gone() })
    }

    /// Where the findings of these plans are written down as known, and the text.
    pub fn baseline(&self, plans: &[Checked]) -> (PathBuf, String) {
        let fallback = || {
            self.project
                .as_ref()
                .map_or_else(|| PathBuf::from(BASELINE), |project| project.root.join(BASELINE))
        };
        let path = self.baseline.clone().unwrap_or_else(fallback);
        let names: Vec<String> = plans.iter().map(|plan| self.name(&plan.path)).collect();
        (path, Baseline::text(names.iter().map(String::as_str).zip(plans)))
    }
}
