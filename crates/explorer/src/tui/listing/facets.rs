//! The values of an argument.

use super::{Came, Entry, Known, Listing, amount, job, left, plain, right};
use crate::page::Page;
use crate::params::Problem;
use crate::show::field;
use crate::tui::address::Address;
use crate::tui::json::{count, items, text, word};
use crate::tui::paint::{Ink, bar, bytes, number};

pub(super) fn facets(known: Known<'_>, at: &Address) -> Result<Listing, Problem> {
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
