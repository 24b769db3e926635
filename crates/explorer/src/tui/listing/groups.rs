//! Keys that no family makes and keys with two readings, and the draft of a plan for the former.

use super::{Came, Entry, Known, Listing, Working, amount, faint, job, left, plain, right};
use crate::page::Page;
use crate::params::Problem;
use crate::show::field;
use crate::tui::address::Address;
use crate::tui::json::{count, items, text, word};
use crate::tui::paint::{Ink, number};

pub(super) fn groups(known: Known<'_>, at: &Address, view: &str) -> Result<Listing, Problem> {
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
    let rows = count(&page, "rows");
    Ok(Listing {
        title: title.to_owned(),
        notes,
        head: vec![right("keys"), left("space"), left("at"), left("why"), left("first")],
        lines,
        foot: format!("{} {}", amount(rows, !walking), if rows == 1 { "key" } else { "keys" }),
        works: walking.then_some(Working::Walk),
        ..Listing::default()
    })
}

pub(super) fn infer(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
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
