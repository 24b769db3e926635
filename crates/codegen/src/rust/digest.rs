//! Hashed arguments: a type that holds the digest, which is all that is in a key.

use std::collections::BTreeSet;

use keyplan_codec::Hash;
use keyplan_plan::diag::Span;
use keyplan_plan::model::{BytesEncoding, Name, Shape, Width};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::rust::Expander;
use crate::rust::code::{Code, Order};
use crate::rust::composite::life;
use crate::rust::leaf::{self, IN_PLACE, decode_leaf, put_leaf};
use crate::rust::shape::hash_function;
use crate::rust::{docs, names};

impl Expander<'_> {
    #[expect(clippy::too_many_arguments, reason = "the parts of a hash and where it is")]
    pub(crate) fn hashed(
        &mut self,
        at: usize,
        hint: &str,
        label: &str,
        hash: Hash,
        keep: usize,
        inner: &Shape,
        known: &[(Vec<u8>, Name)],
        span: Span,
    ) -> Option<Code> {
        let code = self.shape(at, &format!("{hint}Of"), label, inner, false, span)?;
        let of = self.hash_of(hash, keep, inner, &code, label, span)?;
        let name = self.fresh(at, hint);
        let ident = names::ty(&name);
        let doc = docs::lines(&[
            format!("The argument `{label}`, as the `{hash}` digest that is in the key."),
            String::new(),
            "Two are equal if their digests are: what was hashed cannot be read back.".to_owned(),
        ]);
        let item = item(&ident, keep, &of, known);
        let ty = &code.ty;
        self.emit(at, quote!(#doc #item ::keyplan::__with_laws! { digest #ident #ty }));
        let put = put_leaf(label, &quote!(::keyplan::codec::Sink::put(out, &value.0)));
        let read =
            decode_leaf(label, &quote!(::keyplan::typed::exact::<#keep>(piece).map(#ident::from_digest)));
        Some(Code {
            order: Order::Anywhere,
            array: Some(quote!(value.digest())),
            bound: Some(quote!(next.digest())),
            ..Code::leaf(quote!(#ident), put, read)
        })
    }

    /// The function that hashes an argument.
    fn hash_of(
        &mut self,
        hash: Hash,
        keep: usize,
        inner: &Shape,
        code: &Code,
        label: &str,
        span: Span,
    ) -> Option<TokenStream> {
        let function = hash_function(hash);
        let digest = |bytes: TokenStream| quote!(Self(::keyplan::typed::digest::<#keep>(#function, #bytes)));
        let body = match inner {
            // Bytes and text are hashed where they are.
            Shape::Bytes { lengths, encoding: BytesEncoding::Raw } if code.borrows => {
                let (lengths, digest) = (leaf::lengths(lengths), digest(quote!(value)));
                let admitted = quote!(::keyplan::typed::admitted(&const { #lengths }, value));
                put_leaf(label, &quote!(#admitted.map(|value| #digest)))
            }
            Shape::Text(text) if !text.tuple && code.borrows => {
                let (codec, digest) = (leaf::text_codec(text), digest(quote!(value.as_bytes())));
                put_leaf(label, &quote!(::keyplan::typed::admitted_text(&#codec, value).map(|()| #digest)))
            }
            _ => {
                let Some(most) = Width::of_shape(inner).max.filter(|most| *most <= IN_PLACE) else {
                    return self.cannot_own(span);
                };
                let (put, digest) = (&code.put, digest(quote!(&room)));
                quote! {
                    let mut room = ::keyplan::typed::ShortBytes::<#most>::new();
                    let (value, out) = (&value, &mut room);
                    (#put)?;
                    ::core::result::Result::Ok(#digest)
                }
            }
        };
        let (ty, life) = (&code.ty, life(code.borrows));
        Some(quote! {
            /// Hashes the argument, or refuses one outside of its domain.
            pub fn of #life(value: #ty) -> ::core::result::Result<Self, ::keyplan::typed::SegmentError> {
                #body
            }
        })
    }
}

/// The struct and what it implements.
fn item(ident: &Ident, keep: usize, of: &TokenStream, known: &[(Vec<u8>, Name)]) -> TokenStream {
    let mut seen = BTreeSet::new();
    let constants = known.iter().filter_map(|(digest, name)| {
        let constant = names::constant(&name.text);
        if !seen.insert(constant.clone()) {
            return None;
        }
        let mut doc = docs::text(&name.doc, "A known name.");
        doc.extend([String::new(), format!("The digest of `{:?}`.", name.text)]);
        let (doc, constant) = (docs::lines(&doc), format_ident!("{constant}"));
        Some(quote! {
            #doc
            pub const #constant: Self = Self([#(#digest),*]);
        })
    });
    let texts = known.iter().map(|(digest, name)| {
        let text = &name.text;
        quote!([#(#digest),*] => ::core::option::Option::Some(#text))
    });
    quote! {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct #ident([u8; #keep]);

        impl #ident {
            #(#constants)*

            #of

            /// A digest that was made elsewhere.
            pub const fn from_digest(digest: [u8; #keep]) -> Self {
                Self(digest)
            }

            /// The digest.
            pub const fn digest(&self) -> [u8; #keep] {
                self.0
            }

            /// The name that was hashed, if it is one that the plan knows.
            pub const fn name(&self) -> ::core::option::Option<&'static str> {
                match self.0 {
                    #(#texts,)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl ::core::fmt::Display for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self.name() {
                    ::core::option::Option::Some(name) => ::core::fmt::Debug::fmt(name, f),
                    ::core::option::Option::None => {
                        ::core::fmt::Display::fmt(&::keyplan::typed::Shown::bytes(&self.0), f)
                    }
                }
            }
        }
    }
}
