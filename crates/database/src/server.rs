//! A Redis server whose keys a plan describes.

use keyplan_plan::model::Plan;
use keyplan_store::structure::{Redis, RedisSettings};

use crate::error::{Context as _, Result};
use crate::find::only_space;

/// Connects to a server, and says which space of the plan its keys are of. Without a URL it is the one that the environment
/// names: a password in an argument is seen by everybody who lists processes.
pub fn redis(plan: &Plan, url: Option<&str>) -> Result<(Redis, usize)> {
    let space = only_space(plan)?;
    let settings = match url {
        Some(url) => RedisSettings::new(url)?,
        None => RedisSettings::from_environment()?,
    };
    let redis =
        Redis::open(settings.plan(plan)).with_context(|| "cannot connect to the server".to_owned())?;
    Ok((redis, space))
}
