//! What is to be pruned, and by which height or time.

use std::time::{SystemTime, UNIX_EPOCH};

use keyplan_plan::dynamic::{Value, parse};
use keyplan_plan::model::{Family, Keep, Plan, Shape, TimeEncoding};

use crate::error::{Result, bail, refused};
use crate::find;

/// The family that is named, or all that say what is kept of them.
pub fn pruned_families<'p>(plan: &'p Plan, named: Option<&str>) -> Result<Vec<&'p Family>> {
    if let Some(path) = named {
        return Ok(vec![find::family(plan, path)?.1]);
    }
    let all: Vec<&Family> =
        plan.families().map(|(_, family)| family).filter(|family| family.retention.is_some()).collect();
    if all.is_empty() {
        bail!("no family of the plan says what is kept: write `retain 100_000 by height` or the like");
    }
    Ok(all)
}

/// The present height or time, as the argument of a family counts it: the number `at`, the `time` as text, or the clock.
pub fn present(family: &Family, at: Option<i128>, time: Option<&str>) -> Result<Option<i128>> {
    let Some(retention) = &family.retention else { return Ok(at) };
    if matches!(retention.keep, Keep::Newest { .. }) {
        return Ok(None);
    }
    let timed = retention.argument(family).is_some_and(|argument| matches!(argument.shape, Shape::Time(_)));
    if !timed {
        return match at {
            Some(at) => Ok(Some(at)),
            None => bail!("`{}` is kept by a number: give the present one with `--at`", family.path),
        };
    }
    if let Some(text) = time {
        match parse(&Shape::Time(TimeEncoding::Text9), text) {
            Ok(Value::Time(nanoseconds)) => Ok(Some(nanoseconds)),
            _ => bail!("`{text}` is not a time such as 2006-01-02T15:04:05.000000000"),
        }
    } else {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let since = since.map_err(|error| refused!("the clock is before 1970: {error}"))?;
        Ok(i128::try_from(since.as_nanos()).ok())
    }
}
