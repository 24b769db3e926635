//! Vectors: golden keys of a plan, one JSON object per line, for code in any language.
//!
//! The first line says which plan they are of. Every other line is about one layout, its `part`: the path of a family for
//! its keys, and the path with `value`, `member`, `score` or `field NAME` after it for what the family holds.
//!
//! | `result` | what must be so |
//! | --- | --- |
//! | `valid` | `args` are written as `hex`, and `hex` is read as `args` |
//! | `lossy` | `args` are written as `hex`, which is read as other arguments |
//! | `guarded` | `args` are refused, since `hex`, as which they would be written, can also be read as something else |
//! | `refused` | `args` are refused: one is out of its domain |
//! | `invalid` | `hex` is refused: at `offset`, in `segment`, for `reason` |
//! | `range` | the `scan` by the first of `args` is of the keys from `start` on, up to but without `end`, or to the last if there is none |
//!
//! A line with `bound` is of the rows whose next argument is that of `args` or above (`from`), above it (`after`), below it (`to`), or
//! it or below (`through`). A scan that has no such range for these arguments is `refused`. One that binds a derived part after the
//! arguments is given its value in `derived`.
//!
//! Arguments are written as `keyplan explain --format json` does. The same plan gives the same lines on every machine.

mod case;
mod check;
mod domain;
mod part;
mod random;
mod range;

pub use case::{Case, Outcome, judge_args, judge_bytes};
pub use check::{Mismatch, check};
pub use part::{Part, parts};
pub use range::{Asked, Bound, Bounds, scan_range};

use std::collections::BTreeSet;

use keyplan_plan::Compiled;
use keyplan_plan::diag::Diagnostic;
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Plan, Sequence};
use keyplan_prover::Report;

use crate::prove::prove;
use random::Random;

/// How vectors are made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many arguments are made up for each layout, beside those at the edges of their domains.
    pub count: usize,
}

/// The version of the lines; within one, names may be added.
const VERSION: u64 = 2;

/// How many keys of a layout are damaged for refusals.
const DAMAGED: usize = 6;

/// How many rows scans are tried with, and how many that are refused.
const SCANNED: usize = 6;

/// The lines of a plan that checks.
pub fn generate(compiled: &Compiled, options: Options) -> Result<String, Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = compiled.errors().cloned().collect();
    let Some(plan) = compiled.plan.as_ref().filter(|_| errors.is_empty()) else { return Err(errors) };
    let path = compiled.sources.files().first().map_or("", |file| file.name.as_str());
    let report = prove(plan, path)?;
    Ok(lines(plan, &report, options))
}

/// The lines of a plan that was proved.
fn lines(plan: &Plan, report: &Report, options: Options) -> String {
    let mut body = String::new();
    let mut count = 0;
    for part in parts(plan) {
        let mut seen = BTreeSet::new();
        let cases = cases(plan, &part, options);
        let scans = range::lines(plan, report, &part.path, &scanned(&cases));
        for line in cases.iter().map(|case| case.line(&part)).chain(scans) {
            if seen.insert(line.clone()) {
                count += 1;
                body.push_str(&line);
                body.push('\n');
            }
        }
    }
    let head = format!(
        "{{\"keyplan\":\"vectors\",\"version\":{VERSION},\"plan\":\"{}\",\"fingerprint\":\"{}\",\"count\":{count}}}\n",
        plan.name,
        plan.fingerprint()
    );
    head + &body
}

/// Arguments of rows that scans are tried with: some of those that keys are made of, and some that are refused.
fn scanned(cases: &[Case]) -> Vec<Vec<Value>> {
    let some = |refused: bool| {
        let those = cases.iter().filter(move |case| (case.outcome == Outcome::Refused) == refused);
        let lists: Vec<&[Value]> = those.filter_map(Case::values).collect();
        let step = lists.len().div_ceil(SCANNED).max(1);
        lists.into_iter().step_by(step).map(<[Value]>::to_vec).collect::<Vec<_>>()
    };
    let mut rows = some(false);
    rows.extend(some(true));
    rows
}

/// What is claimed of one layout.
fn cases(plan: &Plan, part: &Part<'_>, options: Options) -> Vec<Case> {
    let mut random = Random::new(&plan.fingerprint().bytes(), &part.path);
    let mut lists = edges(part.sequence);
    lists.extend((0..options.count).map(|_| random.arguments(part.sequence)));
    let mut cases: Vec<Case> = Vec::new();
    let mut keys: Vec<Vec<u8>> = Vec::new();
    for values in lists {
        let case = judge_args(part, values);
        if let Some(bytes) = case.bytes().filter(|_| case.outcome != Outcome::Refused) {
            // What is read back is a vector of its own where it is not what was written.
            if case.outcome != Outcome::Valid {
                cases.push(judge_bytes(part, bytes.to_vec()));
            }
            keys.push(bytes.to_vec());
        }
        cases.push(case);
    }
    for values in outside(part.sequence) {
        cases.push(judge_args(part, values));
    }
    let step = (keys.len() / DAMAGED).max(1);
    for key in keys.iter().step_by(step) {
        cases.extend(random.damaged(key).into_iter().map(|bytes| judge_bytes(part, bytes)));
    }
    let noise = random.noise(&part.sequence.literal_prefix());
    cases.extend(noise.into_iter().map(|bytes| judge_bytes(part, bytes)));
    cases
}

/// Argument lists that have every alternative and every edge of every domain, one at a time.
fn edges(sequence: &Sequence) -> Vec<Vec<Value>> {
    let all: Vec<Vec<Value>> = sequence.arguments().map(|argument| domain::inside(&argument.shape)).collect();
    vary(&all)
}

/// Argument lists of which one argument lies just outside of its domain.
fn outside(sequence: &Sequence) -> Vec<Vec<Value>> {
    let base: Option<Vec<Value>> =
        sequence.arguments().map(|argument| domain::inside(&argument.shape).into_iter().next()).collect();
    let Some(base) = base else { return Vec::new() };
    let mut lists = Vec::new();
    for (index, argument) in sequence.arguments().enumerate() {
        for value in domain::outside(&argument.shape) {
            let mut list = base.clone();
            if let Some(slot) = list.get_mut(index) {
                *slot = value;
            }
            lists.push(list);
        }
    }
    lists
}

/// Each value of each argument once, beside the first of the others.
fn vary(all: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let base: Option<Vec<Value>> = all.iter().map(|values| values.first().cloned()).collect();
    let Some(base) = base else { return Vec::new() };
    let mut lists = vec![base.clone()];
    for (index, values) in all.iter().enumerate() {
        for value in values.iter().skip(1) {
            let mut list = base.clone();
            if let Some(slot) = list.get_mut(index) {
                *slot = value.clone();
            }
            lists.push(list);
        }
    }
    lists
}
