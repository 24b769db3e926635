//! Names: what they may be, and what is said of those that nothing declares.

use keyplan_plan::compile;

use crate::{check, compiled, no_imports};

#[test]
fn names_that_nothing_declares_are_found_with_a_suggestion() {
    check(
        "space s { key k = a: Adress b: u46 c: u64.decc; } type Address = bytes(20);",
        &[
            ("KP0201", "Adress", "no domain or type is called `Adress`"),
            ("KP0201", "u46", "no domain or type is called `u46`"),
            ("KP0201", "decc", "no encoding is called `decc`"),
        ],
    );
    check(
        "space s { key k = a: u8; } type Address = bytes(20);",
        &[("KP0217", "Address", "nothing uses the type `Address`")],
    );
    let text = "plan p; space s { key k = a: Adress; } type Address = bytes(20);";
    let compiled = compile("p", text, no_imports);
    assert_eq!(compiled.diagnostics[0].notes[0].text, "did you mean `Address`?");
}

#[test]
fn a_path_is_of_one_layout() {
    check(
        "space s { hash h = 0x01 field b = 0x01 -> n: u8; module h = 0x02 { key b = 0x01; } }",
        &[("KP0202", "b", "`s.h.b` is the path of a family and of a field of `s.h`")],
    );
    check(
        "space s { module z = 0x02 { key member = 0x01; key score = 0x02; } zset z = 0x01 member a: u8 score b: score; }",
        &[
            ("KP0202", "member", "`s.z.member` is the path of a family and of the members of `s.z`"),
            ("KP0202", "score", "`s.z.score` is the path of a family and of the scores of `s.z`"),
        ],
    );
    check(
        "space s { module z = 0x02 { key fields = 0x01; } zset z = 0x01 member a: u8 score b: score; }",
        &[],
    );
}

#[test]
fn names_declared_twice_are_found() {
    check(
        "type T = u8; type T = u16; space s { key k = a: T a: T; key k = 0x01; } space s { key z = 0x00; }",
        &[
            ("KP0202", "T", "the type `T` is declared twice"),
            ("KP0202", "a", "the argument `a` is declared twice"),
            ("KP0202", "k", "the family `k` is declared twice"),
            ("KP0202", "s", "the space `s` is declared twice"),
        ],
    );
}

#[test]
fn a_type_made_of_itself_is_found() {
    check(
        "type A = (x: B); type B = list(A); space s { key k = a: A; }",
        &[("KP0203", "A", "the type `A` is made of itself")],
    );
}

#[test]
fn names_are_spelled_as_generated_code_needs_them() {
    check(
        "type lower = u8; space Loud { key Tick = a: lower; }",
        &[
            ("KP0216", "lower", "a type is spelled with a capital letter first, as in `PoolId`"),
            ("KP0216", "Loud", "a space is spelled with small letters, digits and `_`"),
            ("KP0216", "Tick", "a family is spelled with small letters, digits and `_`"),
        ],
    );
}

#[test]
fn no_two_spaces_are_stored_under_one_name() {
    let message = "KP0202 two spaces are stored as \"b\"".to_owned();
    for text in [
        "space a = \"b\" { key x = 0x01 i: u64; } space b { key y = 0x01 i: u64; }",
        "space b { key y = 0x01 i: u64; } space a = \"b\" { key x = 0x01 i: u64; }",
        "space a = \"b\" { key x = 0x01 i: u64; } space c = \"b\" { key y = 0x01 i: u64; }",
    ] {
        assert_eq!(compiled(text), (None, vec![message.clone()]), "{text}");
    }
    let (families, messages) =
        compiled("space a = \"b\" { key x = 0x01 i: u64; } space b = \"a\" { key y = 0x01 i: u64; }");
    assert_eq!((families, messages), (Some(2), Vec::new()));
}

/// The help of every finding on the family `key k = PARTS`.
#[track_caller]
fn check_help(parts: &str, expected: &[&str]) {
    let compiled = compile("p.keyplan", &format!("plan p; space s {{ key k = {parts}; }}"), no_imports);
    let help = compiled.diagnostics.iter().flat_map(|found| &found.notes).map(|note| note.text.as_str());
    assert_eq!(help.collect::<Vec<_>>(), expected, "{parts}");
}

#[test]
fn names_of_other_languages_are_told_by_the_name_here() {
    check_help(
        "a: uint64 b: string c: usize d: address e: bytes32 f: u72",
        &[
            "write `u64`",
            "write `text`",
            "write `u64`",
            "write `bytes(20)`",
            "write `bytes(32)`",
            "write `bytes(9)`: big-endian bytes sort as the numbers do",
        ],
    );
    check_help(
        "a: u64.varint b: u64.bigendian c: text.length_prefixed",
        &["write `.leb128`", "write `.be`", "write `.len8`"],
    );
}

#[test]
fn a_suggestion_never_has_another_number_or_byte_order() {
    let anything = "len8 to len64, varlen, compactlen, scalelen, terminated, escaped, orderedcode, memcmp, desc, hashed(…), \
                    hash_concat(…)";
    let text = format!("text may have: tuple, raw; anything: {anything}");
    check_help("a: text.len24 b: text.len24le", &[&text, &text]);
    check_help("a: text.lenn8 b: u64.decc", &["did you mean `len8`?", "did you mean `dec`?"]);
}

#[test]
fn misfits_list_what_fits() {
    let anything = "len8 to len64, varlen, compactlen, scalelen, terminated, escaped, orderedcode, memcmp, desc, hashed(…), \
                    hash_concat(…)";
    check_help("a: time.dec", &[&format!("a time may have: text9, nanos; anything: {anything}")]);
    check_help(
        "a: u64.hashed(keccak)",
        &["hash functions are: xxh3_64, twox_64, twox_128, blake2b_128, blake2b_256, sha256, keccak256, \
           blake2b_224, hash160, siphash_24"],
    );
    check_help(
        "poolID: u64 a: u8(9..=5)",
        &[
            "write `pool_id`: names become identifiers of generated code",
            "write the least number first: `u8(5..=9)`",
        ],
    );
    check_help("a: u8(1..=300)", &["write the least number first, none above 255: `u8(0..=5)`"]);
    check_help("a: bytes(20).keccak256", &["write `.hashed(keccak256)`"]);
    check_help("a: u64.be.le", &["write one of them: `.be` or `.le`"]);
    check_help("a: common.Address b: math.Int", &["write `bytes(20)`", "write `u256`"]);
}
