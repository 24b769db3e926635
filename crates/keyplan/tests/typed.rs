//! What generated types promise, shown on a plan written here.
#![cfg(test)]

use std::collections::BTreeSet;
use std::ops::Bound;

use keyplan::codec::{DecodeError, EncodeError, Expected, Fault, Score};
use keyplan::typed::{
    FloatScore, HashField, HashKey, Json, Key as _, KeyError, KeyFault, List, Raw, ScanOf, ScoredKey, SetKey,
    Value as _,
};

keyplan::plan! {
    //! A plan in a program.
    plan example;

    type Outpoint = (txid: bytes(4) vout: u32);

    names Namespace = text("a-z_", 1..=16) { "accounts", "pools" }

    space cl = "liquidity" {
        /// Liquidity at every initialised tick of a pool.
        key tick = 0x01 pool: u64 tick: i64.tick9
            -> proto("TickInfo")
            scan all in order
            scan by pool in order;

        /// Positions of an owner.
        key position = 0x02 "/" owner: bytes(1..=20).hex "/" id: u64.dec
            -> shares: u128 note: text
            scan by owner;

        key by_denom = 0x03 pool: u8 denom: text("a-z", 1..=8)
            scan by pool in order;

        key last = 0xff pool: u64 tick: i64.tick9
            scan by pool in order;

        key ranked = 0x05 height: u32 index: u16
            scan all in order;

        key entity = 0x06 ns: Namespace.hashed(xxh3_64) key: bytes(4)
            scan by ns in order;

        key nonce = 0x07 channel: text "/" sender: text
            -> nonce: u64
            accept ambiguous "a slash may stand in either";

        key event = 0x08 name: text
            accept overlap(spent) "an event may end with :spent";

        key spent = 0x08 name: text ":spent";

        key small = 0x09 n: u8(1..=5);

        /// A row of a namespace, by the slot of its key.
        key slotted = 0x0e ns: text("a-z", 1..=8).len8 slot = crc16(user) % 16384 as u16 user: bytes(1..=9)
            scan by ns, slot;

        key params = 0x0a;

        /// In order because of what comes after the name, which only the prover knows.
        key listed = 0x0b name: text("a-z", 1..=8) "/" n: u8
            scan all in order;
    }

    space store {
        hash output = "h:" at: Outpoint
            field events = "ev" -> json
            field data = "dt:" tag: text -> count: u32
            field inputs = "in" -> outpoints: list(Outpoint);

        zset event = "z:" event: text
            member at: Outpoint
            score at: score.height_score
            accept lossy "a float";
    }
}

use example::cl::{
    ByDenom, Entity, EntityNs, Event, Key, Last, Listed, Nonce, NonceValue, Params, Position, PositionValue,
    Ranked, Slotted, SlottedByNsSlot, Small, Spent, Tick, TickByPool,
};
use example::store;

fn tick(pool: u64, tick: i64) -> Tick {
    Tick { pool, tick }
}

#[test]
fn the_plan_comes_with_its_types() {
    assert_eq!(example::PLAN.name, "example");
    let read = keyplan::plan::compile("inline", example::PLAN.text(), |_| Err("no imports".into()));
    assert_eq!(read.plan.unwrap().fingerprint().bytes(), example::PLAN.fingerprint);
    assert_eq!(
        (Tick::FAMILY, <Tick as keyplan::typed::Key>::SPACE, example::cl::SPACE),
        ("cl.tick", "liquidity", "liquidity")
    );
    assert_eq!((Tick::LEN, Position::MAX_LEN, Tick::PREFIX), (18, 63, [0x01].as_slice()));
}

#[test]
fn a_fixed_key_is_an_array() {
    let key: [u8; 18] = tick(7, -100).encode();
    assert_eq!(key, *b"\x01\0\0\0\0\0\0\0\x07\x05\xff\xff\xff\xff\xff\xff\xff\x9c");
    assert_eq!(Tick::decode(&key), Ok(tick(7, -100)));
    assert_eq!(Params.encode(), [0x0a]);
    assert_eq!(tick(7, -100).to_string(), "tick(pool=7, tick=-100)");
}

#[test]
fn a_bounded_key_is_held_in_place() {
    let position = Position { owner: [0xaa, 0xbb].into(), id: 12 };
    let key = position.encode().unwrap();
    assert_eq!(key.as_slice(), b"\x02/aabb/12");
    assert_eq!(Position::decode(&key), Ok(position));
    assert_eq!(position.to_string(), "position(owner=0xaabb, id=12)");
    let mut room = [0; 4];
    let full = KeyFault::Argument(EncodeError::Full { needed: 6 });
    assert_eq!(
        position.encode_to(&mut room),
        Err(KeyError { family: "cl.position", segment: "owner", fault: full })
    );
}

#[test]
fn what_is_wrong_with_a_key_is_said_by_segment_and_byte() {
    let error = |segment, offset, fault| {
        Err(KeyError { family: "cl.tick", segment, fault: KeyFault::Bytes(DecodeError::new(offset, fault)) })
    };
    let mut key = tick(7, -100).encode();
    key[9] = 6;
    assert_eq!(Tick::decode(&key), error("tick", 9, Fault::Sign { found: 6, expected: 5 }));
    assert_eq!(Tick::decode(&key[..9]), error("tick", 9, Fault::Short { missing: 9 }));
    assert_eq!(Tick::decode(b"\x02"), error("0x01", 0, Fault::Literal { expected: 1, found: 2 }));
}

#[test]
fn arguments_outside_of_their_domain_are_refused() {
    let refused =
        |fault| Err(KeyError { family: "cl.small", segment: "n", fault: KeyFault::Argument(fault) });
    assert_eq!(Small { n: 5 }.encode(), Ok([9, 5]));
    assert_eq!(Small { n: 6 }.encode(), refused(EncodeError::OutOfRange));
    let byte = EncodeError::Byte { offset: 1, found: b'|', expected: Expected::Alphabet };
    let fault = KeyFault::Argument(byte);
    let denom = ByDenom { pool: 1, denom: "a|b" }.encode();
    assert_eq!(denom, Err(KeyError { family: "cl.by_denom", segment: "denom", fault }));
}

#[test]
fn one_decode_finds_the_family() {
    let key = tick(1, 2).encode();
    assert_eq!(Key::decode(&key), Ok(Key::Tick(tick(1, 2))));
    assert_eq!(Key::decode(b"\x02/aa/3").map(|key| key.family()), Ok("cl.position"));
    // The longest literal prefix goes first; what it cannot read, a shorter one may.
    assert_eq!(Key::decode(b"\x08x:spent"), Ok(Key::Event(Event { name: "x:spent" })));
    let error = Key::decode(b"\x02/aa/03").unwrap_err();
    assert_eq!(error.to_string(), "`cl.position`, in `id`: byte 5: a leading zero");
}

#[test]
fn order_is_that_of_the_bytes() {
    let mut ticks = [tick(2, i64::MIN), tick(1, 5), tick(1, -5), tick(1, 0), tick(0, i64::MAX)];
    ticks.sort();
    let keys: Vec<[u8; 18]> = ticks.iter().map(Tick::encode).collect();
    assert!(keys.is_sorted());
    assert!(ByDenom { pool: 1, denom: "ab" } < ByDenom { pool: 1, denom: "b" });
    let mut listed =
        [("b", 0), ("ab", 1), ("a", 9), ("abc", 0), ("a", 1)].map(|(name, n)| Listed { name, n });
    listed.sort();
    let keys: Vec<Vec<u8>> = listed.iter().map(|key| key.to_vec().unwrap()).collect();
    assert!(keys.is_sorted());
}

#[test]
fn a_family_without_arguments_has_one_key() {
    assert_eq!(Params::KEY, Params.encode());
    assert_eq!(Params::KEY, [0x0a]);
}

/// The ticks of a store that a scan gives, in its order.
fn rows(store: &BTreeSet<Vec<u8>>, scan: &keyplan::typed::Scan<'_, TickByPool>) -> Vec<i64> {
    let mut ticks: Vec<i64> =
        store.range::<[u8], _>(scan.range()).map(|key| scan.decode(key).unwrap().tick).collect();
    if scan.is_reverse() {
        ticks.reverse();
    }
    ticks
}

#[test]
fn a_scan_gives_exactly_its_rows() {
    let mut store = BTreeSet::new();
    for pool in [0, 1, 7, 8, 255, 256, u64::MAX] {
        for at in [i64::MIN, -1_000, -100, 0, 100, i64::MAX] {
            store.insert(tick(pool, at).encode().to_vec());
        }
    }
    let scan = || Tick::by_pool(7);
    assert_eq!(rows(&store, &scan()), [i64::MIN, -1_000, -100, 0, 100, i64::MAX]);
    assert_eq!(rows(&store, &scan().from(-100)), [-100, 0, 100, i64::MAX]);
    assert_eq!(rows(&store, &scan().after(-100)), [0, 100, i64::MAX]);
    assert_eq!(rows(&store, &scan().to(0)), [i64::MIN, -1_000, -100]);
    assert_eq!(rows(&store, &scan().through(0)), [i64::MIN, -1_000, -100, 0]);
    assert_eq!(rows(&store, &scan().from(-100).to(100).rev()), [0, -100]);
    assert_eq!(rows(&store, &scan().from(100).to(-100)), [0; 0]);
    assert_eq!(rows(&store, &scan().after(i64::MAX)), [0; 0]);
    // The last pool, whose prefix ends in ff only.
    assert_eq!(rows(&store, &Tick::by_pool(u64::MAX).through(i64::MAX).from(0)), [0, 100, i64::MAX]);
}

#[test]
fn a_cursor_goes_on_where_the_page_ended() {
    let mut store = BTreeSet::new();
    for at in -5..5 {
        store.insert(tick(7, at).encode().to_vec());
    }
    let cursor = tick(7, -2).encode();
    assert_eq!(rows(&store, &Tick::by_pool(7).after_key(&cursor)), [-1, 0, 1, 2, 3, 4]);
    assert_eq!(rows(&store, &Tick::by_pool(7).rev().after_key(&cursor)), [-3, -4, -5]);
    assert_eq!(rows(&store, &Tick::by_pool(7).from(1).after_key(&cursor)), [1, 2, 3, 4]);
    let end = tick(7, 4).encode();
    assert_eq!(rows(&store, &Tick::by_pool(7).after_key(&end)), [0; 0]);
}

#[test]
fn a_derived_part_is_scanned_by_its_value() {
    // The check value of CRC-16/XMODEM is 31c3, which is 12739.
    let row = Slotted { ns: "a", user: b"123456789" }.encode().unwrap();
    let scan = Slotted::by_ns_slot("a", 12_739).unwrap();
    assert_eq!(scan.prefix(), b"\x0e\x01a\x31\xc3");
    assert!(scan.contains(&row));
    assert!(!Slotted::by_ns_slot("a", 12_738).unwrap().contains(&row));
    assert!(!Slotted::by_ns_slot("b", 12_739).unwrap().contains(&row));
    // There is no slot 16384.
    assert!(Slotted::by_ns_slot("a", 16_384).is_err());
    assert_eq!(SlottedByNsSlot::SCAN, "cl.slotted by ns, slot");
}

#[test]
fn the_end_of_the_key_space_is_no_end() {
    let scan = Last::by_pool(u64::MAX);
    let start = [0xff; 9];
    assert_eq!(scan.range(), (Bound::Included(start.as_slice()), Bound::Unbounded));
    let scan = Tick::by_pool(0xff);
    assert_eq!(scan.range().1, Bound::Excluded(b"\x01\0\0\0\0\0\0\x01".as_slice()));
    assert_eq!(TickByPool::SCAN, "cl.tick by pool");
}

#[test]
fn an_argument_before_others_bounds_all_their_rows() {
    let scan = Ranked::all().from(5).through(6);
    let inside = |height, index| scan.contains(&Ranked { height, index }.encode());
    assert!(!inside(4, u16::MAX) && inside(5, 0) && inside(6, u16::MAX) && !inside(7, 0));
    let scan = Ranked::all().after(u32::MAX);
    assert!(!scan.contains(&Ranked { height: u32::MAX, index: 0 }.encode()));
    let scan = Ranked::all().through(u32::MAX);
    assert!(scan.contains(&Ranked { height: u32::MAX, index: u16::MAX }.encode()));
}

#[test]
fn text_bounds_a_scan_whatever_its_length() {
    let contains = |scan: &keyplan::typed::Scan<'_, _>, denom| {
        scan.contains(&ByDenom { pool: 1, denom }.encode().unwrap())
    };
    let scan = ByDenom::by_pool(1).after("ab").through("b");
    assert!(
        !contains(&scan, "ab") && contains(&scan, "aba") && contains(&scan, "b") && !contains(&scan, "ba")
    );
    let long = ByDenom::by_pool(1).from("zzzzzzzzzzzzzzzz");
    assert!(!contains(&long, "zzzzzzzz"));
}

#[test]
fn a_hashed_argument_is_its_digest() {
    let known = Entity { ns: EntityNs::ACCOUNTS, key: *b"abcd" };
    assert_eq!(EntityNs::of("accounts"), Ok(EntityNs::ACCOUNTS));
    assert_eq!(known.to_string(), "entity(ns=\"accounts\", key=0x61626364)");
    assert_eq!(Entity::decode(&known.encode()).map(|entity| entity.ns.name()), Ok(Some("accounts")));
    let other = EntityNs::of("others").unwrap();
    assert_eq!((other.name(), EntityNs::from_digest(other.digest()) == other), (None, true));
    assert!(EntityNs::of("No").is_err());
    assert!(Entity::by_ns(EntityNs::POOLS).prefix().starts_with(&[0x06]));
    assert_eq!(example::Namespace::POOLS, "pools");
}

#[test]
fn an_accepted_flaw_bites_nobody() {
    let plain = Nonce { channel: "channel-1", sender: "a" };
    assert_eq!(plain.to_vec().unwrap(), b"\x07channel-1/a");
    let flawed = Nonce { channel: "channel-1", sender: "a/b" };
    let error = flawed.to_vec().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`cl.nonce`: its bytes are also nonce(channel=\"channel-1/a\", sender=\"b\")"
    );
    let mut bytes = Vec::new();
    flawed.encode_unguarded_into(&mut bytes).unwrap();
    assert_eq!(bytes, b"\x07channel-1/a/b");
    assert_eq!(Nonce::decode(&bytes), Ok(flawed));

    assert!(Event { name: "x" }.to_vec().is_ok());
    let error = Event { name: "x:spent" }.to_vec().unwrap_err();
    assert_eq!(error.to_string(), "`cl.event`: its bytes are also spent(name=\"x\")");
    assert!(Spent { name: "x" }.to_vec().is_ok());
}

#[test]
fn values_have_the_layout_that_the_plan_gives() {
    let value = PositionValue { shares: 9, note: "long" };
    let bytes = value.to_vec().unwrap();
    assert_eq!(bytes[15..], *b"\x09long");
    assert_eq!(PositionValue::decode(&bytes), Ok(value));
    assert_eq!(NonceValue { nonce: 1 }.encode(), [0, 0, 0, 0, 0, 0, 0, 1]);
    let proto = <Tick as keyplan::typed::Key>::Value::decode(b"\x0a").unwrap();
    assert_eq!(proto, keyplan::typed::Proto(b"\x0a"));
    assert_eq!(<Params as keyplan::typed::Key>::Value::decode(b"x"), Ok(Raw(b"x")));
}

#[test]
fn a_hash_has_typed_fields() {
    type Field<'f> = <store::Output as HashKey>::Field<'f>;
    let data = store::OutputDataField { tag: "insc" };
    assert_eq!(data.to_vec().unwrap(), b"dt:insc");
    assert_eq!(Field::decode(b"dt:insc"), Ok(Field::Data(data)));
    assert_eq!(Field::decode(b"ev"), Ok(store::OutputEventsField.into()));
    let error = Field::decode(b"dx:").unwrap_err();
    assert_eq!(error.to_string(), "`store.output field`, in `\"dt:\"`: byte 1: 78 where 74 belongs");
    let count = <store::OutputDataField<'_> as HashField>::FieldValue::decode(&[0, 0, 0, 7]);
    assert_eq!(count, Ok(store::OutputDataValue { count: 7 }));
    let events = <store::OutputEventsField as HashField>::FieldValue::decode(b"[]");
    assert_eq!(events, Ok(Json(b"[]")));
}

#[test]
fn a_list_is_read_where_it_stands() {
    let points =
        [example::Outpoint { txid: *b"abcd", vout: 1 }, example::Outpoint { txid: *b"efgh", vout: 2 }];
    let value = store::OutputInputsValue { outpoints: List::new(&points) };
    let bytes = value.to_vec().unwrap();
    assert_eq!(bytes, b"abcd\0\0\0\x01efgh\0\0\0\x02");
    let read = store::OutputInputsValue::decode(&bytes).unwrap();
    assert_eq!((read.outpoints.len(), read.outpoints.iter().nth(1)), (2, Some(points[1])));
    assert_eq!(read, value);
    assert!(store::OutputInputsValue::decode(&bytes[..15]).is_err());
}

#[test]
fn a_sorted_set_has_typed_members_and_scores() {
    type Member<'m> = <store::Event<'m> as SetKey>::Member<'m>;
    type Scored<'s> = <store::Event<'s> as ScoredKey>::Score<'s>;
    let member = store::EventMember { at: example::Outpoint { txid: *b"abcd", vout: 1 } };
    assert_eq!(member.encode(), *b"abcd\0\0\0\x01");
    assert_eq!(Member::decode(b"abcd\0\0\0\x01"), Ok(member));
    let at = FloatScore::try_from(Score::Confirmed { height: 800_000, index: 5 }).unwrap();
    let score = store::EventScore { at };
    assert_eq!(Scored::decode(&score.encode().unwrap()), Ok(score));
    assert_eq!(store::Event { event: "own:x" }.to_vec().unwrap(), b"z:own:x");
}
