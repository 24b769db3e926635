//! Spaces: a module each, modules inside, and the enum over all families.

use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::model::{Family, ModuleId, Space};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use crate::Expander;
use crate::composite::Composite;
use crate::{docs, names};

impl Expander<'_> {
    pub(crate) fn space(&mut self, space: &Space) -> TokenStream {
        let name = names::module(&space.name);
        let doc = docs::lines(&docs::text(&space.doc, &format!("The space `{}`.", space.name)));
        let engine = space.engine_name();
        let items = self.members(space, None);
        quote! {
            #doc
            pub mod #name {
                /// The name that an engine stores the space under.
                pub const SPACE: &str = #engine;
                #(#items)*
            }
        }
    }

    /// The families and modules of a module, or of the space itself.
    fn members(&mut self, space: &Space, parent: Option<ModuleId>) -> Vec<TokenStream> {
        let families: Vec<&Family> = space.families.iter().filter(|family| family.module == parent).collect();
        let mut taken: BTreeSet<String> = families.iter().map(|family| names::pascal(&family.name)).collect();
        // The enum of a space is called `Key`; a family that wants the name has it, and the enum steps back.
        if parent.is_none() && !taken.insert("Key".to_owned()) {
            taken.insert("AnyKey".to_owned());
        }
        self.inside(taken, |expander, at| {
            for family in families {
                expander.family(at, space, family);
            }
            for (index, module) in space.modules.iter().enumerate() {
                if module.parent != parent {
                    continue;
                }
                let name = names::module(&module.name);
                let doc = docs::text(&module.doc, &format!("The module `{}`.", module.path));
                let doc = docs::lines(&doc);
                let items = expander.members(space, Some(ModuleId(index)));
                expander.emit(at, quote!(#doc pub mod #name { #(#items)* }));
            }
            if parent.is_none() {
                expander.any_key(at, space);
            }
        })
    }

    /// The enum over all families of a space.
    fn any_key(&mut self, at: usize, space: &Space) {
        if space.families.is_empty() || !self.problems.is_empty() {
            return;
        }
        let own = space.families.iter().any(|family| family.module.is_none() && family.name == "key");
        let name = names::ty(if own { "AnyKey" } else { "Key" });
        let depth = self.depth(at);
        let made: Vec<&Composite> =
            space.families.iter().filter_map(|family| self.families.get(&family.path)).collect();
        let borrows: Vec<bool> = made.iter().map(|made| made.borrows).collect();
        let derives = crate::composite::derives(made.iter().all(|made| made.eq), false);
        let life = borrows.contains(&true).then(|| quote!(<'k>));
        let any = borrows.contains(&true).then(|| quote!(<'_>));
        let mut variants = Vec::new();
        let mut used = BTreeSet::new();
        for (family, borrows) in space.families.iter().zip(&borrows) {
            let mut variant: String = family.local_path().split('.').map(names::pascal).collect();
            while !used.insert(variant.clone()) {
                variant.push('_');
            }
            let variant = names::ty(&variant);
            let path = self.family_path(depth, family);
            let life = borrows.then(|| quote!(<'k>));
            variants.push((family, variant, quote!(#path #life)));
        }
        let declared = variants.iter().map(|(family, variant, ty)| {
            let doc = docs::lines(&docs::text(&family.doc, &format!("A key of `{}`.", family.path)));
            quote!(#doc #variant(#ty))
        });
        let reads: Vec<TokenStream> = variants
            .iter()
            .map(|(_, variant, ty)| {
                quote! {
                    if let ::core::option::Option::Some(found) = <#ty as ::keyplan::typed::Layout<'k>>::read(key) {
                        return ::core::result::Result::Ok(Self::#variant(found));
                    }
                }
            })
            .collect();
        let arms = arms(space, &reads);
        // Of families that get equally far, the first by path is named, as the dynamic path does.
        let mut sorted: Vec<_> = variants.iter().collect();
        sorted.sort_by_key(|(family, ..)| &family.path);
        let nearest = sorted.iter().map(|(family, _, ty)| {
            let path = &family.path;
            quote! {
                if let ::core::result::Result::Err(error) = <#ty as ::keyplan::typed::Layout<'k>>::search(key, 0) {
                    nearest.keep(#path, error);
                }
            }
        });
        let each = |body: &TokenStream| {
            let arms = variants.iter().map(|(_, variant, _)| quote!(Self::#variant(key) => #body));
            quote!(match self { #(#arms,)* })
        };
        let family = each(&quote!(::keyplan::typed::family_of(key)));
        let encode = each(&quote!(::keyplan::typed::Key::encode_into(key, out)));
        let unguarded = each(&quote!(::keyplan::typed::Key::encode_unguarded_into(key, out)));
        let display = each(&quote!(::core::fmt::Display::fmt(key, f)));
        let froms = variants.iter().map(|(_, variant, ty)| {
            quote! {
                impl<'k> ::core::convert::From<#ty> for #name #life {
                    fn from(key: #ty) -> Self {
                        Self::#variant(key)
                    }
                }
            }
        });
        let doc = docs::lines(&[format!("Any key of the space `{}`.", space.name)]);
        self.emit(
            at,
            quote! {
                #doc
                #derives
                pub enum #name #life {
                    #(#declared,)*
                }

                impl<'k> #name #life {
                    /// Decodes a key: its leading bytes tell the family.
                    pub fn decode(
                        key: &'k [u8],
                    ) -> ::core::result::Result<Self, ::keyplan::typed::KeyError> {
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

                    /// The path of the key's family.
                    pub fn family(&self) -> &'static str {
                        #family
                    }

                    /// Appends the key, as its own type would.
                    pub fn encode_into<S: ::keyplan::codec::Sink + ?Sized>(
                        &self,
                        out: &mut S,
                    ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
                        #encode
                    }

                    /// Appends the key, even if its bytes can also be read as something else.
                    pub fn encode_unguarded_into<S: ::keyplan::codec::Sink + ?Sized>(
                        &self,
                        out: &mut S,
                    ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
                        #unguarded
                    }
                }

                impl ::core::fmt::Display for #name #any {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        #display
                    }
                }

                #(#froms)*
            },
        );
    }

    /// The name sets, as constants.
    pub(crate) fn name_sets(&mut self) -> Vec<TokenStream> {
        let mut sets = Vec::new();
        for set in &self.plan.names {
            let name = names::ty(&set.name);
            let doc = docs::lines(&docs::text(&set.doc, &format!("The names `{}`.", set.name)));
            let mut seen = BTreeSet::new();
            let constants = set.names.iter().filter_map(|name| {
                let constant = names::constant(&name.text);
                seen.insert(constant.clone()).then(|| {
                    let mut doc = docs::text(&name.doc, &format!("`{:?}`", name.text));
                    if name.retired {
                        doc.push(String::new());
                        doc.push("Retired, no longer written.".to_owned());
                    }
                    let (doc, constant, text) = (docs::lines(&doc), format_ident!("{constant}"), &name.text);
                    quote!(#doc pub const #constant: &'static str = #text;)
                })
            });
            sets.push(quote! {
                #doc
                #[derive(Clone, Copy, Debug)]
                pub enum #name {}

                impl #name {
                    #(#constants)*
                }
            });
        }
        sets
    }
}

/// One arm for each literal prefix, the longest first: the families that it leads to, as the dynamic path tries them.
fn arms(space: &Space, reads: &[TokenStream]) -> Vec<TokenStream> {
    let mut prefixes: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    for (index, family) in space.families.iter().enumerate() {
        prefixes.entry(family.key.literal_prefix()).or_default().push(index);
    }
    let mut order: Vec<&Vec<u8>> = prefixes.keys().collect();
    order.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
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
