//! The server as an editor sees it, driven in memory.
#![cfg(test)]

use keyplan_lsp::{Server, capabilities};
use lsp_server::{Message, Notification, Request, Response};
use serde_json::{Value, json};

const URI: &str = "file:///plans/demo.keyplan";

/// A plan with one of most things; `pool` is ambiguous.
const PLAN: &str = r#"plan demo;

/// A token.
type Denom = text("a-z", 1..=9);

space s {
    /// Pools by their tokens.
    key pool = 0x01 token_a: Denom token_b: Denom;

    /// Ticks.
    key tick = 0x02 id: u64 at: i64.tick9
        scan by id in order;
}
"#;

struct Editor {
    server: Server,
    next: i32,
    version: i64,
}

impl Editor {
    /// An editor with one document, proved.
    fn new(text: &str) -> (Self, Vec<Value>) {
        let params = json!({ "capabilities": { "general": { "positionEncodings": ["utf-8", "utf-16"] } } });
        let mut editor = Self { server: Server::new(&params), next: 0, version: 0 };
        let found = editor.open(URI, text);
        (editor, found)
    }

    fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        self.version += 1;
        let document = json!({ "uri": uri, "languageId": "keyplan", "version": self.version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }))
    }

    /// Sends a notification, lets the proof run, and returns the diagnostics that are told last.
    fn notify(&mut self, method: &str, params: Value) -> Vec<Value> {
        let message = Message::Notification(Notification::new(method.to_owned(), params));
        let mut sent = self.server.handle(message);
        for job in self.server.take_jobs() {
            sent.extend(self.server.proved(job.run()));
        }
        let published = sent.into_iter().rev().find_map(|message| match message {
            Message::Notification(told) if told.method == "textDocument/publishDiagnostics" => {
                Some(told.params)
            }
            _ => None,
        });
        published.map(|told| told["diagnostics"].as_array().unwrap().clone()).unwrap_or_default()
    }

    fn request(&mut self, method: &str, params: Value) -> Answer {
        self.next += 1;
        let request = Request::new(self.next.into(), method.to_owned(), params);
        match self.server.handle(Message::Request(request)).pop() {
            Some(Message::Response(response)) => Answer::of(&response),
            other => panic!("{other:?}"),
        }
    }

    /// Asks about a place in the document.
    fn ask(&mut self, method: &str, at: (usize, usize), more: Value) -> Value {
        let mut params = json!({
            "textDocument": { "uri": URI },
            "position": { "line": at.0, "character": at.1 },
            "range": { "start": { "line": at.0, "character": at.1 }, "end": { "line": at.0, "character": at.1 } },
        });
        let Value::Object(more) = more else { panic!("{more}") };
        for (name, value) in more {
            params[name] = value;
        }
        let response = self.request(&format!("textDocument/{method}"), params);
        assert_eq!(response.error, None, "{method}");
        response.result.unwrap()
    }
}

/// What a request got back, as it is sent.
struct Answer {
    result: Option<Value>,
    error: Option<String>,
}

impl Answer {
    fn of(response: &Response) -> Self {
        let sent = serde_json::to_value(response).unwrap();
        let error = sent.pointer("/error/message").map(|message| message.as_str().unwrap().to_owned());
        Self { result: sent.get("result").cloned(), error }
    }
}

/// Where a word of a text begins: line and column.
fn place(text: &str, word: &str) -> (usize, usize) {
    let at = text.find(word).unwrap();
    let line = text[..at].matches('\n').count();
    (line, at - text[..at].rfind('\n').map_or(0, |end| end + 1))
}

fn labels(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect()
}

/// A text after the edits of one file of a workspace edit.
fn edited(text: &str, edit: &Value) -> String {
    let mut edits: Vec<(usize, usize, String)> = edit["changes"][URI]
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let at = |end: &str| {
                let place = &edit["range"][end];
                let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
                let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
                start + usize::try_from(place["character"].as_u64().unwrap()).unwrap()
            };
            (at("start"), at("end"), edit["newText"].as_str().unwrap().to_owned())
        })
        .collect();
    edits.sort();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, &new);
    }
    out
}

#[test]
fn a_finding_has_its_keys_its_place_and_its_data() {
    let (_, found) = Editor::new(PLAN);
    assert_eq!(found.len(), 1);
    let finding = &found[0];
    assert_eq!(finding["code"], "KP0002");
    assert_eq!(finding["range"]["start"], json!({ "line": 7, "character": 20 }));
    let message = finding["message"].as_str().unwrap();
    assert!(message.starts_with("two argument lists of `s.pool` make the same key"), "{message}");
    assert!(message.contains("\nwitness: ") && message.contains("\nrepair: "), "{message}");
    assert_eq!(finding["data"]["witness"]["kind"], "same_key");
    assert!(finding["codeDescription"]["href"].as_str().unwrap().ends_with("docs/rules/KP0002.md"));
}

#[test]
fn an_edit_is_told_at_once_and_a_repair_cures() {
    let (mut editor, _) = Editor::new(PLAN);
    let actions = editor.ask("codeAction", place(PLAN, "token_a"), json!({}));
    let titles: Vec<&str> =
        actions.as_array().unwrap().iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(
        titles,
        [
            "end `token_a` with \"/\", a byte that it cannot contain (proved; needs a migration)",
            "keep the flaw: `accept ambiguous \"…\"`",
            "claim `scan all` (proved)",
        ]
    );
    let cured = edited(PLAN, &actions[0]["edit"]);
    assert!(cured.contains("token_a: Denom \"/\" token_b: Denom;"), "{cured}");
    let accepted = edited(PLAN, &actions[1]["edit"]);
    assert!(accepted.contains("token_b: Denom accept ambiguous \"say why\";"), "{accepted}");
    for text in [cured, accepted] {
        let change = json!({
            "textDocument": { "uri": URI, "version": 7 }, "contentChanges": [{ "text": text }],
        });
        assert_eq!(editor.notify("textDocument/didChange", change), Vec::<Value>::new());
    }
}

#[test]
fn changes_in_a_row_are_applied_in_order() {
    let (mut editor, _) = Editor::new("plan p;\nspace s { key k = 0x01; }\n");
    let change = |line: u64, from: u64, to: u64, text: &str| {
        let range =
            json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
        json!({ "range": range, "text": text })
    };
    let found = editor.notify(
        "textDocument/didChange",
        json!({
            "textDocument": { "uri": URI, "version": 2 },
            "contentChanges": [change(1, 18, 22, "a: uint64"), change(0, 5, 6, "q")],
        }),
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["range"]["start"], json!({ "line": 1, "character": 21 }));
    assert!(found[0]["message"].as_str().unwrap().ends_with("help: write `u64`"));
}

#[test]
fn hover_draws_an_example_key_and_says_what_is_proved() {
    let (mut editor, _) = Editor::new(PLAN);
    let text = |hover: Value| hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    let family = text(editor.ask("hover", place(PLAN, "tick ="), json!({})));
    assert!(family.starts_with("**s.tick**\n\nTicks.\n```text\nid=1 at=-2\n"), "{family}");
    assert!(family.contains("02 0000000000000001 05fffffffffffffffe"), "{family}");
    assert!(family.contains("18 bytes"), "{family}");
    assert!(family.contains("- `scan by id` is in order: proved"), "{family}");
    let argument = text(editor.ask("hover", place(PLAN, "at: i64"), json!({})));
    assert!(argument.contains("always 9 bytes; from byte 9"), "{argument}");
    let open = text(editor.ask("hover", place(PLAN, "token_a"), json!({})));
    assert!(open.contains("ends where the next segment begins, 1 to 9 bytes; from byte 1"), "{open}");
    assert!(open.contains("- one reading per key: **refuted**"), "{open}");
    let encoding = text(editor.ask("hover", place(PLAN, "tick9"), json!({})));
    assert!(encoding.contains("big-endian two's complement"), "{encoding}");
    let of_type = text(editor.ask("hover", place(PLAN, "Denom ="), json!({})));
    assert!(of_type.contains("A token.") && of_type.ends_with("used 2 times"), "{of_type}");
}

#[test]
fn hints_are_byte_offsets_up_to_the_first_open_end() {
    let (mut editor, _) = Editor::new(PLAN);
    let params = json!({ "textDocument": { "uri": URI } });
    let hints = editor.request("textDocument/inlayHint", params).result.unwrap();
    let shown: Vec<(u64, &str)> = hints
        .as_array()
        .unwrap()
        .iter()
        .map(|hint| (hint["position"]["line"].as_u64().unwrap(), hint["label"].as_str().unwrap()))
        .collect();
    assert_eq!(shown, [(7, "@0..1"), (7, "@1.."), (10, "@0..1"), (10, "@1..9"), (10, "@9..18")]);
}

#[test]
fn completion_knows_where_it_is() {
    let (mut editor, _) = Editor::new(PLAN);
    let mut at = |text: &str| {
        editor.open(URI, text);
        let end = place(&format!("{text}\u{1}"), "\u{1}");
        labels(&editor.ask("completion", end, json!({})))
            .iter()
            .map(|&label| label.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(at(""), ["plan", "import", "type", "names", "space"]);
    let front = "plan p; type Denom = text; space s { key k = 0x01 a: Denom b: u64";
    assert!(at(&format!("{front}.")).contains(&"tick9".to_owned()));
    assert_eq!(at("plan p; type Denom = text; space s { key k = 0x01 a: ")[..2], ["Denom", "u8"]);
    assert_eq!(at(&format!("{front} scan by ")), ["a", "b"]);
    assert_eq!(at(&format!("{front} scan by a, ")), ["a", "b"]);
    assert_eq!(at(&format!("{front} scan ")), ["by", "all"]);
    assert_eq!(at(&format!("{front} accept "))[..2], ["ambiguous", "overlap"]);
    assert_eq!(at(&format!("{front} accept overlap(")), ["k"]);
    assert_eq!(at(&format!("{front}; "))[..2], ["key", "hash"]);
    assert_eq!(at(&format!("{front} s"))[..2], ["scan", "own"]);
    assert!(at(&format!("{front}.hashed(")).contains(&"sha256".to_owned()));
}

#[test]
fn names_are_found_and_renamed_without_moving_a_byte() {
    let (mut editor, _) = Editor::new(PLAN);
    let definition = editor.ask("definition", place(PLAN, "Denom token_b"), json!({}));
    assert_eq!(definition["range"]["start"], json!({ "line": 3, "character": 5 }));
    let references = editor.ask(
        "references",
        place(PLAN, "id: u64"),
        json!({ "context": { "includeDeclaration": true } }),
    );
    assert_eq!(references.as_array().unwrap().len(), 2);
    let renamed = editor.ask("rename", place(PLAN, "id: u64"), json!({ "newName": "pool_id" }));
    let text = edited(PLAN, &renamed);
    assert!(text.contains("pool_id: u64 at: i64") && text.contains("scan by pool_id in order"), "{text}");
    // The name of a space is what the engine knows it by.
    let renamed = editor.ask("rename", place(PLAN, "s {"), json!({ "newName": "state" }));
    assert!(edited(PLAN, &renamed).contains("space state = \"s\" {"));
    let mut refused = |word: &str, new: &str| {
        let (line, character) = place(PLAN, word);
        let params = json!({
            "textDocument": { "uri": URI }, "position": { "line": line, "character": character }, "newName": new,
        });
        editor.request("textDocument/rename", params).error.unwrap()
    };
    assert_eq!(refused("token_a", "token_b"), "`token_b` is declared already, in line 8");
    assert_eq!(
        refused("token_a", "Token"),
        "this is spelled with small letters, digits and `_`, as in `pool_id`"
    );
    assert_eq!(refused("plan demo", "x"), "there is no name here");
}

#[test]
fn types_are_followed_across_imports() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keyplan.toml"), "").unwrap();
    let types = folder.path().join("types.keyplan");
    std::fs::write(&types, "plan types;\n\ntype Id = u64;\n").unwrap();
    let root = folder.path().join("root.keyplan");
    let (mut editor, _) = Editor::new(PLAN);
    let uri = format!("file://{}", root.display());
    let text = "plan root;\nimport \"types.keyplan\";\nspace s { key k = 0x01 id: Id; }\n";
    assert_eq!(editor.open(&uri, text), Vec::<Value>::new());
    let at = |line: u64, character: u64| json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character }, "newName": "Pool" });
    let target = format!("file://{}", types.display());
    let definition = editor.request("textDocument/definition", at(2, 27)).result.unwrap();
    assert_eq!((&definition["uri"], &definition["range"]["start"]["line"]), (&json!(target), &json!(2)));
    let import = editor.request("textDocument/definition", at(1, 12)).result.unwrap();
    assert_eq!(import["uri"], json!(target));
    let renamed = editor.request("textDocument/rename", at(2, 27)).result.unwrap();
    assert_eq!(renamed["changes"][&target].as_array().unwrap().len(), 1);
    assert_eq!(renamed["changes"][&uri].as_array().unwrap().len(), 1);
    // What is open counts, not what is on the disk; a mistake in it is told at the import.
    editor.open(&target, "plan types; type Id = u65;");
    let found = editor.open(&uri, text);
    assert!(
        found[0]["message"].as_str().unwrap().starts_with("the imported file has mistakes: no domain"),
        "{found:?}"
    );
}

/// A folder with a project of these files.
fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, impl Fn(&str) -> String + use<>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let root = folder.path().to_owned();
    (folder, move |name: &str| format!("file://{}", root.join(name).display()))
}

fn point(uri: &str, line: u64, character: u64) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character }, "newName": "Pool" })
}

#[test]
fn a_type_is_renamed_in_plans_of_the_project_that_are_not_open() {
    let types = "plan types;\ntype Id = u64;\n";
    let user = "plan user;\nimport \"types.keyplan\";\nspace s { key k = 0x01 id: Id; }\n";
    let stranger = "plan stranger;\ntype Id = u8;\nspace t { key k = 0x01 id: Id; }\n";
    let settings = "[project]\nplans = [\"*.keyplan\"]\n";
    let files = [
        ("keyplan.toml", settings),
        ("types.keyplan", types),
        ("user.keyplan", user),
        ("stranger.keyplan", stranger),
    ];
    let (folder, uri) = project(&files);
    let (mut editor, _) = Editor::new(PLAN);
    let types_uri = uri("types.keyplan");
    editor.open(&types_uri, types);
    let found = editor.request("textDocument/references", point(&types_uri, 1, 5)).result.unwrap();
    let found: Vec<&str> =
        found.as_array().unwrap().iter().map(|place| place["uri"].as_str().unwrap()).collect();
    assert_eq!(found, [types_uri.as_str(), uri("user.keyplan").as_str()]);
    let renamed = editor.request("textDocument/rename", point(&types_uri, 1, 5)).result.unwrap();
    let changed: Vec<&String> = renamed["changes"].as_object().unwrap().keys().collect();
    assert_eq!(changed, [types_uri.as_str(), uri("user.keyplan").as_str()]);
    // A plan that could not be compared is not a plan to be renamed in unseen.
    let clash = format!("{user}type Pool = u8;\n");
    std::fs::write(folder.path().join("user.keyplan"), clash).unwrap();
    let refused = editor.request("textDocument/rename", point(&types_uri, 1, 5)).error.unwrap();
    assert!(refused.starts_with("in `") && refused.ends_with("the plan would have mistakes"), "{refused}");
}

#[test]
fn an_import_leads_to_the_file_that_it_names_and_to_no_other() {
    let (_folder, uri) = project(&[
        ("keyplan.toml", ""),
        ("my_types.keyplan", "plan my_types;\ntype A = u8;\n"),
        ("types.keyplan", "plan types;\ntype B = u8;\n"),
    ]);
    let text = "plan p;\nimport \"my_types.keyplan\";\nimport \"types.keyplan\";\nspace s { key k = 0x01 a: A b: B; }\n";
    let root = uri("root.keyplan");
    let (mut editor, _) = Editor::new(PLAN);
    assert_eq!(editor.open(&root, text), Vec::<Value>::new());
    for (line, expected) in [(1, "my_types.keyplan"), (2, "types.keyplan")] {
        let found = editor.request("textDocument/definition", point(&root, line, 12)).result.unwrap();
        assert_eq!(found["uri"], json!(uri(expected)));
    }
}

#[test]
fn families_of_imported_files_have_no_hints_here_and_their_findings_are_told_at_the_import() {
    let other =
        "plan other;\n\n\n\nspace t { key pool = 0x01 a: text(\"a\", 1..=3) b: text(\"a\", 1..=3); }\n";
    let (_folder, uri) = project(&[("keyplan.toml", ""), ("other.keyplan", other)]);
    let text = "plan p;\nimport \"other.keyplan\";\nspace s { key k = 0x01 id: u32; }\n";
    let root = uri("root.keyplan");
    let (mut editor, _) = Editor::new(PLAN);
    let found = editor.open(&root, text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["code"], &found[0]["range"]["start"]["line"]), (&json!("KP0002"), &json!(1)));
    assert!(
        found[0]["message"].as_str().unwrap().starts_with("a finding of the imported file: two"),
        "{found:?}"
    );
    assert_eq!(found[0]["relatedInformation"][0]["location"]["uri"], json!(uri("other.keyplan")));
    let of = json!({ "textDocument": { "uri": root } });
    let hints = editor.request("textDocument/inlayHint", of.clone()).result.unwrap();
    let lines: Vec<u64> =
        hints.as_array().unwrap().iter().map(|hint| hint["position"]["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 2]);
    let lenses = editor.request("textDocument/codeLens", of).result.unwrap();
    assert_eq!(lenses.as_array().unwrap().len(), 2, "{lenses}");
    // An edit of the other file is told here at once.
    let cured = other.replace(") b", ") \"/\" b");
    editor.open(&uri("other.keyplan"), other);
    let change = json!({
        "textDocument": { "uri": uri("other.keyplan"), "version": 9 }, "contentChanges": [{ "text": cured }],
    });
    assert_eq!(editor.notify("textDocument/didChange", change), Vec::<Value>::new());
    assert_eq!(editor.open(&root, text), Vec::<Value>::new());
}

#[test]
fn the_engine_of_the_project_counts() {
    let text = "plan p;\nspace s { key k = 0x01 name: bytes(600); }\n";
    let (_folder, uri) = project(&[("keyplan.toml", "[project]\nengine = \"lmdb\"\n")]);
    let (mut editor, found) = Editor::new(text);
    assert_eq!(found, Vec::<Value>::new());
    let found = editor.open(&uri("p.keyplan"), text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0]["message"].as_str().unwrap().contains("lmdb"), "{found:?}");
}

#[test]
fn actions_are_of_the_kinds_that_are_asked_for() {
    let (mut editor, found) = Editor::new(PLAN);
    let kinds = |editor: &mut Editor, only: &[&str]| {
        let actions =
            editor.ask("codeAction", place(PLAN, "token_a"), json!({ "context": { "only": only } }));
        let kinds =
            actions.as_array().unwrap().iter().map(|action| action["kind"].as_str().unwrap().to_owned());
        kinds.collect::<Vec<_>>()
    };
    assert_eq!(kinds(&mut editor, &["quickfix"]), ["quickfix", "quickfix"]);
    assert_eq!(kinds(&mut editor, &["refactor"]), ["refactor"]);
    assert_eq!(kinds(&mut editor, &["source.organizeImports"]), Vec::<String>::new());
    let actions = editor.ask("codeAction", place(PLAN, "token_a"), json!({}));
    assert_eq!(actions[0]["diagnostics"], json!(found));
}

#[test]
fn a_text_with_mistakes_has_symbols_folds_and_tokens() {
    let text = "plan p;\nspace s {\n    key a = 0x01 b: ;\n    key c = 0x02\n        d: u8;\n";
    let (mut editor, found) = Editor::new(text);
    assert_eq!(found.len(), 2, "{found:?}");
    let symbols = editor.ask("documentSymbol", (0, 0), json!({}));
    assert_eq!((&symbols[0]["name"], &symbols[0]["detail"]), (&json!("s"), &json!("space")));
    let families: Vec<&Value> =
        symbols[0]["children"].as_array().unwrap().iter().map(|child| &child["name"]).collect();
    assert_eq!(families, ["a", "c"]);
    let folds = editor.ask("foldingRange", (0, 0), json!({}));
    assert!(folds.as_array().unwrap().contains(&json!({ "startLine": 3, "endLine": 4 })), "{folds}");
    let tokens = editor.ask("semanticTokens/full", (0, 0), json!({}));
    assert_eq!(
        tokens["data"].as_array().unwrap()[..10],
        [0, 0, 4, 0, 0, 0, 5, 1, 2, 1].map(|n: i32| json!(n))
    );
    assert_eq!(editor.ask("hover", (2, 20), json!({})), Value::Null);
    assert_eq!(editor.ask("formatting", (0, 0), json!({})), json!([]));
}

#[test]
fn lenses_say_the_verdict() {
    let (mut editor, _) = Editor::new(PLAN);
    let lenses = editor.ask("codeLens", (0, 0), json!({}));
    let titles: Vec<&str> =
        lenses.as_array().unwrap().iter().map(|lens| lens["command"]["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["2 families, 1 scan: 1 refuted", "1 refuted", "proved"]);
}

#[test]
fn formatting_is_the_formatter() {
    let (mut editor, _) = Editor::new("plan   p; space s {key k=0x01;}");
    let edits = editor.ask("formatting", (0, 0), json!({}));
    assert_eq!(edits[0]["newText"], "plan p;\n\nspace s {\n    key k = 0x01;\n}\n");
}

#[test]
fn what_nobody_knows_is_refused_and_nothing_panics() {
    let (mut editor, _) = Editor::new(PLAN);
    let response = editor.request("keyplan/nonsense", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(response.error.unwrap(), "there is no `keyplan/nonsense`");
    let capabilities = capabilities(&json!({}));
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    let methods = [
        "hover",
        "completion",
        "definition",
        "references",
        "rename",
        "codeAction",
        "inlayHint",
        "prepareRename",
    ];
    for params in
        [json!(null), json!([]), json!({ "textDocument": { "uri": URI }, "position": 5, "range": [] })]
    {
        for method in methods {
            editor.request(&format!("textDocument/{method}"), params.clone());
        }
        editor.notify("textDocument/didChange", params);
    }
    for offset in (0..PLAN.len()).step_by(11) {
        editor.open(URI, &PLAN[..offset]);
        let line = PLAN[..offset].matches('\n').count();
        for method in methods {
            let place = json!({ "line": line, "character": 5 });
            let params = json!({ "textDocument": { "uri": URI }, "position": place, "newName": "x" });
            editor.request(&format!("textDocument/{method}"), params);
        }
    }
}
