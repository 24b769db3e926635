//! What would be under a changed plan.

use super::plan::finding_lines;
use super::{Entry, Known, Listing, faint, left, plain};
use crate::params::Problem;
use crate::show::field;
use crate::tui::json::{count, items, text};
use crate::tui::paint::{Ink, number};

pub(super) fn trial(known: Known<'_>) -> Result<Listing, Problem> {
    let Some(tried) = known.tried else {
        return Err(Problem::Absent("nothing was changed: e opens the plan in your editor".to_owned()));
    };
    let mut lines = Vec::new();
    let mut notes = Vec::new();
    if *field(tried, "meaning") == true {
        notes.push(if *field(tried, "same_layout") == true {
            vec![plain("The bytes of all keys stay as they are.")]
        } else {
            let words = "⚠ Another layout: keys that are already written would be read in another way, or not at all.";
            vec![(words.to_owned(), Ink::Warn)]
        });
        for (name, words) in [("holds", "proved"), ("refuted", "refuted"), ("unknown", "unknown")] {
            let (now, was) = (count(field(tried, "proof"), name), count(field(tried, "proof_now"), name));
            let worse = name != "holds" && now > was;
            let ink = if worse { Ink::Bad } else { Ink::Plain };
            let change = if now == was { String::new() } else { format!("was {}", number(was)) };
            lines.push(Entry::new(vec![(words.to_owned(), ink.clone()), (number(now), ink), plain(change)]));
        }
        let reads = field(tried, "reads");
        if let Some(why) = reads.get("why").and_then(|why| why.as_str()) {
            lines.push(Entry::new(vec![plain("reads"), (why.to_owned(), Ink::Bad)]));
        }
        for space in items(reads, "spaces") {
            let of = if *field(space, "whole") == true { "all" } else { "the first" };
            let words = format!(
                "reads {} of {of} {} rows",
                number(count(space, "read")),
                number(count(space, "rows"))
            );
            lines.push(Entry::new(vec![plain(text(space, "space")), plain(words)]));
        }
        for group in items(reads, "unread") {
            let read = count(group, "read");
            let words = format!("{} unread keys: {}", number(count(group, "rows")), text(group, "message"));
            lines.push(Entry::new(vec![plain(text(group, "space")), plain(words)]));
            if read > 0 {
                let now = format!("{read} of {} examples are read", count(group, "examples"));
                let first = text(field(group, "first"), "text").to_owned();
                lines.push(Entry::new(vec![faint("  now"), (now, Ink::Good)]));
                lines.push(Entry::new(vec![faint("  as"), (first, Ink::Good)]));
            } else {
                lines.push(Entry::new(vec![faint("  now"), faint("still unread")]));
            }
        }
    } else {
        notes.push(vec![("It does not compile yet.".to_owned(), Ink::Bad)]);
    }
    for finding in items(tried, "findings") {
        lines.extend(finding_lines(finding));
    }
    Ok(Listing {
        title: "What if?".to_owned(),
        notes,
        head: vec![left(""), left("what"), left("")],
        lines,
        foot: "e changes it further, w writes it".to_owned(),
        ..Listing::default()
    })
}
