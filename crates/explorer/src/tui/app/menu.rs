//! What can be chosen: keys, copies, notes, heights, the sides of a comparison.

use super::Screen;
use crate::page::Page;
use crate::params::Params;
use crate::show::field;
use crate::tui::dialog::{Choice, Dialog, Field, Item, Purpose};
use crate::tui::json::{items, text};
use crate::tui::listing;
use crate::tui::paint::Ink;
use crate::tui::side::SideLine;

/// The keys of the terminal only.
const OWN_KEYS: [(&str, &str); 4] = [
    ("e", "change the plan in your editor: what if?"),
    ("w", "write the changed plan"),
    ("Tab", "next pane"),
    ("q", "leave"),
];

impl Screen {
    pub(super) fn help(&mut self) {
        let all = self.explorer.answer(Page::Keys, &Params::default()).unwrap_or_default();
        let shared = all.as_array().into_iter().flatten().map(|one| (text(one, "key"), text(one, "what")));
        let line = |(key, what): (&str, &str)| SideLine {
            pieces: vec![(format!("{key:>6}  "), Ink::Bold), (what.to_owned(), Ink::Plain)],
            argument: None,
        };
        let lines = shared.chain(OWN_KEYS).map(line).collect();
        self.dialog = Some(Dialog::Text { title: "Keys".to_owned(), lines, top: 0 });
    }

    pub(super) fn submit(&mut self, form: Dialog) {
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

    pub(super) fn show_text(&mut self, title: &str, text: &str) {
        let line = |line: &str| SideLine { pieces: vec![(line.to_owned(), Ink::Plain)], argument: None };
        let lines = text.lines().take(5000).map(line).collect();
        self.dialog = Some(Dialog::Text { title: title.to_owned(), lines, top: 0 });
    }

    pub(super) fn copies(&mut self) {
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

    pub(super) fn copy(&mut self, form: &str) {
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
    pub(super) fn notes(&mut self) {
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

    pub(super) fn heights(&mut self) {
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
    pub(super) fn choose_side(&mut self, first: Option<&str>) {
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

    pub(super) fn choose(&mut self, choice: Choice) {
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
}
