//! The releases of plans, as `keyplan.lock` has them: text that a reviewer can read, and that only grows.
//!
//! ```text
//! keyplan-lock 1
//! last 9c1f…
//!
//! release "v1" of positions on 2026-11-16
//! fingerprint 5b0d…
//! file "positions.keyplan"
//! | plan positions;
//! | …
//! seal 9c1f…
//! ```
//!
//! A seal is the SHA-256 of the seal before and of every line of the release: a release that was edited, taken out or moved
//! breaks its own seal or the next one. The second line repeats the last seal, so that the last release is missed, too.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use keyplan_codec::Hash;

use crate::compile::joined;
use crate::{Compiled, compile};

/// The name of the file that releases are kept in.
pub const LOCK_FILE: &str = "keyplan.lock";

/// The first line of the file.
const HEAD: &str = "keyplan-lock 1";

/// The releases of plans, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    releases: Vec<Release>,
}

/// A plan as it was released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// What the release is called.
    pub name: String,
    /// The plan's name.
    pub plan: String,
    /// The day, as `2026-11-16`.
    pub date: String,
    /// Plans of other names and other files whose releases are its past, if it was given both names at once.
    pub after: Vec<String>,
    /// The fingerprint of its layout, in base 16.
    pub fingerprint: String,
    /// Its files, the root first: name and text.
    pub files: Vec<(String, String)>,
}

/// Why a lock cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockError {
    /// The line, from 1 on.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for LockError {}

impl Release {
    /// A release of a plan; `None` if the plan does not compile.
    pub fn new(name: &str, date: &str, compiled: &Compiled) -> Option<Self> {
        let plan = compiled.plan.as_ref()?;
        let root = compiled.sources.files().first()?;
        let mut files = vec![(base_name(&root.name).to_owned(), ended(&root.text))];
        // Names as seen from the folder of the plan, wherever that is. Lines are kept: the last one ends like the others.
        let again = compile(base_name(&root.name), &root.text, |import| {
            let found = compiled.sources.find(&joined(&root.name, import));
            let text = found.and_then(|id| compiled.sources.get(id)).map(|file| file.text.clone());
            let text = text.ok_or_else(|| format!("`{import}` is not there"))?;
            files.push((import.to_owned(), ended(&text)));
            Ok(text)
        });
        again.plan?;
        let (plan, fingerprint) = (plan.name.clone(), plan.fingerprint().to_string());
        Some(Self {
            name: name.to_owned(),
            plan,
            date: date.to_owned(),
            after: Vec::new(),
            fingerprint,
            files,
        })
    }

    /// The plan of the release.
    pub fn compile(&self) -> Compiled {
        let none = (String::new(), String::new());
        let (name, text) = self.files.first().unwrap_or(&none);
        compile(name, text, |import| {
            let found = self.files.iter().find(|(name, _)| name == import);
            found.map(|(_, text)| text.clone()).ok_or_else(|| format!("`{import}` is not in the release"))
        })
    }

    /// The name of the plan's file.
    pub fn file(&self) -> &str {
        self.files.first().map_or("", |(name, _)| name)
    }

    /// The lines of the release, without its seal.
    fn lines(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = write!(out, "release {} of {} on {}", quote(&self.name), self.plan, self.date);
        for (index, plan) in self.after.iter().enumerate() {
            let _ = write!(out, "{}{plan}", if index == 0 { " after " } else { ", " });
        }
        out.push('\n');
        let _ = writeln!(out, "fingerprint {}", self.fingerprint);
        for (name, text) in &self.files {
            let _ = writeln!(out, "file {}", quote(name));
            for line in text.lines() {
                let _ = if line.is_empty() { writeln!(out, "|") } else { writeln!(out, "| {line}") };
            }
        }
        out
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The text with lines that end in one way.
fn ended(text: &str) -> String {
    text.lines().fold(String::with_capacity(text.len()), |out, line| out + line + "\n")
}

/// A name in quotes, with a backslash before quotes and backslashes.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether a text is a day of the calendar, as `2026-11-16`.
fn is_day(date: &str) -> bool {
    let shape: String = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if shape != "0000-00-00" {
        return false;
    }
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok());
    let (year, month, day) = (number(date.get(..4)), number(date.get(5..7)), number(date.get(8..)));
    let leap = year.is_some_and(|year| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    let days = match month {
        Some(4 | 6 | 9 | 11) => 30,
        Some(2) => 28 + u32::from(leap),
        Some(1..=12) => 31,
        _ => 0,
    };
    day.is_some_and(|day| (1..=days).contains(&day))
}

fn seal(before: &str, lines: &str) -> String {
    let digest = Hash::Sha256.digest(format!("{before}\n{lines}").as_bytes());
    let mut out = String::new();
    for byte in digest.iter() {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

impl Lock {
    /// Reads a lock, and checks its seals. Whether fingerprints are those of the plans is [`Lock::verify`]'s.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let mut reader = Reader { lines: text.lines().collect(), at: 0 };
        if let Some(at) = reader.lines.iter().position(|line| line.starts_with("<<<<<<< ")) {
            let what =
                "two branches have both added releases: keep the releases of one of them, and release again";
            return Err(LockError { line: at + 1, what: what.to_owned() });
        }
        reader.exactly(HEAD)?;
        let mut lock = Self::default();
        let mut before = String::new();
        let last = if reader.skip_blank() { Some(reader.word("last ")?) } else { None };
        while reader.skip_blank() {
            let first = reader.at;
            let release = reader.release()?;
            let expected = seal(&before, &release.lines());
            let found = reader.word("seal ")?;
            if found != expected {
                let what = format!(
                    "release {:?} is not what was sealed: it was edited, moved or taken out",
                    release.name
                );
                return Err(LockError { line: first + 1, what });
            }
            before = expected;
            let twice =
                lock.releases.iter().any(|other| other.plan == release.plan && other.name == release.name);
            if twice {
                let what = format!("release {:?} of {} is there twice", release.name, release.plan);
                return Err(LockError { line: first + 1, what });
            }
            lock.releases.push(release);
        }
        if last.is_some_and(|last| last != before || lock.releases.is_empty()) {
            let what = match lock.releases.last() {
                Some(release) => format!(
                    "release {:?} of {} is not the last one that was sealed: one after it was taken out",
                    release.name, release.plan
                ),
                None => "its releases were taken out".to_owned(),
            };
            return Err(LockError { line: 2, what });
        }
        Ok(lock)
    }

    /// Compiles every release, and compares its fingerprint with the one that is written down.
    pub fn verify(&self) -> Result<(), LockError> {
        for release in &self.releases {
            let compiled = release.compile();
            let found = compiled.plan.map(|plan| (plan.name.clone(), plan.fingerprint().to_string()));
            let what = match found {
                None => "its plan has mistakes".to_owned(),
                Some((name, _)) if name != release.plan => format!("its plan is called {name}"),
                Some((_, found)) if found != release.fingerprint => {
                    format!("its plan makes the fingerprint {found}")
                }
                Some(_) => continue,
            };
            return Err(LockError {
                line: 1,
                what: format!("release {:?} of {}: {what}", release.name, release.plan),
            });
        }
        Ok(())
    }

    /// The lock as text.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let mut before = String::new();
        for release in &self.releases {
            let lines = release.lines();
            before = seal(&before, &lines);
            // Writing to a string does not fail.
            let _ = write!(out, "\n{lines}seal {before}\n");
        }
        if self.releases.is_empty() { format!("{HEAD}\n") } else { format!("{HEAD}\nlast {before}\n{out}") }
    }

    /// Adds a release at the end; `Err` if there is one of this name.
    pub fn append(&mut self, release: Release) -> Result<(), String> {
        if self.of(&release.plan).any(|other| other.name == release.name) {
            return Err(format!("there is a release {:?} of {} already", release.name, release.plan));
        }
        let breaks = |text: &str| text.is_empty() || text.chars().any(char::is_control);
        if breaks(&release.name) || release.files.iter().any(|(name, _)| breaks(name)) {
            return Err("a release and its files have names of one line".to_owned());
        }
        if !is_day(&release.date) {
            return Err(format!("{:?} is not a date: write it as 2026-11-16", release.date));
        }
        self.releases.push(release);
        Ok(())
    }

    /// The releases of a plan, the oldest first.
    pub fn of<'l>(&'l self, plan: &'l str) -> impl DoubleEndedIterator<Item = &'l Release> {
        self.releases.iter().filter(move |release| release.plan == plan)
    }

    /// The releases of a plan or of its file, the oldest first: a plan that has another name now has not lost its past, and one
    /// whose file was renamed before that has not either.
    pub fn of_file<'l>(&'l self, plan: &str, path: &str) -> impl Iterator<Item = &'l Release> {
        let mut names = BTreeSet::from([plan]);
        let mut files = BTreeSet::from([base_name(path)]);
        loop {
            let before = names.len() + files.len();
            for release in &self.releases {
                let file = release.file();
                if names.contains(release.plan.as_str()) || files.contains(file) {
                    names.insert(&release.plan);
                    names.extend(release.after.iter().map(String::as_str));
                    files.insert(file);
                }
            }
            if names.len() + files.len() == before {
                break;
            }
        }
        let names: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
        self.releases.iter().filter(move |release| names.contains(&release.plan))
    }

    /// Whether it has a release of this plan with this layout.
    pub fn has(&self, release: &Release) -> bool {
        let same =
            |other: &Release| (&other.plan, &other.fingerprint) == (&release.plan, &release.fingerprint);
        self.releases.iter().any(same)
    }

    /// The lock with releases before its own that it no longer has, to compare a plan with; it is not one to be written.
    #[must_use]
    pub fn with_lost(&self, lost: impl IntoIterator<Item = Release>) -> Self {
        let mut all = Self::default();
        for release in lost {
            if !self.has(&release) && !all.has(&release) {
                all.releases.push(release);
            }
        }
        all.releases.extend(self.releases.iter().cloned());
        all
    }

    /// Every release, the oldest first.
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }
}

struct Reader<'t> {
    lines: Vec<&'t str>,
    at: usize,
}

impl<'t> Reader<'t> {
    fn fail<T>(&self, what: impl Into<String>) -> Result<T, LockError> {
        Err(LockError { line: self.at + 1, what: what.into() })
    }

    fn line(&self) -> Option<&'t str> {
        self.lines.get(self.at).copied()
    }

    fn exactly(&mut self, text: &str) -> Result<(), LockError> {
        if self.line() != Some(text) {
            return self.fail(format!("expected `{text}`"));
        }
        self.at += 1;
        Ok(())
    }

    /// Goes over empty lines; false at the end.
    fn skip_blank(&mut self) -> bool {
        while self.line() == Some("") {
            self.at += 1;
        }
        self.line().is_some()
    }

    /// What follows a word that a line must begin with.
    fn word(&mut self, word: &str) -> Result<&'t str, LockError> {
        match self.line().and_then(|line| line.strip_prefix(word)) {
            Some(rest) => {
                self.at += 1;
                Ok(rest)
            }
            None => self.fail(format!("expected `{word}…`")),
        }
    }

    fn release(&mut self) -> Result<Release, LockError> {
        let head = self.word("release ")?;
        let parts = quoted(head).and_then(|(name, rest)| {
            let (plan, date) = rest.strip_prefix(" of ")?.split_once(" on ")?;
            let (date, after) =
                date.split_once(" after ").map_or((date, None), |(date, all)| (date, Some(all)));
            let after = after.into_iter().flat_map(|all| all.split(", ")).map(str::to_owned).collect();
            Some((name, plan.to_owned(), date.to_owned(), after))
        });
        let Some((name, plan, date, after)) = parts else {
            self.at -= 1;
            return self.fail("expected `release \"NAME\" of PLAN on DATE`");
        };
        let fingerprint = self.word("fingerprint ")?.to_owned();
        let mut files = Vec::new();
        while let Some(rest) = self.line().and_then(|line| line.strip_prefix("file ")) {
            let Some((name, "")) = quoted(rest) else { return self.fail("expected `file \"NAME\"`") };
            self.at += 1;
            let mut text = String::new();
            while let Some(line) = self.line().and_then(|line| line.strip_prefix('|')) {
                text.push_str(line.strip_prefix(' ').unwrap_or(line));
                text.push('\n');
                self.at += 1;
            }
            files.push((name, text));
        }
        if files.is_empty() {
            return self.fail("expected `file \"NAME\"`");
        }
        Ok(Release { name, plan, date, after, fingerprint, files })
    }
}

/// A name in quotes as [`quote`] writes it, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut name = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((name, inside.get(at + 1..)?)),
            '\\' => name.push(chars.next()?.1),
            c => name.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(name: &str, text: &str) -> Release {
        let compiled = compile("dir/p.keyplan", text, |_| Err("none".to_owned()));
        Release::new(name, "2026-11-16", &compiled).unwrap()
    }

    fn lock() -> Lock {
        let mut lock = Lock::default();
        lock.append(release("v1", "plan p;\n\nspace s {\n    key a = 0x01 x: u8;\n}\n")).unwrap();
        lock.append(release("v2 \"x\"", "plan p; space s { key a = 0x01 x: u8; key b = 0x02; }")).unwrap();
        lock
    }

    #[test]
    fn a_lock_is_read_as_it_was_written() {
        let lock = lock();
        let text = lock.to_text();
        assert!(
            text.starts_with("keyplan-lock 1\nlast ")
                && text.contains("\n\nrelease \"v1\" of p on 2026-11-16\nfingerprint "),
            "{text}"
        );
        assert!(
            text.contains(
                "\nfile \"p.keyplan\"\n| plan p;\n|\n| space s {\n|     key a = 0x01 x: u8;\n| }\nseal "
            ),
            "{text}"
        );
        assert_eq!(Lock::parse(&text), Ok(lock.clone()));
        assert_eq!(lock.verify(), Ok(()));
        assert_eq!(lock.of("p").map(|release| release.name.as_str()).collect::<Vec<_>>(), ["v1", "v2 \"x\""]);
        assert_eq!(lock.of("q").count(), 0);
        assert_eq!(lock.of_file("q", "elsewhere/p.keyplan").count(), 2);
        assert_eq!(lock.of_file("q", "dir/q.keyplan").count(), 0);
    }

    #[test]
    fn a_plan_and_its_file_may_be_renamed_in_turn_and_keep_their_past() {
        let mut lock = lock();
        let named = |file: &str, plan: &str, name: &str| {
            let text = format!("plan {plan}; space s {{ key a = 0x01 x: u8; }}");
            let compiled = compile(file, &text, |_| Err("none".to_owned()));
            Release::new(name, "2026-11-16", &compiled).unwrap()
        };
        lock.append(named("q.keyplan", "p", "v3")).unwrap();
        lock.append(named("other.keyplan", "other", "v1")).unwrap();
        lock.append(named("q.keyplan", "q", "v4")).unwrap();
        assert_eq!(lock.of_file("q", "q.keyplan").count(), 4);
        assert_eq!(lock.of_file("r", "dir/q.keyplan").count(), 4);
        assert_eq!(lock.of_file("other", "other.keyplan").count(), 1);
        // Both names at once: what came before is written down.
        let text = "plan r; space s { key a = 0x01 x: u8; }";
        let compiled = compile("r.keyplan", text, |_| Err("none".to_owned()));
        let release = Release::new("v5", "2026-11-16", &compiled).unwrap();
        lock.append(Release { after: vec!["other".to_owned(), "q".to_owned()], ..release }).unwrap();
        let lock = Lock::parse(&lock.to_text()).unwrap();
        assert!(lock.to_text().contains("\nrelease \"v5\" of r on 2026-11-16 after other, q\n"));
        assert_eq!(lock.of_file("r", "elsewhere.keyplan").count(), 6);
        assert_eq!(lock.of_file("other", "other.keyplan").count(), 1);
    }

    #[test]
    fn a_release_that_was_edited_or_taken_out_breaks_a_seal() {
        let text = lock().to_text();
        let edited = text.replacen("key a = 0x01 x: u8;\n| }", "key a = 0x03 x: u8;\n| }", 1);
        assert_ne!(edited, text);
        let refused = Lock::parse(&edited).unwrap_err();
        assert_eq!(refused.line, 4);
        assert_eq!(refused.what, "release \"v1\" is not what was sealed: it was edited, moved or taken out");
        let second = text.find("release \"v2").unwrap();
        let first = text.find("release \"v1").unwrap();
        let taken_out = text[..first].to_owned() + &text[second..];
        assert_eq!(Lock::parse(&taken_out).unwrap_err().line, 4);
        // The last one, and every one.
        let refused = Lock::parse(&text[..second]).unwrap_err();
        assert_eq!(refused.line, 2);
        assert_eq!(
            refused.what,
            "release \"v1\" of p is not the last one that was sealed: one after it was taken out"
        );
        let refused = Lock::parse(&text[..first]).unwrap_err();
        assert_eq!((refused.line, refused.what.as_str()), (2, "its releases were taken out"));
    }

    #[test]
    fn no_edit_of_a_byte_passes_unseen() {
        let lock = lock();
        let text = lock.to_text();
        for at in 0..text.len() {
            for byte in [b'0', b' ', b'\n', b'"', b'|', b'z'] {
                let mut edited = text.clone().into_bytes();
                edited[at] = byte;
                let Ok(edited) = String::from_utf8(edited) else { continue };
                if let Ok(read) = Lock::parse(&edited) {
                    assert_eq!(read, lock, "{byte:#04x} at {at}");
                }
            }
            // Of what is cut only the first line by itself is a lock, or everything but the last line's end.
            if let Ok(cut) = Lock::parse(text.get(..at).unwrap_or_default()) {
                let whole = text.get(at..) == Some("\n");
                assert_eq!(cut, if whole { lock.clone() } else { Lock::default() }, "cut at {at}");
                assert!(whole || at <= HEAD.len() + 1, "cut at {at}");
            }
        }
    }

    #[test]
    fn a_fingerprint_that_is_not_the_plans_is_refused() {
        let mut lock = lock();
        lock.releases[0].fingerprint = "00".repeat(16);
        let lock = Lock::parse(&lock.to_text()).unwrap();
        let refused = lock.verify().unwrap_err().what;
        assert!(refused.starts_with("release \"v1\" of p: its plan makes the fingerprint "), "{refused}");
    }

    #[test]
    fn a_name_is_given_once_and_in_one_line() {
        let mut lock = lock();
        let again = release("v1", "plan p; space s { key a = 0x01; }");
        assert_eq!(lock.append(again.clone()), Err("there is a release \"v1\" of p already".to_owned()));
        let refused = lock.append(Release { name: "a\nb".to_owned(), ..again.clone() });
        assert_eq!(refused, Err("a release and its files have names of one line".to_owned()));
        let refused =
            lock.append(Release { name: "v3".to_owned(), date: "today".to_owned(), ..again.clone() });
        assert_eq!(refused, Err("\"today\" is not a date: write it as 2026-11-16".to_owned()));
        let days =
            ["2026-00-01", "2026-13-01", "2026-04-31", "2026-02-29", "1900-02-29", "2026-01-00", "2026-1-01"];
        for date in days {
            let day = Release { name: "v3".to_owned(), date: date.to_owned(), ..again.clone() };
            assert_eq!(lock.append(day), Err(format!("{date:?} is not a date: write it as 2026-11-16")));
        }
        assert_eq!(["2024-02-29", "2000-02-29", "2026-12-31"].map(is_day), [true; 3]);
        // Characters that are seldom seen are written as they are.
        lock.append(Release { name: "é\u{200b}\\\"".to_owned(), ..again }).unwrap();
        assert_eq!(Lock::parse(&lock.to_text()), Ok(lock));
    }

    #[test]
    fn imported_files_are_kept_by_their_place_beside_the_plan() {
        let files = [
            (
                "plans/a.keyplan",
                "plan a; import \"lib/x.keyplan\"; import \"../x.keyplan\"; space s { key k = x: Id y: Raw; }",
            ),
            ("plans/lib/x.keyplan", "plan b; type Id = u64.le;"),
            ("x.keyplan", "plan c; type Raw = u32;"),
        ];
        let compiled = compile(files[0].0, files[0].1, |path| {
            let found = files.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "not there".to_owned())
        });
        let release = Release::new("v1", "2026-11-16", &compiled).unwrap();
        let names: Vec<&str> = release.files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a.keyplan", "lib/x.keyplan", "../x.keyplan"]);
        let mut lock = Lock::default();
        lock.append(release).unwrap();
        assert_eq!(Lock::parse(&lock.to_text()).unwrap().verify(), Ok(()));
    }

    #[test]
    fn what_is_no_lock_is_refused_with_its_line() {
        assert_eq!(Lock::parse("").unwrap_err().line, 1);
        assert_eq!(Lock::parse("keyplan-lock 1\nwhat").unwrap_err().line, 2);
        assert_eq!(Lock::parse("keyplan-lock 1\n"), Ok(Lock::default()));
    }
}
