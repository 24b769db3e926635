//! The families with how much there is of each.

use super::Screen;
use crate::show::field;
use crate::tui::address::Address;
use crate::tui::json::{count, items, text};
use crate::tui::listing::{amount, counted};

/// A line of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tui) struct Branch {
    pub(in crate::tui) depth: usize,
    pub(in crate::tui) text: String,
    pub(in crate::tui) mark: String,
    pub(in crate::tui) amount: String,
    pub(in crate::tui) bytes: u64,
    pub(in crate::tui) to: Option<Address>,
}

impl Screen {
    pub(super) fn branches(&self) -> Vec<Branch> {
        let mut out = Vec::new();
        let whole = |path: &str| counted(&self.walk, path);
        for space in items(&self.overview, "spaces") {
            out.push(Branch {
                depth: 0,
                text: text(space, "name").to_owned(),
                mark: String::new(),
                amount: String::new(),
                bytes: 0,
                to: Some(self.address.view("rows").with("space", text(space, "name"))),
            });
            let mut module = "";
            for family in items(space, "families") {
                let own = text(family, "module");
                if own != module && !own.is_empty() {
                    out.push(Branch {
                        depth: 1,
                        text: own.to_owned(),
                        mark: String::new(),
                        amount: String::new(),
                        bytes: 0,
                        to: None,
                    });
                }
                module = own;
                let path = text(family, "path");
                let (keys, bytes, exact) = whole(path).unwrap_or((0, 0, false));
                out.push(Branch {
                    depth: if own.is_empty() { 1 } else { 2 },
                    text: text(family, "name").to_owned(),
                    mark: text(family, "mark").to_owned(),
                    amount: amount(keys, exact),
                    bytes,
                    to: Some(self.address.family(path)),
                });
            }
        }
        let walking = text(&self.walk, "state") == "walking";
        for (name, words) in [("unread", "⚠ unread"), ("several", "⚠ two readings")] {
            let counts = field(field(&self.walk, name), "counts");
            if count(counts, "rows") > 0 {
                out.push(Branch {
                    depth: 0,
                    text: words.to_owned(),
                    mark: String::new(),
                    amount: amount(count(counts, "rows"), !walking),
                    bytes: count(counts, "bytes"),
                    to: Some(self.address.view(name)),
                });
            }
        }
        out
    }
}
