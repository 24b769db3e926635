//! The list of everything that was made of a plan, for tests.

use keyplan_plan::model::{Family, Scan};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::rust::composite::Composite;
use crate::rust::names;

/// What was made of a plan so far.
#[derive(Default)]
pub(crate) struct Table {
    spaces: Vec<TokenStream>,
    types: Vec<TokenStream>,
    scans: Vec<TokenStream>,
}

impl Table {
    /// The enum of a space, which is called `any`.
    pub(crate) fn space(&mut self, space: &str, any: &Ident) {
        let module = names::module(space);
        self.spaces.push(quote!(#space [#module::#any]));
    }

    /// The key of a family, and what its traits name.
    pub(crate) fn family(&mut self, family: &Family, made: &Composite) {
        let key = of_family(family, made);
        let ordered = made.compares.then(|| quote!(ordered));
        self.types.push(quote!((key #ordered #key)));
        let parts = [("value", &family.value), ("member", &family.member), ("score", &family.score)];
        for (part, _) in parts.iter().filter(|(_, layout)| layout.is_some()) {
            let part = format_ident!("{part}");
            self.types.push(quote!((#part #key)));
        }
    }

    /// A field of a hash.
    pub(crate) fn field(&mut self, family: &Family, name: &str, made: &Composite, valued: bool) {
        let (path, ident) = (&family.path, names::ty(&made.name));
        let module = names::family_module(0, family);
        let life = made.borrows.then(|| quote!(<'static>));
        let field = quote!(#module #ident);
        self.types.push(quote!((field #path #name [#field] #field #life)));
        if valued {
            self.types.push(quote!((field_value #path #name #field #life)));
        }
    }

    /// A scan that `function` begins.
    pub(crate) fn scan(&mut self, family: &Family, scan: &Scan, function: &Ident, limited: bool) {
        let (path, key) = (&family.path, names::family(0, family));
        let (bound, bare) = (scan.bound, scan.bare);
        let rows = if limited { quote!(limited) } else { quote!(rows) };
        let arguments = (0..bound).map(|index| format_ident!("argument_{index}"));
        self.scans.push(quote!((#path #bound #bare #limited #rows [#key::#function] #(#arguments)*)));
    }

    /// The table.
    pub(crate) fn emitted(&self) -> TokenStream {
        let Self { spaces, types, scans } = self;
        quote! {
            ::keyplan::__with_laws! {
                table
                spaces { #(#spaces)* }
                types { #(#types)* }
                scans { #(#scans)* }
            }
        }
    }
}

/// The type of a family's key.
fn of_family(family: &Family, made: &Composite) -> TokenStream {
    let (path, life) = (names::family(0, family), made.borrows.then(|| quote!(<'static>)));
    quote!(#path #life)
}
