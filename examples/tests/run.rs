//! Every program runs, and what it asserts holds.
#![cfg(test)]

#[path = "../cardano_follower.rs"]
mod cardano_follower;
#[path = "../collections.rs"]
mod collections;
#[path = "../explain_key.rs"]
mod explain_key;
#[path = "../migration.rs"]
mod migration;
#[path = "../queue_workers.rs"]
mod queue_workers;
#[path = "../readme.rs"]
mod readme;
#[path = "../typed_store.rs"]
mod typed_store;

#[test]
fn a_database_by_typed_keys() {
    typed_store::main().unwrap();
}

#[test]
fn rows_with_indexes() {
    collections::main().unwrap();
}

#[test]
fn two_workers_on_a_queue() {
    queue_workers::main().unwrap();
}

#[test]
fn a_key_of_a_real_chain() {
    explain_key::main().unwrap();
}

#[test]
fn a_chain_with_a_rollback() {
    cardano_follower::main().unwrap();
}

#[test]
fn a_database_that_is_carried_to_the_next_plan() {
    migration::main().unwrap();
}

#[test]
fn the_readme_shows_lines_of_a_program_that_runs() {
    readme::main().unwrap();
    let page = include_str!("../../README.md");
    let block = page.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    let mut program = include_str!("../readme.rs").lines().map(str::trim);
    for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert!(
            program.any(|found| found == line),
            "`{line}` of README.md is not in examples/readme.rs, in this order"
        );
    }
}
