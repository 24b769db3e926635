//! Plans on disk: which files may be read, and reading them within bounds.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use keyplan_plan::Compiled;
use keyplan_plan::load::{ENOUGH, load_bytes};

/// Which files a plan may import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Imports {
    /// Those below the root of its project: the nearest folder around the plan that holds `keyplan.toml` or `.git`, else
    /// the plan's own folder.
    #[default]
    Project,
    /// Any file that can be read.
    Anywhere,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{path}`: {why}")]
pub struct FileError {
    /// The path as it was asked for.
    pub path: String,
    /// Why, in a few words.
    pub why: String,
}

/// Reads plans, and the files that they import.
///
/// Only regular files are read, and no more of them than a plan may have. What a link leads to counts, not where the link
/// is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files {
    imports: Imports,
}

impl Files {
    /// Reads the files that `imports` allows.
    pub const fn new(imports: Imports) -> Self {
        Self { imports }
    }

    /// Reads and compiles a plan and what it imports.
    pub fn load(self, path: &str) -> Result<Compiled, FileError> {
        let bytes = read(Path::new(path), ENOUGH)
            .map_err(|error| FileError { path: path.to_owned(), why: reason(&error) })?;
        Ok(self.load_bytes(path, &bytes))
    }

    /// As [`Self::load`], of a plan whose bytes are already there; `path` is where its imports are looked for.
    pub fn load_bytes(self, path: &str, bytes: &[u8]) -> Compiled {
        load_bytes(path, bytes, self.fetcher(path))
    }

    /// What fetches the imports of the plan at `path`.
    pub fn fetcher(self, path: &str) -> impl Fn(&str) -> Result<Vec<u8>, String> + use<> {
        let root = match self.imports {
            Imports::Project => Some(root_of(Path::new(path))),
            Imports::Anywhere => None,
        };
        move |import| import_from(root.as_deref(), import)
    }
}

/// The bytes of an imported file, which must be below `root` if there is one.
fn import_from(root: Option<&Path>, path: &str) -> Result<Vec<u8>, String> {
    let found = fs::canonicalize(path).map_err(|error| reason(&error))?;
    if let Some(root) = root
        && !found.starts_with(root)
    {
        return Err(format!("it is outside of the project in `{}`", root.display()));
    }
    read(&found, ENOUGH).map_err(|error| reason(&error))
}

/// The root of the project around a plan, in its canonical form.
pub fn root_of(plan: &Path) -> PathBuf {
    let folder = plan.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let marked = |folder: &&Path| ["keyplan.toml", ".git"].iter().any(|name| folder.join(name).exists());
    folder.ancestors().find(marked).unwrap_or(&folder).to_owned()
}

/// Reads up to `most` bytes of a regular file. Pipes and devices are refused: some of them never end.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    refuse_special(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    // What was opened may be another file than the one that was looked at.
    refuse_special(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn refuse_special(found: &fs::Metadata) -> io::Result<()> {
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if found.is_file() { Ok(()) } else { Err(io::Error::other("it is a pipe, a socket or a device")) }
}

/// A file as it was at a revision of the repository around the current directory.
pub fn committed(revision: &str, path: &str) -> Result<Vec<u8>, String> {
    let place = if Path::new(path).is_absolute() { path.to_owned() } else { format!("./{path}") };
    let shown = std::process::Command::new("git")
        .args(["show", "--end-of-options", &format!("{revision}:{place}")])
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "`git` is not installed".to_owned(),
            _ => error.to_string(),
        })?;
    if !shown.status.success() {
        let said = String::from_utf8_lossy(&shown.stderr);
        return Err(said.lines().next().unwrap_or_default().trim_start_matches("fatal: ").to_owned());
    }
    Ok(shown.stdout)
}

/// The text of a file of at most `most` bytes; `what` is what it is to hold, in the words of the error.
pub fn read_text(path: &str, most: u64, what: &str) -> Result<String, TextError> {
    let bytes = read(Path::new(path), most.saturating_add(1))
        .map_err(|error| FileError { path: path.to_owned(), why: reason(&error) })?;
    if bytes.len() as u64 > most {
        return Err(TextError::TooLarge { path: path.to_owned(), what: what.to_owned(), most });
    }
    let none = |_| TextError::NoText { path: path.to_owned(), what: what.to_owned() };
    String::from_utf8(bytes).map_err(none)
}

/// Why a text was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is larger than such files are.
    #[error("`{path}` is too large for {what}: over {} MiB", most >> 20)]
    TooLarge {
        /// The file.
        path: String,
        /// What it is to hold.
        what: String,
        /// The most bytes.
        most: u64,
    },
    /// It is not UTF-8.
    #[error("`{path}` is not {what}: it is not UTF-8")]
    NoText {
        /// The file.
        path: String,
        /// What it is to hold.
        what: String,
    },
    /// Of a certificate and a plan, none is the plan.
    #[error("neither `{first}` nor `{second}` is a plan")]
    NoPlan {
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
}

/// Of a certificate and a plan in either order, the certificate first: it is an object of JSON, and no plan begins with a
/// brace.
pub fn certificate_first<'a>(first: &'a str, second: &'a str) -> Result<(&'a str, &'a str), TextError> {
    let is_certificate = |path: &str| -> Result<bool, FileError> {
        let start = read(Path::new(path), 64)
            .map_err(|error| FileError { path: path.to_owned(), why: reason(&error) })?;
        Ok(start.trim_ascii_start().starts_with(b"{"))
    };
    match (is_certificate(first)?, is_certificate(second)?) {
        (true, true) => Err(TextError::NoPlan { first: first.to_owned(), second: second.to_owned() }),
        (false, true) => Ok((second, first)),
        _ => Ok((first, second)),
    }
}

/// Why a file could not be read, in the words of its kind: what the system says differs from one to the next.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project with a plan in a folder of it, and a file beside the project.
    fn project(marker: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let plans = folder.path().join("project/plans");
        fs::create_dir_all(&plans).unwrap();
        fs::write(folder.path().join("project").join(marker), "").unwrap();
        fs::write(folder.path().join("secret"), "plan secret; type Id = u64;").unwrap();
        fs::write(folder.path().join("project/types.keyplan"), "plan types; type Id = u64;").unwrap();
        let plan = plans.join("a.keyplan");
        fs::write(&plan, "plan a; import \"../types.keyplan\"; space s { key k = 0x01 id: Id; }").unwrap();
        let path = plan.to_str().unwrap().to_owned();
        (folder, path)
    }

    fn messages(compiled: &Compiled) -> Vec<&str> {
        compiled.diagnostics.iter().map(|found| found.message.as_str()).collect()
    }

    #[test]
    fn imports_stay_inside_the_project() {
        for marker in ["keyplan.toml", ".git"] {
            let (folder, path) = project(marker);
            let files = Files::default();
            assert_eq!(messages(&files.load(&path).unwrap()), Vec::<&str>::new());
            fs::write(&path, "plan a; import \"../../secret\"; space s { key k = 0x01 id: Id; }").unwrap();
            let root = fs::canonicalize(folder.path().join("project")).unwrap();
            let refused = format!("it is outside of the project in `{}`", root.display());
            let found = files.load(&path).unwrap();
            assert!(messages(&found)[0].ends_with(&refused), "{:?}", messages(&found));
            let anywhere = Files::new(Imports::Anywhere).load(&path).unwrap();
            assert_eq!(messages(&anywhere), Vec::<&str>::new());
        }
    }

    #[test]
    fn without_a_project_a_plan_imports_from_its_own_folder() {
        let (_folder, path) = project("other");
        let root = Path::new(&path).parent().unwrap();
        assert_eq!(root_of(Path::new(&path)), fs::canonicalize(root).unwrap());
        let found = Files::default().load(&path).unwrap();
        assert!(messages(&found)[0].contains("outside of the project"), "{:?}", messages(&found));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_counts_as_what_it_leads_to() {
        let (folder, path) = project(".git");
        let link = folder.path().join("project/types.keyplan");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), &link).unwrap();
        let found = Files::default().load(&path).unwrap();
        assert!(messages(&found)[0].contains("outside of the project"), "{:?}", messages(&found));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.to_str().unwrap(), "/dev/zero"] {
            let error = Files::default().load(path).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("cannot read `{path}`: it is a pipe, a socket or a device")
            );
        }
        let plan = folder.path().join("a.keyplan");
        fs::write(&plan, "plan a; import \"pipe\";").unwrap();
        let found = Files::default().load(plan.to_str().unwrap()).unwrap();
        assert!(
            messages(&found)[0].ends_with("it is a pipe, a socket or a device"),
            "{:?}",
            messages(&found)
        );
    }
}
