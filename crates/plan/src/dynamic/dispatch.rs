use std::fmt;

use super::{Failure, Value, readings};
use crate::model::{Family, Field, Plan, Space};

/// Finds the family of a key by one walk along its leading bytes, then reads it.
///
/// The cost of the walk is that of the longest literal prefix in the space, whatever the number of families.
#[derive(Debug)]
pub struct Decoder<'p> {
    plan: &'p Plan,
    spaces: Vec<Trie>,
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

impl Miss<'_> {
    /// The families that get furthest and what breaks each, nearest first.
    ///
    /// This is found out when it is asked for: a stream of foreign keys pays for none of it.
    pub fn nearest(&self) -> Vec<(&str, Failure)> {
        let families = self.space.map_or(&[][..], |space| &space.families);
        let reach = |family: &Family| {
            let prefix = family.key.literal_prefix();
            let same = prefix.iter().zip(&self.key).take_while(|(a, b)| a == b).count();
            if same < prefix.len() {
                return same;
            }
            readings(&family.key, &self.key, 1).map_or_else(|failure| failure.offset, |_| usize::MAX)
        };
        let mut reached: Vec<(usize, &Family)> =
            families.iter().map(|family| (reach(family), family)).collect();
        reached.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.path.cmp(&other.path)));
        // A family that does not even share the first byte explains nothing beside one that does.
        if reached.first().is_some_and(|(offset, _)| *offset > 0) {
            reached.retain(|(offset, _)| *offset > 0);
        }
        let failure = |(_, family): (usize, &'_ Family)| readings(&family.key, &self.key, 1).err();
        let named = reached.into_iter().take(NEAREST);
        named.filter_map(|reached| Some((reached.1.path.as_str(), failure(reached)?))).collect()
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
        let spaces = plan.spaces.iter().map(Trie::new).collect();
        Self { plan, spaces }
    }

    /// The plan that keys are read under.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// Reads a key of the space at `space` in the plan: the first reading of the family with the longest
    /// literal prefix.
    pub fn decode(&self, space: usize, key: &[u8]) -> Result<Decoded<'p>, Miss<'p>> {
        let Some((model, trie)) = self.plan.spaces.get(space).zip(self.spaces.get(space)) else {
            return Err(Miss { space: None, key: key.to_vec() });
        };
        for index in trie.candidates(key) {
            let Some(family) = model.families.get(index) else { continue };
            if !family.key.width().admits(key.len()) {
                continue;
            }
            if let Ok(mut found) = readings(&family.key, key, 1)
                && let Some(values) = found.readings.pop()
            {
                return Ok(Decoded { space: model, family, values });
            }
        }
        Err(Miss { space: Some(model), key: key.to_vec() })
    }

    /// Finds up to `limit` readings of a key of one space.
    pub fn decode_all(&self, space: usize, key: &[u8], limit: usize) -> Result<KeyReadings<'p>, Miss<'p>> {
        let Some((model, trie)) = self.plan.spaces.get(space).zip(self.spaces.get(space)) else {
            return Err(Miss { space: None, key: key.to_vec() });
        };
        let mut all = KeyReadings { readings: Vec::new(), more: false };
        for index in trie.candidates(key) {
            let Some(family) = model.families.get(index) else { continue };
            if !family.key.width().admits(key.len()) {
                continue;
            }
            let left = limit.saturating_sub(all.readings.len());
            if left == 0 {
                all.more = true;
                break;
            }
            if let Ok(found) = readings(&family.key, key, left) {
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
#[derive(Debug)]
struct Trie {
    nodes: Vec<Node>,
    first: Box<[u32; 256]>,
}

#[derive(Debug, Default)]
struct Node {
    children: Vec<(u8, u32)>,
    families: Vec<usize>,
    // The nearest node above that has families; `NONE` if there is none.
    above: u32,
}

const NONE: u32 = u32::MAX;

impl Trie {
    fn new(space: &Space) -> Self {
        let mut trie =
            Self { nodes: vec![Node { above: NONE, ..Node::default() }], first: Box::new([NONE; 256]) };
        for (index, family) in space.families.iter().enumerate() {
            let node = trie.insert(&family.key.literal_prefix());
            if let Some(node) = trie.nodes.get_mut(node as usize) {
                node.families.push(index);
            }
        }
        trie.link(0, NONE);
        trie
    }

    fn insert(&mut self, prefix: &[u8]) -> u32 {
        let mut at = 0;
        for (depth, &byte) in prefix.iter().enumerate() {
            let next = self.child(at, byte).unwrap_or_else(|| {
                let next = u32::try_from(self.nodes.len()).unwrap_or(NONE);
                self.nodes.push(Node { above: NONE, ..Node::default() });
                if let Some(node) = self.nodes.get_mut(at as usize) {
                    node.children.push((byte, next));
                    node.children.sort_unstable();
                }
                next
            });
            if depth == 0
                && let Some(slot) = self.first.get_mut(usize::from(byte))
            {
                *slot = next;
            }
            at = next;
        }
        at
    }

    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let children = &self.nodes.get(node as usize)?.children;
        let index = children.binary_search_by_key(&byte, |(byte, _)| *byte).ok()?;
        children.get(index).map(|(_, next)| *next)
    }

    /// Sets the links upwards. Prefixes are bounded by the parts of a family, and the work list is on the heap.
    fn link(&mut self, root: u32, above: u32) {
        let mut work = vec![(root, above)];
        while let Some((at, above)) = work.pop() {
            let Some(node) = self.nodes.get_mut(at as usize) else { continue };
            node.above = above;
            let below = if node.families.is_empty() { above } else { at };
            work.extend(node.children.iter().map(|(_, child)| (*child, below)));
        }
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
            .flat_map(|node| node.families.iter().copied())
    }
}
