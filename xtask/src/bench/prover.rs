//! How long proofs take, and how much memory: `crates/prover/examples/prover_bench.rs` on one thread.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{Effort, Goal, Group, Measurement, number, program};
use crate::job::Job;

pub(super) struct Prover;

impl Group for Prover {
    fn name(&self) -> &'static str {
        "prover"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        let job = Job::new(&program("examples/prover_bench")?, "");
        let output = match effort {
            // The plans by themselves take a few seconds.
            Effort::Quick => job.argument("plan ").output()?,
            Effort::Full => job.argument("").output()?,
        };
        let cases = output
            .lines()
            .map(|line| serde_json::from_str(line).with_context(|| format!("not a case: {line}")))
            .collect::<Result<Vec<Value>>>()?;
        let mut measured: Vec<Measurement> = cases.iter().filter_map(case).collect();
        measured.extend(growth(&cases));
        measured.extend(repairs(&cases));
        Ok(measured)
    }
}

/// One case. The quickest run counts: what other programs do to the rest is not the prover's.
fn case(case: &Value) -> Option<Measurement> {
    let name = case.get("case")?.as_str()?;
    if let Some(peak) = case.get("peak_kib").and_then(Value::as_f64) {
        let compared_with = "the most that the process ever had, over all cases".to_owned();
        return Some(Measurement {
            name: name.to_owned(),
            value: peak / 1_024.0,
            goal: Goal::AtMost(200.0),
            unit: "MiB",
            compared_with,
        });
    }
    let (best, median) = (case.get("best_ms")?.as_f64()?, case.get("ms")?.as_f64()?);
    let count = |field: &str| case.get(field).and_then(Value::as_f64).map(number).unwrap_or_default();
    let goal = match name.split(' ').next()? {
        "plan" | "upstream" | "gallery" => 10.0,
        "in" => 5_000.0,
        "generated" if name == "generated 3000" => 3_000.0,
        "generated" | "sharing" => 1_000.0,
        _ => 50.0,
    };
    Some(Measurement {
        name: name.to_owned(),
        value: best,
        goal: Goal::AtMost(goal),
        unit: "ms",
        compared_with: format!(
            "{} families, {} statements, {} refuted, {} unknown; median {} ms of {} runs",
            count("families"),
            count("statements"),
            count("fails"),
            count("unknown"),
            number(median),
            count("runs")
        ),
    })
}

/// The plan for whose findings looking for repairs takes longest, and the one for which it takes most beside the proof.
fn repairs(cases: &[Value]) -> Vec<Measurement> {
    let all: Vec<(&str, f64, f64)> = cases
        .iter()
        .filter_map(|case| {
            let field = |name: &str| case.get(name)?.as_f64();
            let name = case.get("case")?.as_str()?.strip_prefix("repairs ")?;
            Some((name, field("repairs_ms")?, field("proof_ms")?))
        })
        .collect();
    let of = |weight: &dyn Fn(&(&str, f64, f64)) -> f64| {
        all.iter().copied().max_by(|a, b| weight(a).total_cmp(&weight(b)))
    };
    let told = |(name, repairs, proof): (&str, f64, f64)| {
        format!("{name}, of {} plans: {} ms, and {} ms without", all.len(), number(repairs), number(proof))
    };
    let longest = of(&|case| case.1).map(|case| Measurement {
        name: "repairs, the longest".to_owned(),
        value: case.1,
        goal: Goal::AtMost(1_000.0),
        unit: "ms",
        compared_with: told(case),
    });
    let dearest = of(&|case| case.1 / case.2).map(|case| Measurement {
        name: "repairs ÷ proof, the dearest".to_owned(),
        value: case.1 / case.2,
        goal: Goal::AtMost(5.0),
        unit: "×",
        compared_with: told(case),
    });
    longest.into_iter().chain(dearest).collect()
}

/// How the time of one family changes from a small plan to a large one.
fn growth(cases: &[Value]) -> Option<Measurement> {
    let of = |name: &str| {
        let found = cases.iter().find(|case| case.get("case").and_then(Value::as_str) == Some(name))?;
        found.get("best_ms")?.as_f64()
    };
    let (small, large) = (of("generated 100")? / 100.0, of("generated 3000")? / 3_000.0);
    Some(Measurement {
        name: "growth, 3,000 ÷ 100 families".to_owned(),
        value: large / small,
        goal: Goal::AtMost(2.0),
        unit: "× the time per family",
        compared_with: format!("{} µs per family against {} µs", number(large * 1e3), number(small * 1e3)),
    })
}
