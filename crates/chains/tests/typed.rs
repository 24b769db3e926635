//! The types of every plan against the dynamic path.

#[cfg(test)]
#[path = "../../keyplan/tests/agree/mod.rs"]
mod agree;

use agree::{compare, plan};
use keyplan_chains::upstream;

const ROUNDS: usize = 40;

macro_rules! agrees {
    ($($test:ident: $file:literal, $module:path { $($space:ident)* })*) => {$(
        #[test]
        fn $test() {
            compare(&plan("../../plans", $file), &readers!($module { $($space)* }), ROUNDS);
        }
    )*};
}

agrees! {
    osmosis_cl: "osmosis_cl.keyplan", keyplan_chains::osmosis_cl { cl }
    cardano: "cardano.keyplan", keyplan_chains::cardano { cursor utxos entities }
    cardano_redb: "cardano_redb.keyplan", keyplan_chains::cardano_redb {
        cursor utxos accounts pools pool_delegators epochs dreps proposals assets datums eras rewards stakes
        pending_rewards
    }
    cosmwasm: "cosmwasm.keyplan", keyplan_chains::cosmwasm { contract bare one two three }
    paw: "paw.keyplan", keyplan_chains::paw { state }
    paw_v2: "paw_v2.keyplan", keyplan_chains::paw_v2 { state }
    onesat: "onesat.keyplan", keyplan_chains::onesat::document { store events }
    onesat_v2: "onesat_v2.keyplan", keyplan_chains::onesat_v2 { store events }
    osmosis_cl_upstream: "upstream/osmosis_cl.keyplan", upstream::osmosis_cl_upstream { cl }
    dolos: "upstream/dolos.keyplan", upstream::dolos {
        cursor utxos entities datums state_tags archive_tags exact index_cursor wal
    }
    paw_upstream: "upstream/paw.keyplan", upstream::paw_upstream { compute dex oracle declared }
    onesat_upstream: "upstream/onesat.keyplan", upstream::onesat_upstream { store store_v0 badger badger_v0 }
    cosmwasm_upstream: "upstream/cosmwasm.keyplan", upstream::cosmwasm_upstream {
        elements item map1 map2 map3 multi_index1 multi_index2 checkpoints changelog0 changelog1 changelog2 deque
        singleton bucket multilevel shared contract storey
    }
}
