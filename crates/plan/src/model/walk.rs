//! One walk over shapes: what a composite is made of.
//!
//! A shape holds layouts in a row, or is written around another shape, or is a single value. Whoever only wants what is inside
//! asks here; a `match` is for those to whom a list means something else than a record does.

use keyplan_codec::Hash;

use super::{Alternative, Argument, Same, Segment, Sequence, Shape};

impl Shape {
    /// The layouts in a row that it holds: that of a record, those of the alternatives of a choice.
    pub fn rows(&self) -> impl Iterator<Item = &Sequence> {
        self.labelled().map(|(_, sequence)| sequence)
    }

    /// The same, each with the label of its alternative; that of a record has none.
    pub fn labelled(&self) -> impl Iterator<Item = (Option<&str>, &Sequence)> {
        let (record, alternatives) = match self {
            Self::Record(sequence) => (Some((None, sequence)), &[][..]),
            Self::Choice(alternatives) => (None, alternatives.as_slice()),
            _ => (None, &[][..]),
        };
        record.into_iter().chain(alternatives.iter().map(|one| (Some(one.label.as_str()), &one.sequence)))
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
            // Each by its name, so that no new composite is taken for a single value.
            Self::Record(_)
            | Self::Choice(_)
            | Self::Int(_)
            | Self::Bool(_)
            | Self::Float(_)
            | Self::Time(_)
            | Self::Score { .. }
            | Self::Bytes { .. }
            | Self::Text(_)
            | Self::Nibbles { .. }
            | Self::Opaque(_) => None,
        }
    }

    /// The shape whose values it takes as they are: what is framed, turned around, or after its hash. What is hashed is not among
    /// them, since a digest may be all that is known of it.
    pub const fn wrapped(&self) -> Option<&Self> {
        match self {
            Self::Framed { inner, .. } | Self::Desc(inner) | Self::HashConcat { inner, .. } => Some(inner),
            Self::Record(_)
            | Self::Choice(_)
            | Self::Option(_)
            | Self::List { .. }
            | Self::Hashed { .. }
            | Self::Int(_)
            | Self::Bool(_)
            | Self::Float(_)
            | Self::Time(_)
            | Self::Score { .. }
            | Self::Bytes { .. }
            | Self::Text(_)
            | Self::Nibbles { .. }
            | Self::Opaque(_) => None,
        }
    }

    /// The same to be changed.
    pub const fn wrapped_mut(&mut self) -> Option<&mut Self> {
        match self {
            Self::Framed { inner, .. } | Self::Desc(inner) | Self::HashConcat { inner, .. } => Some(inner),
            _ => None,
        }
    }

    /// What is inside of all that it is wrapped in.
    pub const fn unwrapped(&self) -> &Self {
        let mut shape = self;
        while let Some(inner) = shape.wrapped() {
            shape = inner;
        }
        shape
    }

    /// What may be absent, if something may be: what is optional inside of all that the shape is wrapped in.
    pub fn optional(&self) -> Option<&Self> {
        if let Self::Option(inner) = self.unwrapped() { Some(inner) } else { None }
    }

    /// The layout that its values are rows of, if they are: that of a record, whatever is written around it.
    pub const fn record(&self) -> Option<&Sequence> {
        if let Self::Record(sequence) = self.values() { Some(sequence) } else { None }
    }

    /// The shape whose values it takes, hashed or not: what a length, an escape or a hash is written around.
    pub const fn values(&self) -> &Self {
        let mut shape = self.unwrapped();
        while let Self::Hashed { inner, .. } = shape {
            shape = inner.unwrapped();
        }
        shape
    }

    /// The shape with what `change` gives in place of the outermost shapes that it changes.
    #[must_use]
    pub fn map(&self, change: &impl Fn(&Self) -> Option<Self>) -> Self {
        if let Some(changed) = change(self) {
            return changed;
        }
        let mut shape = self.clone();
        match &mut shape {
            Self::Record(sequence) => *sequence = sequence.map(change),
            Self::Choice(alternatives) => {
                for Alternative { sequence, .. } in alternatives {
                    *sequence = sequence.map(change);
                }
            }
            Self::Option(inner)
            | Self::List { item: inner, .. }
            | Self::Framed { inner, .. }
            | Self::Desc(inner)
            | Self::Hashed { inner, .. }
            | Self::HashConcat { inner, .. } => **inner = inner.map(change),
            Self::Int(_)
            | Self::Bool(_)
            | Self::Float(_)
            | Self::Time(_)
            | Self::Score { .. }
            | Self::Bytes { .. }
            | Self::Text(_)
            | Self::Nibbles { .. }
            | Self::Opaque(_) => {}
        }
        shape
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

    /// The shape whose order it turns around: each byte of it is complemented.
    pub const fn turned(&self) -> Option<&Self> {
        match self {
            Self::Desc(inner) => Some(inner),
            _ => None,
        }
    }

    /// The hash of which a digest is written in place of its value, and how many bytes of it: the value is not seen in the key.
    pub const fn digest(&self) -> Option<(Hash, usize)> {
        match self {
            Self::Hashed { hash, keep, .. } => Some((*hash, *keep)),
            _ => None,
        }
    }

    /// Whether nothing is inside of it: it is a single value.
    pub fn is_leaf(&self) -> bool {
        self.inner().is_none() && self.rows().next().is_none()
    }
}

impl Sequence {
    /// The shapes in a row: those of its arguments, and of their copies.
    pub fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.segments().iter().filter_map(|segment| match segment {
            Segment::Argument(argument) => Some(&argument.shape),
            Segment::Same(same) => Some(&same.shape),
            Segment::Literal(_) | Segment::Derived(_) => None,
        })
    }

    /// The layout with what `change` gives in place of the outermost shapes that it changes. Segments keep their places.
    #[must_use]
    pub fn map(&self, change: &impl Fn(&Shape) -> Option<Shape>) -> Self {
        let segment = |segment: &Segment| match segment {
            Segment::Argument(argument) => {
                Segment::Argument(Argument { shape: argument.shape.map(change), ..argument.clone() })
            }
            Segment::Same(same) => Segment::Same(Same { shape: same.shape.map(change), ..same.clone() }),
            Segment::Literal(_) | Segment::Derived(_) => segment.clone(),
        };
        Self::new(self.segments().iter().map(segment).collect())
    }
}
