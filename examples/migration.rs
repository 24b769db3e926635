//! A database whose keys are rewritten under the next plan, proved before a row is touched.

use std::error::Error;
use std::path::Path;

use keyplan::store::engine::{Durability, Engine as _, Fjall, FjallSettings};
use keyplan::store::raw::migrate::{Attached, Migration, Step};
use keyplan::store::{MapRows as _, Read as _, Store};
use keyplan::typed::PlanText;
use keyplan_plan::Compiled;
use keyplan_prover::{Options, prove_migration};

/// The plan of the first release: pools as decimal text, which do not sort as numbers.
mod v1 {
    keyplan::plan! {
        plan bank;

        space state {
            key balance = "b/" pool: u64.dec "/" owner: bytes(20) -> amount: u64
                scan by pool;
        }
    }
}

/// The plan of the next one.
mod v2 {
    keyplan::plan! {
        plan bank;

        space state {
            key balance = 0x01 pool: u64 owner: bytes(20) -> amount: u64
                scan all in order
                scan by pool in order;
        }
    }
}

/// And one in which amounts are cents, which only the program knows how to make.
mod v3 {
    keyplan::plan! {
        plan bank;

        space state {
            key balance = 0x02 pool: u64 owner: bytes(20) -> amount: u64
                scan all in order
                from state.balance;
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    fill(directory.path())?;

    let (old, new) = (compiled(&v1::bank::PLAN), compiled(&v2::bank::PLAN));
    let (Some(before), Some(after)) = (&old.plan, &new.plan) else {
        return Err("a plan has mistakes".into());
    };
    let proof = prove_migration(before, after, &Options::default());
    assert_eq!(proof.blockers().count(), 0, "every row has one new key, and no two have the same");

    // Each step is one batch: a program that ends in the middle goes on where it was.
    let migration = Migration::between(&old, &new, proof.mapping)?;
    let engine = Fjall::open(directory.path(), FjallSettings::default())?;
    let Attached::Ready(mut running) = migration.attach(engine)? else { return Err("it is done".into()) };
    let survey = running.survey(|_| ())?;
    println!("{} rows are to be written anew", survey.moved());
    running.begin(&survey, false)?;
    while running.step(100)? != Step::Finished {}
    let engine = running.into_engine();
    engine.sync()?;
    drop(engine);

    let store = Store::open(directory.path(), &v2::bank::PLAN)?;
    let mut pools = Vec::new();
    store.snapshot()?.scan(v2::bank::state::Balance::all()).each(|balance, value| {
        assert_eq!(value.amount, balance.pool * 10);
        pools.push(balance.pool);
    })?;
    assert!(pools.is_sorted() && pools.len() == 1000);
    println!("{} rows are there, in the order of their pools", pools.len());
    drop(store);
    by_function(directory.path())
}

/// The next migration: a function of the program makes the rows, by their types.
fn by_function(directory: &Path) -> Result<(), Box<dyn Error>> {
    let (old, new) = (compiled(&v2::bank::PLAN), compiled(&v3::bank::PLAN));
    let (Some(before), Some(after)) = (&old.plan, &new.plan) else {
        return Err("a plan has mistakes".into());
    };
    let proof = prove_migration(before, after, &Options::default());
    let mut migration = Migration::between(&old, &new, proof.mapping)?;
    migration.map::<v2::bank::state::Balance, v3::bank::state::Balance>(|key, value, row| {
        let new = v3::bank::state::Balance { pool: key.pool, owner: key.owner };
        row.put(&new, &v3::bank::state::BalanceValue { amount: value.amount * 100 })
    })?;
    let engine = Fjall::open(directory, FjallSettings::default())?;
    let Attached::Ready(mut running) = migration.attach(engine)? else { return Err("it is done".into()) };
    let survey = running.survey(|_| ())?;
    running.begin(&survey, false)?;
    while running.step(100)? != Step::Finished {}
    drop(running);
    let store = Store::open(directory, &v3::bank::PLAN)?;
    store.snapshot()?.scan(v3::bank::state::Balance::all()).each(|balance, value| {
        assert_eq!(value.amount, balance.pool * 1000);
    })?;
    println!("values were made anew by a function of the program");
    Ok(())
}

fn fill(directory: &Path) -> Result<(), Box<dyn Error>> {
    let store = Store::open(directory, &v1::bank::PLAN)?;
    let mut batch = store.batch()?;
    for pool in 0..1000 {
        let key = v1::bank::state::Balance { pool, owner: [7; 20] };
        batch.put(&key, &v1::bank::state::BalanceValue { amount: pool * 10 })?;
    }
    batch.commit(Durability::SyncData)?;
    Ok(())
}

/// The plan that types were made of.
fn compiled(plan: &PlanText) -> Compiled {
    let (name, text) = plan.files.first().copied().unwrap_or_default();
    keyplan_plan::compile(name, text, |_| Err("it imports nothing".to_owned()))
}
