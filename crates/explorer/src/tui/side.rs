//! What is on the right: a key with its bytes, its meaning and its value, or the reference of a family.

use std::sync::Arc;

use serde_json::Value as Json;

use super::address::Address;
use super::json::{count, doc, items, text, word};
use super::paint::{Ink, Piece, bytes, mark, number};
use crate::explorer::Explorer;
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;

/// A line, and the argument that it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SideLine {
    pub(super) pieces: Vec<Piece>,
    pub(super) argument: Option<String>,
}

/// How many bytes a line of raw bytes has.
const PER_LINE: usize = 8;

#[derive(Default)]
struct Lines(Vec<SideLine>);

impl Lines {
    fn add(&mut self, pieces: Vec<Piece>) {
        self.0.push(SideLine { pieces, argument: None });
    }

    fn say(&mut self, text: impl Into<String>, ink: Ink) {
        self.add(vec![(text.into(), ink)]);
    }

    fn gap(&mut self) {
        self.0.push(SideLine::default());
    }
}

/// The lines of an address: its key, or its family.
pub(super) fn load(explorer: &Arc<Explorer>, at: &Address) -> Vec<SideLine> {
    let found = if at.get("key").is_some() {
        key(explorer, at)
    } else if at.get("family").is_some() && at.get("v").is_none() {
        family(explorer, at)
    } else {
        return Vec::new();
    };
    found.unwrap_or_else(|problem| {
        vec![SideLine { pieces: vec![(problem.to_string(), Ink::Bad)], argument: None }]
    })
}

fn key(explorer: &Arc<Explorer>, at: &Address) -> Result<Vec<SideLine>, Problem> {
    let page = explorer.answer(Page::Key, &at.only(&["key", "space", "height", "as"]))?;
    let hex = text(&page, "key");
    let mut out = Lines::default();
    out.add(vec![
        ("Key".to_owned(), Ink::Bold),
        (format!("  {} bytes", number(count(&page, "length"))), Ink::Faint),
    ]);
    if at.get("history").is_some() {
        history(explorer, at, &page, &mut out)?;
    }
    for space in items(&page, "spaces") {
        in_space(explorer, at, hex, space, &mut out);
    }
    Ok(out.0)
}

fn in_space(explorer: &Arc<Explorer>, at: &Address, hex: &str, space: &Json, out: &mut Lines) {
    let readings = items(space, "readings");
    if readings.is_empty() {
        out.say(format!("⚠ No family of {} makes this key.", text(space, "space")), Ink::Warn);
        for near in items(space, "nearest") {
            broken(hex, near, out);
        }
    }
    if readings.len() > 1 {
        let more = if *field(space, "more") == true { " or more" } else { "" };
        out.say(format!("⚠ {}{more} readings of these bytes", readings.len()), Ink::Warn);
    }
    for reading in readings {
        out.gap();
        out.say(text(reading, "family"), Ink::Bold);
        if !text(reading, "doc").is_empty() {
            out.say(text(reading, "doc"), Ink::Faint);
        }
        lanes(hex, items(reading, "lanes"), out);
        declaration(field(reading, "plan"), out);
    }
    if *field(space, "found") != true {
        out.say(format!("There is no such row in {}.", text(space, "space")), Ink::Faint);
    }
    if *field(space, "structure") == true
        && let Some(reading) = readings.first()
    {
        structure(explorer, at, hex, text(reading, "family"), out);
    }
    if field(space, "value").is_object() {
        value(field(space, "value"), out);
    }
}

/// All bytes in their colours, then a line per piece: its bytes, its name and what it says.
fn lanes(hex: &str, lanes: &[Json], out: &mut Lines) {
    let part = |lane: &Json| {
        let (start, end) = (count(lane, "start") * 2, count(lane, "end") * 2);
        let range = usize::try_from(start).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX);
        hex.get(range).unwrap_or_default().to_owned()
    };
    let ink = |lane: &Json| match text(lane, "kind") {
        "argument" => Ink::Lane(text(lane, "name").to_owned()),
        _ => Ink::Faint,
    };
    let mut all: Vec<Piece> = Vec::new();
    for lane in lanes {
        if !all.is_empty() {
            all.push((" ".to_owned(), Ink::Plain));
        }
        all.push((part(lane), ink(lane)));
    }
    out.add(all);
    for lane in lanes {
        let name = text(lane, "name").to_owned();
        let shown: String = part(lane).chars().take(24).collect();
        let cut = if part(lane).len() > 24 { "…" } else { "" };
        out.0.push(SideLine {
            pieces: vec![
                (format!("  {shown}{cut}  "), ink(lane)),
                (
                    text(lane, "label").to_owned(),
                    if text(lane, "kind") == "argument" { Ink::Plain } else { Ink::Faint },
                ),
            ],
            argument: (text(lane, "kind") == "argument").then(|| top(&name).to_owned()),
        });
    }
}

/// The argument that a part of it belongs to.
fn top(name: &str) -> &str {
    name.split(['.', '[']).next().unwrap_or(name)
}

fn broken(hex: &str, near: &Json, out: &mut Lines) {
    out.gap();
    out.add(vec![(text(near, "family").to_owned(), Ink::Bold), (" gets furthest".to_owned(), Ink::Faint)]);
    let place = usize::try_from(count(near, "offset")).unwrap_or_default() * 2;
    let (sound, rest) = hex.split_at_checked(place).unwrap_or((hex, ""));
    let (wrong, behind) = rest.split_at_checked(2).unwrap_or((rest, ""));
    out.add(vec![
        (sound.to_owned(), Ink::Good),
        (format!("[{}]", if wrong.is_empty() { "end" } else { wrong }), Ink::Bad),
        (behind.to_owned(), Ink::Faint),
    ]);
    out.say(
        format!("byte {}, {}: {}", count(near, "offset"), text(near, "segment"), text(near, "message")),
        Ink::Plain,
    );
    if field(near, "front_of").is_object() {
        out.say(
            format!("It is the front of its keys: {}", text(field(near, "front_of"), "args")),
            Ink::Plain,
        );
    }
    declaration(field(near, "plan"), out);
}

/// The declaration as it is in the plan, with each argument in its colour.
fn declaration(plan: &Json, out: &mut Lines) {
    if !plan.is_object() {
        return;
    }
    out.gap();
    out.say(format!("{}:{}", text(plan, "file"), count(plan, "line")), Ink::Faint);
    // Positions are in units of UTF-16, as a browser counts.
    let units: Vec<u16> = text(plan, "text").encode_utf16().collect();
    let mut starts: Vec<(usize, usize, &str)> = items(plan, "segments")
        .iter()
        .map(|one| {
            let number = |name: &str| usize::try_from(count(one, name)).unwrap_or(usize::MAX);
            (number("start"), number("end"), text(one, "name"))
        })
        .collect();
    starts.sort_unstable();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut done = 0;
    let slice = |from: usize, to: usize| String::from_utf16_lossy(units.get(from..to).unwrap_or_default());
    for (start, end, name) in starts {
        if start < done || end > units.len() {
            continue;
        }
        pieces.push((slice(done, start), Ink::Faint));
        pieces.push((slice(start, end), Ink::Lane(name.to_owned())));
        done = end;
    }
    pieces.push((slice(done, units.len()), Ink::Faint));
    let mut line: Vec<Piece> = Vec::new();
    for (text, ink) in pieces {
        for (at, part) in text.split('\n').enumerate() {
            if at > 0 {
                out.add(std::mem::take(&mut line));
            }
            if !part.is_empty() {
                line.push((part.replace('\t', "    "), ink.clone()));
            }
        }
    }
    out.add(line);
}

fn value(value: &Json, out: &mut Lines) {
    out.gap();
    let how = field(value, "read_as");
    let why = match text(how, "why") {
        "guess" => "a guess: the plan says nothing",
        "plan" => "as the plan says",
        "asked" => "as you asked",
        other => other,
    };
    out.add(vec![
        ("Value".to_owned(), Ink::Bold),
        (format!("  {}, {}, {why}", bytes(count(value, "length")), text(how, "how")), Ink::Faint),
    ]);
    if !text(how, "fault").is_empty() {
        out.say(text(how, "fault"), Ink::Bad);
    }
    tree(field(value, "tree"), 0, out);
    let hex = text(value, "hex");
    out.say("raw", Ink::Faint);
    let mut rest = hex;
    let mut offset = 0;
    while !rest.is_empty() && offset < 512 {
        let (line, behind) = rest.split_at_checked(PER_LINE * 2).unwrap_or((rest, ""));
        let digits: Vec<&str> = (0..line.len() / 2).filter_map(|at| line.get(at * 2..at * 2 + 2)).collect();
        let shown: String = digits
            .iter()
            .map(|two| u8::from_str_radix(two, 16).map_or('·', char::from))
            .map(|c| if c == ' ' || c.is_ascii_graphic() { c } else { '·' })
            .collect();
        out.add(vec![
            (format!("{offset:06x}  "), Ink::Faint),
            (format!("{:<24}", digits.join(" ")), Ink::Plain),
            (shown, Ink::Faint),
        ]);
        offset += PER_LINE;
        rest = behind;
    }
    let shown = u64::try_from(offset).unwrap_or_default();
    if count(value, "length") > shown {
        out.say(
            format!("the first {} of {} bytes", number(shown), number(count(value, "length"))),
            Ink::Faint,
        );
    }
}

fn tree(node: &Json, depth: usize, out: &mut Lines) {
    for child in items(node, "children") {
        out.add(vec![
            ("  ".repeat(depth.min(20)), Ink::Plain),
            (text(child, "name").to_owned(), Ink::Lane(text(child, "name").to_owned())),
            (format!("  {}", text(child, "text")), Ink::Plain),
            (format!("  {}–{}", count(child, "start"), count(child, "end")), Ink::Faint),
        ]);
        tree(child, depth + 1, out);
    }
    if items(node, "children").is_empty() && depth == 0 && !text(node, "text").is_empty() {
        out.say(text(node, "text"), Ink::Plain);
    }
}

fn structure(explorer: &Arc<Explorer>, at: &Address, hex: &str, family: &str, out: &mut Lines) {
    let params = at.only(&["height"]).with("family", family).with("key", hex);
    let page = match explorer.answer(Page::Structure, &params) {
        Ok(page) => page,
        Err(problem) => return out.say(problem.to_string(), Ink::Bad),
    };
    out.gap();
    out.say(format!("{} of {}", text(&page, "holds"), number(count(&page, "count"))), Ink::Bold);
    for part in items(&page, "parts") {
        let name = if field(part, "field").is_string() { text(part, "field") } else { text(part, "member") };
        let score = word(field(part, "score"));
        let gap = if score.is_empty() { "" } else { "  " };
        out.add(vec![
            (format!("  {score}{gap}"), Ink::Faint),
            (name.to_owned(), Ink::Plain),
            (format!("  {}", text(part, "value")), Ink::Plain),
        ]);
    }
    let queue = field(&page, "queue");
    for (name, words) in [("waiting", "Waits"), ("held", "Is held"), ("failed", "Has failed")] {
        let part = field(queue, name);
        if part.is_object() {
            out.say(format!("{words} {}", number(count(part, "count"))), Ink::Bold);
            for item in items(part, "items") {
                out.say(format!("  {}  {}", word(field(item, "score")), text(item, "member")), Ink::Plain);
            }
        }
    }
}

fn history(explorer: &Arc<Explorer>, at: &Address, page: &Json, out: &mut Lines) -> Result<(), Problem> {
    let first = items(page, "spaces").first().map(|space| text(space, "space")).unwrap_or_default();
    let space = at.get("space").unwrap_or(first);
    let found = explorer.answer(Page::History, &at.only(&["key"]).with("space", space))?;
    out.gap();
    out.add(vec![
        ("History".to_owned(), Ink::Bold),
        (
            format!("  heights {} to {} are kept", word(field(&found, "first")), word(field(&found, "last"))),
            Ink::Faint,
        ),
    ]);
    for change in items(&found, "changes") {
        let value = if field(change, "value").is_null() { "not there" } else { text(change, "value") };
        out.add(vec![
            (format!("  height {}  ", number(count(change, "version"))), Ink::Bold),
            (value.to_owned(), Ink::Plain),
        ]);
    }
    Ok(())
}

/// The reference of a family.
fn family(explorer: &Arc<Explorer>, at: &Address) -> Result<Vec<SideLine>, Problem> {
    let page = explorer
        .answer(Page::Family, &Params::default().with("family", at.get("family").unwrap_or_default()))?;
    let mut out = Lines::default();
    out.add(vec![
        (text(&page, "path").to_owned(), Ink::Bold),
        (format!("  {}", text(&page, "kind")), Ink::Faint),
    ]);
    for line in doc(&page) {
        out.say(line, Ink::Plain);
    }
    let width = field(&page, "width");
    let most = field(width, "most").as_u64().map_or("more".to_owned(), number);
    out.say(format!("keys of {} to {most} bytes", number(count(width, "least"))), Ink::Faint);
    out.gap();
    out.say("Scans", Ink::Bold);
    for scan in items(&page, "scans") {
        claims(text(scan, "words"), text(scan, "mark"), items(scan, "claims"), &mut out);
    }
    out.gap();
    out.say("Proofs", Ink::Bold);
    for claim in items(&page, "statements") {
        let words = format!("{} {}", text(claim, "code"), text(claim, "guarantee"));
        claims(&words, text(claim, "verdict"), std::slice::from_ref(claim), &mut out);
    }
    if !text(&page, "example").is_empty() {
        out.gap();
        out.say(format!("as in {}", text(&page, "example")), Ink::Faint);
    }
    declaration(field(&page, "plan"), &mut out);
    Ok(out.0)
}

/// A statement with its verdict, and the keys that refute it.
pub(super) fn claims_of(words: &str, verdict: &str, all: &[Json]) -> Vec<SideLine> {
    let mut out = Lines::default();
    claims(words, verdict, all, &mut out);
    out.0
}

fn claims(words: &str, verdict: &str, all: &[Json], out: &mut Lines) {
    let (sign, ink) = mark(verdict);
    out.add(vec![(format!("  {sign} {verdict}  "), ink), (words.to_owned(), Ink::Plain)]);
    for claim in all {
        if !text(claim, "why").is_empty() {
            out.say(format!("    {}", text(claim, "why")), Ink::Faint);
        }
        for (name, key) in field(claim, "witness").as_object().into_iter().flatten() {
            if let Some(hex) = key.get("hex").and_then(Json::as_str) {
                out.add(vec![
                    (format!("    {name} "), Ink::Faint),
                    (hex.to_owned(), Ink::Plain),
                    (format!(" {}", word(field(key, "args"))), Ink::Faint),
                ]);
            }
        }
    }
}
