use std::collections::BTreeMap;

use serde::Serialize;

/// What is wrong with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// No family makes the key.
    UnknownKey,
    /// The key has two readings or more.
    TwoReadings,
    /// The key begins with a prefix, or is of a family, that is retired.
    Retired,
    /// The value is not what its family says, or is written otherwise than it would be.
    Value,
    /// A field, member or score is not what its family says.
    Member,
    /// The row does not come after the one before it.
    Order,
    /// A row that the row refers to is not there.
    MissingTarget,
}

impl FindingKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::UnknownKey,
        Self::TwoReadings,
        Self::Retired,
        Self::Value,
        Self::Member,
        Self::Order,
        Self::MissingTarget,
    ];

    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::UnknownKey => "unknown-key",
            Self::TwoReadings => "two-readings",
            Self::Retired => "retired",
            Self::Value => "value",
            Self::Member => "member",
            Self::Order => "order",
            Self::MissingTarget => "missing-target",
        }
    }

    /// What it is, in a sentence.
    pub const fn title(self) -> &'static str {
        match self {
            Self::UnknownKey => "no family of the plan makes this key",
            Self::TwoReadings => "the key has more than one reading",
            Self::Retired => "the key is one of a retired prefix or family",
            Self::Value => "the value is not one that its family writes",
            Self::Member => "a field, member or score is not one that its family writes",
            Self::Order => "the row does not come after the one before it",
            Self::MissingTarget => "a row that the row refers to is not there",
        }
    }
}

/// Rows with the same fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The space, as the plan calls it.
    pub space: String,
    /// The families concerned: that of the row, those of its readings, or the one that gets furthest.
    pub families: Vec<String>,
    /// The byte of the key or value at which it breaks, if it does at one.
    pub offset: Option<usize>,
    /// What is wrong there, for the first of the rows.
    pub message: String,
    /// How many rows there are.
    pub rows: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// A row that shows a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The key, in hex.
    pub key: String,
    /// The value, in hex, where it is at fault; cut off if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What the key may stand for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<String>,
    /// The row that it refers to and that is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// How many rows of one fault are shown.
pub const EXAMPLES: usize = 3;
/// How many faults of a space are kept apart; the rows of further ones are counted together.
pub const MAX_FINDINGS: usize = 512;

/// Findings of one space, kept together by what they have in common.
#[derive(Debug, Default)]
pub(super) struct Groups {
    found: BTreeMap<FindingKind, BTreeMap<String, Finding>>,
    kept: usize,
    /// Rows of faults that found no room.
    pub(super) beyond: u64,
}

impl Groups {
    /// Counts a row in the group of `kind` and `label`; `new` says what the group is and `example` shows the row.
    pub(super) fn count(
        &mut self,
        kind: FindingKind,
        label: &str,
        new: impl FnOnce() -> Finding,
        example: impl FnOnce() -> Example,
    ) {
        let groups = self.found.entry(kind).or_default();
        // A row of a group that is there already makes no text.
        if !groups.contains_key(label) {
            if self.kept >= MAX_FINDINGS {
                self.beyond += 1;
                return;
            }
            self.kept += 1;
            groups.insert(label.to_owned(), new());
        }
        let Some(group) = groups.get_mut(label) else { return };
        group.rows += 1;
        if group.examples.len() < EXAMPLES {
            group.examples.push(example());
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.found.into_values().flat_map(BTreeMap::into_values).collect()
    }
}
