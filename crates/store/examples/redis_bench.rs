//! Structures on a Redis server against the same commands by hand, and the server's own figures.
//!
//! ```text
//! cargo run --release -p keyplan-store --features redis --example redis_bench -- [--operations N] [--turns N]
//! ```
//!
//! It starts a server of its own on a free port of this machine, without persistence. There is one client thread, members
//! have 36 bytes, and both sides take short turns, now one first and now the other. Beside them, a loop of the lowest
//! priority keeps each core awake, for on a machine that sleeps between commands a round trip costs several times as much.
//!
//! A line is one measurement as JSON: the operation, one at a time (`batch` 1) or in pipelines of 100, nanoseconds an
//! operation by hand through the `redis` crate in its best turn, and the same for ours, where there is such a command. The
//! ratio of throughputs is the median of those of each turn: what else the machine does meets both sides of a turn. Both read
//! from the same keys: the server grows a hash table bit by bit as it is used, and would look for some members twice in one
//! that was used less.

#[path = "../tests/redis/server.rs"]
mod server;

use std::error::Error;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use keyplan_store::engine::Durability;
use keyplan_store::structure::{
    Command, End, RangeQuery, Redis, ScoreRange, SetScore, StructureRead as _, Structures as _,
};

use crate::server::Server;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How many commands a pipeline has.
const PIPELINE: u64 = 100;

/// How many members there are before anything is measured.
const FILLED: u64 = 500_000;

/// The least that ours may do of what is done by hand.
const GOAL: f64 = 0.95;

struct Bench {
    ours: Redis,
    hand: redis::Connection,
    operations: u64,
    turns: u64,
}

fn main() -> Result<()> {
    let (mut operations, mut turns) = (200, 500);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or("an option lacks its value");
        match argument.as_str() {
            "--operations" => operations = value()?.parse()?,
            "--turns" => turns = value()?.parse()?,
            other => return Err(format!("`{other}` is not an option").into()),
        }
    }
    let server = Server::start(&[])?;
    let url = format!("redis://{}", server.address());
    let _awake: Vec<Awake> = (0..std::thread::available_parallelism()?.get()).map(|_| Awake::new()).collect();
    let ours = Redis::connect(&url)?;
    let hand = redis::Client::open(url)?.get_connection()?;
    // As ours has, and as a program that must not hang would have.
    hand.set_read_timeout(Some(Duration::from_secs(5)))?;
    hand.set_write_timeout(Some(Duration::from_secs(5)))?;
    let mut bench = Bench { ours, hand, operations, turns };
    bench.fill()?;
    bench.hashes()?;
    bench.sets()?;
    bench.zsets()?;
    Ok(())
}

/// A loop of the lowest priority that keeps a core from falling asleep.
struct Awake(Option<Child>);

impl Awake {
    fn new() -> Self {
        let child = std::process::Command::new("nice")
            .args(["-n", "19", "sh", "-c"])
            .arg("while :; do :; done & awake=$!; read -r _; kill -9 $awake")
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        Self(child.ok())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// A member of 36 bytes, as spread as outpoints are.
fn member(at: u64) -> [u8; 36] {
    let mut bytes = [0; 36];
    for (part, chunk) in (0_u64..).zip(bytes.chunks_mut(8)) {
        let mixed =
            at.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        for (to, from) in chunk.iter_mut().zip((mixed ^ (mixed >> 29)).to_be_bytes()) {
            *to = from;
        }
    }
    bytes
}

fn score(at: u64) -> f64 {
    f64::from(u32::try_from(at.wrapping_mul(2_654_435_761) % 1_000_000).unwrap_or_default())
}

/// The members of one step of a side, which begins at a number.
fn members(from: u64, count: u64) -> Vec<[u8; 36]> {
    (from..from + count).map(member).collect()
}

type Ours<'b> = &'b dyn Fn(&Redis, u64) -> Result<()>;
type Hand<'b> = &'b dyn Fn(&mut redis::Connection, u64) -> Result<()>;

impl Bench {
    /// Gives both sides the same members.
    fn fill(&mut self) -> Result<()> {
        for from in (0..FILLED).step_by(1_000) {
            let members = members(from, 1_000);
            let mut pipe = redis::pipe();
            for side in ["ours", "hand"] {
                for (at, member) in (from..).zip(&members) {
                    pipe.cmd("HSET").arg(format!("h:{side}")).arg(member).arg(&[1_u8; 8]).ignore();
                    pipe.cmd("SADD").arg(format!("s:{side}")).arg(member).ignore();
                    pipe.cmd("ZADD").arg(format!("z:{side}")).arg(score(at)).arg(member).ignore();
                }
            }
            pipe.exec(&mut self.hand)?;
        }
        Ok(())
    }

    /// Times both sides in turns. A step is given the number of its first member: new ones if the step adds, or some of
    /// those that are there.
    fn measure(
        &mut self,
        name: &str,
        batch: u64,
        adds: bool,
        ours: Option<Ours<'_>>,
        hand: Hand<'_>,
    ) -> Result<()> {
        let steps = (self.operations / batch).max(1);
        let (mut best_ours, mut best_hand) = (f64::INFINITY, f64::INFINITY);
        let mut ratios = Vec::new();
        for turn in 0..self.turns {
            let first = if adds { FILLED + turn * steps * batch } else { 0 };
            let start_of =
                |step: u64| if adds { first + step * batch } else { step * batch * 7 % (FILLED - batch) };
            let (mut of_ours, mut of_hand) = (f64::INFINITY, f64::INFINITY);
            for side in [turn % 2, (turn + 1) % 2] {
                let start = Instant::now();
                if side == 0 {
                    (0..steps).try_for_each(|step| hand(&mut self.hand, start_of(step)))?;
                    of_hand = start.elapsed().as_secs_f64();
                } else if let Some(ours) = ours {
                    (0..steps).try_for_each(|step| ours(&self.ours, start_of(step)))?;
                    of_ours = start.elapsed().as_secs_f64();
                }
            }
            (best_ours, best_hand) = (best_ours.min(of_ours), best_hand.min(of_hand));
            ratios.push(of_hand / of_ours);
        }
        let nanos =
            |seconds: f64| seconds * 1e9 / f64::from(u32::try_from(steps * batch).unwrap_or(u32::MAX));
        let mut out = std::io::stdout().lock();
        write!(out, "{{\"operation\":\"{name}\",\"batch\":{batch},\"hand_ns\":{:.0}", nanos(best_hand))?;
        if ours.is_some() {
            ratios.sort_by(f64::total_cmp);
            let ratio = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
            write!(out, ",\"ours_ns\":{:.0},\"ratio\":{ratio:.3},\"goal\":{GOAL}", nanos(best_ours))?;
            write!(out, ",\"met\":{}", ratio >= GOAL)?;
        }
        writeln!(out, "}}")?;
        Ok(())
    }

    fn hashes(&mut self) -> Result<()> {
        let value = [2_u8; 8];
        self.measure(
            "hash set",
            1,
            true,
            Some(&|redis, at| Ok(redis.hash_set(b"h:ours", &member(at), &value).map(drop)?)),
            &|hand, at| Ok(redis::cmd("HSET").arg("h:hand").arg(&member(at)).arg(&value).exec(hand)?),
        )?;
        self.measure(
            "hash set",
            PIPELINE,
            true,
            Some(&|redis, at| {
                let members = members(at, PIPELINE);
                let set = |field| Command::HashSet { key: b"h:ours", field, value: &value };
                let commands: Vec<_> = members.iter().map(|member| set(member)).collect();
                Ok(redis.apply(&commands, Durability::Buffer).map(drop)?)
            }),
            &|hand, at| {
                let mut pipe = redis::pipe();
                for member in members(at, PIPELINE) {
                    pipe.cmd("HSET").arg("h:hand").arg(&member).arg(&value);
                }
                Ok(pipe.query::<Vec<i64>>(hand).map(drop)?)
            },
        )?;
        self.measure(
            "hash get",
            1,
            false,
            Some(&|redis, at| Ok(redis.hash_get(b"h:hand", &member(at)).map(drop)?)),
            &|hand, at| {
                Ok(redis::cmd("HGET")
                    .arg("h:hand")
                    .arg(&member(at))
                    .query::<Option<Vec<u8>>>(hand)
                    .map(drop)?)
            },
        )?;
        self.measure(
            "hash get",
            PIPELINE,
            false,
            Some(&|redis, at| {
                let members = members(at, PIPELINE);
                let places: Vec<(&[u8], &[u8])> =
                    members.iter().map(|member| (b"h:hand".as_slice(), member.as_slice())).collect();
                Ok(redis.hash_get_each(&places).map(drop)?)
            }),
            &|hand, at| {
                let mut pipe = redis::pipe();
                for member in members(at, PIPELINE) {
                    pipe.cmd("HGET").arg("h:hand").arg(&member);
                }
                Ok(pipe.query::<Vec<Option<Vec<u8>>>>(hand).map(drop)?)
            },
        )
    }

    fn sets(&mut self) -> Result<()> {
        self.measure(
            "set add",
            1,
            true,
            Some(&|redis, at| Ok(redis.set_add(b"s:ours", &member(at)).map(drop)?)),
            &|hand, at| Ok(redis::cmd("SADD").arg("s:hand").arg(&member(at)).exec(hand)?),
        )?;
        self.measure(
            "set add",
            PIPELINE,
            true,
            Some(&|redis, at| {
                let members = members(at, PIPELINE);
                let commands: Vec<_> =
                    members.iter().map(|member| Command::SetAdd { key: b"s:ours", member }).collect();
                Ok(redis.apply(&commands, Durability::Buffer).map(drop)?)
            }),
            &|hand, at| {
                let mut pipe = redis::pipe();
                for member in members(at, PIPELINE) {
                    pipe.cmd("SADD").arg("s:hand").arg(&member);
                }
                Ok(pipe.query::<Vec<i64>>(hand).map(drop)?)
            },
        )?;
        self.measure(
            "set contains",
            1,
            false,
            Some(&|redis, at| Ok(redis.set_contains(b"s:hand", &member(at)).map(drop)?)),
            &|hand, at| {
                Ok(redis::cmd("SISMEMBER").arg("s:hand").arg(&member(at)).query::<bool>(hand).map(drop)?)
            },
        )?;
        self.measure("set contains", PIPELINE, false, None, &|hand, at| {
            let mut pipe = redis::pipe();
            for member in members(at, PIPELINE) {
                pipe.cmd("SISMEMBER").arg("s:hand").arg(&member);
            }
            Ok(pipe.query::<Vec<bool>>(hand).map(drop)?)
        })?;
        self.measure(
            "set contains many",
            PIPELINE,
            false,
            Some(&|redis, at| {
                let members = members(at, PIPELINE);
                let members: Vec<&[u8]> = members.iter().map(<[u8; 36]>::as_slice).collect();
                Ok(redis.set_contains_many(b"s:hand", &members).map(drop)?)
            }),
            &|hand, at| {
                let mut command = redis::cmd("SMISMEMBER");
                command.arg("s:hand");
                for member in members(at, PIPELINE) {
                    command.arg(&member);
                }
                Ok(command.query::<Vec<bool>>(hand).map(drop)?)
            },
        )
    }

    fn zsets(&mut self) -> Result<()> {
        self.measure(
            "sorted set add",
            1,
            true,
            Some(&|redis, at| {
                Ok(redis.zset_add(b"z:ours", &member(at), SetScore::Number(score(at))).map(drop)?)
            }),
            &|hand, at| Ok(redis::cmd("ZADD").arg("z:hand").arg(score(at)).arg(&member(at)).exec(hand)?),
        )?;
        self.measure(
            "sorted set add",
            PIPELINE,
            true,
            Some(&|redis, at| {
                // Others than those that were added one at a time.
                let at = at + (1 << 32);
                let members = members(at, PIPELINE);
                let add = |(at, member)| Command::ZsetAdd { key: b"z:ours", member, score: score(at).into() };
                let commands: Vec<_> =
                    (at..).zip(members.iter().map(<[u8; 36]>::as_slice)).map(add).collect();
                Ok(redis.apply(&commands, Durability::Buffer).map(drop)?)
            }),
            &|hand, at| {
                let at = at + (1 << 32);
                let mut pipe = redis::pipe();
                for (at, member) in (at..).zip(members(at, PIPELINE)) {
                    pipe.cmd("ZADD").arg("z:hand").arg(score(at)).arg(&member);
                }
                Ok(pipe.query::<Vec<i64>>(hand).map(drop)?)
            },
        )?;
        self.range()?;
        self.measure(
            "pop the first",
            1,
            false,
            Some(&|redis, _| Ok(redis.zset_pop(b"z:ours", End::Min, 1).map(drop)?)),
            &|hand, _| {
                Ok(redis::cmd("ZPOPMIN").arg("z:hand").arg(1).query::<Vec<(Vec<u8>, f64)>>(hand).map(drop)?)
            },
        )?;
        self.measure(
            "pop the first",
            PIPELINE,
            false,
            Some(&|redis, _| {
                let pop = Command::ZsetPop { key: b"z:ours", end: End::Min, count: 1 };
                let commands = vec![pop; usize::try_from(PIPELINE)?];
                Ok(redis.apply(&commands, Durability::Buffer).map(drop)?)
            }),
            &|hand, _| {
                let mut pipe = redis::pipe();
                for _ in 0..PIPELINE {
                    pipe.cmd("ZPOPMIN").arg("z:hand").arg(1);
                }
                Ok(pipe.query::<Vec<Vec<(Vec<u8>, f64)>>>(hand).map(drop)?)
            },
        )
    }

    /// A hundred members by score: ten times as few, for each is a hundred rows.
    fn range(&mut self) -> Result<()> {
        let operations = self.operations;
        self.operations = (operations / 10).max(1);
        self.measure(
            "range of 100",
            1,
            false,
            Some(&|redis, at| {
                let query = RangeQuery {
                    scores: ScoreRange::from(score(at)),
                    limit: Some(100),
                    ..RangeQuery::default()
                };
                Ok(redis.zset_range(b"z:hand", &query).map(drop)?)
            }),
            &|hand, at| {
                let mut range = redis::cmd("ZRANGEBYSCORE");
                range.arg("z:hand").arg(score(at)).arg("+inf").arg("WITHSCORES").arg("LIMIT").arg(0).arg(100);
                Ok(range.query::<Vec<(Vec<u8>, f64)>>(hand).map(drop)?)
            },
        )?;
        self.measure("range of 100", PIPELINE, false, None, &|hand, at| {
            let mut pipe = redis::pipe();
            for at in at..at + PIPELINE {
                let range = pipe.cmd("ZRANGEBYSCORE");
                range.arg("z:hand").arg(score(at)).arg("+inf").arg("WITHSCORES").arg("LIMIT").arg(0).arg(100);
            }
            Ok(pipe.query::<Vec<Vec<(Vec<u8>, f64)>>>(hand).map(drop)?)
        })?;
        self.operations = operations;
        Ok(())
    }
}
