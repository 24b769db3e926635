//! The rows are those of `plans/structures.keyplan`.

use std::sync::Arc;
use std::time::Duration;

use keyplan_codec::Score;
use keyplan_plan::Compiled;
use keyplan_plan::dynamic::{Value, encode, readings};
use keyplan_store::Store;
use keyplan_store::engine::{KeyRange, Memory};
use keyplan_store::structure::{
    Claim, Embedded, End, Kind, Now, SetScore, StructureRead as _, StructureRow, Structures,
};

use crate::embedded::schema;

fn plan() -> Compiled {
    let text = include_str!("../../../../plans/structures.keyplan");
    keyplan_plan::compile("structures.keyplan", text, |_| Err("no imports".into()))
}

fn rows(structures: &Embedded<Memory>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let snapshot = structures.store().snapshot().unwrap();
    let rows = snapshot.range(structures.space(), KeyRange::ALL).unwrap();
    rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

const fn uint(number: u128) -> Value {
    Value::Unsigned(number)
}

/// A row as the plan says it: the family, its arguments, the arguments of its value.
struct Said<'p>(&'p Compiled, Vec<(Vec<u8>, Vec<u8>)>);

impl Said<'_> {
    fn row(&mut self, family: &str, key: &[Value], value: &[Value]) {
        let plan = self.0.plan.as_ref().unwrap();
        let family = plan.find(family)[0].1;
        let (mut key_bytes, mut value_bytes) = (Vec::new(), Vec::new());
        encode(&family.key, key, &mut key_bytes).unwrap();
        encode(family.value.as_ref().unwrap(), value, &mut value_bytes).unwrap();
        self.1.push((key_bytes, value_bytes));
    }
}

fn filled() -> Embedded<Memory> {
    let store = Store::create(Memory::new(), &schema()).unwrap();
    let structures = Embedded::open(Arc::new(store), "things").unwrap();
    structures.put(b"", b"value").unwrap();
    structures.set_add(b"s", b"").unwrap();
    structures.set_add(b"s", &[0, 0xff]).unwrap();
    structures.hash_set(&[7; 200], b"f", b"v").unwrap();
    for (member, score) in [(b"a", -0.0), (b"b", f64::NEG_INFINITY), (b"c", 2.5)] {
        structures.zset_add(b"z", member, SetScore::Number(score)).unwrap();
    }
    structures.zset_pop(b"z", End::Min, 1).unwrap();
    structures.zset_add(b"p", b"m", SetScore::unconfirmed(1_703_097_600, 123_456_789)).unwrap();
    for member in [b"1", b"2", b"3", b"4"] {
        structures.queue_push(b"q", member, SetScore::confirmed(850_000, 7)).unwrap();
    }
    let claim = Claim::new(3, Duration::from_millis(100)).at(Now::Millis(1_000));
    structures.queue_claim(b"q", claim).unwrap();
    structures.queue_bury(b"q", b"1", 1).unwrap();
    structures.queue_acknowledge(b"q", b"2", 1).unwrap();
    structures.queue_push(b"q", b"3", SetScore::confirmed(850_000, 8)).unwrap();
    structures
}

#[test]
fn every_row_has_the_bytes_that_the_plan_gives_it() {
    let compiled = plan();
    let mut said = Said(&compiled, Vec::new());
    let number = |number| Value::Choice(0, vec![Value::Float(number)]);
    let place = |height, index| Value::Choice(1, vec![Value::Score(Score::Confirmed { height, index })]);
    let seen = Value::Choice(
        1,
        vec![Value::Score(Score::Unconfirmed { seconds: 1_703_097_600, nanos: 123_456_789 })],
    );
    let (numbers, places) = (Value::Choice(0, vec![]), Value::Choice(1, vec![]));
    let gap = |from: &[u8], to: &[u8], removed| Value::Record(vec![bytes(from), bytes(to), uint(removed)]);
    let behind_b = [&[0][..], &[0x00, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], b"b\0"].concat();
    // The four items were claimed or wait at one score; the last place claimed is that of item 3.
    let behind_3 = [&[1, 0][..], &850_000_u32.to_be_bytes(), &7_u64.to_be_bytes(), b"3\0"].concat();

    said.row("value", &[bytes(b"")], &[bytes(b"value")]);
    let head = |alternative, arguments| [Value::Choice(alternative, arguments)];
    let gaps = Value::List(vec![]);
    said.row("head", &[bytes(b"p")], &head(2, vec![places.clone(), uint(1), gaps]));
    let gaps = Value::List(vec![gap(&[], &behind_3, 3)]);
    let counts = [1, 1, 1, 1, 0].map(uint);
    let arguments = [vec![places], counts.to_vec(), vec![gaps]].concat();
    said.row("head", &[bytes(b"q")], &head(3, arguments));
    said.row("head", &[bytes(b"s")], &head(0, vec![uint(2)]));
    let gaps = Value::List(vec![gap(&[], &behind_b, 1)]);
    said.row("head", &[bytes(b"z")], &head(2, vec![numbers, uint(2), gaps]));
    said.row("head", &[bytes(&[7; 200])], &head(1, vec![uint(1)]));
    said.row("set_member", &[bytes(b"s"), bytes(b"")], &[]);
    said.row("set_member", &[bytes(b"s"), bytes(&[0, 0xff])], &[]);
    said.row("hash_field", &[bytes(&[7; 200]), bytes(b"f")], &[bytes(b"v")]);
    said.row("member_score", &[bytes(b"p"), bytes(b"m")], std::slice::from_ref(&seen));
    said.row("member_score", &[bytes(b"z"), bytes(b"a")], &[number(0.0)]);
    said.row("member_score", &[bytes(b"z"), bytes(b"c")], &[number(2.5)]);
    said.row("score_member", &[bytes(b"p"), seen, bytes(b"m")], &[]);
    said.row("score_member", &[bytes(b"q"), place(850_000, 7), bytes(b"4")], &[]);
    said.row("score_member", &[bytes(b"z"), number(0.0), bytes(b"a")], &[]);
    said.row("score_member", &[bytes(b"z"), number(2.5), bytes(b"c")], &[]);
    let dead = Value::Choice(2, vec![]);
    let claimed = Value::Choice(1, vec![uint(1_100), uint(1), Value::Bool(true)]);
    let waiting = Value::Choice(0, vec![]);
    said.row("item", &[bytes(b"q"), bytes(b"1")], &[place(850_000, 7), uint(1), dead]);
    said.row("item", &[bytes(b"q"), bytes(b"3")], &[place(850_000, 8), uint(1), claimed]);
    said.row("item", &[bytes(b"q"), bytes(b"4")], &[place(850_000, 7), uint(0), waiting]);
    said.row("lease", &[bytes(b"q"), uint(1_100), bytes(b"3")], &[]);
    said.row("dead", &[bytes(b"q"), bytes(b"1")], &[]);
    said.1.sort();
    assert_eq!(rows(&filled()), said.1);
}

#[test]
fn every_row_is_read_one_way_by_the_plan_and_as_a_structure_row() {
    let compiled = plan();
    let families = &compiled.plan.as_ref().unwrap().spaces[0].families;
    let structures = filled();
    for (row, value) in rows(&structures) {
        let found: Vec<_> = families
            .iter()
            .filter(|family| readings(&family.key, &row, 2).is_ok_and(|found| found.readings.len() == 1))
            .collect();
        assert_eq!(found.len(), 1, "{row:?}");
        assert!(!readings(found[0].value.as_ref().unwrap(), &value, 2).unwrap().readings.is_empty());
        let read = StructureRow::decode(&row, &value).unwrap();
        if let StructureRow::Head { key, kind, count } = read {
            assert_eq!(structures.kind(key).unwrap(), Some(kind));
            let counted = match kind {
                Kind::Set => structures.set_count(key).unwrap(),
                Kind::Hash => structures.hash_count(key).unwrap(),
                Kind::Zset => structures.zset_count(key).unwrap(),
                _ => 3,
            };
            assert_eq!(counted, count);
        }
        assert!(row.windows(read.key().len().max(1)).any(|part| part == read.key() || read.key().is_empty()));
    }
    let cut = StructureRow::decode(&[6, 1, b'z', 0, 1], &[]).unwrap_err();
    assert_eq!(cut.offset, 5);
    StructureRow::decode(&[10, 0], &[]).unwrap_err();
}

#[test]
fn a_damaged_row_is_an_error_that_names_it() {
    let structures = filled();
    let mut batch = structures.store().batch().unwrap();
    batch.put(structures.space(), [2, b'd'].as_slice(), [9].as_slice());
    batch.put(structures.space(), [5, 1, b'z', b'a'].as_slice(), [0, 1].as_slice());
    batch.commit(keyplan_store::engine::Durability::Buffer).unwrap();
    let said = structures.set_count(b"d").unwrap_err().to_string();
    assert_eq!(said, "row 0x0264 of the space `things` is damaged, or of another layout");
    let said = structures.zset_score(b"z", b"a").unwrap_err().to_string();
    assert_eq!(said, "row 0x05017a61 of the space `things` is damaged, or of another layout");
    let said = structures.set_add(b"d", b"m").unwrap_err().to_string();
    assert_eq!(said, "row 0x0264 of the space `things` is damaged, or of another layout");
}

#[test]
fn a_lease_of_an_item_that_nobody_holds_is_damage_and_is_not_skipped() {
    // Without its item, and of an item that waits.
    for is_there in [false, true] {
        let structures = filled();
        let mut batch = structures.store().batch().unwrap();
        let item = [7, 1, b'q', b'3'].as_slice();
        if is_there {
            let waiting = rows(&structures).into_iter().find(|(row, _)| row[..] == [7, 1, b'q', b'4']);
            batch.put(structures.space(), item, waiting.unwrap().1);
        } else {
            batch.delete(structures.space(), item);
        }
        batch.commit(keyplan_store::engine::Durability::Buffer).unwrap();
        let claim = Claim::new(3, Duration::from_millis(100)).at(Now::Millis(2_000));
        let said = structures.queue_claim(b"q", claim).unwrap_err().to_string();
        let lease = "row 0x080171000000000000044c33 of the space `things`";
        assert_eq!(said, format!("{lease} is damaged, or of another layout"));
    }
}
