//! What differs between two states.

use serde_json::Value as Json;

use super::{Came, Entry, Known, Listing, job, left, plain};
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;
use crate::tui::address::Address;
use crate::tui::json::{count, items, text, word};
use crate::tui::paint::{Ink, number};

/// Everything that can be one side of a comparison: its name in an address, and in words.
pub(in crate::tui) fn sides(overview: &Json) -> Vec<(String, String)> {
    let mut sides = vec![("0".to_owned(), text(overview, "name").to_owned())];
    for (at, other) in items(overview, "others").iter().enumerate() {
        sides.push(((at + 1).to_string(), text(other, "name").to_owned()));
    }
    let heights = items(field(overview, "heights"), "all");
    for height in heights.iter().rev().take(200) {
        sides.push((format!("0@{height}"), format!("{} at height {height}", text(overview, "name"))));
    }
    sides
}

/// The two sides of an address, or the two that are most likely meant.
pub(super) fn both(overview: &Json, at: &Address) -> Option<(String, String)> {
    let heights = items(field(overview, "heights"), "all");
    let others = items(overview, "others");
    let standard = match (others.is_empty(), heights) {
        (false, _) => Some(("0".to_owned(), "1".to_owned())),
        (true, [.., before, last]) => Some((format!("0@{before}"), format!("0@{last}"))),
        _ => None,
    };
    match (at.get("a"), at.get("b"), standard) {
        (Some(a), Some(b), _) => Some((a.to_owned(), b.to_owned())),
        (_, _, standard) => standard,
    }
}

pub(super) fn diff(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    let Some((a, b)) = both(known.overview, at) else {
        let name = text(known.overview, "name");
        return Err(Problem::Absent(format!(
            "there is one state here: start with another, `keyplan explore {name} --with OTHER --tui`"
        )));
    };
    let params = Params::default().with("a", a.as_str()).with("b", b.as_str());
    let found = match job(known, Page::Diff, &params, "Compare")? {
        Came::Works(listing) => return Ok(listing),
        Came::Done(found) => found,
    };
    let mut lines = Vec::new();
    for family in items(&found, "families") {
        let path = text(family, "family");
        lines.push(Entry::new(vec![
            (path.to_owned(), Ink::Bold),
            plain(format!(
                "+{}  −{}  ≠{}",
                number(count(family, "added")),
                number(count(family, "removed")),
                number(count(family, "changed")),
            )),
        ]));
        let names: Vec<&str> = items(family, "columns").iter().map(|column| text(column, "name")).collect();
        for row in items(family, "rows") {
            let (sign, ink) = match text(row, "kind") {
                "added" => ("  + added", Ink::Good),
                "removed" => ("  − removed", Ink::Bad),
                _ => ("  ≠ changed", Ink::Warn),
            };
            let cells = items(row, "cells");
            let what = if cells.is_empty() {
                text(row, "key").to_owned()
            } else {
                let pairs = names.iter().zip(cells).map(|(name, cell)| format!("{name}={}", word(cell)));
                pairs.collect::<Vec<_>>().join(" ")
            };
            let fields: Vec<String> = items(row, "fields")
                .iter()
                .map(|one| {
                    format!(
                        "{}: {} → {}",
                        text(one, "field"),
                        word(field(one, "before")),
                        word(field(one, "after"))
                    )
                })
                .collect();
            let change = if fields.is_empty() {
                let both = [word(field(row, "before")), word(field(row, "after"))];
                both.into_iter().filter(|side| !side.is_empty()).collect::<Vec<_>>().join(" → ")
            } else {
                fields.join("  ")
            };
            let to = at.view(if names.is_empty() { "rows" } else { "" });
            let to = if names.is_empty() { to } else { to.with("family", path) };
            let to = to.with("space", text(row, "space")).with("key", text(row, "key"));
            lines.push(Entry::new(vec![(sign.to_owned(), ink), plain(what), plain(change)]).to(to));
        }
    }
    let sums = at.view("sums").with("a", &a).with("b", &b);
    lines.push(Entry::new(vec![(String::from("checksums of every family"), Ink::Bold)]).to(sums));
    Ok(Listing {
        title: format!("{} → {}", text(&found, "a"), text(&found, "b")),
        notes: Vec::new(),
        head: vec![left("family, change"), left("row"), left("what")],
        foot: format!(
            "{} and {} rows, {} the same; d chooses what is compared",
            number(count(&found, "rows_a")),
            number(count(&found, "rows_b")),
            number(count(&found, "same")),
        ),
        lines,
        ..Listing::default()
    })
}

pub(super) fn sums(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    let mut all: std::collections::BTreeMap<String, [String; 2]> = std::collections::BTreeMap::new();
    for (side, name) in ["a", "b"].into_iter().enumerate() {
        let of = at.get(name).unwrap_or("0");
        let (which, height) = of.split_once('@').unwrap_or((of, ""));
        let params = Params::default().with("of", which).with("height", height);
        let found = match job(known, Page::Checksum, &params, "Checksums")? {
            Came::Works(listing) => return Ok(listing),
            Came::Done(found) => found,
        };
        for space in found.as_array().into_iter().flatten() {
            for (family, sum) in field(space, "families").as_object().into_iter().flatten() {
                let unread = || format!("{}, unread", text(space, "space"));
                let family = if family.is_empty() { unread() } else { family.clone() };
                if let Some(sums) = all.entry(family).or_default().get_mut(side) {
                    text(sum, "checksum").clone_into(sums);
                }
            }
        }
    }
    let lines = all.into_iter().map(|(family, [a, b])| {
        let same =
            if a == b { (String::from("same"), Ink::Good) } else { (String::from("not the same"), Ink::Bad) };
        let short = |sum: &str| plain(sum.chars().take(16).collect::<String>());
        Entry::new(vec![plain(family), short(&a), short(&b), same])
    });
    Ok(Listing {
        title: "Checksums".to_owned(),
        head: vec![left("family"), left("a"), left("b"), left("both")],
        lines: lines.collect(),
        ..Listing::default()
    })
}
