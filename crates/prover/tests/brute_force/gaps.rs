//! What is left unknown: counted by guarantee and reason, with the shortest plan that shows each.

use std::collections::BTreeMap;

use keyplan_prover::{Guarantee, Options, Statement, Verdict, prove};

/// How many plans of one gap are kept, so that the shortest of them can be shown.
const MOST_PLANS: usize = 64;

/// One guarantee that is left unknown for one reason.
#[derive(Default)]
struct Gap {
    count: u64,
    plans: Vec<String>,
}

/// The gaps of many plans.
#[derive(Default)]
pub(crate) struct Gaps(BTreeMap<(Guarantee, String), Gap>);

impl Gaps {
    /// Notes a statement that is neither proved nor refuted.
    pub(crate) fn note(&mut self, statement: &Statement, reason: String, text: &str) {
        let (guarantee, other) = (statement.guarantee, statement.other.as_deref().unwrap_or_default());
        if std::env::var_os("KEYPLAN_BRUTE_FORCE_UNKNOWN").is_some() {
            let (code, family) = (guarantee.code(), &statement.family);
            println!("unknown: {code} {family} {other} {:?}: {reason}\n{text}\n", statement.scan);
        }
        let gap = self.0.entry((guarantee, reason)).or_default();
        gap.count += 1;
        gap.keep(text.to_owned());
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (key, gap) in other.0 {
            let own = self.0.entry(key).or_default();
            own.count += gap.count;
            for plan in gap.plans {
                own.keep(plan);
            }
        }
    }

    /// How many statements are unknown.
    pub(crate) fn count(&self) -> u64 {
        self.0.values().map(|gap| gap.count).sum()
    }

    /// Every gap, the widest first, with the shortest plan that has it.
    pub(crate) fn print(&self) {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by_key(|(key, gap)| (std::cmp::Reverse(gap.count), *key));
        for ((guarantee, reason), gap) in all {
            println!("{:8} {} {reason}", gap.count, guarantee.code());
            if let Some(shortest) = gap.shortest(*guarantee) {
                println!("{shortest}");
            }
        }
    }
}

impl Gap {
    fn keep(&mut self, text: String) {
        self.plans.push(text);
        if self.plans.len() > MOST_PLANS {
            self.plans.sort_by_key(String::len);
            self.plans.truncate(MOST_PLANS);
        }
    }

    fn shortest(&self, guarantee: Guarantee) -> Option<String> {
        let shortest = self.plans.iter().min_by_key(|plan| plan.len());
        shortest.map(|plan| reduced(plan, guarantee))
    }
}

/// The statements of a plan that are unknown, of one guarantee.
fn unknown(text: &str, guarantee: Guarantee) -> Vec<Statement> {
    let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("none".to_owned()));
    let Some(plan) = compiled.plan else { return Vec::new() };
    let statements = prove(&plan, &Options::default()).statements.into_iter();
    let open = |s: &Statement| s.guarantee == guarantee && matches!(s.verdict, Verdict::Unknown(_));
    statements.filter(open).collect()
}

/// A plan without the families and the scans that its gap does not need.
fn reduced(text: &str, guarantee: Guarantee) -> String {
    let mut text = text.to_owned();
    let mut at = 0;
    while let Some(line) = text.lines().nth(at) {
        let (is_family, is_scan) = (line.starts_with("  key "), line.starts_with("    "));
        let last = is_scan && line.ends_with(';');
        let shorter = if is_family {
            let end = text.lines().skip(at).position(|line| line.ends_with(';')).unwrap_or(0);
            without(&text, at, at + end, "")
        } else if is_scan {
            without(&text, at, at, if last { ";" } else { "" })
        } else {
            at += 1;
            continue;
        };
        if unknown(&shorter, guarantee).is_empty() {
            at += 1;
        } else {
            text = shorter;
        }
    }
    text
}

/// A text without some of its lines; `end` is put at the end of the line before them.
fn without(text: &str, first: usize, last: usize, end: &str) -> String {
    let lines = text.lines().enumerate().filter(|(index, _)| !(first..=last).contains(index));
    let lines =
        lines.map(|(index, line)| if index + 1 == first { format!("{line}{end}") } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}
