//! What the reference of the language says of a word.

/// The reference of the language, as Markdown.
pub const REFERENCE: &str = include_str!("language.md");

/// The row of a table of the reference that explains a word: what it is for, and what it writes.
pub(crate) fn explained(word: &str) -> Option<String> {
    let row = REFERENCE.lines().filter(|line| line.starts_with("| `")).find(|line| {
        let first = line.trim_matches('|').split(" | ").next().unwrap_or_default();
        let words = first.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        words.into_iter().any(|found| found == word)
    })?;
    let cells: Vec<String> = row
        .trim_start_matches('|')
        .trim_end_matches('|')
        .replace("\\|", "\u{1}")
        .split('|')
        .map(|cell| cell.trim().replace('\u{1}', "|"))
        .collect();
    let (first, rest) = cells.split_first()?;
    Some(format!("{first}\n\n{}", rest.join(" — ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_row_of_their_table() {
        assert_eq!(
            explained("tick9").unwrap(),
            "`tick9`\n\n`i64` — `05` (negative) or `06`, then big-endian two's complement"
        );
        assert!(explained("terminated").unwrap().contains("order-preserving"));
        assert_eq!(explained("nonsense"), None);
    }
}
