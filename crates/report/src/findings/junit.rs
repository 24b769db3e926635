//! Findings as `JUnit` XML, which build servers read: a suite for each plan, a case for each family.

use std::fmt::Write;

use keyplan_plan::model::Plan;
use keyplan_plan::notation::is_hidden;
use keyplan_prover::Found;

use super::Checked;

/// All plans as one document. A family without findings is a case that passed; what is about no family is a case of its own.
pub fn junit(plans: &[Checked]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"keyplan\">\n");
    for plan in plans {
        suite(&mut out, plan);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, checked: &Checked) {
    let families: Vec<&str> = checked
        .compiled
        .plan
        .iter()
        .flat_map(Plan::families)
        .map(|(_, family)| family.path.as_str())
        .collect();
    let of = |found: &Found| {
        let owner = found.statement.as_ref().map(|statement| statement.of.as_str())?;
        families.iter().copied().find(|family| owner == *family)
    };
    let others: Vec<&Found> = checked.findings.iter().filter(|found| of(found).is_none()).collect();
    let cases = families.len() + others.len();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{cases}\" failures=\"{}\" errors=\"0\" skipped=\"0\">",
        escaped(&checked.path),
        checked.findings.len()
    );
    for family in &families {
        let own: Vec<&Found> = checked.findings.iter().filter(|found| of(found) == Some(family)).collect();
        case(out, checked, family, &own);
    }
    for found in others {
        case(out, checked, found.diagnostic.code.slug(), &[found]);
    }
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, checked: &Checked, name: &str, found: &[&Found]) {
    let place = found.first().map(|found| checked.compiled.sources.position(found.diagnostic.span()));
    let line = place.map_or_else(String::new, |place| format!(" line=\"{}\"", place.line));
    let file = escaped(&checked.path);
    let _ =
        write!(out, "    <testcase classname=\"{file}\" name=\"{}\" file=\"{file}\"{line}", escaped(name));
    if found.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for found in found {
        let diagnostic = &found.diagnostic;
        let mut text = diagnostic.message.clone();
        for note in &diagnostic.notes {
            let _ = write!(text, "\n{}: {}", note.kind.word(), note.text);
        }
        let _ = writeln!(
            out,
            "      <failure type=\"{}\" message=\"{}\">{}</failure>",
            diagnostic.code.id(),
            escaped(&diagnostic.message),
            escaped(&text)
        );
    }
    out.push_str("    </testcase>\n");
}

/// Text of an element or an attribute. What XML has no character for, and what acts on a reader, is written as `\u{1b}`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            char if is_hidden(char) || matches!(char, '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::checked;
    use super::*;

    #[test]
    fn families_are_cases_and_findings_are_failures() {
        let plan = checked("plan p; space s { key k = 0x01; key t = 0x02 x: u32.le scan all in order; }");
        let text = junit(&[plan]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..4],
            [
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
                "<testsuites name=\"keyplan\">",
                "  <testsuite name=\"demo.keyplan\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">",
                "    <testcase classname=\"demo.keyplan\" name=\"s.k\" file=\"demo.keyplan\"/>",
            ]
        );
        assert_eq!(
            lines[4],
            "    <testcase classname=\"demo.keyplan\" name=\"s.t\" file=\"demo.keyplan\" line=\"1\">"
        );
        assert!(
            lines[5]
                .starts_with("      <failure type=\"KP0005\" message=\"the scan `s.t all` is not in order"),
            "{}",
            lines[5]
        );
        assert_eq!(lines[6..], ["    </testcase>", "  </testsuite>", "</testsuites>"]);
    }

    #[test]
    fn a_mistake_is_a_case_of_its_own() {
        let text = junit(&[checked("plan p; space s { key k = a: <; }")]);
        assert!(text.contains("tests=\"1\" failures=\"1\""), "{text}");
        assert!(text.contains("name=\"bad-token\""), "{text}");
    }

    #[test]
    fn nothing_breaks_out_of_an_attribute() {
        assert_eq!(escaped("a\"<b>&\u{1b}[31m\n"), "a&quot;&lt;b&gt;&amp;\\u{1b}[31m&#10;");
    }
}
