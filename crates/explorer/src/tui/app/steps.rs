//! Moving: from line to line, family to family, page to page.

use super::tree::Branch;
use super::{Focus, Screen, moved};
use crate::page::Page;
use crate::params::Params;
use crate::tui::address::Address;
use crate::tui::json::{items, text};
use crate::tui::listing::Working;

impl Screen {
    pub(super) fn step(&mut self, by: isize) {
        match self.focus {
            Focus::Tree => self.tree_at = moved(self.tree_at, by, self.tree.len()),
            Focus::Side => self.side_at = moved(self.side_at, by, self.side.len()),
            Focus::Main => {
                let at = match self.table.selected() {
                    None if by > 0 => moved(0, by - 1, self.listing.lines.len()),
                    at => moved(at.unwrap_or_default(), by, self.listing.lines.len()),
                };
                self.table.select((!self.listing.lines.is_empty()).then_some(at));
                self.point();
            }
        }
    }

    /// Shows the key of the line that was moved to.
    pub(super) fn point(&mut self) {
        let chosen = self.table.selected().and_then(|at| self.listing.lines.get(at));
        if let Some(key) = chosen.and_then(|line| line.key.clone()) {
            let space = self.space_of_family();
            let mut to = self.address.clone().without(&["as"]).with("key", &key);
            if let Some(space) = space {
                to = to.with("space", &space);
            }
            self.address = to;
            self.show_side();
        }
    }

    /// The space of the family that is shown.
    pub(super) fn space_of_family(&self) -> Option<String> {
        let path = self.address.get("family")?;
        let space = items(&self.overview, "spaces")
            .iter()
            .find(|space| items(space, "families").iter().any(|family| text(family, "path") == path))?;
        Some(text(space, "name").to_owned())
    }

    pub(super) fn step_family(&mut self, by: isize) {
        let families: Vec<&Branch> = self
            .tree
            .iter()
            .filter(|branch| branch.to.as_ref().is_some_and(|to| to.get("family").is_some()))
            .collect();
        let path = self.address.get("family");
        let now =
            families.iter().position(|branch| branch.to.as_ref().and_then(|to| to.get("family")) == path);
        let at = match now {
            Some(now) => moved(now, by, families.len()),
            None if by > 0 => 0,
            None => families.len().saturating_sub(1),
        };
        if let Some(to) = families.get(at).and_then(|branch| branch.to.clone()) {
            self.go(to);
        }
    }

    pub(super) fn turn_page(&mut self, to: Option<Address>, none: &str) {
        match to {
            Some(to) => self.go(to),
            None => self.say(none),
        }
    }

    pub(super) fn turn(&mut self) {
        if self.listing.has_keys {
            let reversed = self.address.get("rev").is_some_and(|rev| rev != "0");
            let to = self.address.clone().without(&["after", "before", "key"]);
            self.go(to.with("rev", if reversed { "" } else { "1" }));
        }
    }

    pub(super) fn open(&mut self) {
        match self.focus {
            Focus::Tree => {
                if let Some(to) = self.tree.get(self.tree_at).and_then(|branch| branch.to.clone()) {
                    self.go(to);
                }
            }
            Focus::Side => {}
            Focus::Main if self.listing.has_keys => {
                if self.table.selected().is_none() {
                    self.step(1);
                }
                self.focus = Focus::Side;
            }
            Focus::Main => {
                let chosen = self.table.selected().and_then(|at| self.listing.lines.get(at));
                if let Some(to) = chosen.and_then(|line| line.to.clone()) {
                    self.go(to);
                }
            }
        }
    }

    pub(super) fn toggle_history(&mut self) {
        if self.address.get("key").is_none() {
            return self.say("choose a row first");
        }
        let on = self.address.get("history").is_some();
        self.address = self.address.clone().with("history", if on { "" } else { "1" });
        self.show_side();
    }

    pub(super) fn stop(&mut self) {
        let params = match &self.listing.works {
            Some(Working::Job(job)) => Params::default().with("job", job.as_str()),
            _ => self.address.only(&["height"]),
        };
        match self.explorer.answer(Page::Stop, &params) {
            Ok(_) => self.say("stopped"),
            Err(problem) => self.said = problem.to_string(),
        }
    }

    pub(super) fn turn_focus(&mut self, by: usize) {
        const ALL: [Focus; 3] = [Focus::Tree, Focus::Main, Focus::Side];
        let now = ALL.iter().position(|focus| *focus == self.focus).unwrap_or_default();
        if let Some(next) = ALL.get((now + by) % ALL.len()) {
            self.focus = *next;
        }
    }

    /// Closes the key, else goes back.
    pub(super) fn close(&mut self) {
        if self.focus != Focus::Main {
            self.focus = Focus::Main;
        } else if self.address.get("key").is_some() {
            self.address = self.address.clone().without(&["key", "as", "history"]);
            self.table.select(None);
            self.show_side();
        } else {
            self.go_back();
        }
    }
}
