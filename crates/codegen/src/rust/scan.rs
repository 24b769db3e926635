//! Declared scans: a function and a type for each.

use keyplan_plan::model::{Extent, Family, Scan, Segment, Width};
use proc_macro2::TokenStream;
use quote::quote;

use crate::prove::{is_exact, is_ordered};
use crate::rust::Expander;
use crate::rust::code::Order;
use crate::rust::composite::Composite;
use crate::rust::leaf::IN_PLACE;
use crate::rust::row::{Row, arg};
use crate::rust::{docs, names};

impl Expander<'_> {
    /// The functions that begin a family's scans; the types behind them go to the module at `at`.
    pub(crate) fn scans(
        &mut self,
        at: usize,
        family: &Family,
        row: &Row<'_>,
        made: &Composite,
    ) -> TokenStream {
        let mut seen = std::collections::BTreeSet::new();
        let scans: Vec<TokenStream> = family
            .scans
            .iter()
            .filter(|scan| {
                let part = scan.part.as_ref().map(|part| part.segment);
                is_exact(self.report, family, scan) && seen.insert((scan.bound, part, scan.bare))
            })
            .map(|scan| self.scan(at, family, row, made, scan))
            .collect();
        quote!(#(#scans)*)
    }

    fn scan(
        &mut self,
        at: usize,
        family: &Family,
        row: &Row<'_>,
        made: &Composite,
        scan: &Scan,
    ) -> TokenStream {
        let scanned = row.scanned(scan);
        let bound: Vec<_> = scanned.arguments().take(scan.value_count()).collect();
        let names: Vec<&str> =
            bound.iter().map(|(_, argument, _)| argument.name.as_deref().unwrap_or("value")).collect();
        let (function, suffix) = if names.is_empty() {
            (names::field("all"), "All".to_owned())
        } else {
            let suffix: String = names.iter().map(|name| names::pascal(name)).collect();
            let (bare, tail) = if scan.bare { ("_bare", "Bare") } else { ("", "") };
            (names::field(&format!("by_{}{bare}", names.join("_"))), format!("By{suffix}{tail}"))
        };
        let words = format!("{} {}", family.path, scan.words(&family.key));
        let marker = self.fresh(at, &format!("{}{suffix}", made.name));
        let marker = names::ty(&marker);
        let in_order = is_ordered(self.report, family, scan);
        let next = if in_order { next(family, row, scan) } else { None };
        if scan.part.is_none() {
            self.table.scan(family, scan, &function, next.is_some());
        }
        let most = prefix_width(family, scan).max.zip(next.as_ref().map_or(Some(0), |next| next.most));
        let most = most.map(|(prefix, next)| prefix + next + 1).filter(|most| *most <= IN_PLACE);
        let room = if let Some(most) = most {
            quote!(::keyplan::typed::ShortBytes<#most>)
        } else {
            quote!(::keyplan::__private::Vec<u8>)
        };
        let (key, any) = (names::ty(&made.name), made.borrows.then(|| quote!(<'static>)));
        let ordered = next.map(|next| {
            let Next { ty, bytes, last, .. } = next;
            let step = if last { quote!(Whole) } else { quote!(Prefix) };
            quote! {
                impl ::keyplan::typed::OrderedScan for #marker {
                    type Next<'k> = #ty;
                    const STEP: ::keyplan::typed::Step = ::keyplan::typed::Step::#step;

                    #[inline]
                    fn put_next(next: Self::Next<'_>, out: &mut Self::Room) {
                        ::keyplan::typed::Room::put_cut(out, ::core::convert::AsRef::<[u8]>::as_ref(&#bytes));
                    }
                }
            }
        });
        let filtered = scan.filtered.then(|| {
            quote!(
                const FILTERED: bool = true;
            )
        });
        let doc = docs::lines(&[format!("The scan `{words}`.")]);
        let item = quote! {
            #doc
            #[derive(Clone, Copy, Debug)]
            pub struct #marker;

            impl ::keyplan::typed::ScanOf for #marker {
                type Key = #key #any;
                type Room = #room;
                const SCAN: &'static str = #words;
                #filtered
            }

            #ordered
        };
        let item = if most.is_some() { item } else { quote!(::keyplan::__with_alloc! { #item }) };
        self.emit(at, item);
        let order = if in_order { ", in the order of the other arguments" } else { "" };
        let doc = docs::lines(&[format!("The rows of the scan `{words}`{order}.")]);
        let function = begin(&scanned, scan, &function, &marker, &doc, &family.path);
        if most.is_some() { function } else { quote!(::keyplan::__with_alloc! { #function }) }
    }
}

/// The function that begins a scan.
fn begin(
    row: &Row<'_>,
    scan: &Scan,
    function: &proc_macro2::Ident,
    marker: &proc_macro2::Ident,
    doc: &TokenStream,
    path: &str,
) -> TokenStream {
    let parameters = row.arguments().take(scan.value_count()).map(|(_, argument, code)| {
        let (name, ty) = (names::field(argument.name.as_deref().unwrap_or("value")), &code.ty);
        quote!(#name: #ty)
    });
    let bindings = row.arguments().take(scan.value_count()).map(|(index, argument, _)| {
        let (name, value) = (names::field(argument.name.as_deref().unwrap_or("value")), arg(index));
        quote!(let #value = &#name;)
    });
    let bindings = quote!(#(#bindings)*);
    let scan_ty = quote!(::keyplan::typed::Scan<'c, #marker>);
    let parameters = quote!(#(#parameters),*);
    if let Some(slots) = row.slots(scan.segments, &quote!(put)) {
        quote! {
            #doc
            pub fn #function<'c>(#parameters) -> #scan_ty {
                #bindings
                let mut prefix: <#marker as ::keyplan::typed::ScanOf>::Room = ::core::default::Default::default();
                let mut put = |bytes: &[u8]| ::keyplan::typed::Room::put_cut(&mut prefix, bytes);
                #slots
                let _ = &mut put;
                ::keyplan::typed::Scan::new(prefix)
            }
        }
    } else {
        let put = row.put(scan.segments, false);
        quote! {
            #doc
            pub fn #function<'c>(
                #parameters
            ) -> ::core::result::Result<#scan_ty, ::keyplan::typed::KeyError> {
                #bindings
                let mut prefix: <#marker as ::keyplan::typed::ScanOf>::Room =
                    ::core::default::Default::default();
                let mut fill = || -> ::core::result::Result<(), ::keyplan::typed::SegmentError> {
                    let out = &mut prefix;
                    #put
                    ::core::result::Result::Ok(())
                };
                fill().map_err(|error| error.of(#path))?;
                ::core::result::Result::Ok(::keyplan::typed::Scan::new(prefix))
            }
        }
    }
}

/// The first argument that a scan leaves open, if rows come in its order.
struct Next {
    ty: TokenStream,
    bytes: TokenStream,
    /// The most bytes that it takes; `None` without a limit.
    most: Option<usize>,
    /// Whether nothing comes after it.
    last: bool,
}

fn next(family: &Family, row: &Row<'_>, scan: &Scan) -> Option<Next> {
    // The argument must be right after the prefix.
    let (_, _, code) = row.arguments().nth(scan.bound)?;
    let segment = family.key.segments().get(scan.segments)?;
    let Segment::Argument(_) = segment else { return None };
    let last = scan.segments + 1 == family.key.segments().len();
    let extent = family.key.extents().get(scan.segments)?;
    let ordered = match code.order {
        Order::Anywhere => matches!(extent, Extent::Fixed(_)),
        Order::Last => last,
        Order::Unknown => false,
    };
    let bytes = code.bound.clone().filter(|_| ordered)?;
    let most = family.key.widths().get(scan.segments).copied().unwrap_or_default().max;
    Some(Next { ty: code.ty.clone(), bytes, most, last })
}

/// How many bytes the prefix of a scan may take.
fn prefix_width(family: &Family, scan: &Scan) -> Width {
    let widths = family.key.widths().iter().take(scan.segments);
    widths.fold(Width::exactly(0), |all, width| all.then(*width))
}
