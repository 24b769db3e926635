//! What goes wrong around a migration: a full disk, files that cannot be written, a plan that changed, two at once.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use keyplan_store::engine::{Batch, Durability, Engine, Fjall, FjallSettings, Redb, RedbSettings};
use keyplan_store::migrate::{ASIDE_SPACE, Attached, Migration, Step, pending_plan};
use keyplan_store::{Access, Store};

use crate::command::{NEW, OLD, owners, said};
use crate::support::{Rows, fill, folder, path, plan, rows};

struct Home {
    plan: PathBuf,
    data: PathBuf,
    before: Rows,
}

fn home<E: Engine>(name: &str, open: &dyn Fn(&Path) -> E, count: u64) -> Home {
    let home = folder(name);
    std::fs::create_dir_all(&home).unwrap();
    let (plan_file, data) = (home.join("new.keyplan"), home.join("data"));
    std::fs::write(&plan_file, NEW).unwrap();
    let before = owners(count);
    fill(open(&data), &plan("old", OLD), &before);
    Home { plan: plan_file, data, before }
}

fn fjall(path: &Path) -> Fjall {
    Fjall::open(path, FjallSettings::default()).unwrap()
}

fn redb(path: &Path) -> Redb {
    Redb::open(path, RedbSettings::default()).unwrap()
}

/// Every file below a folder, with what is in it.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push((path.clone(), std::fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// A migration that may write files of up to `blocks` half kilobytes only, as on a disk that is full beyond.
fn cramped(home: &Home, blocks: u64) -> (bool, String) {
    let done = Command::new("sh")
        .arg("-c")
        .arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""))
        .args(["sh", env!("CARGO_BIN_EXE_keyplan"), "db", "migrate", path(&home.data), "--to"])
        .args([path(&home.plan), "--apply", "--batch=50"])
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let home = home("full", &redb, 2_000);
    let size =
        std::fs::read_dir(&home.data).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).max();
    // No file may grow beyond what it has now.
    let (done, said_of_it) = cramped(&home, size.unwrap() / 512);
    assert!(!done && said_of_it.starts_with("error: "), "{said_of_it}");
    // With room again it goes on, or begins: every row is there once.
    let (code, text) = said(&["db", "migrate", path(&home.data), "--to", path(&home.plan), "--apply"]);
    assert_eq!(code, Some(0), "{text}");
    let found = rows(&redb(&home.data));
    assert_eq!(found.len(), home.before.len());
    assert!(found.keys().all(|(_, key)| key[0] != 0x02));
}

#[test]
fn files_that_cannot_be_written_are_left_as_they_are() {
    let home = home("read-only", &redb, 50);
    // Another process may write: this one asks only to read, and so must not change a byte.
    let before = files(&home.data);
    let (code, text) = said(&["db", "migrate", path(&home.data), "--to", path(&home.plan)]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(files(&home.data), before);
    // A user who owns nothing of it, where there is one: root may write everything.
    let nobody = Command::new("sh").args(["-c", "id -u nobody && command -v setpriv"]).output().unwrap();
    if !nobody.status.success() || String::from_utf8_lossy(&nobody.stdout).trim().is_empty() {
        return;
    }
    let done = Command::new("setpriv")
        .args(["--reuid=nobody", "--clear-groups", env!("CARGO_BIN_EXE_keyplan")])
        .args(["db", "migrate", path(&home.data), "--to", path(&home.plan), "--apply"])
        .output()
        .unwrap();
    assert!(!done.status.success());
    assert_eq!(files(&home.data), before);
}

/// Takes a few steps, as one that was killed would have.
fn interrupt<E: Engine>(engine: E, steps: usize) {
    let (old, new) = (plan("old", OLD), plan("new", NEW));
    let options = keyplan_prover::Options::default();
    let proof =
        keyplan_prover::prove_migration(old.plan.as_ref().unwrap(), new.plan.as_ref().unwrap(), &options);
    let migration = Migration::between(&old, &new, proof.mapping).unwrap();
    let Attached::Ready(mut running) = migration.attach(engine).unwrap() else { panic!("it is done") };
    if running.mark().is_none() {
        let survey = running.survey(|_| ()).unwrap();
        running.begin(&survey, false).unwrap();
    }
    for _ in 0..steps {
        assert_ne!(running.step(7).unwrap(), Step::Finished);
    }
}

#[test]
fn a_plan_that_changed_on_the_way_is_refused_and_the_one_in_the_database_goes_on() {
    let home = home("changed", &fjall, 100);
    interrupt(fjall(&home.data), 3);
    std::fs::write(&home.plan, NEW.replace("0x12", "0x13")).unwrap();
    let (code, text) = said(&["db", "migrate", path(&home.data), "--to", path(&home.plan), "--apply"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("in the middle of another migration"), "{text}");
    // Whoever opens it is told.
    let refused = Store::open_recorded(fjall(&home.data), Access::ReadWrite).unwrap_err();
    assert!(refused.to_string().contains("in the middle of a migration"), "{refused}");
    let (code, text) = said(&["db", "audit", path(&home.data)]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("in the middle of a migration") && text.contains("`--plan PLAN`"), "{text}");
    let (code, text) = said(&["db", "migrate", path(&home.data)]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.ends_with(", moving rows: --apply continues it, --undo takes it back\n"), "{text}");
    let (code, text) = said(&["db", "migrate", path(&home.data), "--undo"]);
    assert_eq!((code, text.as_str()), (Some(0), "the database is as it was before the migration\n"));
    assert!(rows(&fjall(&home.data)) == home.before);
    interrupt(fjall(&home.data), 5);
    let (code, text) = said(&["db", "migrate", path(&home.data), "--apply"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(rows(&fjall(&home.data)).keys().all(|(_, key)| key[0] != 0x02));
}

#[test]
fn two_migrations_at_once_are_one_and_a_clear_error() {
    for (name, on_fjall) in [("two-fjall", true), ("two-redb", false)] {
        let (held_fjall, held_redb);
        let home = if on_fjall {
            let home = home(name, &fjall, 20);
            held_fjall = Some(fjall(&home.data));
            held_redb = None;
            home
        } else {
            let home = home(name, &redb, 20);
            held_fjall = None;
            held_redb = Some(redb(&home.data));
            home
        };
        let (code, text) = said(&["db", "migrate", path(&home.data), "--to", path(&home.plan), "--apply"]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.starts_with("error: cannot open `"), "{text}");
        drop((held_fjall, held_redb));
        let (code, text) = said(&["db", "migrate", path(&home.data), "--to", path(&home.plan), "--apply"]);
        assert_eq!(code, Some(0), "{text}");
    }
}

#[test]
fn a_database_that_has_the_plan_is_left_as_it_is() {
    let home = folder("again");
    std::fs::create_dir_all(&home).unwrap();
    let (file, data) = (home.join("new.keyplan"), home.join("data"));
    std::fs::write(&file, NEW).unwrap();
    fill(fjall(&data), &plan("old", OLD), &owners(30));
    let (data, file) = (path(&data), path(&file));
    let (code, text) = said(&["db", "migrate", data, "--undo"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("there is nothing to undo"), "{text}");
    let (code, text) = said(&["db", "migrate", data, "--to", file, "--undo"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("there is nothing to undo"), "{text}");
    assert_eq!(said(&["db", "migrate", data, "--to", file, "--apply"]).0, Some(0));
    let (code, text) = said(&["db", "migrate", data, "--to", file, "--apply"]);
    assert_eq!((code, text.as_str()), (Some(0), "the database has this plan already\n"));
    let (code, text) = said(&["db", "migrate", data, "--to", file, "--undo"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the way back is a migration to the old one"), "{text}");
    // The same layout under another text takes its place.
    std::fs::write(file, NEW.replace("bech32 is easier on the eye", "as people know them")).unwrap();
    let (code, text) = said(&["db", "migrate", data, "--to", file, "--apply"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("and the database has the new plan"), "{text}");
    assert!(said(&["db", "plan", data]).1.contains("as people know them"));
}

#[test]
fn rows_of_dropped_families_go_also_if_it_was_killed_before_they_did() {
    let home = folder("purge");
    std::fs::create_dir_all(&home).unwrap();
    let (file, data) = (home.join("new.keyplan"), home.join("data"));
    let new = "plan positions;\n\nspace cl {\n    retired 0x02 \"owners in hex\";\n    drop cl.owner \"nobody reads it\";\n\n    key position = 0x08 id: u64.dec;\n}\n";
    std::fs::write(&file, new).unwrap();
    fill(fjall(&data), &plan("old", OLD), &owners(30));
    let (old, next) = (plan("old", OLD), plan("new", new));
    let options = keyplan_prover::Options::default();
    let proof =
        keyplan_prover::prove_migration(old.plan.as_ref().unwrap(), next.plan.as_ref().unwrap(), &options);
    let migration = Migration::between(&old, &next, proof.mapping).unwrap();
    let Attached::Ready(mut running) = migration.attach(fjall(&data)).unwrap() else { panic!("it is done") };
    let survey = running.survey(|_| ()).unwrap();
    running.begin(&survey, false).unwrap();
    // Everything up to the last batch, and not what follows it.
    while running.step(7).unwrap() != Step::Finished {}
    drop(running);
    let aside = |engine: &Fjall| rows(engine).keys().filter(|(space, _)| space == ASIDE_SPACE).count();
    assert_eq!(aside(&fjall(&data)), 30);
    let (code, text) = said(&["db", "migrate", path(&data), "--to", path(&file), "--apply"]);
    assert_eq!(code, Some(0), "{text}");
    let engine = fjall(&data);
    assert_eq!((aside(&engine), rows(&engine).len()), (0, 30));
}

#[test]
fn a_copy_that_was_interrupted_is_made_again_and_nothing_else_is_overwritten() {
    let home = home("copy-again", &fjall, 40);
    let copy = home.data.with_file_name("copy");
    std::fs::create_dir_all(&copy).unwrap();
    std::fs::write(copy.join("mine"), "precious").unwrap();
    let args = ["db", "migrate", path(&home.data), "--to", path(&home.plan), "--into", path(&copy)];
    let (code, text) = said(&args);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("is not empty: a copy is made in a directory of its own"), "{text}");
    assert_eq!(std::fs::read(copy.join("mine")).unwrap(), b"precious");
    std::fs::remove_dir_all(&copy).unwrap();
    // An engine would take what is made among its files for its own, and no longer open.
    let inside = home.data.join("keyspaces/9");
    let link = home.data.with_file_name("link");
    std::os::unix::fs::symlink(&home.data, &link).unwrap();
    for inside in [&inside, &link.join("keyspaces/8/7")] {
        let copies: [&[&str]; 3] = [
            &["db", "migrate", path(&home.data), "--to", path(&home.plan), "--into", path(inside)],
            &["db", "copy", path(&home.data), path(inside)],
            &["db", "create", path(inside), path(&home.plan)],
        ];
        for copy in copies {
            let (code, text) = said(copy);
            assert_eq!(code, Some(2), "{text}");
            assert!(text.contains("is inside the database in `"), "{text}");
        }
    }
    assert!(rows(&fjall(&home.data)) == home.before);
    // One that ended before its first row.
    let (old, new) = (plan("old", OLD), plan("new", NEW));
    let options = keyplan_prover::Options::default();
    let proof =
        keyplan_prover::prove_migration(old.plan.as_ref().unwrap(), new.plan.as_ref().unwrap(), &options);
    // The plan's file has another name here, and the same layouts: it is the same migration.
    let migration = Migration::between(&old, &new, proof.mapping).unwrap();
    let begun = migration.create_copy(fjall(&copy)).unwrap();
    let mut batch = Batch::<Fjall>::new();
    batch.put(begun.space("cl").unwrap(), b"half".to_vec(), vec![]);
    begun.engine().commit(batch, Durability::SyncAll).unwrap();
    drop(begun);
    let (code, text) = said(&["db", "scan", path(&copy), "position"]);
    assert_eq!(code, Some(2), "{text}");
    let (code, text) = said(&args);
    assert_eq!(code, Some(0), "{text}");
    let found = rows(&fjall(&copy));
    assert_eq!(found.len(), home.before.len());
    assert!(pending_plan(&fjall(&copy)).unwrap().is_empty());
    // A finished one is not made again.
    let (code, text) = said(&args);
    assert_eq!(code, Some(2), "{text}");
}
