//! Notes and saved scans.

use super::{Entry, Known, Listing, faint, left, plain};
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;
use crate::tui::address::Address;
use crate::tui::json::{items, text, word};
use crate::tui::paint::Ink;

pub(super) fn notes(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    let page = known.ask(Page::Notes, &Params::default())?;
    let mut lines: Vec<Entry> = items(&page, "scan")
        .iter()
        .map(|scan| {
            Entry::new(vec![plain(text(scan, "name")), faint(text(scan, "at"))])
                .to(Address::parse(text(scan, "at")))
        })
        .collect();
    lines.extend(items(&page, "note").iter().map(|note| {
        let on = text(note, "on");
        let entry = Entry::new(vec![plain(text(note, "text")), faint(on)]);
        let is_family = items(known.walk, "families").iter().any(|family| text(family, "path") == on);
        if is_family { entry.to(at.family(on)) } else { entry }
    }));
    let file = word(field(&page, "file"));
    let why = word(field(&page, "why"));
    Ok(Listing {
        title: "Notes and saved scans".to_owned(),
        notes: if why.is_empty() { Vec::new() } else { vec![vec![(why, Ink::Bad)]] },
        head: vec![left("name"), left("at")],
        lines,
        foot: if file.is_empty() { "no file is named: start with `--notes FILE`".to_owned() } else { file },
        ..Listing::default()
    })
}
