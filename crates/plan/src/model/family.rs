use super::{
    AllowedBreak, DottedPath, FamilyKind, ModuleId, Predecessor, Relation, Retention, Scan, Sequence,
};
use crate::diag::Span;

/// The keys of one layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// Its path, `space.module.name`.
    pub path: String,
    /// What its keys hold.
    pub kind: FamilyKind,
    /// What the program calls it, if that is another name. No part of the layout, nor of the fingerprint.
    pub real_name: Option<String>,
    /// What it is for.
    pub doc: Vec<String>,
    /// The layout of its keys, the prefix of its module included.
    pub key: Sequence,
    /// The layout of its values, if the plan gives one.
    pub value: Option<Sequence>,
    /// The fields of a hash.
    pub fields: Vec<Field>,
    /// The layout of the members of a set, sorted set or queue.
    pub member: Option<Sequence>,
    /// The layout of the scores of a sorted set or queue.
    pub score: Option<Sequence>,
    /// How many buckets a hash is spread over on a server, if it is.
    pub spread: Option<u16>,
    /// What may be scanned.
    pub scans: Vec<Scan>,
    /// The flaws that are kept.
    pub accepts: Vec<Accept>,
    /// The families of older plans that its rows come from. No part of the layout, nor of the fingerprint.
    pub predecessors: Vec<Predecessor>,
    /// The changes against older plans that are meant. No part of the layout, nor of the fingerprint.
    pub allowed_breaks: Vec<AllowedBreak>,
    /// The rows that its rows refer to. No part of the layout, nor of the fingerprint.
    pub relations: Vec<Relation>,
    /// Why it is no longer written.
    pub retired: Option<String>,
    /// Since when it is no longer written.
    pub retired_since: Option<String>,
    /// Which of its rows are kept. No part of the layout, nor of the fingerprint.
    pub retention: Option<Retention>,
    /// The module it is in.
    pub module: Option<ModuleId>,
    /// Its number in the module: the first literal byte after the module's prefix.
    pub number: Option<u8>,
    /// The allotment that it draws its number from.
    pub allotment: Option<String>,
    /// Where its name is.
    pub name_span: Span,
    /// Where it is declared.
    pub span: Span,
}

impl Family {
    /// The path without the space: `module.name`.
    pub fn local_path(&self) -> &str {
        DottedPath(&self.path).rest().unwrap_or(&self.path)
    }

    /// The path of something inside of it: a field by its name, the members, the scores.
    pub fn path_of(&self, part: &str) -> String {
        format!("{}.{part}", self.path)
    }

    /// The flaws of this kind that are kept.
    pub fn accepted(&self, kind: AcceptKind) -> impl Iterator<Item = &Accept> {
        self.accepts.iter().filter(move |accept| accept.kind == kind)
    }

    /// The `accept leak` that covers rows of the family `of`, which may be this one.
    pub fn accepted_leak(&self, of: &str) -> Option<&Accept> {
        self.accepted(AcceptKind::Leak)
            .find(|accept| accept.of.is_empty() || accept.of.iter().any(|o| o == of))
    }
}

/// One kind of field of a hash.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name in the plan.
    pub name: String,
    /// What it is for.
    pub doc: Vec<String>,
    /// The layout of the field's key.
    pub key: Sequence,
    /// The layout of its value.
    pub value: Option<Sequence>,
    /// Where it is declared.
    pub span: Span,
}

/// A flaw that is kept, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accept {
    /// Which flaw.
    pub kind: AcceptKind,
    /// The paths of the families it is about, for `overlap` and `leak`; for `leak` none means all of them.
    pub of: Vec<String>,
    /// Why.
    pub why: String,
    /// Where it is declared.
    pub span: Span,
}

/// A flaw that a plan may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AcceptKind {
    /// Two argument lists make one key.
    Ambiguous,
    /// Another family makes the same key.
    Overlap,
    /// A scan returns rows that do not belong to it.
    Leak,
    /// A range leaves out rows that belong to it.
    Missing,
    /// A scan `in order` is not in order.
    Unordered,
    /// A number is not allotted as the module says.
    Misallotted,
    /// An encoding loses information.
    Lossy,
    /// The longest key is too long for the engine.
    Oversize,
    /// Its keys lie in the prefix of a module that it is not in.
    Trespass,
    /// It does not follow the house rules.
    Style,
}

impl AcceptKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Ambiguous,
        Self::Overlap,
        Self::Leak,
        Self::Missing,
        Self::Unordered,
        Self::Misallotted,
        Self::Lossy,
        Self::Oversize,
        Self::Trespass,
        Self::Style,
    ];

    /// The word in a plan.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ambiguous => "ambiguous",
            Self::Overlap => "overlap",
            Self::Leak => "leak",
            Self::Missing => "missing",
            Self::Unordered => "unordered",
            Self::Misallotted => "misallotted",
            Self::Lossy => "lossy",
            Self::Oversize => "oversize",
            Self::Trespass => "trespass",
            Self::Style => "style",
        }
    }
}
