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
    guarantee::overlap::PAGE,
    guarantee::ambiguous::PAGE,
    guarantee::leak::FOREIGN_PAGE,
    guarantee::leak::SIBLING_PAGE,
    guarantee::unordered::PAGE,
    guarantee::misallotted::PAGE,
    compat::PAGE,
    guarantee::name_collision::PAGE,
    guarantee::lossy::PAGE,
    guarantee::oversize::PAGE,
    accepts::PAGE,
    guarantee::trespass::PAGE,
    guarantee::mixed_space::PAGE,
    guarantee::missing::PAGE,
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

/// The codes that have a page. A program that shows no page holds only these, and none of the texts.
const CODES: [Code; PAGES.len()] = {
    let mut codes = [Code::Overlap; PAGES.len()];
    let mut rest = PAGES;
    let mut to = codes.as_mut_slice();
    while let ([page, pages @ ..], [code, after @ ..]) = (rest, to) {
        *code = page.code;
        (rest, to) = (pages, after);
    }
    codes
};

/// Whether a code has a page.
pub fn has_page(code: Code) -> bool {
    CODES.contains(&code)
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
