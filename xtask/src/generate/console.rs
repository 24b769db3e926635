//! Blocks of commands and what they print, in pages that people write.
//!
//! A page shows real output, or it does not show output: inside of a block marked `console`, what is below a line
//! `$ keyplan …` is what that command prints.

use anyhow::Result;

const FENCE: &str = "```";
const OPEN: &str = "```console";
const PROMPT: &str = "$ keyplan ";

/// The page with what its commands print, as `run` says. Times are left as they are: they differ from run to run.
pub(super) fn refreshed(page: &str, mut run: impl FnMut(&[&str]) -> Result<String>) -> Result<String> {
    let mut text = String::new();
    let mut lines = page.lines().peekable();
    let mut inside = false;
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        inside = if inside { line != FENCE } else { line == OPEN };
        let Some(command) = line.strip_prefix(PROMPT).filter(|_| inside) else { continue };
        let mut shown = String::new();
        while let Some(line) = lines.next_if(|line| *line != FENCE && !line.starts_with("$ ")) {
            shown.push_str(line);
            shown.push('\n');
        }
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let printed = run(&arguments)?;
        let printed = printed.trim_end();
        let blank = if lines.peek().is_some_and(|line| line.starts_with("$ ")) { "\n" } else { "" };
        let fresh = if printed.is_empty() { blank.to_owned() } else { format!("{printed}\n{blank}") };
        text.push_str(if without_times(&fresh) == without_times(&shown) { &shown } else { &fresh });
    }
    Ok(text)
}

/// The text with every `in 41 ms` alike.
fn without_times(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let is_time = |index: usize| {
        let before = index.checked_sub(1).and_then(|index| words.get(index));
        let behind = words.get(index + 1).is_some_and(|word| word.starts_with("ms"));
        before == Some(&"in") && behind
    };
    let kept = words.iter().enumerate().map(|(index, word)| if is_time(index) { "0" } else { word });
    kept.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expected: &str) {
        let run = |arguments: &[&str]| Ok(format!("ran {} in 7 ms\n\n", arguments.join("+")));
        assert_eq!(refreshed(page, run).unwrap(), expected);
    }

    #[test]
    fn output_below_a_command_is_replaced() {
        let page = "a\n```console\n$ keyplan x 1\nold\n\n$ ls\nkept\n$ keyplan y\n```\nb\n```text\n$ keyplan z\n```\n";
        let fresh = "a\n```console\n$ keyplan x 1\nran x+1 in 7 ms\n\n$ ls\nkept\n$ keyplan y\nran y in 7 ms\n```\n\
            b\n```text\n$ keyplan z\n```\n";
        check(page, fresh);
    }

    #[test]
    fn a_time_that_differs_changes_nothing() {
        let page = "```console\n$ keyplan x\nran x in 3 ms\n```\n";
        check(page, page);
    }
}
