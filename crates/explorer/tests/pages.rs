//! What every page says of a small database in which something of everything is.
#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use keyplan_explorer::{Database, Explorer, Page, Params, Problem, Settings};
use keyplan_store::engine::{Batch, Durability, Engine as _, Memory, Space};
use keyplan_store::source::EngineSource;
use serde_json::{Value, json};

const PLAN: &str = r#"plan demo;
space cl {
    /// The liquidity at a tick.
    key tick = 0x01 pool: u64 tick: i64.tick9
        -> amount: u32
        scan all
        scan by pool in order;
    /// Names that run into each other.
    key pair = 0x02 a: text("a-z", 1..=8) b: text("a-z", 1..=8)
        scan by a
        accept ambiguous "kept for the test";
    key note = 0x03 id: u8
        -> json
        scan all;
}
"#;

fn tick(pool: u64, tick: i64) -> Vec<u8> {
    let sign = if tick < 0 { 5 } else { 6 };
    [&[1][..], &pool.to_be_bytes(), &[sign], &tick.to_be_bytes()].concat()
}

fn source(changed: bool) -> Arc<EngineSource<Memory>> {
    let mut engine = Memory::new();
    let space = engine.create_space(&Space::map("cl")).unwrap();
    let mut batch = Batch::new();
    for pool in 1..=3_u64 {
        for at in -50..50_i64 {
            batch.put(space, tick(pool, at), u32::try_from(at + 50).unwrap().to_be_bytes().to_vec());
        }
    }
    batch.put(space, b"\x02ab".to_vec(), vec![]);
    batch.put(space, b"\x02abc".to_vec(), vec![]);
    batch.put(space, b"\x03\x07".to_vec(), br#"{"a":[1,"<script>\u202e"]}"#.to_vec());
    for first in [0x7f_u8, 0x7e] {
        batch.put(space, vec![first, 1], vec![9]);
    }
    // The sign byte says that the number is not negative, and it is.
    let mut broken = tick(9, -100);
    broken[9] = 6;
    batch.put(space, broken, vec![]);
    if changed {
        batch.put(space, tick(1, 0), 7_u32.to_be_bytes().to_vec());
        batch.put(space, tick(4, 1), 1_u32.to_be_bytes().to_vec());
        batch.delete(space, tick(3, 49));
    }
    engine.commit(batch, Durability::Buffer).unwrap();
    Arc::new(EngineSource::new(engine))
}

fn explorer() -> Arc<Explorer> {
    let compiled = keyplan_plan::compile("demo.keyplan", PLAN, |_| Err("no imports".into()));
    let settings = Settings::default().others(vec![Database::new("other", source(true))]);
    Explorer::new(Database::new("demo", source(false)), compiled, settings).unwrap()
}

fn ask(explorer: &Arc<Explorer>, page: Page, params: &str) -> Value {
    explorer.answer(page, &Params::parse(params)).unwrap_or_else(|error| panic!("{page:?} {params}: {error}"))
}

/// Asks until a walk or a job has ended.
fn wait(explorer: &Arc<Explorer>, page: Page, params: &str) -> Value {
    loop {
        let answer = ask(explorer, page, params);
        if !matches!(answer["state"].as_str(), Some("walking" | "running")) {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_walk_counts_every_row_once() {
    let explorer = explorer();
    let walk = wait(&explorer, Page::Walk, "");
    assert_eq!((&walk["state"], &walk["total"]["rows"]), (&json!("done"), &json!(306)));
    let rows: Vec<(&str, u64, bool)> = walk["families"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].as_str().unwrap(), one["rows"].as_u64().unwrap(), one["exact"] == true))
        .collect();
    assert_eq!(rows, [("cl.tick", 300, true), ("cl.pair", 2, true), ("cl.note", 1, true)]);
    assert_eq!(
        (&walk["unread"]["counts"]["rows"], &walk["several"]["counts"]["rows"]),
        (&json!(3), &json!(1))
    );
}

#[test]
fn rows_come_in_pages_both_ways_by_key() {
    let explorer = explorer();
    let scan = "family=cl.tick&a.pool=2&limit=40";
    let mut seen = Vec::new();
    let mut after = String::new();
    let mut pages = Vec::new();
    loop {
        let page = ask(&explorer, Page::Rows, &format!("{scan}{after}"));
        let ticks =
            page["rows"].as_array().unwrap().iter().map(|row| row["cells"][1].as_str().unwrap().to_owned());
        seen.extend(ticks);
        pages.push(page.clone());
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    let expected: Vec<String> = (-50..50).map(|tick: i64| tick.to_string()).collect();
    assert_eq!(seen, expected);
    assert_eq!(pages.len(), 3);
    assert_eq!(pages[0]["before"], Value::Null);
    // Back from the last page is the one before.
    let back = ask(&explorer, Page::Rows, &format!("{scan}&before={}", pages[2]["before"].as_str().unwrap()));
    assert_eq!(back["rows"], pages[1]["rows"]);
    let reverse = ask(&explorer, Page::Rows, &format!("{scan}&rev=1"));
    assert_eq!(reverse["rows"][0]["cells"], json!(["2", "49", "99"]));
    let between = ask(&explorer, Page::Rows, "family=cl.tick&a.pool=2&from=-3&to=2");
    let ticks: Vec<&Value> = between["rows"].as_array().unwrap().iter().map(|row| &row["cells"][1]).collect();
    assert_eq!(ticks, ["-3", "-2", "-1", "0", "1"]);
}

#[test]
fn a_row_has_its_lanes_and_a_scan_its_proof() {
    let explorer = explorer();
    let rows = ask(&explorer, Page::Rows, "family=cl.tick&limit=1");
    assert_eq!(
        rows["columns"],
        json!([
            { "name": "pool", "type": "u64", "of": "key" },
            { "name": "tick", "type": "i64.tick9", "of": "key" },
            { "name": "amount", "type": "u32", "of": "value" },
        ])
    );
    let spans: Vec<(u64, u64, &str)> = rows["rows"][0]["lanes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lane| {
            (lane["start"].as_u64().unwrap(), lane["end"].as_u64().unwrap(), lane["name"].as_str().unwrap())
        })
        .collect();
    assert_eq!(spans, [(0, 1, "tick"), (1, 9, "pool"), (9, 18, "tick")]);
    let family = ask(&explorer, Page::Family, "family=cl.tick");
    assert_eq!(
        (&family["scans"][1]["mark"], &family["scans"][1]["bound"]),
        (&json!("proved"), &json!(["pool"]))
    );
    assert!(family["plan"]["text"].as_str().unwrap().contains("pool: u64"), "{family}");
    assert_eq!(family["plan"]["line"], 4);
    let pair = ask(&explorer, Page::Family, "family=cl.pair");
    let scan = &pair["scans"][0];
    assert_eq!(scan["mark"], "refuted");
    let claim =
        scan["claims"].as_array().unwrap().iter().find(|claim| claim["verdict"] == "refuted").unwrap();
    assert_eq!(claim["witness"]["kind"], "row");
    // Arguments of no declared scan are refused with those that are.
    let asked = explorer.answer(Page::Rows, &Params::parse("family=cl.tick&a.pool=1&a.tick=2"));
    let Err(Problem::Asked(why)) = asked else { panic!("{asked:?}") };
    assert!(why.contains("by pool"), "{why}");
}

#[test]
fn a_key_is_explained_found_and_its_value_read() {
    let explorer = explorer();
    let key = const_hex::encode(tick(2, -5));
    let page = ask(&explorer, Page::Key, &format!("key={key}"));
    let space = &page["spaces"][0];
    assert_eq!((&space["found"], &space["readings"][0]["cells"]), (&json!(true), &json!(["2", "-5"])));
    assert_eq!(space["value"]["tree"]["children"][0]["text"], "45");
    let note = ask(&explorer, Page::Key, "key=0307");
    assert_eq!(note["spaces"][0]["value"]["tree"]["children"][0]["name"], "\"a\"");
    let shown = note["spaces"][0]["value"]["tree"].to_string();
    assert!(!shown.contains('\u{202e}'), "{shown}");
    // One that breaks says where, and what was sound before.
    let broken = ask(&explorer, Page::Key, "key=01000000000000000906ffffffffffffff9c");
    let near = &broken["spaces"][0]["nearest"][0];
    assert_eq!((&near["family"], &near["offset"]), (&json!("cl.tick"), &json!(9)));
    assert_eq!(broken["spaces"][0]["found"], true);
    let bytes = ask(&explorer, Page::Bytes, "space=cl&key=0307&from=2&limit=3");
    assert_eq!((&bytes["hex"], &bytes["length"]), (&json!("61223a"), &json!(26)));
}

#[test]
fn unread_keys_are_grouped_by_where_they_break_and_two_readings_by_family() {
    let explorer = explorer();
    wait(&explorer, Page::Walk, "");
    let unread = ask(&explorer, Page::Unread, "");
    let mut groups: Vec<(u64, u64)> = unread["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (group["offset"].as_u64().unwrap(), group["rows"].as_u64().unwrap()))
        .collect();
    groups.sort_unstable();
    assert_eq!(groups, [(0, 1), (0, 1), (9, 1)]);
    let group = unread["groups"].as_array().unwrap().iter().find(|group| group["offset"] == 9).unwrap();
    let rows = explorer
        .answer(
            Page::Rows,
            &Params::parse("space=cl&only=unread").with("group", group["group"].as_str().unwrap()),
        )
        .unwrap();
    assert_eq!(rows["rows"].as_array().unwrap().len(), 1);
    assert_eq!(rows["rows"][0]["nearest"], "cl.tick");
    let several = ask(&explorer, Page::Several, "");
    assert_eq!(several["groups"][0]["examples"], json!(["02616263"]));
    let rows = ask(&explorer, Page::Rows, "space=cl&only=several");
    assert_eq!(rows["rows"][0]["readings"].as_array().unwrap().len(), 2);
}

#[test]
fn any_notation_of_a_key_is_found() {
    let explorer = explorer();
    for text in ["0307", "0x03 07", "Awc=", r"\x03\x07", "cl.note id=7"] {
        let found = explorer.answer(Page::Search, &Params::default().with("q", text)).unwrap();
        assert_eq!(found["keys"][0]["key"], "0307", "{text}: {found}");
    }
    let found = ask(&explorer, Page::Search, "q=tic");
    assert_eq!(found["families"][0]["family"], "cl.tick");
    let slip = ask(&explorer, Page::Search, "q=note id=300");
    assert!(slip["why"].is_null() || slip["keys"] == json!([]), "{slip}");
    let odd = ask(&explorer, Page::Search, "q=cl.note id=300");
    assert!(odd["why"].as_str().unwrap().contains("out of its range"), "{odd}");
}

#[test]
fn facets_count_the_values_of_an_argument() {
    let explorer = explorer();
    let facets = wait(&explorer, Page::Facets, "family=cl.tick&argument=tick");
    let result = &facets["result"];
    assert_eq!(
        (&result["distinct"], &result["exact"], &result["rows"]),
        (&json!(100), &json!(true), &json!(300))
    );
    assert_eq!((&result["least"], &result["greatest"]), (&json!("-50"), &json!("49")));
    assert_eq!(result["top"][0]["rows"], 3);
    let pools = wait(&explorer, Page::Facets, "family=cl.tick");
    assert_eq!(pools["result"]["argument"], "pool");
    assert_eq!(pools["result"]["heaviest"][0]["bytes"], 2200);
}

#[test]
fn two_databases_differ_by_family_and_field() {
    let explorer = explorer();
    let diff = wait(&explorer, Page::Diff, "a=0&b=1");
    let result = &diff["result"];
    let family = &result["families"][0];
    assert_eq!(
        (&family["family"], &family["added"], &family["removed"], &family["changed"]),
        (&json!("cl.tick"), &json!(1), &json!(1), &json!(1))
    );
    let changed = family["rows"].as_array().unwrap().iter().find(|row| row["kind"] == "changed").unwrap();
    assert_eq!(changed["fields"], json!([{ "field": "amount", "before": 50, "after": 7 }]));
    let one = wait(&explorer, Page::Checksum, "of=0");
    let other = wait(&explorer, Page::Checksum, "of=1");
    let sum = |page: &Value, family: &str| page["result"][0]["families"][family]["checksum"].clone();
    assert_ne!(sum(&one, "cl.tick"), sum(&other, "cl.tick"));
    assert_eq!(sum(&one, "cl.note"), sum(&other, "cl.note"));
}

#[test]
fn a_changed_plan_is_proved_and_reads_what_was_unread() {
    let explorer = explorer();
    wait(&explorer, Page::Walk, "");
    let plan = ask(&explorer, Page::Plan, "");
    assert_eq!(plan["files"][0]["text"], PLAN);
    assert!(plan["proof"]["refuted"].as_u64().unwrap() > 0);
    let maps = &plan["allotments"][0]["maps"][0];
    assert_eq!((&maps["free"], &maps["numbers"][0]["what"]), (&json!(253), &json!("cl.tick")));
    let text = PLAN.replace("key note", "key odd = 0x7f id: u8; key note");
    let tried = explorer.answer(Page::Try, &Params::default().with("text", &text)).unwrap();
    assert_eq!((&tried["meaning"], &tried["same_layout"]), (&json!(true), &json!(false)));
    let read: u64 =
        tried["reads"]["unread"].as_array().unwrap().iter().map(|one| one["read"].as_u64().unwrap()).sum();
    assert_eq!(read, 1);
    // The walk under it is another one, and the plan is still what it was.
    let trial = tried["trial"].as_str().unwrap();
    let walk = wait(&explorer, Page::Walk, &format!("trial={trial}"));
    assert_eq!(walk["unread"]["counts"]["rows"], 2);
    assert_eq!(wait(&explorer, Page::Walk, "")["unread"]["counts"]["rows"], 3);
    let broken = explorer.answer(Page::Try, &Params::default().with("text", "plan p; space {")).unwrap();
    assert_eq!(broken["meaning"], false);
    assert!(!broken["findings"].as_array().unwrap().is_empty());
    let refused = explorer.answer(Page::WritePlan, &Params::default().with("text", &text));
    assert!(matches!(refused, Err(Problem::Asked(_))), "{refused:?}");
    let draft = wait(&explorer, Page::Infer, "");
    assert!(
        draft["result"]["draft"]["text"].as_str().is_some_and(|text| text.contains("plan draft")),
        "{draft}"
    );
}

#[test]
fn a_plan_is_written_only_if_that_was_allowed_and_nobody_else_changed_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("demo.keyplan");
    std::fs::write(&file, PLAN).unwrap();
    let compiled = keyplan_plan::compile("demo.keyplan", PLAN, |_| Err("no imports".into()));
    let notes = folder.path().join("keyplan.notes");
    let settings = Settings::default().plan_file(Some(file.clone())).write(true).notes(Some(notes.clone()));
    let explorer = Explorer::new(Database::new("demo", source(false)), compiled, settings).unwrap();
    let text = PLAN.replace("key note", "key odd = 0x7f id: u8; key note");
    let write = |text: &str| explorer.answer(Page::WritePlan, &Params::default().with("text", text));
    write(&text).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert_eq!(wait(&explorer, Page::Walk, "")["unread"]["counts"]["rows"], 2);
    std::fs::write(&file, "plan other;").unwrap();
    assert!(matches!(write(PLAN), Err(Problem::Asked(_))));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "plan other;");
    let note = Params::default().with("name", "pool \"2\"").with("at", "family=cl.tick&a.pool=2");
    explorer.answer(Page::WriteNote, &note).unwrap();
    let kept = ask(&explorer, Page::Notes, "");
    assert_eq!(kept["scan"], json!([{ "name": "pool \"2\"", "at": "family=cl.tick&a.pool=2" }]));
}

#[test]
fn rows_and_keys_are_copied_in_every_notation() {
    let explorer = explorer();
    let text = |params: &str| ask(&explorer, Page::Copy, params)["text"].as_str().unwrap().to_owned();
    assert_eq!(text("as=hex&key=0307"), "0307");
    assert_eq!(text("as=base64&key=0307"), "Awc=");
    assert_eq!(text("as=command&key=0307&space=cl"), "keyplan db get demo cl.note id=7");
    assert_eq!(text("as=rust&key=0307"), "// cl.note id=7\nlet key: [u8; 2] = [0x03, 0x07];");
    assert_eq!(text("as=go&key=0307"), "// cl.note id=7\nkey := []byte{0x03, 0x07}");
    let rows = "family=cl.tick&a.pool=1&limit=1";
    let key = const_hex::encode(tick(1, -50));
    assert_eq!(
        text(&format!("as=csv&{rows}")),
        format!("key,pool,tick,value.amount,value\n{key},1,-50,0,amount 0\n")
    );
    assert!(text(&format!("as=markdown&{rows}")).contains("| 1 | -50 | 0 |"));
    assert!(text(&format!("as=json&{rows}")).contains("\"pool\": \"1\""));
    assert_eq!(text(&format!("as=command&{rows}")), "keyplan db scan demo cl.tick pool=1 --limit 1");
}

#[test]
fn whatever_is_asked_gets_an_answer() {
    let explorer = explorer();
    let odd = [
        "",
        "family=none",
        "family=cl.tick&a.pool=x",
        "family=cl.tick&scan=9",
        "family=cl.tick&after=zz",
        "space=none",
        "space=cl&only=odd",
        "key=0",
        "key=",
        "height=7",
        "height=x",
        "trial=0",
        "q=%",
        "family=cl.tick&limit=99999999999999999999",
        "family=cl.tick&limit=0",
        "b=9",
        "b=0@5",
        "a=x&b=y",
        "family=cl.pair&a.a=ab",
        "as=odd&key=00",
        "as=csv",
        "key=00&space=cl",
    ];
    for page in Page::ALL {
        for params in odd {
            // An answer or a sentence; never a panic.
            let answer = explorer.answer(page, &Params::parse(params));
            if let Err(problem) = answer {
                assert!(!problem.to_string().is_empty(), "{page:?} {params}");
            }
        }
    }
}
