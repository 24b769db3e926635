//! What the libraries of Keyplan return, as text for people and as JSON, SARIF and annotations for programs.
//!
//! A report is data; this is how it is said. Every function takes what a library returned and gives back a `String` that
//! may have styles, or bytes of JSON: nothing here opens, reads, asks or prints. Styles are marks until [`shown`] makes
//! them colours or takes them out, and [`shown`] makes every other character visible that would act on a terminal: text
//! of plans, keys, servers and files can hold anything.
//!
//! ```
//! use keyplan_print::{checked, shown};
//! use keyplan_prover::Options;
//! use keyplan_report::findings::{Checked, Repairs};
//!
//! let text = "plan p; space s { key k = a: text(1..=9) b: text(1..=9); }";
//! let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("no imports".into()));
//! let plan = Checked::new("p.keyplan", compiled, Some(&Options::default()), Repairs::Unasked);
//! let text = checked(&plan, false);
//! assert!(shown(&text, false).starts_with("error[KP0002]"));
//! ```

/// Appends formatted text to a `String`, which cannot fail.
macro_rules! put {
    ($out:expr, $($text:tt)*) => {{
        use std::fmt::Write as _;
        let _ = $out.write_fmt(format_args!($($text)*));
    }};
}

mod audit;
mod census;
mod certified;
mod check_json;
mod compare;
mod decomposition;
mod demo;
mod difference;
mod encoded;
mod explanation;
mod findings;
mod github;
mod infer;
mod migration;
mod picture;
mod project;
mod registry;
mod row;
mod sarif;
mod source;
mod statement_json;
mod structure;
mod style;
mod upkeep;
mod vectors;

pub use audit::{audit, audit_json, audit_sarif};
pub use census::{census, census_json, details, growth, server_census};
pub use certified::{certified, certified_json};
pub use check_json::check_json;
pub use compare::{change, change_json, checksums, checksums_json, differences, differences_json};
pub use decomposition::decompositions;
pub use demo::{command_line, filled, flaw_of, next_steps, plan_table};
pub use difference::difference;
pub use encoded::{encoded_json, refusal};
pub use explanation::{bad_line, explanation, part, stored, stored_json};
pub use findings::{accepted_flaw, checked, counted, evolution, findings, summary};
pub use github::github;
pub use infer::{inference, inference_json};
pub use migration::{
    mapping, migration_json, migration_summary, parked, parked_json, parked_summary, state_json, survey,
    survey_json, survey_summary,
};
pub use project::{
    after_init, baseline_written, certificate_written, fixes, formatted, initialised, known, pages_written,
    watching,
};
pub use registry::{document_fault_json, document_faults, registry};
pub use row::{
    Length, copied, created, deleted, dumped, flaw, flaw_json, full_scan, known_names, loaded, more_rows,
    no_raw_row, no_row, no_rows, other_rows, plain_row, row_text, rows, rows_json, unsound, value_text,
    verified, verified_json, written,
};
pub use sarif::sarif;
pub use source::{key_history, key_history_json, multistore, multistore_json};
pub use structure::{
    key_size, key_size_json, part_object, part_text, queue_size, unknown_key, unknown_key_json,
    unknown_part_json,
};
pub use style::{DIM, ERROR, GOOD, NAME, STRONG, marked, painted, shown};
pub use upkeep::{given_up, pruned, retired};
pub use vectors::{vectors, vectors_json};

use keyplan_plan::notation::{Notation, assignments, hex, scan};
