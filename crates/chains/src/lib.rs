//! The key spaces of five real systems.

pub mod cosmwasm;
