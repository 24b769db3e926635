//! A database, a plan, and the jobs that walk it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use keyplan_plan::Compiled;
use keyplan_report::binding::{Binding, bind};
use keyplan_report::findings::Repairs;
use keyplan_store::Store;
use keyplan_store::engine::Engine;
use keyplan_store::source::Source;
use serde_json::Value as Json;

use crate::database::Database;
use crate::job::Jobs;
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::reading::Reading;
use crate::walk::Walk;

/// How many heights are kept open.
const MOMENTS: usize = 6;
/// How many walks are kept with what they counted.
const WALKS: usize = 6;
/// How many plans that somebody tries are kept.
const TRIALS: usize = 4;

/// How a database is explored.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Settings {
    /// Which space of the plan is which of the source, where their names differ.
    pub bind: Vec<(String, String)>,
    /// The plan's own file, from which its imports are found.
    pub plan_file: Option<PathBuf>,
    /// Whether the plan's file and the notes may be written.
    pub write: bool,
    /// The file of notes and saved scans.
    pub notes: Option<PathBuf>,
    /// Databases to compare the first one with.
    pub others: Vec<Database>,
    /// Whether the plan is a draft that was made from the rows.
    pub draft: bool,
}

impl Settings {
    /// Takes a space of the source for one of the plan.
    #[must_use]
    pub fn bind(mut self, pairs: Vec<(String, String)>) -> Self {
        self.bind = pairs;
        self
    }

    /// Names the plan's own file.
    #[must_use]
    pub fn plan_file(mut self, file: Option<PathBuf>) -> Self {
        self.plan_file = file;
        self
    }

    /// Lets the plan's file and the notes be written.
    #[must_use]
    pub const fn write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }

    /// Names the file of notes and saved scans.
    #[must_use]
    pub fn notes(mut self, file: Option<PathBuf>) -> Self {
        self.notes = file;
        self
    }

    /// Compares with these databases.
    #[must_use]
    pub fn others(mut self, others: Vec<Database>) -> Self {
        self.others = others;
        self
    }

    /// Says that the plan was drafted from the rows.
    #[must_use]
    pub const fn draft(mut self, draft: bool) -> Self {
        self.draft = draft;
        self
    }
}

/// Why there is nothing to explore.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// The plan does not compile.
    #[error("the plan has mistakes: {0}")]
    Plan(String),
    /// No space of the plan is one of the source, or a name is wrong.
    #[error(transparent)]
    Binding(#[from] keyplan_report::binding::BindingError),
    /// A store has no plan in it.
    #[error("the store has no plan in it")]
    NoPlan,
}

/// A database that is looked into. It is shared by everybody who looks.
#[derive(Debug)]
pub struct Explorer {
    pub(crate) database: Database,
    pub(crate) settings: Settings,
    pub(crate) jobs: Jobs,
    reading: RwLock<Arc<Reading>>,
    moments: Mutex<BTreeMap<(usize, u64), Arc<dyn Source>>>,
    walks: Mutex<Vec<(WalkOf, Arc<Walk>)>>,
    trials: Mutex<Vec<(String, Arc<Reading>)>>,
}

/// What a walk goes over: a height, and a plan by the fingerprint of its layout.
type WalkOf = (Option<u64>, String);

impl Explorer {
    /// Proves the plan and looks which space is which; walks begin when somebody asks.
    pub fn new(
        database: Database,
        compiled: Compiled,
        settings: Settings,
    ) -> Result<Arc<Self>, ExploreError> {
        let name = compiled.sources.files().first().map_or("plan", |file| file.name.as_str()).to_owned();
        let reading = Reading::new(&name, compiled, Repairs::Wanted).map_err(|checked| {
            let first = checked.findings.first().map(|found| found.diagnostic.message.clone());
            ExploreError::Plan(first.unwrap_or_default())
        })?;
        bind(&reading.plan, &*database.source, &settings.bind)?;
        Ok(Arc::new(Self {
            database,
            settings,
            jobs: Jobs::default(),
            reading: RwLock::new(Arc::new(reading)),
            moments: Mutex::default(),
            walks: Mutex::default(),
            trials: Mutex::default(),
        }))
    }

    /// An open store of ours, under the plan that is in it.
    pub fn of_store<E: Engine>(store: &Arc<Store<E>>) -> Result<Arc<Self>, ExploreError> {
        let meta = store.meta().ok_or(ExploreError::NoPlan)?;
        let compiled = keyplan_plan::compile(meta.plan_name(), meta.plan_text(), |path| meta.import(path));
        Self::new(Database::of_store(meta.plan_name(), store), compiled, Settings::default())
    }

    /// Answers a question.
    pub fn answer(self: &Arc<Self>, page: Page, params: &Params) -> Result<Json, Problem> {
        page.answer(self, params)
    }

    /// The plan as it is now.
    pub(crate) fn reading(&self) -> Arc<Reading> {
        Arc::clone(&self.reading.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another plan in its place.
    pub(crate) fn set_reading(&self, reading: Arc<Reading>) {
        *self.reading.write().unwrap_or_else(PoisonError::into_inner) = reading;
    }

    /// The plan of a question: the one that somebody tries, or the one that is.
    pub(crate) fn reading_of(&self, params: &Params) -> Result<Arc<Reading>, Problem> {
        let Some(trial) = params.get("trial") else { return Ok(self.reading()) };
        let trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        let found = trials.iter().find(|(name, _)| name == trial);
        found
            .map(|(_, reading)| Arc::clone(reading))
            .ok_or_else(|| Problem::Absent("that trial of a plan is no longer kept: try it again".to_owned()))
    }

    /// Keeps a plan that somebody tries, by its name.
    pub(crate) fn keep_trial(&self, name: &str, reading: Arc<Reading>) {
        let mut trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        trials.retain(|(known, _)| known != name);
        trials.push((name.to_owned(), reading));
        let over = trials.len().saturating_sub(TRIALS);
        trials.drain(..over);
    }

    /// A database by its number, 0 the one that is explored, at a height.
    pub(crate) fn source(&self, which: usize, height: Option<u64>) -> Result<Arc<dyn Source>, Problem> {
        let database = match which.checked_sub(1) {
            None => &self.database,
            Some(other) => self.settings.others.get(other).ok_or_else(|| {
                Problem::Absent(format!(
                    "there is no database {which}: name it when you start, with `--with`"
                ))
            })?,
        };
        let Some(height) = height else { return Ok(Arc::clone(&database.source)) };
        let Some(multistore) = &database.multistore else {
            let kind = database.source.kind();
            return Err(Problem::Asked(format!("a {kind} database keeps one state, and has no heights")));
        };
        let mut moments = self.moments.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = moments.get(&(which, height)) {
            return Ok(Arc::clone(found));
        }
        let opened = multistore.height(height).map_err(|error| Problem::Absent(error.to_string()))?;
        if moments.len() >= MOMENTS {
            moments.clear();
        }
        moments.insert((which, height), Arc::clone(&opened));
        Ok(opened)
    }

    /// Which space of the plan is which of a source.
    pub(crate) fn binding(&self, reading: &Reading, source: &dyn Source) -> Result<Binding, Problem> {
        bind(&reading.plan, source, &self.settings.bind).map_err(|error| Problem::Asked(error.to_string()))
    }

    /// The walk over everything, which all who look share; it is begun if it is not there yet.
    pub(crate) fn walk(&self, params: &Params) -> Result<Arc<Walk>, Problem> {
        let (reading, height) = (self.reading_of(params)?, params.height()?);
        let of: WalkOf = (height, reading.plan.fingerprint().to_string());
        let mut walks = self.walks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = walks.iter().find(|(known, _)| *known == of)
            && !(params.flag("again") && found.is_ended())
        {
            return Ok(Arc::clone(found));
        }
        walks.retain(|(known, _)| *known != of);
        let source = self.source(0, height)?;
        let binding = self.binding(&reading, &*source)?;
        let walk = Walk::begin(reading, source, binding).map_err(Problem::failed)?;
        walks.push((of, Arc::clone(&walk)));
        if walks.len() > WALKS {
            let (_, oldest) = walks.remove(0);
            oldest.stop();
        }
        Ok(walk)
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let walks = self.walks.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_, walk) in walks.iter() {
            walk.stop();
        }
        self.jobs.stop_all();
    }
}
