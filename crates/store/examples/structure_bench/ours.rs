use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use keyplan_store::engine::{Durability, Engine, Fjall, FjallSettings};
use keyplan_store::structure::{
    Command, Embedded, End, RangeQuery, ScoreRange, SetScore, StructureRead as _, Structures as _,
};
use keyplan_store::{Schema, Store};

use crate::Result;
use crate::data::{HASH, Operation, SET, Side, ZSET, member, score};

pub(crate) struct Ours(Embedded<Fjall>);

/// Structures in a space called `things`.
pub(crate) fn open<E: Engine>(engine: E) -> Result<Embedded<E>> {
    let text = "plan bench; space things { hash thing = key: bytes field any = field: bytes -> raw; }";
    let compiled = keyplan_plan::compile("bench.keyplan", text, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).ok_or("the plan does not compile")?;
    Ok(Embedded::open(Arc::new(Store::open_or_create(engine, &schema)?), "things")?)
}

impl Ours {
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        Ok(Self(open(Fjall::open(directory, FjallSettings::default())?)?))
    }

    /// Closes the store and opens it again. A compaction that is under way holds it for a while.
    pub(crate) fn reopen(self, directory: &Path) -> Result<Self> {
        let limit = Duration::from_mins(1);
        self.0.store().shutdown(limit)?;
        drop(self);
        let begun = Instant::now();
        loop {
            match Self::open(directory) {
                Err(_) if begun.elapsed() < limit => std::thread::sleep(Duration::from_millis(50)),
                opened => return opened,
            }
        }
    }
}

fn command(operation: Operation, number: usize, member: &[u8]) -> Command<'_> {
    match operation {
        Operation::HashSet | Operation::HashGet => {
            Command::HashSet { key: HASH, field: member, value: &[0; 8] }
        }
        Operation::SetAdd | Operation::SetContains => Command::SetAdd { key: SET, member },
        Operation::ZsetAdd => Command::ZsetAdd { key: ZSET, member, score: SetScore::Number(score(number)) },
    }
}

impl Side for Ours {
    fn one(&mut self, operation: Operation, number: usize) -> Result<()> {
        let member = operation.member(number);
        match operation {
            Operation::HashGet => drop(black_box(self.0.hash_get(HASH, &member)?)),
            Operation::SetContains => {
                black_box(self.0.set_contains(SET, &member)?);
            }
            write => drop(black_box(self.0.apply_one(command(write, number, &member))?)),
        }
        Ok(())
    }

    fn batch(&mut self, operation: Operation, first: usize) -> Result<()> {
        let members: Vec<[u8; 36]> = (first..first + 100).map(member).collect();
        let commands: Vec<Command<'_>> =
            (first..).zip(&members).map(|(n, member)| command(operation, n, member)).collect();
        self.0.apply(&commands, Durability::Buffer)?;
        Ok(())
    }

    fn range(&mut self, number: usize) -> Result<()> {
        let scores = ScoreRange::from(score(number));
        let query = RangeQuery { scores, limit: Some(100), ..RangeQuery::default() };
        black_box(self.0.zset_range(ZSET, &query)?);
        Ok(())
    }

    fn pop(&mut self) -> Result<()> {
        black_box(self.0.zset_pop(ZSET, End::Min, 1)?);
        Ok(())
    }
}
