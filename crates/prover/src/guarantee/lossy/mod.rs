//! KP0009: an encoding loses nothing.

mod diagnosis;
pub(crate) mod law;

use keyplan_plan::diag::Code;
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Page;
use crate::guarantee::Rule;
use crate::proof::Witness;

pub(crate) const RULE: Rule = Rule {
    code: Code::Lossy,
    accept: Some(AcceptKind::Lossy),
    claim: |finding| format!("two values of {} are never written as the same bytes", finding.title()),
    refuted: |finding, witness| match witness {
        Witness::SameKey { first, second } => diagnosis::diagnostic(finding, first, second),
        _ => None,
    },
};

/// Its page.
pub(crate) const PAGE: Page = Page { code: RULE.code, text: include_str!("KP0009.md") };
