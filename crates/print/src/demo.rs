//! The frame of the demonstration.

use std::path::Path;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use keyplan_plan::diag::grouped;
use keyplan_prover::Statement;
use keyplan_report::findings::{Checked, Tally};

use super::{DIM, GOOD, NAME, STRONG, accepted_flaw, painted};

/// A command as it would be typed.
pub fn command_line(command: &str) -> String {
    format!("{} {}", painted(DIM, "$"), painted(STRONG, command))
}

/// What each plan has, in numbers.
pub fn plan_table(plans: &[Checked]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "spaces", "families", "scans", "findings", "accepted flaws", "unknown"]);
    for checked in plans {
        let tally = Tally::of([checked]);
        let plan = checked.compiled.plan.as_ref();
        table.add_row([
            plan.map_or(checked.path.as_str(), |plan| plan.name.as_str()).to_owned(),
            plan.map_or(0, |plan| plan.spaces.len()).to_string(),
            tally.families.to_string(),
            tally.scans.to_string(),
            number_or_dash(tally.findings),
            number_or_dash(tally.accepted),
            number_or_dash(tally.unknown),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut out = String::new();
    table.lines().for_each(|line| put!(out, "  {}\n", line.trim_end()));
    out.push('\n');
    out
}

fn number_or_dash(n: usize) -> String {
    if n == 0 { "–".to_owned() } else { n.to_string() }
}

/// An accepted flaw with the keys that show it, as `check --accepted` prints it.
pub fn flaw_of(checked: &Checked, code: &str, family: &str) -> String {
    let wanted = |statement: &&Statement| statement.guarantee.code() == code && statement.family == family;
    let found = checked.accepted().find(wanted);
    found.map_or_else(String::new, |statement| accepted_flaw(checked, statement) + "\n")
}

/// How much was written, and how fast.
pub fn filled(rows: u64, directory: &Path, took: Duration) -> String {
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1);
    format!(
        "{} rows of five systems written to {} in {}.{} s, through types that {} made",
        grouped(rows),
        directory.display(),
        millis / 1_000,
        millis % 1_000 / 100,
        painted(NAME, "keyplan::plan!(\"five.keyplan\")"),
    )
}

/// Commands to go on with, and others that follow them.
pub fn next_steps(directory: &Path, more: &[(String, &str)]) -> String {
    let directory = directory.display();
    let steps = [
        (
            format!("keyplan db scan {directory} cl.tick pool_id=1 --limit 5"),
            "rows of one pool, in order, decoded",
        ),
        (
            format!("keyplan explain {directory} 01000000000000000705ffffffffffffff9c --space cl"),
            "what each byte of a key means",
        ),
        (
            format!("keyplan check {directory} --accepted"),
            "the plan of the database, and every flaw that it keeps",
        ),
        (format!("keyplan db scan {directory} token_queue --limit 5"), "queues, and how many items each has"),
        ("keyplan language".to_owned(), "how to write a plan of your own"),
    ];
    let mut out = format!("{}\n", painted(GOOD, "Try next:"));
    for (command, what) in steps.iter().chain(more) {
        put!(out, "  {}\n      {}\n", painted(STRONG, command), painted(DIM, what));
    }
    out
}
