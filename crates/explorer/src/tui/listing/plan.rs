//! The plan: what is proved, what is wrong, which numbers are free.

use serde_json::Value as Json;

use super::{Entry, Known, Listing, faint, left, plain};
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;
use crate::tui::address::Address;
use crate::tui::json::{count, items, text, word};
use crate::tui::paint::{Ink, mark};

/// What is proved, what is wrong, and which numbers are free.
pub(super) fn plan(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
    let page = known.ask(Page::Plan, &Params::default())?;
    let table = field(&page, "table");
    let mut lines = Vec::new();
    for finding in items(&page, "findings") {
        lines.extend(finding_lines(finding));
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

/// A finding with the keys that show it and its repairs.
pub(super) fn finding_lines(finding: &Json) -> Vec<Entry> {
    let mut lines = Vec::new();
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
    lines
}
