//! The enum over all families of a space, and how a key finds its family.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::model::{DottedPath, Family, Space};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::rust::Expander;
use crate::rust::composite::{Composite, derives, life};
use crate::rust::{docs, names};

/// A family in the enum.
struct Variant<'s> {
    family: &'s Family,
    name: Ident,
    /// The type of its keys, with its lifetime.
    ty: TokenStream,
}

impl Expander<'_> {
    /// Puts the enum of a space into the module at `at`.
    pub(crate) fn any_key(&mut self, at: usize, space: &Space) {
        let made: Option<Vec<&Composite>> =
            space.families.iter().map(|family| self.families.get(&family.path)).collect();
        // Without all of them there is a problem to report, and no enum.
        let Some(made) = made.filter(|made| !made.is_empty()) else { return };
        let mut used = BTreeSet::new();
        let mut variants = Vec::new();
        for (family, made) in space.families.iter().zip(&made) {
            let mut name: String = DottedPath(family.local_path()).names().map(names::pascal).collect();
            while !used.insert(name.clone()) {
                name.push('_');
            }
            let (path, life) = (names::family(self.depth(at), family), life(made.borrows));
            variants.push(Variant { family, name: names::ty(&name), ty: quote!(#path #life) });
        }
        let derives = derives(made.iter().all(|made| made.eq), false);
        let borrows = made.iter().any(|made| made.borrows);
        // A family that wants the name has it.
        let taken = space.families.iter().any(|family| family.module.is_none() && family.name == "key");
        let name = names::ty(if taken { "AnyKey" } else { "Key" });
        self.table.space(&space.name, &name);
        let doc = docs::lines(&[format!("Any key of the space `{}`.", space.name)]);
        let (decode, methods) = (decode(space, &variants), methods(&variants));
        let others = others(&name, borrows, &variants);
        let life = life(borrows);
        let declared = variants.iter().map(|Variant { family, name, ty }| {
            let doc = docs::lines(&docs::text(&family.doc, &format!("A key of `{}`.", family.path)));
            quote!(#doc #name(#ty))
        });
        self.emit(
            at,
            quote! {
                #doc
                #derives
                pub enum #name #life {
                    #(#declared,)*
                }

                impl<'k> #name #life {
                    #decode
                    #methods
                }

                #others
            },
        );
    }
}

/// The functions that decode a key.
fn decode(space: &Space, variants: &[Variant<'_>]) -> TokenStream {
    let reads: Vec<TokenStream> = variants
        .iter()
        .map(|Variant { name, ty, .. }| {
            quote! {
                if let ::core::option::Option::Some(found) = <#ty as ::keyplan::typed::Layout<'k>>::read(key) {
                    return ::core::result::Result::Ok(Self::#name(found));
                }
            }
        })
        .collect();
    let arms = arms(space, &reads);
    // Of families that get equally far, the first by path is named, as the dynamic path does.
    let mut sorted: Vec<&Variant<'_>> = variants.iter().collect();
    sorted.sort_by_key(|variant| &variant.family.path);
    let nearest = sorted.iter().map(|Variant { family, ty, .. }| {
        let path = &family.path;
        quote! {
            if let ::core::result::Result::Err(error) = <#ty as ::keyplan::typed::Layout<'k>>::search(key, 0) {
                nearest.keep(#path, error);
            }
        }
    });
    quote! {
        /// Decodes a key: its leading bytes tell the family.
        pub fn decode(key: &'k [u8]) -> ::core::result::Result<Self, ::keyplan::typed::KeyError> {
            match key {
                #(#arms)*
            }
            ::core::result::Result::Err(Self::nearest(key))
        }

        /// The family that gets furthest with a key that none makes, and where it breaks.
        #[cold]
        fn nearest(key: &'k [u8]) -> ::keyplan::typed::KeyError {
            let mut nearest = ::keyplan::typed::Nearest::default();
            #(#nearest)*
            nearest.error()
        }
    }
}

/// One expression for the key of every family.
fn each(variants: &[Variant<'_>], body: &TokenStream) -> TokenStream {
    let arms = variants.iter().map(|Variant { name, .. }| quote!(Self::#name(key) => #body));
    quote!(match self { #(#arms,)* })
}

fn methods(variants: &[Variant<'_>]) -> TokenStream {
    let family = each(variants, &quote!(::keyplan::typed::family_of(key)));
    let guarded = each(variants, &quote!(::keyplan::typed::Key::encode_into(key, out)));
    let unguarded = each(variants, &quote!(::keyplan::typed::Key::encode_unguarded_into(key, out)));
    quote! {
        /// The path of the key's family.
        pub fn family(&self) -> &'static str {
            #family
        }

        /// Appends the key, as its own type would.
        pub fn encode_into<S: ::keyplan::codec::Sink + ?Sized>(
            &self,
            out: &mut S,
        ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
            #guarded
        }

        /// Appends the key, even if its bytes can also be read as something else.
        pub fn encode_unguarded_into<S: ::keyplan::codec::Sink + ?Sized>(
            &self,
            out: &mut S,
        ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
            #unguarded
        }
    }
}

/// `Display`, and `From` each family.
fn others(name: &Ident, borrows: bool, variants: &[Variant<'_>]) -> TokenStream {
    let (life, any) = (life(borrows), borrows.then(|| quote!(<'_>)));
    let display = each(variants, &quote!(::core::fmt::Display::fmt(key, f)));
    let froms = variants.iter().map(|Variant { name: variant, ty, .. }| {
        quote! {
            impl<'k> ::core::convert::From<#ty> for #name #life {
                fn from(key: #ty) -> Self {
                    Self::#variant(key)
                }
            }
        }
    });
    quote! {
        impl ::core::fmt::Display for #name #any {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #display
            }
        }

        #(#froms)*
    }
}

/// One arm for each literal prefix, the longest first: the families that it leads to, as the dynamic path tries them.
fn arms(space: &Space, reads: &[TokenStream]) -> Vec<TokenStream> {
    let mut prefixes: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    for (index, family) in space.families.iter().enumerate() {
        prefixes.entry(family.key.literal_prefix()).or_default().push(index);
    }
    let mut order: Vec<&Vec<u8>> = prefixes.keys().collect();
    order.sort_by_key(|prefix| Reverse(prefix.len()));
    let mut arms: Vec<TokenStream> = order
        .iter()
        .map(|prefix| {
            // A longer prefix that a key begins with comes first; where it leads nowhere, shorter ones are tried.
            let families = (0..=prefix.len())
                .rev()
                .filter_map(|len| prefixes.get(prefix.get(..len)?))
                .flatten()
                .filter_map(|&family| reads.get(family));
            let bytes = prefix.iter().map(|byte| Literal::u8_unsuffixed(*byte));
            let pattern = if prefix.is_empty() { quote!(_) } else { quote!([#(#bytes,)* ..]) };
            quote!(#pattern => { #(#families)* })
        })
        .collect();
    if !prefixes.contains_key(&Vec::new()) {
        arms.push(quote!(_ => {}));
    }
    arms
}
