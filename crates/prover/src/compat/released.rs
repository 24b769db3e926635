//! KP0036: a prefix that a release has used is never forgotten.

use keyplan_plan::diag::Span;
use keyplan_plan::model::{Family, Plan, Space};

use super::families::all_retired;

/// A prefix that a release has used, and that the plan neither uses for the same rows nor keeps reserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The release that used it.
    pub release: String,
    /// The path of the family there.
    pub family: String,
    /// The name that the engine knows the space by.
    pub space: String,
    /// The prefix.
    pub prefix: Vec<u8>,
    /// The space in the plan, if it has it.
    pub span: Span,
}

/// Every prefix of the releases, given by name, that a plan has forgotten; each once, by the oldest release.
pub fn forgotten<'p>(releases: impl IntoIterator<Item = (&'p str, &'p Plan)>, plan: &Plan) -> Vec<Forgotten> {
    let mut all: Vec<Forgotten> = Vec::new();
    for (release, old) in releases {
        for (space, family) in old.families() {
            let now = plan.spaces.iter().find(|now| now.engine_name() == space.engine_name());
            let prefix = family.key.literal_prefix();
            let known = all.iter().any(|known| known.prefix == prefix && known.space == space.engine_name());
            if known || prefix.is_empty() || now.is_some_and(|now| remembers(now, old, family, &prefix)) {
                continue;
            }
            all.push(Forgotten {
                release: release.to_owned(),
                family: family.path.clone(),
                space: space.engine_name().to_owned(),
                prefix,
                span: now.map(|now| now.span).unwrap_or_default(),
            });
        }
        for space in &old.spaces {
            let now = plan.spaces.iter().find(|now| now.engine_name() == space.engine_name());
            for entry in all_retired(space) {
                let kept = now.is_some_and(|now| retires(now, &entry.prefix));
                let known = all
                    .iter()
                    .any(|known| known.prefix == entry.prefix && known.space == space.engine_name());
                if !kept && !known {
                    all.push(Forgotten {
                        release: release.to_owned(),
                        family: format!("{} (retired)", space.name),
                        space: space.engine_name().to_owned(),
                        prefix: entry.prefix.clone(),
                        span: now.map(|now| now.span).unwrap_or_default(),
                    });
                }
            }
        }
    }
    all
}

/// Whether a space keeps a prefix: reserved, or in use by the family that it was of or by one that comes from it.
fn remembers(now: &Space, old: &Plan, family: &Family, prefix: &[u8]) -> bool {
    let heir = |other: &&Family| {
        other.path == family.path
            || other.local_path() == family.local_path()
            || other.predecessors.iter().any(|said| {
                matches!(old.find(&said.family).as_slice(), [(_, found)] if found.path == family.path)
            })
            // A family that was renamed and writes the same bytes.
            || super::same(&family.key, &other.key)
    };
    let uses = |other: &Family| {
        let own = other.key.literal_prefix();
        own.starts_with(prefix) || (!own.is_empty() && prefix.starts_with(&own))
    };
    retires(now, prefix) || now.families.iter().filter(heir).any(uses)
}

fn retires(now: &Space, prefix: &[u8]) -> bool {
    all_retired(now).iter().any(|entry| prefix.starts_with(&entry.prefix))
}
