//! Commands that change something.

use redis::Value;

use super::answer::{
    array, bytes, count, flag, number as parsed, optional_bytes, score, scored, unexpected, values,
};
use super::client::{Effect, Failure};
use super::names::QueueKeys;
use super::wire::{Batch, Target};
use super::{Redis, all, ends, number, script, text};
use crate::engine::Durability;
use crate::structure::{
    Claim, Claimed, Command, End, Expectation, Kind, Now, QueueState, Reply, SetScore, StructureCapabilities,
    StructureError, StructureRead, Structures,
};

impl Structures for Redis {
    fn capabilities(&self) -> StructureCapabilities {
        Self::abilities()
    }

    fn apply(&self, commands: &[Command<'_>], durability: Durability) -> Result<Vec<Reply>, StructureError> {
        Self::abilities().need_durability(durability)?;
        // Everything that is wrong with the commands themselves is found before the first is sent.
        let mut batch = Batch::new();
        for command in commands {
            self.write(command, &mut batch)?;
        }
        let part = |at, source| match commands.len() {
            1 => source,
            _ => StructureError::Partly { at, source: Box::new(source) },
        };
        let answers = all(self.client.run(&batch, Effect::Write)).map_err(|(at, failure)| {
            let command = commands.get(at).copied().unwrap_or(Command::Delete { key: &[] });
            part(at, self.failed(failure, command.key(), kind(&command)))
        })?;
        let mut replies = Vec::with_capacity(answers.len());
        for (at, (command, answer)) in commands.iter().zip(answers).enumerate() {
            replies.push(reply(command, answer).map_err(|source| part(at, source))?);
        }
        Ok(replies)
    }

    fn apply_if(
        &self,
        expected: &[Expectation<'_>],
        commands: &[Command<'_>],
        durability: Durability,
    ) -> Result<Vec<Reply>, StructureError> {
        self.together(expected, commands, durability)
    }

    fn clock(&self) -> Result<u64, StructureError> {
        let mut batch = Batch::new();
        batch.push_to(Target::Slot(0), &[b"TIME"]);
        let [seconds, micros] = values(self.client.read(&batch).map_err(Failure::error)?)?;
        let (seconds, micros): (u64, u64) = (parsed(&seconds)?, parsed(&micros)?);
        Ok(seconds.saturating_mul(1_000).saturating_add(micros / 1_000))
    }

    fn snapshot(&self) -> Result<Box<dyn StructureRead + '_>, StructureError> {
        Self::abilities().need_snapshots()?;
        Err(StructureError::Unsupported { name: Self::abilities().name, what: "snapshots" })
    }
}

impl Redis {
    /// Writes one command out: it is one command of the server, too.
    pub(super) fn write(&self, command: &Command<'_>, batch: &mut impl Words) -> Result<(), StructureError> {
        self.check(command.key(), kind(command))?;
        match *command {
            // With GET, the server refuses to replace something else, and tells whether there was a value.
            Command::Put { key, value } => batch.command(&[b"SET", key, value, b"GET"]),
            Command::Delete { key } => batch.command(&[b"GETDEL", key]),
            Command::SetAdd { key, member } => batch.command(&[b"SADD", key, member]),
            Command::SetRemove { key, member } => batch.command(&[b"SREM", key, member]),
            Command::HashSet { key, field, value } => match self.settings().spread.bucket(key, field) {
                Some(bucket) => batch.command(&[b"HSET", &bucket, field, value]),
                None => batch.command(&[b"HSET", key, field, value]),
            },
            Command::HashDelete { key, field } => match self.settings().spread.bucket(key, field) {
                Some(bucket) => batch.command(&[b"HDEL", &bucket, field]),
                None => batch.command(&[b"HDEL", key, field]),
            },
            Command::ZsetAdd { key, member, score } => {
                batch.command(&[b"ZADD", key, text(number(score)?).as_bytes(), member]);
            }
            Command::ZsetRemove { key, member } => batch.command(&[b"ZREM", key, member]),
            Command::ZsetIncrement { key, member, by } => {
                let by = number(SetScore::Number(by))?;
                batch.command(&[b"ZINCRBY", key, text(by).as_bytes(), member]);
            }
            // The server does not look at a key for a command without members.
            Command::ZsetPop { key, count: 0, .. } => batch.command(&[b"ZCARD", key]),
            Command::ZsetPop { key, end, count } => {
                let pop: &[u8] = match end {
                    End::Min => b"ZPOPMIN",
                    End::Max => b"ZPOPMAX",
                };
                batch.command(&[pop, key, itoa::Buffer::new().format(capped(count)).as_bytes()]);
            }
            Command::ZsetRemoveRange { key, scores } => {
                let (min, max) = ends(&scores)?;
                batch.command(&[b"ZREMRANGEBYSCORE", key, min.as_bytes(), max.as_bytes()]);
            }
            Command::QueuePush { key, member, score } => {
                let score = text(number(score)?);
                self.step(batch, key, &[b"push", member, score.as_bytes()]);
            }
            Command::QueueClaim { key, ref claim } => self.claim(batch, key, claim),
            Command::QueueAcknowledge { key, member, receipt } => {
                self.step(
                    batch,
                    key,
                    &[b"acknowledge", member, itoa::Buffer::new().format(receipt).as_bytes()],
                );
            }
            Command::QueueRelease { key, member, receipt } => {
                self.step(batch, key, &[b"release", member, itoa::Buffer::new().format(receipt).as_bytes()]);
            }
            Command::QueueBury { key, member, receipt } => {
                self.step(batch, key, &[b"bury", member, itoa::Buffer::new().format(receipt).as_bytes()]);
            }
            Command::QueueRestore { key, member, score, attempts, state } => {
                let score = text(number(score)?);
                let mut lease = itoa::Buffer::new();
                let (word, until): (&[u8], &str) = match state {
                    QueueState::Waiting => (b"waiting", "0"),
                    QueueState::Dead => (b"dead", "0"),
                    QueueState::Claimed { until } => (b"claimed", lease.format(until)),
                };
                let mut times = itoa::Buffer::new();
                let attempts = times.format(attempts).as_bytes();
                let words = [b"restore", member, score.as_bytes(), attempts, word, until.as_bytes()];
                self.step(batch, key, &words);
            }
            Command::QueueRemove { key, member } => self.step(batch, key, &[b"remove", member]),
        }
        Ok(())
    }

    fn claim(&self, batch: &mut impl Words, key: &[u8], claim: &Claim) {
        let count = capped(claim.count).to_string();
        let lease = claim.lease_millis().to_string();
        let most = claim.attempts.map(|most| most.to_string()).unwrap_or_default();
        let now = match claim.now {
            Now::Clock => String::new(),
            Now::Millis(millis) => millis.to_string(),
        };
        let words = [count, lease, most, now];
        let [count, lease, most, now] = words.each_ref().map(String::as_bytes);
        self.step(batch, key, &[b"claim", count, lease, most, now]);
    }

    /// Adds a step on a queue.
    pub(super) fn step(&self, batch: &mut impl Words, key: &[u8], arguments: &[&[u8]]) {
        let QueueKeys { all } = self.queue_keys(key);
        batch.queue(&all, arguments);
    }
}

/// Where commands are written to.
pub(super) trait Words {
    /// A command of the server about a key, which is its second word.
    fn command(&mut self, words: &[&[u8]]);
    /// A step on a queue with these keys.
    fn queue(&mut self, keys: &[Vec<u8>; 6], arguments: &[&[u8]]);
}

impl Words for Batch {
    fn command(&mut self, words: &[&[u8]]) {
        self.push(words);
    }

    fn queue(&mut self, keys: &[Vec<u8>; 6], arguments: &[&[u8]]) {
        self.script(&script::QUEUE, keys, arguments);
    }
}

/// What a command uses its key as.
pub(super) const fn kind(command: &Command<'_>) -> Kind {
    match command {
        Command::Put { .. } | Command::Delete { .. } => Kind::Value,
        Command::SetAdd { .. } | Command::SetRemove { .. } => Kind::Set,
        Command::HashSet { .. } | Command::HashDelete { .. } => Kind::Hash,
        Command::ZsetAdd { .. }
        | Command::ZsetRemove { .. }
        | Command::ZsetIncrement { .. }
        | Command::ZsetPop { .. }
        | Command::ZsetRemoveRange { .. } => Kind::Zset,
        Command::QueuePush { .. }
        | Command::QueueClaim { .. }
        | Command::QueueAcknowledge { .. }
        | Command::QueueRelease { .. }
        | Command::QueueBury { .. }
        | Command::QueueRestore { .. }
        | Command::QueueRemove { .. } => Kind::Queue,
    }
}

/// The most that the server counts to.
fn capped(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn reply(command: &Command<'_>, answer: Value) -> Result<Reply, StructureError> {
    match command {
        Command::Put { .. } => Ok(Reply::Changed(optional_bytes(answer)?.is_none())),
        Command::Delete { .. } => Ok(Reply::Changed(optional_bytes(answer)?.is_some())),
        Command::ZsetIncrement { .. } => score(&answer).map(Reply::Number),
        Command::ZsetPop { count: 0, .. } => count(&answer).map(|_| Reply::Members(Vec::new())),
        Command::ZsetPop { .. } => scored(answer).map(Reply::Members),
        Command::ZsetRemoveRange { .. } => count(&answer).map(Reply::Count),
        Command::QueueClaim { .. } => claimed(answer).map(Reply::Claimed),
        _ => flag(&answer).map(Reply::Changed),
    }
}

/// Reads `[receipt, [member, score, attempts, …]]`.
fn claimed(answer: Value) -> Result<Vec<Claimed>, StructureError> {
    let [receipt, items] = values(answer)?;
    let receipt = parsed(&receipt)?;
    let mut items = array(items)?.into_iter();
    let mut claimed = Vec::with_capacity(items.len() / 3);
    while let Some(member) = items.next() {
        let (Some(rank), Some(attempts)) = (items.next(), items.next()) else {
            return Err(unexpected("items in threes", &member));
        };
        claimed.push(Claimed {
            member: bytes(member)?,
            score: SetScore::Number(score(&rank)?),
            attempts: parsed(&attempts)?,
            receipt,
        });
    }
    Ok(claimed)
}
