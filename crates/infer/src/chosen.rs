use std::path::Path;

use keyplan_plan::{Compiled, compile};

use crate::inference::Inference;
use crate::known::known_plans;

/// The plan that fits a source best, as far as one was found or drafted.
#[derive(Clone, Debug)]
pub struct ChosenPlan {
    /// The plan.
    pub compiled: Compiled,
    /// Its spaces, and those of the source that they are.
    pub spaces: Vec<(String, String)>,
    /// Whether it is a draft.
    pub draft: bool,
}

impl Inference {
    /// The known plan that fits best, else the draft.
    pub fn plan(&self) -> Option<ChosenPlan> {
        if let Some(fit) = self.known.first() {
            let known = known_plans();
            let plan = known.iter().find(|plan| plan.path == fit.path)?;
            let compiled = compile(plan.path, plan.text, |path| {
                let name = Path::new(path).file_name();
                let found = known.iter().find(|plan| Path::new(plan.path).file_name() == name);
                found.map(|plan| plan.text.to_owned()).ok_or_else(|| "there is no such plan".to_owned())
            });
            let spaces = fit.spaces.iter().map(|space| (space.space.clone(), space.source_space.clone()));
            return Some(ChosenPlan { compiled, spaces: spaces.collect(), draft: false });
        }
        let text = &self.draft.as_ref()?.text;
        let compiled = compile("draft.keyplan", text, |_| Err("a draft imports nothing".to_owned()));
        Some(ChosenPlan { compiled, spaces: Vec::new(), draft: true })
    }
}
