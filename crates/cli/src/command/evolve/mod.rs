//! `keyplan release` and `keyplan migrate`: a plan through time.

mod lock;
mod migrate;
mod release;

pub(crate) use lock::releases;
pub(crate) use migrate::run as migrate;
pub(crate) use release::run as release;
