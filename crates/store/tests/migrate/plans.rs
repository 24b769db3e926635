//! The migrations of the repository's plans, each row compared with one that was encoded by hand.
//!
//! There are 100,000 rows per database; `KEYPLAN_MIGRATION_ROWS` asks for more.

use keyplan_store::engine::{Batch, Durability, Engine, Fjall, FjallSettings, Memory, Redb, RedbSettings};
use keyplan_store::migrate::{ASIDE_SPACE, Migration, MigrationError, Step, read_aside, visit_parked};
use keyplan_store::{Schema, Store};

use crate::rows::fill;
use crate::support::{Rows, attach, folder, plan, prove, rows, run, text};

pub(crate) fn count() -> u64 {
    std::env::var("KEYPLAN_MIGRATION_ROWS").map_or(100_000, |rows| rows.parse().unwrap())
}

/// Rows before, rows after, and keys that are set aside.
#[derive(Default)]
struct Case {
    before: Rows,
    after: Rows,
    aside: Vec<(String, Vec<u8>)>,
}

impl Case {
    fn moved(&mut self, from: (&str, Vec<u8>), to: (&str, Vec<u8>), value: &[u8]) {
        self.before.insert((from.0.to_owned(), from.1), value.to_vec());
        self.after.insert((to.0.to_owned(), to.1), value.to_vec());
    }

    fn kept(&mut self, space: &str, key: Vec<u8>, value: &[u8]) {
        self.moved((space, key.clone()), (space, key), value);
    }

    fn parked(&mut self, space: &str, key: Vec<u8>, value: &[u8]) {
        self.aside.push((space.to_owned(), key.clone()));
        self.before.insert((space.to_owned(), key), value.to_vec());
    }
}

/// Carries a case over on one engine, forth, and looks at every row.
fn check<E: Engine>(engine: &dyn Fn() -> E, plans: (&str, &str), case: &Case) {
    let (old, new) = (plan(plans.0, &text(plans.0)), plan(plans.1, &text(plans.1)));
    fill(engine(), &old, &case.before);
    let proof = prove(&old, &new);
    let migration = Migration::between(&old, &new, proof.mapping).unwrap();
    let mut running = attach(&migration, engine());
    let survey = running.survey(|_| ()).unwrap();
    assert_eq!(survey.rows, u64::try_from(case.before.len()).unwrap());
    assert_eq!(survey.aside(), u64::try_from(case.aside.len()).unwrap(), "{:?}", survey.problems);
    running.begin(&survey, false).unwrap();
    assert_eq!(run(&mut running, 3_000).0, Step::Finished);
    drop(running);
    // It opens with the new plan, and with no other.
    let store = Store::open(engine(), &Schema::of(&new).unwrap()).unwrap();
    let mut found = rows(store.engine());
    let mut aside = Vec::new();
    found.retain(|(space, key), value| {
        if space == ASIDE_SPACE {
            let parked = read_aside(key, value).unwrap();
            aside.push((parked.space.to_owned(), parked.key.to_vec()));
        }
        space != ASIDE_SPACE
    });
    aside.sort();
    let mut expected = case.aside.clone();
    expected.sort();
    assert_eq!(aside, expected);
    assert!(found == case.after, "{} rows found, {} expected", found.len(), case.after.len());
}

fn on_fjall(name: &str, plans: (&str, &str), case: &Case) {
    let folder = folder(name);
    check(&|| Fjall::open(&folder, FjallSettings::default()).unwrap(), plans, case);
}

fn on_redb(name: &str, plans: (&str, &str), case: &Case) {
    let folder = folder(name);
    check(&|| Redb::open(&folder, RedbSettings::default()).unwrap(), plans, case);
}

/// Bytes that look like any others, and are the same each time.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

/// Bech32 as BIP 173 has it, written down here a second time.
fn bech32(prefix: &str, data: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let mut five = Vec::new();
    let (mut bits, mut left) = (0_u32, 0);
    for &byte in data {
        bits = bits << 8 | u32::from(byte);
        left += 8;
        while left >= 5 {
            left -= 5;
            five.push(bits >> left & 31);
        }
        bits &= (1 << left) - 1;
    }
    if left > 0 {
        five.push(bits << (5 - left) & 31);
    }
    let mut check = 1_u32;
    let mut take = |value: u32| {
        let top = check >> 25;
        check = (check & 0x01ff_ffff) << 5 ^ value;
        for (index, generator) in GENERATOR.iter().enumerate() {
            if top >> index & 1 == 1 {
                check ^= generator;
            }
        }
    };
    prefix.bytes().for_each(|byte| take(u32::from(byte) >> 5));
    take(0);
    prefix.bytes().for_each(|byte| take(u32::from(byte) & 31));
    for value in five.iter().copied().chain([0; 6]) {
        take(value);
    }
    let check = check ^ 1;
    let sum = (0..6).map(|index| check >> (5 * (5 - index)) & 31);
    let letters: String = five
        .iter()
        .copied()
        .chain(sum)
        .map(|value| char::from(LETTERS[usize::try_from(value).unwrap()]))
        .collect();
    format!("{prefix}1{letters}")
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").unwrap();
        out
    })
}

fn osmosis() -> Case {
    let mut case = Case::default();
    for n in 0..count() / 5 {
        let pool = n % 50;
        let tick = i64::try_from(n).unwrap() - 1_000;
        let sign = if tick < 0 { 5 } else { 6 };
        let key = [&[1][..], &pool.to_be_bytes(), &[sign], &tick.to_be_bytes()].concat();
        case.kept("cl", key, &noise(n, 12));
        let address = noise(n / 3, if n % 4 == 0 { 32 } else { 20 });
        let rest = format!("/{pool}/{n}");
        let old = [b"\x02/", hex(&address).as_bytes(), rest.as_bytes()].concat();
        let new = [b"\x02/", bech32("osmo", &address).as_bytes(), rest.as_bytes()].concat();
        case.moved(("cl", old), ("cl", new), &[1]);
        case.kept("cl", format!("\x08{n}").into_bytes(), &noise(n, 40));
        for accumulator in [format!("acc/\x0b/{n}"), format!("pos/\x0c/{pool}/{}||\x08{n}", n % 6)] {
            let old = format!("accum/{accumulator}").into_bytes();
            case.moved(("cl", old), ("accum", accumulator.into_bytes()), &noise(n, 30));
        }
    }
    case
}

const OSMOSIS: (&str, &str) = ("plans/osmosis_cl.keyplan", "plans/evolve/osmosis_cl_v2.keyplan");

#[test]
fn osmosis_has_bech32_owners_and_accumulators_in_a_space_of_their_own() {
    let case = osmosis();
    on_fjall("osmosis-fjall", OSMOSIS, &case);
    on_redb("osmosis-redb", OSMOSIS, &case);
}

#[test]
fn paw_has_pairs_and_nonces_that_tell_their_arguments() {
    let mut case = Case::default();
    for n in 0..count() / 4 {
        case.kept("state", [&[2, 1][..], &n.to_be_bytes()].concat(), &noise(n, 20));
        let fee = [&[2, 9][..], &n.to_be_bytes(), b"upaw"].concat();
        case.kept("state", fee, &noise(n, 8));
        for (module, old, new) in [(1, 0x28, 0x20), (3, 0x0d, 0x20)] {
            // A sender may have slashes; a channel cannot.
            let channel = format!("channel-{n}");
            let sender = format!("paw1{}/transfer", hex(&noise(n, 4)));
            let before = [&[module, old][..], channel.as_bytes(), b"/", sender.as_bytes()].concat();
            let length = u8::try_from(channel.len()).unwrap();
            let after = [&[module, new, length][..], channel.as_bytes(), sender.as_bytes()].concat();
            case.moved(("state", before), ("state", after), &n.to_be_bytes());
        }
    }
    // Nothing tells where the first token ends; and a denomination that the chain does not admit has no new key.
    case.parked("state", b"\x02\x03upawuusdc".to_vec(), &7_u64.to_be_bytes());
    case.parked("state", b"\x03\x02u!".to_vec(), b"price");
    on_fjall("paw-fjall", ("plans/paw.keyplan", "plans/paw_v2.keyplan"), &case);
}

#[test]
fn dolos_has_one_keyspace_for_all_kinds() {
    // The hashes of their names are those that Dolos' own program writes, as in its vectors.
    let kinds: [(&str, u64); 8] = [
        ("accounts", 0x138a_7b25_414c_083a),
        ("account-epochs", 0xd800_77e8_e0a2_2268),
        ("pools", 0x9fa7_4102_97c3_84fb),
        ("epochs", 0xaa95_6822_c555_e8cd),
        ("dreps", 0x11e6_99e0_1573_7391),
        ("gov", 0x7606_5d2c_74ac_c84d),
        ("stakes", 0xaeeb_d4ef_5ff6_c129),
        ("pending_rewards", 0xc085_dcc7_1203_8f08),
    ];
    let mut case = Case::default();
    let cursor = [&[1, 0, 0, 0][..], &[9, 0, 0, 0, 0, 0, 0, 0]].concat();
    case.kept("state-cursor", vec![0], &cursor);
    let each = u64::try_from(kinds.len()).unwrap() + 1;
    for n in 0..count() / each {
        let utxo = [noise(n, 32), 3_u32.to_be_bytes().to_vec()].concat();
        case.kept("state-utxos", utxo, &[&[0, 6][..], &noise(n, 30)].concat());
        for (kind, hash) in kinds {
            let key = noise(n ^ 0xffff, 32);
            let new = [&hash.to_be_bytes()[..], &key].concat();
            let space = format!("state-{kind}");
            case.moved((&space, key), ("state-entities", new), &noise(n, 25));
        }
    }
    on_fjall("dolos-fjall", ("plans/evolve/dolos_kinds.keyplan", "plans/cardano_store.keyplan"), &case);
}

#[test]
fn a_map_of_a_contract_gains_a_component() {
    let mut case = Case::default();
    case.kept("contract", b"config".to_vec(), b"{}");
    for n in 0..count() {
        let account = bech32("osmo", &noise(n, 20));
        let old = [b"\x00\x08balances", account.as_bytes()].concat();
        let new = [b"\x00\x08balances\x00\x05uosmo", account.as_bytes()].concat();
        case.moved(("contract", old), ("contract", new), format!("\"{n}\"").as_bytes());
    }
    let plans = ("plans/evolve/cw_balances.keyplan", "plans/evolve/cw_balances_v2.keyplan");
    on_redb("contract-redb", plans, &case);
    on_fjall("contract-fjall", plans, &case);
}

#[test]
fn a_copy_has_the_same_rows_on_another_engine() {
    let case = osmosis();
    let (old, new) = (plan(OSMOSIS.0, &text(OSMOSIS.0)), plan(OSMOSIS.1, &text(OSMOSIS.1)));
    let (from, to) = (folder("copy-from"), folder("copy-to"));
    fill(Fjall::open(&from, FjallSettings::default()).unwrap(), &old, &case.before);
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let source = Fjall::open(&from, FjallSettings::default()).unwrap();
    let survey = migration.survey_of(&source, |_| ()).unwrap();
    let store = migration.create_copy(Redb::open(&to, RedbSettings::default()).unwrap()).unwrap();
    assert_eq!(migration.copy(&source, &store, false, |_| ()).unwrap(), survey);
    assert!(rows(store.engine()) == case.after);
    assert!(rows(&source) == case.before);
}

#[test]
fn a_copy_is_refused_before_a_row_is_written_if_one_has_no_new_key() {
    let (old, new) = (plan(OSMOSIS.0, &text(OSMOSIS.0)), plan(OSMOSIS.1, &text(OSMOSIS.1)));
    let source = Memory::new();
    fill(source.clone(), &old, &osmosis().before);
    let (space, mut batch) = (source.space("cl").unwrap(), Batch::<Memory>::new());
    // No family's: one among the first rows, and one after the last.
    batch.put(space, vec![0], vec![1]);
    batch.put(space, vec![0xff; 9], vec![1]);
    source.commit(batch, Durability::Buffer).unwrap();
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let survey = migration.survey_of(&source, |_| ()).unwrap();
    assert_eq!(survey.open_rows(), 2);
    let store = migration.create_copy(Memory::new()).unwrap();
    let begun = rows(store.engine());
    let refused = migration.copy(&source, &store, false, |_| ()).unwrap_err();
    assert!(matches!(refused, MigrationError::Unfit { rows: 2 }), "{refused}");
    assert!(rows(store.engine()) == begun);
    assert!(migration.is_unfinished_copy(store.engine()).unwrap());
    // Set aside, they are not an obstacle.
    assert_eq!(migration.copy(&source, &store, true, |_| ()).unwrap(), survey);
    assert_eq!(visit_parked(store.engine(), |_| ()).unwrap(), 2);
}
