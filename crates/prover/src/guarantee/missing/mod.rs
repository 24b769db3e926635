//! KP0016: a range leaves out none of its rows; and what else a range may hold.

pub(crate) mod beside;
mod course;
mod crossing;
pub(crate) mod diagnosis;
pub(crate) mod law;
mod next;

use keyplan_plan::diag::Code;
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Page;
use crate::guarantee::Rule;
use crate::proof::Witness;

pub(crate) const RULE: Rule = Rule {
    code: Code::Missing,
    accept: Some(AcceptKind::Missing),
    claim: |finding| format!("the range {} leaves out none of its rows", finding.scan()),
    refuted: |finding, witness| match witness {
        Witness::Range { start, end, row } => diagnosis::diagnostic(finding, start, end, row),
        _ => None,
    },
};

/// Its page.
pub(crate) const PAGE: Page = Page { code: RULE.code, text: include_str!("KP0016.md") };
