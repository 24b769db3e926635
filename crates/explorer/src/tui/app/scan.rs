//! The scans that the plan declares: which there are, what each binds, and going to one.

use serde_json::Value as Json;

use super::Screen;
use crate::page::Page;
use crate::params::Problem;
use crate::show::field;
use crate::tui::dialog::{Choice, Dialog, Field, Item, Purpose};
use crate::tui::json::{items, text, word};
use crate::tui::paint::mark;
use crate::tui::side;

impl Screen {
    pub(super) fn family_page(&self) -> Result<Json, Problem> {
        self.explorer.answer(Page::Family, &self.address.only(&["family"]))
    }

    /// The scans that the plan declares, each with its verdict.
    pub(super) fn scans(&mut self) {
        let Ok(page) = self.family_page() else { return self.say("open a family first") };
        let all: Vec<Item> = items(&page, "scans")
            .iter()
            .enumerate()
            .map(|(at, scan)| {
                let (sign, _) = mark(text(scan, "mark"));
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
    pub(super) fn scan_form(&mut self, at: usize) {
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
}
