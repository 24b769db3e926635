//! Lists: elements in a row, split wherever the bytes allow.

use std::collections::BTreeSet;

use keyplan_codec::Fault;

use super::Value;
use super::decode::{READINGS, Search, Values};
use super::leaf::{counted, longest};
use crate::model::{Extent, Framing, LengthSet, Shape, Width};

/// The elements of a list, and where each begins and ends.
type Elements = (Vec<Value>, Vec<(usize, usize)>);

/// Where each element of a list begins and ends, in bytes that are read as just these elements.
pub(crate) fn list_places(shape: &Shape, bytes: &[u8], values: &[Value]) -> Option<Vec<(usize, usize)>> {
    let Shape::List { item, counts, framing } = shape else { return None };
    let found = Search::default().lists(item, counts, framing, bytes, 0, READINGS, "");
    found.into_iter().find(|(read, _)| read == values).map(|(_, places)| places)
}

/// The most elements of no bytes in one list that are looked for.
const MAX_BLANK: usize = 1 << 12;

/// Elements of no bytes that nothing is between: they are tried after all others, so that the search ends.
struct Blank {
    /// How many elements there may be at most where one of them is added; 0 if none has no bytes.
    most: usize,
}

impl Blank {
    /// Of a list with `most` elements, if that is known, and at least `least`.
    fn of(item: &Shape, separator: &[u8], most: Option<usize>, least: usize, bytes: &[u8]) -> Self {
        if !separator.is_empty() || Width::of_shape(item).min > 0 {
            return Self { most: 0 };
        }
        // Without a limit there is no end of readings: one element more than the bytes can hold shows that there are two.
        let most = most.unwrap_or_else(|| least.max(bytes.len() + 1));
        Self { most: most.min(bytes.len() + MAX_BLANK) }
    }

    fn first(&self) -> Turn {
        Turn::From(usize::from(self.most > 0))
    }
}

/// What is tried for an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// At least so many bytes, then none.
    From(usize),
    /// Nothing: it was none already.
    Over,
}

impl<'m> Search<'m> {
    /// The lists that are exactly `bytes`: depth first over the ends of the elements, without recursion.
    #[expect(clippy::too_many_arguments, reason = "the parts of a list and the state of the search")]
    pub(super) fn list(
        &mut self,
        item: &'m Shape,
        counts: &LengthSet,
        framing: &'m Framing,
        bytes: &[u8],
        base: usize,
        limit: usize,
        label: &'m str,
    ) -> Values {
        let found = self.lists(item, counts, framing, bytes, base, limit, label);
        Values::of(found.into_iter().map(|(values, _)| Value::List(values)))
    }

    /// As [`Self::list`], each with the start and the end of its elements.
    #[expect(clippy::too_many_arguments, reason = "the parts of a list and the state of the search")]
    fn lists(
        &mut self,
        item: &'m Shape,
        counts: &LengthSet,
        framing: &'m Framing,
        bytes: &[u8],
        base: usize,
        limit: usize,
        label: &'m str,
    ) -> Vec<Elements> {
        let (head, counted) = match framing {
            Framing::Counted(width) => match counted(*width, bytes) {
                Ok((count, head)) => (head, Some(count)),
                Err(error) => {
                    self.error(error, base, label);
                    return Vec::new();
                }
            },
            Framing::ToEnd | Framing::Joined(_) => (0, None),
        };
        let separator: &[u8] = if let Framing::Joined(separator) = framing { separator } else { &[] };
        let admits = |count: usize| counts.admits(count) && counted.is_none_or(|counted| counted == count);
        let most = counted.or(counts.max()).unwrap_or(usize::MAX);
        let extent = Extent::of_item(item, framing);
        let blank = Blank::of(item, separator, counted.or(counts.max()), counts.min(), bytes);
        let mut found = Vec::new();
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        if head == bytes.len() && admits(0) {
            found.push((Vec::new(), Vec::new()));
        }
        // How much was found before each element, and from where on nothing is.
        let mut before = vec![found.len()];
        let mut dead: BTreeSet<(usize, usize)> = BTreeSet::new();
        // What to try next for the element that begins where the last one ended.
        let mut turn = blank.first();
        while found.len() < limit {
            if !self.step() {
                break;
            }
            let start = match ends.last() {
                Some(&(_, end)) => end + separator.len(),
                None => head,
            };
            let place = (start, values.len());
            let room = values.len() < most && start <= bytes.len() && !dead.contains(&place);
            let mut next = match turn {
                Turn::From(least) if room => {
                    self.item((item, extent), separator, bytes, start, least, base, label)
                }
                _ => None,
            };
            if next.is_none() && room && turn != Turn::Over && values.len() < blank.most {
                let value = self.values(item, &[], base + start, 1, label).into_vec().into_iter().next();
                next = value.map(|value| (start, value));
            }
            if let Some((end, value)) = next {
                ends.push((start, end));
                values.push(value);
                turn = blank.first();
                if end == bytes.len() {
                    if admits(values.len()) {
                        found.push((values.clone(), ends.clone()));
                    } else {
                        self.fail(base + start, Fault::Length { found: values.len() }, label);
                    }
                }
                before.push(found.len());
            } else {
                if before.pop() == Some(found.len()) && blank.most > 0 {
                    dead.insert(place);
                }
                let Some((start, end)) = ends.pop() else { break };
                values.pop();
                turn = if start == end && blank.most > 0 { Turn::Over } else { Turn::From(end - start + 1) };
            }
        }
        if found.is_empty() && bytes.len() == head {
            self.fail(base + head, Fault::Length { found: 0 }, label);
        }
        if !item.is_leaf() && found.len() < limit {
            self.other_elements(item, bytes, base, limit, label, &mut found);
        }
        found
    }

    /// Adds the lists with another reading of one element. Those with other readings of several would multiply, and one is
    /// enough to show that there is another list.
    fn other_elements(
        &mut self,
        item: &'m Shape,
        bytes: &[u8],
        base: usize,
        limit: usize,
        label: &'m str,
        found: &mut Vec<Elements>,
    ) {
        let reached = self.reached();
        for (values, places) in found.clone() {
            for (index, &(start, end)) in places.iter().enumerate() {
                let left = limit.saturating_sub(found.len());
                if left == 0 || !self.step_over(end - start) {
                    break;
                }
                let content = bytes.get(start..end).unwrap_or_default();
                let others = self.values(item, content, base + start, left + 1, label);
                for other in others.into_vec().into_iter().skip(1) {
                    let mut values = values.clone();
                    if let Some(element) = values.get_mut(index) {
                        *element = other;
                    }
                    found.push((values, places.clone()));
                }
            }
        }
        self.reset(reached);
    }

    /// The next element at `start` that has at least `least` bytes, and its end.
    #[expect(clippy::too_many_arguments, reason = "the state of one step of the loop above")]
    fn item(
        &mut self,
        (item, extent): (&'m Shape, Extent),
        separator: &[u8],
        bytes: &[u8],
        start: usize,
        least: usize,
        base: usize,
        label: &'m str,
    ) -> Option<(usize, Value)> {
        let rest = bytes.get(start..)?;
        let only = match extent {
            Extent::Fixed(width) => Some(Ok(width)),
            Extent::Delimited => Some(self.delimit(item, rest)),
            Extent::Open => None,
        };
        let range = match only {
            Some(Ok(width)) if width >= least && width <= rest.len() => width..=width,
            Some(Ok(width)) => {
                if width > rest.len() {
                    let fault = Fault::Short { missing: width - rest.len() };
                    self.fail(base + bytes.len(), fault, label);
                }
                return None;
            }
            Some(Err(error)) => {
                self.error(error, base + start, label);
                return None;
            }
            None => {
                let width = Width::of_shape(item);
                let most = longest(item, rest).min(width.max.unwrap_or(usize::MAX)).min(rest.len());
                width.min.max(least)..=most
            }
        };
        for length in range {
            if !self.step_over(length) {
                return None;
            }
            let behind = rest.get(length..).unwrap_or_default();
            if !behind.is_empty() && !behind.starts_with(separator) {
                continue;
            }
            let content = rest.get(..length).unwrap_or_default();
            // One reading for each element: the others come after the lists that differ in their elements' ends.
            let found = self.values(item, content, base + start, 1, label);
            if let Some(value) = found.into_vec().into_iter().next() {
                return Some((start + length, value));
            }
        }
        None
    }
}
