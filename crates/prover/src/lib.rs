//! Decides what a plan's key space guarantees, and shows two keys where it does not.
//!
//! [`prove`] takes a plan and gives a [`Report`]: for every family, scan and module a [`Verdict`] on each
//! [`Guarantee`]. A verdict is `Holds` (proved), `Assumed` (proved unless a named hash collides), `Fails` with a
//! [`Witness`] that the codec has really encoded, or `Unknown` with the reason. Nothing is `Holds` on a guess.
//!
//! ```
//! use keyplan_prover::{Guarantee, Options, Verdict, prove};
//!
//! let text = r#"plan demo; space s { key pool = "p/" a: text("a-z", 1..) b: text("a-z", 1..); }"#;
//! let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
//! let report = prove(&plan, &Options::default());
//! let ambiguous = report.findings().find(|finding| finding.guarantee == Guarantee::Unambiguous).expect("found");
//! let Verdict::Fails(witness) = &ambiguous.verdict else { panic!("{ambiguous:?}") };
//! assert_eq!(witness.length(), 5); // "p/aaa" is ("a", "aa") and ("aa", "a")
//! ```
//!
//! The proofs are about declared domains: an encoder that lets other values through has no guarantees. Hostile plans
//! end within fixed bounds of nodes and steps, with `Unknown` where those are reached.

mod automaton;
mod beginning;
#[cfg(feature = "certificate")]
pub mod certificate;
mod compare;
mod compat;
mod diagnose;
mod every;
mod guarantee;
mod hash;
mod layout;
mod least;
mod lossless_twin;
mod product;
mod proof;
mod prove;
mod reader;
mod repair;
mod sample;
mod sure;
mod written;

pub use compat::diagnosis::{Version, diagnose_changes};
pub use compat::migration::diagnosis::{diagnose_forgotten, diagnose_migration};
pub use compat::{
    Broken, Change, Counterexample, Decision, Duty, Fate, Forgotten, MigrationProof, Obligation, Part,
    Remade, Taken, Widening, compare, forgotten, prove_migration,
};
pub use diagnose::{
    Found, PAGES, Page, accepted_by, describe, diagnose, diagnose_and_repair, found, found_and_repaired,
    has_page, layout, page, unproved,
};
pub use guarantee::Guarantee;
/// An engine that keys must fit.
pub use keyplan_plan::Engine;
pub use proof::{Assumption, LeftOut, More, NumberFault, Reason, Report, Side, Statement, Verdict, Witness};
pub use prove::{Options, prove};
pub use repair::{Repair, repairs};
