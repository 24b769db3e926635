//! KP0005: a scan `in order` is in order.

mod diagnosis;
mod faults;
pub(crate) mod law;
mod lengths;
mod merged;
mod merging;
mod parts;

use keyplan_plan::diag::Code;
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Page;
use crate::guarantee::Rule;
use crate::proof::Witness;

pub(crate) const RULE: Rule = Rule {
    code: Code::Unordered,
    accept: Some(AcceptKind::Unordered),
    claim: |finding| format!("the scan {} is in order", finding.scan()),
    refuted: |finding, witness| match witness {
        Witness::Disorder { first, second } => diagnosis::rows(finding, first, second),
        Witness::RangeEnd { end, row } => diagnosis::range(finding, end, row),
        _ => None,
    },
};

/// Its page.
pub(crate) const PAGE: Page = Page { code: RULE.code, text: include_str!("KP0005.md") };
