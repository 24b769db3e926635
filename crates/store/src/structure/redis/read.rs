//! Commands that only read.

use redis::Value;

use super::answer::{
    array, bytes, count, exactly, flag, number as parsed, optional_bytes, optional_score, score, scored,
    values, word,
};
use super::client::{Effect, Failure, Outcome};
use super::names::QueueKeys;
use super::scan::{fields, rows};
use super::wire::Batch;
use super::{Redis, all, ends};
use crate::page::Direction;
use crate::structure::interface::total;
use crate::structure::{
    Kind, Pair, QueueItem, QueueSize, QueueState, RangeQuery, Rows, ScoreRange, Scored, SetScore,
    StructureError, StructureRead,
};

impl StructureRead for Redis {
    fn kind(&self, key: &[u8]) -> Result<Option<Kind>, StructureError> {
        match self.declared(key) {
            Some(Kind::Hash) => Ok(self.buckets_exist(key)?.then_some(Kind::Hash)),
            // Its own key is there only while something waits.
            Some(Kind::Queue) => match self.holds(key)? {
                None => {
                    let size = self.queue_size(key)?;
                    Ok((size != QueueSize::default()).then_some(Kind::Queue))
                }
                found => Ok(found),
            },
            _ => self.holds(key),
        }
    }

    fn keys(&self, kind: Kind, prefix: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError> {
        self.keys_of(kind, prefix)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StructureError> {
        self.check_read(key, Kind::Value)?;
        optional_bytes(self.ask(Kind::Value, &[b"GET", key])?)
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        let mut batch = Batch::new();
        for key in keys {
            self.check_read(key, Kind::Value)?;
            // Not MGET, for which something else is the same as nothing.
            batch.push(&[b"GET", key]);
        }
        self.each(&batch, Kind::Value, |at| keys.get(at).copied(), optional_bytes)
    }

    fn scan(&self, prefix: &[u8]) -> Result<Rows<'_, Pair>, StructureError> {
        self.values_of(prefix)
    }

    fn set_contains(&self, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        self.check_read(key, Kind::Set)?;
        flag(&self.ask(Kind::Set, &[b"SISMEMBER", key, member])?)
    }

    fn set_contains_many(&self, key: &[u8], members: &[&[u8]]) -> Result<Vec<bool>, StructureError> {
        self.check_read(key, Kind::Set)?;
        let found = self.chunked(Kind::Set, b"SMISMEMBER", key, members)?;
        found.iter().map(flag).collect()
    }

    fn set_members(&self, key: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError> {
        self.check_read(key, Kind::Set)?;
        let mut pages = self.scan_inside(b"SSCAN", Kind::Set, key, vec![key.to_vec()]);
        rows(move || {
            let Some(page) = pages()? else { return Ok(None) };
            array(page)?.into_iter().map(bytes).collect::<Result<_, _>>().map(Some)
        })
    }

    fn set_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        self.check_read(key, Kind::Set)?;
        count(&self.ask(Kind::Set, &[b"SCARD", key])?)
    }

    fn hash_get(&self, key: &[u8], field: &[u8]) -> Result<Option<Vec<u8>>, StructureError> {
        self.check_read(key, Kind::Hash)?;
        match self.settings().spread.bucket(key, field) {
            Some(bucket) => optional_bytes(self.ask(Kind::Hash, &[b"HGET", &bucket, field])?),
            None => optional_bytes(self.ask(Kind::Hash, &[b"HGET", key, field])?),
        }
    }

    fn hash_get_many(&self, key: &[u8], fields: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        self.check_read(key, Kind::Hash)?;
        if self.settings().spread.of(key).is_some() {
            let places: Vec<_> = fields.iter().map(|field| (key, *field)).collect();
            return self.hash_get_each(&places);
        }
        let found = self.chunked(Kind::Hash, b"HMGET", key, fields)?;
        found.into_iter().map(optional_bytes).collect()
    }

    fn hash_get_each(&self, places: &[(&[u8], &[u8])]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        let mut batch = Batch::new();
        for (key, field) in places {
            self.check_read(key, Kind::Hash)?;
            match self.settings().spread.bucket(key, field) {
                Some(bucket) => batch.push(&[b"HGET", &bucket, field]),
                None => batch.push(&[b"HGET", key, field]),
            }
        }
        self.each(&batch, Kind::Hash, |at| places.get(at).map(|(key, _)| *key), optional_bytes)
    }

    fn hash_all(&self, key: &[u8]) -> Result<Rows<'_, Pair>, StructureError> {
        self.check_read(key, Kind::Hash)?;
        let mut pages = self.scan_inside(b"HSCAN", Kind::Hash, key, self.settings().spread.all(key));
        rows(move || pages()?.map(fields).transpose())
    }

    fn hash_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        self.check_read(key, Kind::Hash)?;
        let mut batch = Batch::new();
        for bucket in self.settings().spread.all(key) {
            batch.push(&[b"HLEN", &bucket]);
        }
        let counts = self.each(&batch, Kind::Hash, |_| Some(key), |answer| count(&answer))?;
        Ok(counts.into_iter().sum())
    }

    fn zset_score(&self, key: &[u8], member: &[u8]) -> Result<Option<SetScore>, StructureError> {
        self.check_read(key, Kind::Zset)?;
        optional_score(self.ask(Kind::Zset, &[b"ZSCORE", key, member])?)
    }

    fn zset_score_each(&self, places: &[(&[u8], &[u8])]) -> Result<Vec<Option<SetScore>>, StructureError> {
        let mut batch = Batch::new();
        for (key, member) in places {
            self.check_read(key, Kind::Zset)?;
            batch.push(&[b"ZSCORE", key, member]);
        }
        self.each(&batch, Kind::Zset, |at| places.get(at).map(|(key, _)| *key), optional_score)
    }

    fn zset_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        self.check_read(key, Kind::Zset)?;
        count(&self.ask(Kind::Zset, &[b"ZCARD", key])?)
    }

    fn zset_sum(&self, key: &[u8], scores: &ScoreRange) -> Result<f64, StructureError> {
        total(self.zset_rows(key, scores, Direction::Ascending, None)?)
    }

    fn zset_rank(
        &self,
        key: &[u8],
        member: &[u8],
        direction: Direction,
    ) -> Result<Option<u64>, StructureError> {
        self.check_read(key, Kind::Zset)?;
        let rank: &[u8] = match direction {
            Direction::Ascending => b"ZRANK",
            Direction::Descending => b"ZREVRANK",
        };
        match self.ask(Kind::Zset, &[rank, key, member])? {
            Value::Nil => Ok(None),
            answer => count(&answer).map(Some),
        }
    }

    fn zset_range(&self, key: &[u8], query: &RangeQuery) -> Result<Vec<Scored>, StructureError> {
        self.check_read(key, Kind::Zset)?;
        let (min, max) = ends(&query.scores)?;
        let (command, first, last): (&[u8], _, _) = match query.direction {
            Direction::Ascending => (b"ZRANGEBYSCORE", &min, &max),
            Direction::Descending => (b"ZREVRANGEBYSCORE", &max, &min),
        };
        let capped = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (mut offset, mut limit) = (itoa::Buffer::new(), itoa::Buffer::new());
        let words = [
            command,
            key,
            first.as_bytes(),
            last.as_bytes(),
            b"WITHSCORES",
            b"LIMIT",
            offset.format(capped(query.offset)).as_bytes(),
            limit.format(query.limit.map_or(-1, capped)).as_bytes(),
        ];
        scored(self.ask(Kind::Zset, &words)?)
    }

    fn zset_rows(
        &self,
        key: &[u8],
        scores: &ScoreRange,
        direction: Direction,
        after: Option<&Scored>,
    ) -> Result<Rows<'_, Scored>, StructureError> {
        self.check_read(key, Kind::Zset)?;
        rows(self.scored_pages(key, scores, direction, after)?)
    }

    fn queue_size(&self, key: &[u8]) -> Result<QueueSize, StructureError> {
        let [waiting, claimed, dead] = sizes(self.look(key, &[b"size"])?)?;
        Ok(QueueSize { waiting, claimed, dead })
    }

    fn queue_peek(&self, key: &[u8], count: usize) -> Result<Vec<Scored>, StructureError> {
        let Some(last) = count.checked_sub(1) else {
            return self.look(key, &[b"size"]).map(|_| Vec::new());
        };
        let last = i64::try_from(last).unwrap_or(i64::MAX);
        scored(self.look(key, &[b"peek", itoa::Buffer::new().format(last).as_bytes()])?)
    }

    fn queue_item(&self, key: &[u8], member: &[u8]) -> Result<Option<QueueItem>, StructureError> {
        let answer = self.look(key, &[b"item", member])?;
        if answer == Value::Nil {
            return Ok(None);
        }
        let [state, rank, attempts, until] = values(answer)?;
        let state = match word(state)?.as_str() {
            "waiting" => QueueState::Waiting,
            "claimed" => QueueState::Claimed { until: parsed(&until)? },
            _ => QueueState::Dead,
        };
        let (score, attempts) = (SetScore::Number(score(&rank)?), parsed(&attempts)?);
        Ok(Some(QueueItem { member: member.to_vec(), score, attempts, state }))
    }

    fn queue_dead(&self, key: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError> {
        self.look(key, &[b"size"])?;
        rows(self.items_of(self.queue_keys(key), QueuePart::Dead)?)
    }

    fn queue_items(&self, key: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError> {
        self.look(key, &[b"size"])?;
        let mut parts = Vec::new();
        for part in [QueuePart::Dead, QueuePart::Claimed, QueuePart::Waiting] {
            parts.push(self.items_of(self.queue_keys(key), part)?);
        }
        rows(move || {
            while let Some(part) = parts.last_mut() {
                if let Some(items) = part()? {
                    return Ok(Some(items));
                }
                parts.pop();
            }
            Ok(None)
        })
    }
}

/// Where the items of a queue are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QueuePart {
    Waiting,
    Claimed,
    Dead,
}

/// How many words a command has, at most; more are sent as several commands in the same round trip.
const WORDS: usize = 1000;

impl Redis {
    /// The items of one part of a queue, page by page.
    fn items_of(
        &self,
        keys: QueueKeys,
        part: QueuePart,
    ) -> Result<impl FnMut() -> Result<Option<Vec<QueueItem>>, StructureError> + Send + use<'_>, StructureError>
    {
        let key = match part {
            QueuePart::Waiting => keys.waiting(),
            QueuePart::Claimed => keys.leases(),
            QueuePart::Dead => keys.dead(),
        };
        let mut pages = self.scored_pages(key, &ScoreRange::ALL, Direction::Ascending, None)?;
        Ok(move || {
            let Some(page) = pages()? else { return Ok(None) };
            let members: Vec<&[u8]> = page.iter().map(|row| row.member.as_slice()).collect();
            let known = self.chunked(Kind::Hash, b"HMGET", keys.items(), &members)?;
            let mut items = Vec::with_capacity(page.len());
            for (Scored { member, score: rank }, known) in page.into_iter().zip(known) {
                let known = optional_bytes(known)?.and_then(|known| String::from_utf8(known).ok());
                items.extend(item(part, member, rank, known.as_deref()));
            }
            Ok(Some(items))
        })
    }

    /// A step on a queue that only reads.
    fn look(&self, key: &[u8], arguments: &[&[u8]]) -> Result<Value, StructureError> {
        self.check_read(key, Kind::Queue)?;
        let mut batch = Batch::new();
        self.step(&mut batch, key, arguments);
        self.client.read(&batch).map_err(|failure| self.failed(failure, key, Kind::Queue))
    }

    /// Answers to commands in one round trip, each read in the same way.
    fn each<'k, T>(
        &self,
        batch: &Batch,
        kind: Kind,
        key: impl Fn(usize) -> Option<&'k [u8]>,
        read: impl Fn(Value) -> Result<T, StructureError>,
    ) -> Result<Vec<T>, StructureError> {
        let outcomes: Vec<Outcome> = self.client.run(batch, Effect::Read);
        let answers = all(outcomes).map_err(|(at, failure): (usize, Failure)| {
            self.failed(failure, key(at).unwrap_or_default(), kind)
        })?;
        answers.into_iter().map(read).collect()
    }

    /// One answer for each of many words of a command about one key.
    fn chunked(
        &self,
        kind: Kind,
        command: &[u8],
        key: &[u8],
        words: &[&[u8]],
    ) -> Result<Vec<Value>, StructureError> {
        let mut batch = Batch::new();
        for chunk in words.chunks(WORDS) {
            batch.push(&[&[command, key], chunk].concat());
        }
        let answers = self.each(&batch, kind, |_| Some(key), Ok)?;
        let mut found = Vec::with_capacity(words.len());
        for (answer, chunk) in answers.into_iter().zip(words.chunks(WORDS)) {
            found.extend(exactly(answer, chunk.len())?);
        }
        Ok(found)
    }
}

/// An item of a part of a queue, given what is known of it: its attempts or, while it is claimed, `attempts receipt again
/// score`. `None` if it left that part meanwhile.
fn item(part: QueuePart, member: Vec<u8>, rank: SetScore, known: Option<&str>) -> Option<QueueItem> {
    let words: Vec<&str> = known.map(|known| known.split(' ').collect()).unwrap_or_default();
    let (attempts, score, state) = match (part, words.as_slice()) {
        (QueuePart::Waiting, []) => (0, rank, QueueState::Waiting),
        (QueuePart::Waiting, [attempts]) => (attempts.parse().ok()?, rank, QueueState::Waiting),
        (QueuePart::Dead, [attempts]) => (attempts.parse().ok()?, rank, QueueState::Dead),
        (QueuePart::Claimed, [attempts, _, _, score]) => {
            let SetScore::Number(until) = rank else { return None };
            let until = format!("{until:.0}").parse().ok()?;
            let score = SetScore::Number(score.parse().ok()?);
            (attempts.parse().ok()?, score, QueueState::Claimed { until })
        }
        _ => return None,
    };
    Some(QueueItem { member, score, attempts, state })
}

/// How many items wait, are claimed, and are dead.
pub(super) fn sizes(answer: Value) -> Result<[u64; 3], StructureError> {
    let [waiting, claimed, dead] = values(answer)?;
    Ok([count(&waiting)?, count(&claimed)?, count(&dead)?])
}
