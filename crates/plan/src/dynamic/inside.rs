//! What is inside of a value: its parts, each with its shape.
//!
//! The model walks over shapes; this is the walk over a shape together with a value of it, or with two. A value of a composite has
//! a form, which says what its parts are: the arguments of a record or of an alternative, what is present, so many elements, or
//! the same value as one of the shape that the composite is written around. The form and the parts make up the value, so that what
//! was taken apart can be put together again.

use std::cmp::Ordering;

use super::Value;
use crate::model::{LengthSet, Sequence, Shape};

/// A form of the values of a composite: which parts they have.
#[derive(Clone, Copy, Debug)]
pub struct Form<'m>(Kind<'m>);

#[derive(Clone, Copy, Debug)]
enum Kind<'m> {
    Record(&'m Sequence),
    Alternative(usize, &'m Sequence),
    Absent,
    Present(&'m Shape),
    Elements(&'m Shape, usize),
    /// The whole value is the part.
    Whole(&'m Shape),
}

impl<'m> Form<'m> {
    /// The shapes of the parts.
    pub fn shapes(self) -> impl Iterator<Item = &'m Shape> {
        let (one, count) = match self.0 {
            Kind::Record(_) | Kind::Alternative(..) | Kind::Absent => (None, 0),
            Kind::Present(inner) | Kind::Whole(inner) => (Some(inner), 1),
            Kind::Elements(item, count) => (Some(item), count),
        };
        let row = self.row().into_iter().flat_map(Sequence::arguments).map(|argument| &argument.shape);
        row.chain(std::iter::repeat_n(one, count).flatten())
    }

    /// The layout that the parts are the arguments of: that of a record, or of an alternative.
    pub const fn row(self) -> Option<&'m Sequence> {
        match self.0 {
            Kind::Record(sequence) | Kind::Alternative(_, sequence) => Some(sequence),
            Kind::Absent | Kind::Present(_) | Kind::Elements(..) | Kind::Whole(_) => None,
        }
    }

    /// How many parts there are.
    pub fn count(self) -> usize {
        match self.0 {
            Kind::Record(sequence) | Kind::Alternative(_, sequence) => sequence.argument_count(),
            Kind::Absent => 0,
            Kind::Present(_) | Kind::Whole(_) => 1,
            Kind::Elements(_, count) => count,
        }
    }

    /// The value of this form that has these parts. `None` if they are too few or too many.
    pub fn value(self, mut parts: Vec<Value>) -> Option<Value> {
        if parts.len() != self.count() {
            return None;
        }
        Some(match self.0 {
            Kind::Record(_) => Value::Record(parts),
            Kind::Alternative(index, _) => Value::Choice(index, parts),
            Kind::Absent => Value::Option(None),
            Kind::Present(_) => Value::Option(Some(Box::new(parts.pop()?))),
            Kind::Elements(..) => Value::List(parts),
            Kind::Whole(_) => parts.pop()?,
        })
    }

    /// The parts of a value of this form.
    fn parts(self, value: &Value) -> Option<&[Value]> {
        let parts = match (self.0, value) {
            (Kind::Record(_), Value::Record(parts))
            | (Kind::Alternative(..), Value::Choice(_, parts))
            | (Kind::Elements(..), Value::List(parts)) => parts,
            (Kind::Absent, _) => &[][..],
            (Kind::Present(_), Value::Option(Some(part))) => std::slice::from_ref(&**part),
            (Kind::Whole(_), value) => std::slice::from_ref(value),
            _ => return None,
        };
        (parts.len() == self.count()).then_some(parts)
    }

    /// The same to be changed.
    fn parts_mut(self, value: &mut Value) -> Option<&mut [Value]> {
        let parts = match (self.0, value) {
            (Kind::Record(_), Value::Record(parts))
            | (Kind::Alternative(..), Value::Choice(_, parts))
            | (Kind::Elements(..), Value::List(parts)) => parts,
            (Kind::Absent, _) => &mut [][..],
            (Kind::Present(_), Value::Option(Some(part))) => std::slice::from_mut(&mut **part),
            (Kind::Whole(_), value) => std::slice::from_mut(value),
            _ => return None,
        };
        (parts.len() == self.count()).then_some(parts)
    }

    /// Where it comes among the forms of its shape: which alternative, nothing before something, fewer elements before more.
    const fn place(self) -> usize {
        match self.0 {
            Kind::Record(_) | Kind::Absent | Kind::Whole(_) => 0,
            Kind::Alternative(index, _) => index,
            Kind::Present(_) => 1,
            Kind::Elements(_, count) => count,
        }
    }
}

impl Shape {
    /// The form of a value. `None` of a single value, of a digest, and of what is no value of the shape.
    pub fn form(&self, value: &Value) -> Option<Form<'_>> {
        if let (Self::Hashed { .. }, Value::Digest(_)) = (self, value) {
            return None;
        }
        let kind = match self {
            Self::Record(sequence) => Kind::Record(sequence),
            Self::Choice(alternatives) => {
                let Value::Choice(index, _) = value else { return None };
                Kind::Alternative(*index, &alternatives.get(*index)?.sequence)
            }
            Self::Option(inner) => match value {
                Value::Option(None) => Kind::Absent,
                _ => Kind::Present(inner),
            },
            Self::List { item, .. } => {
                let Value::List(elements) = value else { return None };
                Kind::Elements(item, elements.len())
            }
            Self::Framed { inner, .. }
            | Self::Desc(inner)
            | Self::Hashed { inner, .. }
            | Self::HashConcat { inner, .. } => Kind::Whole(inner),
            Self::Int(_)
            | Self::Bool(_)
            | Self::Float(_)
            | Self::Time(_)
            | Self::Score { .. }
            | Self::Bytes { .. }
            | Self::Text(_)
            | Self::Nibbles { .. }
            | Self::Opaque(_) => return None,
        };
        Some(Form(kind)).filter(|form| form.parts(value).is_some())
    }

    /// The form of a list with so many elements. `None` if there is no such list.
    pub fn form_of_elements(&self, count: usize) -> Option<Form<'_>> {
        match self {
            Self::List { item, counts, .. } if counts.admits(count) => {
                Some(Form(Kind::Elements(item, count)))
            }
            _ => None,
        }
    }

    /// The forms that its values have, in their order: one of a record, one for each alternative, nothing and something, one
    /// for each count of elements, which may be very many. `None` of a single value. What is hashed is taken to be known.
    ///
    /// ```
    /// let text = "plan demo; space s { key a = x: option(u8) y: list(u8, 1 | 3).count8 z: u8; }";
    /// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
    /// let (_, family) = plan.families().next().expect("one family");
    /// let counts = family.key.arguments().map(|argument| {
    ///     argument.shape.forms().map(|forms| forms.map(|form| form.count()).collect())
    /// });
    /// let counts: Vec<Option<Vec<usize>>> = counts.collect();
    /// assert_eq!(counts, [Some(vec![0, 1]), Some(vec![1, 3]), None]);
    /// ```
    pub fn forms(&self) -> Option<Box<dyn Iterator<Item = Form<'_>> + '_>> {
        Some(match self {
            Self::Record(sequence) => Box::new(std::iter::once(Form(Kind::Record(sequence)))),
            Self::Choice(alternatives) => {
                let numbered = alternatives.iter().enumerate();
                Box::new(numbered.map(|(index, one)| Form(Kind::Alternative(index, &one.sequence))))
            }
            Self::Option(inner) => Box::new([Kind::Absent, Kind::Present(inner)].into_iter().map(Form)),
            Self::List { item, counts, .. } => {
                let (range, listed) = match counts {
                    LengthSet::Range { min, max } => (Some(*min..=*max), &[][..]),
                    LengthSet::OneOf(listed) => (None, listed.as_slice()),
                };
                let all = range.into_iter().flatten().chain(listed.iter().copied());
                Box::new(all.map(|count| Form(Kind::Elements(item, count))))
            }
            Self::Framed { inner, .. }
            | Self::Desc(inner)
            | Self::Hashed { inner, .. }
            | Self::HashConcat { inner, .. } => Box::new(std::iter::once(Form(Kind::Whole(inner)))),
            Self::Int(_)
            | Self::Bool(_)
            | Self::Float(_)
            | Self::Time(_)
            | Self::Score { .. }
            | Self::Bytes { .. }
            | Self::Text(_)
            | Self::Nibbles { .. }
            | Self::Opaque(_) => return None,
        })
    }
}

/// The values right inside of a value, each with its shape. `None` of a single value, of a digest, and of what is no value of the
/// shape.
///
/// ```
/// use keyplan_plan::dynamic::{Value, inside};
///
/// let text = "plan demo; space s { key a = x: list(u8, 1..=3).desc y: u16; }";
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let (_, family) = plan.families().next().expect("one family");
/// let shapes: Vec<_> = family.key.arguments().map(|argument| &argument.shape).collect();
/// let list = Value::List(vec![Value::Unsigned(1), Value::Unsigned(2)]);
/// let count = |shape, value| inside(shape, value).map(Iterator::count);
/// // What is turned around holds the list, which holds two numbers.
/// assert_eq!(count(shapes[0], &list), Some(1));
/// assert_eq!(count(shapes[0].unwrapped(), &list), Some(2));
/// assert_eq!(count(shapes[1], &Value::Unsigned(1)), None);
/// ```
pub fn inside<'m, 'v>(
    shape: &'m Shape,
    value: &'v Value,
) -> Option<impl Iterator<Item = (&'m Shape, &'v Value)>> {
    let form = shape.form(value)?;
    Some(form.shapes().zip(form.parts(value)?))
}

/// The same to be changed.
pub fn inside_mut<'m, 'v>(
    shape: &'m Shape,
    value: &'v mut Value,
) -> Option<impl Iterator<Item = (&'m Shape, &'v mut Value)>> {
    let form = shape.form(value)?;
    Some(form.shapes().zip(form.parts_mut(value)?))
}

/// What two values of one shape have inside.
#[derive(Clone, Debug)]
pub struct FormPair<I> {
    /// The parts that both have, in pairs: none if they have no form in common, but of lists the elements up to the end of the
    /// shorter one.
    pub parts: I,
    /// How their forms lie: that of the earlier alternative before the others, nothing before something, fewer elements before more.
    pub forms: Ordering,
}

/// The values right inside of two values of one shape. `None` if [`inside`] has nothing of one of them.
pub fn inside_both<'m, 'v>(
    shape: &'m Shape,
    a: &'v Value,
    b: &'v Value,
) -> Option<FormPair<impl Iterator<Item = (&'m Shape, &'v Value, &'v Value)>>> {
    let (first, second) = (shape.form(a)?, shape.form(b)?);
    let forms = first.place().cmp(&second.place());
    let shared = forms == Ordering::Equal || matches!(first.0, Kind::Elements(..));
    let pairs = first.parts(a)?.iter().zip(second.parts(b)?).take(if shared { usize::MAX } else { 0 });
    Some(FormPair { parts: first.shapes().zip(pairs).map(|(shape, (a, b))| (shape, a, b)), forms })
}

/// The value with what `change` gives in place of each value right inside. `None` if [`inside`] has nothing of it, or `change` does
/// not.
pub fn map_inside(
    shape: &Shape,
    value: &Value,
    mut change: impl FnMut(&Shape, &Value) -> Option<Value>,
) -> Option<Value> {
    let form = shape.form(value)?;
    let parts = form.shapes().zip(form.parts(value)?).map(|(shape, part)| change(shape, part));
    form.value(parts.collect::<Option<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic::parse;

    fn shape(domain: &str) -> Shape {
        let text = format!("plan p; space s {{ key k = a: {domain}; }}");
        let plan = crate::compile("p", &text, |_| Err("no imports".into())).plan.expect("sound");
        plan.spaces[0].families[0].key.arguments().next().expect("one").shape.clone()
    }

    fn value(shape: &Shape, text: &str) -> Value {
        parse(shape, text).expect(text)
    }

    /// Composites, each with values of forms in their order.
    const COMPOSITES: [(&str, &[&str]); 7] = [
        ("(x: u8 0xff y: bool)", &["(x=1, y=true)"]),
        ("(p: 0x00 x: u8 | q: 0x01 x: u8 y: u8)", &["p(x=9)", "q(x=1, y=2)"]),
        ("option(u8)", &["none", "some(7)"]),
        ("list(u8, 0..=3).count8", &["[]", "[1]", "[1, 2]"]),
        ("(x: u8 y: u8).desc", &["(x=1, y=2)"]),
        ("text.terminated", &["ab"]),
        ("text.hashed(sha256, 8)", &["ab"]),
    ];

    #[test]
    fn what_is_taken_apart_is_put_together_again() {
        for (domain, texts) in COMPOSITES {
            let shape = shape(domain);
            for text in texts {
                let given = value(&shape, text);
                let same = map_inside(&shape, &given, |_, part| Some(part.clone()));
                assert_eq!(same.as_ref(), Some(&given), "{domain} {text}");
                let mut changed = given.clone();
                let parts = inside_mut(&shape, &mut changed).expect("a composite");
                parts.for_each(|(_, part)| *part = Value::Bool(true));
                let count = inside(&shape, &changed).expect("of the same form").count();
                assert_eq!(count, shape.form(&given).expect("a composite").count(), "{domain} {text}");
            }
        }
    }

    #[test]
    fn the_forms_of_a_shape_are_those_of_its_values() {
        for (domain, texts) in COMPOSITES {
            let shape = shape(domain);
            let mut forms = shape.forms().expect("a composite");
            for text in texts {
                let (form, given) = (forms.next().expect(domain), value(&shape, text));
                let own = shape.form(&given).expect("a composite");
                assert_eq!((form.count(), form.place()), (own.count(), own.place()), "{domain} {text}");
                assert_eq!(form.count(), form.shapes().count(), "{domain} {text}");
                assert_eq!(form.value(vec![Value::Bool(true); form.count() + 1]), None);
            }
        }
        assert!(shape("u8").forms().is_none());
        let list = shape("list(u8, 2 | 5).count8");
        assert!(list.form_of_elements(3).is_none() && shape("u8").form_of_elements(2).is_none());
        assert_eq!(list.form_of_elements(5).expect("admitted").shapes().count(), 5);
    }

    #[test]
    fn nothing_is_inside_of_what_is_no_composite_value() {
        assert!(inside(&shape("u8"), &Value::Unsigned(1)).is_none());
        assert!(inside(&shape("text.hashed(sha256, 8)"), &Value::Digest(vec![0; 8])).is_none());
        for (domain, _) in COMPOSITES.into_iter().take(4) {
            assert!(inside(&shape(domain), &Value::Unsigned(1)).is_none(), "{domain}");
        }
        assert!(inside(&shape("(x: u8 y: u8)"), &Value::Record(vec![Value::Unsigned(1)])).is_none());
        assert!(
            inside(&shape("(p: 0x00 | q: 0x01 x: u8)"), &Value::Choice(2, vec![Value::Unsigned(1)]))
                .is_none()
        );
    }

    #[test]
    fn two_values_share_parts_where_their_forms_agree() {
        let shared = |domain: &str, a: &str, b: &str| {
            let shape = shape(domain);
            let (a, b) = (value(&shape, a), value(&shape, b));
            inside_both(&shape, &a, &b).map(|both| (both.parts.count(), both.forms))
        };
        let choice = "(p: 0x00 x: u8 | q: 0x01 x: u8 y: u8)";
        assert_eq!(shared(choice, "p(x=9)", "p(x=8)"), Some((1, Ordering::Equal)));
        assert_eq!(shared(choice, "q(x=1, y=2)", "p(x=9)"), Some((0, Ordering::Greater)));
        assert_eq!(shared("option(u8)", "none", "some(7)"), Some((0, Ordering::Less)));
        assert_eq!(shared("option(u8)", "some(1)", "some(7)"), Some((1, Ordering::Equal)));
        assert_eq!(shared("list(u8).count8", "[1, 2, 3]", "[4, 5]"), Some((2, Ordering::Greater)));
        assert_eq!(shared("list(u8).count8.desc", "[1, 2, 3]", "[4, 5]"), Some((1, Ordering::Equal)));
        assert_eq!(shared("u8", "1", "1"), None);
    }
}
