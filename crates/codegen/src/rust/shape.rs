//! Shapes: from the values of an argument to its code.

use keyplan_codec::{Hash, LenWidth};
use keyplan_plan::diag::Span;
use keyplan_plan::model::{BytesEncoding, Extent, Frame, Framing, LengthSet, Shape, Width};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use crate::rust::Expander;
use crate::rust::code::{Code, Order};
use crate::rust::leaf::{self, IN_PLACE, decode_leaf, put_leaf};
use crate::rust::{docs, names, row};

impl Expander<'_> {
    /// The code of an argument called `label`. With `owned`, its bytes are a copy that does not outlive the decoding.
    /// Types that it needs are called after `hint` and put into the module at `at`.
    pub(crate) fn shape(
        &mut self,
        at: usize,
        hint: &str,
        label: &str,
        shape: &Shape,
        owned: bool,
        span: Span,
    ) -> Option<Code> {
        match shape {
            Shape::Int(int) => Some(leaf::int(int, label)),
            Shape::Bool(encoding) => Some(leaf::bool(*encoding, label)),
            Shape::Float(encoding) => Some(leaf::float(*encoding, label)),
            Shape::Time(encoding) => Some(leaf::time(*encoding, label)),
            Shape::Score { heights, encoding } => Some(leaf::score(*heights, *encoding, label)),
            Shape::Bytes { lengths, encoding } => self.bytes(lengths, encoding, label, owned, span),
            Shape::Text(text) => self.text(text, label, owned, span),
            Shape::Nibbles { lengths, encoding } => self.nibbles(lengths, *encoding, label, owned, span),
            Shape::Opaque(_) if owned => self.cannot_own(span),
            Shape::Opaque(opaque) => Some(leaf::opaque(opaque, label)),
            Shape::Record(_) | Shape::Choice(_) => {
                let composite = self.composite(at, hint, shape, owned)?;
                Some(composite.code(self.depth(at), label))
            }
            Shape::Option(inner) => {
                let code = self.shape(at, hint, label, inner, owned, span)?;
                Some(option(&code, Width::of_shape(inner), label))
            }
            Shape::List { item, counts, framing } => {
                if owned {
                    return self.cannot_own(span);
                }
                self.list(at, hint, label, item, counts, framing, span)
            }
            Shape::Framed { frame: Frame::Len(width), inner } => {
                self.len_prefixed(at, hint, label, *width, inner, owned, span)
            }
            Shape::Framed { frame, inner } => self.escaped(at, hint, label, *frame, inner, owned, span),
            Shape::Desc(inner) => self.desc(at, hint, label, inner, span),
            Shape::Hashed { hash, keep, inner, known } => {
                self.hashed(at, hint, label, *hash, *keep, inner, known, span)
            }
            Shape::HashConcat { hash, keep, inner } => {
                let inner = self.shape(at, hint, label, inner, owned, span)?;
                Some(hash_concat(*hash, *keep, &inner, label))
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a list and where it is")]
    fn list(
        &mut self,
        at: usize,
        hint: &str,
        label: &str,
        item: &Shape,
        counts: &LengthSet,
        framing: &Framing,
        span: Span,
    ) -> Option<Code> {
        let separator: &[u8] = if let Framing::Joined(separator) = framing { separator } else { &[] };
        let width = Width::of_shape(item);
        let code = self.shape(at, &format!("{hint}Item"), label, item, false, span)?;
        let extent = match Extent::of_item(item, framing) {
            Extent::Fixed(0) => None,
            Extent::Fixed(width) => Some(quote!({ let _ = rest; ::core::result::Result::Ok(#width) })),
            Extent::Delimited => code.extent.clone(),
            Extent::Open if row::ends_at(item, separator) && width.min > 0 => {
                let first = separator.first().copied().unwrap_or_default();
                Some(quote! {
                    ::core::result::Result::Ok(
                        rest.iter().position(|byte| *byte == #first).unwrap_or(rest.len()),
                    )
                })
            }
            Extent::Open => None,
        };
        let Some(extent) = extent else {
            return self.unsupported(
                span,
                "nothing tells where an element of the list ends",
                "join the elements with a byte that none contains, or put their length before them",
            );
        };
        let name = self.fresh(at, &format!("{hint}List"));
        let ident = names::ty(&name);
        let Code { ty, put, decode, show, .. } = &code;
        let (counts, separator) = (leaf::lengths(counts), Literal::byte_string(separator));
        let counted = match framing {
            Framing::Counted(width) => {
                let width = len_width(*width);
                quote!(::core::option::Option::Some(#width))
            }
            Framing::ToEnd | Framing::Joined(_) => quote!(::core::option::Option::None),
        };
        let again = code.readings.as_ref().map(|readings| {
            quote! {
                fn again(piece: &[u8], base: usize) -> ::core::result::Result<(), ::keyplan::typed::SegmentError> {
                    let reading = 1usize;
                    (#readings).map(|_| ())
                }
            }
        });
        let doc = docs::lines(&[format!("How the elements of `{label}` are written.")]);
        self.emit(
            at,
            quote! {
                #doc
                #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
                pub struct #ident;

                impl ::keyplan::typed::ListLayout for #ident {
                    type Item<'k> = #ty;
                    const LABEL: &'static str = #label;
                    const COUNTS: ::keyplan::codec::Lengths<'static> = #counts;
                    const COUNTED: ::core::option::Option<::keyplan::codec::LenWidth> = #counted;
                    const SEPARATOR: &'static [u8] = #separator;

                    fn put<S: ::keyplan::codec::Sink + ?Sized>(
                        value: &Self::Item<'_>,
                        out: &mut S,
                    ) -> ::core::result::Result<(), ::keyplan::typed::SegmentError> {
                        #put
                    }

                    fn extent(rest: &[u8]) -> ::core::result::Result<usize, ::keyplan::codec::DecodeError> {
                        #extent
                    }

                    fn show(
                        value: &Self::Item<'_>,
                        f: &mut ::core::fmt::Formatter<'_>,
                    ) -> ::core::fmt::Result {
                        #show
                    }

                    fn decode<'k>(
                        piece: &'k [u8],
                        base: usize,
                    ) -> ::core::result::Result<Self::Item<'k>, ::keyplan::typed::SegmentError> {
                        #decode
                    }

                    #again
                }
            },
        );
        let readings = again.map(|_| quote!(::keyplan::typed::List::<#ident>::reading(piece, base, reading)));
        let counted = matches!(framing, Framing::Counted(_));
        Some(Code {
            borrows: true,
            eq: code.eq,
            lossy: code.lossy,
            readings,
            extent: counted.then(|| quote!(::keyplan::typed::List::<#ident>::extent(rest))),
            ..Code::leaf(
                quote!(::keyplan::typed::List<'k, #ident>),
                quote!(value.put(out)),
                quote!(::keyplan::typed::List::<#ident>::decode(piece, base)),
            )
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a frame and where it is")]
    fn len_prefixed(
        &mut self,
        at: usize,
        hint: &str,
        label: &str,
        width: LenWidth,
        inner: &Shape,
        owned: bool,
        span: Span,
    ) -> Option<Code> {
        let code = self.shape(at, hint, label, inner, owned, span)?;
        let codec = leaf::frame_codec(Frame::Len(width));
        let (put, decode, read) = (&code.put, &code.decode, &code.read);
        let put = match inner {
            // One copy, straight from the argument.
            Shape::Bytes { lengths, encoding: BytesEncoding::Raw } if code.borrows => {
                let lengths = leaf::lengths(lengths);
                let put = quote! {
                    ::keyplan::typed::admitted(&const { #lengths }, value)
                        .and_then(|value| ::keyplan::codec::Segment::encode(&#codec, value, out))
                };
                put_leaf(label, &put)
            }
            _ => quote!(#codec.wrap(out, |out| #put).map_err(|error| error.within(#label))),
        };
        let content = quote!(::keyplan::codec::Segment::decode(&#codec, piece));
        let bytes = decode_leaf(label, &content);
        let within = |decode: &TokenStream| {
            quote!(match #bytes {
                ::core::result::Result::Ok(content) => {
                    let base = base + (piece.len() - content.len());
                    let piece = content;
                    #decode
                }
                ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
            })
        };
        Some(Code {
            put,
            decode: within(decode),
            readings: code.readings.as_ref().map(within),
            read: quote!(match #content {
                ::core::result::Result::Ok(piece) => #read,
                ::core::result::Result::Err(_) => ::core::option::Option::None,
            }),
            extent: Some(leaf::extent(&codec)),
            longest: quote!(rest.len()),
            order: Order::Unknown,
            array: None,
            bound: None,
            ..code
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a frame and where it is")]
    fn escaped(
        &mut self,
        at: usize,
        hint: &str,
        label: &str,
        frame: Frame,
        inner: &Shape,
        owned: bool,
        span: Span,
    ) -> Option<Code> {
        let codec = leaf::frame_codec(frame);
        let view = quote!(::keyplan::codec::Segment::decode(&#codec, piece));
        let wrap =
            |put: &TokenStream| quote!(#codec.wrap(out, |out| #put).map_err(|error| error.within(#label)));
        let extent = Some(leaf::extent(&codec));
        let order = if frame.sorts_before_anything() { Order::Anywhere } else { Order::Unknown };
        match inner {
            Shape::Bytes { lengths, encoding: BytesEncoding::Raw } if unbounded(lengths) => {
                if owned {
                    return self.cannot_own(span);
                }
                let lengths = leaf::lengths(lengths);
                let put = wrap(&put_leaf(label, &quote!(value.put_raw(&const { #lengths }, out))));
                let read = quote!(::keyplan::typed::CodedBytes::escaped(#view, &const { #lengths }));
                Some(Code {
                    borrows: true,
                    extent,
                    order,
                    ..Code::leaf(quote!(::keyplan::typed::CodedBytes<'k>), put, decode_leaf(label, &read))
                })
            }
            Shape::Text(text) if !text.tuple && unbounded(&text.lengths) => {
                if !text.except.is_empty() {
                    return self.left_out(span);
                }
                let codec = leaf::text_codec(text);
                let code = self.escaped_text(&codec, None, &view, label, owned, span)?;
                let put = wrap(&put_leaf(label, &quote!(value.put_raw(&#codec, out))));
                Some(Code { order, put, extent, ..code })
            }
            _ => {
                let Some(most) = Width::of_shape(inner).max.filter(|most| *most <= IN_PLACE) else {
                    return self.cannot_own(span);
                };
                let code = self.shape(at, hint, label, inner, true, span)?;
                let content = quote! {
                    ::keyplan::typed::short_bytes::<#most, _>(#view, &::keyplan::codec::Lengths::ANY)
                };
                let order = if code.order == Order::Unknown { Order::Unknown } else { order };
                let put = wrap(&code.put);
                Some(Code { order, put, extent, ..through_copy(code, &content, label) })
            }
        }
    }

    fn desc(&mut self, at: usize, hint: &str, label: &str, inner: &Shape, span: Span) -> Option<Code> {
        let Some(most) = Width::of_shape(inner).max.filter(|most| *most <= IN_PLACE) else {
            return self.cannot_own(span);
        };
        let code = self.shape(at, hint, label, inner, true, span)?;
        let content = quote!(::keyplan::typed::uncomplement::<#most>(piece));
        let put = &code.put;
        let put = quote!({
            let start = ::keyplan::codec::Sink::len(out);
            (#put).map(|()| ::keyplan::codec::complement(::keyplan::codec::Sink::tail_mut(out, start)))
        });
        let extent = code.extent.as_ref().map(|extent| {
            quote! {
                ::keyplan::typed::uncomplemented_extent::<#most>(rest, |rest| #extent)
            }
        });
        Some(Code { put, extent, order: Order::Unknown, ..through_copy(code, &content, label) })
    }
}

fn unbounded(lengths: &LengthSet) -> bool {
    lengths.max().is_none_or(|most| most > IN_PLACE)
}

/// A code whose bytes are decoded from a copy that `content` makes of `piece`.
fn through_copy(code: Code, content: &TokenStream, label: &str) -> Code {
    let (decode, read) = (&code.decode, &code.read);
    let bytes = decode_leaf(label, content);
    let within = |decode: &TokenStream| {
        quote!(match #bytes {
            ::core::result::Result::Ok(content) => {
                let piece = content.as_slice();
                #decode
            }
            ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
        })
    };
    Code {
        decode: within(decode),
        readings: code.readings.as_ref().map(within),
        read: quote!(match #content {
            ::core::result::Result::Ok(content) => {
                let piece = content.as_slice();
                #read
            }
            ::core::result::Result::Err(_) => ::core::option::Option::None,
        }),
        longest: quote!(rest.len()),
        array: None,
        bound: None,
        ..code
    }
}

fn option(inner: &Code, width: Width, label: &str) -> Code {
    let (min, max) = (width.min, width.max.map_or(quote!(usize::MAX), |max| quote!(#max)));
    let Code { ty, put, decode, read, show, .. } = inner;
    let present = |decode: &TokenStream| {
        quote!(if piece.len() < #min || piece.len() > #max {
            ::core::result::Result::Err(::keyplan::typed::SegmentError::length(#label, base, piece.len()))
        } else {
            (#decode).map(::core::option::Option::Some)
        })
    };
    // Nothing is read first as absent, and then as what may be present and empty.
    let one = quote!(if reading == 0 { #decode } else {
        ::core::result::Result::Err(::keyplan::typed::SegmentError::passed_over())
    });
    let some = present(inner.readings.as_ref().unwrap_or(&one));
    let readings = (inner.readings.is_some() || width.min == 0).then(|| {
        quote!(match (piece.is_empty(), reading) {
            (true, 0) => ::core::result::Result::Ok(::core::option::Option::None),
            (empty, reading) => {
                let reading = reading - usize::from(empty);
                #some
            }
        })
    });
    let absent_or = present(decode);
    Code {
        ty: quote!(::core::option::Option<#ty>),
        readings,
        put: quote!(match value {
            ::core::option::Option::Some(value) => #put,
            ::core::option::Option::None => ::core::result::Result::Ok(()),
        }),
        decode: quote!(if piece.is_empty() {
            ::core::result::Result::Ok(::core::option::Option::None)
        } else {
            #absent_or
        }),
        read: quote!(if piece.is_empty() {
            ::core::option::Option::Some(::core::option::Option::None)
        } else {
            (#read).map(::core::option::Option::Some)
        }),
        show: quote!(match value {
            ::core::option::Option::Some(value) => #show,
            ::core::option::Option::None => f.write_str("none"),
        }),
        extent: None,
        longest: quote!(rest.len()),
        order: if inner.order == Order::Unknown { Order::Unknown } else { Order::Last },
        array: None,
        bound: None,
        ..inner.clone()
    }
}

fn hash_concat(hash: Hash, keep: usize, inner: &Code, label: &str) -> Code {
    let function = hash_function(hash);
    let codec = quote!(::keyplan::codec::HashConcat { hash: #function, keep: #keep });
    let Code { put, decode, read, extent, .. } = inner;
    let content = quote!(::keyplan::codec::Segment::decode(&#codec, piece));
    let bytes = decode_leaf(label, &content);
    let within = |decode: &TokenStream| {
        quote!(match #bytes {
            ::core::result::Result::Ok(content) => {
                let base = base + #keep;
                let piece = content;
                #decode
            }
            ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
        })
    };
    Code {
        put: quote!(#codec.wrap(out, |out| #put).map_err(|error| error.within(#label))),
        decode: within(decode),
        readings: inner.readings.as_ref().map(within),
        read: quote!(match #content {
            ::core::result::Result::Ok(piece) => #read,
            ::core::result::Result::Err(_) => ::core::option::Option::None,
        }),
        extent: extent.as_ref().map(|extent| {
            quote!(match rest.get(#keep..) {
                ::core::option::Option::Some(rest) => {
                    (#extent).map(|width| width + #keep).map_err(|error| error.behind(#keep))
                }
                ::core::option::Option::None => {
                    ::core::result::Result::Err(::keyplan::typed::too_short(rest.len(), #keep))
                }
            })
        }),
        longest: quote!(rest.len()),
        order: Order::Unknown,
        array: None,
        bound: None,
        ..inner.clone()
    }
}

pub(crate) fn hash_function(hash: Hash) -> TokenStream {
    let name = format_ident!("{hash:?}");
    quote!(::keyplan::codec::Hash::#name)
}

pub(crate) fn len_width(width: LenWidth) -> TokenStream {
    let name = format_ident!("{width:?}");
    quote!(::keyplan::codec::LenWidth::#name)
}
