//! Families: the struct of a key, and everything that hangs on it.

use keyplan_plan::model::{AcceptKind, Extent, Family, FamilyKind, Segment, Sequence, Shape, Space};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::prove::{is_exact, is_ordered, orders_keys};
use crate::rust::Expander;
use crate::rust::composite::{Comparable, Composite, Titled, life};
use crate::rust::guard::{Flaw, Guard};
use crate::rust::leaf::{self, IN_PLACE};
use crate::rust::row::{Row, arg};
use crate::rust::{docs, names};

impl Expander<'_> {
    /// The key of a family, its scans, its value and what it holds.
    pub(crate) fn family(&mut self, at: usize, space: &Space, family: &Family) -> Option<()> {
        let name = names::pascal(&family.name);
        let mut doc = docs::text(&family.doc, &format!("A key of the family `{}`.", family.path));
        doc.extend(docs::real_name(family));
        doc.extend(docs::lanes(&family.key, self.sources));
        if let Some(why) = &family.retired {
            doc.push(String::new());
            let since =
                family.retired_since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
            doc.push(format!("Retired{since}, no longer written: {why}"));
        }
        for accept in &family.accepts {
            doc.push(String::new());
            doc.push(format!("Accepted as {}: {}", accept.kind.word(), accept.why));
        }
        let leaky: Vec<&str> = family
            .scans
            .iter()
            .filter(|scan| !is_exact(self.report, family, scan))
            .map(|scan| self.sources.slice(scan.span))
            .collect();
        if !leaky.is_empty() {
            doc.push(String::new());
            doc.push(format!(
                "Not to be scanned as declared, since other rows come along: `{}`",
                leaky.join("`, `")
            ));
        }
        let row = self.row(at, &name, &family.key, false)?;
        let retired = family.retired.as_deref().map(|why| (family.retired_since.as_deref(), why));
        let titled = Titled { name: &name, shown: &family.name, doc, order: self.order_of(family), retired };
        let made = self.layout(at, &titled, &row);
        self.families.insert(family.path.clone(), made.clone());
        let value = self.value(at, family)?;
        self.table.family(family, &made);
        self.key(at, space, family, &row, &made, &value);
        if family.kind != FamilyKind::Key {
            self.structure(at, family, &made)?;
        }
        Some(())
    }

    /// Whether keys of a family are compared: only where the plan proves an order.
    fn order_of(&self, family: &Family) -> Comparable {
        if orders_keys(self.report, family) {
            Comparable::Proved
        } else if family.scans.iter().any(|scan| is_ordered(self.report, family, scan)) {
            Comparable::ByConstruction
        } else {
            Comparable::Never
        }
    }

    /// The type of a family's values.
    fn value(&mut self, at: usize, family: &Family) -> Option<TokenStream> {
        let Some(sequence) = &family.value else { return Some(quote!(::keyplan::typed::Raw<'v>)) };
        let title = format!("A value of the family `{}`.", family.path);
        let name = format!("{}Value", names::pascal(&family.name));
        self.plain_value(at, &name, &format!("{} value", family.path), &family.name, &title, sequence)
    }

    /// The type of a value, member, score or field, seen with the lifetime `'v`. One that has only a codec has
    /// no struct of its own.
    pub(crate) fn plain_value(
        &mut self,
        at: usize,
        name: &str,
        path: &str,
        shown: &str,
        title: &str,
        sequence: &Sequence,
    ) -> Option<TokenStream> {
        if let [Segment::Argument(argument)] = sequence.segments()
            && let (None, Shape::Opaque(opaque)) = (&argument.name, &argument.shape)
        {
            let name = leaf::opaque_type(opaque);
            return Some(quote!(::keyplan::typed::#name<'v>));
        }
        let mut doc = vec![title.to_owned()];
        doc.extend(docs::lanes(sequence, self.sources));
        let made = self.value_struct(at, name, path, shown, doc, sequence, Flaw::None)?;
        let (ident, life) = (names::ty(&made.name), made.borrows.then(|| quote!(<'v>)));
        Some(quote!(#ident #life))
    }

    /// The struct of a value, member, score or field.
    #[expect(clippy::too_many_arguments, reason = "what a struct is called in all its places")]
    pub(crate) fn value_struct(
        &mut self,
        at: usize,
        name: &str,
        path: &str,
        shown: &str,
        doc: Vec<String>,
        sequence: &Sequence,
        flaw: Flaw,
    ) -> Option<Composite> {
        let name = self.fresh(at, name);
        let row = self.row(at, &name, sequence, false)?;
        let titled = Titled { name: &name, shown, doc, order: Comparable::Never, retired: None };
        let made = self.layout(at, &titled, &row);
        let (ident, life) = (names::ty(&name), life(made.borrows));
        let sizes = sizes(&row);
        let guard = self.guard(at, path, flaw, &[], &row, &made);
        let encode = encoders(path, &row, &made, guard.as_ref());
        let helpers = guard.as_ref().map(|guard| &guard.helpers);
        let bound = made.borrows.then(|| quote!(<'v>));
        self.emit(
            at,
            quote! {
                impl #life #ident #life {
                    #sizes
                    #encode
                }

                #helpers

                impl<'v> ::keyplan::typed::Value<'v> for #ident #bound {
                    #[inline]
                    fn encode_into<S: ::keyplan::codec::Sink + ?Sized>(
                        &self,
                        out: &mut S,
                    ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
                        #ident::encode_into(self, out)
                    }

                    #[inline]
                    fn decode(bytes: &'v [u8]) -> ::core::result::Result<Self, ::keyplan::typed::KeyError> {
                        ::keyplan::typed::decode(#path, bytes)
                    }

                    #[inline]
                    fn read(bytes: &'v [u8]) -> ::core::option::Option<Self> {
                        ::keyplan::typed::Layout::read(bytes)
                    }
                }
            },
        );
        Some(made)
    }

    fn key(
        &mut self,
        at: usize,
        space: &Space,
        family: &Family,
        row: &Row<'_>,
        made: &Composite,
        value: &TokenStream,
    ) {
        let (name, life) = (names::ty(&made.name), life(made.borrows));
        let path = &family.path;
        let engine = space.engine_name();
        let prefix = Literal::byte_string(&family.key.literal_prefix());
        let sizes = sizes(row);
        let flaw = if family.accepted(AcceptKind::Ambiguous).next().is_some() {
            Flaw::Ambiguous
        } else {
            Flaw::None
        };
        let guard = self.guard(at, path, flaw, &self.overlaps(family), row, made);
        let encode = encoders(path, row, made, guard.as_ref());
        let scans = self.scans(at, family, row, made);
        let constant = row.arguments().next().is_none().then(|| {
            let len = family.key.literal_prefix().len();
            quote! {
                /// The one key of the family.
                pub const KEY: [u8; #len] = *#prefix;
            }
        });
        let helpers = guard.as_ref().map(|guard| &guard.helpers);
        let unguarded = if guard.is_some() {
            quote!(#name::encode_unguarded_into(self, out))
        } else {
            quote!(#name::encode_into(self, out))
        };
        let most = if let Some(most) = family.key.width().max {
            quote!(::core::option::Option::Some(#most))
        } else {
            quote!(::core::option::Option::None)
        };
        let decoded = made.borrows.then(|| quote!(<'k>));
        let any = made.borrows.then(|| quote!(<'_>));
        self.emit(
            at,
            quote! {
                impl #life #name #life {
                    /// The family's path in the plan.
                    pub const FAMILY: &'static str = #path;
                    #constant
                    #sizes
                    #encode
                    #scans
                }

                #helpers

                impl ::keyplan::typed::Key for #name #any {
                    const FAMILY: &'static str = #path;
                    const SPACE: &'static str = #engine;
                    const PREFIX: &'static [u8] = #prefix;
                    const MAX_KEY_LEN: ::core::option::Option<usize> = #most;
                    type Decoded<'k> = #name #decoded;
                    type Value<'v> = #value;

                    #[inline]
                    fn encode_into<S: ::keyplan::codec::Sink + ?Sized>(
                        &self,
                        out: &mut S,
                    ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
                        #name::encode_into(self, out)
                    }

                    #[inline]
                    fn encode_unguarded_into<S: ::keyplan::codec::Sink + ?Sized>(
                        &self,
                        out: &mut S,
                    ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
                        #unguarded
                    }

                    #[inline]
                    fn decode(
                        key: &[u8],
                    ) -> ::core::result::Result<Self::Decoded<'_>, ::keyplan::typed::KeyError> {
                        ::keyplan::typed::decode(#path, key)
                    }

                    #[inline]
                    fn read(key: &[u8]) -> ::core::option::Option<Self::Decoded<'_>> {
                        ::keyplan::typed::Layout::read(key)
                    }
                }
            },
        );
    }
}

/// The inherent methods that encode and decode. A guard refuses what would run into an accepted flaw.
fn encoders(path: &str, row: &Row<'_>, made: &Composite, guard: Option<&Guard>) -> TokenStream {
    let bytes = if made.borrows { quote!(&'k [u8]) } else { quote!(&[u8]) };
    let plain = plain_encoders(path, row, guard.is_some());
    let guarded = guard.map(|guard| guard.encoders(row));
    quote! {
        #plain
        #guarded

        /// Writes the bytes at the front of `room` and returns them there.
        #[inline]
        pub fn encode_to<'b>(
            &self,
            room: &'b mut [u8],
        ) -> ::core::result::Result<&'b [u8], ::keyplan::typed::KeyError> {
            let mut out = ::keyplan::codec::Buffer::new(room);
            self.encode_into(&mut out)?;
            ::core::result::Result::Ok(out.into_written())
        }

        ::keyplan::__with_alloc! {
            /// Returns the bytes.
            pub fn to_vec(
                &self,
            ) -> ::core::result::Result<::keyplan::__private::Vec<u8>, ::keyplan::typed::KeyError> {
                let mut out = ::keyplan::__private::Vec::new();
                self.encode_into(&mut out)?;
                ::core::result::Result::Ok(out)
            }
        }

        /// Decodes what is exactly `bytes`, or says which segment and which byte are at fault.
        #[inline]
        pub fn decode(bytes: #bytes) -> ::core::result::Result<Self, ::keyplan::typed::KeyError> {
            ::keyplan::typed::decode(#path, bytes)
        }
    }
}

/// The encoders that look at nothing but the arguments' domains.
fn plain_encoders(path: &str, row: &Row<'_>, guarded: bool) -> TokenStream {
    let (into, array, doc) = if guarded {
        (
            quote!(encode_unguarded_into),
            quote!(encode_unguarded),
            ", even if they can also be read as something else",
        )
    } else {
        (quote!(encode_into), quote!(encode), "")
    };
    let doc_into =
        docs::lines(&[format!("Appends the bytes{doc}, or refuses an argument outside of its domain.")]);
    let doc_array = docs::lines(&[format!("Returns the bytes{doc}.")]);
    let encode = match (row.sequence.extent(), row.array(), row.sequence.width().max) {
        (Extent::Fixed(width), Some(bytes), _) => {
            let bound = bound(row);
            Some(quote! {
                #doc_array
                #[inline]
                pub fn #array(&self) -> [u8; #width] {
                    let Self #bound = self;
                    #bytes
                }
            })
        }
        (Extent::Fixed(width), None, _) if width <= IN_PLACE => Some(quote! {
            #doc_array
            #[inline]
            pub fn #array(&self) -> ::core::result::Result<[u8; #width], ::keyplan::typed::KeyError> {
                let mut array = [0u8; #width];
                let mut out = ::keyplan::codec::Buffer::new(&mut array);
                self.#into(&mut out)?;
                ::core::result::Result::Ok(array)
            }
        }),
        (_, _, Some(most)) if most <= IN_PLACE => Some(quote! {
            #doc_array
            #[inline]
            pub fn #array(
                &self,
            ) -> ::core::result::Result<::keyplan::typed::ShortBytes<#most>, ::keyplan::typed::KeyError> {
                ::keyplan::typed::encode_short(#path, self)
            }
        }),
        _ => None,
    };
    quote! {
        #encode

        #doc_into
        #[inline]
        pub fn #into<S: ::keyplan::codec::Sink + ?Sized>(
            &self,
            out: &mut S,
        ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
            ::keyplan::typed::Layout::put(self, out).map_err(|error| error.of(#path))
        }
    }
}

/// `{ pool: arg_0 }` over the arguments of a struct.
pub(crate) fn bound(row: &Row<'_>) -> TokenStream {
    let fields = row.arguments().map(|(index, argument, _)| {
        let (name, value) = (names::field(argument.name.as_deref().unwrap_or("value")), arg(index));
        quote!(#name: #value)
    });
    if row.arguments().next().is_none() { TokenStream::new() } else { quote!({ #(#fields,)* }) }
}

/// `LEN` or `MAX_LEN`.
fn sizes(row: &Row<'_>) -> Option<TokenStream> {
    match (row.sequence.extent(), row.sequence.width().max) {
        (Extent::Fixed(width), _) => Some(quote! {
            /// The length in bytes.
            pub const LEN: usize = #width;
        }),
        (_, Some(most)) => Some(quote! {
            /// The greatest length in bytes.
            pub const MAX_LEN: usize = #most;
        }),
        _ => None,
    }
}
