//! Structures: the fields of a hash, the members and scores of sets and queues.

use std::collections::BTreeSet;

use keyplan_plan::model::{AcceptKind, Family, FamilyKind, Segment, Sequence, Shape};
use proc_macro2::TokenStream;
use quote::quote;

use crate::rust::Expander;
use crate::rust::composite::Composite;
use crate::rust::guard::Flaw;
use crate::rust::{docs, names};

impl Expander<'_> {
    pub(crate) fn structure(&mut self, at: usize, family: &Family, made: &Composite) -> Option<()> {
        if family.kind == FamilyKind::Hash {
            return self.fields(at, family, made);
        }
        let (name, any) = (names::ty(&made.name), made.borrows.then(|| quote!(<'_>)));
        let mut part = |what: &str, sequence: Option<&Sequence>| {
            let Some(sequence) = sequence else { return Some(quote!(::keyplan::typed::Raw<'v>)) };
            let name = format!("{}{}", made.name, names::pascal(what));
            let title = format!("A {what} of the family `{}`.", family.path);
            self.plain_value(at, &name, &format!("{} {what}", family.path), what, &title, sequence)
        };
        let member = part("member", family.member.as_ref())?;
        let score = part("score", family.score.as_ref())?;
        let kind = match family.kind {
            FamilyKind::Zset => quote!(ZsetKey),
            FamilyKind::Queue => quote!(QueueKey),
            _ => quote!(UnrankedKey),
        };
        let ranked = family.score.as_ref().and_then(ranked_by).map(|field| {
            quote! {
                impl ::keyplan::typed::Ranked for #score {
                    fn rank(&self) -> ::core::option::Option<::keyplan::typed::Rank> {
                        ::keyplan::typed::Ranked::rank(&self.#field)
                    }

                    fn of_rank(rank: ::keyplan::typed::Rank) -> ::core::option::Option<Self> {
                        ::core::option::Option::Some(Self { #field: ::keyplan::typed::Ranked::of_rank(rank)? })
                    }
                }
            }
        });
        let scored = matches!(family.kind, FamilyKind::Zset | FamilyKind::Queue).then(|| {
            quote! {
                impl ::keyplan::typed::ScoredKey for #name #any {
                    type Score<'v> = #score;
                }
            }
        });
        self.emit(
            at,
            quote! {
                impl ::keyplan::typed::SetKey for #name #any {
                    type Member<'v> = #member;
                }

                #scored

                impl ::keyplan::typed::#kind for #name #any {}

                #ranked
            },
        );
        Some(())
    }

    fn fields(&mut self, at: usize, family: &Family, made: &Composite) -> Option<()> {
        let (name, any) = (names::ty(&made.name), made.borrows.then(|| quote!(<'_>)));
        let mut variants: Vec<Variant> = Vec::new();
        let (mut borrows, mut eq) = (false, true);
        let mut used = BTreeSet::new();
        let guarded = family.accepted(AcceptKind::Ambiguous).next().is_some();
        let flaw = if guarded { Flaw::Ambiguous } else { Flaw::None };
        for field in &family.fields {
            let title = names::pascal(&field.name);
            let path = format!("{} field {}", family.path, field.name);
            let doc = docs::text(&field.doc, &format!("The field `{}` of `{}`.", field.name, family.path));
            let mut about = doc.clone();
            about.extend(docs::lanes(&field.key, self.sources));
            let key_name = format!("{}{title}Field", made.name);
            let key = self.value_struct(at, &key_name, &path, &field.name, about, &field.key, flaw)?;
            self.table.field(family, &field.name, &key, field.value.is_some());
            let value = if let Some(sequence) = &field.value {
                let value = format!("{}{title}Value", made.name);
                let about = format!("The value of the field `{}` of `{}`.", field.name, family.path);
                self.plain_value(at, &value, &format!("{path} value"), &field.name, &about, sequence)?
            } else {
                quote!(::keyplan::typed::Raw<'v>)
            };
            let (ident, any) = (names::ty(&key.name), key.borrows.then(|| quote!(<'_>)));
            self.emit(
                at,
                quote! {
                    impl ::keyplan::typed::HashField for #ident #any {
                        type FieldValue<'v> = #value;
                    }
                },
            );
            let mut variant = title;
            while !used.insert(variant.clone()) {
                variant.push('_');
            }
            let life = key.borrows.then(|| quote!(<'v>));
            borrows |= key.borrows;
            eq &= key.eq;
            variants.push(Variant {
                name: names::ty(&variant),
                key: ident.clone(),
                ty: quote!(#ident #life),
                doc,
            });
        }
        self.field_enum(at, family, made, &variants, borrows, eq, guarded);
        let field = names::ty(&format!("{}Field", made.name));
        let life = borrows.then(|| quote!(<'v>));
        self.emit(
            at,
            quote! {
                impl ::keyplan::typed::HashKey for #name #any {
                    type Field<'v> = #field #life;
                }
            },
        );
        Some(())
    }

    #[expect(clippy::too_many_arguments, reason = "what is known of the fields of a hash")]
    fn field_enum(
        &mut self,
        at: usize,
        family: &Family,
        made: &Composite,
        variants: &[Variant],
        borrows: bool,
        eq: bool,
        guarded: bool,
    ) {
        let wanted = format!("{}Field", made.name);
        let name = self.fresh(at, &wanted);
        let (ident, life) = (names::ty(&name), borrows.then(|| quote!(<'v>)));
        let any = borrows.then(|| quote!(<'_>));
        let path = format!("{} field", family.path);
        let declared = variants.iter().map(|Variant { name: variant, ty, doc, .. }| {
            let doc = docs::lines(doc);
            quote!(#doc #variant(#ty))
        });
        let derives = crate::rust::composite::derives(eq, false);
        let reads: Vec<TokenStream> = variants
            .iter()
            .map(|Variant { name: variant, ty, .. }| {
                quote! {
                    if let ::core::option::Option::Some(found) = <#ty as ::keyplan::typed::Layout<'v>>::read(bytes) {
                        return ::core::result::Result::Ok(Self::#variant(found));
                    }
                }
            })
            .collect();
        let nearest = variants.iter().map(|Variant { ty, .. }| {
            quote! {
                if let ::core::result::Result::Err(error) = <#ty as ::keyplan::typed::Layout<'v>>::search(bytes, 0) {
                    nearest.keep(#path, error);
                }
            }
        });
        let each = |body: &TokenStream| {
            let arms =
                variants.iter().map(|Variant { name: variant, .. }| quote!(Self::#variant(field) => #body));
            quote!(match self { #(#arms,)* })
        };
        let put = each(&quote!(::keyplan::typed::Value::encode_into(field, out)));
        let display = each(&quote!(::core::fmt::Display::fmt(field, f)));
        let froms = variants.iter().map(|Variant { name: variant, ty, .. }| {
            quote! {
                impl<'v> ::core::convert::From<#ty> for #ident #life {
                    fn from(field: #ty) -> Self {
                        Self::#variant(field)
                    }
                }
            }
        });
        let encode = if guarded { guarded_field(&put, &path, variants) } else { put.clone() };
        let raw = each(&quote!(::keyplan::typed::Layout::put(field, out).map_err(|error| error.of(#path))));
        let unguarded = guarded.then(|| {
            quote! {
                impl #life #ident #life {
                    /// Appends the field, even if its bytes can also be read as another one.
                    pub fn encode_unguarded_into<S: ::keyplan::codec::Sink + ?Sized>(
                        &self,
                        out: &mut S,
                    ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
                        #raw
                    }
                }
            }
        });
        let doc = docs::lines(&[format!("Any field of the hash `{}`.", family.path)]);
        self.emit(
            at,
            quote! {
                #doc
                #derives
                pub enum #ident #life {
                    #(#declared,)*
                }

                #unguarded

                impl<'v> ::keyplan::typed::Value<'v> for #ident #life {
                    fn encode_into<S: ::keyplan::codec::Sink + ?Sized>(
                        &self,
                        out: &mut S,
                    ) -> ::core::result::Result<(), ::keyplan::typed::KeyError> {
                        #encode
                    }

                    fn decode(bytes: &'v [u8]) -> ::core::result::Result<Self, ::keyplan::typed::KeyError> {
                        #(#reads)*
                        let mut nearest = ::keyplan::typed::Nearest::default();
                        #(#nearest)*
                        ::core::result::Result::Err(nearest.error())
                    }
                }

                impl ::core::fmt::Display for #ident #any {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        #display
                    }
                }

                #(#froms)*
            },
        );
    }
}

/// The field of a score that members are ranked by, if the score is one number or one place.
fn ranked_by(score: &Sequence) -> Option<proc_macro2::Ident> {
    let [Segment::Argument(argument)] = score.segments() else { return None };
    let is_rank = matches!(argument.shape, Shape::Int(_) | Shape::Float(_) | Shape::Score { .. });
    is_rank.then(|| names::field(argument.name.as_deref().unwrap_or("value")))
}

/// Puts a field and refuses it if another kind of field has the same bytes.
fn guarded_field(put: &TokenStream, path: &str, variants: &[Variant]) -> TokenStream {
    let others = variants.iter().map(|Variant { name: variant, key, .. }| {
        quote! {
            if !::core::matches!(self, Self::#variant(_)) {
                if let ::core::option::Option::Some(other) = <#key as ::keyplan::typed::Layout<'_>>::read(bytes) {
                    return ::core::result::Result::Err(::keyplan::typed::KeyError {
                        family: #path,
                        segment: "",
                        fault: ::keyplan::typed::KeyFault::OtherReading(
                            ::keyplan::typed::OtherReading::new(&other),
                        ),
                    });
                }
            }
        }
    });
    quote! {
        let start = ::keyplan::codec::Sink::len(out);
        { #put }?;
        let bytes: &[u8] = ::keyplan::codec::Sink::tail_mut(out, start);
        #(#others)*
        ::core::result::Result::Ok(())
    }
}

/// One kind of field in the enum over all of a hash.
struct Variant {
    name: proc_macro2::Ident,
    /// The struct, without its lifetime.
    key: proc_macro2::Ident,
    /// The struct, with its lifetime.
    ty: TokenStream,
    doc: Vec<String>,
}
