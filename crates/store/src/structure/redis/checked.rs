//! Commands that are done together, if what they were made from is still so.

use std::collections::{BTreeMap, BTreeSet};

use redis::Value;

use super::answer::{count, exactly, unexpected, values, word};
use super::apply::{Words, kind, reply};
use super::client::Effect;
use super::slot::slot;
use super::wire::Batch;
use super::{Redis, all, number, script, text};
use crate::engine::Durability;
use crate::structure::{Command, Expectation, Kind, Reply, StructureError};

impl Redis {
    /// One script for all of it: what is expected, and the commands.
    pub(super) fn together(
        &self,
        expected: &[Expectation<'_>],
        commands: &[Command<'_>],
        durability: Durability,
    ) -> Result<Vec<Reply>, StructureError> {
        Self::abilities().need_durability(durability)?;
        if expected.is_empty() && commands.is_empty() {
            return Ok(Vec::new());
        }
        let mut run = Together::default();
        for one in expected {
            self.expect(one, &mut run)?;
        }
        for command in commands {
            refuse_late(command)?;
            let keys = run.keys.len();
            self.write(command, &mut run)?;
            let place = run.last.unwrap_or(keys);
            run.holds(command.key(), place, self.type_of(command.key(), kind(command)), kind(command))?;
        }
        self.one_slot(&run)?;
        let arguments = run.arguments();
        let words: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let mut batch = Batch::new();
        batch.script(&script::CHECKED, &run.keys, &words);
        let first = run.kinds.first().map_or((&[][..], Kind::Value), |held| (&held.key, held.kind));
        let answers = all(self.client.run(&batch, Effect::Write))
            .map_err(|(_, failure)| self.failed(failure, first.0, first.1))?;
        let answer = answers.into_iter().next().unwrap_or(Value::Nil);
        let [outcome, rest] = values(answer)?;
        match word(outcome)?.as_str() {
            "done" => {
                let answers = exactly(rest, commands.len())?;
                commands.iter().zip(answers).map(|(command, answer)| reply(command, answer)).collect()
            }
            "changed" => {
                let at = usize::try_from(count(&rest)?).ok().and_then(|at| at.checked_sub(1));
                let key = at.and_then(|at| expected.get(at)).map(Expectation::key);
                let key = key.ok_or_else(|| unexpected("the number of a key", &rest))?;
                Err(StructureError::Changed { key: key.to_vec() })
            }
            "kind" => {
                let place = usize::try_from(count(&rest)?).ok();
                let held = run.kinds.iter().find(|held| Some(held.place + 1) == place);
                let Some(Held { key, kind, .. }) = held else {
                    return Err(unexpected("the number of a key", &rest));
                };
                match self.holds(key)? {
                    Some(found) if found != *kind => {
                        Err(StructureError::WrongKind { key: key.clone(), expected: *kind, found })
                    }
                    _ => Err(StructureError::Changed { key: key.clone() }),
                }
            }
            other => Err(unexpected("what came of it", &Value::SimpleString(other.to_owned()))),
        }
    }

    fn expect(&self, expected: &Expectation<'_>, run: &mut Together) -> Result<(), StructureError> {
        let known = |value: Option<&[u8]>| value.map_or_else(Vec::new, |value| [b"=", value].concat());
        let (name, part, found, kind): (&[u8], &[u8], Vec<u8>, Kind) = match *expected {
            Expectation::Value { value, .. } => (b"value", b"", known(value), Kind::Value),
            Expectation::Member { member, there, .. } => {
                (b"member", member, known(there.then_some(&[])), Kind::Set)
            }
            Expectation::Field { field, value, .. } => (b"field", field, known(value), Kind::Hash),
            Expectation::Score { member, score, .. } => {
                let score = score.map(|score| number(score).map(text)).transpose()?;
                (b"score", member, known(score.as_deref().map(str::as_bytes)), Kind::Zset)
            }
        };
        let key = expected.key();
        self.check(key, kind)?;
        let bucket = match expected {
            Expectation::Field { field, .. } => self.settings().spread.bucket(key, field),
            _ => None,
        };
        let place = run.key(bucket.as_deref().unwrap_or(key));
        run.holds(key, place, self.type_of(key, kind), kind)?;
        run.reads.push([name.to_vec(), one_more(place), part.to_vec(), found]);
        Ok(())
    }

    /// The server's word for what a key must hold.
    fn type_of(&self, key: &[u8], kind: Kind) -> &'static [u8] {
        match kind {
            Kind::Value => b"string",
            Kind::Set => b"set",
            Kind::Hash => b"hash",
            Kind::Zset => b"zset",
            Kind::Queue if self.is_shared_queue(key) => b"zset",
            Kind::Queue => b"list",
        }
    }

    /// Refuses keys that a cluster keeps in different places.
    fn one_slot(&self, run: &Together) -> Result<(), StructureError> {
        if !self.client.is_cluster() {
            return Ok(());
        }
        let Some(first) = run.keys.first() else { return Ok(()) };
        match run.keys.iter().find(|key| slot(key) != slot(first)) {
            Some(other) => Err(StructureError::Slots { first: first.clone(), other: other.clone() }),
            None => Ok(()),
        }
    }
}

/// What a script is told, as it is put together.
#[derive(Default)]
struct Together {
    keys: Vec<Vec<u8>>,
    places: BTreeMap<Vec<u8>, usize>,
    kinds: Vec<Held>,
    kind_of: BTreeMap<Vec<u8>, Kind>,
    placed: BTreeSet<usize>,
    reads: Vec<[Vec<u8>; 4]>,
    commands: Vec<Vec<Vec<u8>>>,
    /// Where the key of the last command is.
    last: Option<usize>,
}

/// What a key must hold, if it holds anything.
struct Held {
    /// The key that the caller knows.
    key: Vec<u8>,
    place: usize,
    type_of: &'static [u8],
    kind: Kind,
}

impl Together {
    /// The place of a key, from 0.
    fn key(&mut self, key: &[u8]) -> usize {
        if let Some(place) = self.places.get(key) {
            return *place;
        }
        let place = self.keys.len();
        self.keys.push(key.to_vec());
        self.places.insert(key.to_vec(), place);
        place
    }

    fn holds(
        &mut self,
        key: &[u8],
        place: usize,
        type_of: &'static [u8],
        kind: Kind,
    ) -> Result<(), StructureError> {
        match self.kind_of.get(key) {
            Some(found) if *found != kind => {
                return Err(StructureError::WrongKind { key: key.to_vec(), expected: kind, found: *found });
            }
            Some(_) => {}
            None => {
                self.kind_of.insert(key.to_vec(), kind);
            }
        }
        if self.placed.insert(place) {
            self.kinds.push(Held { key: key.to_vec(), place, type_of, kind });
        }
        Ok(())
    }

    /// The words after the keys.
    fn arguments(&self) -> Vec<Vec<u8>> {
        let mut words = vec![self.kinds.len().to_string().into_bytes()];
        for held in &self.kinds {
            words.extend([one_more(held.place), held.type_of.to_vec()]);
        }
        words.push(self.reads.len().to_string().into_bytes());
        words.extend(self.reads.iter().flatten().cloned());
        words.push(self.commands.len().to_string().into_bytes());
        for command in &self.commands {
            words.push(command.len().to_string().into_bytes());
            words.extend(command.iter().cloned());
        }
        words
    }
}

impl Words for Together {
    fn command(&mut self, words: &[&[u8]]) {
        let [name, key, rest @ ..] = words else { return };
        let place = self.key(key);
        self.last = Some(place);
        let mut command = vec![name.to_vec(), one_more(place)];
        command.extend(rest.iter().map(|word| word.to_vec()));
        self.commands.push(command);
    }

    fn queue(&mut self, keys: &[Vec<u8>; 6], arguments: &[&[u8]]) {
        let [key, ..] = keys;
        let place = match self.places.get(key) {
            Some(place) if self.keys.get(*place..*place + 6).is_some_and(|found| found == keys) => *place,
            _ => {
                let place = self.keys.len();
                self.keys.extend(keys.iter().cloned());
                self.places.insert(key.clone(), place);
                place
            }
        };
        self.last = Some(place);
        let mut command = vec![b"queue".to_vec(), one_more(place)];
        command.extend(arguments.iter().map(|word| word.to_vec()));
        self.commands.push(command);
    }
}

/// The number of a key as the script counts, from 1.
fn one_more(place: usize) -> Vec<u8> {
    (place + 1).to_string().into_bytes()
}

/// Refuses what the server would find wrong only after it had done what comes before.
fn refuse_late(command: &Command<'_>) -> Result<(), StructureError> {
    match command {
        Command::ZsetIncrement { by, .. } if !by.is_finite() => Err(StructureError::Unsupported {
            name: Redis::abilities().name,
            what: "endless increments in commands that are done together",
        }),
        _ => Ok(()),
    }
}
