//! Records and whole layouts: the structs that hold arguments.

use keyplan_plan::model::{Argument, Extent, Shape};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::rust::Expander;
use crate::rust::code::{Code, Order};
use crate::rust::docs;
use crate::rust::names;
use crate::rust::row::{Row, arg};

/// A struct or enum that was made.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "facts about a type that do not hang together")]
pub(crate) struct Composite {
    pub(crate) name: String,
    /// Whether it is in the plan's own module.
    pub(crate) root: bool,
    pub(crate) borrows: bool,
    pub(crate) eq: bool,
    pub(crate) order: Order,
    /// Whether it is `Ord`.
    pub(crate) compares: bool,
    /// Whether it has an `encode` that gives an array.
    pub(crate) array: bool,
    pub(crate) delimited: bool,
    /// Whether the same bytes may be several of them, and there is a function that tells them apart.
    pub(crate) ambiguous: bool,
    pub(crate) lossy: bool,
}

impl Composite {
    /// How an argument of this type is written, seen from `depth` modules below the plan's.
    pub(crate) fn code(&self, depth: usize, label: &str) -> Code {
        let up = names::up(if self.root { depth } else { 0 });
        let name = names::ty(&self.name);
        let life = life(self.borrows);
        let ty = quote!(#up #name #life);
        Code {
            borrows: self.borrows,
            eq: self.eq,
            order: self.order,
            read: quote!(<#ty as ::keyplan::typed::Layout>::read(piece)),
            extent: self.delimited.then(|| quote!(<#up #name>::extent(rest))),
            array: self.array.then(|| quote!(value.encode())),
            // Its type without a lifetime: they may be read from other bytes than those that the argument came from.
            readings: self.ambiguous.then(|| quote!(#up #name::reading(piece, base, reading))),
            lossy: self.lossy,
            ..Code::leaf(
                ty.clone(),
                quote!(::keyplan::typed::Layout::put(value, out).map_err(|error| error.within(#label))),
                quote!(<#ty as ::keyplan::typed::Layout>::search(piece, base)),
            )
        }
    }
}

/// `<'k>` for a type that borrows.
pub(crate) fn life(borrows: bool) -> Option<TokenStream> {
    borrows.then(|| quote!(<'k>))
}

/// A type that was made for one argument, which its copies have too.
pub(crate) struct Unnamed {
    at: usize,
    shape: Shape,
    owned: bool,
    made: Composite,
}

/// The fields of a struct or a variant.
pub(crate) struct Fields {
    /// `{ pool: u64 }`, `(u64)` or nothing, with documentation.
    pub(crate) declared: TokenStream,
    /// The same as a pattern or an expression over the arguments' variables.
    pub(crate) bound: TokenStream,
    /// The same as names only.
    pub(crate) names: TokenStream,
}

/// What a family or another layout is called in errors and documentation.
pub(crate) struct Titled<'a> {
    /// The type's name.
    pub(crate) name: &'a str,
    /// What `Display` puts before the arguments.
    pub(crate) shown: &'a str,
    /// Lines of documentation.
    pub(crate) doc: Vec<String>,
    /// Whether keys are compared.
    pub(crate) order: Comparable,
    /// Since when and why it is no longer written.
    pub(crate) retired: Option<(Option<&'a str>, &'a str)>,
}

/// Whether a type is `Ord`, which it is only if that is the order of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparable {
    /// No.
    Never,
    /// If each of its arguments is written in an encoding that keeps its order wherever it is.
    ByConstruction,
    /// Yes: the prover says so of the whole key.
    Proved,
}

impl Expander<'_> {
    /// The type of a record or a choice, made if need be.
    pub(crate) fn composite(
        &mut self,
        at: usize,
        hint: &str,
        shape: &Shape,
        owned: bool,
    ) -> Option<Composite> {
        let declared = self.plan.types.iter().find(|ty| !owned && ty.shape == *shape);
        let Some(declared) = declared else {
            let made = |other: &&Unnamed| (other.at, other.owned) == (at, owned) && other.shape == *shape;
            if let (true, Some(original)) = (self.copying, self.unnamed.iter().rfind(made)) {
                return Some(original.made.clone());
            }
            let name = self.fresh(at, hint);
            let doc = vec![format!("The argument `{name}`.")];
            let made = self.make(at, &name, doc, shape, owned, false)?;
            self.unnamed.push(Unnamed { at, shape: shape.clone(), owned, made: made.clone() });
            return Some(made);
        };
        if let Some(made) = self.named.get(&declared.name) {
            return Some(made.clone());
        }
        let doc = docs::text(&declared.doc, &format!("The type `{}`.", declared.name));
        let made = self.make(0, &declared.name, doc, shape, owned, true)?;
        self.named.insert(declared.name.clone(), made.clone());
        Some(made)
    }

    fn make(
        &mut self,
        at: usize,
        name: &str,
        mut doc: Vec<String>,
        shape: &Shape,
        owned: bool,
        root: bool,
    ) -> Option<Composite> {
        match shape {
            Shape::Record(sequence) => {
                doc.extend(docs::lanes(sequence, self.sources));
                let titled =
                    Titled { name, shown: "", doc, order: Comparable::ByConstruction, retired: None };
                let row = self.row(at, name, sequence, owned)?;
                let made = self.layout(at, &titled, &row);
                Some(Composite { root, ..made })
            }
            Shape::Choice(alternatives) => {
                let made = self.choice(at, name, &doc, alternatives, owned)?;
                Some(Composite { root, ..made })
            }
            _ => None,
        }
    }

    /// A struct for a row, with its `Layout` and `Display`.
    pub(crate) fn layout(&mut self, at: usize, titled: &Titled<'_>, row: &Row<'_>) -> Composite {
        let (name, doc) = (names::ty(titled.name), docs::lines(&titled.doc));
        let deprecated = titled.retired.map(|(since, why)| {
            // A release need not be called as versions of crates are, which is what `since` asks for.
            let why = since.map_or_else(|| why.to_owned(), |since| format!("since {since}: {why}"));
            quote!(#[deprecated(note = #why)])
        });
        let life = life(row.borrows());
        let Fields { declared, bound, names: made_of } = fields(row, Kind::Struct);
        let made_of = if made_of.is_empty() { quote!({}) } else { made_of };
        let order = row.order();
        let comparable = match titled.order {
            Comparable::Never => false,
            Comparable::ByConstruction => order != Order::Unknown,
            Comparable::Proved => true,
        };
        let derives = derives(row.eq(), comparable);
        let end = declared.is_empty().then(|| quote!(;)).or_else(|| Some(TokenStream::new()));
        let put = row.put(row.sequence.segments().len(), false);
        let finish = quote!(Self #bound);
        let search = row.search(&finish);
        let read = if row.is_direct() {
            row.read(&finish)
        } else {
            quote!(<Self as ::keyplan::typed::Layout<'k>>::search(bytes, 0).ok())
        };
        let array = row.array();
        let encode = array.as_ref().map(|array| {
            let Extent::Fixed(width) = row.sequence.extent() else { return TokenStream::new() };
            quote! {
                /// Returns the bytes. Nothing can be refused.
                #[inline]
                pub fn encode(&self) -> [u8; #width] {
                    let Self #bound = self;
                    #array
                }
            }
        });
        let extent = extent_fn(row.extent());
        let part = titled.shown.is_empty();
        let readings = (part && self.guards_readings() && row.may_be_ambiguous())
            .then(|| reading_fn(&name, row.borrows(), &row.search_nth(&finish)));
        let helpers = (part && (encode.is_some() || extent.is_some())).then(|| {
            quote! {
                impl #life #name #life {
                    #encode
                    #extent
                }
            }
        });
        let show = show(titled.shown, row);
        // A family is put by its encoders only, and is fastest as a part of them.
        let inline = if titled.shown.is_empty() { quote!(#[inline]) } else { quote!(#[inline(always)]) };
        self.emit(
            at,
            quote! {
                #doc
                #deprecated
                #derives
                pub struct #name #life #declared #end

                #helpers
                #readings

                impl<'k> ::keyplan::typed::Layout<'k> for #name #life {
                    #inline
                    fn put<S: ::keyplan::codec::Sink + ?Sized>(
                        &self,
                        out: &mut S,
                    ) -> ::core::result::Result<(), ::keyplan::typed::SegmentError> {
                        let Self #bound = self;
                        #put
                        ::core::result::Result::Ok(())
                    }

                    #[inline]
                    fn read(bytes: &'k [u8]) -> ::core::option::Option<Self> {
                        #read
                    }

                    fn search(
                        bytes: &'k [u8],
                        base: usize,
                    ) -> ::core::result::Result<Self, ::keyplan::typed::SegmentError> {
                        #search
                    }
                }

                impl #life ::core::fmt::Display for #name #life {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        let Self #bound = self;
                        #show
                    }
                }

                ::keyplan::__with_laws! { struct #name [#life] #made_of }
            },
        );
        Composite {
            name: titled.name.to_owned(),
            root: false,
            borrows: row.borrows(),
            eq: row.eq(),
            order,
            compares: row.eq() && comparable,
            array: array.is_some(),
            delimited: row.sequence.extent() == Extent::Delimited,
            ambiguous: readings.is_some(),
            lossy: row.lossy(),
        }
    }
}

/// Where fields are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Struct,
    Variant,
}

/// The fields for the arguments of a row.
pub(crate) fn fields(row: &Row<'_>, kind: Kind) -> Fields {
    let arguments: Vec<(Ident, Option<&str>, &TokenStream, &Argument)> = row
        .arguments()
        .map(|(index, argument, code)| (arg(index), argument.name.as_deref(), &code.ty, argument))
        .collect();
    if let ([(value, None, ty, _)], Kind::Variant) = (arguments.as_slice(), kind) {
        return Fields { declared: quote!((#ty)), bound: quote!((#value)), names: quote!((value)) };
    }
    if arguments.is_empty() {
        return Fields { declared: TokenStream::new(), bound: TokenStream::new(), names: TokenStream::new() };
    }
    let public = (kind == Kind::Struct).then(|| quote!(pub));
    let declared = arguments.iter().map(|(_, name, ty, argument)| {
        let spelled = name.unwrap_or("value");
        let about = match argument.type_name.as_deref() {
            None => format!("The argument `{spelled}`."),
            Some(type_name) => format!("The argument `{spelled}`, a `{type_name}`."),
        };
        let mut doc = argument.doc.clone();
        if !doc.is_empty() {
            doc.push(String::new());
        }
        doc.push(about);
        let (doc, name) = (docs::lines(&doc), names::field(spelled));
        quote!(#doc #public #name: #ty)
    });
    let bound = arguments.iter().map(|(value, name, ..)| {
        let name = names::field(name.unwrap_or("value"));
        quote!(#name: #value)
    });
    let names = arguments.iter().map(|(_, name, ..)| names::field(name.unwrap_or("value")));
    Fields {
        declared: quote!({ #(#declared,)* }),
        bound: quote!({ #(#bound,)* }),
        names: quote!({ #(#names)* }),
    }
}

/// What is derived for a type all of whose fields are `Copy`.
pub(crate) fn derives(eq: bool, ord: bool) -> TokenStream {
    let eq_hash = eq.then(|| quote!(, Eq, Hash));
    let order = (eq && ord).then(|| quote!(, PartialOrd, Ord));
    quote!(#[derive(Clone, Copy, Debug, PartialEq #eq_hash #order)])
}

/// The function that tells the readings of the same bytes apart: `search` is for the one that comes after as many as are `left`.
pub(crate) fn reading_fn(name: &Ident, borrows: bool, search: &TokenStream) -> TokenStream {
    let life = life(borrows);
    let bytes = if borrows { quote!(&'k [u8]) } else { quote!(&[u8]) };
    quote! {
        impl #life #name #life {
            /// The reading of `bytes` with this number.
            #[doc(hidden)]
            pub fn reading(
                bytes: #bytes,
                base: usize,
                number: usize,
            ) -> ::core::result::Result<Self, ::keyplan::typed::SegmentError> {
                let left = ::core::cell::Cell::new(number);
                #search
            }
        }
    }
}

fn extent_fn(extent: Option<TokenStream>) -> Option<TokenStream> {
    extent.map(|extent| {
        quote! {
            /// How many bytes at the front of `rest` belong to it.
            #[doc(hidden)]
            pub fn extent(rest: &[u8]) -> ::core::result::Result<usize, ::keyplan::codec::DecodeError> {
                #extent
            }
        }
    })
}

/// The body of `Display`: `tick(pool=7, tick=-100)`.
pub(crate) fn show(shown: &str, row: &Row<'_>) -> TokenStream {
    let mut statements = Vec::new();
    let arguments: Vec<_> = row.arguments().collect();
    if arguments.is_empty() {
        let text = if shown.is_empty() { "()" } else { shown };
        return quote!(f.write_str(#text));
    }
    let open = format!("{shown}(");
    statements.push(quote!(f.write_str(#open)?;));
    for (index, argument, code) in arguments {
        let comma = if index == 0 { "" } else { ", " };
        let before = match &argument.name {
            Some(name) => format!("{comma}{name}="),
            None => comma.to_owned(),
        };
        let (value, show) = (arg(index), &code.show);
        statements.push(quote! {
            f.write_str(#before)?;
            { let value = #value; #show?; }
        });
    }
    quote!(#(#statements)* f.write_str(")"))
}
