use std::io::Read as _;
use std::path::{Path, PathBuf};

use keyplan_plan::diag::{Code, Diagnostic, FileId, NoteKind, SourceMap, Style, render};
use keyplan_plan::load::{ENOUGH, load, load_bytes};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::tokens::Printed;

/// What the text of a plan is called that is in a program.
const INLINE: &str = "inline";

/// The code of a plan in a file or in tokens.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut tokens = input.clone().into_iter();
    if let (Some(TokenTree::Literal(literal)), None) = (tokens.next(), tokens.next())
        && let Some(path) = unquoted(&literal.to_string())
    {
        return file(&path, literal.span());
    }
    inline(input)
}

fn inline(input: TokenStream) -> TokenStream {
    let text = Printed::new(input);
    if text.text.is_empty() {
        return error(Span::call_site(), "expected the path of a plan file in quotes, or a plan");
    }
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let compiled = load_bytes(INLINE, text.text.as_bytes(), |path| fetch(&root, path));
    let tracked = track(&root, &compiled.sources);
    match keyplan_codegen::rust::expand(&compiled) {
        Ok(code) => quote!(#code #tracked),
        Err(findings) => {
            let errors = findings.iter().map(|finding| {
                let at = at_fault(finding);
                match text.ends(finding.labels.get(at).map_or_else(|| finding.span(), |label| label.span)) {
                    // A finding in an imported file has no tokens here.
                    Some((first, last)) if finding.span().file == FileId(0) => {
                        error_between(first, last, &described(finding, at, &compiled.sources))
                    }
                    _ => report(std::slice::from_ref(finding), &compiled.sources, Span::call_site()),
                }
            });
            quote!(#(#errors)* #tracked)
        }
    }
}

/// Which label the compiler shows: the segment at fault rather than the claim that it breaks.
fn at_fault(finding: &Diagnostic) -> usize {
    usize::from(matches!(finding.code, Code::SiblingLeak | Code::Unordered) && finding.labels.len() > 1)
}

/// A finding in words; the label at `shown` is where the compiler points, and the others are quoted.
fn described(finding: &Diagnostic, shown: usize, sources: &SourceMap) -> String {
    let mut lines = vec![format!("{}: {}", finding.code, finding.message)];
    let label = finding.labels.get(shown).map_or("", |label| label.text.as_str());
    if !label.is_empty() {
        lines.push(label.to_owned());
    }
    let others = finding.labels.iter().enumerate().filter(|(index, _)| *index != shown);
    lines.extend(others.map(|(_, label)| {
        let quoted: Vec<&str> = sources.slice(label.span).split_whitespace().collect();
        format!("`{}`: {}", quoted.join(" "), label.text)
    }));
    // A command would name a file, and there is none.
    for note in finding.notes.iter().filter(|note| note.kind != NoteKind::Reproduce) {
        let before = format!("= {}: ", note.kind.word());
        let indent = format!("\n{}", " ".repeat(before.len()));
        lines.push(format!("{before}{}", note.text.replace('\n', &indent)));
    }
    lines.join("\n")
}

fn file(path: &str, span: Span) -> TokenStream {
    let Some(root) = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else {
        return error(span, "the folder of the crate is not known: CARGO_MANIFEST_DIR is not set");
    };
    let compiled = match load(path, |path| fetch(&root, path)) {
        Ok(compiled) => compiled,
        Err(why) => return error(span, &format!("cannot read `{path}` in the folder of the crate: {why}")),
    };
    let tracked = track(&root, &compiled.sources);
    match keyplan_codegen::rust::expand(&compiled) {
        Ok(code) => quote!(#code #tracked),
        Err(findings) => {
            let errors = report(&findings, &compiled.sources, span);
            quote!(#errors #tracked)
        }
    }
}

/// The bytes of a file below the folder of the crate; pipes and devices may never end, and are refused.
fn fetch(root: &Path, path: &str) -> Result<Vec<u8>, String> {
    let path = root.join(path);
    let read = || {
        if !std::fs::metadata(&path)?.is_file() {
            return Err(std::io::Error::other("it is not a file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(&path)?.take(ENOUGH).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| error.to_string())
}

/// Makes the build depend on every file of the plan.
fn track(root: &Path, sources: &SourceMap) -> TokenStream {
    let files = sources.files().iter().filter(|file| file.name != INLINE).filter_map(|file| {
        let path = root.join(&file.name);
        let path = path.to_str()?;
        Some(quote!(
            const _: &[u8] = ::core::include_bytes!(#path);
        ))
    });
    quote!(#(#files)*)
}

/// One compile error for each finding, with the lines of the file.
fn report(findings: &[Diagnostic], sources: &SourceMap, span: Span) -> TokenStream {
    let errors = findings.iter().map(|finding| {
        let drawn = render(std::slice::from_ref(finding), sources, Style::Plain);
        error(span, drawn.trim_end())
    });
    quote!(#(#errors)*)
}

fn error(span: Span, message: &str) -> TokenStream {
    error_between(span, span, message)
}

/// A compile error that reaches from one token to another.
fn error_between(first: Span, last: Span, message: &str) -> TokenStream {
    let mut body = Group::new(Delimiter::Brace, quote!(#message));
    body.set_span(last);
    quote_spanned!(first=> ::core::compile_error! #body)
}

/// The text of a string literal.
fn unquoted(literal: &str) -> Option<String> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('\\')).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the macro makes of `input`, without the spaces that its printer puts between tokens.
    fn expanded(input: TokenStream) -> String {
        expand(input).to_string()
    }

    #[test]
    fn a_file_and_its_imports_are_tracked() {
        let code = expanded(quote!("tests/plans/imports.keyplan"));
        assert!(code.contains("pub mod imports"), "{code}");
        for file in ["imports.keyplan", "ids.keyplan"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(file);
            let tracked = format!(":: core :: include_bytes ! ({:?})", path.to_str().unwrap());
            assert!(code.contains(&tracked), "{file} is not tracked");
        }
    }

    #[test]
    fn mistakes_in_a_file_show_its_lines() {
        let code = expanded(quote!("tests/plans/mistakes.keyplan"));
        let message = "error[KP0201]: no domain or type is called `u65`\n \
                       --> tests/plans/mistakes.keyplan:4:25\n  |\n4 |     key pool = 0x01 id: u65;\n  \
                       |                         ^^^ not a known domain or type\n  |\n  \
                       = help: did you mean `u64`?";
        assert!(code.starts_with(&format!(":: core :: compile_error ! {{ {message:?} }}")), "{code}");
    }

    #[test]
    fn a_refuted_guarantee_shows_the_file_and_the_keys() {
        let code = expanded(quote!("tests/plans/refuted.keyplan"));
        let message = "error[KP0002]: two argument lists of `dex.pool_by_tokens` make the same key\n \
                       --> tests/plans/refuted.keyplan:4:31\n  |\n\
                       4 |     key pool_by_tokens = 0x03 token_a: text(\"a-z\", 1..=8) token_b: text(\"a-z\", 1..=8);\n  \
                       |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^ nothing marks where `token_a` ends\n  |\n  \
                       = witness:   03 | 61 | 61   61    token_a=\"a\"   token_b=\"aa\"\n               \
                       03 | 61   61 | 61    token_a=\"aa\"  token_b=\"a\"\n  \
                       = reproduce: keyplan encode tests/plans/refuted.keyplan dex.pool_by_tokens token_a=a token_b=aa \
                       --unguarded\n               \
                       keyplan encode tests/plans/refuted.keyplan dex.pool_by_tokens token_a=aa token_b=a --unguarded\n  \
                       = help:      end `token_a` with a byte that it cannot hold, or write its length first: `.len8`; \
                       to keep it: `accept ambiguous \"why\"`";
        assert!(code.starts_with(&format!(":: core :: compile_error ! {{ {message:?} }}")), "{code}");
    }

    #[test]
    fn files_that_import_each_other_are_named_with_the_line() {
        let code = expanded(quote!("tests/plans/circle.keyplan"));
        assert!(code.starts_with(":: core :: compile_error ! { \"error[KP0205]: "), "{code}");
        assert!(code.contains("--> tests/plans/circle_back.keyplan:2:8"), "{code}");
    }

    #[test]
    fn a_file_that_is_not_text_is_refused_at_the_byte() {
        let code = expanded(quote!("tests/plans/latin1.keyplan"));
        assert!(code.starts_with(":: core :: compile_error ! { \"error[KP0105]: "), "{code}");
        assert!(code.contains("--> tests/plans/latin1.keyplan:2:18"), "{code}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let code = expanded(quote!("tests/plans/nowhere.keyplan"));
        assert!(
            code.contains("cannot read `tests/plans/nowhere.keyplan` in the folder of the crate"),
            "{code}"
        );
    }

    #[test]
    fn the_same_plan_gives_the_same_code() {
        let input = quote!("../../plans/onesat.keyplan");
        assert_eq!(expanded(input.clone()), expanded(input));
    }
}
