use super::leaf::{Leaf, Path, leaves};
use crate::dynamic::Value;
use crate::model::{BindingSource, DottedPath, Predecessor, Sequence, Shape};

/// Where the values of a new argument list come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// For each value of the new list its source. One that is not here is optional, and absent.
    pub sources: Vec<(Path, Source)>,
    /// Values of the old list that are given up.
    pub dropped: Vec<Path>,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A value of the old argument list.
    Key(Path),
    /// A value of the old row's value.
    Value(Path),
    /// It is always this.
    Constant(Value),
}

/// Why the values of a new argument list cannot all be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// New arguments that nothing is said of.
    pub new: Vec<String>,
    /// Old arguments that nothing is said of.
    pub old: Vec<String>,
    /// Names in the `from` clause that the old family does not have.
    pub unknown: Vec<String>,
}

impl Arguments {
    /// Matches the values of two argument lists by name, and by what a `from` clause says. Values without a name are matched
    /// in order.
    pub fn between(
        old: &Sequence,
        value: Option<&Sequence>,
        new: &Sequence,
        said: Option<&Predecessor>,
    ) -> Result<Self, Unmatched> {
        let (before, after) = leaves(old, new);
        let mut matcher = Matcher { left: before.iter().collect(), all: &before, value, said };
        let mut unmatched = Unmatched::default();
        let mut arguments = Self::default();
        let mut late = Vec::new();
        for leaf in &after {
            match matcher.bound(leaf) {
                Ok(Some(source)) => arguments.sources.push((leaf.path.clone(), source)),
                Ok(None) => late.push(leaf),
                Err(name) => unmatched.unknown.push(name),
            }
        }
        // Those that nothing is bound to take the old value of the same name, or of the same last name.
        late.retain(|leaf| match matcher.named(leaf, whole_name) {
            Some(path) => {
                arguments.sources.push((leaf.path.clone(), Source::Key(path)));
                false
            }
            None => true,
        });
        for leaf in late {
            let found = matcher.named(leaf, last_name).or_else(|| matcher.unnamed(leaf));
            match found {
                Some(path) => arguments.sources.push((leaf.path.clone(), Source::Key(path))),
                None if matches!(leaf.shape, Shape::Option(_)) => {}
                None => unmatched.new.push(leaf.name.clone()),
            }
        }
        matcher.finish(&mut arguments, &mut unmatched);
        arguments.sources.sort_by(|(a, _), (b, _)| a.cmp(b));
        if unmatched == Unmatched::default() { Ok(arguments) } else { Err(unmatched) }
    }

    /// The way back: where the values of the old list come from, given the new one. `None` if some of them are given up.
    pub fn reversed(&self, old: &Sequence, new: &Sequence) -> Option<Self> {
        let (before, _) = leaves(old, new);
        let sources = before.iter().map(|leaf| {
            let from = |(path, source): &(Path, Source)| {
                (*source == Source::Key(leaf.path.clone())).then(|| path.clone())
            };
            Some((leaf.path.clone(), Source::Key(self.sources.iter().find_map(from)?)))
        });
        Some(Self { sources: sources.collect::<Option<_>>()?, dropped: Vec::new() })
    }

    /// The constants among the sources, each with its place in the new list.
    pub fn constants(&self) -> impl Iterator<Item = (&Path, &Value)> {
        self.sources.iter().filter_map(|(path, source)| match source {
            Source::Constant(value) => Some((path, value)),
            _ => None,
        })
    }
}

fn whole_name(name: &str) -> &str {
    name
}

/// The last part of a name, for records that were written out or drawn together.
fn last_name(name: &str) -> &str {
    DottedPath(name).last()
}

struct Matcher<'m, 'l> {
    all: &'l [Leaf<'m>],
    // Old values that no new one is yet.
    left: Vec<&'l Leaf<'m>>,
    value: Option<&'m Sequence>,
    said: Option<&'m Predecessor>,
}

impl Matcher<'_, '_> {
    /// What the `from` clause says of a new value; `Err` has a name that the old family does not have.
    fn bound(&mut self, leaf: &Leaf<'_>) -> Result<Option<Source>, String> {
        let name = DottedPath(&leaf.name);
        let (top, rest) = (name.first(), name.rest().unwrap_or_default());
        let bindings = self.said.map_or(&[][..], |said| &said.bindings);
        let Some(binding) = bindings.iter().find(|binding| binding.argument == top && !top.is_empty()) else {
            return Ok(None);
        };
        let whole = |name: &str| if rest.is_empty() { name.to_owned() } else { format!("{name}.{rest}") };
        match &binding.source {
            // A constant is of a whole argument, and is at its place.
            BindingSource::Constant(value) if rest.is_empty() => Ok(Some(Source::Constant(value.clone()))),
            BindingSource::Constant(_) => Err(format!("{top}: a constant of a record")),
            BindingSource::Argument(name) => {
                let name = whole(name);
                let found = self.all.iter().find(|other| other.name == name);
                let path = found.map(|found| found.path.clone()).ok_or(name)?;
                self.left.retain(|other| other.path != path);
                Ok(Some(Source::Key(path)))
            }
            BindingSource::Value(name) => {
                let index = self.value.and_then(|value| value.argument_index(name));
                let index = index.filter(|_| rest.is_empty());
                index.map(|index| Some(Source::Value(vec![index]))).ok_or_else(|| format!("value.{name}"))
            }
        }
    }

    fn named(&mut self, leaf: &Leaf<'_>, by: fn(&str) -> &str) -> Option<Path> {
        let own = by(&leaf.name);
        let index = self.left.iter().position(|other| !own.is_empty() && by(&other.name) == own)?;
        Some(self.left.remove(index).path.clone())
    }

    fn unnamed(&mut self, leaf: &Leaf<'_>) -> Option<Path> {
        let index = self.left.iter().position(|other| other.name.is_empty() && leaf.name.is_empty())?;
        Some(self.left.remove(index).path.clone())
    }

    /// What is left over must have been given up by name.
    fn finish(self, arguments: &mut Arguments, unmatched: &mut Unmatched) {
        let dropped = self.said.map_or(&[][..], |said| &said.dropped);
        for leaf in self.left {
            let top = DottedPath(&leaf.name).first();
            if dropped.iter().any(|name| name == top) {
                arguments.dropped.push(leaf.path.clone());
            } else {
                unmatched.old.push(leaf.name.clone());
            }
        }
        let known =
            |name: &&String| !self.all.iter().any(|leaf| DottedPath(&leaf.name).first() == name.as_str());
        unmatched.unknown.extend(dropped.iter().filter(known).cloned());
    }
}
