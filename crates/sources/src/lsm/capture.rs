//! One state of a database that a node may be writing to, taken without a lock and whatever the node does meanwhile.
//!
//! 1. The logs are opened. What is deleted later stays readable through its descriptor.
//! 2. The manifest is read to its end: a version of the database that is younger than step 1.
//! 3. The tables of that version are opened. If one is gone, the manifest has moved on: it is read on from where it was, and
//!    what is open stays open.
//! 4. The logs that the version still needs are read, as far as they are by then.
//!
//! That is the state after some batch. The tables hold every batch of the logs below the version's log number. A log from that
//! number on that existed in step 1 existed still in step 2, so all of them were opened, up to the newest one of step 1; and
//! lengths are taken from the newest log to the oldest, so that an older log is whole if a newer one has a batch.
//!
//! With column families, each has its own log number, and the highest must be one of step 1: a family that is further than the
//! newest opened log would be ahead of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use keyplan_store::source::SourceError;

use super::cache::Cache;
use super::directory::{Directory, Flavour, logs};
use super::files::{self, Descriptors, Identity, LogFile};
use super::memtable::{Memtable, Replay};
use super::state::State;
use super::table::{Shared, Table};
use super::version::{Manifest, Version};

/// How often a state is tried for while the writer moves on.
const ATTEMPTS: u32 = 100;
/// How often a manifest is followed within one attempt because a table of its version was gone.
const FOLLOWED: u32 = 10_000;
/// How often it is tried for when nothing moved: what was wrong may have been a write that was under way.
const STILL_WRONG: u32 = 4;
/// The most logs that are kept open. An engine has two or three that count; the others are opened one at a time.
const OPEN_LOGS: usize = 24;

/// The state of the database in the directory `path`.
pub(crate) fn capture(path: &Path) -> Result<(Flavour, State), SourceError> {
    let mut capture = Capture {
        path,
        logs: BTreeMap::new(),
        manifest: None,
        descriptors: Arc::new(Descriptors::default()),
    };
    let mut still_wrong = 0;
    let mut moved = String::new();
    for attempt in 0..ATTEMPTS {
        match capture.attempt() {
            Ok(captured) => return Ok(captured),
            Err(SourceError::Changing { what, .. }) => moved = what,
            Err(error) => {
                still_wrong += 1;
                if still_wrong == STILL_WRONG || !may_pass(&error) {
                    return Err(named_by_manifest(error));
                }
                // An edit that was half applied, or a log that was half read.
                capture.manifest = None;
            }
        }
        std::thread::sleep(Duration::from_millis(u64::from(attempt.min(20))));
    }
    Err(changing(path, format!("during each of {ATTEMPTS} attempts {moved}")))
}

/// What is open of a database.
struct Capture<'p> {
    path: &'p Path,
    logs: BTreeMap<u64, OpenLog>,
    manifest: Option<Manifest>,
    descriptors: Arc<Descriptors>,
}

/// A log that was there.
struct OpenLog {
    path: PathBuf,
    identity: Identity,
    /// None if there are too many of them.
    file: Option<LogFile>,
}

impl Capture<'_> {
    fn attempt(&mut self) -> Result<(Flavour, State), SourceError> {
        let directory = self.open_logs()?;
        let pebble = directory.flavour == Flavour::Pebble;
        let shared = Shared { descriptors: Arc::clone(&self.descriptors), cache: Cache::default(), pebble };
        let shared = Arc::new(shared);
        let (version, tables) = self.tables(&directory, &shared)?;
        self.reaches(&directory, &version)?;
        let manifest = self.manifest.as_ref().map_or_else(|| self.path.to_owned(), |m| m.path.clone());
        let (memory, newest) = self.read_logs(&directory, &version, manifest)?;
        let state = State::build(directory.flavour, version, memory, &newest, &tables)?;
        Ok((directory.flavour, state))
    }

    /// Step 1. A log that is below another one was made before it, so what the second list lacks of those up to the newest of
    /// the first is not needed any more.
    fn open_logs(&mut self) -> Result<Directory, SourceError> {
        let newest = newest_log(self.path)?;
        let directory = Directory::look(self.path)?;
        let mut open = self.logs.values().filter(|log| log.file.is_some()).count();
        for (number, path) in directory.logs().into_iter().rev() {
            if Some(number) > newest || self.logs.contains_key(&number) {
                continue;
            }
            let opened = if open < OPEN_LOGS {
                LogFile::open(&path).map(|file| (file.identity, Some(file)))
            } else {
                Identity::of(&path).map(|identity| (identity, None))
            };
            match opened {
                Ok((identity, file)) => {
                    open += usize::from(file.is_some());
                    self.logs.insert(number, OpenLog { path, identity, file });
                }
                Err(error) if files::is_missing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(directory)
    }

    /// Steps 2 and 3.
    fn tables(
        &mut self,
        directory: &Directory,
        shared: &Arc<Shared>,
    ) -> Result<(Version, BTreeMap<u64, Arc<Table>>), SourceError> {
        let (mut version, _) = self.version(directory)?;
        for _ in 0..FOLLOWED {
            let missing = match open_tables(directory, &version, shared) {
                Ok(tables) => return Ok((version, tables)),
                Err(error) if files::is_missing(&error) => error,
                Err(error) => return Err(error),
            };
            let (newer, moved) = self.version(directory)?;
            if !moved {
                return Err(missing);
            }
            version = newer;
        }
        Err(changing(self.path, format!("tables went before they could be opened, {FOLLOWED} times")))
    }

    /// The version at the end of the manifest, and whether it is another than the one before.
    fn version(&mut self, directory: &Directory) -> Result<(Version, bool), SourceError> {
        for _ in 0..FOLLOWED {
            let path = directory.manifest()?;
            let known = self.manifest.take().filter(|manifest| manifest.path == path);
            let same = known.is_some();
            let mut manifest = match known {
                Some(manifest) => manifest,
                None => match Manifest::open(&path) {
                    // It was replaced, or it is not there at all.
                    Err(error) if files::is_missing(&error) && directory.manifest()? != path => continue,
                    opened => opened?,
                },
            };
            let (version, grown) = manifest.follow()?;
            let current = directory.manifest()? == manifest.path;
            self.manifest = Some(manifest);
            // One that was replaced meanwhile may be older than the logs.
            if current {
                return Ok((version, grown || !same));
            }
        }
        Err(changing(self.path, format!("its manifest was replaced {FOLLOWED} times")))
    }

    /// Whether the opened logs reach as far as every family's tables.
    fn reaches(&mut self, directory: &Directory, version: &Version) -> Result<(), SourceError> {
        let numbers: BTreeSet<u64> = version.families.values().map(|family| family.log).collect();
        let newest = self.logs.last_key_value().map(|(&number, _)| number);
        if numbers.len() <= 1 || newest.as_ref() >= numbers.last() {
            return Ok(());
        }
        // A copy that was made without its logs stays as it is.
        if newest_log(self.path)? == newest && !self.version(directory)?.1 {
            return Ok(());
        }
        Err(changing(self.path, "a column family was written to a table".to_owned()))
    }

    /// Step 4.
    fn read_logs(
        &mut self,
        directory: &Directory,
        version: &Version,
        manifest: PathBuf,
    ) -> Result<(BTreeMap<u32, Memtable>, PathBuf), SourceError> {
        let least = version.families.values().map(|family| family.log).min().unwrap_or(0);
        self.logs.retain(|&number, _| number >= least);
        directory.check_segments(least)?;
        if let Some(settings) = &directory.settings {
            settings.check_values()?;
            let here: Vec<_> = self.logs.iter().map(|(&number, log)| (number, log.path.clone())).collect();
            settings.check_logs(self.path, &here, least)?;
        }
        let mut logs = Vec::new();
        for (&number, log) in self.logs.iter_mut().rev() {
            let length = match &mut log.file {
                Some(file) => file.look_again(&log.path)?,
                None => Identity::of(&log.path).map_err(|_| went(&log.path))?.size,
            };
            logs.push((number, length));
        }
        let mut replay = Replay::new(version, directory.flavour == Flavour::Pebble);
        let mut newest = manifest;
        for (number, length) in logs.into_iter().rev() {
            let Some(log) = self.logs.get(&number) else { continue };
            newest.clone_from(&log.path);
            let read = match &log.file {
                Some(file) => replay.log(&log.path, file, number),
                None => replay.log(&log.path, &log.reopen(length)?, number),
            };
            // A file that is used again as another log is renamed before it is written to.
            if !matches!(read, Ok(false)) && !log.is_named() {
                self.logs.remove(&number);
                return Err(changing(self.path, "a log was used again".to_owned()));
            }
            read?;
        }
        Ok((replay.finish(), newest))
    }
}

impl OpenLog {
    fn reopen(&self, length: u64) -> Result<LogFile, SourceError> {
        let opened = LogFile::open_at(&self.path, length);
        match opened {
            Err(error) if files::is_missing(&error) => Err(went(&self.path)),
            Ok(file) if !file.identity.is_same_file(self.identity) => Err(went(&self.path)),
            opened => opened,
        }
    }

    /// Whether the file still has its name.
    fn is_named(&self) -> bool {
        Identity::of(&self.path).is_ok_and(|found| found.is_same_file(self.identity))
    }
}

/// Opens the tables of a version; those that were open before stay so.
fn open_tables(
    directory: &Directory,
    version: &Version,
    shared: &Arc<Shared>,
) -> Result<BTreeMap<u64, Arc<Table>>, SourceError> {
    let files = || version.families.values().flat_map(|family| family.levels.values().flatten());
    let numbers: BTreeSet<u64> = files().map(|file| file.number).collect();
    shared.descriptors.keep(&numbers);
    let mut tables = BTreeMap::new();
    for file in files() {
        let table = Table::open(&directory.path, file.clone(), shared)?;
        tables.insert(file.number, Arc::new(table));
    }
    Ok(tables)
}

fn newest_log(path: &Path) -> Result<Option<u64>, SourceError> {
    Ok(logs(path, &files::names(path)?).last().map(|&(number, _)| number))
}

fn changing(path: &Path, what: String) -> SourceError {
    SourceError::Changing { path: path.to_owned(), what }
}

fn went(path: &Path) -> SourceError {
    changing(path, "a log was removed".to_owned())
}

/// Whether an error may be one of the moment.
const fn may_pass(error: &SourceError) -> bool {
    matches!(error, SourceError::Io { .. } | SourceError::Damaged { .. })
}

/// A file that is missing is damage: the manifest names it.
fn named_by_manifest(error: SourceError) -> SourceError {
    match error {
        SourceError::Io { path, source } if source.kind() == std::io::ErrorKind::NotFound => {
            SourceError::damaged(&path, 0, "the file is missing")
        }
        error => error,
    }
}
