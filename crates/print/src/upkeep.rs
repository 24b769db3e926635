//! What was pruned or retired, or would be.

use keyplan_plan::model::Family;
use keyplan_store::{Removed, RetiredTarget};

use super::{DIM, hex, painted};

/// What became of the rows of a family.
pub fn pruned(family: &Family, removed: &Removed, applied: bool) -> String {
    let rule = family.retention.as_ref().map(|retention| retention.words(family)).unwrap_or_default();
    let mut out =
        format!("{}: {} {}", family.path, outcome(removed, applied), painted(DIM, format!("({rule})")));
    out.push('\n');
    ranges(&mut out, removed);
    out
}

fn outcome(removed: &Removed, applied: bool) -> String {
    let Removed { rows, bytes, ranges, steps, .. } = removed;
    let row = if *rows == 1 { "row" } else { "rows" };
    if *rows == 0 {
        return "nothing to remove".to_owned();
    }
    let range = if *ranges == 1 { "1 range".to_owned() } else { format!("{ranges} ranges") };
    let step = if *steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
    if applied {
        format!("removed {rows} {row}, {bytes} bytes, {range}, in {step}")
    } else {
        format!("would remove {rows} {row}, {bytes} bytes, {range}; `--apply` does it")
    }
}

fn ranges(out: &mut String, removed: &Removed) {
    for range in &removed.examples {
        put!(out, "  {} to {}: {}\n", hex(&range.first), hex(&range.last), range.rows);
    }
    let more = removed.ranges.saturating_sub(u64::try_from(removed.examples.len()).unwrap_or(u64::MAX));
    if more > 0 {
        put!(out, "  and {more} more\n");
    }
}

/// What a changelog says of what a release gives up.
pub fn given_up(targets: &[RetiredTarget]) -> String {
    if targets.is_empty() {
        return String::new();
    }
    let mut out = "for the changelog:\n".to_owned();
    for target in targets {
        let since = target.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
        put!(
            out,
            "- retired `{}`{since}: {}; `keyplan db retire` removes its rows\n",
            target.name,
            target.why
        );
    }
    out
}

/// What became of the rows of something retired, and what a changelog says of it.
pub fn retired(target: &RetiredTarget, removed: &Removed, kept: u64, applied: bool) -> String {
    let since = target.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
    let about = format!("retired{since}: {}", target.why);
    let mut out =
        format!("{}: {} {}\n", target.name, outcome(removed, applied), painted(DIM, format!("({about})")));
    ranges(&mut out, removed);
    if kept > 0 {
        put!(out, "  {kept} rows may be those of a family in use, and stay\n");
    }
    if applied {
        let rows =
            if removed.rows == 1 { "1 row was".to_owned() } else { format!("{} rows were", removed.rows) };
        put!(out, "for the changelog:\n- removed `{}`, {}; {rows} deleted\n", target.name, about);
    }
    out
}
