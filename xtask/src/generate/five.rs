//! `plans/five.keyplan`: the five systems in one plan, for one database that holds the state of them all.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use keyplan_plan::diag::FileId;
use keyplan_plan::syntax::{Token, TokenKind, format, lex};
use xtask::workspace;

/// Where it is written.
pub(super) const PATH: &str = "plans/five.keyplan";

/// What goes into it: the repaired plan where there is one.
const PARTS: [&str; 5] = ["osmosis_cl", "cosmwasm", "cardano", "paw_v2", "onesat_v2"];

const HEAD: &str = "\
//! Five systems in one database: concentrated liquidity of Osmosis, the storage of a `CosmWasm` contract, the state of a
//! Cardano node, the PAW chain and the 1Sat indexer. `keyplan demo` fills it.
//!
//! Written by `cargo xtask generate` from the plans of these names: change those instead.
plan five;
";

/// The plans one after the other. A type whose name was taken before gets the name of its plan in front.
pub(super) fn text() -> Result<String> {
    let mut out = HEAD.to_owned();
    let mut taken = BTreeSet::new();
    for part in PARTS {
        let path = workspace::root().join(format!("plans/{part}.keyplan"));
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let tokens = lex(FileId(0), &text).tokens;
        let renamed: BTreeMap<String, String> = declared(&tokens)
            .filter(|name| !taken.insert((*name).to_owned()))
            .map(|name| (name.to_owned(), format!("{}{name}", camel(part))))
            .collect();
        out.push('\n');
        out.push_str(&body(&text, &tokens, &renamed));
    }
    Ok(format(&out).unwrap_or(out))
}

/// The names of types and name sets.
fn declared(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.windows(2).filter_map(|pair| match pair {
        [Token { kind: TokenKind::Ident(word), .. }, Token { kind: TokenKind::Ident(name), .. }]
            if matches!(word.as_str(), "type" | "names") =>
        {
            Some(name.as_str())
        }
        _ => None,
    })
}

/// Everything behind `plan NAME;`, with names replaced.
fn body(text: &str, tokens: &[Token], renamed: &BTreeMap<String, String>) -> String {
    let Some(first) = tokens.iter().position(|token| token.kind == TokenKind::Semicolon) else {
        return String::new();
    };
    let mut out = String::new();
    let mut at = tokens.get(first).map_or(0, |token| token.span.range().end);
    for token in tokens.iter().skip(first + 1) {
        if let TokenKind::Ident(name) = &token.kind
            && let Some(new) = renamed.get(name)
        {
            out.push_str(text.get(at..token.span.range().start).unwrap_or_default());
            out.push_str(new);
            at = token.span.range().end;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out.trim_start_matches('\n').to_owned()
}

/// `paw_v2` as the beginning of a type's name: `Paw`.
fn camel(plan: &str) -> String {
    let word = plan.split('_').next().unwrap_or(plan);
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_replaced_where_it_is_a_name() {
        let text = "plan a;\n\n/// Denom in words.\ntype Denom = text(\"Denom\");\nspace s { key k = d: Denom \"Denom\"; }\n";
        let tokens = lex(FileId(0), text).tokens;
        let renamed = BTreeMap::from([("Denom".to_owned(), "PawDenom".to_owned())]);
        assert_eq!(
            body(text, &tokens, &renamed),
            "/// Denom in words.\ntype PawDenom = text(\"Denom\");\nspace s { key k = d: PawDenom \"Denom\"; }\n"
        );
    }
}
