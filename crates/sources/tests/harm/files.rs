//! What is not a file in the place of one, and logs that are not where they are looked for.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::whole::{blamed, copy, databases, names, rows};

/// Files that hold nothing which a reader needs.
fn is_needless(database: &str, name: &str) -> bool {
    matches!(name, "LOG" | "LOCK" | "IDENTITY" | "CURRENT.bak" | "lock.mdb" | "KEYREGISTRY")
        || name.starts_with("marker.format-version")
        // The marker says which manifest counts.
        || (name == "CURRENT" && database == "pebble-13")
}

/// In the place of each file of each database: a link to what it was, and a pipe that nobody writes to.
#[test]
fn links_and_pipes_are_refused_by_name_in_the_place_of_every_file() {
    let mut refused = 0;
    for (database, original) in databases() {
        let expected = rows(&original).expect("reads");
        let directory = copy(&original);
        for name in names(&original) {
            let path = directory.path().join(&name);
            for pipe in [false, true] {
                fs::remove_file(&path).expect("removed");
                if pipe {
                    assert!(Command::new("mkfifo").arg(&path).status().expect("run").success());
                } else {
                    std::os::unix::fs::symlink(original.join(&name), &path).expect("linked");
                }
                match rows(directory.path()) {
                    Ok(found) => assert!(found == expected, "{database}: {name}: other rows"),
                    // What a directory is known by, is not known by a pipe.
                    Err(error) if blamed(&error) == Some(directory.path()) => {
                        let text = error.to_string();
                        assert!(text.ends_with("a database of an unknown kind is not supported"), "{text}");
                        refused += 1;
                    }
                    Err(error) => {
                        assert_eq!(blamed(&error), Some(path.as_path()), "{database}: {name}: {error}");
                        refused += 1;
                    }
                }
            }
            fs::remove_file(&path).expect("removed");
            fs::copy(original.join(&name), &path).expect("copied");
        }
        assert_eq!(rows(directory.path()).expect("reads again"), expected);
    }
    assert!(refused > 100, "{refused} were refused");
}

/// Without one of its files, a database that needs it is refused, or is as it was; a log may be left behind by a copy.
#[test]
fn a_missing_file_is_named() {
    for (database, original) in databases() {
        let expected = rows(&original).expect("reads");
        let directory = copy(&original);
        for name in names(&original) {
            let path = directory.path().join(&name);
            fs::remove_file(&path).expect("removed");
            match rows(directory.path()) {
                Ok(found) if found == expected => {}
                Ok(_) => {
                    let is_log = Path::new(&name).extension().is_some_and(|ending| ending == "log");
                    assert!(is_log || name.ends_with("-wal"), "{database}: other rows without {name}");
                }
                Err(error) => {
                    let missing = is_needless(&database, &name);
                    assert!(!missing, "{database}: {name} is needed: {error}");
                }
            }
            fs::copy(original.join(&name), &path).expect("copied");
        }
    }
}

/// A link that a user names is followed, and what belongs to the file is looked for beside it.
#[test]
fn a_named_link_leads_to_the_file_and_its_log() {
    let folder = databases().into_iter().find(|(name, _)| name == "sqlite").expect("there").1;
    let links = tempfile::tempdir().expect("made");
    let link = links.path().join("elsewhere.db");
    std::os::unix::fs::symlink(folder.join("state.sqlite"), &link).expect("linked");
    assert_eq!(rows(&link).expect("reads"), rows(&folder).expect("reads"));
}

/// Pebble may go on with a log in other files: rows would be missing.
#[test]
fn logs_in_segments_are_refused() {
    let original = databases().into_iter().find(|(name, _)| name == "pebble-1").expect("there").1;
    let directory = copy(&original);
    let segment = directory.path().join("000013-001.log");
    fs::write(&segment, []).expect("written");
    let error = rows(directory.path()).expect_err("refused").to_string();
    let what = "a log in segments, as Pebble writes it when it changes directories, is not supported";
    assert_eq!(error, format!("{}: {what}", segment.display()));
    // One that is older than what counts is left over.
    fs::rename(&segment, directory.path().join("000002-001.log")).expect("renamed");
    assert_eq!(rows(directory.path()).expect("reads"), rows(&original).expect("reads"));
}
