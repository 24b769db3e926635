//! What tools show of plans, keys and databases, as data.
//!
//! The command, an explorer and an editor show the same facts in their own ways. The facts are here: [`mod@reference`] is the
//! page of a plan, [`picture`] the bytes of a key with what each is, [`explain_json`] what a key means as JSON,
//! [`statistics`] what is in a database, [`audit`] what a plan does not
//! explain in one, [`diff`] what became of its rows, [`checksum`] its rows in one number, [`decompose`] the keys of a contract without a plan, [`files`] plans on disk,
//! [`findings`] what is wrong with a plan, [`key_text`] bytes as people write them, [`project`] what `keyplan.toml` says,
//! [`releases`] the lock beside a plan, [`verify`] every row held against a plan, [`look`] one value, [`growth`] figures
//! compared with earlier ones, [`row`] a row as JSON.
//!
//! ```
//! use keyplan_plan::{dynamic::Decoder, explain::explain};
//! use keyplan_report::{explain_json::explanation_json, files::{Files, Imports}};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("demo.keyplan");
//! std::fs::write(&path, "plan demo; space s { key pool = 0x01 id: u16; }")?;
//! let compiled = Files::new(Imports::Project).load(&path.to_string_lossy())?;
//! let plan = compiled.plan.expect("sound");
//! let mut line = Vec::new();
//! explanation_json(&mut line, &[1, 0, 7], &explain(&Decoder::new(&plan), &[0], &[1, 0, 7]));
//! assert_eq!(line, b"{\"key\":\"010007\",\"space\":\"s\",\"family\":\"s.pool\",\"args\":{\"id\":7}}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Only [`files`], [`project`], [`releases`] and [`growth`] read files, and only those that they are asked for; [`output_file`] writes them. Nothing here prints or knows a terminal. Hostile
//! plans, keys and databases get an answer within the bounds of the crates below.
//!
//! The feature `rows`, on by default, is everything about the rows of a database and their values. Without it the crate
//! depends on no engine and no schema.

#[cfg(feature = "rows")]
pub mod audit;
#[cfg(feature = "rows")]
pub mod binding;
#[cfg(feature = "rows")]
pub mod checksum;
pub mod decompose;
#[cfg(feature = "rows")]
pub mod diff;
#[cfg(feature = "rows")]
pub mod explain_json;
pub mod files;
pub mod findings;
pub mod folder;
#[cfg(feature = "rows")]
pub mod growth;
pub mod json_text;
pub mod key_text;
pub mod lines;
#[cfg(feature = "rows")]
pub mod look;
pub mod new_project;
pub mod output_file;
pub mod picture;
pub mod plan_files;
pub mod project;
pub mod reference;
pub mod registry;
pub mod releases;
#[cfg(feature = "rows")]
pub mod row;
#[cfg(feature = "rows")]
pub mod statistics;
#[cfg(feature = "rows")]
pub mod structure;
pub mod task;
#[cfg(feature = "rows")]
pub mod values;
#[cfg(feature = "rows")]
pub mod verify;
pub mod watch;
