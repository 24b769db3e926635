/// The word of `known` that `word` is most likely a slip of, if there is one.
///
/// Short words allow one slip, longer ones two; a slip is a character missing, added, changed, or two swapped.
/// Of equally near words the first is taken.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    let word: Vec<char> = word.chars().take(LONGEST + 1).collect();
    if word.len() > LONGEST {
        return None;
    }
    let allowed = match word.len() {
        0..=2 => return None,
        3 => 1,
        _ => 2,
    };
    known
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many slips lie between two words (optimal string alignment).
fn distance(word: &[char], candidate: &str) -> usize {
    // Rows of the table of distances between prefixes: of the candidate (rows) and of the word (columns).
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=word.len()).collect();
    let mut previous = None;
    for (row, there) in candidate.chars().enumerate() {
        let mut current = vec![row + 1];
        let mut left_char = None;
        for (column, here) in word.iter().copied().enumerate() {
            let at = |cells: &[usize], index: usize| cells.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, column) + usize::from(here != there))
                .min(at(&last, column + 1) + 1)
                .min(at(&current, column) + 1);
            if column > 0 && previous == Some(here) && left_char == Some(there) {
                best = best.min(at(&before_last, column - 1) + 1);
            }
            current.push(best);
            left_char = Some(here);
        }
        before_last = std::mem::replace(&mut last, current);
        previous = Some(there);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        let chars = |word: &str| word.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("spce"), "space"), 1);
        assert_eq!(distance(&chars("scna"), "scan"), 1);
        assert_eq!(distance(&chars("kye"), "key"), 1);
        assert_eq!(distance(&chars("feild"), "field"), 1);
        assert_eq!(distance(&chars(""), "key"), 3);
        assert_eq!(distance(&chars("key"), ""), 3);
    }

    #[test]
    fn the_nearest_word_wins_and_strangers_have_none() {
        let words = ["scan", "accept", "allot", "score"];
        assert_eq!(nearest("scna", words), Some("scan"));
        assert_eq!(nearest("socre", words), Some("score"));
        assert_eq!(nearest("alot", words), Some("allot"));
        assert_eq!(nearest("pool", words), None);
        assert_eq!(nearest("by", words), None);
        assert_eq!(nearest(&"s".repeat(1000), words), None);
    }
}
