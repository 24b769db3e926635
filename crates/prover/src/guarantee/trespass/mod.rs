//! KP0013: a family keeps out of the prefixes of modules that it is not in.

mod diagnosis;
pub(crate) mod law;

use keyplan_plan::diag::Code;
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Page;
use crate::guarantee::Rule;
use crate::proof::Witness;

pub(crate) const RULE: Rule = Rule {
    code: Code::Trespass,
    accept: Some(AcceptKind::Trespass),
    claim: |finding| {
        let module = finding.statement.other.as_deref().unwrap_or("another module");
        format!("no key of {} begins with the prefix of `{module}`", finding.title())
    },
    refuted: |finding, witness| match witness {
        Witness::Trespass { module, prefix, key } => diagnosis::diagnostic(finding, module, prefix, key),
        _ => None,
    },
};

/// Its page.
pub(crate) const PAGE: Page = Page { code: RULE.code, text: include_str!("KP0013.md") };
