//! Findings with one cause, told as one.

use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::model::Plan;
use keyplan_plan::order::{map, sort};

use super::subject::Subject;
use crate::guarantee::Guarantee;
use crate::proof::{Report, Statement, Verdict, Witness};

/// How many overlaps that hang together are told one by one. Beyond it they are one finding with a list: families that
/// are made alike meet each other, and that is one mistake.
const MOST_ALONE: usize = 8;

/// How many names a list gives.
const MOST_NAMES: usize = 20;

/// A finding, and those that have the same cause.
pub(crate) struct Group<'r> {
    pub(crate) head: &'r Statement,
    pub(crate) rest: Vec<&'r Statement>,
}

/// Puts statements with one cause together, in the order of the first of each.
pub(crate) fn grouped<'r>(plan: &Plan, statements: Vec<&'r Statement>) -> Vec<Group<'r>> {
    let crowds = crowds(&statements);
    let mut groups: Vec<Group<'r>> = Vec::new();
    let mut places: BTreeMap<Cause, usize> = BTreeMap::new();
    for statement in statements {
        let cause = cause(plan, &crowds, statement);
        let place = cause.as_ref().and_then(|cause| places.get(cause)).copied();
        if let Some(group) = place.and_then(|place| groups.get_mut(place)) {
            group.rest.push(statement);
            continue;
        }
        if let Some(cause) = cause {
            places.insert(cause, groups.len());
        }
        groups.push(Group { head: statement, rest: Vec::new() });
    }
    groups
}

/// What several findings may have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// Families of a space that all meet, by the first of them.
    Crowd(String, String),
    /// A module inside the prefix of another.
    Module(String, String),
    /// Scans of one family, into which rows of the same others leak.
    Scans(String, Vec<String>),
}

fn cause(plan: &Plan, crowds: &BTreeMap<(&str, &str), &str>, statement: &Statement) -> Option<Cause> {
    let Verdict::Fails(_) = statement.verdict else { return None };
    match statement.guarantee {
        Guarantee::Disjoint => {
            let crowd = crowds.get(&(statement.space.as_str(), statement.family.as_str()))?;
            Some(Cause::Crowd(statement.space.clone(), (*crowd).to_owned()))
        }
        Guarantee::KeepsOut => {
            let subject = Subject::find(plan, &statement.family, statement)?;
            let space = plan.spaces.iter().find(|space| space.name == statement.space)?;
            let own = space.modules.get(subject.family.module?.0)?;
            Some(Cause::Module(own.path.clone(), statement.other.clone()?))
        }
        Guarantee::NoForeignRows => {
            let more = statement.more.leaks.iter().filter_map(Witness::row_family);
            let mut leaking: Vec<String> =
                more.chain(statement.other.as_deref()).map(str::to_owned).collect();
            sort(&mut leaking);
            Some(Cause::Scans(statement.family.clone(), leaking))
        }
        _ => None,
    }
}

/// The families that hang together by more overlaps than are told one by one: each by space and path, with the first
/// family of its crowd.
fn crowds<'r>(statements: &[&'r Statement]) -> BTreeMap<(&'r str, &'r str), &'r str> {
    let overlaps: Vec<(&str, &str, &str)> = statements
        .iter()
        .filter(|s| s.guarantee == Guarantee::Disjoint && matches!(s.verdict, Verdict::Fails(_)))
        .filter_map(|s| Some((s.space.as_str(), s.family.as_str(), s.other.as_deref()?)))
        .collect();
    let mut leaders: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for &(space, a, b) in &overlaps {
        let (a, b) = (leader(&leaders, space, a), leader(&leaders, space, b));
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        leaders.insert((space, second), first);
        leaders.entry((space, first)).or_insert(first);
    }
    // Each crowd as often as it has overlaps.
    let mut all: Vec<(&str, &str)> =
        overlaps.iter().map(|&(space, a, _)| (space, leader(&leaders, space, a))).collect();
    sort(&mut all);
    let size =
        |crowd| all.partition_point(|other| *other <= crowd) - all.partition_point(|other| *other < crowd);
    let led = leaders.keys().map(|&(space, name)| ((space, name), leader(&leaders, space, name)));
    map(led.filter(|&((space, _), first)| size((space, first)) > MOST_ALONE))
}

fn leader<'r>(leaders: &BTreeMap<(&'r str, &'r str), &'r str>, space: &'r str, name: &'r str) -> &'r str {
    let mut at = name;
    while let Some(&next) = leaders.get(&(space, at)) {
        if next == at {
            break;
        }
        at = next;
    }
    at
}

/// What a finding says of those that have the same cause, and of what was not looked at.
pub(crate) fn also(plan: &Plan, group: &Group<'_>, report: &Report) -> Option<String> {
    if group.rest.is_empty() {
        return None;
    }
    if group.head.guarantee == Guarantee::NoForeignRows {
        return also_scans(plan, group);
    }
    let head = [Some(group.head.family.as_str()), group.head.other.as_deref()];
    let overlap = group.head.guarantee == Guarantee::Disjoint;
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for statement in &group.rest {
        names.insert(&statement.family);
        names.extend(statement.other.as_deref().filter(|_| overlap));
    }
    let names: Vec<&str> = names.into_iter().filter(|name| !head.contains(&Some(name))).collect();
    let mut text = format!(
        "{} with the same cause: {}",
        match (overlap, group.rest.len()) {
            (true, 1) => "1 more pair".to_owned(),
            (true, pairs) => format!("{pairs} more pairs"),
            (false, 1) => "1 more family".to_owned(),
            (false, families) => format!("{families} more families"),
        },
        list(&names)
    );
    let left = report.left_out.iter().find(|left| overlap && left.space == group.head.space);
    if let Some(left) = left {
        let more =
            format!("\n{} more pairs of families that share keys with others were not compared", left.pairs);
        text.push_str(&more);
    }
    Some(text)
}

/// The other scans of a family into which the same rows leak.
fn also_scans(plan: &Plan, group: &Group<'_>) -> Option<String> {
    let subject = Subject::find(plan, &group.head.family, group.head)?;
    let scans = group.rest.iter().filter_map(|statement| subject.family.scan(statement.scan?));
    let words: Vec<String> = scans.map(|scan| scan.words(subject.sequence)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let count =
        if words.len() == 1 { "1 more scan".to_owned() } else { format!("{} more scans", words.len()) };
    Some(format!("{count} with the same cause: {}", list(&words)))
}

/// Names with commas between them, and how many were left out.
fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(MOST_NAMES).filter(|&more| more > 0) {
        Some(more) => format!("{} and {more} more", shown.join(", ")),
        None => shown.join(", "),
    }
}
