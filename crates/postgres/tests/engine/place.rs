//! The engine at a path, as the suites want it: a schema for each directory.

use std::path::Path;
use std::time::Duration;

use keyplan_postgres::{Postgres, PostgresSettings};

use crate::kills::Shared;
use crate::server;
use crate::support::Opened;

/// The settings for a directory. A process that another started is told there which server it is on.
pub(crate) fn settings(path: &Path) -> PostgresSettings {
    std::fs::create_dir_all(path).unwrap();
    let told = path.join("server");
    let url = std::fs::read_to_string(&told).unwrap_or_else(|_| {
        let url = server::shared().url();
        std::fs::write(&told, &url).unwrap();
        url
    });
    let settings = PostgresSettings::new(&url).unwrap();
    let name: String = path.display().to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = &name[name.len().saturating_sub(50)..];
    let settings = settings.schema(&format!("test {name}")).snapshots(60).patience(Duration::from_mins(1));
    // Thousands of commits beside a snapshot take as long as the machine is busy.
    settings.snapshot_age(Duration::from_hours(1))
}

impl Opened for Postgres {
    fn open_at(path: &Path) -> Self {
        Self::open(settings(path)).expect("opens")
    }
}

impl Shared for Postgres {
    fn prepare(path: &Path) {
        settings(path);
    }
}
