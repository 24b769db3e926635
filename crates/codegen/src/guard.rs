//! What keeps an accepted flaw from biting, in Go and TypeScript.

use std::collections::BTreeMap;

use keyplan_plan::model::{AcceptKind, Family};

/// What an encoder looks at before it gives bytes that may be read as something else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Whether the layout may have several readings itself.
    pub(crate) own: bool,
    /// Others that may make the same bytes: what they are called, and their types.
    pub(crate) others: Vec<(String, String)>,
}

impl Guard {
    /// That of a family's keys; the types of the families are given by their paths.
    pub(crate) fn of_family(family: &Family, types: &BTreeMap<&str, String>) -> Self {
        let overlaps = family.accepted(AcceptKind::Overlap).flat_map(|accept| &accept.of);
        let others = overlaps
            .filter(|path| **path != family.path)
            .filter_map(|path| Some((path.clone(), types.get(path.as_str())?.clone())));
        Self { own: is_ambiguous(family), others: others.collect() }
    }

    /// That of the field of a hash whose type has a name, among all of its fields: what they are called, and their types.
    pub(crate) fn of_field(family: &Family, name: &str, all: &[(String, String)]) -> Self {
        let own = is_ambiguous(family);
        let others = all.iter().filter(|(_, other)| own && other != name);
        Self { own, others: others.cloned().collect() }
    }

    pub(crate) fn is_needed(&self) -> bool {
        self.own || !self.others.is_empty()
    }
}

fn is_ambiguous(family: &Family) -> bool {
    family.accepted(AcceptKind::Ambiguous).next().is_some()
}
