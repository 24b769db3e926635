//! The place of a store on object storage, for the suites of `keyplan-chains`.

#[expect(unused, reason = "the other engines are tried by their own crate")]
#[path = "../../../chains/tests/cardano/support.rs"]
mod theirs;

use keyplan_chains::cardano::{Config, StateStore};
use keyplan_slate::{Slate, SlateSettings};

pub(crate) use theirs::{
    Kind, OnFjall, Place, Random, config, entities, key, output, rounds, slot, txo, utxos,
};

pub(crate) struct OnSlate;

pub(crate) fn settings(path: &std::path::Path) -> SlateSettings {
    let settings = SlateSettings::new(&format!("file://{}", path.display())).unwrap();
    settings.flush_interval(std::time::Duration::from_millis(5)).memory_cache(8 << 20)
}

impl Kind for OnSlate {
    type Engine = Slate;
    const TABLES: bool = false;

    fn open(place: &Place, config: Config) -> StateStore<Slate> {
        StateStore::with_engine(Slate::open(settings(place.path())).unwrap(), config).unwrap()
    }
}

/// Runs a check on this engine.
macro_rules! on_every_engine {
    ($($check:ident)*) => {$(
        mod $check {
            #[test]
            fn on_slate() {
                super::$check::<crate::support::OnSlate>();
            }
        }
    )*};
}

pub(crate) use on_every_engine;
