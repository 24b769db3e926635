//! KP0010: the longest key fits the engine.

pub(crate) mod diagnosis;
pub(crate) mod law;

use keyplan_plan::diag::Code;
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Page;
use crate::guarantee::Rule;
use crate::proof::Witness;

pub(crate) const RULE: Rule = Rule {
    code: Code::Oversize,
    accept: Some(AcceptKind::Oversize),
    claim: |finding| format!("every key of {} fits {}", finding.title(), finding.options.engine.name()),
    refuted: |finding, witness| match witness {
        Witness::TooLong { key, limit } => diagnosis::diagnostic(finding, key, *limit),
        _ => None,
    },
};

/// Its page.
pub(crate) const PAGE: Page = Page { code: RULE.code, text: include_str!("KP0010.md") };
