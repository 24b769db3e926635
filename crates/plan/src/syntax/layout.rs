//! What the parser tells the formatter: which stretches of tokens are what.

/// A stretch of tokens, by their indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// What it is.
    pub(super) kind: MarkKind,
    /// The index of its first token, documentation included.
    pub(super) start: usize,
    /// The index after its last token.
    pub(super) end: usize,
}

/// What a [`Mark`] marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// Something that begins a line of its own.
    Statement(Statement),
    /// A clause of a family.
    Clause,
    /// A part, or a string that may be in the next line as a part may.
    Part,
    /// `( … )` of a record, with its parentheses.
    Record,
    /// `( … | … )` of a choice, with its parentheses.
    Choice,
    /// An alternative of the choice that opens at a token.
    Alternative {
        /// The index of that token.
        open: usize,
    },
}

/// Kinds of statements, by the blank lines that they want around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// `plan`
    Plan,
    /// `import`
    Import,
    /// `type`
    Type,
    /// `space`, `module`, `names`: what ends with a brace.
    Block,
    /// `key` and its kin.
    Family,
    /// `allot`, `retired`
    Number,
    /// A name of a set.
    Entry,
}
