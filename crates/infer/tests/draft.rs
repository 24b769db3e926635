//! Known plans are recognised, and hostile keys get a draft that explains them.
#![cfg(test)]

use std::ops::ControlFlow;

use keyplan_infer::{InferError, Inference, Options, infer, known_plans};
use keyplan_plan::dynamic::{Value, encode};
use keyplan_store::engine::{Batch, Durability, Engine, Memory, Space};
use keyplan_store::source::EngineSource;

/// A source of one space.
fn source(space: &str, rows: &[(Vec<u8>, Vec<u8>)]) -> EngineSource<Memory> {
    let mut engine = Memory::new();
    let id = engine.create_space(&Space::map(space)).expect("made");
    let mut batch = Batch::new();
    for (key, value) in rows {
        batch.put(id, key.clone(), value.clone());
    }
    engine.commit(batch, Durability::Buffer).expect("committed");
    EngineSource::new(engine)
}

fn inferred(keys: &[Vec<u8>], options: &Options) -> Inference {
    let rows: Vec<_> = keys.iter().map(|key| (key.clone(), Vec::new())).collect();
    infer(&source("s", &rows), options, |_| ControlFlow::Continue(())).expect("an answer")
}

/// The families of a draft, as they are written.
fn families(keys: &[Vec<u8>]) -> Vec<String> {
    let found = inferred(keys, &Options::default().draft(true));
    let draft = found.draft.expect("drafted");
    assert_eq!(draft.explained_keys(), draft.keys());
    let lines = draft.text.lines().map(str::trim).filter(|line| line.starts_with("key "));
    lines.map(|line| line.split_once(" = ").map_or("", |(_, layout)| layout).to_owned()).collect()
}

#[test]
fn a_store_of_osmosis_is_recognised() {
    let known = known_plans();
    let osmosis = known.iter().find(|known| known.path == "plans/osmosis_cl.keyplan").expect("there");
    let mut keys = Vec::new();
    for pool in 1..40_u128 {
        for (family, values) in [
            ("tick", vec![Value::Unsigned(pool), Value::Signed(-100)]),
            ("pool", vec![Value::Unsigned(pool)]),
            ("pool_position", vec![Value::Unsigned(pool), Value::Unsigned(pool * 3)]),
            ("acc_uptime", vec![Value::Unsigned(pool), Value::Unsigned(2)]),
        ] {
            let mut key = Vec::new();
            encode(&osmosis.plan.find(family)[0].1.key, &values, &mut key).expect("encoded");
            keys.push(key);
        }
    }
    let found = inferred(&keys, &Options::default());
    let best = &found.known[0];
    assert_eq!((best.plan.as_str(), best.share, found.draft.is_none()), ("osmosis_cl", 1.0, true));
    let space = &best.spaces[0];
    assert_eq!((space.space.as_str(), space.tried, space.explained, space.families), ("cl", 156, 156, 4));
}

#[test]
fn a_wildcard_is_no_plan_that_fits() {
    // `bare` of the plan for contracts reads any key at all, and foretells nothing.
    let keys: Vec<Vec<u8>> =
        (0..50_u32).map(|n| (n.wrapping_mul(2_654_435_761)).to_be_bytes().to_vec()).collect();
    assert_eq!(inferred(&keys, &Options::default()).known, []);
}

#[test]
fn the_same_rows_give_the_same_draft() {
    let keys: Vec<Vec<u8>> = (0..300_u32).map(|n| format!("k{}/{}", n % 7, n * n).into_bytes()).collect();
    let options = Options::default().draft(true);
    assert_eq!(inferred(&keys, &options), inferred(&keys, &options));
}

#[test]
fn numbers_texts_and_hashes_are_told() {
    let mut keys = Vec::new();
    for n in 1..80_u64 {
        keys.push([&[1][..], &n.to_be_bytes()].concat());
        let mut little = u32::try_from(n).expect("small").to_be_bytes();
        little.reverse();
        keys.push([&[2][..], &little, &(n * 5).to_be_bytes()].concat());
        keys.push([&[3][..], format!("user{:05}", n * 3).as_bytes()].concat());
    }
    assert_eq!(
        families(&keys),
        [
            "0x01 number: u64;",
            "0x02 number: u32.le number_2: u64;",
            "0x03 \"user\" number: u64(0..=99999).dec(5);",
        ]
    );
}

#[test]
fn values_are_guessed_when_asked_for() {
    let rows: Vec<(Vec<u8>, Vec<u8>)> = (1..40_u64)
        .map(|n| ([&[9][..], &n.to_be_bytes()].concat(), format!("{{\"n\":{n}}}").into_bytes()))
        .collect();
    let options = Options::default().values(true);
    let found = infer(&source("s", &rows), &options, |_| ControlFlow::Continue(())).expect("an answer");
    let draft = found.draft.expect("drafted");
    assert!(draft.text.contains("key k_09 = 0x09 number: u64\n        -> json;"), "{}", draft.text);
}

#[test]
fn hostile_keys_get_a_draft_that_explains_them() {
    let sets: Vec<Vec<Vec<u8>>> = vec![
        vec![vec![]],
        vec![vec![0xff]],
        vec![vec![], vec![0], vec![0, 0]],
        (0..=255).map(|byte| vec![byte]).collect(),
        (0..200).map(|len| vec![0; len]).collect(),
        (0..200).map(|len| vec![b'/'; len]).collect(),
        (0..100_u8).map(|n| [&b"\"\\^-\x00\x1b]0;"[..], &[n]].concat()).collect(),
        (0..60).map(|n| "é".repeat(n).into_bytes()).collect(),
        (0..50_u8).map(|n| [vec![n % 3; 4_000], vec![n]].concat()).collect(),
    ];
    for keys in sets {
        let found = inferred(&keys, &Options::default().draft(true));
        let draft = found.draft.expect("drafted");
        let count = u64::try_from(keys.len()).expect("small");
        assert_eq!((draft.explained_keys(), draft.keys()), (count, count), "{}", draft.text);
    }
}

#[test]
fn what_cannot_be_drafted_is_said() {
    let none = infer(&source("s", &[]), &Options::default(), |_| ControlFlow::Continue(()));
    assert!(matches!(none, Err(InferError::Empty)), "{none:?}");
    let options = Options::default().space(Some("t".to_owned()));
    let error = infer(&source("s", &[(vec![1], vec![])]), &options, |_| ControlFlow::Continue(()));
    assert_eq!(error.expect_err("refused").to_string(), "there is no space `t`; there are: s");
    // What is longer than anything that is looked at is counted and named.
    let rows = [(vec![1, 2], vec![]), (vec![7; 5_000], vec![])];
    let options = Options::default().draft(true);
    let found = infer(&source("s", &rows), &options, |_| ControlFlow::Continue(())).expect("an answer");
    let draft = found.draft.expect("drafted");
    assert_eq!((draft.explained_keys(), draft.keys()), (1, 2));
    assert_eq!(draft.not_looked_at, ["1 key of space `s` of more than 4096 bytes"]);
}

/// A node has stores of many modules: each is recognised by itself, and the others are drafted.
#[test]
fn spaces_that_a_known_plan_fits_are_recognised_beside_others() {
    let known = known_plans();
    let osmosis =
        known.iter().find(|known| known.path == "plans/upstream/osmosis_cl.keyplan").expect("there");
    let mut engine = Memory::new();
    let pools = engine.create_space(&Space::map("concentratedliquidity")).expect("made");
    let other = engine.create_space(&Space::map("bank")).expect("made");
    let mut batch = Batch::new();
    for pool in 1..40_u128 {
        let mut key = Vec::new();
        encode(&osmosis.plan.find("pool")[0].1.key, &[Value::Unsigned(pool)], &mut key).expect("encoded");
        batch.put(pools, key, Vec::new());
        batch.put(other, format!("balance/{pool:03}/atom").into_bytes(), Vec::new());
    }
    engine.commit(batch, Durability::Buffer).expect("committed");
    let source = EngineSource::new(engine);
    let found = infer(&source, &Options::default(), |_| ControlFlow::Continue(())).expect("an answer");
    let named: Vec<_> = found.known.iter().map(|fit| (fit.plan.as_str(), fit.in_part, fit.share)).collect();
    assert_eq!(named, [("osmosis_cl_upstream", true, 1.0)]);
    assert_eq!(found.known[0].spaces[0].source_space, "concentratedliquidity");
    let spaces = |found: &Inference| -> Vec<String> {
        let draft = found.draft.as_ref().expect("drafted");
        let mut spaces: Vec<String> = draft.spaces.iter().map(|space| space.source_space.clone()).collect();
        spaces.sort_unstable();
        spaces
    };
    assert_eq!(spaces(&found), ["bank"]);
    let all =
        infer(&source, &Options::default().draft(true), |_| ControlFlow::Continue(())).expect("an answer");
    assert_eq!(spaces(&all), ["bank", "concentratedliquidity"]);
}
