//! The plans of this repository as they are written: they can be read, and formatting loses nothing of them.

use std::path::{Path, PathBuf};

use keyplan_plan::diag::FileId;
use keyplan_plan::syntax::{TokenKind, format, lex, parse};

#[test]
fn formatting_keeps_the_tokens_and_comments_of_every_plan() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans")];
    let mut paths: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        let inside = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (below, files): (Vec<PathBuf>, Vec<PathBuf>) = inside.partition(|path| path.is_dir());
        folders.extend(below);
        paths.extend(files);
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "keyplan"));
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(parse(FileId(0), &text).diagnostics, [], "{}", path.display());
        let formatted = format(&text).unwrap();
        assert_eq!(format(&formatted), Ok(formatted.clone()), "{}", path.display());
        assert_eq!(contents(&formatted), contents(&text), "{}", path.display());
    }
}

/// The tokens and the comments of a text, without their places.
fn contents(text: &str) -> (Vec<TokenKind>, Vec<&str>) {
    let lexed = lex(FileId(0), text);
    let comments = lexed.comments.iter().filter_map(|comment| text.get(comment.span.range())).collect();
    (lexed.tokens.into_iter().map(|token| token.kind).collect(), comments)
}
