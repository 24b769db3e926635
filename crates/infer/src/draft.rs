//! Families as the text of a plan.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use keyplan_plan::diag::grouped;

use crate::divide::Group;
use crate::guess::Guess;
use crate::search::Piece;

/// One space of a draft.
#[derive(Debug)]
pub(crate) struct DraftSpace<'k> {
    pub(crate) name: String,
    pub(crate) groups: Vec<Group<'k>>,
    /// The layout of the values of each group, where it was looked for.
    pub(crate) values: Vec<Option<String>>,
}

/// Writes a plan. The text is what `keyplan fmt` leaves as it is, but for long lines.
pub(crate) fn write(plan: &str, about: &str, spaces: &[DraftSpace<'_>]) -> (String, Vec<Vec<String>>) {
    let mut out = format!("//! {about}\nplan {plan};\n");
    let mut taken = BTreeSet::new();
    let mut paths = Vec::new();
    for space in spaces {
        let name = unique(&identifier(&space.name), &mut taken);
        // Writing to a string does not fail.
        let _ = if name == space.name {
            write!(out, "\nspace {name} {{\n")
        } else {
            write!(out, "\nspace {name} = {} {{\n", quoted(&space.name))
        };
        let mut families = BTreeSet::new();
        let mut names = Vec::new();
        for (at, group) in space.groups.iter().enumerate() {
            let family = unique(&family_name(&group.layout.pieces), &mut families);
            let count = u64::try_from(group.keys.len()).unwrap_or(u64::MAX);
            let keys = if count == 1 { "key" } else { "keys" };
            let gap = if at > 0 { "\n" } else { "" };
            let _ = writeln!(out, "{gap}    /// Seen in {} {keys}.", grouped(count));
            let _ = write!(out, "    key {family} = {}", parts(&group.layout.pieces));
            if let Some(Some(value)) = space.values.get(at) {
                let _ = write!(out, "\n        -> {value}");
            }
            out.push_str(";\n");
            names.push(format!("{name}.{family}"));
        }
        out.push_str("}\n");
        paths.push(names);
    }
    (out, paths)
}

/// The parts of a key.
pub(crate) fn parts(pieces: &[Piece]) -> String {
    let mut taken = BTreeSet::new();
    let mut out = Vec::new();
    for piece in pieces {
        out.push(match &piece.guess {
            Guess::Literal(_) => piece.guess.notation(),
            guess => format!("{}: {}", unique(guess.noun(), &mut taken), guess.notation()),
        });
    }
    if out.is_empty() { "\"\"".to_owned() } else { out.join(" ") }
}

/// The words of its literals, or its first bytes.
fn family_name(pieces: &[Piece]) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut bytes: Vec<u8> = Vec::new();
    for piece in pieces {
        let Guess::Literal(literal) = &piece.guess else { continue };
        bytes.extend(literal.iter().take(8));
        for word in literal.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_') {
            let word = String::from_utf8_lossy(word).to_lowercase();
            let word = word.trim_matches('_');
            if word.len() >= 2 && words.len() < 3 {
                words.push(word.to_owned());
            }
        }
    }
    if !words.is_empty() {
        return identifier(&words.join("_"));
    }
    if bytes.is_empty() {
        return pieces.first().map_or("empty", |piece| piece.guess.noun()).to_owned();
    }
    bytes.iter().take(4).fold("k_".to_owned(), |mut name, byte| {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
        name
    })
}

/// A text as a name of the language.
pub(crate) fn identifier(text: &str) -> String {
    let mut name: String = text
        .chars()
        .take(48)
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') {
        name.insert_str(0, "k_");
    }
    if WORDS.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// Words that mean something at the beginning of an item.
const WORDS: [&str; 16] = [
    "key", "hash", "set", "zset", "queue", "module", "space", "type", "names", "import", "plan", "retired",
    "allot", "field", "member", "score",
];

fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut unique = name.to_owned();
    let mut number = 2;
    while !taken.insert(unique.clone()) {
        unique = format!("{name}_{number}");
        number += 1;
    }
    unique
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_of_the_language() {
        assert_eq!(identifier("state-utxos"), "state_utxos");
        assert_eq!(identifier("0x"), "k_0x");
        assert_eq!(identifier("key"), "key_");
        assert_eq!(quoted("a\"\n"), "\"a\\\"\\u{a}\"");
    }
}
