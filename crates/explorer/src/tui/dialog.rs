//! What lies above the three panes: help, a search, the choice of a scan, a menu, a text.

use super::address::Address;
use super::side::SideLine;

/// A line that can be typed into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) label: String,
    pub(super) text: String,
}

/// Something that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) note: String,
    pub(super) to: Address,
}

/// What choosing an item of a menu does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Goes there.
    To(Address),
    /// Asks for the arguments of a scan.
    Scan(usize),
    /// Copies in this form.
    Copy(&'static str),
    /// Asks for a name to save the place under.
    Save,
    /// Takes it for the first side of a comparison.
    Side(String),
}

/// An item of a menu, with what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) text: String,
    pub(super) about: Vec<SideLine>,
    pub(super) choice: Choice,
}

/// What a form is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The arguments of a scan, by its id.
    Scan(String),
    /// The name under which the place is kept.
    Save,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dialog {
    Search { text: String, hits: Vec<Hit>, chosen: usize, why: String },
    Menu { title: String, items: Vec<Item>, chosen: usize },
    Form { title: String, fields: Vec<Field>, at: usize, purpose: Purpose, why: String },
    Text { title: String, lines: Vec<SideLine>, top: usize },
}
