//! Rows of a family or a space, with the scan that they are of.

use serde_json::Value as Json;
use std::fmt::Write as _;

use super::{Column, Entry, Known, Listing, amount, counted, faint, left, plain, right};
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;
use crate::tui::address::Address;
use crate::tui::json::{count, doc, items, text, word};
use crate::tui::paint::{Ink, Piece, mark, number};

pub(super) fn rows(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    let page = known.ask(Page::Rows, &at.rows())?;
    let family = text(&page, "family").to_owned();
    let space = text(&page, "space").to_owned();
    let columns = items(&page, "columns");
    let has_values = columns.iter().any(|column| text(column, "of") == "value");
    let mut head: Vec<Column> = columns
        .iter()
        .map(|column| Column {
            name: text(column, "name").to_owned(),
            argument: (text(column, "of") == "key").then(|| text(column, "name").to_owned()),
            right: false,
        })
        .collect();
    let only = text(&page, "only");
    match (family.is_empty(), only) {
        (true, "unread") => head.extend([left("key"), right("byte"), left("why")]),
        (true, "several") => head.extend([left("key"), left("readings")]),
        (true, _) => head.extend([left("key"), left("meaning")]),
        _ => {}
    }
    head.push(right("bytes"));
    if !has_values {
        head.push(left("value"));
    }
    let lines = items(&page, "rows").iter().map(|row| {
        let mut cells: Vec<Piece> = Vec::new();
        for (cell, column) in items(row, "cells").iter().zip(columns) {
            let ink = if text(column, "of") == "key" {
                Ink::Lane(text(column, "name").to_owned())
            } else {
                Ink::Plain
            };
            cells.push((word(cell), ink));
        }
        cells.resize(columns.len(), plain(""));
        match (family.is_empty(), only) {
            (true, "unread") => {
                cells.extend([
                    plain(text(row, "key")),
                    plain(word(field(row, "offset"))),
                    plain(text(row, "why")),
                ]);
            }
            (true, "several") => {
                let all: Vec<&str> = items(row, "readings").iter().map(|one| text(one, "text")).collect();
                cells.extend([plain(text(row, "key")), plain(all.join("  =  "))]);
            }
            (true, _) => cells.extend([plain(text(row, "key")), plain(text(row, "text"))]),
            _ => {}
        }
        cells.push(faint(number(count(row, "length"))));
        if !has_values {
            cells.push(plain(text(row, "value")));
        }
        Entry { cells, to: None, key: Some(text(row, "key").to_owned()) }
    });
    let lines: Vec<Entry> = lines.collect();
    let turn = |name: &str| {
        let key = text(&page, name);
        let there = field(&page, name).is_string();
        let place = if name == "next" { "after" } else { "before" };
        there.then(|| at.clone().without(&["after", "before", "key"]).with(place, key))
    };
    let noun = if lines.len() == 1 { "row" } else { "rows" };
    let mut foot = format!("{} {noun}", number(lines.len() as u64));
    if *field(&page, "cut_short") == true {
        // Writing to a string does not fail.
        let _ = write!(foot, ", {} looked at so far: n continues", number(count(&page, "looked")));
    }
    let whole = at.bound().is_empty() && at.get("from").is_none() && at.get("to").is_none();
    if let Some((all, _, exact)) = counted(known.walk, &family).filter(|_| whole) {
        let _ = write!(foot, " of {}{}", amount(all, exact), if exact { " exact" } else { ", walking" });
    }
    let mut notes = Vec::new();
    if family.is_empty() {
        if let Some(group) = at.get("group") {
            notes.push(vec![faint(group)]);
        }
    } else if let Ok(about) = known.ask(Page::Family, &Params::default().with("family", family.as_str())) {
        notes = about_scan(&page, &about, at);
    }
    let title = match (family.is_empty(), only) {
        (false, _) => family.clone(),
        (true, "unread") => format!("{space}: keys that no family makes"),
        (true, "several") => format!("{space}: keys with two readings"),
        _ => format!("{space}: all rows"),
    };
    Ok(Listing {
        title,
        notes,
        head,
        lines,
        foot,
        next: turn("next"),
        before: turn("before"),
        works: None,
        has_keys: true,
    })
}

/// Which scan the rows are of, with its proof.
fn about_scan(page: &Json, family: &Json, at: &Address) -> Vec<Vec<Piece>> {
    let mut notes = Vec::new();
    if let Some(doc) = doc(family).first().filter(|doc| !doc.is_empty()) {
        notes.push(vec![faint(doc.as_str())]);
    }
    let id = text(page, "scan");
    let scan = items(family, "scans").iter().find(|scan| text(scan, "id") == id);
    let mut line = Vec::new();
    if let Some(scan) = scan {
        let (sign, ink) = mark(text(scan, "mark"));
        line.push(plain(format!("scan {}", text(scan, "words"))));
        for (name, value) in at.bound() {
            line.push((format!("  {name}={value}"), Ink::Lane(name.to_owned())));
        }
        for (name, sign) in [("from", "≥"), ("to", "<")] {
            if let Some(value) = at.get(name) {
                line.push(plain(format!("  {sign} {value}")));
            }
        }
        line.push((format!("  {sign} {}", text(scan, "mark")), ink));
    } else {
        line.push(faint("no scan of the plan asks for all of them"));
    }
    if at.get("rev").is_some_and(|rev| rev != "0") {
        line.push(faint("  in reverse"));
    }
    notes.push(line);
    notes
}
