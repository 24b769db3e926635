//! The cases in `testdata/syntax`: a plan with mistakes, and what a person is told about them.
//!
//! A case is a heading, prose, a block ```` ```keyplan ```` and a block ```` ```text ````.

use std::path::Path;

use keyplan_plan::diag::{SourceMap, Style, render};
use keyplan_plan::syntax::parse;

#[test]
fn every_mistake_is_reported_as_documented() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/syntax");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let document = std::fs::read_to_string(&path).unwrap();
        let mut cases = 0;
        for case in document.split("\n## ").skip(1) {
            let title = case.lines().next().unwrap_or_default();
            let plan = block(case, "keyplan").unwrap();
            let mut sources = SourceMap::default();
            let file = sources.add("case.keyplan", plan);
            let told = render(&parse(file, plan).diagnostics, &sources, Style::Plain);
            assert_eq!(Some(told.as_str()), block(case, "text"), "{}: {title}", path.display());
            cases += 1;
        }
        assert!(cases > 0, "{}", path.display());
    }
}

/// The text of the first block in a language.
fn block<'a>(case: &'a str, language: &str) -> Option<&'a str> {
    let (_, rest) = case.split_once(&format!("```{language}\n"))?;
    let (block, _) = rest.split_once("```\n")?;
    Some(block)
}
