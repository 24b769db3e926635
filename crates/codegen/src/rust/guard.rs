//! Guards: an encoder refuses the arguments that would run into an accepted flaw.

use keyplan_plan::model::{AcceptKind, Extent, Family};
use proc_macro2::TokenStream;
use quote::quote;

use crate::rust::Expander;
use crate::rust::composite::Composite;
use crate::rust::family::bound;
use crate::rust::leaf::IN_PLACE;
use crate::rust::names;
use crate::rust::row::Row;

/// Whether a layout is known to have several readings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It is not.
    None,
    /// Two lists of arguments may have the same bytes, and the plan accepts it.
    Ambiguous,
}

/// What keeps a flaw from biting.
pub(crate) struct Guard {
    /// Statements that put the key into `out` and refuse it if it has another reading.
    body: TokenStream,
    /// The functions that it needs.
    pub(crate) helpers: TokenStream,
}

impl Expander<'_> {
    /// Whether some encoder has to find a second reading.
    pub(crate) fn guards_readings(&self) -> bool {
        self.plan.families().any(|(_, family)| family.accepted(AcceptKind::Ambiguous).next().is_some())
    }

    /// The families that a family says it may overlap with.
    pub(crate) fn overlaps(&self, family: &Family) -> Vec<&Family> {
        let paths = family.accepted(AcceptKind::Overlap).flat_map(|accept| &accept.of);
        let found = paths.filter_map(|path| {
            self.plan.families().map(|(_, other)| other).find(|other| other.path == *path)
        });
        found.filter(|other| other.path != family.path).collect()
    }

    /// The guard of a layout with a flaw of its own or with `others` that may make the same bytes.
    pub(crate) fn guard(
        &self,
        at: usize,
        path: &str,
        flaw: Flaw,
        others: &[&Family],
        row: &Row<'_>,
        made: &Composite,
    ) -> Option<Guard> {
        let ambiguous = flaw == Flaw::Ambiguous && row.may_be_ambiguous();
        if !ambiguous && others.is_empty() {
            return None;
        }
        let refuse = quote! {
            return ::core::result::Result::Err(::keyplan::typed::KeyError {
                family: #path,
                segment: "",
                fault: ::keyplan::typed::KeyFault::OtherReading(::keyplan::typed::OtherReading::new(&other)),
            });
        };
        let overlaps = others.iter().map(|other| {
            let other = names::family(self.depth(at), other);
            quote! {
                if let ::core::option::Option::Some(other) = <#other as ::keyplan::typed::Layout<'_>>::read(key) {
                    #refuse
                }
            }
        });
        let own = ambiguous.then(|| {
            let name = names::ty(&made.name);
            quote! {
                if let ::core::result::Result::Ok(other) = #name::other_reading(key, &ends, 1) {
                    // Of two with the same ends, the one that was not given is named.
                    let other = if ::keyplan::typed::shown_alike(&other, self) {
                        #name::other_reading(key, &ends, 0).unwrap_or(other)
                    } else {
                        other
                    };
                    #refuse
                }
            }
        });
        let count = row.arguments().count();
        let put = if ambiguous {
            quote! {
                let mut ends = [0usize; #count];
                self.put_marked(out, &mut ends).map_err(|error| error.of(#path))?;
            }
        } else {
            quote!(self.encode_unguarded_into(out)?;)
        };
        let body = quote! {
            let start = ::keyplan::codec::Sink::len(out);
            #put
            let key: &[u8] = ::keyplan::codec::Sink::tail_mut(out, start);
            #own
            #(#overlaps)*
            ::core::result::Result::Ok(())
        };
        let helpers = if ambiguous { other_reading(row, made) } else { TokenStream::new() };
        Some(Guard { body, helpers })
    }
}

/// The functions that find a second reading in the family itself. It borrows from the bytes, and not from what was given.
fn other_reading(row: &Row<'_>, made: &Composite) -> TokenStream {
    let name = names::ty(&made.name);
    let life = crate::rust::composite::life(made.borrows);
    let bytes = if made.borrows { quote!(&'k [u8]) } else { quote!(&[u8]) };
    let bound = bound(row);
    let put = row.put(row.sequence.segments().len(), true);
    let search = row.search_other(&quote!(Self), &quote!(#name #bound));
    let count = row.arguments().count();
    quote! {
        impl #life #name #life {
            /// Appends the bytes and keeps where each argument ends.
            fn put_marked<S: ::keyplan::codec::Sink + ?Sized>(
                &self,
                out: &mut S,
                ends: &mut [usize; #count],
            ) -> ::core::result::Result<(), ::keyplan::typed::SegmentError> {
                let start = ::keyplan::codec::Sink::len(out);
                let Self #bound = self;
                #put
                ::core::result::Result::Ok(())
            }

            /// A reading of `bytes` whose arguments do not all end at `ends`; or one of those that do, after as many of
            /// them as are said.
            fn other_reading(
                bytes: #bytes,
                ends: &[usize; #count],
                alike: usize,
            ) -> ::core::result::Result<Self, ::keyplan::typed::SegmentError> {
                let base = 0usize;
                let left = ::core::cell::Cell::new(alike);
                #search
            }
        }
    }
}

impl Guard {
    /// The encoders that refuse what would run into the flaw.
    pub(crate) fn encoders(&self, row: &Row<'_>) -> TokenStream {
        let body = &self.body;
        let encode = match (row.sequence.extent(), row.sequence.width().max) {
            (Extent::Fixed(width), _) if width <= IN_PLACE => Some(quote! {
                /// Returns the bytes, or refuses arguments whose bytes can also be read as something else.
                pub fn encode(&self) -> ::core::result::Result<[u8; #width], ::keyplan::typed::KeyError> {
                    let mut array = [0u8; #width];
                    let mut out = ::keyplan::codec::Buffer::new(&mut array);
                    self.encode_into(&mut out)?;
                    ::core::result::Result::Ok(array)
                }
            }),
            (_, Some(most)) if most <= IN_PLACE => Some(quote! {
                /// Returns the bytes, or refuses arguments whose bytes can also be read as something else.
                pub fn encode(
                    &self,
                ) -> ::core::result::Result<::keyplan::typed::ShortBytes<#most>, ::keyplan::typed::KeyError> {
                    let mut out = ::keyplan::typed::ShortBytes::new();
                    self.encode_into(&mut out)?;
                    ::core::result::Result::Ok(out)
                }
            }),
            _ => None,
        };
        quote! {
            #encode

            /// Appends the bytes, or refuses an argument outside of its domain, and arguments whose bytes can also be
            /// read as something else: that is the flaw which the plan accepts. The error names the other reading.
            pub fn encode_into<S: ::keyplan::codec::Sink + ?Sized>(
                &self,
                out: &mut S,
            ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
                #body
            }
        }
    }
}
