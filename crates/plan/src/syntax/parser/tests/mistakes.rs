//! What is said of a wrong text, and where.

use super::super::*;
use super::{check, check_file};

#[test]
fn several_mistakes_are_each_reported_once() {
    check(
        "key a = 0x01 pool u64;
        key b = 0x1 pool: u64
        key c = 0x02 pool: u64 scna by pool;
        key d = 0x03 pool: u64.
            scan by ;
        key e = 0x03 pool: (a: u8 | b: 0x01 | : u8 | d: ) scan pol
            accept overlap(a.b, c) \"x\";
        hahs f = \"x\" field a = \"b\" -> ;
        key g = \"x\" -> (a: u8 b: u8;
        key h = ; key i = 5; key j = u64; key k = 0x01 { 0x02 }
        key l = 0x01 x: @ u8 'y' \"\\q\";
        /// dangling",
        r#"
            KP0102 2:14 expected a part, a clause or `;`, found `pool` [pool] cannot begin a part or a clause (help: an argument is written with a colon: `pool: …`)
            KP0103 3:17 bytes have an even number of hexadecimal digits [0x1]  (help: write `0x01`)
            KP0102 3:30 expected `;` at the end of the family, found `key` [] expected `;`
            KP0102 4:32 `scna` cannot begin a part or a clause [scna] did you mean `scan`?
            KP0102 6:13 expected an encoding, such as `be`, found `scan` [scan] expected an encoding, such as `be`
            KP0102 6:21 expected the name of an argument, found `;` [;] expected the name of an argument
            KP0102 7:47 expected the label of an alternative, found `:` [:] expected the label of an alternative
            KP0102 7:64 expected `by` or `all`, found `pol` [pol] expected `by` or `all`
            KP0102 9:9 `hahs` begins nothing inside a space [hahs] did you mean `hash`?
            KP0102 9:39 expected the layout of the field's value, found `;` [;] expected the layout of the field's value
            KP0102 10:24 `(` is never closed [(] this one has no `)` [;] expected a part or `)`
            KP0102 11:17 expected the parts of the key, found `;` [;] expected the parts of the key
            KP0102 11:27 expected a part, a clause or `;`, found `5` [5] cannot begin a part or a clause (help: bytes are written in hexadecimal: `0x05`)
            KP0102 11:38 expected a part, a clause or `;`, found `u64` [u64] cannot begin a part or a clause (help: an argument has a name: `name: u64`)
            KP0102 11:56 expected a clause or `;`, found `{` [{] expected a clause or `;`
            KP0101 12:25 `@` begins no token [@] not part of the language
            KP0101 12:30 a character in single quotes ['y'] strings are in double quotes (help: write `"y"`)
            KP0103 12:35 there is no escape `\q`; write a backslash as `\\`, a byte as `\xNN` [\q]
            KP0102 13:9 documentation with nothing after it [/// dangling] nothing is documented by this (help: a comment is written `// …`)
        "#,
    );
}

#[test]
fn a_missing_semicolon_is_reported_behind_the_statement() {
    check(
        "key a = 0x01 /// Next.\n key b = 0x02 scan all allot 5 x",
        "
            KP0102 2:13 expected `;` at the end of the family, found documentation [] expected `;`
            KP0102 3:23 expected `;` at the end of the family, found `allot` [] expected `;`
            KP0102 3:33 expected `;` after the allotment, found `}` [] expected `;`
        ",
    );
    check_file(
        "plan p type A = u8 names B = text {} space s { key a = 0x01 }",
        "
            KP0102 1:7 expected `;` after the name of the plan, found `type` [] expected `;`
            KP0102 1:19 expected `;` after the domain, found `names` [] expected `;`
            KP0102 1:60 expected `;` at the end of the family, found `}` [] expected `;`
        ",
    );
}

#[test]
fn a_brace_that_is_never_closed_is_pointed_at() {
    check_file(
        "plan p; space s { key a = 0x01; module m = 0x01 { key b = 0x01; }\nspace t { key a = 0x01; }",
        "
            KP0102 1:17 `{` is never closed [{] this one has no `}` [space] this cannot be inside of it
        ",
    );
    check_file(
        "plan p; space s { module m = 0x01 {",
        "
            KP0102 1:35 `{` is never closed [{] this one has no `}` [{] nor is this one
        ",
    );
    check_file(
        "plan p; names N = text { \"a\",\ntype A = u8;",
        "
            KP0102 1:24 `{` is never closed [{] this one has no `}` [type] this cannot be inside of it
        ",
    );
    check_file(
        "plan p; space s { } }",
        "
            KP0102 1:21 `}` closes nothing [}] there is no `{` before it
        ",
    );
}

#[test]
fn parentheses_are_closed_in_their_statement() {
    check(
        "key a = x: (y: u8; key b = x: bytes(1; key c = x: (y: u8 | z: u8; key d = x: u8); key e = x: (y: u8 5);",
        "
            KP0102 2:12 `(` is never closed [(] this one has no `)` [;] expected a part or `)`
            KP0102 2:36 `(` is never closed [(] this one has no `)` [;] expected `,` or `)`
            KP0102 2:51 `(` is never closed [(] this one has no `)` [;] expected a part, `|` or `)`
            KP0102 2:80 expected a part, a clause or `;`, found `)` [)] cannot begin a part or a clause
            KP0102 2:101 expected a part or `)`, found `5` [5] expected a part or `)`
        ",
    );
}

#[test]
fn misspelled_words_are_read_as_what_was_meant() {
    check_file(
        "pln p; tpye A = u8; spce s { kye a = 0x01 acept leak \"x\" scan all; modul m = 0x01 { } }",
        "
            KP0102 1:1 `pln` begins nothing at the top of a file [pln] did you mean `plan`?
            KP0102 1:8 `tpye` begins nothing at the top of a file [tpye] did you mean `type`?
            KP0102 1:21 `spce` begins nothing at the top of a file [spce] did you mean `space`?
            KP0102 1:30 `kye` begins nothing inside a space [kye] did you mean `key`?
            KP0102 1:43 `acept` cannot begin a part or a clause [acept] did you mean `accept`?
            KP0102 1:68 `modul` begins nothing inside a space [modul] did you mean `module`?
        ",
    );
    check_file(
        "plan p; structure x; space s { struct y { } key a = 0x01 limit 5 scan all; }",
        "
            KP0102 1:9 `structure` begins nothing at the top of a file [structure] expected `import`, `type`, `names`, `space` or `plan`
            KP0102 1:32 `struct` begins nothing inside a space [struct] expected `key`, `hash`, `zset`, `set`, `queue`, `module`, `allot`, `retired`, `drop` or `rule`
            KP0102 1:58 expected a part, a clause or `;`, found `limit` [limit] cannot begin a part or a clause (help: the clauses of a family are: `->`, `scan`, `own`, `accept`, `allot`, `allow`, `from`, `retain`, `retired`, `member`, `score`, `field`, `spread`, `named` or `refers`)
        ",
    );
}

#[test]
fn documentation_needs_something_behind_it() {
    check(
        "key a = 0x01 /// x\n \"/\" b: u8 /// y\n scan all; /// z\n allot 1 x; /// z\n retired 0x01 \"w\"; /// end",
        "
            KP0102 2:14 documentation before a part that is not an argument, which has none [/// x] nothing is documented by this (help: a comment is written `// …`)
            KP0102 3:12 documentation before something that has none [/// y] nothing is documented by this (help: a comment is written `// …`)
            KP0102 4:12 documentation before `allot`, which has its purpose in quotes after it [/// z] nothing is documented by this (help: a comment is written `// …`)
            KP0102 5:13 documentation before `retired`, which has its reason in quotes after it [/// z] nothing is documented by this (help: a comment is written `// …`)
            KP0102 6:20 documentation with nothing after it [/// end] nothing is documented by this (help: a comment is written `// …`)
        ",
    );
    check_file(
        "/// Plan.\nplan p; //! late\n//! late\n/// i\nimport \"x\"; names N = text { /// none\n } /// end",
        "
            KP0102 1:1 documentation before `plan`; the plan is documented with `//!` [/// Plan.] nothing is documented by this (help: a comment is written `// …`)
            KP0102 2:9 `//!` documents the file and comes first in it [//! late] nothing is documented by this
            KP0102 4:1 documentation before `import`, which has none [/// i] nothing is documented by this (help: a comment is written `// …`)
            KP0102 5:30 documentation with no name after it [/// none] nothing is documented by this (help: a comment is written `// …`)
            KP0102 6:4 documentation with nothing after it [/// end] nothing is documented by this (help: a comment is written `// …`)
        ",
    );
}

#[test]
fn items_and_families_are_in_their_place() {
    check(
        "plan a = 0x01; key b = 0x02; space c;",
        "
            KP0102 2:1 `plan` begins nothing inside a space [plan] expected `key`, `hash`, `zset`, `set`, `queue`, `module`, `allot`, `retired`, `drop` or `rule`
            KP0102 2:30 `space` begins nothing inside a space [space] expected `key`, `hash`, `zset`, `set`, `queue`, `module`, `allot`, `retired`, `drop` or `rule`
        ",
    );
    check(
        "type A = u8; key a = 0x01; space t { key b = 0x01; } plan q;",
        "
            KP0102 2:1 `type` is inside of a space [type] it belongs to the top of the file
            KP0102 2:28 `space` is inside of a space [space] it belongs to the top of the file
            KP0102 2:54 `plan` is inside of a space [plan] it belongs to the top of the file
        ",
    );
    check_file(
        "plan p; key a = 0x01; plan q; ; type A = u8;",
        "
            KP0102 1:9 `key` is outside of a space [key] expected `space NAME { … }` around it
            KP0102 1:23 the plan is named twice [plan] not here
            KP0102 1:31 `;` ends nothing [;] can be left out
        ",
    );
    check_file(
        "type A = u8; plan p;",
        "
            KP0102 1:14 `plan NAME;` comes before everything but `//!` [plan] not here
        ",
    );
    check_file(
        "",
        "
            KP0106 1:1 the file does not name its plan [] expected `plan NAME;` (help: begin the file with `plan NAME;`, after the lines of `//!` if there are any)
        ",
    );
    check_file(
        "plan ;",
        "
            KP0102 1:6 expected the name of the plan, found `;` [;] expected the name of the plan
        ",
    );
    check_file(
        "space s { }",
        "
            KP0106 1:1 the file does not name its plan [space] expected `plan NAME;` (help: begin the file with `plan NAME;`, after the lines of `//!` if there are any)
        ",
    );
}

#[test]
fn statements_lack_what_they_need() {
    check(
        "key = 0x01; key a 0x01; key b; module m { } module n = { } allot x; allot 1..3 x; allot 1; retired 0x01; retired \"x\";",
        "
            KP0102 2:5 expected the name of the family, found `=` [=] expected the name of the family
            KP0102 2:18 expected `=` and parts after the name of the family, found `0x01` [] expected `=`
            KP0102 2:30 expected `=` and parts after the name of the family, found `;` [] expected `=`
            KP0102 2:40 expected `=` and a prefix after the name of the module, found `{` [] expected `=`
            KP0102 2:56 expected the literals that the module's keys begin with, found `{` [{] expected the literals that the module's keys begin with
            KP0102 2:66 expected the number that is allotted, or the first of a range, found `x` [x] expected the number that is allotted, or the first of a range
            KP0102 2:76 expected `..=`: a range includes its end, found `..` [..] expected `..=`: a range includes its end
            KP0102 2:90 expected the name of the allotment, found `;` [;] expected the name of the allotment
            KP0102 2:104 expected the reason, a string, found `;` [;] expected the reason, a string
            KP0102 2:117 expected the reason, a string, found `;` [;] expected the reason, a string
        ",
    );
    check(
        "key a = x: bytes(1..3) y: bytes(..=3) z: bytes(b\"x\") w: bytes(1,) v: bytes(1 | ) u: u8(-) t: same s: u8. ;",
        r#"
            KP0102 2:19 expected `..=`: a range includes its end, found `..` [..] expected `..=`: a range includes its end
            KP0102 2:33 expected the first number of the range, found `..=` [..=] expected the first number of the range (help: write `0..=3`)
            KP0102 2:48 expected a number, a range, a string or a domain, found a byte string [b"x"] expected a number, a range, a string or a domain
            KP0102 2:65 expected a number, a range, a string or a domain, found `)` [)] expected a number, a range, a string or a domain
            KP0102 2:80 expected a number, found `)` [)] expected a number
            KP0102 2:89 expected a number, found `)` [)] expected a number
            KP0102 2:106 expected an encoding, such as `be`, found `;` [;] expected an encoding, such as `be`
        "#,
    );
    check(
        "key a = x = 5; key b = x = crc16; key c = x = crc16(); key d = same(5); key e = sha256(u8); key f = sha256(\"\", x);",
        "
            KP0102 2:13 expected a function, such as `crc16`, found `5` [5] expected a function, such as `crc16`
            KP0102 2:33 expected `(` and the names of arguments after the function, found `;` [] expected `(`
            KP0102 2:53 expected the name of an argument, found `)` [)] expected the name of an argument
            KP0102 2:69 expected the name of an argument, found `5` [5] expected the name of an argument
            KP0102 2:88 expected the constant that is hashed, found `u8` [u8] expected the constant that is hashed (help: write `u8: bytes(20).hashed(sha256)`)
            KP0102 2:112 expected how many bytes of the hash are kept, found `x` [x] expected how many bytes of the hash are kept
        ",
    );
    check(
        "key a = 0x01 scan; key b = 0x01 scan by; key c = 0x01 scan all in; key d = 0x01 accept; key e = 0x01 accept leak; key f = 0x01 allot; key g = 0x01 retired; key h = 0x01 field; key i = 0x01 field x = -> json; key j = 0x01 -> scan all; key k = 0x01 member; key l = 0x01 -> score;",
        "
            KP0102 2:18 expected `by` or `all`, found `;` [;] expected `by` or `all`
            KP0102 2:40 expected the name of an argument, found `;` [;] expected the name of an argument
            KP0102 2:66 expected `order`, found `;` [;] expected `order`
            KP0102 2:87 expected the flaw that is accepted, such as `ambiguous`, found `;` [;] expected the flaw that is accepted, such as `ambiguous`
            KP0102 2:113 expected the reason, a string, found `;` [;] expected the reason, a string (help: write `accept leak \"why\"`)
            KP0102 2:133 expected the name of an allotment, found `;` [;] expected the name of an allotment
            KP0102 2:155 expected the reason, a string, found `;` [;] expected the reason, a string
            KP0102 2:175 expected the name of the field, found `;` [;] expected the name of the field
            KP0102 2:200 expected the parts of the field's key, found `->` [->] expected the parts of the field's key
            KP0102 2:225 expected the layout of the value, found `scan` [scan] expected the layout of the value
            KP0102 2:254 expected the layout of the member, found `;` [;] expected the layout of the member
        ",
    );
    check_file(
        "plan p; import x; type = u8; type A u8; type B =; names N = text; names M = text { \"a\" \"b\", 5, retired, \"c\" } space { } space t = 5 { } space u",
        "
            KP0102 1:16 expected the path of a plan file, a string, found `x` [x] expected the path of a plan file, a string
            KP0102 1:24 expected the name of the type, found `=` [=] expected the name of the type
            KP0102 1:36 expected `=` and a domain after the name of the type, found `u8` [] expected `=`
            KP0102 1:49 expected a domain, such as `u64`, found `;` [;] expected a domain, such as `u64`
            KP0102 1:65 expected `{` before the names, found `;` [] expected `{`
            KP0102 1:87 expected `,` between two names, found a string [] expected `,`
            KP0102 1:93 expected a name in quotes, found `5` [5] expected a name in quotes
            KP0102 1:103 expected a name in quotes, found `,` [,] expected a name in quotes
            KP0102 1:117 expected the name of the space, found `{` [{] expected the name of the space
            KP0102 1:131 expected the name that the engine knows the space by, a string, found `5` [5] expected the name that the engine knows the space by, a string
            KP0102 1:144 expected `{` before what is inside, found the end of the file [] expected `{`
        ",
    );
}

#[test]
fn malformed_literals_are_reported_where_they_stand() {
    check(
        "key a = 0x123 0x0g 12ab \"\\q\\x80\" b\"é\" sha256(0x1); allot 0x100000000000000000000000000000000 x;",
        r#"
            KP0103 2:9 bytes have an even number of hexadecimal digits [0x123]  (help: write `0x0123`)
            KP0103 2:18 `g` is not a hexadecimal digit [g]
            KP0103 2:22 `a` is not a decimal digit [ab]
            KP0103 2:26 there is no escape `\q`; write a backslash as `\\`, a byte as `\xNN` [\q]
            KP0103 2:28 `\x80` is not a character; write bytes as `b"…"` [\x80]
            KP0103 2:36 a byte string holds only ASCII; write `\xNN` [é]
            KP0103 2:58 the number does not fit 128 bits [0x100000000000000000000000000000000]
        "#,
    );
}

#[test]
fn a_hundred_mistakes_are_listed_and_the_rest_are_counted() {
    let parsed =
        parse(FileId(0), &format!("plan p; space s {{ {} }}", "key a = 5; key b = @ 0x01; ".repeat(80)));
    assert_eq!(parsed.diagnostics.len(), 101);
    let last = parsed.diagnostics.last().unwrap();
    assert_eq!((last.code, last.message.as_str()), (Code::TooManyFaults, "60 more mistakes are not shown"));
}

#[test]
fn what_other_languages_write_is_told_with_what_to_write_here() {
    check_file(
        "# a plan\nplan p; # of mine\nspace s { key a = 0x01; }",
        "
            KP0101 1:1 `#` begins no comment [# a plan] not part of the language (help: a comment is written `// …`)
            KP0101 2:9 `#` begins no comment [# of mine] not part of the language (help: a comment is written `// …`)
        ",
    );
    check(
        "key a = 0x01, b: u8, c: (d: u8, e: u8) + f: u8 || g: u8;\nkey b = 0x01, scan all => u64;",
        "
            KP0102 2:13 parts have nothing between them, found `,` [,] can be left out (help: parts are written one after the other, with nothing between them: leave it out)
            KP0102 2:20 parts have nothing between them, found `,` [,] can be left out (help: parts are written one after the other, with nothing between them: leave it out)
            KP0102 2:31 parts have nothing between them, found `,` [,] can be left out (help: parts are written one after the other, with nothing between them: leave it out)
            KP0101 2:40 `+` begins no token [+] not part of the language (help: parts are written one after the other, with nothing between them: leave it out)
            KP0102 2:48 expected a part, a clause or `;`, found `|` [|] cannot begin a part or a clause (help: parts are written one after the other, with nothing between them: leave it out)
            KP0102 3:13 expected a part, a clause or `;`, found `,` [,] cannot begin a part or a clause (help: parts are written one after the other, with nothing between them: leave it out)
            KP0101 3:24 `=>` is not an arrow of the language [=>] not part of it (help: write `->`)
        ",
    );
    check(
        "key a = “accum/” 'b' 'cd' `e` x: u8 → u8;",
        r#"
            KP0101 2:9 a string in curly quotes [“accum/”] strings are in double quotes (help: write `"accum/"`)
            KP0101 2:18 a character in single quotes ['b'] strings are in double quotes (help: write `"b"`)
            KP0101 2:22 a string in single quotes ['cd'] strings are in double quotes (help: write `"cd"`)
            KP0101 2:27 a string in back quotes [`e`] strings are in double quotes (help: write `"e"`)
            KP0101 2:37 `→ (U+2192)` begins no token [→] not part of the language (help: write `->`)
        "#,
    );
    check(
        "key a = b: []byte c: [32]byte d: Vec<u8> e: [u8; 4] f: Option<u64>.len8;",
        "
            KP0101 2:12 no domain is written `[]byte` [[]byte] not part of the language (help: write `bytes`)
            KP0101 2:22 no domain is written `[32]byte` [[32]byte] not part of the language (help: write `bytes(32)`)
            KP0101 2:34 no domain is written `Vec<u8>` [Vec<u8>] not part of the language (help: write `bytes`)
            KP0101 2:45 no domain is written `[u8; 4]` [[u8; 4]] not part of the language (help: write `bytes(4)`)
            KP0101 2:56 no domain is written `Option<u64>` [Option<u64>] not part of the language (help: write `option(u64)`)
        ",
    );
    check(
        "key a = b: bytes[32] c: u8[4] d: string[] e: u64 BE; key b = c: &str d: f32;",
        "
            KP0101 2:12 no domain is written `bytes[32]` [bytes[32]] not part of the language (help: write `bytes(32)`)
            KP0101 2:25 no domain is written `u8[4]` [u8[4]] not part of the language (help: write `bytes(4)`)
            KP0101 2:34 no domain is written `string[]` [string[]] not part of the language (help: write `list(text)`)
            KP0102 2:50 expected a part, a clause or `;`, found `BE` [BE] cannot begin a part or a clause (help: an encoding is written after its domain and a dot: `.be`)
            KP0101 2:65 `&` begins no token [&] not part of the language (help: leave it out: parts have nothing between them, and a domain is never a reference)
        ",
    );
    check(
        "key a = keccak(\"x\"); key b = 0x01 ttl 3600 scan all; key c = x: text(..=252);",
        "
            KP0102 2:9 expected a part, a clause or `;`, found `keccak` [keccak] cannot begin a part or a clause (help: no hash function is called `keccak`; there are: xxh3_64, twox_64, twox_128, blake2b_128, blake2b_256, sha256, keccak256, blake2b_224, hash160, siphash_24)
            KP0102 2:35 expected a part, a clause or `;`, found `ttl` [ttl] cannot begin a part or a clause (help: which rows are kept is said by `retain`: `retain 30 days by at`, `retain 100_000 by height`)
            KP0102 2:70 expected the first number of the range, found `..=` [..=] expected the first number of the range (help: write `0..=252`)
        ",
    );
}
