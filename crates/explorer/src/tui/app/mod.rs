//! What is shown, and where one is.

mod keys;
mod menu;
mod scan;
mod search;
mod steps;
mod tree;
mod trial;

use std::sync::Arc;

use ratatui::Frame;
use ratatui::widgets::TableState;
use serde_json::Value as Json;

pub(super) use self::tree::Branch;
use self::trial::Tried;
use super::address::Address;
use super::dialog::Dialog;
use super::json::text;
use super::listing::{self, Known, Listing};
use super::paint::{Ink, Theme};
use super::side::{self, SideLine};
use crate::explorer::Explorer;
use crate::page::Page;

/// How many places one can go back.
const BACK: usize = 200;

/// Which pane the keys move in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    Tree,
    Main,
    Side,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("place", &self.address).finish_non_exhaustive()
    }
}

/// Everything that is on the screen, and what the keys do to it.
pub struct Screen {
    explorer: Arc<Explorer>,
    pub(super) address: Address,
    back: Vec<Address>,
    pub(super) overview: Json,
    pub(super) walk: Json,
    pub(super) tree: Vec<Branch>,
    pub(super) tree_at: usize,
    pub(super) listing: Listing,
    pub(super) table: TableState,
    pub(super) side: Vec<SideLine>,
    pub(super) side_at: usize,
    pub(super) focus: Focus,
    pub(super) dialog: Option<Dialog>,
    pub(super) theme: Theme,
    pub(super) said: String,
    clipboard: Option<String>,
    /// The text of a plan that an editor is to be opened with.
    to_edit: Option<String>,
    /// The changed plan that was tried last, and what came of it.
    tried: Option<Tried>,
    is_left: bool,
}

impl Screen {
    /// At a place as in the page's address; an empty one shows the bytes of all families.
    pub fn new(explorer: Arc<Explorer>, at: &str) -> Self {
        let colourless = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let theme = if colourless { Theme::Plain } else { Theme::Dark };
        let mut app = Self {
            explorer,
            address: Address::parse(at),
            back: Vec::new(),
            overview: Json::Null,
            walk: Json::Null,
            tree: Vec::new(),
            tree_at: 0,
            listing: Listing::default(),
            table: TableState::default(),
            side: Vec::new(),
            side_at: 0,
            focus: Focus::Main,
            dialog: None,
            theme,
            said: String::new(),
            clipboard: None,
            to_edit: None,
            tried: None,
            is_left: false,
        };
        app.begin();
        app
    }

    /// Draws it.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        super::draw::draw(self, frame);
    }

    /// Where one is, as in the page's address.
    pub fn place(&self) -> String {
        self.address.to_string()
    }

    /// Whether somebody has left.
    pub const fn is_left(&self) -> bool {
        self.is_left
    }

    /// What was copied since the last time, for the terminal to keep.
    pub const fn copied(&mut self) -> Option<String> {
        self.clipboard.take()
    }

    /// Reads everything again: at the beginning, and at another height.
    fn begin(&mut self) {
        let height = self.address.only(&["height"]);
        match self.explorer.answer(Page::Overview, &height) {
            Ok(overview) => self.overview = overview,
            Err(problem) => self.said = problem.to_string(),
        }
        self.count();
        self.load();
    }

    /// Looks how far the walk is.
    fn count(&mut self) {
        match self.explorer.answer(Page::Walk, &self.address.only(&["height"])) {
            Ok(walk) => self.walk = walk,
            Err(problem) => self.said = problem.to_string(),
        }
        self.tree = self.branches();
        self.tree_at = self.tree_at.min(self.tree.len().saturating_sub(1));
    }

    fn known(&self) -> Known<'_> {
        let tried = self.tried.as_ref().map(|tried| &tried.answer);
        Known { explorer: &self.explorer, overview: &self.overview, walk: &self.walk, tried }
    }

    fn load(&mut self) {
        match listing::load(self.known(), &self.address) {
            Ok(listing) => self.listing = listing,
            Err(problem) => {
                let notes = vec![vec![(problem.to_string(), Ink::Bad)]];
                self.listing = Listing { title: "No answer".to_owned(), notes, ..Listing::default() };
            }
        }
        let key = self.address.get("key");
        let at =
            key.and_then(|key| self.listing.lines.iter().position(|line| line.key.as_deref() == Some(key)));
        let first = (!self.listing.lines.is_empty() && !self.listing.has_keys).then_some(0);
        self.table = TableState::default().with_selected(at.or(first));
        let family = self.address.get("family");
        let of = |branch: &Branch| branch.to.as_ref().and_then(|to| to.get("family").map(str::to_owned));
        if let Some(at) =
            self.tree.iter().position(|branch| of(branch).as_deref() == family && family.is_some())
        {
            self.tree_at = at;
        }
        self.show_side();
    }

    fn show_side(&mut self) {
        self.side = side::load(&self.explorer, &self.address);
        self.side_at = 0;
    }

    /// Looks at what changes while nobody presses a key, to be called a few times a second; whether anything may have.
    pub fn tick(&mut self) -> bool {
        let walking = text(&self.walk, "state") == "walking";
        let works = self.listing.works.is_some();
        if walking {
            self.count();
        }
        if works {
            // The same place again, with the line that was chosen.
            let (chosen, side, side_at) =
                (self.table.selected(), std::mem::take(&mut self.side), self.side_at);
            self.load();
            if chosen.is_some_and(|chosen| chosen < self.listing.lines.len()) {
                self.table.select(chosen);
            }
            (self.side, self.side_at) = (side, side_at);
        }
        walking || works
    }

    /// Goes to another place, from which one can come back.
    fn go(&mut self, to: Address) {
        let before = std::mem::replace(&mut self.address, to);
        self.said.clear();
        let height = before.get("height") != self.address.get("height");
        if before != self.address {
            self.back.push(before);
            let over = self.back.len().saturating_sub(BACK);
            self.back.drain(..over);
        }
        if height {
            self.begin();
        } else {
            self.load();
        }
        self.focus = Focus::Main;
    }

    fn go_back(&mut self) {
        if let Some(before) = self.back.pop() {
            let height = before.get("height") != self.address.get("height");
            self.address = before;
            if height {
                self.begin();
            } else {
                self.load();
            }
        }
    }

    /// The argument that is pointed at on the right.
    pub(super) fn pointed(&self) -> Option<&str> {
        let line = self.side.get(self.side_at).filter(|_| self.focus == Focus::Side)?;
        line.argument.as_deref()
    }

    fn say(&mut self, words: &str) {
        words.clone_into(&mut self.said);
    }
}

/// A place in a list of `count`, moved and kept inside.
fn moved(at: usize, by: isize, count: usize) -> usize {
    at.saturating_add_signed(by).min(count.saturating_sub(1))
}
