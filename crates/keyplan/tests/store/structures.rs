//! Structures by the types of their families: what is written is read back, and what the plan does not have is refused.

use std::time::Duration;

use keyplan::codec::Score;
use keyplan::store::engine::{Durability, Memory};
use keyplan::store::raw::Direction;
use keyplan::store::structure::raw::{Claim, End, QueueSize, StructureRead as _, Structures as _};
use keyplan::store::structure::{Hash, Queue, Set, Step, Zset};
use keyplan::store::{Error, Store};

keyplan::plan! {
    plan lists;

    space lists {
        set owners = "o:" asset: u64
            member address: bytes(20);
        hash token = "t:" id: u64
            field symbol = "sym" -> symbol: text("A-Z", 1..=8)
            field balance = "bal" owner: bytes(4) -> amount: u64;
        zset height = "h:" name: text("a-z", 1..=20)
            member vout: u32
            score at: u64;
        zset narrow = "n:"
            member id: u8
            score at: u16(1..=100);
        zset chain = "c:"
            member id: u8
            score at: score;
        queue work = "q:"
            member id: u16
            score priority: i32;
    }

    space others {
        set seen = 0x01 name: text("a-z", 1..=20)
            member id: u8;
    }
}

use lists::lists::{
    Chain, ChainMember, ChainScore, Height, HeightMember, HeightScore, Narrow, NarrowMember, NarrowScore,
    Owners, OwnersMember, Token, TokenBalanceField, TokenBalanceValue, TokenField, TokenSymbolField,
    TokenSymbolValue, Work, WorkMember, WorkScore,
};
use lists::others::Seen;

fn store() -> Store<Memory> {
    Store::create_on(Memory::new(), &lists::PLAN).unwrap()
}

#[test]
fn a_sorted_set_is_ranked_by_an_integer() {
    let structures = store().structures("lists").unwrap();
    let zset = Zset::<Height, _>::on(&structures).unwrap();
    let sales = Height { name: "sales" };
    for (vout, at) in [(1, 30), (2, 10), (3, 20)] {
        assert!(zset.add(&sales, &HeightMember { vout }, &HeightScore { at }).unwrap());
    }
    assert!(!zset.add(&sales, &HeightMember { vout: 3 }, &HeightScore { at: 1 << 53 }).unwrap());
    let read = |from: u64, to: u64| -> Vec<(u32, u64)> {
        let found = zset.range(&sales, HeightScore { at: from }..HeightScore { at: to }).unwrap();
        found.iter().map(|row| (row.member().unwrap().vout, row.score().unwrap().at)).collect()
    };
    assert_eq!(read(0, 31), [(2, 10), (1, 30)]);
    assert_eq!(read(0, 30), [(2, 10)]);
    assert_eq!(zset.score(&sales, &HeightMember { vout: 3 }).unwrap(), Some(HeightScore { at: 1 << 53 }));
    assert_eq!(zset.rank(&sales, &HeightMember { vout: 3 }, Direction::Descending).unwrap(), Some(0));
    assert_eq!(zset.count(&sales).unwrap(), 3);
    assert_eq!(zset.keys().unwrap().map(Result::unwrap).collect::<Vec<_>>(), [sales.to_vec().unwrap()]);
    let last = zset.pop(&sales, End::Max, 1).unwrap();
    assert_eq!(last[0].member().unwrap(), HeightMember { vout: 3 });
    assert_eq!(zset.remove_range(&sales, ..=HeightScore { at: 10 }).unwrap(), 1);
    assert_eq!(zset.some(&sales, .., Direction::Descending, Some(5)).unwrap().len(), 1);
}

#[test]
fn a_score_that_no_float_is_equal_to_is_refused_and_so_is_one_outside_of_the_plan() {
    let structures = store().structures("lists").unwrap();
    let zset = Zset::<Height, _>::on(&structures).unwrap();
    let (sales, member) = (Height { name: "sales" }, HeightMember { vout: 1 });
    let refused = zset.add(&sales, &member, &HeightScore { at: (1 << 53) + 1 }).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a score of `lists.height` cannot be kept: no float is equal to score(at=9007199254740993)"
    );
    let narrow = Zset::<Narrow, _>::on(&structures).unwrap();
    let refused = narrow.add(&Narrow {}, &NarrowMember { id: 1 }, &NarrowScore { at: 101 }).unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused:?}");
    assert_eq!(structures.zset_count(b"n:").unwrap(), 0);
}

#[test]
fn what_another_program_wrote_is_refused_where_the_plan_does_not_have_it() {
    let structures = store().structures("lists").unwrap();
    structures.zset_add(b"n:", &[1, 2], 50.0.into()).unwrap();
    structures.zset_add(b"n:", &[3], 0.5.into()).unwrap();
    structures.zset_add(b"n:", &[4], 101.0.into()).unwrap();
    let zset = Zset::<Narrow, _>::on(&structures).unwrap();
    let found = zset.range(&Narrow {}, ..).unwrap();
    let said: Vec<String> = found
        .iter()
        .map(|row| match (row.member(), row.score()) {
            (Ok(member), Ok(score)) => format!("{member:?} {score:?}"),
            (Err(error), _) | (_, Err(error)) => error.to_string(),
        })
        .collect();
    assert_eq!(
        said,
        [
            "a score of `lists.narrow` is not one of the plan: 0x3fe0000000000000",
            "a member of `lists.narrow` is not one of the plan: 0x0102",
            "a score of `lists.narrow` is not one of the plan: 0x4059400000000000",
        ]
    );
    structures.set_add(b"o:short", b"x").unwrap();
    let owners = Set::<Owners, _>::on(&structures).unwrap();
    assert!(matches!(owners.keys().unwrap().next(), Some(Err(Error::ForeignKey { .. }))));
}

#[test]
fn a_place_in_chain_order_is_a_score() {
    let structures = store().structures("lists").unwrap();
    let zset = Zset::<Chain, _>::on(&structures).unwrap();
    let at = ChainScore { at: Score::Confirmed { height: 850_000, index: u64::MAX } };
    zset.add(&Chain {}, &ChainMember { id: 7 }, &at).unwrap();
    assert_eq!(zset.score(&Chain {}, &ChainMember { id: 7 }).unwrap(), Some(at));
}

#[test]
fn fields_of_a_hash_have_values_of_their_own_types() {
    let structures = store().structures("lists").unwrap();
    let hash = Hash::<Token, _>::on(&structures).unwrap();
    let token = Token { id: 1 };
    assert!(hash.set(&token, TokenSymbolField {}, &TokenSymbolValue { symbol: "SAT" }).unwrap());
    let owner = TokenBalanceField { owner: [1, 2, 3, 4] };
    assert!(hash.set(&token, owner, &TokenBalanceValue { amount: 5 }).unwrap());
    let found = hash.get(&token, owner).unwrap().unwrap();
    assert_eq!(found.value().unwrap(), TokenBalanceValue { amount: 5 });
    let fields = hash.fields(&token).unwrap();
    assert_eq!(fields.len(), 2);
    for field in &fields {
        match field.field().unwrap() {
            TokenField::Symbol(kind) => assert_eq!(field.value(kind).unwrap().symbol, "SAT"),
            TokenField::Balance(kind) => assert_eq!(field.value(kind).unwrap().amount, 5),
        }
    }
    assert!(hash.delete(&token, owner).unwrap());
    assert_eq!(hash.count(&token).unwrap(), 1);
    structures.hash_set(&token.to_vec().unwrap(), b"bal1234", b"short").unwrap();
    let foreign = hash.get(&token, TokenBalanceField { owner: *b"1234" }).unwrap().unwrap();
    assert_eq!(
        foreign.value().unwrap_err().to_string(),
        "a value of a field of `lists.token` is not one of the plan: 0x73686f7274"
    );
}

#[test]
fn a_worker_holds_what_it_claimed() {
    let structures = store().structures("lists").unwrap();
    let queue = Queue::<Work, _>::on(&structures).unwrap();
    for (id, priority) in [(1, 5), (2, -5)] {
        assert!(queue.push(&Work {}, &WorkMember { id }, &WorkScore { priority }).unwrap());
    }
    let claimed = queue.claim(&Work {}, Claim::new(1, Duration::from_mins(1))).unwrap();
    let [item] = claimed.as_slice() else { panic!("{claimed:?}") };
    assert_eq!((item.member().unwrap().id, item.score().unwrap().priority, item.attempts), (2, -5, 1));
    assert_eq!(queue.size(&Work {}).unwrap(), QueueSize { waiting: 1, claimed: 1, dead: 0 });
    let seen = queue.item(&Work {}, &WorkMember { id: 2 }).unwrap().unwrap();
    assert!(matches!(queue.acknowledge(&Work {}, &seen), Err(Error::Structure(_))));
    assert!(queue.acknowledge(&Work {}, item).unwrap());
    assert!(!queue.acknowledge(&Work {}, item).unwrap());
    assert_eq!(queue.peek(&Work {}, 9).unwrap()[0].member().unwrap().id, 1);
}

#[test]
fn a_step_is_of_the_families_of_one_space() {
    let store = store();
    let structures = store.structures("lists").unwrap();
    let mut step = Step::new();
    let owner = OwnersMember { address: [9; 20] };
    step.set_add(&Owners { asset: 1 }, &owner).unwrap();
    step.queue_push(&Work {}, &WorkMember { id: 3 }, &WorkScore { priority: 0 }).unwrap();
    assert_eq!(step.apply(&structures, Durability::Buffer).unwrap(), [true, true]);
    assert_eq!(step.apply(&structures, Durability::Buffer).unwrap(), [false, false]);
    let owners = Set::<Owners, _>::on(&structures).unwrap();
    assert_eq!(owners.members(&Owners { asset: 1 }).unwrap()[0].member().unwrap(), owner);
    let other = Set::<Seen, _>::on(&structures).map(drop).unwrap_err().to_string();
    assert_eq!(other, "`others.seen` is in the space `others`, and these are the structures of `lists`");
    step.set_add(&Seen { name: "a" }, &lists::others::SeenMember { id: 1 }).unwrap();
    step.set_remove(&Owners { asset: 1 }, &owner).unwrap();
    assert!(matches!(step.apply(&structures, Durability::Buffer), Err(Error::OtherSpace { .. })));
    assert!(owners.contains(&Owners { asset: 1 }, &owner).unwrap());
    let view = structures.snapshot().unwrap();
    owners.remove(&Owners { asset: 1 }, &owner).unwrap();
    assert_eq!(Set::<Owners, _>::on(&*view).unwrap().count(&Owners { asset: 1 }).unwrap(), 1);
    assert_eq!(owners.count(&Owners { asset: 1 }).unwrap(), 0);
}
