//! What is in the middle: rows, groups, bytes by family, what differs, the plan. Each is a table whose lines lead further.

mod compare;
mod facets;
mod groups;
mod notes;
mod plan;
mod rows;
mod sizes;
mod trial;

use std::sync::Arc;

use serde_json::Value as Json;

pub(super) use self::compare::sides;
use super::address::Address;
use super::json::{count, items, text};
use super::paint::{Ink, Piece, number};
use crate::explorer::Explorer;
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) title: String,
    /// What is said above it.
    pub(super) notes: Vec<Vec<Piece>>,
    pub(super) head: Vec<Column>,
    pub(super) lines: Vec<Entry>,
    pub(super) foot: String,
    pub(super) next: Option<Address>,
    pub(super) before: Option<Address>,
    /// What is still being worked on.
    pub(super) works: Option<Working>,
    /// Whether moving over a line shows its key.
    pub(super) has_keys: bool,
}

/// What can be stopped: the walk, or a job by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Working {
    Walk,
    Job(String),
}

/// A column and the argument that it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) argument: Option<String>,
    pub(super) right: bool,
}

/// A line, and where it leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) cells: Vec<Piece>,
    pub(super) to: Option<Address>,
    /// The key of a row, in hex.
    pub(super) key: Option<String>,
}

fn left(name: &str) -> Column {
    Column { name: name.to_owned(), ..Column::default() }
}

fn right(name: &str) -> Column {
    Column { name: name.to_owned(), right: true, ..Column::default() }
}

fn plain(text: impl Into<String>) -> Piece {
    (text.into(), Ink::Plain)
}

fn faint(text: impl Into<String>) -> Piece {
    (text.into(), Ink::Faint)
}

impl Entry {
    fn new(cells: Vec<Piece>) -> Self {
        Self { cells, to: None, key: None }
    }

    fn to(mut self, to: Address) -> Self {
        self.to = Some(to);
        self
    }
}

/// What an answer is made from beside the address.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) explorer: &'k Arc<Explorer>,
    pub(super) overview: &'k Json,
    pub(super) walk: &'k Json,
    /// What came of the changed plan that was tried last.
    pub(super) tried: Option<&'k Json>,
}

impl Known<'_> {
    fn ask(&self, page: Page, params: &Params) -> Result<Json, Problem> {
        self.explorer.answer(page, params)
    }
}

/// The table of an address.
pub(super) fn load(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    match at.get("v") {
        Some(view @ ("unread" | "several")) => groups::groups(known, at, view),
        Some("facets") => facets::facets(known, at),
        Some("diff") => compare::diff(known, at),
        Some("sums") => compare::sums(known, at),
        Some("plan") => plan::plan(known, at),
        Some("try") => trial::trial(known),
        Some("notes") => notes::notes(known, at),
        Some("dead") => sizes::dead(known),
        Some("infer") => groups::infer(known, at),
        _ if at.get("family").is_some() || at.get("space").is_some() => rows::rows(known, at),
        _ => Ok(sizes::map(known, at)),
    }
}

/// How many rows a family has, and whether all were counted.
pub(super) fn counted(walk: &Json, family: &str) -> Option<(u64, u64, bool)> {
    let found = items(walk, "families").iter().find(|one| text(one, "path") == family)?;
    Some((count(found, "keys"), count(found, "bytes"), *field(found, "exact") == true))
}

/// `1,204`, or `≥ 1,204` while rows are counted.
pub(super) fn amount(amount: u64, exact: bool) -> String {
    if exact { number(amount) } else { format!("≥ {}", number(amount)) }
}

/// What came of a job, or what to show while it works.
enum Came {
    Done(Json),
    Works(Listing),
}

fn job(known: Known<'_>, page: Page, params: &Params, title: &str) -> Result<Came, Problem> {
    let told = known.ask(page, params)?;
    match text(&told, "state") {
        "done" => Ok(Came::Done(field(&told, "result").clone())),
        "running" => Ok(Came::Works(Listing {
            title: title.to_owned(),
            foot: format!("{} rows read; x stops it", number(count(&told, "looked"))),
            works: Some(Working::Job(text(&told, "job").to_owned())),
            ..Listing::default()
        })),
        _ => Err(Problem::Failed(text(&told, "why").to_owned())),
    }
}
