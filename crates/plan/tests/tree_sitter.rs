//! The grammar of editors against the parser: both accept and refuse the same plans, over everything in the repository, and over
//! what is left of it when tokens are taken out, doubled, exchanged or put in.
//!
//! Needs a C compiler and the library of tree-sitter, which the test command installs.
#![cfg(test)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use keyplan_plan::diag::{Code, FileId};
use keyplan_plan::syntax::{lex, parse};
use keyplan_testkit::{Random, rounds};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The plans of the repository, each with its name.
fn corpus() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for folder in ["plans", "testdata", "docs", "crates"] {
        plans(&root().join(folder), &mut all);
    }
    assert!(all.len() > 100, "{}", all.len());
    all
}

/// The plans below a folder, whole files and blocks of documents.
fn plans(folder: &Path, all: &mut Vec<(String, String)>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.display().to_string();
        if path.is_dir() {
            if !["target", "node_modules"].iter().any(|skipped| path.ends_with(skipped)) {
                plans(&path, all);
            }
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        // What is not text has no syntax.
        let Some(text) = fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
            continue;
        };
        match extension {
            Some("keyplan") => all.push((name, text)),
            Some("md") => {
                for (index, block) in text.split("```keyplan\n").skip(1).enumerate() {
                    let block = block.split("```").next().unwrap();
                    all.push((format!("{name} block {index}"), block.to_owned()));
                }
            }
            _ => {}
        }
    }
}

/// Whether the parser accepts a text: characters that cannot be seen, limits and what is said twice are not a matter of syntax.
fn accepted(text: &str) -> bool {
    let found = parse(FileId(0), text).diagnostics;
    found.iter().all(|found| {
        matches!(found.code, Code::HiddenCharacter | Code::TooDeep | Code::TooLarge)
            || found.message.ends_with("is given twice")
    })
}

/// Whether the parser reads a text to its end. What is nested too deeply it passes over, mistakes included.
fn is_read_whole(text: &str) -> bool {
    let found = parse(FileId(0), text).diagnostics;
    !found.iter().any(|found| matches!(found.code, Code::TooDeep | Code::TooLarge))
}

/// Whether the grammar of editors accepts each of these texts.
fn by_grammar(texts: &[&str]) -> Vec<bool> {
    let folder = tempfile::tempdir().unwrap();
    let grammar = root().join("editors/tree-sitter-keyplan");
    let program = folder.path().join("accepts");
    let built = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .args([grammar.join("test/accepts.c"), grammar.join("src/parser.c")])
        .arg("-I")
        .arg(grammar.join("src"))
        .arg("-ltree-sitter")
        .status()
        .expect("a C compiler");
    assert!(built.success(), "cargo xtask test installs what this needs");
    let mut run = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut given = run.stdin.take().unwrap();
    let said = std::thread::scope(|scope| {
        scope.spawn(move || {
            for text in texts {
                writeln!(given, "{}", text.len()).unwrap();
                given.write_all(text.as_bytes()).unwrap();
            }
        });
        run.wait_with_output().unwrap()
    });
    let said = String::from_utf8(said.stdout).unwrap();
    let verdicts: Vec<bool> = said.lines().map(|line| line == "1").collect();
    assert_eq!(verdicts.len(), texts.len());
    verdicts
}

/// The names of the texts of which the parser and the grammar say different things, with what the grammar says.
fn differing(all: &[(String, String)]) -> Vec<(&str, bool)> {
    let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
    let said = all.iter().zip(by_grammar(&texts));
    let differ = said.filter(|((_, text), verdict)| accepted(text) != *verdict);
    differ.map(|((name, _), verdict)| (name.as_str(), verdict)).collect()
}

#[test]
fn the_grammar_of_editors_accepts_what_the_parser_does() {
    let mut all = corpus();
    let refused = all.iter().filter(|(_, text)| !accepted(text)).count();
    assert!(refused > 10, "only {refused} plans are refused");
    // A plan that lacks one of its tokens is mostly refused.
    let whole = fs::read_to_string(root().join("docs/example.keyplan")).unwrap();
    let words: Vec<&str> = whole.split_inclusive(' ').collect();
    for index in 0..words.len() {
        let mut fewer = words.clone();
        fewer.remove(index);
        all.push((format!("docs/example.keyplan without word {index}"), fewer.concat()));
    }
    assert_eq!(differing(&all), []);
}

#[test]
fn both_agree_on_plans_whose_tokens_were_mixed_up() {
    // Long plans say little more than short ones, and take longer.
    let short = |(name, text): (String, String)| {
        (text.len() < 6_000 && accepted(&text)).then(|| (name, tokens(&text)))
    };
    let plans: Vec<(String, Vec<String>)> = corpus().into_iter().filter_map(short).collect();
    let mut every: Vec<&str> = plans.iter().flat_map(|(_, tokens)| tokens).map(String::as_str).collect();
    every.sort_unstable();
    every.dedup();
    let seed = std::env::var("KEYPLAN_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut random = Random(seed);
    let mut all = Vec::new();
    for round in 0..rounds(6_000) {
        let (name, plan) = random.pick(&plans);
        let mut tokens: Vec<&str> = plan.iter().map(String::as_str).collect();
        // One change shows most, two show what depends on each other.
        for _ in 0..random.between(1, 2) {
            mix_up(&mut tokens, &every, &mut random);
        }
        let text = tokens.join(" ");
        if is_read_whole(&text) {
            all.push((format!("round {round} of seed {seed}, {name}"), text));
        }
    }
    assert!(
        all.len() > usize::try_from(rounds(6_000)).unwrap() * 9 / 10,
        "only {} texts are read to their end",
        all.len()
    );
    let sound = all.iter().filter(|(_, text)| accepted(text)).count();
    assert!(sound > all.len() / 50, "only {sound} of {} are plans", all.len());
    let mut differ: Vec<String> = Vec::new();
    for (name, verdict) in differing(&all) {
        let text = all.iter().find(|(other, _)| other == name).map_or("", |(_, text)| text);
        let why = parse(FileId(0), text).diagnostics.into_iter().next();
        let why = why.map_or_else(
            || "accepted".to_owned(),
            |why| {
                let at = why.span().range();
                let near =
                    text.get(at.start.saturating_sub(60)..(at.end + 60).min(text.len())).unwrap_or(text);
                format!("{} near `{near}`", why.message)
            },
        );
        differ.push(format!("{name}: the grammar says {verdict}, the parser: {why}\n{text}"));
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n\n"));
}

/// The tokens of a text as they are spelled, each line of documentation with its end.
fn tokens(text: &str) -> Vec<String> {
    let spelled = |range: std::ops::Range<usize>| {
        let spelling = text.get(range).unwrap();
        if spelling.starts_with("//") { format!("{spelling}\n") } else { spelling.to_owned() }
    };
    lex(FileId(0), text).tokens.iter().map(|token| spelled(token.span.range())).collect()
}

/// Takes a token out, doubles it, exchanges it for another, or puts another one there.
fn mix_up<'t>(tokens: &mut Vec<&'t str>, every: &[&'t str], random: &mut Random) {
    if tokens.is_empty() {
        return;
    }
    let at = random.index(tokens.len());
    let other = if random.coin() { *random.pick(every) } else { random.choose(tokens) };
    match random.below(5) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at]),
        2 => tokens[at] = other,
        3 => tokens.insert(at, other),
        _ => {
            let next = (at + 1) % tokens.len();
            tokens.swap(at, next);
        }
    }
}
