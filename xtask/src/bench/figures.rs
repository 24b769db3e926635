//! What a program that measures has printed: an object per line.

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;

use super::{Goal, Measurement};
use crate::job::Job;

/// Runs a program, and reads its measurements. Lines that are of something else are left out.
pub(super) fn told(job: &Job) -> Result<Vec<Measurement>> {
    let ratio =
        |object: &Value| object.get("name")?.as_str().map(|name| if name.contains('÷') { "×" } else { "" });
    told_in(job, ratio)
}

/// The same, with units by what a line says.
pub(super) fn told_in(job: &Job, unit: impl Fn(&Value) -> Option<&'static str>) -> Result<Vec<Measurement>> {
    let output = job.command().output().with_context(|| format!("cannot run `{job}`"))?;
    if !output.status.success() {
        bail!("`{job}` failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let objects = text.lines().filter(|line| line.starts_with('{')).map(|line| {
        serde_json::from_str::<Value>(line).with_context(|| format!("not a measurement: {line}"))
    });
    let mut measured = Vec::new();
    for object in objects {
        let object = object?;
        if object.get("name").is_some() {
            measured.push(measurement(&object, &unit).ok_or_else(|| anyhow!("not a measurement: {object}"))?);
        }
    }
    Ok(measured)
}

fn measurement(object: &Value, unit: impl Fn(&Value) -> Option<&'static str>) -> Option<Measurement> {
    let (goal, value) = (object.get("goal")?.as_f64()?, object.get("value")?.as_f64()?);
    let goal = match object.get("bound").map_or(Some("at most"), Value::as_str)? {
        "at least" => Goal::AtLeast(goal),
        "at most" => Goal::AtMost(goal),
        _ => return None,
    };
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Measurement {
        name: text("name")?,
        value,
        goal,
        unit: unit(object)?,
        compared_with: text("compared_with")?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_says_which_way_its_goal_is() {
        let line = |bound: &str| {
            measurement(
                &json!({"name": "a ÷ b", "value": 1.5, "goal": 2.0, "bound": bound, "compared_with": "c"}),
                |_| Some("×"),
            )
        };
        assert_eq!(line("at least").map(|line| line.is_met()), Some(false));
        assert_eq!(line("at most").map(|line| (line.is_met(), line.unit)), Some((true, "×")));
        assert_eq!(line("about"), None);
    }
}
