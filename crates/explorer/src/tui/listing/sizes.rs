//! Bytes by family, and those that a height does not need.

use serde_json::Value as Json;

use super::{Came, Entry, Known, Listing, Working, amount, job, left, plain, right};
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;
use crate::tui::address::Address;
use crate::tui::json::{count, items, text, word};
use crate::tui::paint::{Ink, bar, bytes, number, share};

/// Bytes by family, as bars.
pub(super) fn map(known: Known<'_>, at: &Address) -> Listing {
    let walk = known.walk;
    let whole = count(field(walk, "total"), "bytes");
    let walking = text(walk, "state") == "walking";
    let mut all: Vec<&Json> = items(walk, "families").iter().filter(|one| count(one, "rows") > 0).collect();
    all.sort_by(|one, other| {
        count(other, "bytes")
            .cmp(&count(one, "bytes"))
            .then_with(|| text(one, "path").cmp(text(other, "path")))
    });
    let line = |name: &str, counts: &Json, exact: bool| {
        let own = count(counts, "bytes");
        Entry::new(vec![
            (name.to_owned(), Ink::Lane(name.to_owned())),
            plain(amount(count(counts, "keys"), exact)),
            plain(bytes(own)),
            plain(share(own, whole)),
            (bar(own, whole, 24), Ink::Lane(name.to_owned())),
        ])
    };
    let mut lines: Vec<Entry> = all
        .iter()
        .map(|one| {
            let path = text(one, "path");
            line(path, one, *field(one, "exact") == true).to(at.family(path))
        })
        .collect();
    for (name, words) in [("unread", "⚠ unread"), ("several", "⚠ two readings")] {
        let counts = field(field(walk, name), "counts");
        if count(counts, "rows") > 0 {
            lines.push(line(words, counts, !walking).to(at.view(name)));
        }
    }
    if field(known.overview, "heights").is_object() {
        let words = (String::from("bytes that this height does not need"), Ink::Bold);
        lines.push(Entry::new(vec![words]).to(at.view("dead")));
    }
    let mut notes = Vec::new();
    for (name, words) in [
        ("unread_spaces", "spaces of the database that the plan does not name"),
        ("absent_spaces", "spaces of the plan that the database has not"),
    ] {
        let names: Vec<String> = items(known.overview, name).iter().map(word).collect();
        if !names.is_empty() {
            notes.push(vec![(format!("{words}: {}", names.join(", ")), Ink::Warn)]);
        }
    }
    if text(walk, "state") == "failed" {
        notes.push(vec![(text(walk, "why").to_owned(), Ink::Bad)]);
    }
    let total = field(walk, "total");
    Listing {
        title: "Bytes by family".to_owned(),
        notes,
        head: vec![left("family"), right("keys"), right("bytes"), right("share"), left("")],
        lines,
        foot: format!("{} rows, {} of keys and values", amount(count(total, "rows"), !walking), bytes(whole)),
        works: walking.then_some(Working::Walk),
        ..Listing::default()
    }
}

pub(super) fn dead(known: Known<'_>) -> Result<Listing, Problem> {
    let found = match job(known, Page::Dead, &Params::default(), "Bytes that this height does not need")? {
        Came::Works(listing) => return Ok(listing),
        Came::Done(found) => found,
    };
    let line = |store: &Json| {
        let one = |name: &str| match field(store, name) {
            Json::Number(amount) => amount.as_u64().map(bytes).unwrap_or_default(),
            other => other.to_string(),
        };
        Entry::new(vec![
            plain(text(store, "store")),
            plain(one("bytes")),
            plain(one("dead")),
            plain(number(count(store, "versions"))),
        ])
    };
    Ok(Listing {
        title: "Bytes that this height does not need".to_owned(),
        head: vec![left("store"), right("stored"), right("not reached"), right("versions")],
        lines: items(&found, "stores").iter().map(line).collect(),
        foot: format!("latest height {}", count(&found, "latest")),
        ..Listing::default()
    })
}
