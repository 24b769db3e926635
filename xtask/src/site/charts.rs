//! The recorded figures as pictures: each table of ratios in docs/benchmarks.md gets a chart, made of its own lines.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// A line of a table whose unit is a ratio.
#[derive(Debug, PartialEq)]
struct Ratio {
    what: String,
    measured: f64,
    goal: f64,
    /// Whether less is better.
    at_most: bool,
}

/// The lines of the store's figures that a visitor reads first, and how they are called there.
const FIRST: [(&str, &str); 3] = [
    ("get, hit", "processor time of a read"),
    ("commit during import, p99", "time of the slowest hundredth of commits"),
    ("disk after import", "bytes on disk"),
];

/// Three recorded figures, for those who know nothing yet: as sentences of Markdown, and as a picture.
///
/// All are of the store against code written by hand on the same engine with its defaults.
pub(crate) fn first_figures(benchmarks: &str) -> Result<(String, String)> {
    let mut ratios = Vec::new();
    let mut lines = String::new();
    for (line, called) in FIRST {
        let is = |found: &&str| found.contains("hand-written fjall, its defaults");
        let row =
            benchmarks.lines().filter(is).filter_map(ratio_and_sides).find(|(ratio, _)| ratio.what == line);
        let (ratio, sides) = row.with_context(|| format!("no recorded figure `{line}`"))?;
        ensure!(ratio.measured > 0.0, "`{line}` was recorded as nothing");
        writeln!(lines, "- **{:.0} %** of the {called} ({sides})", ratio.measured * 100.0)?;
        ratios.push(Ratio { what: called.to_owned(), ..ratio });
    }
    Ok((lines, svg("Keyplan’s store against code written by hand on the same engine", &ratios)))
}

/// A line of ratios, with what was measured of both sides.
fn ratio_and_sides(line: &str) -> Option<(Ratio, String)> {
    let sides = line.trim_end_matches([' ', '|']).rsplit_once(": ")?.1;
    Some((ratio(line)?, sides.to_owned()))
}

/// Puts a chart below each table of ratios of the page, in the copy that the book is made of.
pub(super) fn write(docs: &Path) -> Result<()> {
    let page = docs.join("benchmarks.md");
    let text = std::fs::read_to_string(&page).context("cannot read docs/benchmarks.md")?;
    let mut out = String::new();
    let mut group: Option<(String, Vec<Ratio>)> = None;
    for line in text.lines() {
        if let Some(name) = line
            .strip_prefix("<!-- bench:")
            .and_then(|rest| rest.strip_suffix(" -->"))
            .filter(|n| *n != "end")
        {
            group = Some((name.to_owned(), Vec::new()));
        }
        if let Some((_, ratios)) = &mut group {
            ratios.extend(ratio(line));
        }
        out.push_str(line);
        out.push('\n');
        if line == "<!-- bench:end -->"
            && let Some((name, ratios)) = group.take().filter(|(_, ratios)| ratios.len() > 1)
        {
            std::fs::write(
                docs.join(format!("chart-{name}.svg")),
                svg(&format!("{name}: measured ratios and their goals"), &ratios),
            )?;
            writeln!(out, "\n![The same figures as bars](chart-{name}.svg)")?;
        }
    }
    std::fs::write(&page, out).context("cannot write the page of benchmarks")
}

fn ratio(line: &str) -> Option<Ratio> {
    let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
    let [what, measured, goal, unit, ..] = cells.as_slice() else { return None };
    if !unit.starts_with('×') {
        return None;
    }
    let (sign, goal) = goal.split_once(' ')?;
    Some(Ratio {
        what: (*what).to_owned(),
        measured: measured.replace(',', "").parse().ok()?,
        goal: goal.replace(',', "").parse().ok()?,
        at_most: sign == "≤",
    })
}

/// Bars from nothing to the ratio, with the goal as a mark; below or above it is said in words too.
fn svg(title: &str, ratios: &[Ratio]) -> String {
    const ROW: usize = 24;
    const LEFT: f64 = 330.0;
    const WIDTH: f64 = 420.0;
    let most = ratios.iter().flat_map(|one| [one.measured, one.goal, 1.0]).fold(1.0, f64::max);
    let x = |ratio: f64| LEFT + ratio / most * WIDTH;
    let height = ratios.len() * ROW + 40;
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 {height}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\
         <title>{title}</title>\
         <style>text{{fill:#1d2230}}.met{{fill:#3f7d5c}}.missed{{fill:#b3261e}}.goal{{stroke:#1d2230;stroke-width:2}}.one{{stroke:#8b93a5;stroke-dasharray:3 3}}\
         @media(prefers-color-scheme:dark){{text{{fill:#e4e7ee}}.met{{fill:#7fd6a2}}.missed{{fill:#ff9d93}}.goal{{stroke:#e4e7ee}}}}</style>"
    );
    let one = x(1.0);
    let bottom = height - 30;
    let _ = write!(out, "<line class=\"one\" x1=\"{one:.1}\" x2=\"{one:.1}\" y1=\"4\" y2=\"{bottom}\"/>");
    for (index, ratio) in ratios.iter().enumerate() {
        let top = index * ROW + 6;
        let met = if ratio.at_most { ratio.measured <= ratio.goal } else { ratio.measured >= ratio.goal };
        let class = if met { "met" } else { "missed" };
        let said = if met { "" } else { ", goal missed" };
        let width = (x(ratio.measured) - LEFT).max(1.0);
        let goal = x(ratio.goal);
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect class=\"{class}\" x=\"{LEFT:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"14\" rx=\"2\"/>\
             <line class=\"goal\" x1=\"{goal:.1}\" x2=\"{goal:.1}\" y1=\"{}\" y2=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{}\">{}×{said}</text>",
            LEFT - 8.0,
            top + 12,
            escaped(&shortened(&ratio.what)),
            top.saturating_sub(2),
            top + 16,
            x(ratio.measured.max(ratio.goal)) + 8.0,
            top + 12,
            ratio.measured,
        );
    }
    let _ = write!(
        out,
        "<text x=\"{LEFT:.1}\" y=\"{}\">bar: measured; black mark: goal; dashed: the same as the other side</text></svg>",
        height - 10
    );
    out
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 48 { text.to_owned() } else { text.chars().take(47).chain(['…']).collect() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ratios_become_bars() {
        let line = "| get, hit | 0.615 | ≤ 0.67 | × | met | hand-written fjall: 4.992 µs against 8.123 |";
        let expected = Ratio { what: "get, hit".to_owned(), measured: 0.615, goal: 0.67, at_most: true };
        assert_eq!(ratio(line), Some(expected));
        assert_eq!(ratio("| osmosis_cl | 1,724,138 | ≥ 500,000 | keys/s | met | lines |"), None);
        assert_eq!(ratio("| what | measured | goal | unit | | compared with |"), None);
        assert_eq!(ratio("a line of text"), None);
    }

    #[test]
    fn the_first_figures_are_those_that_were_recorded() {
        let line = |what: &str, ratio: &str| {
            format!(
                "| {what} | {ratio} | ≤ 0.67 | × | met | hand-written fjall, its defaults: 1.5 s against 3 |\n"
            )
        };
        let text = line("get, hit", "0.5")
            + &line("disk after import", "0.57")
            + &line("commit during import, p99", "0.28");
        let (lines, picture) = first_figures(&text).unwrap();
        assert!(
            lines.starts_with("- **50 %** of the processor time of a read (1.5 s against 3)\n"),
            "{lines}"
        );
        assert!(picture.contains("0.28×") && !picture.contains("class=\"missed\""), "{picture}");
        assert!(first_figures(&line("get, hit", "0.5")).is_err());
    }

    #[test]
    fn a_goal_that_is_missed_is_said_in_words() {
        let missed = Ratio { what: "a < b".to_owned(), measured: 2.0, goal: 1.5, at_most: true };
        let picture = svg("demo", &[missed]);
        assert!(picture.contains("2×, goal missed") && picture.contains("a &lt; b"), "{picture}");
        let met = Ratio { what: "more".to_owned(), measured: 2.0, goal: 1.5, at_most: false };
        assert!(!svg("demo", &[met]).contains("goal missed"));
    }
}
