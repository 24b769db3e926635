/// A plan as it was compiled in: what a store compares with the one that its database was written under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanText {
    /// The plan's name.
    pub name: &'static str,
    /// The files it was read from by name, the root first.
    pub files: &'static [(&'static str, &'static str)],
    /// The fingerprint of its layout.
    pub fingerprint: [u8; 16],
    /// Its spaces, in the order of the plan.
    pub spaces: &'static [SpaceText],
}

/// A space of a plan as it was compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceText {
    /// The name that an engine stores it under.
    pub name: &'static str,
    /// The families of keys, by path, each with the bytes that all of its keys begin with.
    pub rows: &'static [(&'static str, &'static [u8])],
    /// The paths of the structures: hashes, sets, sorted sets and queues.
    pub structures: &'static [&'static str],
}

impl SpaceText {
    /// A space's name, its families of keys and its structures; what `keyplan::plan!` emits.
    pub const fn new(
        name: &'static str,
        rows: &'static [(&'static str, &'static [u8])],
        structures: &'static [&'static str],
    ) -> Self {
        Self { name, rows, structures }
    }
}

impl PlanText {
    /// A plan's name, files, fingerprint and spaces; what `keyplan::plan!` emits.
    pub const fn new(
        name: &'static str,
        files: &'static [(&'static str, &'static str)],
        fingerprint: [u8; 16],
        spaces: &'static [SpaceText],
    ) -> Self {
        Self { name, files, fingerprint, spaces }
    }

    /// The text of the plan's own file, imports left out.
    pub fn text(&self) -> &'static str {
        self.files.first().map_or("", |(_, text)| text)
    }
}
