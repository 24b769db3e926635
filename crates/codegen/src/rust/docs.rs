//! Documentation of generated items.

use keyplan_plan::diag::SourceMap;
use keyplan_plan::model::{Family, Segment, Sequence, Width};
use proc_macro2::TokenStream;
use quote::quote;

/// Lines of documentation as attributes.
pub(crate) fn lines<T: AsRef<str>>(lines: &[T]) -> TokenStream {
    let lines = lines.iter().map(|line| {
        // As `///` would leave it.
        let line = format!(" {}", line.as_ref());
        quote!(#[doc = #line])
    });
    quote!(#(#lines)*)
}

/// What a family or type is, in the plan's words, or `otherwise` if the plan has none.
pub(crate) fn text(doc: &[String], otherwise: &str) -> Vec<String> {
    if doc.is_empty() { vec![otherwise.to_owned()] } else { doc.to_vec() }
}

/// What the program calls a family, as lines after others.
pub(crate) fn real_name(family: &Family) -> Vec<String> {
    let named = |name: &String| vec![String::new(), format!("In the program: `{}`.", name.replace('`', "'"))];
    family.real_name.as_ref().map(named).unwrap_or_default()
}

/// A layout drawn as byte lanes: what is where, and how many bytes it takes.
pub(crate) fn lanes(sequence: &Sequence, sources: &SourceMap) -> Vec<String> {
    let cells: Vec<(String, String)> = sequence
        .segments()
        .iter()
        .zip(sequence.widths())
        .map(|(segment, width)| (spelling(segment, sources), bytes(*width)))
        .collect();
    if cells.is_empty() {
        return vec![String::new(), "No bytes.".to_owned()];
    }
    let mut top = String::from("|");
    let mut bottom = String::from("|");
    for (what, width) in &cells {
        let room = what.chars().count().max(width.chars().count());
        top.extend([" ", &format!("{what:room$}"), " |"]);
        bottom.extend([" ", &format!("{width:room$}"), " |"]);
    }
    vec![String::new(), "```text".to_owned(), top, bottom, "```".to_owned()]
}

/// A segment as the plan spells it, in one line.
fn spelling(segment: &Segment, sources: &SourceMap) -> String {
    let text = match segment {
        Segment::Literal(literal) => literal.spelling.clone(),
        other => sources.slice(other.span()).to_owned(),
    };
    let words: Vec<&str> = text
        .lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code).trim())
        .filter(|line| !line.is_empty())
        .collect();
    let text = words.join(" ");
    if text.is_empty() { segment.label().to_owned() } else { text.replace("```", "'''") }
}

fn bytes(width: Width) -> String {
    match width {
        Width { min, max: Some(max) } if min == max => min.to_string(),
        Width { min, max: Some(max) } => format!("{min}..={max}"),
        Width { min, max: None } => format!("{min}.."),
    }
}
