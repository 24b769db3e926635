//! What is shown, and what the keys do.

use std::sync::Arc;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::widgets::TableState;
use serde_json::Value as Json;

use super::address::Address;
use super::dialog::{Choice, Dialog, Field, Hit, Item, Purpose};
use super::json::{count, items, text, word};
use super::listing::{self, Known, Listing, Working, amount, counted};
use super::paint::{Ink, Theme};
use super::side::{self, SideLine};
use crate::explorer::Explorer;
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;

/// How many places one can go back.
const BACK: usize = 200;
/// The most text that is typed into a field.
const TYPED: usize = 1 << 16;
/// The keys of the terminal alone.
const OWN_KEYS: [(&str, &str); 2] = [("Tab", "next pane"), ("q", "leave")];

/// Which pane the keys move in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    Tree,
    Main,
    Side,
}

/// A line of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) depth: usize,
    pub(super) text: String,
    pub(super) mark: String,
    pub(super) amount: String,
    pub(super) bytes: u64,
    pub(super) to: Option<Address>,
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

    /// Reads everything anew: at the beginning, and at another height.
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
        Known { explorer: &self.explorer, overview: &self.overview, walk: &self.walk }
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

    fn branches(&self) -> Vec<Branch> {
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

    /// Takes a key.
    pub fn press(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && matches!(key.code, KeyCode::Char('c')) {
            self.is_left = true;
        } else if let Some(dialog) = self.dialog.take() {
            self.in_dialog(dialog, key.code, control);
        } else if !control {
            self.in_panes(key.code);
        }
    }

    /// Takes text that was pasted: into a field, else as what is searched for.
    pub fn paste(&mut self, pasted: &str) {
        let pasted: String = pasted.chars().filter(|c| !c.is_control()).take(TYPED).collect();
        match &mut self.dialog {
            Some(Dialog::Form { fields, at, .. }) => {
                if let Some(field) = fields.get_mut(*at) {
                    field.text += &pasted;
                }
            }
            Some(Dialog::Search { text, .. }) => {
                let whole = format!("{text}{pasted}");
                self.dialog = Some(self.search(whole));
            }
            _ => self.dialog = Some(self.search(pasted)),
        }
    }

    fn in_panes(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char('q') => self.is_left = true,
            KeyCode::Char('?') => self.help(),
            KeyCode::Char('/') => self.dialog = Some(self.search(String::new())),
            KeyCode::Char('j') | KeyCode::Down => self.step(1),
            KeyCode::Char('k') | KeyCode::Up => self.step(-1),
            KeyCode::PageDown => self.step(20),
            KeyCode::PageUp => self.step(-20),
            KeyCode::Home => self.step(isize::MIN),
            KeyCode::End => self.step(isize::MAX),
            KeyCode::Char('J') => self.step_family(1),
            KeyCode::Char('K') => self.step_family(-1),
            KeyCode::Char('n') => self.turn_page(self.listing.next.clone(), "there is no next page"),
            KeyCode::Char('p') => self.turn_page(self.listing.before.clone(), "there is no page before"),
            KeyCode::Enter => self.open(),
            KeyCode::Char('s') => self.scans(),
            KeyCode::Char('r') => self.turn(),
            KeyCode::Char('f') => match self.address.get("family") {
                Some(family) => self.go(self.address.view("facets").with("family", family)),
                None => self.say("open a family first"),
            },
            KeyCode::Char('u') => self.go(self.address.view("unread")),
            KeyCode::Char('2') => self.go(self.address.view("several")),
            KeyCode::Char('m') => self.go(self.address.view("")),
            KeyCode::Char('d') if self.address.get("v") == Some("diff") => self.choose_side(None),
            KeyCode::Char('d') => self.go(self.address.view("diff")),
            KeyCode::Char('h') => self.toggle_history(),
            KeyCode::Char('l') => self.go(self.address.view("plan")),
            KeyCode::Char('c') => self.copies(),
            KeyCode::Char('o') => self.notes(),
            KeyCode::Char('@') => self.heights(),
            KeyCode::Char('x') => self.stop(),
            KeyCode::Char('t') => {
                self.theme = self.theme.turned();
                self.say(self.theme.word());
            }
            KeyCode::Tab => self.turn_focus(1),
            KeyCode::BackTab => self.turn_focus(2),
            KeyCode::Esc => self.close(),
            _ => {}
        }
    }

    fn say(&mut self, words: &str) {
        words.clone_into(&mut self.said);
    }

    fn turn_focus(&mut self, by: usize) {
        const ALL: [Focus; 3] = [Focus::Tree, Focus::Main, Focus::Side];
        let now = ALL.iter().position(|focus| *focus == self.focus).unwrap_or_default();
        if let Some(next) = ALL.get((now + by) % ALL.len()) {
            self.focus = *next;
        }
    }

    /// Closes the key, else goes back.
    fn close(&mut self) {
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

    fn step(&mut self, by: isize) {
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
    fn point(&mut self) {
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
    fn space_of_family(&self) -> Option<String> {
        let path = self.address.get("family")?;
        let space = items(&self.overview, "spaces")
            .iter()
            .find(|space| items(space, "families").iter().any(|family| text(family, "path") == path))?;
        Some(text(space, "name").to_owned())
    }

    fn step_family(&mut self, by: isize) {
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

    fn turn_page(&mut self, to: Option<Address>, none: &str) {
        match to {
            Some(to) => self.go(to),
            None => self.say(none),
        }
    }

    fn turn(&mut self) {
        if self.listing.has_keys {
            let reversed = self.address.get("rev").is_some_and(|rev| rev != "0");
            let to = self.address.clone().without(&["after", "before", "key"]);
            self.go(to.with("rev", if reversed { "" } else { "1" }));
        }
    }

    fn open(&mut self) {
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

    fn toggle_history(&mut self) {
        if self.address.get("key").is_none() {
            return self.say("choose a row first");
        }
        let on = self.address.get("history").is_some();
        self.address = self.address.clone().with("history", if on { "" } else { "1" });
        self.show_side();
    }

    fn stop(&mut self) {
        let params = match &self.listing.works {
            Some(Working::Job(job)) => Params::default().with("job", job.as_str()),
            _ => self.address.only(&["height"]),
        };
        match self.explorer.answer(Page::Stop, &params) {
            Ok(_) => self.say("stopped"),
            Err(problem) => self.said = problem.to_string(),
        }
    }

    fn help(&mut self) {
        let all = self.explorer.answer(Page::Keys, &Params::default()).unwrap_or_default();
        let shared = all.as_array().into_iter().flatten().map(|one| (text(one, "key"), text(one, "what")));
        let line = |(key, what): (&str, &str)| SideLine {
            pieces: vec![(format!("{key:>6}  "), Ink::Bold), (what.to_owned(), Ink::Plain)],
            argument: None,
        };
        let lines = shared.chain(OWN_KEYS).map(line).collect();
        self.dialog = Some(Dialog::Text { title: "Keys".to_owned(), lines, top: 0 });
    }

    /// Looks for what was typed.
    fn search(&self, typed: String) -> Dialog {
        let height = self.address.get("height").unwrap_or_default();
        let answer = self
            .explorer
            .answer(Page::Search, &Params::default().with("q", typed.as_str()).with("height", height));
        let (hits, why) = match answer {
            Ok(answer) => (self.hits(&answer), word(field(&answer, "why"))),
            Err(problem) => (Vec::new(), problem.to_string()),
        };
        Dialog::Search { text: typed, hits, chosen: 0, why }
    }

    fn hits(&self, answer: &Json) -> Vec<Hit> {
        let mut hits = Vec::new();
        for key in items(answer, "keys") {
            let meaning = items(key, "families").first().map(word).unwrap_or_default();
            let typed = text(key, "text").split_whitespace().next().unwrap_or_default();
            let named = meaning.split(' ').next().filter(|name| !name.is_empty()).unwrap_or(typed);
            let paths = items(&self.overview, "spaces").iter().flat_map(|space| items(space, "families"));
            let mut paths = paths.map(|family| text(family, "path"));
            let family = paths.find(|path| *path == named || path.rsplit('.').next() == Some(named));
            let to = match family {
                Some(family) => self.address.family(family),
                None => self.address.view("rows"),
            };
            let note = match field(key, "found").as_bool() {
                Some(true) => "found",
                Some(false) => "not in the database",
                None => "",
            };
            let shown =
                if meaning.is_empty() { text(key, "key").chars().take(60).collect() } else { meaning };
            hits.push(Hit {
                kind: format!("key in {}", text(key, "notation")),
                text: shown,
                note: note.to_owned(),
                to: to.with("space", text(key, "space")).with("key", text(key, "key")),
            });
        }
        for family in items(answer, "families") {
            hits.push(Hit {
                kind: "family".to_owned(),
                text: text(family, "family").to_owned(),
                note: text(family, "doc").to_owned(),
                to: self.address.family(text(family, "family")),
            });
        }
        for note in items(answer, "notes") {
            let at = text(note, "at");
            let to = if at.is_empty() { self.address.view("notes") } else { Address::parse(at) };
            let name = if text(note, "name").is_empty() { text(note, "text") } else { text(note, "name") };
            let (text, note) = (name.to_owned(), text(note, "on").to_owned());
            hits.push(Hit { kind: "note".to_owned(), text, note, to });
        }
        hits
    }

    fn family_page(&self) -> Result<Json, Problem> {
        self.explorer.answer(Page::Family, &self.address.only(&["family"]))
    }

    /// The scans that the plan declares, each with its verdict.
    fn scans(&mut self) {
        let Ok(page) = self.family_page() else { return self.say("open a family first") };
        let all: Vec<Item> = items(&page, "scans")
            .iter()
            .enumerate()
            .map(|(at, scan)| {
                let (sign, _) = super::paint::mark(text(scan, "mark"));
                let mut about = Vec::new();
                for claim in items(scan, "claims") {
                    let words = format!("{} {}", text(claim, "code"), text(claim, "guarantee"));
                    about.extend(side::claims_of(
                        &words,
                        text(claim, "verdict"),
                        std::slice::from_ref(claim),
                    ));
                }
                let text = format!("{sign} {:<9} {}", text(scan, "mark"), text(scan, "words"));
                Item { text, about, choice: Choice::Scan(at) }
            })
            .collect();
        if all.is_empty() {
            return self.say("the plan declares no scan of this family");
        }
        let now = self.address.get("scan");
        let chosen = items(&page, "scans").iter().position(|scan| Some(text(scan, "id")) == now).unwrap_or(0);
        self.dialog =
            Some(Dialog::Menu { title: "Scans that the plan declares".to_owned(), items: all, chosen });
    }

    /// Asks for what a scan binds.
    fn scan_form(&mut self, at: usize) {
        let Ok(page) = self.family_page() else { return };
        let Some(scan) = items(&page, "scans").get(at) else { return };
        let old = |name: &str| self.address.get(name).unwrap_or_default().to_owned();
        let mut fields: Vec<Field> = items(scan, "bound")
            .iter()
            .map(|name| Field { text: old(&format!("a.{}", word(name))), label: word(name) })
            .collect();
        if *field(scan, "in_order") == true {
            let keys = items(&page, "columns").iter().filter(|column| text(column, "of") == "key");
            if keys.count() > fields.len() {
                fields.push(Field { label: "from".to_owned(), text: old("from") });
                fields.push(Field { label: "to".to_owned(), text: old("to") });
            }
        }
        let purpose = Purpose::Scan(text(scan, "id").to_owned());
        let title = format!("scan {}", text(scan, "words"));
        let form = Dialog::Form { title, fields, at: 0, purpose, why: String::new() };
        if matches!(&form, Dialog::Form { fields, .. } if fields.is_empty()) {
            self.submit(form);
        } else {
            self.dialog = Some(form);
        }
    }

    fn submit(&mut self, form: Dialog) {
        let Dialog::Form { title, fields, at, purpose, .. } = form else { return };
        match &purpose {
            Purpose::Scan(id) => {
                let family = self.address.get("family").unwrap_or_default().to_owned();
                let mut to = self.address.family(&family).with("scan", id);
                for field in &fields {
                    let name = match field.label.as_str() {
                        end @ ("from" | "to") => end.to_owned(),
                        name => format!("a.{name}"),
                    };
                    to = to.with(&name, field.text.trim());
                }
                if let Some(rev) = self.address.get("rev") {
                    to = to.with("rev", rev);
                }
                // What cannot be asked is said where it was typed.
                match self.explorer.answer(Page::Rows, &to.rows().with("limit", "1")) {
                    Ok(_) => self.go(to),
                    Err(problem) => {
                        let why = problem.to_string();
                        self.dialog = Some(Dialog::Form { title, fields, at, purpose, why });
                    }
                }
            }
            Purpose::Save => {
                let name = fields.first().map(|field| field.text.trim().to_owned()).unwrap_or_default();
                if name.is_empty() {
                    return;
                }
                let place = self.address.clone().without(&["after", "before"]).to_string();
                let params = Params::default().with("name", name).with("at", place);
                match self.explorer.answer(Page::WriteNote, &params) {
                    Ok(done) if field(&done, "written").is_string() => {
                        self.said = format!("written to {}", text(&done, "written"));
                        if self.address.get("v") == Some("notes") {
                            self.load();
                        }
                    }
                    Ok(done) => self.show_text("Put this into your notes", text(&done, "text")),
                    Err(problem) => self.said = problem.to_string(),
                }
            }
        }
    }

    fn show_text(&mut self, title: &str, text: &str) {
        let line = |line: &str| SideLine { pieces: vec![(line.to_owned(), Ink::Plain)], argument: None };
        let lines = text.lines().take(5000).map(line).collect();
        self.dialog = Some(Dialog::Text { title: title.to_owned(), lines, top: 0 });
    }

    fn copies(&mut self) {
        let of_key: &[&str] = &["hex", "command", "rust", "go", "base64"];
        let of_rows: &[&str] = &["csv", "json", "markdown"];
        let key = self.address.get("key").map(|_| of_key).unwrap_or_default();
        let rows: &[&str] = match (self.listing.has_keys, key.is_empty()) {
            (true, true) => &["command", "csv", "json", "markdown"],
            (true, false) => of_rows,
            _ => &[],
        };
        let item = |(of, form): (&str, &'static str)| Item {
            text: format!("{of} as {form}"),
            about: Vec::new(),
            choice: Choice::Copy(form),
        };
        let all: Vec<Item> = key
            .iter()
            .map(|form| ("the key", *form))
            .chain(rows.iter().map(|form| ("the rows", *form)))
            .map(item)
            .chain(std::iter::once(Item {
                text: "this place, for --at".to_owned(),
                about: Vec::new(),
                choice: Choice::Copy("place"),
            }))
            .collect();
        self.dialog = Some(Dialog::Menu { title: "Copy".to_owned(), items: all, chosen: 0 });
    }

    fn copy(&mut self, form: &str) {
        if form == "place" {
            let place = self.address.to_string();
            self.show_text("Copied", &place);
            self.clipboard = Some(place);
            return;
        }
        let of_key = ["hex", "command", "rust", "go", "base64"].contains(&form);
        let mut params = self.address.rows().with("as", form);
        if let Some(key) = self.address.get("key").filter(|_| of_key) {
            params = params.with("key", key);
        }
        match self.explorer.answer(Page::Copy, &params) {
            Ok(copied) => {
                self.show_text("Copied", text(&copied, "text"));
                self.clipboard = Some(text(&copied, "text").to_owned());
            }
            Err(problem) => self.said = problem.to_string(),
        }
    }

    /// Saves where one is; among the notes, or with nothing to save, lists them.
    fn notes(&mut self) {
        let is_place = self.address.get("family").is_some() || self.address.get("v") == Some("rows");
        if !is_place {
            return self.go(self.address.view("notes"));
        }
        let mut all = vec![Item {
            text: "all notes and saved scans".to_owned(),
            about: Vec::new(),
            choice: Choice::To(self.address.view("notes")),
        }];
        all.push(Item { text: "save this place".to_owned(), about: Vec::new(), choice: Choice::Save });
        self.dialog = Some(Dialog::Menu { title: "Notes".to_owned(), items: all, chosen: 0 });
    }

    fn heights(&mut self) {
        let all: Vec<Item> = items(field(&self.overview, "heights"), "all")
            .iter()
            .rev()
            .map(|height| Item {
                text: format!("height {height}"),
                about: Vec::new(),
                choice: Choice::To(self.address.clone().with("height", &height.to_string())),
            })
            .collect();
        if all.is_empty() {
            return self.say("this database keeps one state, and has no heights");
        }
        self.dialog = Some(Dialog::Menu { title: "Heights".to_owned(), items: all, chosen: 0 });
    }

    /// Chooses what is compared: first one side, then the other.
    fn choose_side(&mut self, first: Option<&str>) {
        let all: Vec<Item> = listing::sides(&self.overview)
            .into_iter()
            .filter(|(id, _)| Some(id.as_str()) != first)
            .map(|(id, words)| Item {
                text: words,
                about: Vec::new(),
                choice: match first {
                    None => Choice::Side(id),
                    Some(first) => Choice::To(self.address.view("diff").with("a", first).with("b", &id)),
                },
            })
            .collect();
        let title = if first.is_none() { "What was" } else { "What is" };
        self.dialog = Some(Dialog::Menu { title: title.to_owned(), items: all, chosen: 0 });
    }

    fn choose(&mut self, choice: Choice) {
        match choice {
            Choice::To(to) => self.go(to),
            Choice::Scan(at) => self.scan_form(at),
            Choice::Save => {
                let fields = vec![Field { label: "name".to_owned(), text: String::new() }];
                let title = "Save this place".to_owned();
                self.dialog =
                    Some(Dialog::Form { title, fields, at: 0, purpose: Purpose::Save, why: String::new() });
            }
            Choice::Copy(form) => self.copy(form),
            Choice::Side(first) => self.choose_side(Some(&first)),
        }
    }

    fn in_dialog(&mut self, dialog: Dialog, code: KeyCode, control: bool) {
        if code == KeyCode::Esc {
            return;
        }
        self.dialog = match dialog {
            Dialog::Search { text, hits, chosen, why } => {
                self.in_search((text, hits, chosen, why), code, control)
            }
            Dialog::Menu { title, items, chosen } => match code {
                KeyCode::Enter => {
                    if let Some(item) = items.into_iter().nth(chosen) {
                        self.choose(item.choice);
                    }
                    return;
                }
                KeyCode::Char('j') | KeyCode::Down => {
                    let chosen = moved(chosen, 1, items.len());
                    Some(Dialog::Menu { title, items, chosen })
                }
                KeyCode::Char('k') | KeyCode::Up => {
                    let chosen = moved(chosen, -1, items.len());
                    Some(Dialog::Menu { title, items, chosen })
                }
                _ => Some(Dialog::Menu { title, items, chosen }),
            },
            Dialog::Form { title, mut fields, at, purpose, why } => {
                let mut next = at;
                match code {
                    KeyCode::Enter => {
                        self.submit(Dialog::Form { title, fields, at, purpose, why });
                        return;
                    }
                    KeyCode::Tab | KeyCode::Down => next = (at + 1) % fields.len().max(1),
                    KeyCode::BackTab | KeyCode::Up => {
                        next = (at + fields.len().max(1) - 1) % fields.len().max(1);
                    }
                    _ => {
                        if let Some(field) = fields.get_mut(at) {
                            typed(&mut field.text, code, control);
                        }
                    }
                }
                Some(Dialog::Form { title, fields, at: next, purpose, why })
            }
            Dialog::Text { title, lines, top } => match code {
                KeyCode::Char('j') | KeyCode::Down => {
                    let top = moved(top, 1, lines.len());
                    Some(Dialog::Text { title, lines, top })
                }
                KeyCode::Char('k') | KeyCode::Up => {
                    let top = moved(top, -1, lines.len());
                    Some(Dialog::Text { title, lines, top })
                }
                _ => None,
            },
        };
    }

    fn in_search(
        &mut self,
        (mut text, hits, chosen, why): (String, Vec<Hit>, usize, String),
        code: KeyCode,
        control: bool,
    ) -> Option<Dialog> {
        match code {
            KeyCode::Enter => {
                let to = hits.get(chosen).map(|hit| hit.to.clone());
                match to {
                    Some(to) => {
                        self.go(to);
                        None
                    }
                    None => Some(Dialog::Search { text, hits, chosen, why }),
                }
            }
            KeyCode::Down => {
                let chosen = moved(chosen, 1, hits.len());
                Some(Dialog::Search { text, hits, chosen, why })
            }
            KeyCode::Up => {
                let chosen = moved(chosen, -1, hits.len());
                Some(Dialog::Search { text, hits, chosen, why })
            }
            _ => {
                typed(&mut text, code, control);
                Some(self.search(text))
            }
        }
    }
}

/// Types a key into a field.
fn typed(text: &mut String, code: KeyCode, control: bool) {
    match code {
        KeyCode::Backspace => {
            text.pop();
        }
        KeyCode::Char('u') if control => text.clear(),
        KeyCode::Char(c) if !control && text.len() < TYPED => text.push(c),
        _ => {}
    }
}

/// A place in a list of `count`, moved and kept inside.
fn moved(at: usize, by: isize, count: usize) -> usize {
    at.saturating_add_signed(by).min(count.saturating_sub(1))
}
