//! KP0013: a family keeps out of the prefixes of other modules.

use keyplan_plan::model::{Family, Module, ModuleId, Space};

use crate::automaton::Arena;
use crate::guarantee::misallotted::law::{Meets, meets};
use crate::layout::Layout;
use crate::product::Budget;
use crate::proof::{Verdict, Witness};

/// Whether any module of a space owns a prefix.
pub(crate) fn any_owned(space: &Space) -> bool {
    (0..space.modules.len()).any(|index| owns(space, ModuleId(index)).is_some())
}

/// The modules whose prefixes a family has to keep out of, in the order of their declarations: those that it is not
/// in. Of two modules with one prefix it belongs to the one that was declared first.
pub(crate) fn forbidden<'p>(space: &'p Space, family: &Family) -> Vec<&'p Module> {
    let around = around(space, family.module);
    let own = family.module.and_then(|id| space.modules.get(id.0)).map(|module| module.prefix.as_slice());
    let first = |index: usize| around.last().is_none_or(|outermost| index < outermost.0);
    (0..space.modules.len())
        .filter(|&index| !around.contains(&ModuleId(index)))
        .filter_map(|index| Some((index, owns(space, ModuleId(index))?)))
        .filter(|(index, module)| own != Some(module.prefix.as_slice()) || first(*index))
        .map(|(_, module)| module)
        .collect()
}

/// A module that has bytes of its own: one that only groups families owns nothing.
fn owns(space: &Space, id: ModuleId) -> Option<&Module> {
    let module = space.modules.get(id.0)?;
    let outer = module.parent.and_then(|id| space.modules.get(id.0)).map_or(0, |outer| outer.prefix.len());
    (module.prefix.len() > outer).then_some(module)
}

/// The module of a family and those around it, the innermost first.
fn around(space: &Space, module: Option<ModuleId>) -> Vec<ModuleId> {
    let mut all = Vec::new();
    let mut next = module;
    while let Some(id) = next {
        all.push(id);
        next = space.modules.get(id.0).and_then(|module| module.parent);
    }
    all
}

/// Decides whether no key of a family begins with the prefix of a module that it is not in; the module where one does,
/// or may. `None` if no module of the space owns a prefix.
pub(crate) fn keeps_out<'p>(
    arena: &mut Arena,
    space: &'p Space,
    family: &Family,
    layout: &Layout<'_>,
    budget: &mut Budget,
) -> Option<(Verdict, Option<&'p Module>)> {
    if !any_owned(space) {
        return None;
    }
    let mut unknown = None;
    for module in forbidden(space, family) {
        match meets(arena, layout, &module.prefix, budget) {
            Meets::Never => {}
            Meets::At(key) => {
                let witness =
                    Witness::Trespass { module: module.path.clone(), prefix: module.prefix.clone(), key };
                return Some((Verdict::Fails(Box::new(witness)), Some(module)));
            }
            Meets::Unknown(reason) => {
                unknown.get_or_insert((Verdict::Unknown(reason), Some(module)));
            }
        }
    }
    Some(unknown.unwrap_or((Verdict::Holds, None)))
}
