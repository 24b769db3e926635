//! Structures on a Redis server or cluster.

mod answer;
mod apply;
mod checked;
mod client;
mod link;
mod names;
mod node;
mod read;
mod scan;
mod script;
mod settings;
mod slot;
mod topology;
mod wire;

use std::fmt;

use redis::Value;

pub use settings::{RedisSettings, URL_VARIABLE};

use self::client::{Client, Failure, Outcome};
use self::names::QueueKeys;
use self::wire::Batch;
use super::error::hex;
use super::{Kind, ScoreRange, SetScore, StructureCapabilities, StructureError, StructureRead as _};

/// Structures on a Redis server or cluster, of version 6.2 or later. It is shared between threads.
///
/// Each structure is the server's own: a plain key is a string, and sets, hashes and sorted sets are what they are
/// called, under the bytes of the key as given. So other programs read and write the same data. A list of commands is
/// one pipeline: one round trip for each node that it concerns. What that costs is what the commands cost.
///
/// ```no_run
/// use keyplan_store::structure::{Redis, RedisSettings, StructureRead as _, Structures as _};
///
/// let text = "plan demo; space store { hash sats = \"h:sats\" field any = field: bytes -> raw spread 256; }";
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let settings = RedisSettings::new("redis-cluster://:password@a:6379,b:6379")?
///     .shared_queues("q:")
///     .plan(&plan);
/// let redis = Redis::open(settings)?;
/// redis.hash_set(b"h:sats", b"outpoint", &[0, 0, 0, 0, 0, 0, 0, 1])?;
/// assert_eq!(redis.hash_count(b"h:sats")?, 1);
/// # Ok::<(), keyplan_store::structure::StructureError>(())
/// ```
///
/// # What a server does not do
///
/// | | |
/// |---|---|
/// | a view of one moment | refused: [`Structures::snapshot`](super::Structures::snapshot) |
/// | several commands as one step, by [`apply`](super::Structures::apply) | each command is a step of its own. If one fails, those before it were done, and those after it may have been: [`StructureError::Partly`]. [`apply_if`](super::Structures::apply_if) is one step |
/// | exact scores | refused: scores are floats |
/// | writes that wait for the disk | refused; [`RedisSettings::replicas`] waits for other machines instead |
/// | order of members, fields and keys | they come in any order. One may come twice if the table that holds it shrinks while it is read |
///
/// # Queues
///
/// A step on a queue is a script on the server, so that it is done whole or not at all. Beside the queue's own key there
/// are keys named `{tag}key:keyplan:part` in the same slot, which nobody else may use, and which no scan shows. A queue
/// that another program uses too is declared with [`RedisSettings::shared_queues`].
///
/// # When the connection breaks
///
/// Reads are sent again. Writes are sent again only if they were certainly not done; else the error is
/// [`StructureError::Connection`], and they may or may not have been done. [`RedisSettings::patience`] says for how long.
pub struct Redis {
    client: Client,
}

impl Redis {
    /// Connects. This is not tried again: it fails at once if there is nobody.
    pub fn open(settings: RedisSettings) -> Result<Self, StructureError> {
        Ok(Self { client: Client::open(settings)? })
    }

    /// Connects to what a URL names, with the default settings: see [`RedisSettings`].
    pub fn connect(url: &str) -> Result<Self, StructureError> {
        Self::open(RedisSettings::new(url)?)
    }

    const fn abilities() -> StructureCapabilities {
        StructureCapabilities::least("redis")
    }

    fn settings(&self) -> &RedisSettings {
        self.client.settings()
    }

    /// Refuses a key that is declared to hold something else, or that is not for callers.
    fn check(&self, key: &[u8], kind: Kind) -> Result<(), StructureError> {
        if names::stands_beside(key) || self.settings().spread.whole(key).is_some() {
            return Err(StructureError::Unsupported { name: Self::abilities().name, what: RESERVED });
        }
        match self.declared(key) {
            Some(found) if found != kind => {
                Err(StructureError::WrongKind { key: key.to_vec(), expected: kind, found })
            }
            _ => Ok(()),
        }
    }

    /// The same for a read: what does not exist reads as empty, whatever it is declared to hold.
    fn check_read(&self, key: &[u8], kind: Kind) -> Result<(), StructureError> {
        match self.check(key, kind) {
            Err(StructureError::WrongKind { .. }) if self.kind(key)?.is_none() => Ok(()),
            checked => checked,
        }
    }

    /// What a key is declared to hold.
    fn declared(&self, key: &[u8]) -> Option<Kind> {
        if self.settings().spread.of(key).is_some() {
            Some(Kind::Hash)
        } else if self.is_shared_queue(key) {
            Some(Kind::Queue)
        } else {
            None
        }
    }

    fn is_shared_queue(&self, key: &[u8]) -> bool {
        self.settings().shared_queues.iter().any(|prefix| key.starts_with(prefix))
    }

    fn queue_keys(&self, key: &[u8]) -> QueueKeys {
        QueueKeys::new(key, self.is_shared_queue(key))
    }

    /// One command that reads a key, which is its second word, as a kind of thing.
    fn ask(&self, kind: Kind, words: &[&[u8]]) -> Result<Value, StructureError> {
        let key = words.get(1).copied().unwrap_or_default();
        self.client.read(&Batch::one(words)).map_err(|failure| self.failed(failure, key, kind))
    }

    /// What to report for a command about a key that was used as a kind of thing.
    fn failed(&self, failure: Failure, key: &[u8], expected: Kind) -> StructureError {
        match failure {
            Failure::Server(error) if error.code() == "WRONGTYPE" => match self.holds(key) {
                Ok(Some(found)) if found != expected => {
                    StructureError::WrongKind { key: key.to_vec(), expected, found }
                }
                Ok(_) => StructureError::Refused {
                    what: format!("key 0x{} was no {expected} a moment ago", hex(key)),
                },
                Err(error) => error,
            },
            Failure::Server(error) if is_not_a_number(&error) => StructureError::NotANumber,
            Failure::Server(error) if error.code() == "MOVED" => StructureError::Refused {
                what: "this server is one of a cluster: the scheme of its URL is redis-cluster".to_owned(),
            },
            failure => failure.error(),
        }
    }

    /// What a key holds on the server.
    fn holds(&self, key: &[u8]) -> Result<Option<Kind>, StructureError> {
        let answer = self.client.read(&Batch::one(&[b"TYPE", key])).map_err(Failure::error)?;
        match answer::word(answer)?.as_str() {
            "none" => Ok(None),
            "string" => Ok(Some(Kind::Value)),
            "set" => Ok(Some(Kind::Set)),
            "hash" => Ok(Some(Kind::Hash)),
            "zset" if self.is_shared_queue(key) => Ok(Some(Kind::Queue)),
            "zset" => Ok(Some(Kind::Zset)),
            "list" => {
                let mark = self.client.read(&Batch::one(&[b"LINDEX", key, b"0"])).map_err(Failure::error)?;
                match mark {
                    Value::BulkString(mark) if mark == MARK => Ok(Some(Kind::Queue)),
                    _ => Err(foreign(key, "list")),
                }
            }
            other => Err(foreign(key, other)),
        }
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Redis").field(self.settings()).finish()
    }
}

/// What is under the key of a queue that is not shared.
const MARK: &[u8] = b"keyplan:queue";

const RESERVED: &str = "keys of the form that is used beside a queue or a spread hash";

#[cold]
fn foreign(key: &[u8], kind: &str) -> StructureError {
    StructureError::Refused {
        what: format!("key 0x{} holds a {kind}, which is not a structure of these", hex(key)),
    }
}

fn is_not_a_number(error: &redis::ServerError) -> bool {
    error.details().is_some_and(|details| details.contains("not a number (NaN)"))
}

/// A score as the server reads it. It has no places, and NaN was refused.
fn number(score: SetScore) -> Result<f64, StructureError> {
    match score.checked()? {
        SetScore::Number(number) => Ok(number),
        SetScore::Place(_) => {
            Redis::abilities().need_exact_scores()?;
            Err(StructureError::NotANumber)
        }
    }
}

/// The shortest text that reads back as the number.
fn text(number: f64) -> String {
    format!("{number:e}")
}

/// The ends of a range as the server reads them.
fn ends(range: &ScoreRange) -> Result<(String, String), StructureError> {
    use std::ops::Bound;
    let end = |bound, open: &str| match bound {
        Bound::Included(score) => Ok::<_, StructureError>(text(number(score)?)),
        Bound::Excluded(score) => Ok(format!("({}", text(number(score)?))),
        Bound::Unbounded => Ok(open.to_owned()),
    };
    Ok((end(range.min, "-inf")?, end(range.max, "inf")?))
}

/// Answers that must all be there.
fn all(outcomes: Vec<Outcome>) -> Result<Vec<Value>, (usize, Failure)> {
    let numbered = outcomes.into_iter().enumerate();
    numbered.map(|(at, outcome)| outcome.map_err(|failure| (at, failure))).collect()
}
