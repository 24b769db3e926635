//! Values in formats of their own, from the plan to the terminal and back.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const PLAN: &str = r#"plan shop;

import "proto/shop.proto";

/// An account.
type Address = bytes(20).shown(bech32("osmo"));

space s {
    key coin = 0x01 who: Address -> proto("Coin") scan all;
    key point = 0x02 txid: bytes(4).shown(reversed) at: u64.shown(seconds)
        -> bincode((origin: | slot: u64 | specific: (slot: u64 hash: text)));
    key mixed = 0x03 id: u16 -> era: u16 body: cbor;
    key account = 0x04 id: u16 -> borsh((owner: bytes(2) balance: u128 tags: list(text) note: option(bool)));
}
"#;

const SCHEMA: &str = r#"syntax = "proto3";
package shop.v1;
message Coin { string denom = 1; uint64 amount = 2; repeated int32 parts = 3; }
"#;

/// The address of twenty zero bytes.
const ZEROS: &str = "osmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmcn030";

fn keyplan(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    command.current_dir(directory).env("NO_COLOR", "1").args(arguments).output().unwrap()
}

fn printed(directory: &Path, arguments: &[&str]) -> String {
    let output = keyplan(directory, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(directory: &Path, arguments: &[&str]) -> String {
    let output = keyplan(directory, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn project() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("proto")).unwrap();
    fs::write(directory.path().join("shop.keyplan"), PLAN).unwrap();
    fs::write(directory.path().join("proto/shop.proto"), SCHEMA).unwrap();
    directory
}

fn filled() -> tempfile::TempDir {
    let directory = project();
    let at = directory.path();
    printed(at, &["db", "create", "data", "shop.keyplan"]);
    let who = format!("who={ZEROS}");
    printed(at, &["db", "put", "data", "coin", &who, r#"value={"denom":"uosmo","amount":5,"parts":[1,-2]}"#]);
    let time = "at=2023-12-20T18:40:00Z";
    printed(at, &["db", "put", "data", "point", "txid=04030201", time, r#"value={"slot":7}"#]);
    printed(at, &["db", "put", "data", "mixed", "id=1", "era=6", r#"body={"a":[1]}"#]);
    let account = r#"value={"owner":"00ff","balance":"340282366920938463463374607431768211455","tags":["x"],"note":null}"#;
    printed(at, &["db", "put", "data", "account", "id=1", account]);
    directory
}

/// The rows of a dump or of a scan, by family.
fn rows(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn values_are_put_read_dumped_and_loaded_as_what_they_are() {
    let directory = filled();
    let at = directory.path();
    // The schema lies in the database beside the plan.
    fs::remove_dir_all(at.join("proto")).unwrap();
    let who = format!("who={ZEROS}");
    let coin = r#"{denom: "uosmo", amount: 5, parts: [1, -2]}"#;
    assert_eq!(printed(at, &["db", "get", "data", "coin", &who]), format!("{coin}\n"));
    let by_hex = format!("who={}", "00".repeat(20));
    assert_eq!(printed(at, &["db", "get", "data", "coin", &by_hex]), format!("{coin}\n"));
    assert_eq!(printed(at, &["db", "scan", "data", "coin"]), format!("s.coin who={ZEROS}  → {coin}\n"));

    let dump = printed(at, &["db", "dump", "data"]);
    let all = rows(&dump);
    assert_eq!(all[0]["args"], json!({"who": ZEROS}));
    assert_eq!(all[0]["value"]["amount"], json!(5), "as `jq .value.amount` has it");
    assert_eq!(all[1]["args"], json!({"txid": "04030201", "at": "2023-12-20T18:40:00Z"}));
    assert_eq!(all[1]["value"], json!({"slot": 7}));
    assert_eq!(all[2]["value"], json!({"era": 6, "body": {"a": [1]}}));
    assert_eq!(all[3]["value"]["balance"], json!("340282366920938463463374607431768211455"));

    fs::write(at.join("rows.jsonl"), &dump).unwrap();
    fs::create_dir(at.join("proto")).unwrap();
    fs::write(at.join("proto/shop.proto"), SCHEMA).unwrap();
    printed(at, &["db", "create", "other", "shop.keyplan", "--engine", "redb"]);
    printed(at, &["db", "load", "other", "rows.jsonl"]);
    assert_eq!(printed(at, &["db", "dump", "other"]), dump);
    let sum = |name: &str| printed(at, &["db", "checksum", name]);
    assert_eq!(sum("data").split_whitespace().last(), sum("other").split_whitespace().last());

    let wrong = refused(at, &["db", "put", "data", "coin", &who, r#"value={"denom":1}"#]);
    assert!(wrong.contains("`denom`: a text belongs here, not 1"), "{wrong}");
    let wrong = refused(at, &["db", "put", "data", "coin", "who=cosmos1qqqq", "value={}"]);
    assert!(wrong.contains("an address that begins with `osmo1`"), "{wrong}");
}

#[test]
fn a_value_is_explained_byte_by_byte() {
    let directory = project();
    let at = directory.path();
    let key = format!("01{}", "00".repeat(20));
    let drawn = printed(at, &["explain", "shop.keyplan", &key, "--value", "0a05756f736d6f1005"]);
    assert!(drawn.contains(&format!("who = {ZEROS}")), "{drawn}");
    assert!(drawn.contains("  0a05 756f736d6f 10 05\n"), "{drawn}");
    assert!(drawn.contains("denom = \"uosmo\"") && drawn.contains("amount = 5"), "{drawn}");
    let line = printed(at, &["explain", "shop.keyplan", &key, "--value", "1005", "--format", "json"]);
    let part: Value = serde_json::from_str(line.lines().last().unwrap()).unwrap();
    assert_eq!(part["decoded"], json!({"amount": 5}));
    let broken = printed(at, &["explain", "shop.keyplan", &key, "--value", "0aff"]);
    assert!(broken.contains("not proto(\"Coin\"): byte 2: it ends too soon"), "{broken}");
}

#[test]
fn audit_and_diff_look_into_values() {
    let directory = filled();
    let at = directory.path();
    let who = |digit: &str| format!("who={}", digit.repeat(20));
    for (digit, value) in [("11", "value=1005380a"), ("22", "value=108500"), ("33", "value=0aff")] {
        printed(at, &["db", "put", "data", "coin", &who(digit), value]);
    }
    let found = refused(at, &["db", "audit", "data"]);
    for said in [
        "fields that the schema of Coin does not have: 7",
        "byte 1: it is not written as it would be",
        "not Coin: byte 2: it ends too soon",
    ] {
        assert!(found.contains(said), "{said}\n{found}");
    }
    // What only its bytes make again is read beside them, and loads.
    let dump = printed(at, &["db", "dump", "data"]);
    let unknown = rows(&dump).into_iter().find(|row| row["value"] == json!("1005380a")).unwrap();
    assert_eq!(unknown["decoded"], json!({"?7": 10, "amount": 5}));

    fs::write(at.join("rows.jsonl"), &dump).unwrap();
    printed(at, &["db", "create", "other", "shop.keyplan"]);
    printed(at, &["db", "load", "other", "rows.jsonl"]);
    printed(
        at,
        &["db", "put", "other", "coin", &format!("who={ZEROS}"), r#"value={"denom":"uion","amount":5}"#],
    );
    let lines = refused(at, &["db", "diff", "data", "other", "--format", "json"]);
    assert!(lines.contains("uosmo") && lines.contains("uion") && lines.contains("denom"), "{lines}");

    // A row that only one of them has is shown as what it is, too.
    printed(at, &["db", "put", "other", "coin", &who("44"), r#"value={"denom":"uatom","amount":7}"#]);
    let shown = refused(at, &["db", "diff", "data", "other"]);
    assert!(shown.contains(r#"{denom: "uatom", amount: 7}"#), "{shown}");
    let lines = refused(at, &["db", "diff", "data", "other", "--format", "json"]);
    let added = lines.lines().find(|line| line.contains(r#""change":"added""#)).unwrap();
    let added: Value = serde_json::from_str(added).unwrap();
    assert_eq!(added["decoded"], json!({"denom": "uatom", "amount": 7}));
}

#[test]
fn a_schema_that_lacks_or_loses_a_message_is_found() {
    let directory = project();
    let at = directory.path();
    printed(at, &["check", "shop.keyplan", "--certificate", "proof.json"]);
    printed(at, &["verify", "proof.json", "shop.keyplan"]);
    let before = printed(at, &["check", "shop.keyplan", "--format", "json"]);
    let certificate: Value =
        serde_json::from_str(&fs::read_to_string(at.join("proof.json")).unwrap()).unwrap();
    assert_eq!(certificate["schemas"].as_str().unwrap().len(), 64);

    fs::write(at.join("proto/shop.proto"), SCHEMA.replace("parts = 3", "parts = 4")).unwrap();
    let rejected = refused(at, &["verify", "proof.json", "shop.keyplan"]);
    assert!(rejected.contains("schemas of values with the hash"), "{rejected}");
    let fingerprint = |text: &str| {
        let report: Value = serde_json::from_str(text).unwrap();
        report.to_string().split("\"fingerprint\":\"").nth(1).unwrap()[..32].to_owned()
    };
    let after = printed(at, &["check", "shop.keyplan", "--format", "json"]);
    assert_eq!(fingerprint(&before), fingerprint(&after), "no key moves with a schema");

    fs::write(at.join("proto/shop.proto"), SCHEMA.replace("message Coin", "message Coins")).unwrap();
    let lacking = refused(at, &["check", "shop.keyplan"]);
    assert!(lacking.contains("KP0241") && lacking.contains("`Coin` is not a message"), "{lacking}");
    fs::write(at.join("proto/shop.proto"), SCHEMA.replace("uint64 amount", "Amount amount")).unwrap();
    let broken = refused(at, &["check", "shop.keyplan"]);
    assert!(broken.contains("KP0240") && broken.contains("proto/shop.proto:3:"), "{broken}");
    fs::remove_file(at.join("proto/shop.proto")).unwrap();
    let missing = refused(at, &["check", "shop.keyplan"]);
    assert!(missing.contains("cannot read `proto/shop.proto`: there is no such file"), "{missing}");
    // Keys have their meaning all the same, and values that of their wire.
    let key = format!("01{}", "00".repeat(20));
    let wire = printed(at, &["explain", "shop.keyplan", &key, "--value", "1005"]);
    assert!(wire.contains("wire {2: 5}"), "{wire}");
}

#[test]
fn a_message_that_the_schemas_lack_is_found_inside_of_options_and_lists() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(
        at.join("shop.proto"),
        "syntax = \"proto3\";\npackage shop;\nmessage Coin { string denom = 1; }\n",
    )
    .unwrap();
    let plan = "plan p; import \"shop.proto\"; space s {
        key a = 0x01 -> x: option(proto(\"shop.Nope\"));
        key b = 0x02 -> x: list(proto(\"shop.Nope\").len8, 0..=2);
        key c = 0x03 -> x: option(proto(\"shop.Coin\"));
    }";
    fs::write(at.join("p.keyplan"), plan).unwrap();
    let lacking = refused(at, &["check", "p.keyplan"]);
    assert_eq!(lacking.matches("`shop.Nope` is not a message").count(), 2, "{lacking}");
}

/// The messages of the chains whose plans are here.
#[test]
fn values_of_real_systems_have_names() {
    let directory = tempfile::tempdir().unwrap();
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let read = |plan: &str, family: &str, value: &str| {
        let plan = plans.join(plan).to_str().unwrap().to_owned();
        let line = printed(
            directory.path(),
            &["explain", &plan, "--family", family, "--value", value, "--format", "json"],
        );
        let part: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(part.get("by"), None, "{line}");
        part["decoded"].clone()
    };
    // A position in pool 1, field by field in the order of their numbers.
    let position = "080712056f736d6f311801209cffffffffffffffff01286432060880ea8cac063a0131";
    let position_read = json!({
        "position_id": 7, "address": "osmo1", "pool_id": 1, "lower_tick": -100, "upper_tick": 100,
        "join_time": "2023-12-20T18:40:00Z", "liquidity": "1"
    });
    for plan in ["osmosis_cl.keyplan", "upstream/osmosis_cl.keyplan", "evolve/osmosis_cl_v2.keyplan"] {
        assert_eq!(read(plan, "cl.position", position), position_read, "{plan}");
    }
    let pool = "0801120475706177";
    for plan in ["paw.keyplan", "paw_v2.keyplan"] {
        assert_eq!(read(plan, "dex.pool", pool), json!({"id": 1, "token_a": "upaw"}), "{plan}");
        assert_eq!(read(plan, "oracle.params", "0805"), json!({"vote_period": 5}), "{plan}");
    }
    assert_eq!(read("upstream/paw.keyplan", "keeper.provider_cache", "1032")["reputation"], json!(50));
}

#[test]
fn the_plan_of_a_database_is_written_with_what_it_imports() {
    let directory = project();
    let at = directory.path();
    fs::create_dir(at.join("plans")).unwrap();
    fs::write(at.join("plans/types.keyplan"), "plan types; type Id = u32.le;").unwrap();
    let plan =
        PLAN.replace("import", "import types \"plans/types.keyplan\";\nimport").replace("id: u16", "id: Id");
    fs::write(at.join("shop.keyplan"), &plan).unwrap();
    let made = printed(at, &["db", "create", "data", "shop.keyplan"]);
    let output = keyplan(at, &["db", "plan", "data"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), plan);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "not shown: 2 imported files; -o FOLDER writes all of them\n");

    assert_eq!(printed(at, &["db", "plan", "data", "-o", "was"]), "was/shop.keyplan\n");
    for gone in ["plans", "proto"] {
        fs::remove_dir_all(at.join(gone)).unwrap();
    }
    let again = printed(at, &["db", "create", "other", "was/shop.keyplan"]);
    let fingerprint = |text: &str| text.split("fingerprint ").nth(1).unwrap()[..32].to_owned();
    assert_eq!(fingerprint(&again), fingerprint(&made));
    assert_eq!(fs::read_to_string(at.join("was/proto/shop.proto")).unwrap(), SCHEMA);
    let refused = refused(at, &["db", "plan", "data", "-o", "was"]);
    assert!(refused.contains("`was` is not empty"), "{refused}");
}

const TYPES: &str = "//! The types of a chain's values.
plan types;

type Coin = (denom: text amount: u128);
type Order = (none: | sell: (price: u64 coin: Coin));
type Account = (owner: bytes(2) coins: list(Coin) order: Order limits: list((key: u8 value: u32)));
";

const TYPED: &str = r#"plan typed;

import types "types.keyplan";

space s {
    key by_bcs = 0x01 id: u16 -> bcs(Account);
    key by_scale = 0x02 id: u16 -> scale(Account);
    key by_borsh = 0x03 id: u16 -> borsh(Account);
}
"#;

/// What a registry is elsewhere: types with names, once, for every format that needs to be told.
#[test]
fn types_of_values_are_named_once_in_a_file_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("types.keyplan"), TYPES).unwrap();
    fs::write(at.join("typed.keyplan"), TYPED).unwrap();
    printed(at, &["check", "typed.keyplan", "--certificate", "typed.json"]);
    printed(at, &["db", "create", "data", "typed.keyplan"]);
    let account = json!({
        "owner": "00ff",
        "coins": [{"denom": "uosmo", "amount": 5}],
        "order": {"sell": {"price": 7, "coin": {"denom": "a", "amount": 1}}},
        "limits": [{"key": 1, "value": 2}],
    });
    // The same parts; what comes before lists, texts and variants is each format's own.
    let amounts = |five: &str, one: &str, lengths: [&str; 4]| {
        let [coins, denom, a, limits] = lengths;
        format!(
            "00ff{coins}{denom}756f736d6f{five}01{seven}{a}61{one}{limits}0102000000",
            seven = "0700000000000000"
        )
    };
    let (five, one) = (format!("05{}", "00".repeat(15)), format!("01{}", "00".repeat(15)));
    let expected = [
        ("by_bcs", amounts(&five, &one, ["01", "05", "01", "01"])),
        ("by_scale", amounts(&five, &one, ["04", "14", "04", "04"])),
        ("by_borsh", amounts(&five, &one, ["01000000", "05000000", "01000000", "01000000"])),
    ];
    for (number, (family, bytes)) in expected.iter().enumerate() {
        printed(at, &["db", "put", "data", family, "id=1", &format!("value={account}")]);
        let shown = r#"{"owner": h'00ff', "coins": [{"denom": "uosmo", "amount": 5}], "order": sell({"price": 7, "coin": {"denom": "a", "amount": 1}}), "limits": [{"key": 1, "value": 2}]}"#;
        assert_eq!(printed(at, &["db", "get", "data", family, "id=1"]), format!("{shown}\n"));
        let key = format!("0{}0001", number + 1);
        let raw = printed(at, &["db", "dump", "data", "--raw", "--format", "json"]);
        let row = rows(&raw).into_iter().find(|row| row["key"] == key).unwrap();
        assert_eq!(row["value"], json!(bytes), "{family}");
        let drawn = printed(at, &["explain", "typed.keyplan", &key, "--value", bytes]);
        assert!(drawn.contains("coins.0.amount = 5") && drawn.contains("order.sell.price = 7"), "{drawn}");
    }
    let dump = printed(at, &["db", "dump", "data"]);
    assert!(rows(&dump).iter().all(|row| row["value"] == account), "{dump}");
    fs::write(at.join("rows"), dump.replacen("\"amount\":5", "\"amount\":6", 1)).unwrap();
    printed(at, &["db", "create", "other", "typed.keyplan", "--engine", "redb"]);
    printed(at, &["db", "load", "other", "rows"]);
    let differs = String::from_utf8(keyplan(at, &["db", "diff", "data", "other"]).stdout).unwrap();
    let change = r#"~ s.by_bcs id=1  coins: [{"amount":5,"denom":"uosmo"}] → [{"amount":6,"denom":"uosmo"}]"#;
    assert!(differs.starts_with(change), "{differs}");
    assert!(printed(at, &["db", "audit", "data"]).ends_with("no findings\n"));
    fs::write(at.join("short"), r#"{"space":"s","key":"030002","value":"00ff"}"#).unwrap();
    printed(at, &["db", "load", "data", "short"]);
    let audit = refused(at, &["db", "audit", "data"]);
    assert!(audit.contains("not of its type in Borsh: byte 2: it ends too soon"), "{audit}");

    // The types lie in the database, and a certificate and a fingerprint are of them as well.
    printed(at, &["db", "plan", "data", "-o", "kept"]);
    assert_eq!(fs::read_to_string(at.join("kept/types.keyplan")).unwrap(), TYPES);
    fs::write(at.join("types.keyplan"), TYPES.replace("amount: u128", "amount: u64")).unwrap();
    assert!(refused(at, &["verify", "typed.keyplan", "typed.json"]).contains("rejected"));
    let other = refused(at, &["db", "scan", "data", "--plan", "typed.keyplan"]);
    assert!(other.contains("but written under"), "{other}");
    fs::remove_file(at.join("types.keyplan")).unwrap();
    assert_eq!(printed(at, &["db", "scan", "data", "--count"]), "4 rows\n");
}

/// The entities of a Cardano node: arrays by position on the disk, names here.
#[test]
fn entities_of_dolos_have_names() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::copy("../../plans/dolos/entities.keyplan", at.join("entities.keyplan")).unwrap();
    printed(at, &["db", "create", "data", "entities.keyplan"]);
    let (pool, tx) = ("11".repeat(28), "22".repeat(32));
    let rows_of = [
        // [[0, 0, 1], null, 432000, 1, 2], and the same without a protocol.
        ("era", "8583000001f61a00069780 01 02".to_owned()),
        ("era", "8483000001f61a00069780 01".to_owned()),
        ("datum", "820343 01ffa0".to_owned()),
        ("asset", format!("8490{}5820{tx}f605", "00".repeat(15) + "07")),
        ("pending_reward", format!("848200581c{pool}f58182581c{pool}1903e880")),
        (
            "account",
            format!(
                "8701 83820181186af6840a000000 8382018118 6a f68200 81581c{pool} 8182018118 6af6f6 8200581c{pool}"
            ),
        ),
    ];
    for (number, (family, bytes)) in rows_of.iter().enumerate() {
        let bytes: String = bytes.split_whitespace().collect();
        let key = format!("key={}", format!("{number:02x}").repeat(32));
        printed(at, &["db", "put", "data", family, &key, &format!("value={bytes}")]);
    }
    let scan = printed(at, &["db", "scan", "data"]);
    let value = |family: &str, number: usize| {
        let begin = format!("entities.{family} key=0x{}  → ", format!("{number:02x}").repeat(32));
        let line = scan.lines().find_map(|line| line.strip_prefix(&begin));
        line.unwrap_or_else(|| panic!("{scan}")).to_owned()
    };
    let era = r#"{"start": {"epoch": 0, "slot": 0, "timestamp": 1}, "end": null, "epoch_length": 432000, "slot_length": 1, "protocol": "#;
    assert_eq!(value("era", 0), format!("{era}2}}"));
    assert_eq!(value("era", 1), format!("{era}null}}"));
    assert_eq!(value("datum", 2), r#"{"refcount": 3, "bytes": h'01ffa0'}"#);
    let asset = format!(
        r#"{{"quantity_bytes": [{}7], "initial_tx": h'{tx}', "initial_slot": null, "mint_tx_count": 5, "metadata_tx": null}}"#,
        "0, ".repeat(15)
    );
    assert_eq!(value("asset", 3), asset);
    let reward = format!(
        r#"{{"credential": {{"kind": key, "hash": h'{pool}'}}, "is_spendable": true, "as_leader": [{{"pool": h'{pool}', "amount": 1000}}], "as_delegator": []}}"#
    );
    assert_eq!(value("pending_reward", 4), reward);
    let account = value("account", 5);
    assert!(
        account.starts_with(
            r#"{"registered_at": 1, "stake": {"epoch": epoch(106), "next": null, "live": {"utxo_sum": 10, "#
        ),
        "{account}"
    );
    assert!(account.contains(&format!(r#""live": pool(h'{pool}')"#)), "{account}");
    assert!(printed(at, &["db", "audit", "data"]).ends_with("no findings\n"));
    let dump = printed(at, &["db", "dump", "data"]);
    let era = rows(&dump).into_iter().find(|row| row["family"] == "entities.era").unwrap();
    assert_eq!(era["value"]["start"]["timestamp"], json!(1));
    // From JSON, as the node would write it.
    let key = format!("key={}", "00".repeat(32));
    let given = r#"value={"start":{"epoch":0,"slot":0,"timestamp":1},"epoch_length":432000,"slot_length":1}"#;
    printed(at, &["db", "put", "data", "era", &key, given]);
    let stored = printed(at, &["db", "get", "data", "era", &key]);
    assert_eq!(stored.trim_end(), value("era", 1));
    let bad = refused(at, &["db", "put", "data", "era", &key, r#"value={"start":{"epoch":-1}}"#]);
    assert!(bad.contains("`start.epoch`: a number of 8 bytes belongs here, not -1"), "{bad}");
    printed(at, &["db", "put", "data", "datum", &key, "value=83034101f5"]);
    let audit = refused(at, &["db", "audit", "data"]);
    assert!(audit.contains("not of its type in CBOR: byte 4: fields that the type does not have"), "{audit}");
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one entity after the other, each with the bytes that Dolos writes"
)]
fn fields_of_dolos_entities_are_drawn_by_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::copy("../../plans/dolos/entities.keyplan", at.join("entities.keyplan")).unwrap();
    printed(at, &["db", "create", "data", "entities.keyplan"]);
    let (pool, tx) = (format!("581c{}", "11".repeat(28)), format!("5820{}", "22".repeat(32)));
    let cases = [
        ("pending_mir", format!("83 8201{pool} 07 08"), "credential.kind = script; from_treasury = 8"),
        (
            "stake",
            "8c 01 02 fb3f90000000000000 03 f6f6 04 05 06 07 08 d81e82031864".to_owned(),
            "relative_size = 0.015625; unused_5 = null; live_pledge = 4; fixed_cost = 8; margin_cost.1 = 100",
        ),
        (
            "account_epoch",
            format!("85 1a000f4240 {pool} 1901f4 8182{pool}07 80"),
            "active_stake = 1000000; member_reward = 500; leader_rewards.0.amount = 7; deposit_refunds = []",
        ),
        // A hash is not part of this identifier, and there is no anchor.
        (
            "drep",
            "8a 8219d90303 18c8 f6 f6 f4 1a1dcd6500 8102 f6 821901a41901a5 821904d204".to_owned(),
            "registered_at.slot = 55555; voting_power = 200; expired = false; identifier.kind = abstain; \
             anchor = null; expiry.updated_in = 421; first_seen_at.order = 4",
        ),
        // After the snapshots, fields are numbered from 11.
        (
            "pool",
            format!(
                "91 f6 {pool} 8382018119012cf6 85f6f40387{tx}0102d81e8203186482090881{pool}8182026172f5
                 f6f6f6f6f6f6f6f6 04 05 f6 f6f6 06"
            ),
            "snapshot.epoch.epoch = 300; snapshot.live.blocks_minted = 3; snapshot.live.params.cost = 2; \
             snapshot.live.params.reward_account.0 = 9; snapshot.live.params.relays.0.1 = \"r\"; \
             snapshot.live.is_new = true; blocks_minted_total = 4; retiring_epoch = null; deposit = 6",
        ),
        // Sums of an older version end at the number 17.
        (
            "epoch",
            format!(
                "90 190192 8c0102030405060708090a0b0c 83820181190192f6 92f6f601020304050681{pool}f6f6f6f60708090a0b
                 f6f6f6f6f6f6 83820181190192f681828203182c820b820a01 1858 f6 f6 f6 f6 820308"
            ),
            "number = 402; initial_pots.proposal_deposits = 12; rolling.live.produced_utxos = 1; \
             rolling.live.blocks_minted = 7; rolling.live.proposal_refunds = 11; \
             pparams.live.values.0.kind = min_fee_a; pparams.live.values.0.value = 44; \
             pparams.live.values.1.kind = protocol_version; largest_stable_slot = 88; ewrap_progress.total = 8",
        ),
        (
            "gov",
            format!(
                "87 81826175{tx} 82a18200{pool}1901b8d81e820203 a0 82f682{tx}01 06 1901fb
                 861901f80304a1810205a009"
            ),
            "constitution.anchor.url = \"u\"; committee.threshold.1 = 3; \
             prev_gov_action_ids.hard_fork.action_index = 1; num_dormant_epochs = 6; active_since = 507; \
             distr.closing_epoch = 504; distr.total_shards = 4; distr.pool_total = 9",
        ),
        (
            "proposal",
            format!(
                "8e 05 {tx} 03 820181820a02 190203 f6 f6 1864 8200{pool} 1901fc 82{tx}04 01 826175{tx}
                 a18201{pool}81820901"
            ),
            "slot = 5; idx = 3; action.hard_fork.version.major = 10; max_epoch = 515; ratified_epoch = null; \
             deposit = 100; reward_account.kind = key; proposed_in = 508; parent.action_index = 4; \
             purpose = hard_fork; anchor.url = \"u\"",
        ),
        (
            "proposal",
            format!("84 00 {tx} 00 820583 818201{pool} 81828200{pool}190208 d81e820203"),
            "action.update_committee.to_remove.0.kind = script; \
             action.update_committee.to_add.0.epoch = 520; action.update_committee.threshold.0 = 2",
        ),
        ("proposal", format!("84 00 {tx} 00 820780"), "idx = 0; action = info"),
    ];
    for (number, (family, bytes, fields)) in cases.iter().enumerate() {
        let bytes: String = bytes.split_whitespace().collect();
        let key = format!("key={}", format!("{number:02x}").repeat(32));
        printed(at, &["db", "put", "data", family, &key, &format!("value={bytes}")]);
        let key = printed(at, &["encode", "entities.keyplan", family, &key]);
        let drawn = printed(at, &["explain", "entities.keyplan", key.trim_end(), "--value", &bytes]);
        for field in fields.split("; ") {
            assert!(drawn.contains(field), "{family}: {field}\n{drawn}");
        }
    }
    assert!(printed(at, &["db", "audit", "data"]).ends_with("no findings\n"));

    // As JSON, every field has its name, also where a part is a rational or a map by credentials; and the same bytes are made of it.
    let dump = printed(at, &["db", "dump", "data", "--format", "json"]);
    let all = rows(&dump);
    for row in &all {
        assert!(row["value"].is_object() && row.get("decoded").is_none(), "{row}");
    }
    let of = |family: &str| all.iter().find(|row| row["family"] == format!("entities.{family}")).unwrap();
    let credential = json!([0, {"$bytes": "11".repeat(28)}]);
    assert_eq!(of("gov")["value"]["committee"]["threshold"], json!({"$tag": 30, "$value": [2, 3]}));
    assert_eq!(of("gov")["value"]["committee"]["members"], json!({"$map": [[credential, 440]]}));
    assert_eq!(of("gov")["value"]["distr"]["drep_distr"], json!({"$map": [[[2], 5]]}));
    assert_eq!(of("stake")["value"]["margin_cost"], json!({"$tag": 30, "$value": [3, 100]}));
    assert_eq!(of("pool")["value"]["snapshot"]["live"]["params"]["pledge"], json!(1));
    assert_eq!(
        of("epoch")["value"]["pparams"]["live"]["values"][0],
        json!({"kind": "min_fee_a", "value": 44})
    );
    printed(at, &["db", "create", "again", "entities.keyplan", "--engine", "redb"]);
    fs::write(at.join("rows"), &dump).unwrap();
    printed(at, &["db", "load", "again", "rows"]);
    let raw = |name: &str| {
        let dump = printed(at, &["db", "dump", name, "--raw", "--format", "json"]);
        rows(&dump).into_iter().filter(|row| row["space"] == "state-entities").collect::<Vec<_>>()
    };
    assert_eq!((raw("data").len(), raw("again")), (cases.len(), raw("data")));

    // By `put`, and one field of one row in a comparison.
    let changed = of("gov")["value"].to_string().replace("440", "441");
    let key = format!("key={}", of("gov")["args"]["key"].as_str().unwrap());
    printed(at, &["db", "put", "again", "gov", &key, &format!("value={changed}")]);
    let differs = String::from_utf8(keyplan(at, &["db", "diff", "data", "again"]).stdout).unwrap();
    assert!(differs.contains("committee: {") && differs.contains("441"), "{differs}");
    assert!(printed(at, &["db", "audit", "again"]).ends_with("no findings\n"));
}

/// Of one row, all of its value is shown; of many, what fits on a line.
#[test]
fn one_row_is_shown_whole() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let plan = "plan p; space s { key text = 0x01 -> cbor; key raw = 0x02 -> raw; key none = 0x03; }";
    fs::write(at.join("p.keyplan"), plan).unwrap();
    printed(at, &["db", "create", "data", "p.keyplan"]);
    let (word, bytes) = ("x".repeat(600), "ab".repeat(300));
    let text = format!("{{\"name\": \"{word}\"}}");
    printed(at, &["db", "put", "data", "text", &format!("value={text}")]);
    printed(at, &["db", "put", "data", "raw", &format!("value={bytes}")]);
    printed(at, &["db", "put", "data", "none", &format!("value={bytes}")]);
    assert_eq!(printed(at, &["db", "get", "data", "text"]), format!("{text}\n"));
    assert_eq!(printed(at, &["db", "get", "data", "raw"]), format!("{bytes}\n"));
    assert_eq!(printed(at, &["db", "get", "data", "none"]), format!("{bytes}\n"));
    assert!(printed(at, &["db", "get", "data", "--raw", "02"]).ends_with(&format!("{bytes}\n")));
    let json = printed(at, &["db", "get", "data", "text", "--format", "json"]);
    assert_eq!(rows(&json)[0]["value"]["name"], json!(word));
    let scan = printed(at, &["db", "scan", "data"]);
    assert!(scan.lines().all(|line| line.chars().count() < 450), "{scan}");
}
