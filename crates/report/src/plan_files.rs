//! The files of a plan, in a folder of their own, where the plan compiles again.
//!
//! ```
//! use keyplan_report::plan_files;
//!
//! let plan = "plan p; import types \"../t.keyplan\"; space s { key k = 0x01 id: Id; }";
//! let compiled = keyplan_plan::compile("p.keyplan", plan, |_| Ok("plan t; type Id = u64;".to_owned()));
//! let folder = tempfile::tempdir()?;
//! let path = plan_files::write(&folder.path().join("was"), &compiled.sources).expect("written");
//! assert!(path.ends_with("was/plan/p.keyplan"));
//!
//! let again = keyplan_report::files::Files::default().load(path.to_str().expect("text"))?;
//! assert_eq!(again.plan.expect("sound").fingerprint(), compiled.plan.expect("sound").fingerprint());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use keyplan_plan::diag::SourceMap;
use keyplan_plan::model::{SchemaFile, SchemaFormat};

use crate::output_file::{self, WriteError};
use crate::project;

/// Why the files of a plan were not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanFilesError {
    /// The folder holds something.
    #[error("`{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// A file would lie outside of the folder, or in the place of another.
    #[error("no file can be called `{0}`")]
    Name(String),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes all files of a plan into a folder, which must not exist or be empty, and returns the path of the plan's own. They lie to each
/// other as they did when the plan was read; if there are several, `keyplan.toml` makes them one project.
pub fn write(folder: &Path, sources: &SourceMap) -> Result<PathBuf, PlanFilesError> {
    let names = places(sources)?;
    let failed = |source: io::Error| WriteError { path: Some(folder.to_owned()), source };
    if fs::read_dir(folder).is_ok_and(|mut found| found.next().is_some()) {
        return Err(PlanFilesError::NotEmpty(folder.to_owned()));
    }
    fs::create_dir_all(folder).map_err(failed)?;
    for (file, name) in sources.files().iter().zip(&names) {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)
                .map_err(|source| WriteError { path: Some(parent.to_owned()), source })?;
        }
        let bytes = if file.schema { schema_bytes(&file.text) } else { None };
        output_file::write(&path, bytes.as_deref().unwrap_or(file.text.as_bytes()))?;
    }
    let own = names.first().map_or(Path::new("plan.keyplan"), PathBuf::as_path);
    if names.len() > 1 {
        let text = format!("[project]\nplans = [{:?}]\n", own.to_string_lossy());
        output_file::write(&folder.join(project::FILE), text.as_bytes())?;
    }
    Ok(folder.join(own))
}

/// The bytes of a schema that is not text.
fn schema_bytes(text: &str) -> Option<Vec<u8>> {
    let file = SchemaFile {
        format: SchemaFormat::Proto,
        path: String::new(),
        import: None,
        text: text.to_owned(),
        span: keyplan_plan::diag::Span::default(),
    };
    file.bytes()
}

/// Where each file goes: below the folder that is around all of them.
fn places(sources: &SourceMap) -> Result<Vec<PathBuf>, PlanFilesError> {
    let all: Vec<(usize, Vec<&str>)> = sources.files().iter().map(|file| steps(&file.name)).collect();
    let up = all.iter().map(|(up, _)| *up).max().unwrap_or(0);
    let placed: Vec<Vec<&str>> = all
        .into_iter()
        .map(|(own, steps)| std::iter::repeat_n("plan", up - own).chain(steps).collect())
        .collect();
    let shared = placed.first().map_or(0, |first| {
        let folders = first.len().saturating_sub(1);
        let same =
            |at: usize| placed.iter().all(|other| at + 1 < other.len() && other.get(at) == first.get(at));
        (0..folders).take_while(|&at| same(at)).count()
    });
    let mut names: Vec<PathBuf> = Vec::new();
    for (steps, file) in placed.iter().zip(sources.files()) {
        let path: PathBuf = steps.iter().skip(shared).collect();
        let taken = names.iter().any(|other| other.starts_with(&path) || path.starts_with(other));
        if path.as_os_str().is_empty() || taken || path == Path::new(project::FILE) {
            return Err(PlanFilesError::Name(file.name.clone()));
        }
        names.push(path);
    }
    Ok(names)
}

/// A path without detours: how far up it begins, and its steps from there.
fn steps(name: &str) -> (usize, Vec<&str>) {
    let (mut up, mut steps) = (0, Vec::new());
    for step in name.split(['/', '\\']).filter(|step| !step.is_empty() && *step != ".") {
        if step != ".." {
            steps.push(step);
        } else if steps.pop().is_none() {
            up += 1;
        }
    }
    (up, steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Result<Vec<String>, String> {
        let mut sources = SourceMap::default();
        for name in names {
            sources.add(*name, "");
        }
        let found = places(&sources).map_err(|error| error.to_string())?;
        Ok(found.into_iter().map(|path| path.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn files_lie_to_each_other_as_they_did() {
        for (names, expected) in [
            (&["/plans/p.keyplan"][..], &["p.keyplan"][..]),
            (&["plans/upstream/p.keyplan", "plans/t.keyplan"], &["upstream/p.keyplan", "t.keyplan"]),
            (&["p.keyplan", "../t.keyplan"], &["plan/p.keyplan", "t.keyplan"]),
            (&["../../a/p.keyplan", "../../b/t.keyplan"], &["a/p.keyplan", "b/t.keyplan"]),
            (&["./x/../p.keyplan", "proto/m.proto"], &["p.keyplan", "proto/m.proto"]),
        ] {
            assert_eq!(named(names).unwrap(), expected, "{names:?}");
        }
    }

    #[test]
    fn no_file_lies_outside_or_in_the_place_of_another() {
        for names in [&[""][..], &["a/.."], &["p", "./p"], &["p", "p/q"], &["p", "keyplan.toml"]] {
            assert!(named(names).unwrap_err().starts_with("no file can be called"), "{names:?}");
        }
    }

    #[test]
    fn a_folder_that_holds_something_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine"), "x").unwrap();
        let mut sources = SourceMap::default();
        sources.add("p.keyplan", "plan p;");
        let refused = write(folder.path(), &sources).unwrap_err();
        assert!(matches!(refused, PlanFilesError::NotEmpty(_)), "{refused}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
