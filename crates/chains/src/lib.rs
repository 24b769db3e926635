//! The key spaces of five real systems.
//!
//! The types of a system are made from its plan in `plans/`: their bytes and their scans are what the plan says. Where
//! a document and the system's code differ, both are here: the code's under `upstream`. What is written by hand is
//! on these types: composing and decomposing keys in [`cosmwasm`], and with the feature `store` the state store of a
//! Cardano node in [`cardano`], the store of the 1Sat indexer in [`onesat`], and the operations
//! of concentrated liquidity and of the PAW chain in [`osmosis_cl`] and [`paw`].
//!
//! # Features
//!
//! `osmosis_cl`, `cosmwasm`, `cardano`, `paw` and `onesat` are one system each, and each can be used by itself; `all`, the
//! default, is all of them. `cosmwasm` needs an allocator and no `std`, so that a contract can depend on it:
//!
//! ```toml
//! keyplan-chains = { version = "0.1", default-features = false, features = ["cosmwasm"] }
//! ```
//!
//! `store` adds the stores, on fjall and in memory; `redb`, `lmdb` and `redis` put them on these; `minicbor` reads entities.
//! `five` is the plan that holds all five in one database, and `demo` fills one.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(feature = "cardano")]
keyplan::plan!("plans/cardano_redb.keyplan");
#[cfg(feature = "paw")]
keyplan::plan!("plans/paw_v2.keyplan");
#[cfg(feature = "onesat")]
keyplan::plan!("plans/onesat_v2.keyplan");

#[cfg(feature = "five")]
keyplan::plan!("plans/five.keyplan");

#[cfg(feature = "cardano")]
pub mod cardano;
#[cfg(feature = "cosmwasm")]
pub mod cosmwasm;
#[cfg(feature = "demo")]
pub mod demo;
#[cfg(feature = "onesat")]
pub mod onesat;
#[cfg(feature = "osmosis_cl")]
pub mod osmosis_cl;
#[cfg(feature = "paw")]
pub mod paw;

#[cfg(any(feature = "cosmwasm", feature = "osmosis_cl", feature = "paw"))]
mod keys {
    #[cfg(feature = "cosmwasm")]
    keyplan::plan!("plans/cosmwasm.keyplan");
    #[cfg(feature = "osmosis_cl")]
    keyplan::plan!("plans/osmosis_cl.keyplan");
    #[cfg(feature = "paw")]
    keyplan::plan!("plans/paw.keyplan");
}

/// The layouts that the systems' own code writes, where it has moved on from its document.
pub mod upstream {
    #[cfg(feature = "cardano")]
    keyplan::plan!("plans/upstream/dolos.keyplan");
    #[cfg(feature = "osmosis_cl")]
    keyplan::plan!("plans/upstream/osmosis_cl.keyplan");
    #[cfg(feature = "paw")]
    keyplan::plan!("plans/upstream/paw.keyplan");
    #[cfg(feature = "onesat")]
    keyplan::plan!("plans/upstream/onesat.keyplan");
    #[cfg(feature = "cosmwasm")]
    keyplan::plan!("plans/upstream/cosmwasm.keyplan");
}
