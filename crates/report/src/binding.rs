//! Which space of a source each space of a plan is.

use keyplan_plan::model::Plan;
use keyplan_store::META_SPACE;
use keyplan_store::engine::{Space, SpaceId};
use keyplan_store::source::Source;

/// The spaces of a plan and those of a source, side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// The index of a space in the plan, and the space in the source.
    pub pairs: Vec<(usize, SpaceId)>,
    /// Spaces of the source that no space of the plan is bound to.
    pub unread: Vec<String>,
    /// Spaces of the plan that the source does not have.
    pub absent: Vec<String>,
}

/// Why spaces could not be bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindingError {
    /// A name was given that neither side has.
    #[error("there is no space `{name}` in the {side}; there are: {}", there.join(", "))]
    NoSpace {
        /// The name.
        name: String,
        /// `plan` or `source`.
        side: &'static str,
        /// The names there are.
        there: Vec<String>,
    },
    /// No space of the plan is one of the source.
    #[error(
        "no space of the plan ({}) is one of the source ({}); say which is which with `--bind PLAN_SPACE=SOURCE_SPACE`",
        plan.join(", "),
        source_spaces.join(", ")
    )]
    Nothing {
        /// The plan's spaces.
        plan: Vec<String>,
        /// The source's.
        source_spaces: Vec<String>,
    },
}

/// Binds the spaces of a plan to those of a source: those that were `given` by name, then those that are called alike, then
/// the only one to the only one.
pub fn bind(plan: &Plan, source: &dyn Source, given: &[(String, String)]) -> Result<Binding, BindingError> {
    bind_spaces(plan, &source.spaces(), |space| source.space(&space.name), given)
}

fn bind_spaces(
    plan: &Plan,
    spaces: &[Space],
    id: impl Fn(&Space) -> Option<SpaceId>,
    given: &[(String, String)],
) -> Result<Binding, BindingError> {
    let names = || plan.spaces.iter().map(|space| space.name.clone()).collect::<Vec<_>>();
    let theirs = || spaces.iter().map(|space| space.name.clone()).collect::<Vec<_>>();
    let mut bound: Vec<Option<usize>> = vec![None; plan.spaces.len()];
    for (ours, their) in given {
        let at = plan.spaces.iter().position(|space| space.name == *ours);
        let at =
            at.ok_or_else(|| BindingError::NoSpace { name: ours.clone(), side: "plan", there: names() })?;
        let found = spaces.iter().position(|space| space.name == *their);
        let missing = || BindingError::NoSpace { name: their.clone(), side: "source", there: theirs() };
        if let Some(slot) = bound.get_mut(at) {
            *slot = Some(found.ok_or_else(missing)?);
        }
    }
    for (slot, space) in bound.iter_mut().zip(&plan.spaces) {
        let called = |name: &str| spaces.iter().position(|found| found.name == name);
        *slot = slot.or_else(|| called(space.engine_name())).or_else(|| called(&space.name));
    }
    let own: Vec<usize> = (0..spaces.len()).filter(|&index| !is_our_own(spaces, index)).collect();
    if let ([slot @ None], [only]) = (bound.as_mut_slice(), own.as_slice()) {
        *slot = Some(*only);
    }
    let pair = |(at, found): (usize, &Option<usize>)| Some((at, id(spaces.get((*found)?)?)?));
    let pairs: Vec<(usize, SpaceId)> = bound.iter().enumerate().filter_map(pair).collect();
    if pairs.is_empty() && !plan.spaces.is_empty() {
        return Err(BindingError::Nothing { plan: names(), source_spaces: theirs() });
    }
    let is_bound = |index: usize| bound.contains(&Some(index));
    let name = |index: usize| spaces.get(index).map(|space| space.name.clone());
    let unread = own.into_iter().filter(|&index| !is_bound(index)).filter_map(name).collect();
    let absent = plan.spaces.iter().zip(&bound).filter(|(_, found)| found.is_none());
    let absent = absent.map(|(space, _)| space.name.clone()).collect();
    Ok(Binding { pairs, unread, absent })
}

/// Whether it is the space in which a store of ours keeps its plan.
fn is_our_own(spaces: &[Space], index: usize) -> bool {
    spaces.get(index).is_some_and(|space| space.name == META_SPACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(plan: &str, spaces: &[&str], given: &[(&str, &str)]) -> Result<Binding, String> {
        let plan = keyplan_plan::compile("p", plan, |_| Err(String::new())).plan.expect("sound");
        let spaces: Vec<Space> = spaces.iter().map(|name| Space::map(*name)).collect();
        let given: Vec<_> = given.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let id = |space: &Space| {
            let at = spaces.iter().position(|known| known.name == space.name)?;
            u32::try_from(at).ok().map(SpaceId)
        };
        bind_spaces(&plan, &spaces, id, &given).map_err(|error| error.to_string())
    }

    const TWO: &str = "plan p; space a { key k = 0x01; } space b = \"bee\" { key k = 0x01; }";
    const ONE: &str = "plan p; space a { key k = 0x01; }";

    #[test]
    fn spaces_are_bound_by_name_and_the_only_one_to_the_only_one() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let both =
            Binding { pairs: vec![(0, SpaceId(2)), (1, SpaceId(0))], unread: names(&["x"]), absent: vec![] };
        assert_eq!(check(TWO, &["bee", "x", "a"], &[]), Ok(both));
        let only = Binding { pairs: vec![(0, SpaceId(0))], ..Binding::default() };
        assert_eq!(check(ONE, &["default"], &[]), Ok(only.clone()));
        assert_eq!(check(ONE, &["default", META_SPACE], &[]), Ok(only));
        let given = Binding { pairs: vec![(1, SpaceId(0))], unread: vec![], absent: names(&["a"]) };
        assert_eq!(check(TWO, &["default"], &[("b", "default")]), Ok(given));
    }

    #[test]
    fn what_cannot_be_told_is_asked_for() {
        let error = check(TWO, &["default"], &[]).expect_err("refused");
        let expected = "no space of the plan (a, b) is one of the source (default); say which is which with \
                        `--bind PLAN_SPACE=SOURCE_SPACE`";
        assert_eq!(error, expected);
        let error = check(ONE, &["default"], &[("c", "default")]).expect_err("refused");
        assert_eq!(error, "there is no space `c` in the plan; there are: a");
    }
}
