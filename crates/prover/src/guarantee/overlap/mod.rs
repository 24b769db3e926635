//! KP0001: two families of a space make no key in common.

mod diagnosis;
pub(crate) mod law;

use keyplan_plan::diag::Code;
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Page;
use crate::guarantee::Rule;
use crate::proof::Witness;

pub(crate) const RULE: Rule = Rule {
    code: Code::Overlap,
    accept: Some(AcceptKind::Overlap),
    claim: |finding| format!("{} and {} never make the same key", finding.title(), finding.other_title()),
    refuted: |finding, witness| match witness {
        Witness::SameKey { first, second } => diagnosis::diagnostic(finding, first, second),
        _ => None,
    },
};

/// Its page.
pub(crate) const PAGE: Page = Page { code: RULE.code, text: include_str!("KP0001.md") };
