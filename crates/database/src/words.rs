//! `--engine ENGINE --url URL` for every subcommand that takes a database: the URL in place of DIR, and messages that repeat
//! what was typed without the credentials of its URLs.

use std::ffi::OsString;
use std::path::Path;

use crate::remote::{is_server, is_url, shown};

/// The subcommands that read a server.
const READ_SERVERS: [&str; 5] = ["get", "scan", "dump", "stats", "verify"];

/// What was typed, with the URL of a database where the directory of one is.
///
/// `keyplan db get --engine slate --url s3://bucket/chain tick pool=7` is `keyplan db get s3://bucket/chain tick pool=7`. The
/// URLs of servers that have no database of ours are left to the subcommands that read them.
pub fn placed(words: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = place(&words) else { return words };
    let words = served(words, at);
    let mut found = Typed::default();
    let mut rest = Vec::with_capacity(words.len());
    let mut coming = words.get(at..).unwrap_or_default().iter().cloned();
    while let Some(word) = coming.next() {
        if word == "--" {
            rest.push(word);
            rest.extend(coming);
            break;
        }
        let text = word.to_string_lossy();
        if let Some(value) = text.strip_prefix("--url=") {
            found.url = Some(value.into());
        } else if let Some(value) = text.strip_prefix("--engine=") {
            found.engine = Some(value.into());
        } else if text == "--url" {
            found.url = coming.next();
        } else if text == "--engine" {
            found.engine = coming.next();
        } else {
            rest.push(word.clone());
        }
    }
    let remote = |engine: &OsString| engine == "postgres" || engine == "slate";
    let url = match (found.url, &found.engine) {
        (Some(url), _) if is_url(Path::new(&url)) => url,
        // Without one, the variable of the environment has it, unless a URL was typed as DIR.
        (None, Some(engine))
            if remote(engine)
                && words.get(at.saturating_sub(1)).is_none_or(|word| word != "migrate")
                && std::env::var_os("KEYPLAN_URL").is_some()
                && !rest.iter().any(|word| is_url(Path::new(word))) =>
        {
            let mut url = engine.clone();
            url.push(":");
            url
        }
        (None, Some(engine)) if rest.iter().any(|word| is_url(Path::new(word)) && fits(engine, word)) => {
            let front = words.get(..at).unwrap_or_default();
            return front.iter().cloned().chain(rest).collect();
        }
        _ => return words,
    };
    // An engine that is not the URL's is for the subcommand to refuse.
    let kept = found.engine.filter(|engine| !fits(engine, &url));
    let mut all: Vec<OsString> = words.get(..at).unwrap_or_default().to_vec();
    // The place that a copy goes to is the second one.
    if words.get(at.saturating_sub(1)).is_some_and(|word| word == "copy") {
        all.extend(rest);
        all.push(url);
    } else {
        all.push(url);
        all.extend(rest);
    }
    if let Some(engine) = kept {
        all.extend(["--engine".into(), engine]);
    }
    all
}

/// The URL of a server in place of DIR becomes the option that names one.
fn served(mut words: Vec<OsString>, at: usize) -> Vec<OsString> {
    let subcommand = words.get(at.saturating_sub(1)).map(|word| word.to_string_lossy().into_owned());
    let reads = subcommand.is_some_and(|word| READ_SERVERS.contains(&word.as_str()));
    if reads && words.get(at).is_some_and(|word| is_server(Path::new(word))) {
        words.insert(at, "--url".into());
    }
    words
}

#[derive(Default)]
struct Typed {
    url: Option<OsString>,
    engine: Option<OsString>,
}

/// Whether a URL is of an engine.
fn fits(engine: &OsString, url: &OsString) -> bool {
    let of_postgres = url.to_string_lossy().starts_with("postgres");
    engine == if of_postgres { "postgres" } else { "slate" }
}

/// Where the words of the subcommand begin: after `db SUBCOMMAND` or `demo`.
fn place(words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    loop {
        let word = words.get(at)?.to_string_lossy();
        match &*word {
            "db" => return words.get(at + 1).filter(|word| !is_option(word)).map(|_| at + 2),
            "demo" => return Some(at + 1),
            // Options of the command itself, and their values.
            word if word.starts_with("--") && !word.contains('=') => at += 2,
            word if word.starts_with('-') => at += 1,
            _ => return None,
        }
    }
}

fn is_option(word: &OsString) -> bool {
    word.to_string_lossy().starts_with('-')
}

/// A message in which what was typed is repeated, without the credentials of its URLs.
pub fn without_credentials(message: &str, words: &[OsString]) -> String {
    let mut message = message.to_owned();
    for word in words {
        let word = word.to_string_lossy();
        let url = word.strip_prefix("--url=").or_else(|| word.strip_prefix("--into=")).unwrap_or(&word);
        if is_url(Path::new(url)) || is_server(Path::new(url)) {
            message = message.replace(url, &shown(Path::new(url)));
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expected: &str) {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(placed(words(typed)), words(expected), "{typed}");
    }

    #[test]
    fn a_url_is_where_the_directory_is() {
        check("keyplan db scan redis://h event --plan p", "keyplan db scan --url redis://h event --plan p");
        check("keyplan db migrate redis://h --to p", "keyplan db migrate redis://h --to p");
        check("keyplan db get --url s3://b/p tick pool=7", "keyplan db get s3://b/p tick pool=7");
        check("keyplan db put tick a=1 --engine slate --url=s3://b/p", "keyplan db put s3://b/p tick a=1");
        check(
            "keyplan --color never db stats --engine=postgres --url postgres://h/d --detail",
            "keyplan --color never db stats postgres://h/d --detail",
        );
        check("keyplan demo --rows 9 --url file:///x", "keyplan demo file:///x --rows 9");
        check("keyplan db verify s3://b/p --engine slate", "keyplan db verify s3://b/p");
        check("keyplan db copy data --engine slate --url file:///x", "keyplan db copy data file:///x");
    }

    #[test]
    fn what_is_no_database_of_ours_stays_as_it_was_typed() {
        for typed in [
            "keyplan db scan --url redis://h --plan p event",
            "keyplan db create data plan --engine redb",
            "keyplan db create data plan -- --url s3://b/p",
            "keyplan db",
            "keyplan db --help",
            "keyplan check plan --engine postgres",
            "keyplan",
        ] {
            check(typed, typed);
        }
    }

    #[test]
    fn an_engine_that_is_not_the_url_s_is_left_to_be_refused() {
        check(
            "keyplan db stats --engine postgres --url s3://b/p",
            "keyplan db stats s3://b/p --engine postgres",
        );
    }

    #[test]
    fn a_message_repeats_no_credentials() {
        let words =
            ["keyplan".into(), "postgres://u:secret@h/d".into(), "--url=postgres://u:secret@h/d".into()];
        let said = without_credentials("unexpected 'postgres://u:secret@h/d'", &words);
        assert!(!said.contains("secret") && said.contains("postgres://h/d"), "{said}");
    }
}
