//! The pages of the rules: what each finds, why it matters, an example and what to write instead.

use keyplan_plan::diag::Code;

use super::accepts;
use crate::compat::diagnosis as compat;
use crate::compat::migration::diagnosis as migration;
use crate::guarantee;

/// The page of one rule, in Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its code.
    pub code: Code,
    /// The whole page.
    pub text: &'static str,
}

/// Every page, in the order of the codes.
pub const PAGES: &[Page] = &[
    guarantee::overlap::RULE.page,
    guarantee::ambiguous::RULE.page,
    guarantee::leak::FOREIGN.page,
    guarantee::leak::SIBLING.page,
    guarantee::unordered::RULE.page,
    guarantee::misallotted::RULE.page,
    compat::PAGE,
    guarantee::name_collision::RULE.page,
    guarantee::lossy::RULE.page,
    guarantee::oversize::RULE.page,
    accepts::PAGE,
    guarantee::trespass::RULE.page,
    guarantee::mixed_space::PAGE,
    guarantee::missing::RULE.page,
    guarantee::style::PAGE,
    migration::TOTAL,
    migration::INJECTIVE,
    migration::READABLE,
    migration::APART,
    migration::COMPLETE,
    migration::FORGOTTEN,
];

/// The page of a code, if it is that of a guarantee.
pub fn page(code: Code) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.code == code)
}

impl Page {
    /// The plan before, where the fault is in what became of it.
    pub fn previous(&self) -> Option<&'static str> {
        let section = self.text.split("## Example").nth(1)?.split("## Instead").next()?;
        (section.matches("```keyplan").count() > 1).then(|| self.plan_below("## Example"))
    }

    /// The plan that shows the fault.
    pub fn example(&self) -> &'static str {
        let heading = if self.previous().is_some() { "is changed to:" } else { "## Example" };
        self.plan_below(heading)
    }

    /// The plan that does not have it.
    pub fn instead(&self) -> &'static str {
        self.plan_below("## Instead")
    }

    fn plan_below(&self, heading: &str) -> &'static str {
        let section = self.text.split(heading).nth(1).unwrap_or_default();
        let block = section.split("```keyplan\n").nth(1).unwrap_or_default();
        block.split("```").next().unwrap_or_default()
    }
}
