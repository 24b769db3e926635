//! KP0002: two argument lists of a family make no key in common.

pub(crate) mod delimited;
mod diagnosis;
pub(crate) mod law;
pub(crate) mod twins;

use keyplan_plan::diag::Code;
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Page;
use crate::guarantee::Rule;
use crate::proof::Witness;

pub(crate) const RULE: Rule = Rule {
    code: Code::Ambiguous,
    accept: Some(AcceptKind::Ambiguous),
    claim: |finding| format!("two argument lists of {} never make the same key", finding.title()),
    refuted: |finding, witness| match witness {
        Witness::SameKey { first, second } => diagnosis::diagnostic(finding, first, second),
        _ => None,
    },
};

/// Its page.
pub(crate) const PAGE: Page = Page { code: RULE.code, text: include_str!("KP0002.md") };
