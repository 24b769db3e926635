//! Scans as real programs write them: each plan states a layout and a scan of published code, and the prover shows what
//! the scan returns beside its rows.
#![cfg(test)]

use std::fmt::Write as _;

use keyplan_plan::model::Plan;
use keyplan_prover::{Guarantee, Options, Side, Statement, Verdict, Witness, diagnose, prove};

fn plan(text: &str) -> Plan {
    let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("no imports".to_owned()));
    let errors: Vec<String> = compiled.errors().map(|error| format!("{error:?}")).collect();
    compiled.plan.unwrap_or_else(|| panic!("{text}\n{errors:?}"))
}

fn hex(side: &Side) -> String {
    hex_of(&side.bytes)
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The refuted statement about a guarantee of the plan's scans; there must be one only.
fn refuted(text: &str, guarantee: Guarantee) -> Statement {
    let report = prove(&plan(text), &Options::default());
    let mut found = report.statements.into_iter().filter(|statement| {
        statement.guarantee == guarantee && matches!(statement.verdict, Verdict::Fails(_))
    });
    let first = found.next().unwrap_or_else(|| panic!("nothing is refuted: {text}"));
    assert_eq!(found.next(), None);
    first
}

/// The prefix of the scan and the row that refute a claim, in hex.
#[track_caller]
fn leak(text: &str, guarantee: Guarantee, prefix: &str, row: &str) {
    let statement = refuted(text, guarantee);
    let Verdict::Fails(witness) = &statement.verdict else { unreachable!() };
    let found = match &**witness {
        Witness::Row { scan, row } => (hex(scan), hex(row)),
        Witness::Range { start, row, .. } => (hex(start), hex(row)),
        other => panic!("{other:?}"),
    };
    assert_eq!(found, (prefix.to_owned(), row.to_owned()));
}

/// Every guarantee of a plan holds.
#[track_caller]
fn sound(text: &str) {
    let report = prove(&plan(text), &Options::default());
    let flaws: Vec<&Statement> = report.findings().collect();
    assert_eq!(flaws, Vec::<&Statement>::new(), "{text}");
}

const SIBLINGS: Guarantee = Guarantee::NoSiblingRows;
const FOREIGN: Guarantee = Guarantee::NoForeignRows;

/// Osmosis x/twap, `FormatKeyPoolTwapRecords`: the history of pool 1 is gathered, and made again, by `historical_pool_index|1`.
#[test]
fn osmosis_gathers_the_history_of_pool_10_with_pool_1() {
    let layout = |scan: &str| {
        format!(
            r#"plan p; space twap {{
                key history = "historical_pool_index|" pool: u64.dec "|" denom0: text("a-z/", 1..=128) "|"
                    denom1: text("a-z/", 1..=128) "|" at: time {scan};
            }}"#
        )
    };
    let row = b"historical_pool_index|10|a|a|0000-01-01T00:00:00.000000000";
    leak(
        &layout("scan by pool bare as \"historical_pool_index|1\""),
        SIBLINGS,
        &hex_of(b"historical_pool_index|1"),
        &hex_of(row),
    );
    sound(&layout("scan by pool as \"historical_pool_index|1|\""));
}

/// Osmosis x/concentrated-liquidity: the names of uptime accumulators, `\x0c/1/0`, behind what the accumulator package writes.
#[test]
fn uptime_accumulators_of_pool_10_begin_as_those_of_pool_1() {
    let layout = |scan: &str| {
        format!(
            r#"plan p; space cl {{
                key uptime_accum = "accum||acc||" 0x0c "/" pool: u64.dec "/" uptime: u8(0..=5).dec {scan};
            }}"#
        )
    };
    leak(
        &layout("scan by pool bare as \"accum||acc||\\x0c/1\""),
        SIBLINGS,
        "616363756d7c7c6163637c7c0c2f31",
        "616363756d7c7c6163637c7c0c2f31302f30",
    );
    sound(&layout("scan by pool as \"accum||acc||\\x0c/1/\""));
}

/// Osmosis x/twap: the most recent records of pool 1 are read from `recent_twap|1|` to `recent_twap|2|`.
#[test]
fn osmosis_reads_twap_records_of_pool_20_with_pool_1() {
    let text = r#"plan p; space twap {
        key recent = "recent_twap|" pool: u64.dec "|" denom0: text("a-z/", 1..=128) "|" denom1: text("a-z/", 1..=128)
            scan by pool
            scan by pool to next as "recent_twap|1|";
    }"#;
    let statement = refuted(text, SIBLINGS);
    let Verdict::Fails(witness) = &statement.verdict else { unreachable!() };
    let Witness::Range { start, end, row } = &**witness else { panic!("{witness:?}") };
    assert!(row.bytes >= start.bytes && row.bytes < end.bytes && !end.included);
    assert!(start.bytes.starts_with(b"recent_twap|") && start.bytes.ends_with(b"|"));
    assert!(!row.bytes.starts_with(&start.bytes));
}

/// Numbers of fixed width sort: the next value ends their range, and nothing is missing.
#[test]
fn the_next_value_ends_a_range_of_numbers_of_fixed_width() {
    sound("plan p; space s { key tick = 0x01 pool: u64 tick: i64.tick9 scan by pool to next; }");
    let text = "plan p; space s { key tick = 0x01 pool: u64.le tick: u8 scan by pool to next; }";
    refuted(text, Guarantee::NoMissingRows);
}

/// x/ibc of the Cosmos SDK, before it became ibc-go: packet commitments of a channel are iterated with the channel's name at the
/// end of the prefix. ibc-go puts `/sequences` after it.
#[test]
fn the_ibc_of_the_sdk_returns_packets_of_channel_10_with_channel_1() {
    let layout = |behind: &str, scan: &str| {
        format!(
            r#"plan p; space ibc {{
                key commitment = "commitments/ports/" port: text("a-z", 2..=128) "/channels/channel-" channel: u64.dec
                    "{behind}" sequence: u64.dec {scan};
            }}"#
        )
    };
    let text = layout(
        "/packets/",
        r#"scan by port, channel bare as "commitments/ports/transfer/channels/channel-1""#,
    );
    let statement = refuted(&text, SIBLINGS);
    let Verdict::Fails(witness) = &statement.verdict else { unreachable!() };
    let Witness::Row { scan, row } = &**witness else { panic!("{witness:?}") };
    assert!(row.bytes.starts_with(&scan.bytes));
    assert!(scan.bytes.ends_with(b"/channels/channel-1"), "{}", hex(scan));
    assert!(row.values.first() == scan.values.first() && row.values.get(1) != scan.values.get(1));
    let whole = r#"scan by port, channel as "commitments/ports/transfer/channels/channel-1/sequences/""#;
    sound(&layout("/sequences/", whole));
}

/// ibc-go 29-fee, `KeyFeesInEscrowChannelPrefix`: the escrowed fees of `channel-1`, and of every channel whose number begins with 1.
#[test]
fn ibc_go_escrows_of_channel_1_are_those_of_channel_10_too() {
    leak(
        r#"plan p; space fee {
            key escrow = "feesInEscrow/" port: text("a-z", 2..=128) "/channel-" channel: u64.dec "/" sequence: u64.dec
                scan by port, channel bare as "feesInEscrow/transfer/channel-1";
        }"#,
        SIBLINGS,
        "66656573496e457363726f772f61612f6368616e6e656c2d31",
        "66656573496e457363726f772f61612f6368616e6e656c2d31302f30",
    );
}

/// `CometBFT`: block parts are stored as `P:height:index`; the parts of height 1 by `P:1` are those of height 10 too.
#[test]
fn cometbft_block_parts_of_height_1_are_those_of_height_10_too() {
    let layout = |scan: &str| {
        format!(
            r#"plan p; space blockstore {{
                key part = "P:" height: u64.dec ":" index: u32.dec {scan};
            }}"#
        )
    };
    leak(&layout("scan by height bare as \"P:1\""), SIBLINGS, "503a31", "503a31303a30");
    sound(&layout("scan by height as \"P:1:\""));
}

/// The kv indexer of Tendermint, before it became `CometBFT`: events of a key are found by a prefix that leaves out the byte after the
/// value.
#[test]
fn tendermint_events_with_a_value_that_begins_alike_are_returned_too() {
    leak(
        r#"plan p; space tx_index {
            key event = tag: text("a-z.", 1..=64) "/" value: text("a-z0-9", 1..=64) "/" height: u64.dec "/" index: u32.dec
                scan by tag, value bare as "transfer.sender/alice";
        }"#,
        SIBLINGS,
        "612f61",
        "612f61612f302f30",
    );
}

/// PAW oracle: price snapshots of `BTC` are those of `BTCUSD` too.
#[test]
fn paw_returns_prices_of_longer_asset_names() {
    leak(
        r#"plan p; space paw { module oracle = 0x03 {
            key snapshot = 0x05 asset: text("A-Z", 3..=12) 0x00 height: u64 scan by asset bare as 0x0305425443;
        } }"#,
        SIBLINGS,
        "0305414141",
        "0305414141410000000000000000 00".replace(' ', "").as_str(),
    );
}

/// axelar-core, until January 2022: keys are joined by `_`, and iterated by a prefix without one.
#[test]
fn axelar_returns_rows_of_keys_that_begin_alike() {
    let layout = |scan: &str| {
        format!(
            r#"plan p; space axelar {{
                key row = "state_" key: text("a-z0-9", 1..=64) "_" value: text("a-z0-9", 1..=64) {scan};
            }}"#
        )
    };
    leak(&layout("scan by key bare as \"state_key123\""), SIBLINGS, "73746174655f61", "73746174655f61615f61");
    sound(&layout("scan by key as \"state_key123_\""));
}

/// Namada, until June 2023: the iterator over the prefix `a` also returns what lies under `ab`.
#[test]
fn namada_iterates_over_segments_that_begin_alike() {
    let layout = |scan: &str| {
        format!(
            r#"plan p; space namada {{
                key sub = segment: text("^/", 1..=64) "/" rest: text(1..=64) {scan};
            }}"#
        )
    };
    leak(&layout("scan by segment bare as \"a\""), SIBLINGS, "61", "61612f61");
    sound(&layout("scan by segment as \"a/\""));
}

/// Cosmos SDK x/gov of the string era: numbers are text, and the prefix has the separator.
#[test]
fn votes_of_a_proposal_are_its_own_where_the_prefix_has_the_separator() {
    let layout = |scan: &str| {
        format!(
            r#"plan p; space gov {{ key vote = "votes:" proposal: u64.dec ":" voter: bytes(20) {scan}; }}"#
        )
    };
    sound(&layout("scan by proposal as \"votes:1:\""));
    leak(
        &layout("scan by proposal bare as \"votes:1\""),
        SIBLINGS,
        "766f7465733a31",
        "766f7465733a31303a0000000000000000000000000000000000000000",
    );
}

/// go-ethereum: the headers of a number begin as its canonical hash and its total difficulty do; the program tells them
/// apart by their length.
#[test]
fn geth_headers_of_a_number_need_a_filter() {
    let layout = |scan: &str| {
        format!(
            r#"plan p; space chaindata {{
                key header = "h" num: u64 hash: bytes(32) {scan};
                key td = "h" num: u64 hash: bytes(32) "t";
                key canonical = "h" num: u64 "n";
            }}"#
        )
    };
    leak(&layout("scan by num"), FOREIGN, "680000000000000000", "6800000000000000006e");
    sound(&layout("scan by num filtered as 0x680000000000000001"));
    sound(&layout("scan by num with td, canonical"));
    // What the plan does not want is still a finding.
    leak(&layout("scan by num with td"), FOREIGN, "680000000000000000", "6800000000000000006e");
    let accepted = layout("scan by num accept leak(canonical) \"read and dropped\"");
    let other = refuted(&accepted, FOREIGN).other;
    assert_eq!(other.as_deref(), Some("chaindata.td"));
    let both = layout("scan by num accept leak(canonical, td) \"read and dropped\"");
    assert!(prove(&plan(&both), &Options::default()).is_sound());
}

/// go-ethereum, `ReadAllHashesInRange`: from the first header of a number to that of another, what is not as long as the key of a
/// header dropped.
#[test]
fn geth_headers_of_a_range_of_numbers_need_a_filter() {
    let layout = |scan: &str, other: &str| {
        format!(
            r#"plan p; space chaindata {{
                key header = "h" num: u64 hash: bytes(32) {scan};
                key canonical = "h" num: u64 "n";
                {other}
            }}"#
        )
    };
    let statement = refuted(&layout("scan by num to next", ""), FOREIGN);
    let Verdict::Fails(witness) = &statement.verdict else { unreachable!() };
    let Witness::Range { row, .. } = &**witness else { panic!("{witness:?}") };
    assert!(row.bytes.len() == 10 && row.bytes.ends_with(b"n"), "{}", hex(row));
    let filtered = "scan by num to next filtered as 0x680000000000000001";
    sound(&layout(filtered, ""));
    // A row that has the length of a header is not dropped.
    let other = "key other = \"h\" num: u64 a: bytes(32) accept overlap(header) \"known\";";
    let statement = refuted(&layout(filtered, other), FOREIGN);
    let Verdict::Fails(witness) = &statement.verdict else { unreachable!() };
    let Witness::Range { start, row, .. } = &**witness else { panic!("{witness:?}") };
    assert!(row.bytes.starts_with(&start.bytes) && row.bytes.len() == 41, "{}", hex(row));
}

/// etcd: the revisions of the key index hold tombstones, which are the revision and one byte more.
#[test]
fn etcd_wants_tombstones_among_its_revisions() {
    let layout = |with: &str| {
        format!(
            r#"plan p; space key {{
                key revision = main: u64 "_" sub: u64 scan by main{with};
                key tombstone = main: u64 "_" sub: u64 "t";
            }}"#
        )
    };
    sound(&layout(" with tombstone as 0x00000000000000015f"));
    leak(
        &layout(" as 0x00000000000000015f"),
        FOREIGN,
        "00000000000000005f",
        "00000000000000005f000000000000000074",
    );
}

/// Dolos: the range of all entities of a namespace ends before 32 bytes of `ff`, and so leaves that key out.
#[test]
fn dolos_never_iterates_the_last_entity() {
    let layout = |end: &str| {
        let ff = "ff".repeat(32);
        format!(
            "plan p; space entities {{ key entity = namespace: bytes(8) id: bytes(32) scan by namespace {end} 0x{ff}; }}"
        )
    };
    let text = layout("to");
    let statement = refuted(&text, Guarantee::NoMissingRows);
    let Verdict::Fails(witness) = &statement.verdict else { unreachable!() };
    let Witness::Range { row, .. } = &**witness else { panic!("{witness:?}") };
    assert_eq!(row.bytes.get(8..), Some([0xff; 32].as_slice()));
    sound(&layout("through"));
}

/// A sentinel above every byte that may follow holds everything; one among them does not.
#[test]
fn a_sentinel_holds_what_sorts_below_it() {
    let layout = |end: &str| {
        format!(
            r#"plan p; space s {{
                key name = "n/" owner: u32 "/" name: text("a-z", 1..=8) scan by owner {end};
            }}"#
        )
    };
    sound(&layout("to 0xff"));
    sound(&layout("to \"~\""));
    refuted(&layout("to \"z\""), Guarantee::NoMissingRows);
}

/// What begins so is mine: the claim of a scan, without one.
#[test]
fn ownership_is_a_claim_without_a_scan() {
    let layout = |other: &str| {
        format!("plan p; space s {{ key pool = 0x03 id: u64.dec own all; key other = {other} id: u32; }}")
    };
    sound(&layout("0x04"));
    leak(&layout("0x03"), FOREIGN, "03", "0300000000");
}

/// What is told of a plan: each finding as one text.
fn told(text: &str) -> Vec<String> {
    let (plan, options) = (plan(text), Options::default());
    let found = diagnose(&plan, &prove(&plan, &options), &options, "p.keyplan");
    found.iter().map(|finding| format!("{} {finding:?}", finding.code.id())).collect()
}

/// A layout in which one scan returns rows of three other families.
fn crowded(accept: &str) -> String {
    format!(
        r#"plan p; space s {{
            key block = "b" height: u64 scan by height scan all {accept};
            key body = "b" height: u64 "o";
            key receipts = "b" height: u64 "r";
            key votes = "b" height: u64 "v" index: u16;
            key other = "c" height: u64;
        }}"#
    )
}

/// One scan, one finding: it names every family whose rows it returns, and scans that return the same are not told again.
#[test]
fn a_scan_names_every_family_that_leaks_into_it() {
    let statement = |text: &str| {
        let report = prove(&plan(text), &Options::default());
        let of_scan = |s: &Statement| s.guarantee == FOREIGN && s.scan.is_some_and(|scan| scan.bound == 1);
        report.statements.into_iter().find(of_scan).unwrap()
    };
    let leaking = |statement: &Statement| {
        let more = statement.more.leaks.iter().filter_map(Witness::row_family);
        let mut all: Vec<String> = more.chain(statement.other.as_deref()).map(str::to_owned).collect();
        all.sort();
        all
    };
    let found = statement(&crowded(""));
    assert_eq!(leaking(&found), ["s.body", "s.receipts", "s.votes"]);
    assert_eq!(found.more.unseen, 0);
    let told = told(&crowded(""));
    let leaks: Vec<&String> = told.iter().filter(|finding| finding.starts_with("KP0003")).collect();
    let [one] = leaks.as_slice() else { panic!("{leaks:?}") };
    for name in ["body", "receipts", "votes", "1 more scan with the same cause"] {
        assert!(one.contains(name), "{name}: {one}");
    }
    assert!(!one.contains("s.other"), "{one}");
}

/// `accept leak(family)` accepts the rows of that family, and no others: neither of a third, nor with other arguments.
#[test]
fn a_leak_is_accepted_by_name_and_no_further() {
    let open = |accept: &str| {
        let report = prove(&plan(&crowded(accept)), &Options::default());
        let open =
            report.statements.into_iter().filter(|s| matches!(s.verdict, Verdict::Fails(_)) && !s.accepted);
        open.map(|s| s.other.unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(open(r#"accept leak(body, receipts) "read and dropped""#), ["s.votes", "s.votes"]);
    assert_eq!(open(r#"accept leak(body, receipts, votes) "read and dropped""#), Vec::<String>::new());
    // A name too many is told too.
    let needless = told(&crowded(r#"accept leak(body, receipts, votes, other) "read and dropped""#));
    assert!(
        needless.iter().any(|finding| finding.starts_with("KP0012") && finding.contains("leak(s.other)"))
    );
    let siblings = |accept: &str| {
        let text = format!(
            r#"plan p; space s {{
                key pool = 0x0c id: u64.dec "/" n: u8 scan by id bare {accept};
                key other = 0x0c id: u64.dec;
            }}"#
        );
        let report = prove(&plan(&text), &Options::default());
        let open =
            report.statements.into_iter().filter(|s| matches!(s.verdict, Verdict::Fails(_)) && !s.accepted);
        open.map(|s| s.guarantee).collect::<Vec<_>>()
    };
    assert_eq!(siblings(""), [FOREIGN, SIBLINGS]);
    assert_eq!(siblings(r#"accept leak(other) "known""#), [SIBLINGS]);
    assert_eq!(siblings(r#"accept leak(pool) "known""#), [FOREIGN]);
    assert_eq!(siblings(r#"accept leak(other, pool) "known""#), []);
}
