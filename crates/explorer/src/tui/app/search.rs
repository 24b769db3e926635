//! What was typed or pasted, and what it may mean.

use keyplan_plan::model::DottedPath;
use serde_json::Value as Json;

use super::Screen;
use crate::page::Page;
use crate::params::Params;
use crate::show::field;
use crate::tui::address::Address;
use crate::tui::dialog::{Dialog, Hit};
use crate::tui::json::{items, text, word};

impl Screen {
    /// Looks for what was typed.
    pub(super) fn search(&self, typed: String) -> Dialog {
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

    pub(super) fn hits(&self, answer: &Json) -> Vec<Hit> {
        let mut hits = Vec::new();
        for key in items(answer, "keys") {
            let meaning = items(key, "families").first().map(word).unwrap_or_default();
            let typed = text(key, "text").split_whitespace().next().unwrap_or_default();
            let named = meaning.split(' ').next().filter(|name| !name.is_empty()).unwrap_or(typed);
            let paths = items(&self.overview, "spaces").iter().flat_map(|space| items(space, "families"));
            let mut paths = paths.map(|family| text(family, "path"));
            let family = paths.find(|path| *path == named || DottedPath(path).last() == named);
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
}
