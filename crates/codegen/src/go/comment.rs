//! Comments in which gofmt changes nothing, whatever a plan says: gofmt rewrites comments of declarations as documentation.

/// Lines as a comment.
pub(crate) fn comment(indent: &str, lines: &[String]) -> String {
    let mut kept: Vec<String> = Vec::new();
    for line in lines.iter().flat_map(|line| line.split('\n')) {
        let line = plain(line);
        // Empty lines are joined, and none comes first.
        if !line.is_empty() || kept.last().is_some_and(|last| !last.is_empty()) {
            kept.push(line);
        }
    }
    if kept.last().is_some_and(String::is_empty) {
        kept.pop();
    }
    let is_empty = |at: Option<usize>| at.and_then(|at| kept.get(at)).is_some_and(String::is_empty);
    let mut out = String::new();
    for (at, line) in kept.iter().enumerate() {
        // A paragraph of one line between others would become a heading.
        let alone = is_empty(at.checked_sub(1)) && is_empty(at.checked_add(1));
        let stop = if alone && is_title(line) { "." } else { "" };
        out.push_str(format!("{indent}// {line}{stop}").trim_end());
        out.push('\n');
    }
    out
}

/// A line without what means something to gofmt or to the compiler.
fn plain(line: &str) -> String {
    let line: String = line
        .chars()
        .filter(|c| *c != '\u{feff}')
        .map(|c| if c.is_control() && c != '\t' { ' ' } else { c })
        .collect();
    let line = unquoted(line.trim());
    if let Some(rest) = line.strip_prefix("+build") {
        return format!("`+build`{rest}");
    }
    // A heading, with one space after its mark.
    if let Some(title) = line.strip_prefix('#').filter(|rest| rest.starts_with(char::is_whitespace)) {
        return format!("# {}", title.trim_start());
    }
    // The definition of a link, which would go to the end of the comment.
    match line.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
        Some((text, address)) if address.contains("://") => format!("{text}:{address}"),
        _ => line,
    }
}

/// A line without pairs of quotes, which would become other characters. Three and more in a row are left as they are.
fn unquoted(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches(first).len();
        match (first, run / first.len_utf8()) {
            ('`', 2) => out.push('`'),
            ('\'', count) if count > 1 => out.push('"'),
            _ => out.push_str(rest.get(..run).unwrap_or_default()),
        }
        rest = rest.get(run..).unwrap_or_default();
    }
    out
}

/// Whether a line could be a heading: it begins with a capital and ends without a mark.
fn is_title(line: &str) -> bool {
    line.starts_with(char::is_uppercase) && line.ends_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], wanted: &str) {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(comment("", &lines), wanted, "{lines:?}");
    }

    #[test]
    fn a_paragraph_between_others_does_not_become_a_heading() {
        check(
            &["A is a key.", "", "Pools by number", "", "More"],
            "// A is a key.\n//\n// Pools by number.\n//\n// More\n",
        );
        check(
            &["A", "", "pools by number", "", "- B", "B", ""],
            "// A\n//\n// pools by number\n//\n// - B\n// B\n",
        );
    }

    #[test]
    fn empty_lines_are_joined_and_stand_only_between_others() {
        check(&["", " a ", "", " ", "\u{feff}b\u{1}", ""], "// a\n//\n// b\n");
    }

    #[test]
    fn what_means_something_to_tools_is_only_text() {
        check(
            &["+build ignore", "", "[x]: https://x.org", "[y]: z"],
            "// `+build` ignore\n//\n// x: https://x.org\n// [y]: z\n",
        );
        check(&["a", "", "#   1. y", "#z"], "// a\n//\n// # 1. y\n// #z\n");
        check(&["``a'' '''b''' 'c' ```go"], "// `a\" \"b\" 'c' ```go\n");
    }
}
