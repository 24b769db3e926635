//! The plans of the gallery: nothing is wrong with them but what they accept, and their bytes are those of the systems'
//! published rules.
#![cfg(test)]

use std::fmt::Write as _;
use std::path::Path;

use keyplan_plan::dynamic::{encode, parse};
use keyplan_plan::model::Plan;
use keyplan_prover::{Options, Verdict, diagnose, prove};

const NAMES: [&str; 8] =
    ["bitcoin_core", "cometbft", "cosmos_sdk", "electrs", "etcd", "go_ethereum", "iavl", "substrate"];

fn plan(name: &str) -> Plan {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/gallery");
    let text = std::fs::read_to_string(folder.join(format!("{name}.keyplan"))).unwrap();
    let compiled = keyplan_plan::compile(name, &text, |_| Err("no imports".to_owned()));
    assert_eq!(compiled.diagnostics, [], "{name}");
    compiled.plan.unwrap()
}

#[test]
fn every_plan_of_the_folder_is_checked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/gallery");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            entry.unwrap().file_name().into_string().unwrap().strip_suffix(".keyplan").map(str::to_owned)
        })
        .collect();
    found.sort();
    assert_eq!(found, NAMES);
}

/// The accepted flaws of a plan: code, family, and the other family.
fn accepted(name: &str) -> Vec<String> {
    let plan = plan(name);
    let options = Options::default();
    let report = prove(&plan, &options);
    let errors: Vec<String> = diagnose(&plan, &report, &options, name)
        .into_iter()
        // A family whose keys have no longest length gets a warning.
        .filter(|found| found.code.id() != "KP0010")
        .map(|found| format!("{} {}", found.code, found.message))
        .collect();
    assert_eq!(errors, Vec::<String>::new(), "{name}");
    let kept = report.statements.iter().filter(|statement| statement.accepted);
    kept.map(|statement| {
        assert!(matches!(statement.verdict, Verdict::Fails(_)), "{statement:?}");
        let other = statement.other.as_ref().map(|other| format!(" {other}")).unwrap_or_default();
        format!("{} {}{other}", statement.guarantee.code(), statement.family)
    })
    .collect()
}

#[test]
fn the_plans_have_the_flaws_that_they_accept_and_no_others() {
    assert_eq!(accepted("bitcoin_core"), Vec::<String>::new());
    assert_eq!(
        accepted("cometbft"),
        [
            "KP0004 blockstore.part",
            "KP0001 tx_index.event tx_index.tx",
            "KP0003 tx_index.event tx_index.tx",
            "KP0004 tx_index.event",
        ]
    );
    assert_eq!(accepted("cosmos_sdk"), Vec::<String>::new());
    assert_eq!(accepted("electrs"), ["KP0002 txid.by_txid", "KP0004 txid.by_txid", "KP0009 txid.by_txid"]);
    assert_eq!(accepted("etcd"), Vec::<String>::new());
    assert_eq!(accepted("go_ethereum"), ["KP0001 chaindata.account_trie_node chaindata.legacy_trie_node"]);
    assert_eq!(accepted("iavl"), Vec::<String>::new());
    assert_eq!(accepted("substrate"), Vec::<String>::new());
}

fn key(name: &str, path: &str, arguments: &[&str]) -> String {
    let plan = plan(name);
    let found = plan.find(path);
    let [(_, family)] = found.as_slice() else { panic!("{path} is one family of {name}") };
    let shapes = family.key.arguments().map(|argument| &argument.shape);
    let values: Vec<_> = shapes.zip(arguments).map(|(shape, text)| parse(shape, text).unwrap()).collect();
    let mut bytes = Vec::new();
    encode(&family.key, &values, &mut bytes).unwrap();
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn keys_have_the_bytes_of_the_published_rules() {
    let alice = "d43593c715fdd31c61141abd04a99fd6822c8556854ccde39a5684e7a56da27d";
    let account = "26aa394eea5630e07c48ae0c9558cef7b99d880ec681799c0cf30e8886371da9";
    assert_eq!(
        key("substrate", "system.account", &[alice]),
        format!("{account}345788f12df757884cc3fc294c814708{alice}")
    );
    assert_eq!(
        key("substrate", "balances.total_issuance", &[]),
        "c2261276cc9d1f8598ea4b6a74b15c2f57c875e4cff74148e4628f264b974c80"
    );
    let hash = "11".repeat(32);
    assert_eq!(key("bitcoin_core", "coin", &[&hash, "300"]), format!("43{hash}812c"));
    assert_eq!(key("bitcoin_core", "file_info", &["258"]), "6602010000");
    assert_eq!(key("bitcoin_core", "flag", &["txindex"]), "46077478696e646578");
    assert_eq!(key("go_ethereum", "header", &["258", &hash]), format!("680000000000000102{hash}"));
    assert_eq!(key("go_ethereum", "canonical_hash", &["1"]), "6800000000000000016e");
    assert_eq!(key("etcd", "tombstone", &["1", "2"]), "00000000000000015f000000000000000274");
    // The first eight bytes as they are hashed, then the height with its least byte first.
    assert_eq!(key("electrs", "by_txid", &[&hash, "800000"]), "111111111111111100350c00");
    // The script of Bitcoin's first block, whose hash Electrum's documentation shows with its bytes turned around.
    let script = "76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac";
    assert_eq!(key("electrs", "by_script", &[script, "0"]), "6191c3b590bfcfa000000000");
    let address = "ab".repeat(20);
    assert_eq!(key("cosmos_sdk", "bank.balance", &[&address, "uatom"]), format!("0214{address}7561746f6d"));
    assert_eq!(
        key("cosmos_sdk", "staking.validator_by_power", &["5", &address]),
        format!("23000000000000000514{}", "54".repeat(20))
    );
    let other = "cd".repeat(20);
    assert_eq!(
        key("cosmos_sdk", "staking.delegation", &[&address, &other]),
        format!("3114{address}14{other}")
    );
    assert_eq!(key("cosmos_sdk", "gov.proposal", &["7"]), "000000000000000007");
    assert_eq!(key("cosmos_sdk", "gov.vote", &["7", &address]), format!("20000000000000000714{address}"));
    assert_eq!(key("cosmos_sdk", "wasm.contract_store", &[&hash, "0a0b"]), format!("03{hash}0a0b"));
    assert_eq!(
        key("cosmos_sdk", "wasm.by_code", &["1", "258", "3", &hash]),
        format!("06000000000000000100000000000001020000000000000003{hash}")
    );
    assert_eq!(key("cometbft", "part", &["10", "0"]), "503a31303a30");
    // The format of orderedcode, by its own description: `00 01` ends a string, 1000 has two bytes.
    assert_eq!(key("cometbft", "block_index.height", &["1000"]), "626c6f636b2e6865696768740001c3e8");
    assert_eq!(key("cometbft", "block_index.event", &["a.b", "x", "1", "0"]), "612e6200017800018180");
    assert_eq!(key("iavl", "node", &["bank", "1", "1"]), "732f6b3a62616e6b2f73000000000000000100000001");
}
