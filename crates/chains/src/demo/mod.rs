//! State of five systems in one database, made up but of the right shapes and proportions: for demonstrations and trials.
//!
//! ```
//! use keyplan::store::Store;
//! use keyplan::store::engine::Memory;
//! use keyplan_chains::{demo, five};
//!
//! let store = Store::open_on(Memory::new(), &five::PLAN)?;
//! let rows = demo::fill(&store, 1_000, &mut |_| ())?;
//! assert!((900..=1_200).contains(&rows), "{rows}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cardano;
mod cosmwasm;
mod error;
mod fill;
mod message;
mod onesat;
mod osmosis;
mod paw;
mod plans;
mod random;

use alloc::string::String;
use core::fmt::Write as _;

use keyplan::store::Store;
use keyplan::store::engine::Engine;

pub use error::DemoError;
pub use plans::{PLANS, imported};

use self::fill::{Filled, Filler};

/// Writes about `rows` rows into a database of the plan [`five`](crate::five), the same on every machine, and says how many
/// there are. `told` hears how far it has come.
pub fn fill<E: Engine>(store: &Store<E>, rows: u64, told: &mut dyn FnMut(u64)) -> Result<u64, DemoError> {
    let mut target = Filled::new(store)?;
    let mut filler = Filler::new(&mut target, told);
    cardano::fill(&mut filler, rows / 4)?;
    osmosis::fill(&mut filler, rows / 4)?;
    cosmwasm::fill(&mut filler, rows / 6)?;
    paw::fill(&mut filler, rows / 6)?;
    onesat::fill(&mut filler, rows / 6)?;
    filler.end()
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
