//! Choices: an enum with a variant for each alternative.

use keyplan_plan::model::{Alternative, Extent, Shape};
use proc_macro2::TokenStream;
use quote::quote;

use crate::rust::Expander;
use crate::rust::code::Order;
use crate::rust::composite::{Composite, Fields, Kind, derives, fields, life, reading_fn, show};
use crate::rust::docs;
use crate::rust::names;
use crate::rust::row::Row;

impl Expander<'_> {
    /// The enum of a choice.
    pub(crate) fn choice(
        &mut self,
        at: usize,
        name: &str,
        doc: &[String],
        alternatives: &[Alternative],
        owned: bool,
    ) -> Option<Composite> {
        let mut rows = Vec::new();
        for alternative in alternatives {
            let label = names::pascal(&alternative.label);
            rows.push((
                label.clone(),
                alternative,
                self.row(at, &format!("{name}{label}"), &alternative.sequence, owned)?,
            ));
        }
        let borrows = rows.iter().any(|(_, _, row)| row.borrows());
        let eq = rows.iter().all(|(_, _, row)| row.eq());
        let lossy = rows.iter().any(|(_, _, row)| row.lossy());
        let ident = names::ty(name);
        let (doc, derives) = (docs::lines(doc), derives(eq, false));
        let mut arms = Arms::default();
        for (label, alternative, row) in &rows {
            arms.add(label, alternative, row, docs::lanes(&alternative.sequence, self.sources));
        }
        let array = arms.encode(Shape::Choice(alternatives.to_vec()).extent(), rows.len());
        let item = item(&ident, borrows, &arms, array.as_ref());
        let readings = self.guards_readings().then(|| arms.reading(&ident, borrows));
        let ambiguous = readings.is_some();
        self.emit(at, quote!(#doc #derives #item #readings));
        Some(Composite {
            name: name.to_owned(),
            root: false,
            borrows,
            eq,
            order: Order::Unknown,
            compares: false,
            array: array.is_some(),
            delimited: false,
            ambiguous,
            lossy,
        })
    }
}

/// The enum without its documentation, and what it implements.
fn item(ident: &proc_macro2::Ident, borrows: bool, arms: &Arms, array: Option<&TokenStream>) -> TokenStream {
    let life = life(borrows);
    let Arms { variants, puts, reads, searches, shows, indices, made_of, .. } = arms;
    let count = variants.len();
    quote! {
        pub enum #ident #life {
            #(#variants,)*
        }

        impl<'k> #ident #life {
            #array

            /// Decodes what is exactly `bytes` as the alternative of this number.
            #[doc(hidden)]
            pub fn alternative(
                index: usize,
                bytes: &'k [u8],
                base: usize,
            ) -> ::core::result::Result<Self, ::keyplan::typed::SegmentError> {
                match index {
                    #(#searches)*
                    _ => ::core::result::Result::Err(::keyplan::typed::SegmentError::passed_over()),
                }
            }

            /// The number of the alternative.
            #[doc(hidden)]
            pub const fn alternative_index(&self) -> usize {
                match self {
                    #(#indices,)*
                }
            }
        }

        impl<'k> ::keyplan::typed::Layout<'k> for #ident #life {
            #[inline]
            fn put<S: ::keyplan::codec::Sink + ?Sized>(
                &self,
                out: &mut S,
            ) -> ::core::result::Result<(), ::keyplan::typed::SegmentError> {
                match self {
                    #(#puts)*
                }
                ::core::result::Result::Ok(())
            }

            #[inline]
            fn read(bytes: &'k [u8]) -> ::core::option::Option<Self> {
                #(#reads)*
                ::core::option::Option::None
            }

            fn search(
                bytes: &'k [u8],
                base: usize,
            ) -> ::core::result::Result<Self, ::keyplan::typed::SegmentError> {
                let mut furthest = ::keyplan::typed::Furthest::default();
                for index in 0..#count {
                    match Self::alternative(index, bytes, base) {
                        ::core::result::Result::Ok(found) => return ::core::result::Result::Ok(found),
                        ::core::result::Result::Err(error) => furthest.keep(error),
                    }
                }
                ::core::result::Result::Err(furthest.or(
                    &::keyplan::typed::Steps::default(),
                    ::keyplan::typed::SegmentError::passed_over,
                ))
            }
        }

        impl #life ::core::fmt::Display for #ident #life {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    #(#shows)*
                }
            }
        }

        ::keyplan::__with_laws! { enum #ident [#life] { #(#made_of,)* } }
    }
}

/// What the alternatives of a choice add to its functions.
#[derive(Default)]
struct Arms {
    variants: Vec<TokenStream>,
    puts: Vec<TokenStream>,
    reads: Vec<TokenStream>,
    searches: Vec<TokenStream>,
    nths: Vec<TokenStream>,
    shows: Vec<TokenStream>,
    indices: Vec<TokenStream>,
    made_of: Vec<TokenStream>,
    /// Only of alternatives of which nothing can be refused.
    arrays: Vec<TokenStream>,
}

impl Arms {
    fn add(&mut self, label: &str, alternative: &Alternative, row: &Row<'_>, lanes: Vec<String>) {
        let (index, variant) = (self.variants.len(), names::ty(label));
        let Fields { declared, bound, names: made_of } = fields(row, Kind::Variant);
        let mut doc = docs::text(&alternative.doc, &format!("The alternative `{}`.", alternative.label));
        doc.extend(lanes);
        let doc = docs::lines(&doc);
        self.variants.push(quote!(#doc #variant #declared));
        self.made_of.push(quote!(#index #variant #made_of));
        let put = row.put(row.sequence.segments().len(), false);
        self.puts.push(quote!(Self::#variant #bound => { #put }));
        let finish = quote!(Self::#variant #bound);
        let found = if row.is_direct() {
            let read = row.read(&finish);
            quote!((|| -> ::core::option::Option<Self> { #read })())
        } else {
            quote!(Self::alternative(#index, bytes, 0).ok())
        };
        self.reads.push(quote! {
            if let ::core::option::Option::Some(found) = #found {
                return ::core::option::Option::Some(found);
            }
        });
        let search = row.search(&finish);
        self.searches.push(quote!(#index => { #search }));
        self.nths.push(row.search_nth(&finish));
        let show = show(&alternative.label, row);
        self.shows.push(quote!(Self::#variant #bound => { #show }));
        self.indices.push(quote!(Self::#variant { .. } => #index));
        self.arrays.extend(row.array().map(|array| quote!(Self::#variant #bound => #array)));
    }

    /// The function that tells the readings of the same bytes apart.
    fn reading(&self, ident: &proc_macro2::Ident, borrows: bool) -> TokenStream {
        let nths = &self.nths;
        let search = quote! {
            let mut furthest = ::keyplan::typed::Furthest::default();
            #(
                match (|| -> ::core::result::Result<Self, ::keyplan::typed::SegmentError> { #nths })() {
                    ::core::result::Result::Ok(found) => return ::core::result::Result::Ok(found),
                    ::core::result::Result::Err(error) => furthest.keep(error),
                }
            )*
            ::core::result::Result::Err(furthest.or(
                &::keyplan::typed::Steps::default(),
                ::keyplan::typed::SegmentError::passed_over,
            ))
        };
        reading_fn(ident, borrows, &search)
    }

    /// The function that gives an array, if every alternative has one of the same length.
    fn encode(&self, extent: Extent, count: usize) -> Option<TokenStream> {
        let Extent::Fixed(width) = extent else { return None };
        let arrays = &self.arrays;
        (arrays.len() == count).then(|| {
            quote! {
                /// Returns the bytes. Nothing can be refused.
                #[inline]
                pub fn encode(&self) -> [u8; #width] {
                    match self {
                        #(#arrays,)*
                    }
                }
            }
        })
    }
}
