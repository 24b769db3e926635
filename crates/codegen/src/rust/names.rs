//! From the names of a plan to those of Rust.

use keyplan_plan::model::{DottedPath, Family};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

pub(crate) use crate::naming::pascal;

/// A type's name.
pub(crate) fn ty(name: &str) -> Ident {
    ident(if name == "Self" { "SelfKey" } else { name })
}

/// A field, argument or function name.
pub(crate) fn field(name: &str) -> Ident {
    ident(name)
}

/// A module's name.
pub(crate) fn module(name: &str) -> Ident {
    ident(name)
}

/// The name of a constant for a text: `pending_rewards` as `PENDING_REWARDS`.
pub(crate) fn constant(text: &str) -> String {
    let mut out: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if out.is_empty() || out.starts_with(|first: char| first.is_ascii_digit()) {
        out.insert(0, 'N');
    }
    out
}

/// `super::` once for each of `depth` modules.
pub(crate) fn up(depth: usize) -> TokenStream {
    let up = std::iter::repeat_n(quote!(super::), depth);
    quote!(#(#up)*)
}

/// The path of a family's type, seen from `depth` modules below the plan's.
pub(crate) fn family(depth: usize, family: &Family) -> TokenStream {
    let (module, name) = (family_module(depth, family), ty(&pascal(&family.name)));
    quote!(#module #name)
}

/// The path of the module that a family's types are in, with `::` after it.
pub(crate) fn family_module(depth: usize, family: &Family) -> TokenStream {
    let up = up(depth);
    let modules = DottedPath(&family.path).owner().into_iter().flat_map(|owner| DottedPath(owner).names());
    let down = modules.map(|name| {
        let name = module(name);
        quote!(#name::)
    });
    quote!(#up #(#down)*)
}

/// An identifier, raw where the name is a word of Rust.
fn ident(name: &str) -> Ident {
    // These cannot be raw.
    if matches!(name, "self" | "super" | "crate" | "_") {
        return Ident::new(&format!("{name}_"), Span::call_site());
    }
    syn::parse_str::<Ident>(name)
        .map_or_else(|_| Ident::new_raw(name, Span::call_site()), |_| Ident::new(name, Span::call_site()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_types() {
        let names = ["tick", "by_u8", "_x", "list_by_seller", "0"].map(pascal);
        assert_eq!(names, ["Tick", "ByU8", "X", "ListBySeller", "N0"]);
    }

    #[test]
    fn words_of_rust_are_escaped() {
        let names = ["type", "self", "pool", "_"].map(|name| field(name).to_string());
        assert_eq!(names, ["r#type", "self_", "pool", "__"]);
        assert_eq!(constant("bsv21:whitelist"), "BSV21_WHITELIST");
        assert_eq!(constant("2x"), "N2X");
    }
}
