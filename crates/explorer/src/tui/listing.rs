//! What is in the middle: rows, groups, bytes by family, what differs, the plan. Each is a table whose lines lead further.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value as Json;

use super::address::Address;
use super::json::{count, doc, items, text, word};
use super::paint::{Ink, Piece, bar, bytes, mark, number, share};
use crate::explorer::Explorer;
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) title: String,
    /// What is said above it.
    pub(super) notes: Vec<Vec<Piece>>,
    pub(super) head: Vec<Column>,
    pub(super) lines: Vec<Entry>,
    pub(super) foot: String,
    pub(super) next: Option<Address>,
    pub(super) before: Option<Address>,
    /// What is still being worked on.
    pub(super) works: Option<Working>,
    /// Whether moving over a line shows its key.
    pub(super) has_keys: bool,
}

/// What can be stopped: the walk, or a job by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Working {
    Walk,
    Job(String),
}

/// A column and the argument that it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) argument: Option<String>,
    pub(super) right: bool,
}

/// A line, and where it leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) cells: Vec<Piece>,
    pub(super) to: Option<Address>,
    /// The key of a row, in hex.
    pub(super) key: Option<String>,
}

fn left(name: &str) -> Column {
    Column { name: name.to_owned(), ..Column::default() }
}

fn right(name: &str) -> Column {
    Column { name: name.to_owned(), right: true, ..Column::default() }
}

fn plain(text: impl Into<String>) -> Piece {
    (text.into(), Ink::Plain)
}

fn faint(text: impl Into<String>) -> Piece {
    (text.into(), Ink::Faint)
}

impl Entry {
    fn new(cells: Vec<Piece>) -> Self {
        Self { cells, to: None, key: None }
    }

    fn to(mut self, to: Address) -> Self {
        self.to = Some(to);
        self
    }
}

/// What an answer is made from beside the address.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) explorer: &'k Arc<Explorer>,
    pub(super) overview: &'k Json,
    pub(super) walk: &'k Json,
}

impl Known<'_> {
    fn ask(&self, page: Page, params: &Params) -> Result<Json, Problem> {
        self.explorer.answer(page, params)
    }
}

/// The table of an address.
pub(super) fn load(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    match at.get("v") {
        Some(view @ ("unread" | "several")) => groups(known, at, view),
        Some("facets") => facets(known, at),
        Some("diff") => diff(known, at),
        Some("sums") => sums(known, at),
        Some("plan") => plan(known, at),
        Some("notes") => notes(known, at),
        Some("dead") => dead(known),
        Some("infer") => infer(known, at),
        _ if at.get("family").is_some() || at.get("space").is_some() => rows(known, at),
        _ => Ok(map(known, at)),
    }
}

/// How many rows a family has, and whether all were counted.
pub(super) fn counted(walk: &Json, family: &str) -> Option<(u64, u64, bool)> {
    let found = items(walk, "families").iter().find(|one| text(one, "path") == family)?;
    Some((count(found, "keys"), count(found, "bytes"), *field(found, "exact") == true))
}

/// `1,204`, or `≥ 1,204` while rows are counted.
pub(super) fn amount(amount: u64, exact: bool) -> String {
    if exact { number(amount) } else { format!("≥ {}", number(amount)) }
}

fn rows(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
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
    let mut foot = format!("{} rows", number(lines.len() as u64));
    if *field(&page, "cut_short") == true {
        // Writing to a string does not fail.
        let _ = write!(foot, ", {} looked at so far: n goes on", number(count(&page, "looked")));
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

fn groups(known: Known<'_>, at: &Address, view: &str) -> Result<Listing, Problem> {
    let is_unread = view == "unread";
    let page = known.ask(if is_unread { Page::Unread } else { Page::Several }, &at.only(&["height"]))?;
    let walking = text(&page, "state") == "walking";
    let mut lines: Vec<Entry> = items(&page, "groups")
        .iter()
        .map(|group| {
            let place = field(group, "offset").as_u64().map(|offset| format!("byte {offset}"));
            let to = at
                .view("rows")
                .with("space", text(group, "space"))
                .with("only", view)
                .with("group", text(group, "group"));
            let example = items(group, "examples").first().map(word).unwrap_or_default();
            Entry::new(vec![
                plain(number(count(group, "rows"))),
                plain(text(group, "space")),
                (place.unwrap_or_default(), Ink::Warn),
                plain(text(group, "message")),
                faint(example),
            ])
            .to(to)
        })
        .collect();
    if is_unread && !lines.is_empty() {
        let words =
            vec![plain(""), plain(""), plain(""), (String::from("draft families for these keys"), Ink::Bold)];
        lines.push(Entry::new(words).to(at.view("infer")));
    }
    let (title, none) = if is_unread {
        (
            "Keys that no family makes, by the byte where they break",
            "Every key is read by a family of the plan.",
        )
    } else {
        ("Keys with two readings", "Every key has one reading.")
    };
    let notes = if lines.is_empty() && !walking { vec![vec![plain(none)]] } else { Vec::new() };
    Ok(Listing {
        title: title.to_owned(),
        notes,
        head: vec![right("keys"), left("space"), left("at"), left("why"), left("first")],
        lines,
        foot: format!("{} keys", amount(count(&page, "rows"), !walking)),
        works: walking.then_some(Working::Walk),
        ..Listing::default()
    })
}

/// Bytes by family, as bars.
fn map(known: Known<'_>, at: &Address) -> Listing {
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

/// What came of a job, or what to show while it works.
enum Came {
    Done(Json),
    Works(Listing),
}

fn job(known: Known<'_>, page: Page, params: &Params, title: &str) -> Result<Came, Problem> {
    let told = known.ask(page, params)?;
    match text(&told, "state") {
        "done" => Ok(Came::Done(field(&told, "result").clone())),
        "running" => Ok(Came::Works(Listing {
            title: title.to_owned(),
            foot: format!("{} rows read; x stops it", number(count(&told, "looked"))),
            works: Some(Working::Job(text(&told, "job").to_owned())),
            ..Listing::default()
        })),
        _ => Err(Problem::Failed(text(&told, "why").to_owned())),
    }
}

fn facets(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    let family = at.get("family").unwrap_or_default();
    let title = format!("Values of an argument of {family}");
    let about = known.ask(Page::Family, &at.only(&["family"]))?;
    let arguments: Vec<&str> = items(&about, "columns")
        .iter()
        .filter(|one| text(one, "of") == "key")
        .map(|one| text(one, "name"))
        .collect();
    if arguments.is_empty() {
        return Err(Problem::Absent(format!("`{family}` has no argument")));
    }
    let found = match job(known, Page::Facets, &at.only(&["family", "argument", "height"]), &title)? {
        Came::Works(listing) => return Ok(listing),
        Came::Done(found) => found,
    };
    let name = text(&found, "argument").to_owned();
    let others = arguments.iter().filter(|other| **other != name);
    let others: Vec<Entry> = others
        .map(|other| {
            let words = (format!("values of {other}"), Ink::Bold);
            Entry::new(vec![words]).to(at.clone().with("argument", other))
        })
        .collect();
    let whole: u64 = items(&found, "heaviest").iter().map(|one| count(one, "bytes")).sum();
    let by = items(&about, "scans").iter().find(|scan| {
        let bound = items(scan, "bound");
        bound.len() == 1 && bound.first().is_some_and(|first| word(first) == name)
    });
    let mut lines: Vec<Entry> = items(&found, "top")
        .iter()
        .map(|value| {
            let own = count(value, "bytes");
            let entry = Entry::new(vec![
                (text(value, "value").to_owned(), Ink::Lane(name.clone())),
                plain(number(count(value, "rows"))),
                plain(bytes(own)),
                (bar(own, whole, 24), Ink::Lane(name.clone())),
            ]);
            match by {
                Some(scan) => entry.to(at
                    .family(family)
                    .with("scan", text(scan, "id"))
                    .with(&format!("a.{name}"), text(value, "typed"))),
                None => entry,
            }
        })
        .collect();
    lines.extend(others);
    let exact = *field(&found, "exact") == true;
    Ok(Listing {
        title: format!("{name} of {family}"),
        notes: vec![vec![plain(format!(
            "{} rows, {} distinct, least {}, greatest {}",
            number(count(&found, "rows")),
            amount(count(&found, "distinct"), exact),
            word(field(&found, "least")),
            word(field(&found, "greatest")),
        ))]],
        head: vec![left(&name), right("rows"), right("bytes"), left("")],
        foot: format!("the {} most frequent", items(&found, "top").len()),
        lines,
        ..Listing::default()
    })
}

/// Everything that can be one side of a comparison: its name in an address, and in words.
pub(super) fn sides(overview: &Json) -> Vec<(String, String)> {
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

fn diff(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
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

fn sums(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
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

/// What is proved, what is wrong, and which numbers are free.
fn plan(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    let page = known.ask(Page::Plan, &Params::default())?;
    let table = field(&page, "table");
    let mut lines = Vec::new();
    for finding in items(&page, "findings") {
        let place = items(finding, "labels").first();
        let place = place
            .map(|label| format!("{}:{}", text(label, "file"), count(field(label, "start"), "line")))
            .unwrap_or_default();
        lines.push(Entry::new(vec![
            (text(finding, "code").to_owned(), Ink::Bad),
            plain(text(finding, "message")),
            faint(place),
        ]));
        for (name, key) in field(finding, "witness").as_object().into_iter().flatten() {
            if let Some(hex) = key.get("hex").and_then(Json::as_str) {
                let of = text(key, "family");
                lines.push(Entry::new(vec![faint(format!("  {name}")), plain(hex), faint(of)]));
            }
        }
        for repair in items(finding, "repairs") {
            lines.push(Entry::new(vec![
                faint("  repair"),
                plain(text(repair, "title")),
                (String::from("✓ proved"), Ink::Good),
            ]));
        }
    }
    for family in items(table, "families") {
        let marks = field(family, "marks").as_object();
        let shown: Vec<String> = marks
            .into_iter()
            .flatten()
            .map(|(code, verdict)| format!("{} {code}", mark(&word(verdict)).0))
            .collect();
        let worst = ["refuted", "unknown", "accepted", "assumed"]
            .into_iter()
            .find(|word| marks.into_iter().flatten().any(|(_, mark)| mark == word))
            .unwrap_or("proved");
        let path = text(family, "family");
        let (sign, ink) = mark(worst);
        lines.push(
            Entry::new(vec![(format!("{sign} {worst}"), ink), plain(path), faint(shown.join("  "))])
                .to(at.family(path)),
        );
    }
    for map in items(&page, "allotments").iter().flat_map(|space| items(space, "maps")) {
        let words = format!("{} of 256 numbers are free", count(map, "free"));
        let path = format!("{} {}", text(map, "path"), text(map, "prefix"));
        lines.push(Entry::new(vec![faint("numbers"), plain(path.trim()), plain(words)]));
    }
    let file = items(&page, "files").first().map(|file| text(file, "text")).unwrap_or_default();
    for (at, line) in file.lines().enumerate().take(20_000) {
        lines.push(Entry::new(vec![faint(format!("{:>5}", at + 1)), plain(line)]));
    }
    let proof = field(&page, "proof");
    let counts = ["holds", "assumed", "refuted", "accepted", "unknown", "endless"]
        .map(|name| (name, count(proof, name)));
    let words = counts.iter().filter(|(_, count)| *count > 0).map(|(name, count)| {
        let name = if *name == "holds" { "proved" } else { name };
        format!("{count} {name}")
    });
    Ok(Listing {
        title: format!("plan {}", text(&page, "name")),
        notes: vec![vec![plain(words.collect::<Vec<_>>().join(", "))]],
        head: vec![left(""), left("family, finding, text"), left("")],
        foot: format!("fingerprint {}", text(&page, "fingerprint")),
        lines,
        ..Listing::default()
    })
}

fn notes(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
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

fn dead(known: Known<'_>) -> Result<Listing, Problem> {
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

fn infer(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    let found = match job(known, Page::Infer, &at.only(&["height"]), "A draft for the unread keys")? {
        Came::Works(listing) => return Ok(listing),
        Came::Done(found) => found,
    };
    let draft = text(field(&found, "draft"), "text");
    let lines = draft.lines().map(|line| Entry::new(vec![plain(line)]));
    Ok(Listing {
        title: "A draft for the unread keys".to_owned(),
        notes: if draft.is_empty() {
            vec![vec![plain("There is nothing to draft from.")]]
        } else {
            Vec::new()
        },
        head: vec![left("plan")],
        lines: lines.collect(),
        ..Listing::default()
    })
}
