use proc_macro2::TokenStream;
use quote::quote;

/// How an argument is written in Rust: its type, and the expressions that encode and decode it.
///
/// The expressions speak of variables that are there where they are used: `value` is a reference to the argument,
/// `out` where its bytes go, `piece` exactly its bytes, `base` their offset in the key, `rest` what begins with it.
#[derive(Clone)]
pub(crate) struct Code {
    /// Its type; it borrows for `'k`.
    pub(crate) ty: TokenStream,
    /// Whether the type borrows.
    pub(crate) borrows: bool,
    /// Whether the type is `Eq` and `Hash`.
    pub(crate) eq: bool,
    /// Whether the order of the type is that of the bytes.
    pub(crate) order: Order,
    /// Appends `value` to `out`: `Result<(), SegmentError>`.
    pub(crate) put: TokenStream,
    /// Decodes `piece` at `base`: `Result<T, SegmentError>`.
    pub(crate) decode: TokenStream,
    /// Decodes `piece` as fast as it goes: `Option<T>`.
    pub(crate) read: TokenStream,
    /// How many bytes of `rest` it takes, where its bytes tell: `Result<usize, DecodeError>`.
    pub(crate) extent: Option<TokenStream>,
    /// How many bytes of `rest` it could take at most: `usize`.
    pub(crate) longest: TokenStream,
    /// The bytes of `value` as an array, where nothing can be refused.
    pub(crate) array: Option<TokenStream>,
    /// The bytes of `next`, an argument by value that bounds a scan: `AsRef<[u8]>`.
    pub(crate) bound: Option<TokenStream>,
    /// Displays `value` on `f`: `fmt::Result`.
    pub(crate) show: TokenStream,
    /// Where the same bytes may be several arguments: decodes `piece` at `base` as the one with the number `reading`, or
    /// fails after the last one.
    pub(crate) readings: Option<TokenStream>,
    /// Whether two arguments may have the same bytes.
    pub(crate) lossy: bool,
}

/// Where the order of the arguments is that of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Nowhere, as far as is known by construction.
    Unknown,
    /// At the end of a key.
    Last,
    /// Wherever they are.
    Anywhere,
}

impl Code {
    /// An argument that a codec encodes and decodes.
    pub(crate) fn leaf(ty: TokenStream, put: TokenStream, decode: TokenStream) -> Self {
        let read = quote!(#decode.ok());
        Self {
            ty,
            borrows: false,
            eq: true,
            order: Order::Unknown,
            put,
            decode,
            read,
            extent: None,
            longest: quote!(rest.len()),
            array: None,
            bound: None,
            show: quote!(::core::fmt::Display::fmt(value, f)),
            readings: None,
            lossy: false,
        }
    }
}
