//! The frame of the demonstration.

use comfy_table::{CellAlignment, Table, presets};
use keyplan_plan::model::Plan;

use super::document::family_page;
use super::{DIM, GOOD, STRONG, painted};
use crate::command::{Checked, Tally};

/// A command as it would be typed.
pub(crate) fn command_line(command: &str) -> String {
    format!("{} {}", painted(DIM, "$"), painted(STRONG, command))
}

/// What each plan has, in numbers.
pub(crate) fn plan_table(plans: &[Checked]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "spaces", "families", "scans", "findings", "accepted flaws", "unknown"]);
    for checked in plans {
        let tally = Tally::of([checked]);
        let plan = checked.loaded.compiled.plan.as_ref();
        table.add_row([
            plan.map_or(checked.loaded.path.as_str(), |plan| plan.name.as_str()).to_owned(),
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

/// The reference of one family, as it stands in the page of its plan.
pub(crate) fn excerpt(plan: &Plan, path: &str) -> String {
    let family = plan.families().find(|(_, family)| family.path == path);
    family.map_or(String::new(), |(space, family)| family_page(plan, space, family))
}

/// Commands to go on with.
pub(crate) fn next_steps() -> String {
    let steps = [
        (
            "keyplan encode plans/paw.keyplan pool_by_tokens token_a=upaw token_b=usdc",
            "refused: two readings",
        ),
        ("keyplan doc plans/paw.keyplan -o paw.md", "the reference of a chain"),
        ("keyplan explain plans/onesat.keyplan h:sats --input text", "a key as text"),
        ("keyplan language", "how to write a plan of your own"),
    ];
    let mut out = format!("{}\n", painted(GOOD, "Try next:"));
    for (command, what) in steps {
        put!(out, "  {}\n      {}\n", painted(STRONG, command), painted(DIM, what));
    }
    out
}
