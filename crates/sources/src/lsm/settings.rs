//! What the file of a database's options says that changes which rows there are.

use std::path::{Path, PathBuf};

use keyplan_store::source::SourceError;

use super::files;

/// The newest file of options.
#[derive(Debug)]
pub(crate) struct Settings {
    path: PathBuf,
    text: String,
}

impl Settings {
    /// Reads the newest of the files with these names; `None` if there is none.
    pub(crate) fn read(directory: &Path, names: &[String]) -> Option<Self> {
        let numbered = |name: &&String| name.strip_prefix("OPTIONS-")?.parse::<u64>().ok();
        let newest = names.iter().filter(|name| numbered(name).is_some()).max_by_key(numbered)?;
        let path = directory.join(newest);
        let text = String::from_utf8_lossy(&files::read(&path).ok()?).into_owned();
        Some(Self { path, text })
    }

    /// Whether Pebble wrote it.
    pub(crate) fn is_pebble(&self) -> bool {
        self.text.contains("pebble_version")
    }

    /// Every value of a setting: there may be one per column family.
    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.text.lines().filter_map(move |line| {
            Some(line.trim().strip_prefix(name)?.trim_start().strip_prefix('=')?.trim())
        })
    }

    /// Refuses rows that are not the bytes which their owner sees.
    pub(crate) fn check_values(&self) -> Result<(), SourceError> {
        let lives = |value: &str| value.contains("TtlCompactionFilterFactory");
        if self.values("compaction_filter_factory").any(lives) {
            return Err(SourceError::unsupported(&self.path, "a database whose values have a time to live"));
        }
        Ok(())
    }

    /// Refuses a database whose logs from `least` on are in another directory than its own; `here` are those that are not.
    pub(crate) fn check_logs(
        &self,
        directory: &Path,
        here: &[(u64, PathBuf)],
        least: u64,
    ) -> Result<(), SourceError> {
        let Some(elsewhere) = self.values("wal_dir").find(|value| !value.is_empty()) else { return Ok(()) };
        let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        };
        if same(Path::new(elsewhere), directory) {
            return Ok(());
        }
        // A directory that was moved or copied with its logs still names its old place.
        if !here.iter().any(|&(number, _)| number >= least) {
            let what = format!("a database whose logs are in another directory (`wal_dir={elsewhere}`)");
            return Err(SourceError::unsupported(&self.path, what));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        Settings { path: PathBuf::from("OPTIONS-000007"), text: text.to_owned() }
    }

    #[test]
    fn values_with_a_time_to_live_are_refused() {
        let text = "[CFOptions \"default\"]\n  ttl=2592000\n  compaction_filter_factory=nullptr\n";
        assert!(settings(text).check_values().is_ok());
        let text = format!("{text}  compaction_filter_factory={{id=TtlCompactionFilterFactory;ttl=9;}}\n");
        let expected = "OPTIONS-000007: a database whose values have a time to live is not supported";
        assert_eq!(settings(&text).check_values().map_err(|e| e.to_string()), Err(expected.to_owned()));
    }

    #[test]
    fn logs_in_another_directory_are_not_passed_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let (own, other) = (directory.path().join("db"), directory.path().join("logs"));
        for path in [&own, &other] {
            std::fs::create_dir(path).expect("made");
        }
        let log = vec![(7, own.join("000007.log"))];
        let check = |text: &str, here: &[(u64, PathBuf)]| {
            settings(text).check_logs(&own, here, 5).map_err(|error| error.to_string())
        };
        assert_eq!(check("wal_dir=\n", &[]), Ok(()));
        assert_eq!(check(&format!("  wal_dir={}\n", own.display()), &[]), Ok(()));
        let named = format!("  wal_dir={}\n", other.display());
        assert_eq!(check(&named, &log), Ok(()), "moved with its logs");
        let refused = Err(format!(
            "OPTIONS-000007: a database whose logs are in another directory (`wal_dir={}`) is not supported",
            other.display()
        ));
        assert_eq!(check(&named, &[]), refused);
        let old = vec![(4, own.join("000004.log"))];
        assert_eq!(check(&named, &old), refused, "a log that does not count any more");
    }
}
