use std::fmt;

use super::decode::readings_behind_lead;
use super::program::Programs;
use super::{Failure, Value, readings};
use crate::explain::rank;
use crate::model::{Family, Field, Plan, Space};
use crate::order::sort;

/// Finds the family of a key by one walk along its leading bytes, then reads it.
///
/// The cost of the walk is that of the longest literal prefix in the space, whatever the number of families.
#[derive(Debug)]
pub struct Decoder<'p> {
    plan: &'p Plan,
    spaces: Vec<Dispatch>,
}

/// How the keys of one space are read.
#[derive(Debug)]
struct Dispatch {
    trie: Trie,
    programs: Programs,
}

/// A key that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded<'p> {
    /// The space it was looked for in.
    pub space: &'p Space,
    /// Its family.
    pub family: &'p Family,
    /// A value for each argument of the family.
    pub values: Vec<Value>,
}

/// Everything that a key may stand for in a space.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyReadings<'p> {
    /// The readings, those of the longest literal prefix first.
    pub readings: Vec<Decoded<'p>>,
    /// Whether there may be more.
    pub more: bool,
}

/// A key that no family makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss<'p> {
    /// The space it was looked for in; `None` if the plan has no such space.
    pub space: Option<&'p Space>,
    /// The key.
    pub key: Vec<u8>,
}

/// How many families a [`Miss`] names.
const NEAREST: usize = 3;

impl<'p> Miss<'p> {
    /// The paths of the families that get furthest and what breaks each, nearest first.
    ///
    /// This is found out when it is asked for: a stream of foreign keys pays for none of it.
    pub fn nearest(&self) -> Vec<(&'p str, Failure)> {
        let found = self.nearest_families().into_iter();
        found.map(|(family, failure)| (family.path.as_str(), failure)).collect()
    }

    /// As [`Self::nearest`], with the families themselves.
    pub fn nearest_families(&self) -> Vec<(&'p Family, Failure)> {
        let families = self.space.map_or(&[][..], |space| &space.families);
        let reach = |family: &Family| {
            let prefix = family.key.literal_prefix();
            let same = prefix.iter().zip(&self.key).take_while(|(a, b)| a == b).count();
            if same < prefix.len() {
                return same;
            }
            readings(&family.key, &self.key, 1).map_or_else(|failure| failure.offset, |_| usize::MAX)
        };
        let mut reached: Vec<(usize, &'p Family)> =
            families.iter().map(|family| (reach(family), family)).collect();
        rank(&mut reached, |(offset, family)| (*offset, family));
        let failure = |family: &'p Family| readings(&family.key, &self.key, 1).err();
        let named = reached.into_iter().take(NEAREST);
        named.filter_map(|(_, family)| Some((family, failure(family)?))).collect()
    }
}

impl fmt::Display for Miss<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no family makes this key")?;
        match self.nearest().first() {
            Some((path, failure)) => write!(f, "; `{path}` gets furthest: {failure}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Miss<'_> {}

impl<'p> Decoder<'p> {
    /// Prepares the spaces of a plan.
    pub fn new(plan: &'p Plan) -> Self {
        let dispatch = |space| Dispatch { trie: Trie::new(space), programs: Programs::new(space) };
        let spaces = plan.spaces.iter().map(dispatch).collect();
        Self { plan, spaces }
    }

    /// The plan that keys are read under.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// Reads a key of the space at `space` in the plan: the first reading of the family with the longest
    /// literal prefix.
    pub fn decode(&self, space: usize, key: &[u8]) -> Result<Decoded<'p>, Miss<'p>> {
        let Some((model, dispatch)) = self.plan.spaces.get(space).zip(self.spaces.get(space)) else {
            return Err(Miss { space: None, key: key.to_vec() });
        };
        for index in dispatch.trie.candidates(key) {
            let Some(family) = model.families.get(index) else { continue };
            if let Some(values) = dispatch.programs.run(index, key) {
                return Ok(Decoded { space: model, family, values });
            }
            if !family.key.width().admits(key.len()) {
                continue;
            }
            if let Ok(mut found) = readings_behind_lead(&family.key, key, 1)
                && let Some(values) = found.readings.pop()
            {
                return Ok(Decoded { space: model, family, values });
            }
        }
        Err(Miss { space: Some(model), key: key.to_vec() })
    }

    /// Finds up to `limit` readings of a key of one space.
    pub fn decode_all(&self, space: usize, key: &[u8], limit: usize) -> Result<KeyReadings<'p>, Miss<'p>> {
        let Some((model, dispatch)) = self.plan.spaces.get(space).zip(self.spaces.get(space)) else {
            return Err(Miss { space: None, key: key.to_vec() });
        };
        let mut all = KeyReadings { readings: Vec::new(), more: false };
        for index in dispatch.trie.candidates(key) {
            let Some(family) = model.families.get(index) else { continue };
            let left = limit.saturating_sub(all.readings.len());
            if left == 0 {
                all.more = true;
                break;
            }
            if let Some(values) = dispatch.programs.run(index, key) {
                all.readings.push(Decoded { space: model, family, values });
                continue;
            }
            if !family.key.width().admits(key.len()) {
                continue;
            }
            if let Ok(found) = readings_behind_lead(&family.key, key, left) {
                all.more |= found.more && found.readings.len() >= left;
                let decoded =
                    found.readings.into_iter().map(|values| Decoded { space: model, family, values });
                all.readings.extend(decoded);
            }
        }
        if all.readings.is_empty() { Err(Miss { space: Some(model), key: key.to_vec() }) } else { Ok(all) }
    }
}

impl Family {
    /// Reads the key of a field of a hash: the kind of field and its arguments.
    pub fn decode_field(&self, bytes: &[u8]) -> Option<(&Field, Vec<Value>)> {
        self.fields.iter().find_map(|field| {
            let values = readings(&field.key, bytes, 1).ok()?.readings.pop()?;
            Some((field, values))
        })
    }
}

/// The literal prefixes of a space's families, byte by byte.
///
/// Nodes and their children lie in two flat arrays, so that a walk touches few lines of memory however many families
/// there are.
#[derive(Debug)]
struct Trie {
    nodes: Vec<Node>,
    // The children of all nodes, those of one node side by side and ascending.
    children: Vec<(u8, u32)>,
    // The families of all nodes, those of one node side by side.
    families: Vec<u32>,
    // The child of the root for each first byte; `NONE` where there is none.
    first: Box<[u32; 256]>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    children: Slice,
    families: Slice,
    // The nearest node above that has families; `NONE` if there is none.
    above: u32,
}

/// A stretch of a flat array.
#[derive(Clone, Copy, Debug)]
struct Slice {
    start: u32,
    len: u32,
}

impl Slice {
    fn of<T>(self, array: &[T]) -> &[T] {
        let start = self.start as usize;
        array.get(start..start + self.len as usize).unwrap_or_default()
    }
}

const NONE: u32 = u32::MAX;

impl Trie {
    fn new(space: &Space) -> Self {
        let mut prefixes: Vec<(Vec<u8>, u32)> = (0u32..)
            .zip(&space.families)
            .map(|(index, family)| (family.key.literal_prefix(), index))
            .collect();
        sort(&mut prefixes);
        let mut trie = Self {
            nodes: Vec::new(),
            children: Vec::new(),
            families: Vec::new(),
            first: Box::new([NONE; 256]),
        };
        trie.build(&prefixes);
        let root = trie.nodes.first().map_or(&[][..], |root| root.children.of(&trie.children));
        for &(byte, child) in root {
            if let Some(slot) = trie.first.get_mut(usize::from(byte)) {
                *slot = child;
            }
        }
        trie
    }

    /// Lays out the nodes level by level. `prefixes` is sorted, so the families below a node lie side by side.
    fn build(&mut self, prefixes: &[(Vec<u8>, u32)]) {
        let end = |from: &[(Vec<u8>, u32)]| u32::try_from(from.len()).unwrap_or(NONE);
        // Each node with its prefixes, how long the common front of them is, and the node above that has families.
        let mut level = vec![(prefixes, 0, NONE)];
        let mut below = Vec::new();
        let mut next = 1u32;
        while !level.is_empty() {
            for (group, depth, above) in level.drain(..) {
                let own = group.iter().take_while(|(prefix, _)| prefix.len() == depth).count();
                let (own, longer) = group.split_at(own);
                let families =
                    Slice { start: u32::try_from(self.families.len()).unwrap_or(NONE), len: end(own) };
                self.families.extend(own.iter().map(|(_, index)| *index));
                let id = u32::try_from(self.nodes.len()).unwrap_or(NONE);
                let above_children = if own.is_empty() { above } else { id };
                let start = u32::try_from(self.children.len()).unwrap_or(NONE);
                let mut len = 0;
                for chunk in longer.chunk_by(|(a, _), (b, _)| a.get(depth) == b.get(depth)) {
                    let byte =
                        chunk.first().and_then(|(prefix, _)| prefix.get(depth)).copied().unwrap_or_default();
                    self.children.push((byte, next));
                    below.push((chunk, depth + 1, above_children));
                    next += 1;
                    len += 1;
                }
                self.nodes.push(Node { children: Slice { start, len }, families, above });
            }
            std::mem::swap(&mut level, &mut below);
        }
    }

    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let children = self.nodes.get(node as usize)?.children.of(&self.children);
        let index = children.binary_search_by_key(&byte, |(byte, _)| *byte).ok()?;
        children.get(index).map(|(_, next)| *next)
    }

    /// The families whose literal prefix `key` begins with, the longest prefix first.
    fn candidates(&self, key: &[u8]) -> impl Iterator<Item = usize> + '_ {
        let mut at = 0;
        for (depth, &byte) in key.iter().enumerate() {
            let next = if depth == 0 {
                self.first.get(usize::from(byte)).copied().filter(|&next| next != NONE)
            } else {
                self.child(at, byte)
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        let start = self.nodes.get(at as usize);
        std::iter::successors(start, |node| self.nodes.get(node.above as usize))
            .flat_map(|node| node.families.of(&self.families).iter().map(|&family| family as usize))
    }
}
