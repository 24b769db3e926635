//! Which space of the plan the rows of a space of the input go into.

use keyplan_plan::model::Plan;

use crate::error::{Result, bail};
use crate::find;

/// The names of spaces as the input has them.
pub(super) struct Names<'p> {
    plan: &'p Plan,
    /// Names that were typed, and the space that each is.
    given: Vec<(String, usize)>,
    /// The one name that is not of the plan and stands for its only space.
    only: Option<String>,
}

impl<'p> Names<'p> {
    /// `given` are the names of the plan, and those of the input that stand for them.
    pub(super) fn new(plan: &'p Plan, given: &[(String, String)]) -> Result<Self> {
        let given = given.iter().map(|(ours, theirs)| Ok((theirs.clone(), find::space(plan, ours)?)));
        Ok(Self { plan, given: given.collect::<Result<_>>()?, only: None })
    }

    /// The space of the plan that a name stands for: as it was typed, then the one that is called so, then the only one.
    pub(super) fn index(&mut self, name: &str) -> Result<usize> {
        if let Some((_, index)) = self.given.iter().find(|(theirs, _)| theirs == name) {
            return Ok(*index);
        }
        let found = find::space(self.plan, name);
        if found.is_ok() || self.plan.spaces.len() != 1 {
            return match found {
                Err(error) => bail!("{error}; `--bind PLAN_SPACE={name}` says which it is"),
                found => found,
            };
        }
        match &self.only {
            Some(only) if only != name => {
                bail!(
                    "the rows are of two spaces, `{only}` and `{name}`, and the plan has one; `--bind PLAN_SPACE=SOURCE_SPACE` \
                     says which it is"
                )
            }
            Some(_) => {}
            None => self.only = Some(name.to_owned()),
        }
        Ok(0)
    }
}
