//! The pages of the rules: what each finds, why it matters, an example and what to write instead.

use keyplan_plan::diag::Code;

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
    Page { code: Code::Overlap, text: include_str!("pages/KP0001.md") },
    Page { code: Code::Ambiguous, text: include_str!("pages/KP0002.md") },
    Page { code: Code::ForeignRows, text: include_str!("pages/KP0003.md") },
    Page { code: Code::SiblingRows, text: include_str!("pages/KP0004.md") },
    Page { code: Code::Disorder, text: include_str!("pages/KP0005.md") },
    Page { code: Code::Misallotted, text: include_str!("pages/KP0006.md") },
    Page { code: Code::Incompatible, text: include_str!("pages/KP0007.md") },
    Page { code: Code::NameCollision, text: include_str!("pages/KP0008.md") },
    Page { code: Code::Lossy, text: include_str!("pages/KP0009.md") },
    Page { code: Code::Oversize, text: include_str!("pages/KP0010.md") },
    Page { code: Code::NeedlessAccept, text: include_str!("pages/KP0012.md") },
    Page { code: Code::Trespass, text: include_str!("pages/KP0013.md") },
    Page { code: Code::MixedSpace, text: include_str!("pages/KP0015.md") },
    Page { code: Code::MissingRows, text: include_str!("pages/KP0016.md") },
    Page { code: Code::OffStyle, text: include_str!("pages/KP0020.md") },
    Page { code: Code::NoNewKey, text: include_str!("pages/KP0031.md") },
    Page { code: Code::MergedKeys, text: include_str!("pages/KP0032.md") },
    Page { code: Code::UnreadableKey, text: include_str!("pages/KP0033.md") },
    Page { code: Code::CrossingKeys, text: include_str!("pages/KP0034.md") },
    Page { code: Code::UnspokenFamily, text: include_str!("pages/KP0035.md") },
    Page { code: Code::ForgottenPrefix, text: include_str!("pages/KP0036.md") },
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
