//! Plans checked, keys encoded and explained, in a browser or under Node.
//!
//! [`answer`] takes a request and gives an answer, both as JSON; that is all. `abi` exports it from the module of
//! WebAssembly, `js/keyplan.js` beside this crate makes functions of it, and `cargo xtask site` builds the module.
//!
//! ```
//! let request = br#"{"do": "encode", "text": "plan p; space s { key k = 0x01 n: u16; }", "family": "k", "args": {"n": 7}}"#;
//! assert_eq!(keyplan_wasm::answer(request), br#"{"hex":"010007"}"#);
//! let request = br#"{"do": "encode", "text": "plan p; space s { key k = 0x01 n: u16; }", "family": "k", "args": {}}"#;
//! assert_eq!(keyplan_wasm::answer(request), br#"{"error":"the argument `n` is missing"}"#);
//! ```
//!
//! Nothing here reads a file, a clock or a network. Hostile plans and keys get an answer within the bounds of the crates below.

mod abi;
mod check;
mod key;

use std::collections::BTreeMap;
use std::fmt::Display;

use keyplan_plan::Compiled;
use keyplan_plan::load::load_bytes;
use keyplan_plan::model::Plan;
use keyplan_plan::syntax::format;
use serde_json::{Map, Value, json};

/// What is asked: an object with `do` and what that needs. It is read by hand: what `serde` derives for it was 30 KB of the module.
struct Request(Map<String, Value>);

impl Request {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let unread = |why: &dyn Display| format!("the request is not understood: {why}");
        match serde_json::from_slice(bytes).map_err(|error| unread(&error))? {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(unread(&"it is not an object")),
        }
    }

    /// A text that must be there.
    fn text(&self, name: &str) -> Result<&str, String> {
        let found = self.0.get(name).and_then(Value::as_str);
        found.ok_or_else(|| format!("the request is not understood: it lacks the text `{name}`"))
    }

    /// Whether something is wanted that need not be said.
    fn wants(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    /// The plan and what it may import.
    fn plan(&self) -> Result<Text, String> {
        let mut files = BTreeMap::new();
        for (path, text) in self.0.get("files").and_then(Value::as_object).into_iter().flatten() {
            let text = text.as_str().ok_or("the request is not understood: a file is not text")?;
            files.insert(path.clone(), text.to_owned());
        }
        let name = self.0.get("name").and_then(Value::as_str).unwrap_or("plan.keyplan");
        Ok(Text { written: self.text("text")?.to_owned(), name: name.to_owned(), files })
    }
}

/// A plan and what it may import.
#[derive(Debug)]
struct Text {
    written: String,
    /// What its file is called in findings.
    name: String,
    /// The text of other files, by the path that an import resolves to.
    files: BTreeMap<String, String>,
}

impl Text {
    fn compile(&self) -> Compiled {
        load_bytes(&self.name, self.written.as_bytes(), |path| {
            let text = self.files.get(path).map(|text| text.clone().into_bytes());
            text.ok_or_else(|| "it is not among the files that were given".to_owned())
        })
    }

    /// The plan, or why it does not compile.
    fn plan(&self) -> Result<Plan, String> {
        let compiled = self.compile();
        let first = compiled.errors().next().map(|error| {
            let place = error.labels.first().map(|label| compiled.sources.position(label.span));
            let place = place.map_or_else(String::new, |at| format!("{}:{}: ", at.line, at.column));
            format!("{}: {place}{}", error.code.id(), error.message)
        });
        match (first, compiled.plan) {
            (None, Some(plan)) => Ok(plan),
            (why, _) => Err(why.unwrap_or_else(|| "the plan does not compile".to_owned())),
        }
    }
}

/// Answers a request. What cannot be answered is an object with `error`, which says why.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let answer = Request::read(request).and_then(|request| carry_out(&request));
    let answer = answer.unwrap_or_else(|why| json!({ "error": why }));
    // A tree of JSON whose keys are texts can always be written.
    serde_json::to_vec(&answer).unwrap_or_default()
}

fn carry_out(request: &Request) -> Result<Value, String> {
    let space = request.0.get("space").and_then(Value::as_str);
    match request.text("do")? {
        // Everything that is wrong with a plan, with repairs where they are wanted.
        "check" => Ok(check::check(&request.plan()?, request.wants("repairs"))),
        // The text in its one form.
        "format" => formatted(request.text("text")?),
        // Arguments to bytes.
        "encode" => {
            let args = request.0.get("args").and_then(Value::as_object);
            let args = args.ok_or("the request is not understood: it lacks the object `args`")?;
            key::encoded(&request.plan()?.plan()?, request.text("family")?, args)
        }
        // Bytes to their family and arguments; more than one reading, or none, is an error.
        "decode" => key::decoded(&request.plan()?.plan()?, &key::bytes(request.text("hex")?)?, space),
        // Every reading of some bytes, and which of them are what; or how far the nearest families get.
        "explain" => key::explained(&request.plan()?.plan()?, &key::bytes(request.text("hex")?)?, space),
        other => Err(format!("the request is not understood: `{other}` is not a request that it knows")),
    }
}

fn formatted(text: &str) -> Result<Value, String> {
    let text = format(text).map_err(|found| {
        let first = found.first().map(|diagnostic| diagnostic.message.clone());
        first.unwrap_or_else(|| "the text is not a plan".to_owned())
    })?;
    Ok(json!({ "text": text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(request: &Value) -> Value {
        serde_json::from_slice(&answer(&serde_json::to_vec(request).unwrap())).unwrap()
    }

    const TICKS: &str = "plan demo; space cl { key tick = 0x01 pool: u64 tick: i64.tick9; }";
    const TICK: &str = "01000000000000000705ffffffffffffff9c";

    #[test]
    fn keys_are_made_and_read() {
        let args = json!({ "pool": "7", "tick": -100 });
        let made = ask(&json!({ "do": "encode", "text": TICKS, "family": "tick", "args": args }));
        assert_eq!(made, json!({ "hex": TICK }));
        let read = ask(&json!({ "do": "decode", "text": TICKS, "hex": TICK }));
        assert_eq!(
            read,
            json!({ "space": "cl", "family": "cl.tick", "args": { "pool": "7", "tick": "-100" } })
        );
    }

    #[test]
    fn every_byte_of_a_key_is_explained() {
        let found = ask(&json!({ "do": "explain", "text": TICKS, "hex": TICK }));
        let pieces = found["readings"][0]["pieces"].as_array().unwrap();
        let labels: Vec<&str> = pieces.iter().map(|piece| piece["label"].as_str().unwrap()).collect();
        assert_eq!(labels, ["tick", "pool = 7", "tick = -100"]);
        assert_eq!((&pieces[2]["start"], &pieces[2]["end"]), (&json!(9), &json!(18)));
    }

    #[test]
    fn a_key_of_nobody_says_where_it_breaks() {
        let broken = TICK.replace("05ff", "06ff");
        let found = ask(&json!({ "do": "explain", "text": TICKS, "hex": broken }));
        assert_eq!(found["readings"], json!([]));
        assert_eq!(found["nearest"][0]["family"], "cl.tick");
        assert_eq!(found["nearest"][0]["offset"], 9);
        let read = ask(&json!({ "do": "decode", "text": TICKS, "hex": broken }));
        assert_eq!(
            read["error"],
            "no family makes this key; cl.tick gets furthest: byte 9, in `tick`: sign byte 06, but the number after it calls for 05"
        );
    }

    #[test]
    fn an_ambiguous_key_is_not_guessed() {
        let text = r#"plan p; space s { key k = a: text("a", 1..=3) b: text("a", 1..=3); }"#;
        let read = ask(&json!({ "do": "decode", "text": text, "hex": "616161" }));
        assert_eq!(
            read["error"],
            "this key has several readings: s.k a=\"a\" b=\"aa\"; s.k a=\"aa\" b=\"a\""
        );
        let made =
            ask(&json!({ "do": "encode", "text": text, "family": "k", "args": {"a": "a", "b": "aa"} }));
        assert_eq!(made["error"], "616161 can also be read as s.k a=\"aa\" b=\"a\"");
    }

    #[test]
    fn findings_have_their_keys_and_repairs() {
        let text = r#"plan p; space s { key k = a: text("a", 1..=3) b: text("a", 1..=3); }"#;
        let checked = ask(&json!({ "do": "check", "text": text, "repairs": true }));
        let finding = &checked["findings"][0];
        assert_eq!(
            (&finding["code"], &finding["witness"]["first"]["hex"]),
            (&json!("KP0002"), &json!("616161"))
        );
        assert_eq!(finding["repairs"][0]["edit"]["text"], " \"/\"");
        assert_eq!((&checked["families"], &checked["refuted"]), (&json!(1), &json!(1)));
        let plain = ask(&json!({ "do": "check", "text": text }));
        assert_eq!(plain["findings"][0]["repairs"], json!([]));
        assert_eq!(plain["fingerprint"], checked["fingerprint"]);
    }

    #[test]
    fn imports_are_the_files_that_were_given() {
        let text = "plan p; import \"types.keyplan\"; space s { key k = 0x01 id: Id; }";
        let with =
            json!({ "do": "check", "text": text, "files": { "types.keyplan": "plan t; type Id = u64;" } });
        assert_eq!(ask(&with)["findings"], json!([]));
        let without = ask(&json!({ "do": "check", "text": text }));
        assert_eq!(without["findings"][0]["severity"], "error");
    }

    #[test]
    fn what_is_not_understood_gets_an_answer() {
        for request in [&b""[..], b"{}", b"{\"do\":\"burn\"}", b"\xff", b"{\"do\":\"check\"}"] {
            let answer: Value = serde_json::from_slice(&answer(request)).unwrap();
            assert!(
                answer["error"].as_str().unwrap().starts_with("the request is not understood"),
                "{answer}"
            );
        }
        let text = ask(&json!({ "do": "format", "text": "plan p; space s { key k = 0x01 ; }" }));
        assert_eq!(text["text"], "plan p;\n\nspace s {\n    key k = 0x01;\n}\n");
        let odd = ask(&json!({ "do": "decode", "text": TICKS, "hex": "012" }));
        assert_eq!(odd["error"], "`012` is not bytes in hex: it has an odd number of digits");
        let broken = ask(&json!({ "do": "decode", "text": "plan p; space s { key }", "hex": "01" }));
        assert!(broken["error"].as_str().unwrap().starts_with("KP01"), "{broken}");
    }
}
