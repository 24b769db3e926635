//! KP0006: numbers are allotted as the module says.

mod diagnosis;
pub(crate) mod law;

use keyplan_plan::diag::Code;
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Page;
use crate::guarantee::Rule;
use crate::proof::Witness;

pub(crate) const RULE: Rule = Rule {
    code: Code::Misallotted,
    accept: Some(AcceptKind::Misallotted),
    claim: |finding| format!("the number of {} is its own to use", finding.title()),
    refuted: |finding, witness| match witness {
        Witness::Number { number, fault, .. } => diagnosis::diagnostic(finding, *number, fault),
        _ => None,
    },
};

/// Its page.
pub(crate) const PAGE: Page = Page { code: RULE.code, text: include_str!("KP0006.md") };
