//! Reads of many rows, a page at a time.

use std::collections::{HashSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use redis::Value;

use super::answer::{array, bytes, count, page, pairs, scored};
use super::client::{Effect, Failure};
use super::names::{self, ITEMS};
use super::node::Node;
use super::wire::{Batch, Target};
use super::{Redis, ends, number, script, text};
use crate::page::Direction;
use crate::structure::{Kind, Pair, Rows, ScoreRange, Scored, StructureError};

/// How many rows the first page of a sorted set has. Each page has twice as many as the one before, up to [`MOST_ROWS`]:
/// whoever looks at a few rows of many sets does not read much more, and whoever reads all does not ask often.
const FIRST_ROWS: usize = 64;

/// How many rows a page of a sorted set has, at most.
const MOST_ROWS: usize = 1024;

/// How many keys the server looks at for a page.
const KEYS: &[u8] = b"1000";

/// How many bytes of values are read at a time, unless one has more.
const BYTES: u64 = 4 << 20;

/// Rows from pages that are read when they are needed. The first is read now, so that what is wrong is seen at once.
pub(super) fn rows<'s, T: Send + 's>(
    mut next: impl FnMut() -> Result<Option<Vec<T>>, StructureError> + Send + 's,
) -> Result<Rows<'s, T>, StructureError> {
    let first = next()?;
    let mut done = first.is_none();
    let mut page = first.unwrap_or_default().into_iter();
    Ok(Box::new(std::iter::from_fn(move || {
        loop {
            if let Some(row) = page.next() {
                return Some(Ok(row));
            }
            if done {
                return None;
            }
            match next() {
                Ok(Some(found)) => page = found.into_iter(),
                Ok(None) => done = true,
                Err(error) => {
                    done = true;
                    return Some(Err(error));
                }
            }
        }
    })))
}

/// Where a scan of the server's tables is.
struct Cursor {
    at: Option<Vec<u8>>,
    /// Every place that it was at: a server that comes back to one never ends.
    been: HashSet<Vec<u8>>,
    /// Pages without a row since the last one with some.
    empty: u32,
}

/// How many pages in a row may be empty: with a thousand keys looked at for each, more keys than a server holds.
const EMPTY_PAGES: u32 = 1 << 24;

impl Cursor {
    fn start() -> Self {
        Self { at: Some(b"0".to_vec()), been: HashSet::new(), empty: 0 }
    }

    fn go_on(&mut self, at: Vec<u8>, rows: usize) -> Result<(), StructureError> {
        self.empty = if rows == 0 { self.empty + 1 } else { 0 };
        if at == b"0" {
            self.at = None;
            return Ok(());
        }
        if self.empty > EMPTY_PAGES || !self.been.insert(at.clone()) {
            return Err(StructureError::Answer {
                what: "the server's scan does not come to an end".to_owned(),
            });
        }
        self.at = Some(at);
        Ok(())
    }
}

/// How many rows to ask for, so that a page is neither a mere handful nor more than memory should hold.
struct Amount(u64);

impl Amount {
    fn learn(&mut self, bytes: usize) {
        if bytes > 1 << 20 {
            self.0 = (self.0 / 4).max(1);
        } else if bytes < 1 << 16 {
            self.0 = (self.0 * 2).min(1024);
        }
    }
}

impl Redis {
    /// Pages of `SSCAN` or `HSCAN` over the keys that hold a thing.
    pub(super) fn scan_inside<'s>(
        &'s self,
        command: &'static [u8],
        kind: Kind,
        key: &[u8],
        keys: Vec<Vec<u8>>,
    ) -> impl FnMut() -> Result<Option<Value>, StructureError> + Send + use<'s> {
        let key = key.to_vec();
        let mut keys = VecDeque::from(keys);
        let mut cursor = Cursor::start();
        let mut amount = Amount(64);
        move || {
            let Some(at) = cursor.at.clone() else {
                keys.pop_front();
                if keys.is_empty() {
                    return Ok(None);
                }
                cursor = Cursor::start();
                return Ok(Some(Value::Array(Vec::new())));
            };
            let Some(bucket) = keys.front() else { return Ok(None) };
            let most = amount.0.to_string();
            let answer = self.client.read(&Batch::one(&[command, bucket, &at, b"COUNT", most.as_bytes()]));
            let (next, found) = page(answer.map_err(|failure| self.failed(failure, &key, kind))?)?;
            cursor.go_on(next, size(&found))?;
            amount.learn(size(&found));
            Ok(Some(found))
        }
    }

    /// The keys of a type of the server's that match a pattern, page by page, node by node.
    fn scan_keys(
        &self,
        pattern: Vec<u8>,
        kind: &'static [u8],
    ) -> impl FnMut() -> Result<Option<Vec<Vec<u8>>>, StructureError> + Send {
        let mut nodes: VecDeque<Arc<Node>> = self.client.masters().into();
        let mut cursor = Cursor::start();
        move || {
            let Some(node) = nodes.front() else { return Ok(None) };
            let Some(at) = cursor.at.clone() else {
                nodes.pop_front();
                cursor = Cursor::start();
                return Ok(Some(Vec::new()));
            };
            let mut batch = Batch::new();
            batch.push_to(
                Target::Node(Arc::clone(node)),
                &[b"SCAN", &at, b"MATCH", &pattern, b"COUNT", KEYS, b"TYPE", kind],
            );
            let (next, found) = page(self.client.read(&batch).map_err(Failure::error)?)?;
            let found = array(found)?;
            cursor.go_on(next, found.len())?;
            found.into_iter().map(bytes).collect::<Result<_, _>>().map(Some)
        }
    }

    pub(super) fn keys_of(&self, kind: Kind, prefix: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError> {
        let named: &[u8] = match kind {
            Kind::Value => b"string",
            Kind::Set => b"set",
            Kind::Hash => b"hash",
            Kind::Zset => b"zset",
            Kind::Queue => b"list",
        };
        let mut pages = self.scan_keys(names::pattern(prefix), named);
        let mut own = move || {
            let Some(mut keys) = pages()? else { return Ok(None) };
            keys.retain(|key| !names::stands_beside(key));
            match kind {
                Kind::Zset => keys.retain(|key| !self.is_shared_queue(key)),
                Kind::Hash => keys.retain(|key| self.settings().spread.whole(key).is_none()),
                Kind::Queue => keys = self.marked(keys)?,
                Kind::Value | Kind::Set => {}
            }
            Ok(Some(keys))
        };
        match kind {
            Kind::Hash if self.settings().spread.iter().next().is_some() => {
                let mut spread = self.spread_keys(prefix)?.into_iter();
                rows(move || match own()? {
                    Some(keys) => Ok(Some(keys)),
                    None => Ok(spread.next().map(|key| vec![key])),
                })
            }
            Kind::Queue if !self.settings().shared_queues.is_empty() => {
                let mut waiting = self.scan_keys(names::pattern(prefix), b"zset");
                let mut items = self.scan_keys(names::pattern_beside(prefix, ITEMS), b"hash");
                rows(move || {
                    if let Some(keys) = own()? {
                        return Ok(Some(keys));
                    }
                    if let Some(mut keys) = waiting()? {
                        keys.retain(|key| self.is_shared_queue(key) && !names::stands_beside(key));
                        return Ok(Some(keys));
                    }
                    let Some(keys) = items()? else { return Ok(None) };
                    self.without_waiting(&keys).map(Some)
                })
            }
            _ => rows(own),
        }
    }

    /// Of the lists with these keys, those that are the mark of a queue.
    fn marked(&self, keys: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, StructureError> {
        let mut batch = Batch::new();
        for key in &keys {
            batch.push(&[b"LINDEX", key, b"0"]);
        }
        let mut marked = Vec::with_capacity(keys.len());
        for (key, outcome) in keys.into_iter().zip(self.client.run(&batch, Effect::Read)) {
            match outcome {
                Ok(Value::BulkString(mark)) if mark == super::MARK => marked.push(key),
                Ok(_) => {}
                Err(Failure::Server(error)) if error.code() == "WRONGTYPE" => {}
                Err(failure) => return Err(failure.error()),
            }
        }
        Ok(marked)
    }

    /// Of the shared queues that something is known of, those that have items, but none that wait.
    fn without_waiting(&self, items: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, StructureError> {
        let queues = items.iter().filter_map(|key| names::behind(key, ITEMS));
        let queues: Vec<_> = queues.filter(|key| self.is_shared_queue(key)).collect();
        let mut batch = Batch::new();
        for queue in &queues {
            self.step(&mut batch, queue, &[b"size"]);
        }
        let mut found = Vec::new();
        for (queue, size) in queues.iter().zip(self.client.run(&batch, Effect::Read)) {
            let size = size.map_err(|failure| self.failed(failure, queue, Kind::Queue))?;
            let [waiting, claimed, dead] = super::read::sizes(size)?;
            if waiting == 0 && claimed + dead > 0 {
                found.push(queue.to_vec());
            }
        }
        Ok(found)
    }

    /// The spread hashes with a prefix that have a field.
    fn spread_keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, StructureError> {
        let mut found = Vec::new();
        for (key, _) in self.settings().spread.iter().filter(|(key, _)| key.starts_with(prefix)) {
            if self.buckets_exist(key)? {
                found.push(key.to_vec());
            }
        }
        Ok(found)
    }

    pub(super) fn buckets_exist(&self, key: &[u8]) -> Result<bool, StructureError> {
        let mut batch = Batch::new();
        for bucket in self.settings().spread.all(key) {
            batch.push(&[b"EXISTS", &bucket]);
        }
        let mut exists = false;
        for outcome in self.client.run(&batch, Effect::Read) {
            exists |= count(&outcome.map_err(Failure::error)?)? > 0;
        }
        Ok(exists)
    }

    /// Plain keys with a prefix and their values, of which no more are read at a time than memory should hold.
    pub(super) fn values_of(&self, prefix: &[u8]) -> Result<Rows<'_, Pair>, StructureError> {
        let mut pages = self.scan_keys(names::pattern(prefix), b"string");
        let mut waiting: VecDeque<(Vec<u8>, u64)> = VecDeque::new();
        rows(move || {
            if waiting.is_empty() {
                let Some(mut keys) = pages()? else { return Ok(None) };
                keys.retain(|key| !names::stands_beside(key));
                waiting = self.sizes(keys)?;
            }
            let mut room = BYTES;
            let mut keys = Vec::new();
            while let Some((key, size)) = waiting.pop_front() {
                let fits = keys.is_empty() || size <= room;
                if !fits {
                    waiting.push_front((key, size));
                    break;
                }
                room = room.saturating_sub(size);
                keys.push(key);
            }
            self.values(keys).map(Some)
        })
    }

    /// Keys with the sizes of their values.
    fn sizes(&self, keys: Vec<Vec<u8>>) -> Result<VecDeque<(Vec<u8>, u64)>, StructureError> {
        let mut batch = Batch::new();
        for key in &keys {
            batch.push(&[b"STRLEN", key]);
        }
        let outcomes = self.client.run(&batch, Effect::Read);
        let mut sizes = VecDeque::with_capacity(keys.len());
        for (key, outcome) in keys.into_iter().zip(outcomes) {
            match outcome {
                Ok(size) => sizes.push_back((key, count(&size)?)),
                // It is something else by now.
                Err(Failure::Server(error)) if error.code() == "WRONGTYPE" => {}
                Err(failure) => return Err(failure.error()),
            }
        }
        Ok(sizes)
    }

    fn values(&self, keys: Vec<Vec<u8>>) -> Result<Vec<Pair>, StructureError> {
        let mut batch = Batch::new();
        for key in &keys {
            batch.push(&[b"GET", key]);
        }
        let mut pairs = Vec::with_capacity(keys.len());
        for (key, outcome) in keys.into_iter().zip(self.client.run(&batch, Effect::Read)) {
            match outcome {
                // It is gone, or something else, by now.
                Ok(Value::Nil) => {}
                Err(Failure::Server(error)) if error.code() == "WRONGTYPE" => {}
                Ok(value) => pairs.push((key, bytes(value)?)),
                Err(failure) => return Err(failure.error()),
            }
        }
        Ok(pairs)
    }

    /// Pages of a sorted set, or of the dead of a queue, which are one too.
    pub(super) fn scored_pages<'s>(
        &'s self,
        key: &[u8],
        scores: &ScoreRange,
        direction: Direction,
        after: Option<&Scored>,
    ) -> Result<impl FnMut() -> Result<Option<Vec<Scored>>, StructureError> + Send + use<'s>, StructureError>
    {
        let (min, max) = ends(scores)?;
        let below = match scores.min {
            Bound::Included(score) => format!("({}", text(number(score)?)),
            Bound::Excluded(score) => text(number(score)?),
            Bound::Unbounded => String::new(),
        };
        let mut after = match after {
            Some(after) => Some((text(number(after.score)?), after.member.clone())),
            None => None,
        };
        let key = key.to_vec();
        let mut over = false;
        let mut most = FIRST_ROWS;
        Ok(move || {
            if over {
                return Ok(None);
            }
            let rows = most.to_string();
            let mut batch = Batch::new();
            match &after {
                None => {
                    let (command, first, last): (&[u8], _, _) = match direction {
                        Direction::Ascending => (b"ZRANGEBYSCORE", &min, &max),
                        Direction::Descending => (b"ZREVRANGEBYSCORE", &max, &min),
                    };
                    let (first, last) = (first.as_bytes(), last.as_bytes());
                    batch.push(&[command, &key, first, last, b"WITHSCORES", b"LIMIT", b"0", rows.as_bytes()]);
                }
                Some((score, member)) => {
                    let way: &[u8] = match direction {
                        Direction::Ascending => b"ascending",
                        Direction::Descending => b"descending",
                    };
                    batch.script(
                        &script::PAGE,
                        &[&key],
                        &[way, below.as_bytes(), max.as_bytes(), score.as_bytes(), member, rows.as_bytes()],
                    );
                }
            }
            let answer = self.client.read(&batch);
            let page = scored(answer.map_err(|failure| self.failed(failure, &key, Kind::Zset))?)?;
            over = page.len() < most;
            most = (most * 2).min(MOST_ROWS);
            if let Some(last) = page.last() {
                after = Some((text(number(last.score)?), last.member.clone()));
            }
            Ok(Some(page))
        })
    }
}

/// How many bytes a page has.
fn size(page: &Value) -> usize {
    match page {
        Value::Array(values) => values.iter().map(size).sum(),
        Value::BulkString(bytes) => bytes.len(),
        _ => 0,
    }
}

/// Fields and values.
pub(super) fn fields(page: Value) -> Result<Vec<Pair>, StructureError> {
    pairs(page)?.into_iter().map(|(field, value)| Ok((bytes(field)?, bytes(value)?))).collect()
}
