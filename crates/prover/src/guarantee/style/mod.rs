#![doc = include_str!("KP0020.md")]

use keyplan_plan::diag::{Code, Diagnostic};
use keyplan_plan::model::{AcceptKind, Plan};

use crate::diagnose::Page;

pub(crate) const PAGE: Page = Page { code: Code::Style, text: include_str!("KP0020.md") };

/// Every family that does not follow a house rule and does not say why; one finding for each rule.
pub(crate) fn findings(plan: &Plan) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    for (space, family) in plan.families() {
        if family.retired.is_some() || family.accepted(AcceptKind::Style).next().is_some() {
            continue;
        }
        let mut last = None;
        for fault in space.style_faults(family) {
            if last == Some(fault.rule.span) {
                if let Some(found) = all.last_mut() {
                    *found = found.clone().with_label(fault.span, fault.what);
                }
                continue;
            }
            last = Some(fault.rule.span);
            let message = format!("`{}` does not follow the house rules: it {}", family.path, fault.what);
            let found = Diagnostic::new(Code::Style, message, fault.span, "not as the rule says")
                .with_label(fault.rule.span, fault.rule.why.clone())
                .with_help("write it as the rule says; to keep it: `accept style \"why\"`");
            all.push(found);
        }
    }
    all
}
