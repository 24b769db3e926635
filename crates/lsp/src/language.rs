//! What the reference of the language says of a word.

/// The reference of the language, as Markdown.
pub const REFERENCE: &str = include_str!("language.md");

/// The row of a table of the reference that explains a word: what it is for, what it writes, and further columns by their names.
pub(crate) fn explained(word: &str) -> Option<String> {
    let mut columns = Vec::new();
    let mut above = "";
    for line in REFERENCE.lines() {
        if line.starts_with("| ---") {
            columns = cells(above);
        }
        above = line;
        if line.starts_with("| `") && has_word(line, word) {
            let row = cells(line);
            let (first, rest) = row.split_first()?;
            let named = rest.iter().zip(columns.iter().skip(1)).enumerate();
            let shown = named.filter(|(_, (cell, _))| !cell.is_empty()).map(|(index, (cell, column))| {
                if index < 2 { cell.clone() } else { format!("{column}: {cell}") }
            });
            return Some(format!("{first}\n\n{}", shown.collect::<Vec<_>>().join(" — ")));
        }
    }
    None
}

/// Whether the first cell of a row has a word.
fn has_word(row: &str, word: &str) -> bool {
    let first = row.trim_matches('|').split(" | ").next().unwrap_or_default();
    first.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|found| found == word)
}

/// The cells of a row, in which a bar is written `\|`.
fn cells(row: &str) -> Vec<String> {
    row.trim_start_matches('|')
        .trim_end_matches('|')
        .replace("\\|", "\u{1}")
        .split('|')
        .map(|cell| cell.trim().replace('\u{1}', "|"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_row_of_their_table() {
        assert_eq!(
            explained("tick9").unwrap(),
            "`tick9`\n\n`i64` — `05` (negative) or `06`, then big-endian two's complement — ends: 9 bytes — order: kept"
        );
        assert!(explained("terminated").unwrap().contains("keeps order"));
        assert_eq!(explained("nonsense"), None);
    }
}
