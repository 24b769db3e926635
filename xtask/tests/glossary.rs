//! The glossary has each word once, and every noun that the libraries made up.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is a test, though some of it is outside of the functions marked as one"
)]

use std::collections::{BTreeMap, BTreeSet};

use xtask::workspace;

/// Crates whose public types are words that users meet.
const CRATES: [&str; 14] = [
    "codec", "database", "explorer", "infer", "keyplan", "plan", "postgres", "print", "prover", "report",
    "slate", "sources", "store", "values",
];

/// Names of public types that mean here what they mean in every program, are names of formats and products, or say in a
/// verb's form what became of something. A noun with a meaning of its own belongs into the glossary instead.
const PLAIN: &str = "
    access action against ages amount asks assumption atom atomicity attached badger base58
    bech32 begun body bool broken buffer buffered by bytes cached call carried case certified
    change checked checksum claimed codec coded comment compare compiled copied count
    counterexample course crc16 crc32 data database decimal decision decoded decoder
    decomposition deleted deque derivation desc detail differences direction done dropped duplicates
    duty embedded end ends entry error escaped example except expected expiring explorer failure
    fate figures file files fit fixes fjall flawed foreign forgotten format found framing
    furthest ground growth hashed held history hit iavl ident import imported imports indexed
    inference int keep kind known label lawful leaf lexed limit limits line lines listed lmdb
    loaded looked lsm made map memcmp memory messages meta migrated more narrow nibbles node nonces note
    now opaque opened opening operation other pair pairing params parsed passage past phase
    position postgres previous problem product prune pruning query rank ranked read reader
    reason redb redis rejected releasing remade remote removed repositories resolved result retire room rows
    ruling running same scanned scored search seen setting settings severity shown side signed
    sizes slate slots split sqlite standing statistics step steps stored style sum summary
    summed survives take taken tally task tell terminated text tick9 ticket token told transaction
    type unescaped unmatched unread unsigned unwritable variant verified version view watch watcher way
    wide widening window writers zset
";

fn glossary() -> String {
    std::fs::read_to_string(workspace::root().join("docs/glossary.md")).unwrap()
}

/// The words that a line begins with, in bold.
fn entries(text: &str) -> Vec<&str> {
    let heads =
        text.lines().filter_map(|line| line.strip_prefix("**")).filter_map(|line| line.split(" — ").next());
    heads.flat_map(|head| head.split("**").filter(|word| !word.trim_matches([',', ' ']).is_empty())).collect()
}

#[test]
fn the_glossary_has_each_word_once() {
    let text = glossary();
    let entries = entries(&text);
    assert!(entries.len() > 100, "{entries:?}");
    let mut seen = BTreeSet::new();
    let twice: Vec<&str> = entries.into_iter().filter(|word| !seen.insert(*word)).collect();
    assert_eq!(twice, Vec::<&str>::new());
}

#[test]
fn every_noun_of_the_libraries_is_a_common_one_or_in_the_glossary() {
    let text = glossary().to_lowercase();
    // What is between stars: entries, and words that an entry explains beside its own.
    let marked = text.split('*').filter(|part| part.len() < 40);
    let mut words: BTreeSet<String> =
        marked.flat_map(|part| part.split_whitespace().map(str::to_owned)).collect();
    words.extend(PLAIN.split_whitespace().map(str::to_owned));
    let mut unknown = BTreeMap::new();
    for name in CRATES {
        let folder = format!("crates/{name}/src/");
        for file in workspace::files().unwrap() {
            let path = workspace::relative(&file);
            if !path.starts_with(&folder) || file.extension().is_none_or(|one| one != "rs") {
                continue;
            }
            for line in std::fs::read_to_string(&file).unwrap().lines() {
                let Some(noun) = public_type(line).filter(|noun| is_one_word(noun)) else { continue };
                let noun = noun.to_lowercase();
                let forms = [noun.clone(), format!("{noun}s"), noun.trim_end_matches('s').to_owned()];
                if !forms.iter().any(|form| words.contains(form)) {
                    unknown.entry(noun).or_insert(path.clone());
                }
            }
        }
    }
    assert_eq!(
        unknown,
        BTreeMap::new(),
        "explain them in docs/glossary.md; what means the same in every program goes into PLAIN of this test"
    );
}

fn public_type(line: &str) -> Option<&str> {
    let rest = ["struct ", "enum ", "trait ", "type "]
        .iter()
        .find_map(|kind| line.strip_prefix("pub ")?.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_ascii_alphanumeric()).next()
}

fn is_one_word(name: &str) -> bool {
    name.chars().filter(char::is_ascii_uppercase).count() == 1
}

#[test]
fn a_public_type_of_one_word_is_seen() {
    assert_eq!(public_type("pub struct Widget<T> {").filter(|noun| is_one_word(noun)), Some("Widget"));
    assert_eq!(public_type("pub enum FineThing {").filter(|noun| is_one_word(noun)), None);
    assert_eq!(public_type("pub(crate) struct Widget;"), None);
}
