//! Only what is used: the declarations of a runtime's text that some code needs, directly or through others.

use std::collections::{BTreeMap, BTreeSet};

/// A declaration at the top level of a text, with the comment before it.
#[derive(Clone, Debug)]
struct Declaration<'t> {
    names: BTreeSet<&'t str>,
    text: &'t str,
}

/// The declarations of `runtime` that `code` needs, in their order, a blank line between two.
///
/// A declaration is a paragraph that goes on while its lines are indented or close a bracket. `names` gives what a
/// declaration declares. What a name in quotes stands for is needed too: more is kept than must be, never less.
pub(crate) fn needed<'t>(
    runtime: &[&'t str],
    code: &str,
    names: impl Fn(&'t str) -> BTreeSet<&'t str>,
) -> Vec<&'t str> {
    let all: Vec<Declaration<'t>> = runtime
        .iter()
        .flat_map(|text| paragraphs(text))
        .map(|text| Declaration { names: names(text), text })
        .filter(|declaration| !declaration.names.is_empty())
        .collect();
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, one) in all.iter().enumerate() {
        for name in &one.names {
            by_name.entry(name).or_default().push(at);
        }
    }
    let mut kept = BTreeSet::new();
    let mut left: Vec<&str> = vec![code];
    while let Some(text) = left.pop() {
        for word in text.lines().filter(|line| !is_comment(line)).flat_map(words) {
            for &at in by_name.get(word).map_or(&[][..], Vec::as_slice) {
                if let Some(found) = all.get(at).filter(|_| kept.insert(at)) {
                    left.push(found.text);
                }
            }
        }
    }
    kept.into_iter().filter_map(|at| all.get(at)).map(|declaration| declaration.text).collect()
}

/// Paragraphs at the top level: a blank line ends one only if what follows is not indented.
fn paragraphs(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut at, mut blank) = (0, 0, true);
    for line in text.split_inclusive('\n') {
        let outer = !line.starts_with(['\t', ' ', '}', ')', ']', '\n']);
        if blank && outer && at > start {
            found.push(text.get(start..at).unwrap_or_default().trim_end());
            start = at;
        }
        blank = line == "\n";
        at += line.len();
    }
    found.push(text.get(start..).unwrap_or_default().trim_end());
    found
}

/// Whether a line is only a comment, in any of the languages.
pub(crate) fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "/*", "* ", "*/"].iter().any(|mark| line.starts_with(mark))
}

/// The identifiers in a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_through_others_is_kept_and_nothing_else() {
        let runtime = "// a needs b, not c.\nfunc a() {\n\tb()\n\n\tb()\n}\n\nfunc b() {}\n\nfunc c() {}\n";
        let names = |text: &'static str| {
            let name = text.split("func ").nth(1).and_then(|rest| rest.split('(').next());
            name.into_iter().collect()
        };
        assert_eq!(
            needed(&[runtime], "a()", names),
            ["// a needs b, not c.\nfunc a() {\n\tb()\n\n\tb()\n}", "func b() {}"]
        );
    }
}
