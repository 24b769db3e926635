//! Databases that a URL names in place of a directory.

use std::path::Path;

use anyhow::{Result, anyhow};
use keyplan_postgres::PostgresSettings;

/// The variable of the environment that holds a URL: a password in an argument is seen by everybody who lists processes.
const VARIABLE: &str = "KEYPLAN_URL";

/// Whether what was typed in place of a directory is the URL of a server.
pub(crate) fn is_url(typed: &Path) -> bool {
    text(typed).is_some()
}

/// The settings for the server that a URL names; `None` if it is the path of a directory. `postgres:` alone is the server
/// that the variable `KEYPLAN_URL` names.
pub(super) fn settings(typed: &Path) -> Result<Option<PostgresSettings>> {
    let Some(url) = text(typed) else { return Ok(None) };
    if url.trim_end_matches('/') == "postgres:" {
        let url = std::env::var(VARIABLE).map_err(|_| anyhow!("the variable `{VARIABLE}` is not set"))?;
        return Ok(Some(PostgresSettings::new(&url)?));
    }
    Ok(Some(PostgresSettings::new(url)?))
}

/// What was typed, for people: a URL without its credentials.
pub(crate) fn shown(typed: &Path) -> String {
    match settings(typed) {
        Ok(Some(settings)) => settings.shown(),
        Ok(None) => typed.display().to_string(),
        Err(_) => "postgres://…".to_owned(),
    }
}

fn text(typed: &Path) -> Option<&str> {
    let text = typed.to_str()?;
    let scheme = text.split_once(':')?.0;
    matches!(scheme, "postgres" | "postgresql").then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_credentials() {
        let shown = |typed: &str| super::shown(Path::new(typed));
        assert_eq!(shown("postgres://u:secret@h/d?schema=s"), "postgres://h/d?schema=s");
        assert_eq!(shown("postgres://u:secret@h:x/d"), "postgres://…");
        assert_eq!(shown("some/directory"), "some/directory");
        assert!(is_url(Path::new("postgresql://h")) && !is_url(Path::new("data")));
    }
}
