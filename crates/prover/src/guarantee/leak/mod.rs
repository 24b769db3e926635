//! KP0003 and KP0004: a scan returns its own rows only.

mod foreign;
pub(crate) mod law;
mod sibling;

use keyplan_plan::diag::Code;
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Page;
use crate::guarantee::{Rule, missing};
use crate::proof::Witness;

pub(crate) const FOREIGN: Rule = Rule {
    code: Code::ForeignLeak,
    accept: Some(AcceptKind::Leak),
    claim: |finding| format!("the scan {} returns no row of {}", finding.scan(), finding.other_title()),
    refuted: |finding, witness| match witness {
        Witness::Row { scan, row } => foreign::diagnostic(finding, scan, row),
        Witness::Range { start, end, row } => missing::diagnosis::diagnostic(finding, start, end, row),
        _ => None,
    },
};

/// Its page.
pub(crate) const FOREIGN_PAGE: Page = Page { code: FOREIGN.code, text: include_str!("KP0003.md") };

pub(crate) const SIBLING: Rule = Rule {
    code: Code::SiblingLeak,
    accept: Some(AcceptKind::Leak),
    claim: |finding| format!("the scan {} returns no row with other arguments", finding.scan()),
    refuted: |finding, witness| match witness {
        Witness::Row { scan, row } => sibling::diagnostic(finding, scan, row),
        Witness::Range { start, end, row } => missing::diagnosis::diagnostic(finding, start, end, row),
        _ => None,
    },
};

/// Its page.
pub(crate) const SIBLING_PAGE: Page = Page { code: SIBLING.code, text: include_str!("KP0004.md") };
