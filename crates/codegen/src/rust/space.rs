//! Spaces: a module each, modules inside, and the enum over all families.

use std::collections::BTreeSet;

use keyplan_plan::model::{Family, ModuleId, Space};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use crate::rust::Expander;
use crate::rust::{docs, names};

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
                let prefix = Literal::byte_string(&module.prefix);
                expander.emit(
                    at,
                    quote! {
                        #doc
                        pub mod #name {
                            /// The bytes that every key in the module begins with.
                            pub const PREFIX: &[u8] = #prefix;
                            #(#items)*
                        }
                    },
                );
            }
            if parent.is_none() {
                expander.any_key(at, space);
            }
        })
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
