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
    /// Reads the newest of the files with these names; `None` if there is none, or none any more.
    pub(crate) fn read(directory: &Path, names: &[String]) -> Result<Option<Self>, SourceError> {
        let numbered = |name: &&String| name.strip_prefix("OPTIONS-")?.parse::<u64>().ok();
        let newest = names.iter().filter(|name| numbered(name).is_some()).max_by_key(numbered);
        let Some(path) = newest.map(|name| directory.join(name)) else { return Ok(None) };
        match files::read(&path) {
            Ok(bytes) => Ok(Some(Self { path, text: String::from_utf8_lossy(&bytes).into_owned() })),
            Err(error) if files::is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether Pebble wrote it. It names itself in several places, so that one changed byte does not hide it.
    pub(crate) fn is_pebble(&self) -> bool {
        self.text.contains("pebble_version")
            || (self.text.contains("pebble") && !self.text.contains("rocksdb_version"))
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
        self.check_second_logs(least)?;
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

impl Settings {
    /// Refuses a database of Pebble that may have logs from `least` on in a second directory, which it turns to when its own
    /// becomes slow.
    fn check_second_logs(&self, least: u64) -> Result<(), SourceError> {
        let Some(second) = self.values("secondary_dir").find(|value| !value.is_empty()) else {
            return Ok(());
        };
        let refused = |how: &str| {
            let what = format!("a database whose logs {how} (`secondary_dir={second}`)");
            Err(SourceError::unsupported(&self.path, what))
        };
        let Ok(names) = files::names(Path::new(second)) else {
            return refused("may be in a second directory, which cannot be looked at");
        };
        let number = |name: &String| {
            let number = name.strip_suffix(".log")?;
            number.split_once('-').map_or(number, |(number, _)| number).parse::<u64>().ok()
        };
        if names.iter().filter_map(number).any(|number| number >= least) {
            return refused("are in part in a second directory");
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
    fn logs_in_a_second_directory_are_not_passed_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("second");
        let text = format!("[WAL Failover]\n  secondary_dir={}\n", path.display());
        let check = || settings(&text).check_logs(directory.path(), &[], 5).map_err(|e| e.to_string());
        let refused = |how: &str| {
            let second = path.display();
            Err(format!(
                "OPTIONS-000007: a database whose logs {how} (`secondary_dir={second}`) is not supported"
            ))
        };
        assert_eq!(check(), refused("may be in a second directory, which cannot be looked at"));
        std::fs::create_dir(&path).expect("made");
        std::fs::write(path.join("000004-001.log"), []).expect("written");
        assert_eq!(check(), Ok(()), "a log that does not count any more");
        std::fs::write(path.join("000005-001.log"), []).expect("written");
        assert_eq!(check(), refused("are in part in a second directory"));
    }

    #[test]
    fn one_changed_byte_does_not_hide_whose_a_database_is() {
        let text = "[Version]\n  pebble_version=0.1\n[Options]\n  merger=pebble.concatenate\n";
        for at in 0..text.len() {
            let mut changed = text.as_bytes().to_vec();
            changed[at] ^= 1;
            let changed = String::from_utf8_lossy(&changed);
            assert!(settings(&changed).is_pebble(), "{changed}");
        }
        assert!(!settings("[Version]\n  rocksdb_version=9.8.4\n").is_pebble());
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
