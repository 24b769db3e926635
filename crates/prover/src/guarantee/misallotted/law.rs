//! KP0006: numbers are allotted as the module says.

use keyplan_plan::model::{Family, Retired, Space};

use crate::automaton::{Arena, ByteSet, END, Numbers, UNLIMITED};
use crate::layout::Layout;
use crate::product::search::Search;
use crate::product::{Budget, Goal, Outcome, Product};
use crate::proof::{NumberFault, Reason, Side, Verdict, Witness};
use crate::reader::{Effort, read};

/// Decides whether a family of a module that allots numbers has one, whether it is its own, lies in the allotment that the
/// family names, or in one of them, and was not retired. `None` if the module allots nothing and nothing is retired.
pub(crate) fn allotted(
    arena: &mut Arena,
    space: &Space,
    family: &Family,
    layout: &Layout<'_>,
    budget: &mut Budget,
) -> Option<Verdict> {
    let module = family.module.and_then(|id| space.modules.get(id.0));
    let allots = module.is_some_and(|module| !module.allotments.is_empty());
    let retired: Vec<&Retired> =
        space.retired.iter().chain(space.modules.iter().flat_map(|module| &module.retired)).collect();
    if !allots && retired.is_empty() {
        return None;
    }
    let fails = |fault: NumberFault, number: u8| {
        Some(Verdict::Fails(Box::new(Witness::Number { family: family.path.clone(), number, fault })))
    };
    if allots && family.number.is_none() {
        return fails(NumberFault::Absent, 0);
    }
    if let (true, Some(number)) = (allots, family.number) {
        if family.allotment.is_none() && module.is_some_and(|module| module.allotment_of(number).is_none()) {
            return fails(NumberFault::Nowhere, number);
        }
        let outside = family.allotment.as_ref().filter(|name| {
            let allotment = module.and_then(|module| module.allotments.iter().find(|a| a.name == **name));
            !allotment.is_some_and(|allotment| allotment.contains(number))
        });
        if let Some(name) = outside {
            return fails(NumberFault::Outside { allotment: name.clone() }, number);
        }
        let taker = space
            .families
            .iter()
            .filter(|other| other.module == family.module && other.number == Some(number))
            .map(|other| other.path.as_str())
            .filter(|path| *path != family.path)
            .min();
        if let Some(by) = taker {
            return fails(NumberFault::Taken { by: by.to_owned() }, number);
        }
    }
    if family.retired.is_some() {
        return Some(Verdict::Holds);
    }
    for old in retired {
        match meets(arena, layout, &old.prefix, budget) {
            Meets::Never => {}
            Meets::At(key) => {
                // All of a space has no number of its own, and counts as 0.
                let number = old.prefix.last().copied().unwrap_or_default();
                return fails(NumberFault::Retired { prefix: old.prefix.clone(), key }, number);
            }
            Meets::Unknown(reason) => return Some(Verdict::Unknown(reason)),
        }
    }
    Some(Verdict::Holds)
}

/// Whether a key of a layout begins with a prefix.
pub(crate) enum Meets {
    Never,
    At(Side),
    Unknown(Reason),
}

/// Whether a key of the layout begins with a prefix.
pub(crate) fn meets(arena: &mut Arena, layout: &Layout<'_>, prefix: &[u8], budget: &mut Budget) -> Meets {
    if layout.literal.iter().zip(prefix).any(|(a, b)| a != b) {
        return Meets::Never;
    }
    let Some(drawing) = &layout.drawing else { return Meets::Unknown(layout.undrawn()) };
    let rest = arena.run(ByteSet::FULL, Numbers::range(0, UNLIMITED), END, false);
    let reserved = arena.literal(prefix, rest);
    match Product::new(arena, Goal::Meet).meeting(drawing.start, reserved, budget) {
        Outcome::Never => return Meets::Never,
        Outcome::Exhausted => return Meets::Unknown(Reason::TooManySteps),
        Outcome::Perhaps => {}
    }
    let mut search = Search::of_two(arena, Goal::Meet, drawing.start, reserved);
    let mut effort = Effort::new();
    while let Some(found) = search.next().filter(|_| !effort.is_spent()) {
        let side = read(layout.sequence, &found.common, 1, &mut effort)
            .into_iter()
            .find_map(|values| Side::key(layout.path, layout.sequence, &values));
        if let Some(side) = side {
            return Meets::At(side);
        }
    }
    Meets::Unknown(Reason::NotRealised { loose: drawing.loose.iter().copied().collect() })
}
