//! What is wrong with a plan, for people.

use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use keyplan_plan::diag::{Diagnostic, NoteKind, SourceMap, Style, render};
use keyplan_plan::model::{DottedPath, Family, Plan, Space};
use keyplan_prover::{Change, Fate, Guarantee, Statement, Verdict, accepted_by, describe};
use keyplan_report::findings::{Against, Checked, Tally};

use super::{DIM, ERROR, GOOD, NAME, STRONG, marked, painted};

/// Findings for people: each with the lines of the plan, what is wrong there and what to do.
pub fn findings(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    marked(&render(diagnostics, sources, Style::Color))
}

/// All that is to be said of one plan: its findings, the flaws that it accepts if they are asked for, and how both spread
/// over its parts. Nothing if nothing was found.
pub fn checked(plan: &Checked, accepted: bool) -> String {
    let mut out = String::new();
    if !plan.findings.is_empty() {
        out.push_str(&findings(&plan.compiled.sources, &plan.told()));
        out.push('\n');
    }
    let listed = accepted && plan.accepted().next().is_some();
    if listed {
        out.push_str(&accepted_flaws(plan));
    }
    let refuted =
        plan.statements().any(|statement| flaw(statement) == Some(Flaw::Open) && column(statement).is_some());
    if refuted || listed {
        out.push_str(&spread(plan));
    }
    out
}

/// The accepted flaws, each with why it is kept and the keys that show it.
fn accepted_flaws(checked: &Checked) -> String {
    let mut out = format!("{}\n", painted(STRONG, format!("accepted in {}", checked.path)));
    checked.accepted().for_each(|statement| out.push_str(&accepted_flaw(checked, statement)));
    out.push('\n');
    out
}

/// A flaw that a plan accepts, with why it is kept and the keys that show it.
pub fn accepted_flaw(checked: &Checked, statement: &Statement) -> String {
    let mut out = String::new();
    let (Some(plan), Some((options, _))) = (&checked.compiled.plan, &checked.proof) else {
        return out;
    };
    let Some(diagnostic) = describe(plan, statement, options, &checked.path) else { return out };
    put!(out, "  {} {}\n", painted(NAME, diagnostic.code.id()), &diagnostic.message);
    if let Some(accept) = accepted_by(plan, statement) {
        put!(out, "      {}\n", painted(DIM, &accept.why));
    }
    let shown =
        diagnostic.notes.iter().filter(|note| matches!(note.kind, NoteKind::Witness | NoteKind::Note));
    for line in shown.flat_map(|note| note.text.lines()) {
        put!(out, "      {line}\n");
    }
    out
}

/// Whether a statement is flawed, and how the plan takes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    Open,
    Accepted,
}

fn flaw(statement: &Statement) -> Option<Flaw> {
    match statement.verdict {
        Verdict::Holds | Verdict::Assumed(_) => None,
        _ if statement.accepted => Some(Flaw::Accepted),
        _ => Some(Flaw::Open),
    }
}

/// The columns after the number of families.
const COLUMNS: [&str; 6] = ["collide", "ambiguous", "scans", "order", "allotment", "lossy"];

fn column(statement: &Statement) -> Option<usize> {
    match statement.guarantee {
        Guarantee::Disjoint => Some(0),
        Guarantee::Unambiguous => Some(1),
        Guarantee::NoForeignRows | Guarantee::NoSiblingRows => Some(2),
        Guarantee::InOrder => Some(3),
        Guarantee::Allotted => Some(4),
        Guarantee::Lossless => Some(5),
        _ => None,
    }
}

/// Spaces and modules by guarantees: how many flaws each has, accepted ones in parentheses.
fn spread(checked: &Checked) -> String {
    let Some(plan) = &checked.compiled.plan else { return String::new() };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "families"].into_iter().chain(COLUMNS));
    let mut any_accepted = false;
    for (space, module) in places(plan) {
        let inside = |family: &&Family| family.module.map(|id| id.0) == module;
        let families: Vec<&Family> = space.families.iter().filter(inside).collect();
        if families.is_empty() {
            continue;
        }
        let mut counts = [[0_usize; 2]; COLUMNS.len()];
        for statement in checked.statements().filter(|statement| belongs(statement, &families)) {
            if let (Some(flaw), Some(column)) = (flaw(statement), column(statement)) {
                let of = usize::from(flaw == Flaw::Accepted);
                if let Some(count) = counts.get_mut(column).and_then(|pair| pair.get_mut(of)) {
                    *count += 1;
                }
            }
        }
        any_accepted |= counts.iter().any(|[_, accepted]| *accepted > 0);
        let name = name(plan, space, module);
        let cells = counts.iter().map(|pair| cell(*pair));
        table.add_row([name, families.len().to_string()].into_iter().chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut out = String::new();
    table.lines().for_each(|line| put!(out, "  {}\n", line.trim_end()));
    if any_accepted {
        put!(out, "   {}\n", painted(DIM, "(n): accepted in the plan"));
    }
    out.push('\n');
    out
}

/// Every space, followed by its modules.
fn places(plan: &Plan) -> impl Iterator<Item = (&Space, Option<usize>)> {
    plan.spaces.iter().flat_map(|space| {
        let modules = (0..space.modules.len()).map(Some);
        std::iter::once(None).chain(modules).map(move |module| (space, module))
    })
}

fn name(plan: &Plan, space: &Space, module: Option<usize>) -> String {
    let Some(module) = module.and_then(|index| space.modules.get(index)) else { return space.name.clone() };
    let local = DottedPath(&module.path).rest().unwrap_or(&module.path);
    if plan.spaces.len() == 1 { local.to_owned() } else { module.path.clone() }
}

/// Whether a statement is about one of these families, or about a field, member or score of one.
fn belongs(statement: &Statement, families: &[&Family]) -> bool {
    families.iter().any(|family| family.path == statement.of)
}

fn cell([open, accepted]: [usize; 2]) -> String {
    match (open, accepted) {
        (0, 0) => "–".to_owned(),
        (open, 0) => open.to_string(),
        (0, accepted) => format!("({accepted})"),
        (open, accepted) => format!("{open} ({accepted})"),
    }
}

/// What became of an earlier version, in one line.
pub fn evolution(against: &Against) -> String {
    let count = |wanted: fn(&Change) -> bool| against.changes.iter().filter(|change| wanted(change)).count();
    let broken = count(Change::is_breaking);
    let kept = |change: &Change, fate: fn(&Fate) -> bool| !change.is_breaking() && fate(&change.fate);
    let parts = [
        (against.changes.iter().filter(|c| kept(c, |fate| *fate == Fate::Same)).count(), "unchanged"),
        (
            against.changes.iter().filter(|c| kept(c, |f| matches!(f, Fate::Widened { .. }))).count(),
            "widened",
        ),
        (against.changes.iter().filter(|c| kept(c, |f| matches!(f, Fate::Added { .. }))).count(), "added"),
        (
            against.changes.iter().filter(|c| kept(c, |f| matches!(f, Fate::Removed { .. }))).count(),
            "retired",
        ),
    ];
    let mut out = format!("against {}:", &against.path);
    for (number, what) in parts.iter().filter(|(number, _)| *number > 0) {
        put!(out, " {number} {what},");
    }
    let style = if broken == 0 { GOOD } else { ERROR };
    put!(out, " {}", painted(style, format_args!("{broken} broken")));
    out
}

/// The whole truth in one line.
pub fn summary(tally: &Tally, took: Duration) -> String {
    let plans = if tally.plans == 1 { String::new() } else { format!("{} plans, ", tally.plans) };
    let style = |n: usize| if n == 0 { GOOD } else { ERROR };
    let findings = painted(style(tally.findings), counted(tally.findings, "finding", "findings"));
    // Of a text with mistakes it is not known how many families it has.
    if tally.families == 0 && tally.findings > 0 && !tally.proved {
        return format!("{plans}{findings}, nothing proved, in {}", duration(took));
    }
    let mut out = format!(
        "{plans}{}, {}: {findings}",
        counted(tally.families, "family", "families"),
        counted(tally.scans, "scan", "scans"),
    );
    if tally.warnings > 0 {
        put!(out, ", {}", counted(tally.warnings, "warning", "warnings"));
    }
    put!(out, ", {} accepted", tally.accepted);
    if tally.proved {
        put!(out, ", {}", painted(style(tally.unknown), format_args!("{} unknown", tally.unknown)));
    } else {
        out.push_str(", nothing proved");
    }
    put!(out, ", in {}", duration(took));
    out
}

/// `1 plan`, `2 plans`
pub fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn duration(took: Duration) -> String {
    match took.as_millis() {
        0 => "under 1 ms".to_owned(),
        millis @ 1..10_000 => format!("{millis} ms"),
        millis => format!("{} s", millis / 1000),
    }
}
