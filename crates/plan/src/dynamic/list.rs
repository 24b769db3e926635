//! Lists: elements in a row, split wherever the bytes allow.

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
        let mut found = Vec::new();
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        if head == bytes.len() && admits(0) {
            found.push((Vec::new(), Vec::new()));
        }
        // The end to try next for the element that begins where the last one ended.
        let mut least = 0;
        while found.len() < limit {
            if !self.step() {
                break;
            }
            let start = match ends.last() {
                Some(&(_, end)) => end + separator.len(),
                None => head,
            };
            let room = values.len() < most && (start <= bytes.len());
            let next = if room { self.item(item, separator, bytes, start, least, base, label) } else { None };
            match next {
                // An element of no bytes would repeat for ever.
                Some((end, _)) if end == start && separator.is_empty() => break,
                Some((end, value)) => {
                    ends.push((start, end));
                    values.push(value);
                    least = 0;
                    if end == bytes.len() {
                        if admits(values.len()) {
                            found.push((values.clone(), ends.clone()));
                        } else {
                            self.fail(base + start, Fault::Length { found: values.len() }, label);
                        }
                    }
                }
                None => {
                    let Some((start, end)) = ends.pop() else { break };
                    values.pop();
                    least = end - start + 1;
                }
            }
        }
        if found.is_empty() && bytes.len() == head {
            self.fail(base + head, Fault::Length { found: 0 }, label);
        }
        found
    }

    /// The next element at `start` that has at least `least` bytes, and its end.
    #[expect(clippy::too_many_arguments, reason = "the state of one step of the loop above")]
    fn item(
        &mut self,
        item: &'m Shape,
        separator: &[u8],
        bytes: &[u8],
        start: usize,
        least: usize,
        base: usize,
        label: &'m str,
    ) -> Option<(usize, Value)> {
        let rest = bytes.get(start..)?;
        let only = match item.extent() {
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
            // One reading an element: several would multiply, and the element's own family reports them.
            let found = self.values(item, content, base + start, 1, label);
            if let Some(value) = found.into_vec().into_iter().next() {
                return Some((start + length, value));
            }
        }
        None
    }
}
