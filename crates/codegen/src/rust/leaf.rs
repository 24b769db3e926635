//! Single values: the codec of each, and the type that holds it.

use keyplan_codec::{Alphabet, Case, Heights};
use keyplan_plan::diag::Span;
use keyplan_plan::model::{
    BoolEncoding, BytesCodec, BytesEncoding, ExtentRule, FloatEncoding, Frame, IntEncoding, IntRange,
    IntShape, IntType, LengthSet, NibbleEncoding, Opaque, OrderRule, ScoreEncoding, TextShape, TimeEncoding,
    ValueCodec,
};
use proc_macro2::{Group, Literal, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};

use crate::rust::Expander;
use crate::rust::code::{Code, Order};
use crate::rust::shape::len_width;

/// The longest argument that is held in place rather than borrowed.
pub(crate) const IN_PLACE: usize = 1024;

/// What a label adds to the errors of a codec: encoding.
pub(crate) fn put_leaf(label: &str, result: &TokenStream) -> TokenStream {
    quote!(::keyplan::typed::encoded(#label, #result))
}

/// What a label adds to the errors of a codec: decoding.
pub(crate) fn decode_leaf(label: &str, result: &TokenStream) -> TokenStream {
    quote!(::keyplan::typed::decoded(#label, base, #result))
}

fn encode(codec: &TokenStream, arg: &TokenStream) -> TokenStream {
    quote!(::keyplan::codec::Segment::encode(&#codec, #arg, out))
}

fn decode(codec: &TokenStream) -> TokenStream {
    quote!(::keyplan::codec::Segment::decode(&#codec, piece))
}

pub(crate) fn extent(codec: &TokenStream) -> TokenStream {
    quote!(::keyplan::codec::Delimited::extent(&#codec, rest))
}

/// Lengths as the codecs take them.
pub(crate) fn lengths(lengths: &LengthSet) -> TokenStream {
    match lengths {
        LengthSet::Range { min, max: usize::MAX } => {
            let min = Literal::usize_unsuffixed(*min);
            quote!(::keyplan::codec::Lengths::Range { min: #min, max: usize::MAX })
        }
        LengthSet::Range { min, max } => {
            let (min, max) = (Literal::usize_unsuffixed(*min), Literal::usize_unsuffixed(*max));
            quote!(::keyplan::codec::Lengths::Range { min: #min, max: #max })
        }
        LengthSet::OneOf(lengths) => {
            let lengths = lengths.iter().map(|length| Literal::usize_unsuffixed(*length));
            quote!(::keyplan::codec::Lengths::OneOf(&[#(#lengths),*]))
        }
    }
}

pub(crate) fn case(case: Case) -> TokenStream {
    match case {
        Case::Lower => quote!(::keyplan::codec::Case::Lower),
        Case::Upper => quote!(::keyplan::codec::Case::Upper),
    }
}

/// An alphabet, as a constant.
fn alphabet(alphabet: &Alphabet) -> TokenStream {
    if *alphabet == Alphabet::UTF8 {
        return quote!(::keyplan::codec::Alphabet::UTF8);
    }
    let bits = alphabet.bits();
    quote!(::keyplan::codec::Alphabet::from_bits([#(#bits),*]))
}

/// The codec of a text, as a constant.
pub(crate) fn text_codec(text: &TextShape) -> TokenStream {
    let first = if let Some(first) = &text.first {
        let first = alphabet(first);
        quote!(::core::option::Option::Some(&#first))
    } else {
        quote!(::core::option::Option::None)
    };
    let (alphabet, lengths) = (alphabet(&text.alphabet), lengths(&text.lengths));
    let except = Literal::byte_string(text.except.packed());
    quote!(const {
        ::keyplan::codec::Text { alphabet: &#alphabet, first: #first, lengths: #lengths, except: #except }
    })
}

fn integer(value: i128) -> TokenStream {
    let magnitude = Literal::u128_unsuffixed(value.unsigned_abs());
    if value < 0 { quote!(-#magnitude) } else { quote!(#magnitude) }
}

pub(crate) fn int(shape: &IntShape, label: &str) -> Code {
    let ty = int_type(shape.ty);
    let codec = int_codec(shape);
    let range = match shape.range {
        // A built-in type holds more than a narrow one.
        _ if shape.range == shape.ty.range() && !shape.ty.is_narrow() => None,
        range => Some(ends(range)),
    };
    let (put, read) = match &range {
        None => (encode(&codec, &quote!(*value)), decode(&codec)),
        Some((min, max)) => {
            let (put, read) = (encode(&codec, &quote!(value)), decode(&codec));
            (
                quote!(::keyplan::typed::inside(*value, #min, #max).and_then(|value| #put)),
                quote!(::keyplan::typed::in_range(#read, #min, #max)),
            )
        }
    };
    let bytes = match shape.encoding {
        _ if shape.ty.is_narrow() => None,
        IntEncoding::Be => Some(quote!(::keyplan::codec::Int::be_array(*value))),
        IntEncoding::Le => Some(quote!(::keyplan::codec::Int::le_array(*value))),
        IntEncoding::SignFlip => {
            Some(quote!(::keyplan::codec::Int::be_array(::keyplan::codec::Signed::flip_sign_bit(*value))))
        }
        IntEncoding::Tick9 => Some(quote!(::keyplan::codec::Tick9::array(*value))),
        _ => None,
    };
    let ordered = match shape.encoding {
        IntEncoding::Be => !shape.ty.signed,
        IntEncoding::SignFlip
        | IntEncoding::Tick9
        | IntEncoding::OrderedCode
        | IntEncoding::DecPadded(_)
        | IntEncoding::HexPadded(..) => true,
        _ => false,
    };
    let bound = bytes.as_ref().filter(|_| ordered).map(|bytes| quote!({ let value = &next; #bytes }));
    let hex = matches!(shape.encoding, IntEncoding::Hex(_));
    let signed = shape.ty.signed;
    Code {
        order: if ordered { Order::Anywhere } else { Order::Unknown },
        array: bytes.filter(|_| range.is_none()),
        bound,
        extent: Some(extent(&codec)),
        longest: quote!(::keyplan::typed::longest_number(#signed, #hex, rest)),
        lossy: shape.encoding.row().loses,
        ..Code::leaf(quote!(#ty), put_leaf(label, &put), decode_leaf(label, &read))
    }
}

/// The ends of a range.
fn ends(range: IntRange) -> (TokenStream, TokenStream) {
    match range {
        IntRange::Unsigned { min, max } => {
            let (min, max) = (Literal::u128_unsuffixed(min), Literal::u128_unsuffixed(max));
            (quote!(#min), quote!(#max))
        }
        IntRange::Signed { min, max } => (integer(min), integer(max)),
    }
}

/// The built-in type that holds an integer.
fn int_type(ty: IntType) -> proc_macro2::Ident {
    format_ident!("{}{}", if ty.signed { 'i' } else { 'u' }, ty.native_bits())
}

/// The codec of an integer: what the table of encodings writes, with the type and the numbers of the shape put in.
pub(crate) fn int_codec(shape: &IntShape) -> TokenStream {
    match shape.encoding {
        IntEncoding::CompactSize => quote!(::keyplan::codec::CompactSize),
        IntEncoding::Tick9 => quote!(::keyplan::codec::Tick9),
        encoding => {
            let written = shape.codec().and_then(|codec| codec.parse().ok()).unwrap_or_else(|| {
                let fault = format!("there is no codec for `{}` of this type", encoding.row().example());
                quote!(::core::compile_error!(#fault))
            });
            let named = |name: &str| int_part(shape, name);
            filled(written, &named)
        }
    }
}

/// What is known of an integer by the name that the table has for it.
fn int_part(shape: &IntShape, name: &str) -> Option<TokenStream> {
    let (first, last) = ends(shape.range);
    match name {
        "Int" => Some(int_type(shape.ty).into_token_stream()),
        "all" => Some(shape.ty.bytes().into_token_stream()),
        "first" => Some(first),
        "last" => Some(last),
        "kept" => shape.encoding.number().map(ToTokens::into_token_stream),
        "case" => match shape.encoding {
            IntEncoding::Hex(digits) | IntEncoding::HexPadded(digits, _) => Some(case(digits)),
            _ => None,
        },
        _ => None,
    }
}

/// The codec that the table has for a value which is not an integer, with the number in brackets in place of its name.
fn scalar_codec(written: &str, number: Option<usize>) -> TokenStream {
    let named = |name: &str| {
        let kept = number.filter(|_| name == "kept").map(Literal::usize_unsuffixed);
        kept.map(ToTokens::into_token_stream)
    };
    filled(written.parse().unwrap_or_default(), &named)
}

/// The tokens of a codec with what is known of the shape in place of the names that the table has for it.
fn filled(tokens: TokenStream, named: &dyn Fn(&str) -> Option<TokenStream>) -> TokenStream {
    let of = |name: &str| match name {
        "keyplan_codec" => Some(quote!(::keyplan::codec)),
        name => named(name),
    };
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Ident(ident) => of(&ident.to_string()).unwrap_or_else(|| ident.into_token_stream()),
            TokenTree::Group(group) => {
                Group::new(group.delimiter(), filled(group.stream(), named)).into_token_stream()
            }
            token => token.into_token_stream(),
        })
        .collect()
}

/// A value of a `Copy` type with a codec that takes it as it is.
fn scalar(ty: TokenStream, codec: &TokenStream, label: &str) -> Code {
    let (put, read) = (encode(codec, &quote!(*value)), decode(codec));
    Code::leaf(ty, put_leaf(label, &put), decode_leaf(label, &read))
}

pub(crate) fn bool(encoding: BoolEncoding, label: &str) -> Code {
    let codec = scalar_codec(encoding.codec(), None);
    Code { order: Order::Anywhere, ..scalar(quote!(bool), &codec, label) }
}

pub(crate) fn float(encoding: FloatEncoding, label: &str) -> Code {
    let codec = scalar_codec(encoding.codec(), encoding.number());
    let lossy = encoding.row().loses;
    Code { eq: false, lossy, ..scalar(quote!(f64), &codec, label) }
}

pub(crate) fn time(encoding: TimeEncoding, label: &str) -> Code {
    let codec = scalar_codec(encoding.codec(), None);
    Code { order: Order::Anywhere, ..scalar(quote!(i128), &codec, label) }
}

pub(crate) fn score(heights: Option<Heights>, encoding: ScoreEncoding, label: &str) -> Code {
    let [any, within] = encoding.codecs().map(|name| format_ident!("{name}"));
    let codec = match heights {
        None => quote!(::keyplan::codec::#any),
        Some(Heights { least, most }) => quote!(::keyplan::codec::#within {
            heights: ::keyplan::codec::Heights { least: #least, most: #most }
        }),
    };
    let lossy = encoding.row().loses;
    if !encoding.is_float() {
        let show = quote!(::core::fmt::Debug::fmt(value, f));
        return Code { show, lossy, ..scalar(quote!(::keyplan::codec::Score), &codec, label) };
    }
    let put = quote!(#codec.encode_float(value.0, out));
    let read = decode(&codec);
    let read = quote!(#read.map(::keyplan::typed::FloatScore));
    Code {
        lossy,
        ..Code::leaf(quote!(::keyplan::typed::FloatScore), put_leaf(label, &put), decode_leaf(label, &read))
    }
}

/// The type that holds the bytes of a value in a codec which the plan only names.
pub(crate) fn opaque_type(opaque: &Opaque) -> TokenStream {
    match opaque {
        Opaque::Cbor => quote!(Cbor),
        Opaque::Json => quote!(Json),
        Opaque::Proto(_) => quote!(Proto),
        Opaque::Rlp => quote!(Rlp),
        Opaque::Coded(coded) => match coded.codec {
            ValueCodec::Scale => quote!(Scale),
            ValueCodec::Bcs => quote!(Bcs),
            ValueCodec::Borsh => quote!(Borsh),
            ValueCodec::Bincode => quote!(Bincode),
            ValueCodec::Cbor => quote!(Cbor),
        },
        Opaque::Raw => quote!(Raw),
    }
}

pub(crate) fn opaque(opaque: &Opaque, label: &str) -> Code {
    let name = opaque_type(opaque);
    let put = put_leaf(label, &quote!(::keyplan::codec::Sink::put(out, value.0)));
    let read = quote! {
        ::core::result::Result::<_, ::keyplan::typed::SegmentError>::Ok(::keyplan::typed::#name(piece))
    };
    Code { borrows: true, ..Code::leaf(quote!(::keyplan::typed::#name<'k>), put, read) }
}

/// The codec of a byte string: what the table of encodings writes, with what is known of the shape put in.
fn bytes_codec(encoding: &BytesEncoding, lengths: &TokenStream) -> (BytesCodec, TokenStream) {
    let (kind, written) = encoding.codec();
    let named = |name: &str| match (name, encoding) {
        ("lengths", _) => Some(quote!(lengths: #lengths)),
        ("class", BytesEncoding::Class(class)) => {
            let class = alphabet(class);
            Some(quote!(class: #class))
        }
        ("case", BytesEncoding::Hex(digits)) => {
            let digits = case(*digits);
            Some(quote!(case: #digits))
        }
        ("hrp", encoding) => encoding.text().map(|hrp| quote!(hrp: #hrp)),
        ("check", BytesEncoding::Base58 { check }) => Some(quote!(check: #check)),
        ("form", BytesEncoding::Wide { form, .. }) => {
            let form = format_ident!("{form:?}");
            Some(quote!(form: ::keyplan::codec::WideForm::#form))
        }
        ("width", encoding) => encoding.number().map(|width| quote!(width: #width)),
        _ => None,
    };
    let codec = filled(written.parse().unwrap_or_default(), &named);
    let holds_lengths = matches!(kind, BytesCodec::Plain | BytesCodec::Coded);
    (kind, if holds_lengths { quote!(const { #codec }) } else { codec })
}

/// The codec of a frame, as the table writes it.
pub(crate) fn frame_codec(frame: Frame) -> TokenStream {
    let named = |name: &str| match (name, frame) {
        ("width", Frame::Len(width)) => {
            let width = len_width(width);
            Some(quote!(width: #width))
        }
        _ => None,
    };
    filled(frame.codec().parse().unwrap_or_default(), &named)
}

/// Where byte strings sort as they do in a plan.
fn bytes_order(of: &LengthSet, encoding: &BytesEncoding) -> Order {
    // In Rust a signed one is an array in two's complement, which does not compare as the number does.
    if matches!(encoding, BytesEncoding::Wide { signed: true, .. }) {
        return Order::Unknown;
    }
    match encoding.row().order {
        OrderRule::Kept => Order::Anywhere,
        OrderRule::Lengths if of.fixed().is_some() => Order::Anywhere,
        OrderRule::Lengths => Order::Last,
        _ => Order::Unknown,
    }
}

/// How hex text of any length is put and read, without a copy.
fn hex_view(
    encoding: &BytesEncoding,
    codec: &TokenStream,
    lengths: &TokenStream,
) -> Option<(TokenStream, TokenStream)> {
    let BytesEncoding::Hex(digits) = encoding else { return None };
    let (digits, read) = (case(*digits), decode(codec));
    Some((quote!(value.put_hex(#digits, &#lengths, out)), quote!(::keyplan::typed::CodedBytes::hex(#read))))
}

/// How a number of 256 bits is shown.
fn wide_show(encoding: &BytesEncoding) -> Option<TokenStream> {
    let BytesEncoding::Wide { signed, .. } = encoding else { return None };
    Some(quote!(::core::fmt::Display::fmt(
        &::keyplan::codec::WideNumber { bytes: value.as_slice(), signed: #signed },
        f
    )))
}

/// What holds bytes or text that has to be copied out of a key.
enum Held {
    Array(usize),
    Short(usize),
    Coded,
}

fn held(lengths: &LengthSet, most: Option<usize>) -> Held {
    match (lengths.fixed(), most.or(lengths.max())) {
        (Some(length), _) if length <= IN_PLACE => Held::Array(length),
        (_, Some(most)) if most <= IN_PLACE => Held::Short(most),
        _ => Held::Coded,
    }
}

fn show_bytes() -> TokenStream {
    quote!(::core::fmt::Display::fmt(&::keyplan::typed::Shown::bytes(value.as_slice()), f))
}

impl Expander<'_> {
    pub(crate) fn bytes(
        &mut self,
        of: &LengthSet,
        encoding: &BytesEncoding,
        label: &str,
        owned: bool,
        span: Span,
    ) -> Option<Code> {
        let lengths = lengths(of);
        let (kind, codec) = bytes_codec(encoding, &lengths);
        let order = bytes_order(of, encoding);
        match kind {
            BytesCodec::Plain => {
                self.raw_bytes(of, &codec, *encoding == BytesEncoding::Raw, label, owned, span)
            }
            BytesCodec::Coded => {
                let longest = quote!(::keyplan::codec::Open::longest(&#codec, rest));
                let most = encoding.most().map(|most| of.max().map_or(most, |max| max.min(most)));
                let view = hex_view(encoding, &codec, &lengths);
                let code = self.copied(of, most, &codec, &lengths, view, label, owned, span)?;
                Some(Code { order, longest, ..code })
            }
            BytesCodec::Wide => {
                let code = self.copied(of, None, &codec, &lengths, None, label, owned, span)?;
                let show = wide_show(encoding).unwrap_or_else(|| code.show.clone());
                Some(Code { order, show, ..code })
            }
            BytesCodec::Cut => {
                if owned {
                    return self.cannot_own(span);
                }
                let put = encode(&codec, &quote!(value));
                let put =
                    quote!(::keyplan::typed::admitted(&const { #lengths }, value).and_then(|value| #put));
                let read = decode(&codec);
                Some(Code {
                    borrows: true,
                    lossy: true,
                    show: quote!(::core::fmt::Display::fmt(&::keyplan::typed::Shown::bytes(value), f)),
                    ..Code::leaf(quote!(&'k [u8]), put_leaf(label, &put), decode_leaf(label, &read))
                })
            }
            BytesCodec::Marked => {
                let read = decode(&codec);
                let view = (
                    quote!(value.put_tuple(&const { #lengths }, out)),
                    quote!(::keyplan::typed::CodedBytes::escaped(#read, &const { #lengths })),
                );
                let code = self.copied(of, None, &codec, &lengths, Some(view), label, owned, span)?;
                // The codec itself knows no lengths.
                let put = if let Held::Coded = held(of, None) {
                    code.put
                } else {
                    let whole = quote!(::keyplan::typed::CodedBytes::from(value.as_slice()));
                    put_leaf(label, &quote!(#whole.put_tuple(&const { #lengths }, out)))
                };
                Some(Code { extent: Some(extent(&codec)), put, ..code })
            }
        }
    }

    /// Bytes that are in a key as they are: `any` of them, or those that the codec takes.
    fn raw_bytes(
        &mut self,
        of: &LengthSet,
        codec: &TokenStream,
        any: bool,
        label: &str,
        owned: bool,
        span: Span,
    ) -> Option<Code> {
        if let Some(length) = of.fixed().filter(|length| *length <= IN_PLACE) {
            let put = encode(codec, &quote!(value.as_slice()));
            let read = if any {
                quote!(::keyplan::typed::exact::<#length>(piece))
            } else {
                let read = decode(codec);
                quote!(#read.and_then(|piece| ::keyplan::typed::exact::<#length>(piece)))
            };
            return Some(Code {
                order: Order::Anywhere,
                // What may be refused is not copied unseen.
                array: any.then(|| quote!(*value)),
                bound: any.then(|| quote!(next)),
                show: show_bytes(),
                ..Code::leaf(quote!([u8; #length]), put_leaf(label, &put), decode_leaf(label, &read))
            });
        }
        let longest = quote!(::keyplan::codec::Open::longest(&#codec, rest));
        let order = Order::Last;
        if owned {
            let Held::Short(most) = held(of, None) else { return self.cannot_own(span) };
            let put = encode(codec, &quote!(value.as_slice()));
            let read = decode(codec);
            let read = quote!(#read.and_then(::keyplan::typed::kept::<#most>));
            return Some(Code {
                longest,
                order,
                show: show_bytes(),
                ..Code::leaf(
                    quote!(::keyplan::typed::ShortBytes<#most>),
                    put_leaf(label, &put),
                    decode_leaf(label, &read),
                )
            });
        }
        let (put, read) = (encode(codec, &quote!(value)), decode(codec));
        Some(Code {
            borrows: true,
            longest,
            order,
            bound: any.then(|| quote!(next)),
            show: quote!(::core::fmt::Display::fmt(&::keyplan::typed::Shown::bytes(value), f)),
            ..Code::leaf(quote!(&'k [u8]), put_leaf(label, &put), decode_leaf(label, &read))
        })
    }

    /// Bytes that are not in a key as they are, with a codec that gives a view of them.
    #[expect(clippy::too_many_arguments, reason = "what the encodings of bytes differ in")]
    fn copied(
        &mut self,
        of: &LengthSet,
        most: Option<usize>,
        codec: &TokenStream,
        lengths: &TokenStream,
        view: Option<(TokenStream, TokenStream)>,
        label: &str,
        owned: bool,
        span: Span,
    ) -> Option<Code> {
        let read = decode(codec);
        let put = encode(codec, &quote!(value.as_slice()));
        match held(of, most) {
            Held::Array(length) => {
                let read = quote!(::keyplan::typed::array::<#length, _>(#read));
                Some(Code {
                    show: show_bytes(),
                    ..Code::leaf(quote!([u8; #length]), put_leaf(label, &put), decode_leaf(label, &read))
                })
            }
            Held::Short(most) => {
                let read = quote!(::keyplan::typed::short_bytes::<#most, _>(#read, &const { #lengths }));
                Some(Code {
                    show: show_bytes(),
                    ..Code::leaf(
                        quote!(::keyplan::typed::ShortBytes<#most>),
                        put_leaf(label, &put),
                        decode_leaf(label, &read),
                    )
                })
            }
            Held::Coded => match view {
                Some((put, read)) if !owned => Some(Code {
                    borrows: true,
                    ..Code::leaf(
                        quote!(::keyplan::typed::CodedBytes<'k>),
                        put_leaf(label, &put),
                        decode_leaf(label, &read),
                    )
                }),
                _ => self.cannot_own(span),
            },
        }
    }

    pub(crate) fn text(&mut self, shape: &TextShape, label: &str, owned: bool, span: Span) -> Option<Code> {
        let codec = text_codec(shape);
        let most = shape.lengths.max().filter(|most| *most <= IN_PLACE);
        if shape.tuple && most.is_none() && !shape.except.is_empty() {
            return self.left_out(span);
        }
        if shape.tuple {
            let view = quote!(::keyplan::codec::Segment::decode(&::keyplan::codec::TupleText, piece));
            let view = quote!(#view.map(|text| text.contents()));
            let code = self.escaped_text(&codec, most, &view, label, owned, span)?;
            let put = if most.is_some() {
                quote!(::keyplan::typed::CodedText::from(value.as_str()).put_tuple(&#codec, out))
            } else {
                quote!(value.put_tuple(&#codec, out))
            };
            let extent = extent(&quote!(::keyplan::codec::TupleText));
            return Some(Code { put: put_leaf(label, &put), extent: Some(extent), ..code });
        }
        let longest = quote!(::keyplan::codec::Open::longest(&#codec, rest));
        if owned {
            let Some(most) = most else { return self.cannot_own(span) };
            let put = encode(&codec, &quote!(value.as_str()));
            let read = quote!(::keyplan::typed::short_text::<#most>(piece, &#codec));
            return Some(Code {
                longest,
                order: Order::Last,
                show: quote!(::core::fmt::Display::fmt(&::keyplan::typed::Shown::text(value.as_str()), f)),
                ..Code::leaf(
                    quote!(::keyplan::typed::ShortText<#most>),
                    put_leaf(label, &put),
                    decode_leaf(label, &read),
                )
            });
        }
        let (put, read) = (encode(&codec, &quote!(value)), decode(&codec));
        Some(Code {
            borrows: true,
            longest,
            order: Order::Last,
            bound: Some(quote!(next.as_bytes())),
            show: quote!(::core::fmt::Display::fmt(&::keyplan::typed::Shown::text(value), f)),
            ..Code::leaf(quote!(&'k str), put_leaf(label, &put), decode_leaf(label, &read))
        })
    }

    /// Text that is in a key escaped, of which `view` is the contents; how it is put is left open.
    pub(crate) fn escaped_text(
        &mut self,
        codec: &TokenStream,
        most: Option<usize>,
        view: &TokenStream,
        label: &str,
        owned: bool,
        span: Span,
    ) -> Option<Code> {
        if let Some(most) = most {
            let read = quote!(::keyplan::typed::unescaped_text::<#most>(#view, &#codec));
            return Some(Code {
                show: quote!(::core::fmt::Display::fmt(&::keyplan::typed::Shown::text(value.as_str()), f)),
                ..Code::leaf(
                    quote!(::keyplan::typed::ShortText<#most>),
                    TokenStream::new(),
                    decode_leaf(label, &read),
                )
            });
        }
        if owned {
            return self.cannot_own(span);
        }
        let read = quote!(::keyplan::typed::CodedText::escaped(#view, &#codec));
        Some(Code {
            borrows: true,
            ..Code::leaf(
                quote!(::keyplan::typed::CodedText<'k>),
                TokenStream::new(),
                decode_leaf(label, &read),
            )
        })
    }

    pub(crate) fn nibbles(
        &mut self,
        of: &LengthSet,
        encoding: NibbleEncoding,
        label: &str,
        owned: bool,
        span: Span,
    ) -> Option<Code> {
        let (lengths, row) = (lengths(of), encoding.row());
        let named = |name: &str| (name == "lengths").then(|| quote!(lengths: #lengths));
        let codec = filled(encoding.codec().parse().unwrap_or_default(), &named);
        let codec = quote!(const { #codec });
        if encoding != NibbleEncoding::Unpacked {
            let code = self.copied(of, encoding.most(), &codec, &lengths, None, label, owned, span)?;
            let marked = row.extent == ExtentRule::Marked;
            return Some(Code { extent: marked.then(|| extent(&codec)).or(code.extent), ..code });
        }
        if owned {
            return self.cannot_own(span);
        }
        let (put, read) = (encode(&codec, &quote!(value)), decode(&codec));
        Some(Code {
            borrows: true,
            order: Order::Last,
            show: quote!(::core::fmt::Display::fmt(&::keyplan::typed::Shown::bytes(value), f)),
            ..Code::leaf(quote!(&'k [u8]), put_leaf(label, &put), decode_leaf(label, &read))
        })
    }

    /// Reports text that is in pieces and is to be compared as a whole.
    pub(crate) fn left_out<T>(&mut self, span: Span) -> Option<T> {
        self.unsupported(
            span,
            "its escaped text may be of any length, and some texts are left out",
            "give the argument a greatest length, at most 1024 bytes",
        )
    }

    /// Reports an argument that would have to be copied, but may be of any length.
    pub(crate) fn cannot_own<T>(&mut self, span: Span) -> Option<T> {
        self.unsupported(
            span,
            "its bytes are not in the key as they are, and they may be of any length",
            "give the argument a greatest length, at most 1024 bytes",
        )
    }
}
