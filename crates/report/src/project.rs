//! `keyplan.toml`: which plans a project has, and how they are checked and generated.
//!
//! ```
//! use keyplan_report::project::Settings;
//!
//! let settings = Settings::parse("[project]\nplans = [\"plans/*.keyplan\"]\n[check]\ndeny-warnings = true\n")?;
//! assert_eq!(settings.plans, ["plans/*.keyplan"]);
//! assert!(settings.deny_warnings);
//! # Ok::<(), keyplan_report::project::ProjectError>(())
//! ```

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use keyplan_plan::Engine;
use keyplan_plan::lock::LOCK_FILE;
use keyplan_plan::syntax::nearest;
use toml::{Table, Value};

use crate::files::{read, reason};

/// The name of the file.
pub const FILE: &str = "keyplan.toml";

/// The most bytes that it may have.
const MOST_BYTES: u64 = 1 << 20;

/// The most plans that a project may have.
const MOST_PLANS: usize = 10_000;

/// What `keyplan.toml` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Patterns of the plan files, relative to the file.
    pub plans: Vec<String>,
    /// The engine that keys must fit.
    pub engine: Option<Engine>,
    /// The name of the file beside a plan in which its releases are written down.
    pub lock: String,
    /// Whether warnings count as findings.
    pub deny_warnings: bool,
    /// The file of known findings.
    pub baseline: Option<String>,
    /// What is generated, by name.
    pub targets: BTreeMap<String, Target>,
}

/// Something that is generated of a plan: `[generate.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The language, or `vectors` or `model`; the name of the table where it is not given.
    pub language: String,
    /// The plan file.
    pub plan: String,
    /// Where to.
    pub out: String,
    /// The name of the package, where the language has one.
    pub package: Option<String>,
    /// Whether there are adapters for Cosmos modules, where the language has them.
    pub cosmos: bool,
    /// The older plan that a function of an upgrade handler carries rows from, where the language has one.
    pub migration: Option<String>,
}

impl Target {
    /// The first key that it has and only Go takes.
    pub fn key_of_go(&self) -> Option<&'static str> {
        let given = [
            ("package", self.package.is_some()),
            ("cosmos", self.cosmos),
            ("migration", self.migration.is_some()),
        ];
        given.iter().find(|(_, given)| *given).map(|(key, _)| *key)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            plans: vec!["**/*.keyplan".to_owned()],
            engine: None,
            lock: LOCK_FILE.to_owned(),
            deny_warnings: false,
            baseline: None,
            targets: BTreeMap::new(),
        }
    }
}

/// Why a project cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The file cannot be read.
    #[error("cannot read `{path}`: {why}")]
    Unreadable {
        /// Its path.
        path: String,
        /// Why.
        why: String,
    },
    /// It is not TOML.
    #[error("line {line}: {why}")]
    NotToml {
        /// The line, from 1.
        line: usize,
        /// What the reader of TOML says.
        why: String,
    },
    /// A key that means nothing here.
    #[error("line {line}: {table} has no key `{key}`; {help}")]
    UnknownKey {
        /// The line, from 1.
        line: usize,
        /// The table, as it is written.
        table: String,
        /// The key.
        key: String,
        /// Which it may have.
        help: String,
    },
    /// A value of another kind.
    #[error("line {line}: `{key}` is {expected}")]
    BadValue {
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// What it should be.
        expected: String,
    },
    /// A pattern that leads nowhere.
    #[error("no plan matches `{pattern}` in `{root}`")]
    NoPlans {
        /// The pattern.
        pattern: String,
        /// The root of the project.
        root: String,
    },
}

impl Settings {
    /// Reads the text of a `keyplan.toml`.
    pub fn parse(text: &str) -> Result<Self, ProjectError> {
        let root: Table = text.parse().map_err(|error: toml::de::Error| ProjectError::NotToml {
            line: error
                .span()
                .map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1),
            why: error.message().to_owned(),
        })?;
        let reader = Reader { text };
        reader.known("the file", "", &root, &["project", "check", "generate"])?;
        let mut settings = Self::default();
        if let Some(project) = reader.table(&root, "", "project")? {
            reader.known("`[project]`", "project", project, &["plans", "engine", "lock"])?;
            if let Some(plans) = reader.strings(project, "project", "plans")? {
                settings.plans = plans;
            }
            settings.engine = reader.engine(project)?;
            if let Some(lock) = reader.string(project, "project", "lock")? {
                let mut parts = Path::new(&lock).components();
                let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
                if !is_name || Path::new(&lock).extension() != Path::new(LOCK_FILE).extension() {
                    let expected = "the name of a file beside each plan, which ends with `.lock`";
                    return Err(reader.bad("project", "lock", expected));
                }
                settings.lock = lock;
            }
        }
        if let Some(check) = reader.table(&root, "", "check")? {
            reader.known("`[check]`", "check", check, &["deny-warnings", "baseline"])?;
            settings.deny_warnings = reader.boolean(check, "check", "deny-warnings")?.unwrap_or_default();
            settings.baseline = reader.string(check, "check", "baseline")?;
        }
        if let Some(generate) = reader.table(&root, "", "generate")? {
            for name in generate.keys() {
                let Some(table) = reader.table(generate, "generate", name)? else { continue };
                settings.targets.insert(name.clone(), reader.target(name, table)?);
            }
        }
        Ok(settings)
    }
}

impl Settings {
    /// Two targets of which one writes to where the other does, or into a folder of it.
    pub fn same_place(&self) -> Option<(&str, &str)> {
        let parts = |out: &str| -> Vec<String> {
            let parts = Path::new(out).components().filter(|part| *part != Component::CurDir);
            parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
        };
        let all: Vec<(&str, Vec<String>)> =
            self.targets.iter().map(|(name, target)| (name.as_str(), parts(&target.out))).collect();
        all.iter().enumerate().find_map(|(index, (name, out))| {
            let meets = |(_, other): &&(&str, Vec<String>)| out.starts_with(other) || other.starts_with(out);
            all.iter().skip(index + 1).find(meets).map(|(other, _)| (*name, *other))
        })
    }
}

/// A project on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder with `keyplan.toml`.
    pub root: PathBuf,
    /// What it says.
    pub settings: Settings,
}

impl Project {
    /// The project around a folder: the nearest `keyplan.toml` upwards; `None` if there is none.
    pub fn around(folder: &Path) -> Result<Option<Self>, ProjectError> {
        let Some(root) = folder.ancestors().find(|folder| folder.join(FILE).is_file()) else {
            return Ok(None);
        };
        let path = root.join(FILE);
        let unreadable = |why: String| ProjectError::Unreadable { path: path.display().to_string(), why };
        let bytes = read(&path, MOST_BYTES).map_err(|error| unreadable(reason(&error)))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
        Ok(Some(Self { root: root.to_owned(), settings: Settings::parse(&text)? }))
    }

    /// The plan files, each once, in the order of their paths, relative to the root. A pattern that matches nothing is an
    /// error: it is a slip far more often than it is meant.
    pub fn plans(&self) -> Result<Vec<String>, ProjectError> {
        let mut found = std::collections::BTreeSet::new();
        for pattern in &self.settings.plans {
            let before = found.len();
            let none =
                || ProjectError::NoPlans { pattern: pattern.clone(), root: self.root.display().to_string() };
            let inside = Path::new(pattern)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let root = glob::Pattern::escape(&self.root.to_string_lossy());
            let full = format!("{root}/{pattern}");
            let paths = glob::glob(&full).ok().filter(|_| inside).ok_or_else(none)?;
            let mut matched = false;
            for path in paths.flatten().take(MOST_PLANS) {
                let Ok(path) = path.strip_prefix(&self.root) else { continue };
                matched |= true;
                found.insert(path.to_string_lossy().into_owned());
            }
            if !matched && found.len() == before {
                return Err(none());
            }
        }
        Ok(found.into_iter().collect())
    }

    /// A path of the project as seen from a folder inside of it.
    pub fn seen_from(&self, folder: &Path, path: &str) -> String {
        let depth = folder.strip_prefix(&self.root).map_or(0, |below| below.components().count());
        format!("{}{path}", "../".repeat(depth))
    }
}

/// Reads tables, and knows where in the text a key is.
struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    /// The line of a key of a table, from 1; that of the table if the key is not found by itself.
    fn line(&self, table: &str, key: &str) -> usize {
        let mut current = "";
        let mut of_table = 1;
        for (index, line) in self.text.lines().enumerate() {
            let line = line.trim();
            if let Some(header) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
                current = header.trim();
                if current == table || current == key || current == format!("{table}.{key}") {
                    of_table = index + 1;
                }
                continue;
            }
            let name = line.split(['=', '.']).next().unwrap_or_default().trim().trim_matches('"');
            if current == table && name == key {
                return index + 1;
            }
        }
        of_table
    }

    fn known(&self, title: &str, table: &str, found: &Table, known: &[&str]) -> Result<(), ProjectError> {
        let Some(key) = found.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
        let help = match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it may have: {}", known.join(", ")),
        };
        let line = self.line(table, key);
        Err(ProjectError::UnknownKey { line, table: title.to_owned(), key: key.clone(), help })
    }

    fn bad(&self, table: &str, key: &str, expected: &str) -> ProjectError {
        ProjectError::BadValue {
            line: self.line(table, key),
            key: key.to_owned(),
            expected: expected.to_owned(),
        }
    }

    fn table<'v>(&self, of: &'v Table, table: &str, key: &str) -> Result<Option<&'v Table>, ProjectError> {
        match of.get(key) {
            None => Ok(None),
            Some(Value::Table(found)) => Ok(Some(found)),
            Some(_) => Err(self.bad(table, key, "a table")),
        }
    }

    fn string(&self, of: &Table, table: &str, key: &str) -> Result<Option<String>, ProjectError> {
        match of.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.bad(table, key, "a string")),
        }
    }

    fn boolean(&self, of: &Table, table: &str, key: &str) -> Result<Option<bool>, ProjectError> {
        match of.get(key) {
            None => Ok(None),
            Some(Value::Boolean(value)) => Ok(Some(*value)),
            Some(_) => Err(self.bad(table, key, "true or false")),
        }
    }

    fn strings(&self, of: &Table, table: &str, key: &str) -> Result<Option<Vec<String>>, ProjectError> {
        let wrong = || self.bad(table, key, "a list of strings");
        let Some(value) = of.get(key) else { return Ok(None) };
        let list = value.as_array().ok_or_else(wrong)?;
        let all: Option<Vec<String>> = list.iter().map(|one| one.as_str().map(str::to_owned)).collect();
        all.map(Some).ok_or_else(wrong)
    }

    fn engine(&self, project: &Table) -> Result<Option<Engine>, ProjectError> {
        let Some(name) = self.string(project, "project", "engine")? else { return Ok(None) };
        let known = Engine::ALL.iter().copied().find(|engine| engine.name() == name);
        let words: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
        let expected = format!("one of: {}", words.join(", "));
        known.map(Some).ok_or_else(|| self.bad("project", "engine", &expected))
    }

    fn target(&self, name: &str, table: &Table) -> Result<Target, ProjectError> {
        let path = format!("generate.{name}");
        self.known(
            &format!("`[{path}]`"),
            &path,
            table,
            &["language", "plan", "out", "package", "cosmos", "migration"],
        )?;
        let needed = |key: &str| {
            let missing = || self.bad("generate", name, &format!("a table with `{key} = \"…\"`"));
            self.string(table, &path, key)?.ok_or_else(missing)
        };
        Ok(Target {
            language: self.string(table, &path, "language")?.unwrap_or_else(|| name.to_owned()),
            plan: needed("plan")?,
            out: needed("out")?,
            package: self.string(table, &path, "package")?,
            cosmos: self.boolean(table, &path, "cosmos")?.unwrap_or_default(),
            migration: self.string(table, &path, "migration")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn wrong(text: &str) -> String {
        Settings::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn targets_that_write_to_one_place_are_found() {
        let check = |outs: &[&str], wanted: Option<(&str, &str)>| {
            let table = |(name, out)| {
                format!("[generate.{name}]\nlanguage = \"go\"\nplan = \"p\"\nout = \"{out}\"\n")
            };
            let text: String = ["a", "b", "c"].iter().zip(outs).map(table).collect();
            assert_eq!(Settings::parse(&text).unwrap().same_place(), wanted, "{outs:?}");
        };
        check(&["keys", "web", "keys2"], None);
        check(&["x/keys", "x/web", "y/keys"], None);
        check(&["keys", "web", "./keys/"], Some(("a", "c")));
        check(&["web", "x/keys/model.json", "x/keys"], Some(("b", "c")));
        check(&["web", "."], Some(("a", "b")));
    }

    #[test]
    fn a_whole_file_is_read() {
        let text = r#"
[project]
plans = ["plans/*.keyplan"]
engine = "redb"
lock = "released.lock"

[check]
deny-warnings = true
baseline = "known"

[generate.go]
plan = "plans/dex.keyplan"
out = "x/dex/types/keys"
package = "keys"
cosmos = true
"#;
        let target = Target {
            language: "go".to_owned(),
            plan: "plans/dex.keyplan".to_owned(),
            out: "x/dex/types/keys".to_owned(),
            package: Some("keys".to_owned()),
            cosmos: true,
            migration: None,
        };
        let expected = Settings {
            plans: vec!["plans/*.keyplan".to_owned()],
            engine: Some(Engine::Redb),
            lock: "released.lock".to_owned(),
            deny_warnings: true,
            baseline: Some("known".to_owned()),
            targets: BTreeMap::from([("go".to_owned(), target)]),
        };
        assert_eq!(Settings::parse(text), Ok(expected));
        assert_eq!(Settings::parse(""), Ok(Settings::default()));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        assert_eq!(
            wrong("[check]\n\ndeny-warning = true\n"),
            "line 3: `[check]` has no key `deny-warning`; did you mean `deny-warnings`?"
        );
        assert_eq!(wrong("[checks]\n"), "line 1: the file has no key `checks`; did you mean `check`?");
        assert_eq!(wrong("[project]\nplans = \"a\"\n"), "line 2: `plans` is a list of strings");
        assert_eq!(wrong("[check]\ndeny-warnings = 1\n"), "line 2: `deny-warnings` is true or false");
        assert!(
            wrong("[project]\nengine = \"rocks\"\n").starts_with("line 2: `engine` is one of: fjall, redb")
        );
        assert_eq!(wrong("[generate.go]\nplan = \"a\"\n"), "line 1: `go` is a table with `out = \"…\"`");
        assert!(wrong("[project\n").starts_with("line 1: "));
    }

    #[test]
    fn a_project_is_found_upwards_and_its_plans_by_pattern() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("plans/deep")).unwrap();
        for name in ["plans/b.keyplan", "plans/a.keyplan", "plans/note.md", "plans/deep/c.keyplan"] {
            fs::write(root.join(name), "").unwrap();
        }
        fs::write(root.join(FILE), "[project]\nplans = [\"plans/*.keyplan\"]\n").unwrap();
        let project = Project::around(&root.join("plans/deep")).unwrap().unwrap();
        assert_eq!(project.root, root);
        assert_eq!(project.plans().unwrap(), ["plans/a.keyplan", "plans/b.keyplan"]);
        assert_eq!(project.seen_from(&root.join("plans/deep"), "plans/a.keyplan"), "../../plans/a.keyplan");
        assert_eq!(project.seen_from(&root, "plans/a.keyplan"), "plans/a.keyplan");
        fs::write(root.join(FILE), "").unwrap();
        let every = Project::around(&root).unwrap().unwrap().plans().unwrap();
        assert_eq!(every, ["plans/a.keyplan", "plans/b.keyplan", "plans/deep/c.keyplan"]);
        fs::write(root.join(FILE), "[project]\nplans = [\"../*.keyplan\"]\n").unwrap();
        let error = Project::around(&root).unwrap().unwrap().plans().unwrap_err();
        assert_eq!(error.to_string(), format!("no plan matches `../*.keyplan` in `{}`", root.display()));
    }
}
