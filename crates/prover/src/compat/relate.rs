//! How the values and bytes of two layouts compare, by their normal forms only.

use std::collections::BTreeSet;

use keyplan_plan::codec::Alphabet;
use keyplan_plan::codec::Heights;
use keyplan_plan::model::{
    Alternative, BytesEncoding, ExtentRule, IntEncoding, IntRange, IntShape, LengthSet, Sequence, Shape,
    TextShape,
};

use keyplan_plan::mapping::{Pairing, Path, bare, leaves, partners};

use super::normal::{Piece, kept, pieces, pieces_of};
use crate::reader::alone;

/// A bound that lets through more than it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widening {
    /// The argument; empty where it has no name.
    pub argument: String,
    /// What was allowed.
    pub was: String,
    /// What is allowed.
    pub is: String,
}

/// What is known of every old argument list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Relation {
    /// Each is written as the same bytes. Without a bound that widened, the reverse holds too.
    Fits(Vec<Widening>),
    /// Each is written as the same bytes or refused.
    Cut,
    /// Nothing.
    Unlike,
}

impl Relation {
    const SAME: Self = Self::Fits(Vec::new());

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unlike, _) | (_, Self::Unlike) => Self::Unlike,
            (Self::Cut, _) | (_, Self::Cut) => Self::Cut,
            (Self::Fits(mut a), Self::Fits(b)) => {
                a.extend(b.into_iter().filter(|widening| !a.contains(widening)).collect::<Vec<_>>());
                Self::Fits(a)
            }
        }
    }
}

/// Relates two layouts of argument lists.
pub(super) fn relate(old: &Sequence, new: &Sequence) -> Relation {
    let (before, after) = leaves(old, new);
    let Ok(mapping) = Pairing::between(&before, &after) else { return Relation::Unlike };
    let names = after.iter().map(|leaf| (leaf.path.clone(), leaf.name.clone())).collect();
    let kept = kept(old, new, &mapping);
    let rows = (pieces(old, &kept.0), pieces(new, &kept.1));
    Scope { mapping, names, kept }.rows(&rows.0, rows.1)
}

struct Scope {
    mapping: Pairing,
    names: Vec<(Path, String)>,
    kept: (BTreeSet<Path>, BTreeSet<Path>),
}

impl Scope {
    fn name(&self, path: &[usize]) -> String {
        let exact = self.names.iter().find(|(other, _)| other == path);
        exact.map(|(_, name)| name.clone()).unwrap_or_default()
    }

    fn rows(&self, old: &[Piece], new: Vec<Piece>) -> Relation {
        let mut relation = self.pieces(old, new);
        for path in self.spares() {
            let argument = self.name(&path);
            let widening = Widening { argument, was: "not there".to_owned(), is: "optional".to_owned() };
            relation = relation.and(Relation::Fits(vec![widening]));
        }
        relation
    }

    /// Piece by piece, without those that are written as nothing.
    fn pieces(&self, old: &[Piece], new: Vec<Piece>) -> Relation {
        let mut kept: Vec<Piece> = Vec::new();
        for piece in new.into_iter().filter(|piece| !self.is_spare(piece)) {
            match (kept.last_mut(), piece) {
                (Some(Piece::Literal(before)), Piece::Literal(bytes)) => before.extend(bytes),
                (_, piece) => kept.push(piece),
            }
        }
        if old.len() != kept.len() {
            return Relation::Unlike;
        }
        old.iter().zip(&kept).fold(Relation::SAME, |relation, (a, b)| match relation {
            Relation::Unlike => Relation::Unlike,
            relation => relation.and(self.piece(a, b)),
        })
    }

    /// The new values that no old one is.
    fn spares(&self) -> Vec<Vec<usize>> {
        let spare = self.names.iter().filter(|(path, _)| self.mapping.old_of(path).is_none());
        spare.map(|(path, _)| path.clone()).collect()
    }

    /// Whether a piece is written as nothing for every old argument list.
    fn is_spare(&self, piece: &Piece) -> bool {
        let Piece::Value { path, shape } = piece else { return false };
        matches!(shape.turned().unwrap_or(shape), Shape::Option(_))
            && self.mapping.old_of(path).is_none()
            && self.names.iter().any(|(other, _)| other == path)
    }

    fn piece(&self, old: &Piece, new: &Piece) -> Relation {
        match (old, new) {
            (Piece::Literal(a), Piece::Literal(b)) if a == b => Relation::SAME,
            (Piece::Value { path: p, shape: a }, Piece::Value { path: q, shape: b }) => {
                self.value((p, a), (q, b))
            }
            (
                Piece::Derived { function, modulus, shape, of },
                Piece::Derived { function: f, modulus: m, shape: s, of: o },
            ) if function == f && modulus == m && shape == s => self.pieces(of, o.clone()),
            _ => Relation::Unlike,
        }
    }

    /// Two values, or two records whose bytes are wrapped as a whole.
    fn value(&self, (p, old): (&[usize], &Shape), (q, new): (&[usize], &Shape)) -> Relation {
        let records = (bare(old), bare(new));
        match (old, new) {
            (Shape::Framed { frame: f, inner: a }, Shape::Framed { frame: g, inner: b }) if f == g => {
                self.wrapped((p, a), (q, b))
            }
            (Shape::Desc(a), Shape::Desc(b)) => self.wrapped((p, a), (q, b)),
            (
                Shape::Hashed { hash: h, keep: k, inner: a, .. },
                Shape::Hashed { hash, keep, inner: b, .. },
            )
            | (
                Shape::HashConcat { hash: h, keep: k, inner: a },
                Shape::HashConcat { hash, keep, inner: b },
            ) if h == hash && k == keep => self.wrapped((p, a), (q, b)),
            _ if matches!(records, (Shape::Record(_), _) | (_, Shape::Record(_))) => Relation::Unlike,
            (old, new) if self.mapping.agrees(p, q) => leaf(&self.name(q), old, new),
            _ => Relation::Unlike,
        }
    }

    fn wrapped(&self, (p, old): (&[usize], &Shape), (q, new): (&[usize], &Shape)) -> Relation {
        self.pieces(&pieces_of(old, p, &self.kept.0), pieces_of(new, q, &self.kept.1))
    }
}

/// Relates two shapes, neither of them a record or wrapped, of which one argument is a value.
fn leaf(name: &str, old: &Shape, new: &Shape) -> Relation {
    let widened =
        |was: String, is: String| Relation::Fits(vec![Widening { argument: name.to_owned(), was, is }]);
    match (old, new) {
        (Shape::Int(a), Shape::Int(b)) => integer(name, a, b),
        (Shape::Bool(a), Shape::Bool(b)) if a == b => Relation::SAME,
        (Shape::Float(a), Shape::Float(b)) if a == b => Relation::SAME,
        (Shape::Time(a), Shape::Time(b)) if a == b => Relation::SAME,
        (Shape::Score { heights: m, encoding: a }, Shape::Score { heights: n, encoding: b }) if a == b => {
            let said = |heights: &Option<Heights>| {
                heights.map_or_else(|| "any".to_owned(), |of| format!("heights {}..={}", of.least, of.most))
            };
            match (m, n) {
                _ if m == n => Relation::SAME,
                (_, None) => widened(said(m), said(n)),
                (Some(old), Some(new)) if old.are_within(*new) => widened(said(m), said(n)),
                _ => Relation::Cut,
            }
        }
        (Shape::Opaque(a), Shape::Opaque(b)) if a == b => Relation::SAME,
        (Shape::Bytes { lengths: m, encoding: a }, Shape::Bytes { lengths: n, encoding: b }) if a == b => {
            lengths(name, m, n)
        }
        (
            Shape::Bytes { lengths: m, encoding: BytesEncoding::Class(_) },
            Shape::Bytes { lengths: n, encoding: BytesEncoding::Raw },
        ) => widened("bytes of a class".to_owned(), "bytes".to_owned()).and(lengths(name, m, n)),
        (
            Shape::Bytes { encoding: BytesEncoding::Raw | BytesEncoding::Class(_), .. },
            Shape::Bytes { encoding: BytesEncoding::Class(_), .. },
        ) => Relation::Cut,
        (Shape::Nibbles { lengths: m, encoding: a }, Shape::Nibbles { lengths: n, encoding: b })
            if a == b =>
        {
            lengths(name, m, n)
        }
        (Shape::Text(a), Shape::Text(b)) => {
            let relation = text(name, a, b);
            if a.except == b.except {
                relation
            } else if b.except.texts().iter().all(|text| a.except.texts().contains(text)) {
                widened("without some texts".to_owned(), "with them".to_owned()).and(relation)
            } else {
                Relation::Cut.and(relation)
            }
        }
        (Shape::Text(a), Shape::Bytes { lengths: n, encoding: BytesEncoding::Raw }) if !a.tuple => {
            widened("text".to_owned(), "bytes".to_owned()).and(lengths(name, &a.lengths, n))
        }
        (Shape::Bytes { encoding: BytesEncoding::Raw, .. }, Shape::Text(b)) if !b.tuple => Relation::Cut,
        (Shape::Choice(a), Shape::Choice(b)) => choice(name, a, b),
        (Shape::Option(a), Shape::Option(b)) => named(name, relate(&alone(a), &alone(b))),
        // Where both are optional and one of them is wrapped, what is absent in one is absent in the other.
        (old, Shape::Option(b)) if !matches!(bare(old), Shape::Option(_)) => {
            widened("required".to_owned(), "optional".to_owned())
                .and(named(name, relate(&alone(old), &alone(b))))
        }
        (Shape::Option(a), new) if !matches!(bare(new), Shape::Option(_)) => {
            Relation::Cut.and(relate(&alone(a), &alone(new)))
        }
        (Shape::List { item: a, counts: m, framing: f }, Shape::List { item: b, counts: n, framing: g })
            if f == g =>
        {
            lengths(name, m, n).and(named(name, relate(&alone(a), &alone(b))))
        }
        _ => Relation::Unlike,
    }
}

/// A relation inside of an argument, said of the argument.
fn named(name: &str, relation: Relation) -> Relation {
    let Relation::Fits(mut all) = relation else { return relation };
    for widening in &mut all {
        widening.argument = match (name, widening.argument.as_str()) {
            (outer, "") => outer.to_owned(),
            ("", inner) => inner.to_owned(),
            (outer, inner) => format!("{outer}.{inner}"),
        };
    }
    Relation::Fits(all)
}

fn choice(name: &str, old: &[Alternative], new: &[Alternative]) -> Relation {
    let pairs = partners(old, new);
    let mut relation = Relation::SAME;
    for (alternative, partner) in old.iter().zip(&pairs) {
        let next = match partner.and_then(|index| new.get(index)) {
            Some(other) => named(name, relate(&alternative.sequence, &other.sequence)),
            None => Relation::Cut,
        };
        relation = relation.and(next);
    }
    for (index, alternative) in new.iter().enumerate() {
        if !pairs.contains(&Some(index)) {
            let (was, is) = ("not there".to_owned(), format!("alternative `{}`", alternative.label));
            relation = relation.and(Relation::Fits(vec![Widening { argument: name.to_owned(), was, is }]));
        }
    }
    relation
}

fn integer(name: &str, old: &IntShape, new: &IntShape) -> Relation {
    let one_byte = |int: &IntShape| match int.encoding {
        IntEncoding::Le if int.ty.bits == 8 => IntEncoding::Be,
        encoding => encoding,
    };
    let encoding = one_byte(old);
    if encoding != one_byte(new) {
        return Relation::Unlike;
    }
    // What is highest depends on the type.
    let any_width = encoding.row().extent != ExtentRule::Type && !matches!(encoding, IntEncoding::High(_));
    if !any_width && old.ty.bits != new.ty.bits {
        return Relation::Unlike;
    }
    let ((a, b), (c, d)) = (ends(old.range), ends(new.range));
    if old.range == new.range || (a == c && b == d) {
        return Relation::SAME;
    }
    if c <= a && b <= d {
        let shown = |(least, most): (Number, Number)| format!("{least}..={most}");
        let widening = Widening { argument: name.to_owned(), was: shown((a, b)), is: shown((c, d)) };
        return Relation::Fits(vec![widening]);
    }
    Relation::Cut
}

/// An integer of any type: its sign, then its magnitude with the order of the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Number {
    Negative(i128),
    Natural(u128),
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Negative(n) => n.fmt(f),
            Self::Natural(n) => n.fmt(f),
        }
    }
}

/// The least and the greatest number of a range.
pub(super) fn ends(range: IntRange) -> (Number, Number) {
    let of = |n: i128| u128::try_from(n).map_or(Number::Negative(n), Number::Natural);
    match range {
        IntRange::Unsigned { min, max } => (Number::Natural(min), Number::Natural(max)),
        IntRange::Signed { min, max } => (of(min), of(max)),
    }
}

fn text(name: &str, old: &TextShape, new: &TextShape) -> Relation {
    if old.tuple != new.tuple {
        return Relation::Unlike;
    }
    let first = |text: &TextShape| text.first.unwrap_or(text.alphabet);
    lengths(name, &old.lengths, &new.lengths).and(alphabet(name, first(old), first(new))).and(alphabet(
        name,
        old.alphabet,
        new.alphabet,
    ))
}

fn alphabet(name: &str, old: Alphabet, new: Alphabet) -> Relation {
    if old == new {
        return Relation::SAME;
    }
    if (0..=255).all(|byte| !old.contains(byte) || new.contains(byte)) {
        let widening = Widening { argument: name.to_owned(), was: class(old), is: class(new) };
        return Relation::Fits(vec![widening]);
    }
    Relation::Cut
}

/// An alphabet as a plan writes it, bytes beyond ASCII as `…`.
fn class(alphabet: Alphabet) -> String {
    let mut shown = String::from("[");
    let mut byte = 0u8;
    while byte < 0x80 {
        let first = byte;
        while byte < 0x80 && alphabet.contains(byte) {
            byte += 1;
        }
        if byte > first {
            shown.extend(char::from(first).escape_default());
            if byte - first > 1 {
                shown.push('-');
                shown.extend(char::from(byte - 1).escape_default());
            }
        } else {
            byte += 1;
        }
    }
    if alphabet.beyond_ascii() {
        shown.push('…');
    }
    shown.push(']');
    shown
}

fn lengths(name: &str, old: &LengthSet, new: &LengthSet) -> Relation {
    match (within(old, new), within(new, old)) {
        (true, true) => Relation::SAME,
        (true, false) => {
            let widening =
                Widening { argument: name.to_owned(), was: lengths_shown(old), is: lengths_shown(new) };
            Relation::Fits(vec![widening])
        }
        (false, _) => Relation::Cut,
    }
}

/// Whether every length of the first set is in the second.
pub(super) fn within(old: &LengthSet, new: &LengthSet) -> bool {
    match (old, new) {
        (LengthSet::Range { min, max }, LengthSet::Range { min: least, max: most }) => {
            least <= min && max <= most
        }
        (LengthSet::Range { min, max }, LengthSet::OneOf(list)) => {
            max.saturating_sub(*min) < list.len() && (*min..=*max).all(|n| list.contains(&n))
        }
        (LengthSet::OneOf(list), new) => list.iter().all(|&n| new.admits(n)),
    }
}

fn lengths_shown(lengths: &LengthSet) -> String {
    match lengths {
        LengthSet::Range { min, max } if *max == usize::MAX => format!("{min}.."),
        LengthSet::Range { min, max } => format!("{min}..={max}"),
        LengthSet::OneOf(list) => list.iter().map(usize::to_string).collect::<Vec<_>>().join(" | "),
    }
}
