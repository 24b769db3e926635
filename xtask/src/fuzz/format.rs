use keyplan_plan::compile;
use keyplan_plan::diag::FileId;
use keyplan_plan::model::Fingerprint;
use keyplan_plan::syntax::{TokenKind, format as formatted, lex};

/// Formatting a plan keeps its tokens, its comments and its meaning, and a second time changes nothing.
///
/// # Panics
///
/// If the claim does not hold.
pub fn format(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let once = match formatted(text) {
        Ok(once) => once,
        Err(diagnostics) => return assert!(!diagnostics.is_empty(), "refused, and no reason why"),
    };
    assert_eq!(formatted(&once).as_ref(), Ok(&once), "formatted again, it changes");
    assert_eq!(contents(&once), contents(text), "formatting does not keep everything");
    assert_eq!(meaning(&once), meaning(text), "formatting changes the meaning");
}

/// The tokens and the comments of a text, without their places.
fn contents(text: &str) -> (Vec<TokenKind>, Vec<&str>) {
    let lexed = lex(FileId(0), text);
    let comments = lexed.comments.iter().filter_map(|comment| text.get(comment.span.range())).collect();
    (lexed.tokens.into_iter().map(|token| token.kind).collect(), comments)
}

fn meaning(text: &str) -> Option<Fingerprint> {
    let compiled = compile("fuzz.keyplan", text, |_| Err("no imports".to_owned()));
    compiled.plan.map(|plan| plan.fingerprint())
}
