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
}

impl PlanText {
    /// A plan's name, files and fingerprint; what `keyplan::plan!` emits.
    pub const fn new(
        name: &'static str,
        files: &'static [(&'static str, &'static str)],
        fingerprint: [u8; 16],
    ) -> Self {
        Self { name, files, fingerprint }
    }

    /// The text of the plan's own file, imports left out.
    pub fn text(&self) -> &'static str {
        self.files.first().map_or("", |(_, text)| text)
    }
}
