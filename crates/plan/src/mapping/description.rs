use super::{Arguments, Carried, Course, Mapping, Passage, Place, Route, Source};
use crate::dynamic::Value;
use crate::model::MisfitRule;
use keyplan_codec::{ScoreExact, Segment as _};

impl Mapping {
    /// Bytes that tell this mapping from every other.
    ///
    /// A database in the middle of a migration keeps a hash of them, so they do not change when the code does: every part has a
    /// tag of its own, and a length where it has one. Why rows are dropped is not in them.
    pub fn description(&self) -> Vec<u8> {
        let mut out = Description(b"keyplan mapping 1".to_vec());
        out.all(&self.routes, Description::route);
        out.0
    }
}

struct Description(Vec<u8>);

impl Description {
    fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    fn number(&mut self, number: usize) {
        self.0.extend((number as u64).to_be_bytes());
    }

    fn blob(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend(bytes);
    }

    fn all<T>(&mut self, items: &[T], each: impl Fn(&mut Self, &T)) {
        self.number(items.len());
        for item in items {
            each(self, item);
        }
    }

    fn path(&mut self, path: &super::Path) {
        self.all(path, |out, step| out.number(*step));
    }

    fn place(&mut self, place: &Place) {
        self.number(place.space);
        self.number(place.family);
        self.blob(place.path.as_bytes());
    }

    fn route(&mut self, route: &Route) {
        self.place(&route.from);
        self.tag(route.readable.into());
        match &route.course {
            Course::Kept { to } => {
                self.tag(0);
                self.place(to);
            }
            Course::Moved(passage) => {
                self.tag(1);
                self.passage(passage);
            }
            Course::Retired { prefix } => {
                self.tag(2);
                self.blob(prefix);
            }
            Course::Dropped { why: _ } => self.tag(3),
            Course::Unspoken => self.tag(4),
        }
    }

    fn passage(&mut self, passage: &Passage) {
        let Passage { to, key, value, member, score, fields, fitting, rule, staged } = passage;
        self.place(to);
        self.arguments(key);
        for carried in [value, member, score] {
            self.carried(carried);
        }
        self.all(fields, |out, field| {
            out.number(field.to);
            out.carried(&field.key);
            out.carried(&field.value);
        });
        self.tag((*fitting).into());
        self.tag(match rule {
            MisfitRule::Refuse => 0,
            MisfitRule::Drop => 1,
            MisfitRule::Park => 2,
        });
        self.tag((*staged).into());
    }

    fn carried(&mut self, carried: &Carried) {
        match carried {
            Carried::Verbatim => self.tag(0),
            Carried::Converted(arguments) => {
                self.tag(1);
                self.arguments(arguments);
            }
        }
    }

    fn arguments(&mut self, arguments: &Arguments) {
        self.all(&arguments.sources, |out, (path, source)| {
            out.path(path);
            match source {
                Source::Key(from) => {
                    out.tag(0);
                    out.path(from);
                }
                Source::Value(from) => {
                    out.tag(1);
                    out.path(from);
                }
                Source::Constant(value) => {
                    out.tag(2);
                    out.value(value);
                }
            }
        });
        self.all(&arguments.dropped, Self::path);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Unsigned(number) => self.tagged(0, &number.to_be_bytes()),
            Value::Signed(number) => self.tagged(1, &number.to_be_bytes()),
            Value::Bool(value) => self.tagged(2, &[u8::from(*value)]),
            Value::Float(float) => self.tagged(3, &float.to_bits().to_be_bytes()),
            Value::Bytes(bytes) => self.tagged(4, bytes),
            Value::Text(text) => self.tagged(5, text.as_bytes()),
            Value::Nibbles(nibbles) => self.tagged(6, nibbles),
            Value::Time(nanoseconds) => self.tagged(7, &nanoseconds.to_be_bytes()),
            Value::Score(score) => {
                let mut bytes = Vec::new();
                // One that no bytes stand for is in no plan.
                let _ = ScoreExact.encode(*score, &mut bytes);
                self.tagged(8, &bytes);
            }
            Value::Digest(bytes) => self.tagged(9, bytes),
            Value::Record(values) => {
                self.tag(10);
                self.all(values, Self::value);
            }
            Value::Choice(index, values) => {
                self.tag(11);
                self.number(*index);
                self.all(values, Self::value);
            }
            Value::Option(None) => self.tag(12),
            Value::Option(Some(inner)) => {
                self.tag(13);
                self.value(inner);
            }
            Value::List(values) => {
                self.tag(14);
                self.all(values, Self::value);
            }
        }
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.tag(tag);
        self.blob(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::mapping::FieldPassage;

    fn place(space: usize, family: usize, path: &str) -> Place {
        Place { space, family, path: path.into() }
    }

    fn passage() -> Passage {
        Passage {
            to: place(0, 1, "s.b"),
            key: Arguments {
                sources: vec![
                    (vec![0], Source::Key(vec![1])),
                    (vec![1], Source::Constant(Value::Unsigned(7))),
                ],
                dropped: vec![vec![2, 0]],
            },
            value: Carried::Verbatim,
            member: Carried::Verbatim,
            score: Carried::Verbatim,
            fields: Vec::new(),
            fitting: false,
            rule: MisfitRule::Refuse,
            staged: false,
        }
    }

    fn described(course: Course) -> Vec<u8> {
        Mapping { routes: vec![Route { from: place(0, 0, "s.a"), course, readable: true }] }.description()
    }

    fn moved(change: impl Fn(&mut Passage)) -> Vec<u8> {
        let mut passage = passage();
        change(&mut passage);
        described(Course::Moved(Box::new(passage)))
    }

    #[test]
    fn a_mapping_has_the_same_bytes_in_every_build() {
        let number = |n: u64| n.to_be_bytes().to_vec();
        let place = |family, path: &[u8]| [number(0), number(family), number(3), path.to_vec()].concat();
        let expected = [
            b"keyplan mapping 1".to_vec(),
            number(1),
            place(0, b"s.a"),
            vec![1, 1],
            place(1, b"s.b"),
            // The first new argument is the second of before, the next is always 7, and one is given up.
            number(2),
            [number(1), number(0), vec![0], number(1), number(1)].concat(),
            [number(1), number(1), vec![2, 0], number(16), 7_u128.to_be_bytes().to_vec()].concat(),
            [number(1), number(2), number(2), number(0)].concat(),
            vec![0, 0, 0],
            number(0),
            vec![0, 0, 0],
        ];
        assert_eq!(moved(|_| {}), expected.concat());
    }

    #[test]
    fn mappings_that_differ_anywhere_have_other_bytes() {
        let converted = || Carried::Converted(Arguments::default());
        let constant =
            |value: Value| moved(move |passage| passage.key.sources[1].1 = Source::Constant(value.clone()));
        let (to, none) = (place(0, 1, "s.b"), Value::Option(None));
        let all = [
            Mapping::default().description(),
            described(Course::Kept { to: to.clone() }),
            described(Course::Kept { to: Place { space: 1, ..to.clone() } }),
            described(Course::Kept { to: Place { path: "s.c".into(), ..to } }),
            described(Course::Retired { prefix: vec![1] }),
            described(Course::Retired { prefix: vec![1, 2] }),
            described(Course::Dropped { why: "w".into() }),
            described(Course::Unspoken),
            moved(|_| {}),
            moved(|passage| passage.to.family = 2),
            moved(|passage| passage.key.sources[0].1 = Source::Value(vec![1])),
            moved(|passage| passage.key.sources[0].1 = Source::Key(vec![1, 0])),
            moved(|passage| passage.key.sources[0].0 = vec![3]),
            moved(|passage| passage.key.dropped.clear()),
            moved(|passage| passage.value = converted()),
            moved(|passage| passage.member = converted()),
            moved(|passage| passage.score = converted()),
            moved(|passage| {
                passage.fields =
                    vec![FieldPassage { to: 0, key: Carried::Verbatim, value: Carried::Verbatim }];
            }),
            moved(|passage| passage.fitting = true),
            moved(|passage| passage.rule = MisfitRule::Drop),
            moved(|passage| passage.rule = MisfitRule::Park),
            moved(|passage| passage.staged = true),
            constant(Value::Signed(7)),
            constant(Value::Unsigned(8)),
            constant(Value::Time(7)),
            constant(Value::Bool(true)),
            constant(Value::Float(7.0)),
            constant(Value::Bytes(vec![7])),
            constant(Value::Text("\u{7}".into())),
            constant(Value::Nibbles(vec![7])),
            constant(Value::Digest(vec![7])),
            constant(Value::Score(keyplan_codec::Score::Confirmed { height: 7, index: 0 })),
            constant(Value::Record(vec![none.clone()])),
            constant(Value::Choice(0, vec![none.clone()])),
            constant(Value::Choice(1, vec![none.clone()])),
            constant(Value::List(vec![none.clone()])),
            constant(Value::List(Vec::new())),
            constant(Value::Option(Some(Box::new(none.clone())))),
            constant(none),
        ];
        let distinct: BTreeSet<&Vec<u8>> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        // The reason changes nothing of what is done.
        assert_eq!(
            described(Course::Dropped { why: "other".into() }),
            described(Course::Dropped { why: "w".into() })
        );
    }
}
