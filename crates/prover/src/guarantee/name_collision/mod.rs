//! KP0008: hashed names do not collide among those known.

mod diagnosis;
pub(crate) mod law;

use keyplan_plan::diag::Code;

use crate::diagnose::Page;
use crate::guarantee::Rule;
use crate::proof::Witness;

pub(crate) const RULE: Rule = Rule {
    code: Code::NameCollision,
    accept: None,
    claim: |finding| format!("the known names of {} have digests of their own", finding.title()),
    refuted: |finding, witness| match witness {
        Witness::Digest { first, second, digest } => {
            Some(diagnosis::diagnostic(finding, first, second, digest))
        }
        _ => None,
    },
};

/// Its page.
pub(crate) const PAGE: Page = Page { code: RULE.code, text: include_str!("KP0008.md") };
