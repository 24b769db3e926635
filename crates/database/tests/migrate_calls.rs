//! A database under the next plan, without the command.

#![cfg(test)]

use std::path::Path;

use keyplan_database::migrate::{Course, Done, MigrateQuery, Migrated, Watcher, migrate};
use keyplan_database::{AnyStore, EngineName, Error, on_engine};
use keyplan_plan::Compiled;
use keyplan_store::engine::{Batch, Durability};
use keyplan_store::{Access, Schema};

/// Notes what it is told.
#[derive(Default)]
struct Told(Vec<String>);

impl Watcher for Told {
    fn unread(&mut self, space: &str) {
        self.0.push(format!("{space} is not read"));
    }

    fn begins(&mut self, doing: &str, _total: Option<u64>) {
        self.0.push(doing.to_owned());
    }

    fn done(&mut self, _rows: u64) {}

    fn ends(&mut self) {
        self.0.push("over".to_owned());
    }
}

fn plan(text: &str) -> Compiled {
    keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()))
}

/// A database with three rows, one of them of no family, and the plans before and after.
fn filled(place: &Path) -> (Compiled, Compiled) {
    let old = plan("plan demo; space s { key k = 0x01 id: u8 -> n: u8; }");
    let new = plan("plan demo; space s { key k = 0x02 id: u8 -> n: u8 allow break \"moved\"; }");
    let database = AnyStore::create(place, EngineName::Redb, &Schema::of(&old).unwrap()).unwrap();
    on_engine!(&database, store => {
        let mut batch = Batch::new();
        for key in [[1, 1], [1, 2], [9, 200]] {
            batch.put(store.space("s").unwrap(), key.as_slice(), [key[1]].as_slice());
        }
        store.commit(batch, Durability::SyncAll).unwrap();
    });
    (old, new)
}

#[test]
fn a_database_is_looked_at_and_carried_on() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("data");
    let (_, new) = filled(&place);
    let query = MigrateQuery { to: Some(&new), ..MigrateQuery::of(&place) };
    let mut told = Told::default();
    for (course, park, expected) in [
        (Course::Look, false, Done::Look),
        (Course::Apply, false, Done::Refused),
        (Course::Apply, true, Done::Carried),
    ] {
        let query = MigrateQuery { course, park, ..query };
        let Migrated::Surveyed { done, survey, .. } = migrate(&query, &mut told).unwrap() else {
            panic!("{course:?}")
        };
        assert_eq!((done, survey.rows, survey.open_rows()), (expected, 3, 1));
    }
    assert_eq!(told.0[..2], ["reading every row", "over"]);
    let query = MigrateQuery { course: Course::Apply, ..query };
    assert!(matches!(migrate(&query, &mut told).unwrap(), Migrated::There));
    let (database, _) = AnyStore::open(&place, Access::ReadOnly).unwrap();
    assert_eq!(database.get("s", &[2, 1]).unwrap(), Some(vec![1]));
}

#[test]
fn a_copy_leaves_the_database_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (place, into) = (folder.path().join("data"), folder.path().join("copy"));
    let (_, new) = filled(&place);
    let copy = Course::Copy { into: &into, engine: EngineName::Redb };
    let query = MigrateQuery { to: Some(&new), course: copy, ..MigrateQuery::of(&place) };
    let made = |query: &MigrateQuery<'_>| match migrate(query, &mut Told::default()).unwrap() {
        Migrated::Surveyed { done, .. } => done,
        other => panic!("{other:?}"),
    };
    assert_eq!(made(&query), Done::CopyRefused);
    assert!(!into.exists());
    let name = into.display().to_string();
    assert_eq!(made(&MigrateQuery { park: true, ..query }), Done::Copied { place: Some(name) });
    let (copied, _) = AnyStore::open(&into, Access::ReadOnly).unwrap();
    assert_eq!(copied.get("s", &[2, 2]).unwrap(), Some(vec![2]));
    let (kept, _) = AnyStore::open(&place, Access::ReadOnly).unwrap();
    assert_eq!(kept.get("s", &[9, 200]).unwrap(), Some(vec![200]));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("data");
    let (old, new) = filled(&place);
    let said = |query: &MigrateQuery<'_>| migrate(query, &mut Told::default()).unwrap_err().to_string();
    let look = MigrateQuery::of(&place);
    let unnamed = "the database is not in the middle of a migration; name a plan: `--to PLAN`";
    assert_eq!(said(&look), unnamed);
    let undo = MigrateQuery { course: Course::Undo, ..look };
    let nothing = "the database is not in the middle of a migration: there is nothing to undo";
    assert_eq!(said(&undo), nothing);
    assert_eq!(said(&MigrateQuery { to: Some(&new), ..undo }), nothing);
    let named = said(&MigrateQuery { plan: Some(&old), to: Some(&new), ..look });
    assert!(named.ends_with("has its plan in it: --plan is for one that has not"), "{named}");
    let broken = plan("plan demo; space s { key k = 0x02 id: u9; }");
    let error = migrate(&MigrateQuery { to: Some(&broken), ..look }, &mut Told::default()).unwrap_err();
    let Error::Mistaken(found) = error else { panic!("{error}") };
    assert!(found.errors().next().is_some());
    let gone = plan("plan demo; space s { key other = 0x02 id: text; }");
    let ended = migrate(&MigrateQuery { to: Some(&gone), ..look }, &mut Told::default()).unwrap();
    let Migrated::Unproved { findings, .. } = ended else { panic!("{ended:?}") };
    assert!(!findings.is_empty());
}
