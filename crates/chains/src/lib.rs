//! The key spaces of five real systems.
//!
//! Each module is made from its plan in `plans/`, and nothing in it is written by hand: the types, their bytes and
//! their scans are what the plan says. Where a document and the code behind it differ, both are here: the code's under
//! `upstream`.

keyplan::plan!("../../plans/osmosis_cl.keyplan");
keyplan::plan!("../../plans/cardano_redb.keyplan");
keyplan::plan!("../../plans/paw.keyplan");
keyplan::plan!("../../plans/paw_v2.keyplan");
keyplan::plan!("../../plans/onesat_v2.keyplan");

pub mod cardano;
pub mod cosmwasm;
pub mod onesat;

mod keys {
    keyplan::plan!("../../plans/cosmwasm.keyplan");
}

/// The layouts that the systems' own code writes, where it has moved on from its document.
pub mod upstream {
    keyplan::plan!("../../plans/upstream/osmosis_cl.keyplan");
    keyplan::plan!("../../plans/upstream/dolos.keyplan");
    keyplan::plan!("../../plans/upstream/paw.keyplan");
    keyplan::plan!("../../plans/upstream/onesat.keyplan");
    keyplan::plan!("../../plans/upstream/cosmwasm.keyplan");
}
