//! The place of a store on PostgreSQL, for the suites of `keyplan-chains`.

#[expect(unused, reason = "the other engines are tried by their own crate")]
#[path = "../../../chains/tests/cardano/support.rs"]
mod theirs;

use std::time::Duration;

use keyplan_chains::cardano::{Config, StateStore};
use keyplan_postgres::{Postgres, PostgresSettings};

pub(crate) use theirs::{
    Kind, OnFjall, Place, Random, config, entities, key, output, rounds, slot, txo, utxos,
};

pub(crate) struct OnPostgres;

pub(crate) fn settings(path: &std::path::Path) -> PostgresSettings {
    let name: String = path.display().to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = &name[name.len().saturating_sub(50)..];
    let settings = PostgresSettings::new(&crate::server::shared().url()).unwrap().schema(name);
    // A suite takes as long as the machine is busy.
    settings.snapshot_age(Duration::from_hours(1)).patience(Duration::from_mins(1))
}

impl Kind for OnPostgres {
    type Engine = Postgres;
    const TABLES: bool = false;

    fn open(place: &Place, config: Config) -> StateStore<Postgres> {
        StateStore::with_engine(Postgres::open(settings(place.path())).unwrap(), config).unwrap()
    }
}

/// Runs a check on this engine.
macro_rules! on_every_engine {
    ($($check:ident)*) => {$(
        mod $check {
            #[test]
            fn on_postgres() {
                super::$check::<crate::support::OnPostgres>();
            }
        }
    )*};
}

pub(crate) use on_every_engine;
