//! What the keys do in a terminal, seen on a screen of characters.
#![cfg(test)]
#![cfg(feature = "tui")]

use std::sync::Arc;
use std::time::Duration;

use keyplan_store::engine::{Durability, Memory};
use keyplan_store::structure::{Embedded, SetScore, Structures as _};
use keyplan_store::{Schema, Store};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use keyplan_explorer::tui::Screen;
use keyplan_explorer::{Database, Explorer, Page, Params, Settings};

const PLAN: &str = r#"plan shop;

space orders {
    /// An order of a customer.
    key order = 0x01 customer: u32 at: u64
        -> total: u32 state: u8
        scan all
        scan by customer in order;
    key name = 0x02 language: text("a-z", 1..=8) word: text("a-z", 1..=8)
        scan by language
        accept ambiguous "kept, to be shown";
    /// What somebody wrote.
    key comment = 0x03 title: text(0..=200) -> json scan all;
}

space things {
    zset ranking = "rank:" game: text("a-z", 1..=16) member name: text score points: f64;
}
"#;

const HOSTILE: &str = "\u{1b}[2J\u{202e}evil\u{9b}31m\n\tx";

fn store(changed: bool) -> Arc<Store<Memory>> {
    let compiled = keyplan_plan::compile("shop.keyplan", PLAN, |_| Err("no imports".into()));
    let store = Arc::new(Store::create(Memory::new(), &Schema::of(&compiled).expect("sound")).unwrap());
    let space = store.space("orders").unwrap();
    let mut batch = store.batch().unwrap();
    for customer in 1..=4_u32 {
        for at in 0..100_u64 {
            let key = [&[1][..], &customer.to_be_bytes(), &at.to_be_bytes()].concat();
            let total =
                customer * 1000 + u32::try_from(at).unwrap() + u32::from(changed && customer == 2 && at == 5);
            batch.put(space, key, [&total.to_be_bytes()[..], &[9]].concat().as_slice());
        }
    }
    batch.put(space, b"\x02abc".to_vec(), [].as_slice());
    let json = serde_json::json!({ HOSTILE: [HOSTILE] }).to_string();
    batch.put(space, [&[3], HOSTILE.as_bytes()].concat(), json.as_bytes());
    for n in 0..3_u8 {
        batch.put(space, vec![0x7f, n], [n].as_slice());
    }
    batch.commit(Durability::Buffer).unwrap();
    let things = Embedded::open(Arc::clone(&store), "things").unwrap();
    things.zset_add(b"rank:chess", b"anna", SetScore::Number(30.5)).unwrap();
    store
}

fn explorer() -> Arc<Explorer> {
    let compiled = keyplan_plan::compile("shop.keyplan", PLAN, |_| Err("no imports".into()));
    let settings = Settings::default().others(vec![Database::of_store("node2", &store(true))]);
    Explorer::new(Database::of_store("node1", &store(false)), compiled, settings).unwrap()
}

fn app() -> Screen {
    let mut app = Screen::new(explorer(), "");
    settle(&mut app);
    app
}

/// What the place has under a name.
fn place(app: &Screen, name: &str) -> String {
    let place = app.place();
    let found = place.split('&').find_map(|pair| pair.split_once('=').filter(|(known, _)| *known == name));
    found.map(|(_, value)| value.to_owned()).unwrap_or_default()
}

/// Waits until nothing works any more.
fn settle(app: &mut Screen) {
    for _ in 0..30_000 {
        if !app.tick() {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("it still works");
}

fn keys(app: &mut Screen, all: &str) {
    for c in all.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\u{1b}' => KeyCode::Esc,
            c => KeyCode::Char(c),
        };
        app.press(KeyEvent::new(code, KeyModifiers::NONE));
    }
}

fn screen(app: &mut Screen, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let lines: Vec<String> = buffer
        .content()
        .chunks(width.into())
        .map(|line| line.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned())
        .collect();
    lines.join("\n")
}

fn wide(app: &mut Screen) -> String {
    screen(app, 160, 50)
}

#[track_caller]
fn sees(app: &mut Screen, all: &[&str]) {
    let shown = wide(app);
    for words in all {
        assert!(shown.contains(words), "no `{words}` in\n{shown}");
    }
}

#[test]
fn families_rows_and_a_key_are_three_panes() {
    let mut app = app();
    sees(&mut app, &["Bytes by family", "orders.order", "⚠ unread", "408 rows", "node1", "memory"]);
    keys(&mut app, "J");
    sees(&mut app, &["customer", "total", "rder of a customer", "100 rows of 400 exact", "✓ proved"]);
    keys(&mut app, "jj");
    assert_eq!(place(&app, "key"), "01000000010000000000000001");
    // The bytes of the key in their lanes, the value by its layout, and the line of the plan.
    sees(
        &mut app,
        &["01 00000001 0000000000000001", "customer = 1", "at = 1", "total  1001", "shop.keyplan:5"],
    );
    keys(&mut app, "k");
    sees(&mut app, &["at = 0"]);
    keys(&mut app, "n");
    sees(&mut app, &["customer"]);
    assert!(!place(&app, "after").is_empty());
    keys(&mut app, "p");
    assert!(!place(&app, "before").is_empty());
    keys(&mut app, "r");
    keys(&mut app, "j");
    sees(&mut app, &["in reverse", "customer = 4", "at = 99"]);
    keys(&mut app, "\u{1b}");
    assert_eq!(place(&app, "key"), "");
}

#[test]
fn a_lane_its_cell_and_the_plan_are_pointed_at_together() {
    let mut app = app();
    keys(&mut app, "Jj\n");
    // Down to the line of the argument: the key, a gap, the family, what it is, its bytes, its first byte.
    keys(&mut app, "jjjjjj");
    let mut terminal = Terminal::new(TestBackend::new(160, 50)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    let underlined = terminal
        .backend()
        .buffer()
        .content()
        .iter()
        .filter(|cell| {
            cell.modifier.contains(ratatui::style::Modifier::UNDERLINED | ratatui::style::Modifier::BOLD)
        })
        .count();
    assert!(underlined > 8, "{underlined}");
}

#[test]
fn any_notation_of_a_key_is_found_and_so_is_a_family() {
    for typed in ["0x01000000020000000000000005", "AQAAAAIAAAAAAAAABQ==", "order customer=2 at=5"] {
        let mut app = app();
        keys(&mut app, "/");
        app.paste(typed);
        sees(&mut app, &["Find a family, or paste a key", "orders.order"]);
        keys(&mut app, "\n");
        assert_eq!(place(&app, "key"), "01000000020000000000000005", "{typed}");
        sees(&mut app, &["customer = 2", "at = 5", "total  2005"]);
    }
    let mut app = app();
    keys(&mut app, "/rank\n");
    assert_eq!(place(&app, "family"), "things.ranking");
    keys(&mut app, "j");
    sees(&mut app, &["rank:", "30.5", "anna"]);
    keys(&mut app, "/7f07\n");
    sees(&mut app, &["No family of orders makes this key", "byte 0"]);
    keys(&mut app, "/zzzz");
    sees(&mut app, &["key in text", "not in the database"]);
}

#[test]
fn only_declared_scans_are_offered_each_with_its_verdict() {
    let mut app = app();
    keys(&mut app, "Js");
    sees(&mut app, &["✓ proved    all", "✓ proved    by customer in order"]);
    keys(&mut app, "j\n");
    keys(&mut app, "x\n");
    // What cannot be asked is said where it was typed.
    sees(&mut app, &["scan by customer in order", "customer › x", "`customer=x`"]);
    app.press(KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE));
    keys(&mut app, "3\t10\t15\n");
    sees(&mut app, &["customer=3", "≥ 10", "< 15", "5 rows"]);
    keys(&mut app, "Js");
    sees(&mut app, &["✗ refuted", "by language", "KP000"]);
}

#[test]
fn what_the_plan_does_not_explain_is_grouped() {
    let mut app = app();
    keys(&mut app, "u");
    sees(&mut app, &["Keys that no family makes", "byte 0", "7f00", "3 keys"]);
    keys(&mut app, "\n");
    sees(&mut app, &["orders: keys that no family makes", "7f02"]);
    keys(&mut app, "j");
    sees(&mut app, &["No family of orders makes this key", "[7f]"]);
    keys(&mut app, "2\nj");
    sees(&mut app, &["2 readings of these bytes", "language = \"a\"", "language = \"ab\""]);
    // Back, and back again.
    keys(&mut app, "\u{1b}\u{1b}");
    assert_eq!(place(&app, "v"), "several");
}

#[test]
fn other_views_have_their_tables() {
    let mut app = app();
    keys(&mut app, "Jf");
    settle(&mut app);
    sees(&mut app, &["customer of orders.order", "4 distinct", "least 1", "greatest 4", "values of at"]);
    keys(&mut app, "\n");
    sees(&mut app, &["customer=1", "100 rows"]);
    keys(&mut app, "d");
    settle(&mut app);
    sees(&mut app, &["node1 → node2", "≠1", "total: 2005 → 2006"]);
    app.press(KeyEvent::new(KeyCode::End, KeyModifiers::NONE));
    keys(&mut app, "\n");
    settle(&mut app);
    sees(&mut app, &["Checksums", "not the same", "same"]);
    keys(&mut app, "l");
    sees(&mut app, &["plan shop", "orders.order", "KP0002", "space orders {"]);
    keys(&mut app, "dd");
    sees(&mut app, &["What was", "node2"]);
    keys(&mut app, "j\n\n");
    settle(&mut app);
    sees(&mut app, &["node2 → node1"]);
    keys(&mut app, "@");
    sees(&mut app, &["has no heights"]);
    keys(&mut app, "o");
    sees(&mut app, &["Notes and saved scans", "no file is named"]);
}

#[test]
fn a_plan_that_was_changed_in_an_editor_is_proved_and_read_anew() {
    let mut app = app();
    keys(&mut app, "w");
    sees(&mut app, &["nothing was changed"]);
    assert_eq!(app.to_edit(), None);
    keys(&mut app, "e");
    let text = app.to_edit().unwrap();
    assert_eq!(text, PLAN);
    app.edited(&text.replace("    /// What", "    key odd = 0x7f n: u8;\n    /// What"));
    assert_eq!(place(&app, "v"), "try");
    sees(
        &mut app,
        &["What if?", "⚠ Another layout", "proved", "was ", "orders", "3 of 3 examples are read", "n=0"],
    );
    // Further from what was changed, and from a mistake.
    keys(&mut app, "e");
    let text = app.to_edit().unwrap();
    assert!(text.contains("key odd"), "{text}");
    app.edited(&text.replace("key odd", "key odd ="));
    sees(&mut app, &["It does not compile yet", "KP"]);
    // Nothing is written where nobody allowed it.
    keys(&mut app, "w");
    sees(&mut app, &["start with `--write-plan` to write it"]);
    keys(&mut app, "l");
    sees(&mut app, &["plan shop"]);
}

#[test]
fn keys_and_rows_are_copied() {
    let mut app = app();
    keys(&mut app, "Jjc\n");
    assert_eq!(app.copied().as_deref(), Some("01000000010000000000000000"));
    sees(&mut app, &["Copied"]);
    keys(&mut app, "\u{1b}cj\n");
    assert_eq!(app.copied().as_deref(), Some("keyplan db get node1 orders.order customer=1 at=0"));
    keys(&mut app, "\u{1b}cjjjjj\n");
    assert!(app.copied().unwrap().starts_with("key,customer,at,value.total"));
}

#[test]
fn what_is_hostile_does_not_reach_the_terminal() {
    let mut app = app();
    keys(&mut app, "/comment\n");
    keys(&mut app, "j\n");
    for (width, height) in [(160, 50), (60, 20)] {
        let shown = screen(&mut app, width, height);
        assert!(!shown.chars().any(|c| c != '\n' && keyplan_plan::notation::is_hidden(c)), "{shown:?}");
        assert!(shown.contains("\\u{1b}[2J\\u{202e}ev"), "{shown}");
    }
    // Nor does what is typed or pasted.
    keys(&mut app, "/");
    app.paste("\u{1b}]0;x\u{7}\u{202e}");
    let shown = wide(&mut app);
    assert!(!shown.chars().any(|c| c != '\n' && keyplan_plan::notation::is_hidden(c)), "{shown:?}");
}

#[test]
fn help_lists_every_key_and_every_key_does_something_everywhere() {
    let mut app = app();
    keys(&mut app, "?");
    let shared = explorer().answer(Page::Keys, &Params::default()).unwrap();
    let shared = shared.as_array().unwrap().iter().map(|one| one["what"].as_str().unwrap());
    sees(
        &mut app,
        &shared
            .chain(["change the plan in your editor", "write the changed plan", "next pane", "leave"])
            .collect::<Vec<_>>(),
    );
    keys(&mut app, "\u{1b}");
    let storm = "?/jkJKnp\nsrfu2mdhlcotx@ew\t\u{1b}";
    for first in storm.chars() {
        for second in storm.chars() {
            keys(&mut app, &format!("{first}{second}"));
            assert!(!app.is_left());
            if !second.is_ascii_uppercase() {
                keys(&mut app, "\u{1b}");
            }
        }
        screen(&mut app, 100, 30);
    }
    keys(&mut app, "\u{1b}\u{1b}q");
    assert!(app.is_left());
}

#[test]
fn any_size_of_a_terminal_will_do() {
    let mut app = app();
    for view in ["", "Jj", "u", "l", "?", "/a", "s"] {
        keys(&mut app, view);
        for (width, height) in [(1, 1), (7, 3), (20, 5), (69, 12), (90, 24), (240, 70), (65, 1)] {
            for _ in 0..3 {
                screen(&mut app, width, height);
                keys(&mut app, "\t");
            }
        }
        keys(&mut app, "\u{1b}\u{1b}");
    }
    // One pane at a time where there is no room for more.
    let mut app = self::app();
    keys(&mut app, "Jj");
    assert!(screen(&mut app, 60, 20).contains("orders.order"));
    keys(&mut app, "\t");
    assert!(screen(&mut app, 60, 20).contains("customer = 1"));
    keys(&mut app, "\t");
    assert!(screen(&mut app, 60, 20).contains("Families"));
}

#[test]
fn eighty_columns_cut_no_unit_and_no_word() {
    let mut app = app();
    settle(&mut app);
    let shown = screen(&mut app, 80, 24);
    let head = shown.lines().find(|line| line.contains("share")).expect("bytes by family");
    assert!(head.contains(" bytes  "), "{shown}");
    let sizes = shown.lines().filter(|line| line.contains(" %  "));
    assert!(sizes.clone().count() > 0 && sizes.clone().all(|line| line.contains("B  ")), "{shown}");
    assert!(shown.ends_with("u unread  d diff"), "{shown}");
    // A long path keeps its end, and what comes after it is seen.
    assert!(shown.lines().next().is_some_and(|line| line.ends_with(" rows")), "{shown}");
}
