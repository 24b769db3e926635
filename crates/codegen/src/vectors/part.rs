//! Every layout of a plan, by what vectors call it.

use keyplan_plan::model::{AcceptKind, Family, Plan, Segment, Sequence, Shape};

/// One layout.
#[derive(Clone, Debug)]
pub struct Part<'p> {
    /// What it is called: `cl.tick`, `cl.tick value`, `store.output field events`.
    pub path: String,
    /// The layout.
    pub sequence: &'p Sequence,
    /// Whether an encoder refuses what has a second reading in the layout itself.
    pub guarded: bool,
    /// Other layouts whose bytes an encoder refuses to make.
    pub others: Vec<&'p Sequence>,
}

/// Every layout of a plan, as declared. What has only a codec has none.
pub fn parts(plan: &Plan) -> Vec<Part<'_>> {
    plan.families().flat_map(|(_, family)| of_family(plan, family)).collect()
}

fn of_family<'p>(plan: &'p Plan, family: &'p Family) -> Vec<Part<'p>> {
    let ambiguous = family.accepted(AcceptKind::Ambiguous).next().is_some();
    let overlaps = family.accepted(AcceptKind::Overlap).flat_map(|accept| &accept.of);
    let others = overlaps
        .filter(|path| **path != family.path)
        .filter_map(|path| plan.families().map(|(_, one)| one).find(|one| one.path == *path))
        .map(|other| &other.key);
    let own = Part {
        path: family.path.clone(),
        sequence: &family.key,
        guarded: ambiguous,
        others: others.collect(),
    };
    let mut found = vec![own];
    let mut push = |path: String, sequence: Option<&'p Sequence>| {
        if let Some(sequence) = sequence.filter(|sequence| !is_opaque(sequence)) {
            found.push(Part { path, sequence, guarded: false, others: Vec::new() });
        }
    };
    push(format!("{} value", family.path), family.value.as_ref());
    push(format!("{} member", family.path), family.member.as_ref());
    push(format!("{} score", family.path), family.score.as_ref());
    for field in &family.fields {
        push(format!("{} field {} value", family.path, field.name), field.value.as_ref());
    }
    for field in &family.fields {
        let others = family.fields.iter().filter(|other| ambiguous && other.name != field.name);
        found.push(Part {
            path: format!("{} field {}", family.path, field.name),
            sequence: &field.key,
            guarded: ambiguous,
            others: others.map(|other| &other.key).collect(),
        });
    }
    found
}

/// Whether a layout is one unnamed value of a codec that the plan only names.
fn is_opaque(sequence: &Sequence) -> bool {
    let [Segment::Argument(argument)] = sequence.segments() else { return false };
    argument.name.is_none() && matches!(argument.shape, Shape::Opaque(_))
}
