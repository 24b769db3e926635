//! One walk over shapes: what a composite is made of.
//!
//! A shape holds layouts in a row, or is written around another shape, or is a single value. Whoever only wants what is inside
//! asks here; a `match` is for those to whom a list means something else than a record does.

use super::{Sequence, Shape};

impl Shape {
    /// The layouts in a row that it holds: that of a record, those of the alternatives of a choice.
    pub fn rows(&self) -> impl Iterator<Item = &Sequence> {
        let (record, choice) = match self {
            Self::Record(sequence) => (Some(sequence), &[][..]),
            Self::Choice(alternatives) => (None, alternatives.as_slice()),
            _ => (None, &[][..]),
        };
        record.into_iter().chain(choice.iter().map(|alternative| &alternative.sequence))
    }

    /// The shape that it is written around: what is optional, an element of a list, what is framed, turned around or hashed.
    pub fn inner(&self) -> Option<&Self> {
        match self {
            Self::Option(inner)
            | Self::List { item: inner, .. }
            | Self::Framed { inner, .. }
            | Self::Desc(inner)
            | Self::Hashed { inner, .. }
            | Self::HashConcat { inner, .. } => Some(inner),
            _ => None,
        }
    }

    /// The shapes right inside of it: the one that it is written around, and the arguments of its rows.
    ///
    /// ```
    /// let text = "plan demo; space s { key a = x: list(u8, 1..=3).len8 y: u16; }";
    /// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
    /// let (_, family) = plan.families().next().expect("one family");
    /// let inside: Vec<usize> = family.key.arguments().map(|argument| argument.shape.children().count()).collect();
    /// assert_eq!(inside, [1, 0]);
    /// ```
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        let arguments = self.rows().flat_map(Sequence::arguments).map(|argument| &argument.shape);
        self.inner().into_iter().chain(arguments)
    }

    /// Whether nothing is inside of it: it is a single value.
    pub fn is_leaf(&self) -> bool {
        self.inner().is_none() && self.rows().next().is_none()
    }
}
