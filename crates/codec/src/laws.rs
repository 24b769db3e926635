//! The assertions that every segment must pass, ours and other people's.
//!
//! A segment's author implements [`Lawful`], which ties what is decoded to what is encoded, and lists arguments
//! at the edges of the segment; [`laws!`](crate::laws!) makes a test of each law from them.
//!
//! ```
//! use keyplan_codec::laws::{Lawful, Law};
//! use keyplan_codec::{DecodeError, Delimited, EncodeError, Be, Segment, Sink};
//!
//! /// A block's height, counted down.
//! struct Depth;
//!
//! impl Segment for Depth {
//!     type Arg<'a> = u32;
//!     type View<'a> = u32;
//!
//!     fn encode<S: Sink + ?Sized>(&self, arg: u32, out: &mut S) -> Result<(), EncodeError> {
//!         Be::new().encode(!arg, out)
//!     }
//!
//!     fn decode(&self, bytes: &[u8]) -> Result<u32, DecodeError> {
//!         Be::<u32>::new().decode(bytes).map(|depth| !depth)
//!     }
//! }
//!
//! impl Lawful for Depth {
//!     type Owned = u32;
//!
//!     fn own(view: u32) -> u32 {
//!         view
//!     }
//!
//!     fn lend(owned: &u32) -> u32 {
//!         *owned
//!     }
//! }
//!
//! keyplan_codec::laws! {
//!     depth: Depth, [0, 1, u32::MAX];
//! }
//!
//! Law::new(&Depth, &[0, 1, u32::MAX]).round_trip();
//! ```
#![expect(
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a law that does not hold fails the test that asks, which is all that this module is for"
)]

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt::Debug;

use crate::{
    Be, BitcoinVarint, Bool, Buffer, ByteClass, Bytes, CompactSize, CountedNibbles, Decimal, Delimited, Desc,
    EncodeError, Escaped, Fit, Fixed, FixedWidth, FloatBadger, FloatBits, FloatOrdered, HexBytes, HexInt,
    HexPrefix, HighBytes, Int, IntFloat, Le, Leb128, LenPrefix, Literal, LowBytes, Memcmp, Narrow, Nibbles,
    Open, OrdVar, OrderedCode, OrderedCodeInt, PackedNibbles, PaddedDecimal, PaddedHexInt, Saturating,
    ScaleCompact, Score, ScoreExact, ScoreWithin, Segment, SignFlip, Signed, Terminated, Text, Tick9,
    TimeNanos, TimeText9, TupleBool, TupleBytes, TupleFloat, TupleInt, TupleText, Unsigned,
};

/// A segment whose views can be kept and encoded again.
pub trait Lawful: Segment {
    /// An argument that borrows from nothing.
    type Owned: PartialEq + Debug;

    /// Returns what a view stands for.
    fn own(view: Self::View<'_>) -> Self::Owned;

    /// Returns an argument to encode.
    fn lend(owned: &Self::Owned) -> Self::Arg<'_>;
}

/// Makes a module of tests for each segment: `name: segment, arguments, further laws;`.
///
/// The laws `round_trip`, `canonical` and `bounded` hold for every segment and are always tested. The further
/// ones are the names of other methods of [`Law`]: `ordered`, `delimited`, `open`.
#[macro_export]
macro_rules! laws {
    ($($name:ident: $segment:expr, $values:expr $(, $law:ident)*;)*) => {$(
        mod $name {
            #[allow(unused_imports, clippy::allow_attributes, reason = "what the expressions need of it")]
            use super::*;

            $crate::laws!(@tests $segment, $values, round_trip canonical bounded $($law)*);
        }
    )*};
    (@tests $segment:expr, $values:expr, $($law:ident)*) => {$(
        #[test]
        fn $law() {
            $crate::laws::Law::new(&$segment, &$values).$law();
        }
    )*};
}

/// A segment and the arguments on which its laws are tested.
#[derive(Debug)]
pub struct Law<'s, S: Lawful> {
    segment: &'s S,
    values: &'s [S::Owned],
}

/// What may come after a segment.
const BEHIND: [&[u8]; 7] = [b"", b"\x00", b"\x00\x00", b"\x7f", b"\xff", b"/", &[0xff; 24]];

impl<'s, S: Lawful> Law<'s, S> {
    /// The laws of `segment`, tested on `values`.
    pub const fn new(segment: &'s S, values: &'s [S::Owned]) -> Self {
        Self { segment, values }
    }

    /// Returns the bytes of `value`.
    fn encoded(&self, value: &S::Owned) -> Vec<u8> {
        let mut bytes = vec![];
        self.encode_into(value, &mut bytes);
        bytes
    }

    fn encode_into(&self, value: &S::Owned, out: &mut Vec<u8>) {
        if let Err(error) = self.segment.encode(S::lend(value), out) {
            panic!("{value:?} is not encoded: {error}");
        }
    }

    /// Decoding what was encoded gives the argument back.
    pub fn round_trip(&self) {
        for value in self.values {
            let bytes = self.encoded(value);
            match self.segment.decode(&bytes) {
                Ok(view) => assert_eq!(&S::own(view), value, "after a round trip through {bytes:02x?}"),
                Err(error) => panic!("{value:?} is written as {bytes:02x?}, which is refused: {error}"),
            }
        }
    }

    /// Bytes are refused, at one of their offsets, or encode to themselves again. This is tested on every string
    /// of up to two bytes and on the neighbours of each argument's bytes.
    pub fn canonical(&self) {
        self.canonical_up_to(2);
        for value in self.values {
            neighbours(&self.encoded(value), |bytes| self.canonical_on(bytes));
        }
    }

    /// The law [`Law::canonical`] on every string of up to `len` bytes.
    pub fn canonical_up_to(&self, len: usize) {
        let mut again = vec![];
        self.canonical_in(&[], &mut again);
        for len in 1..=len {
            let mut bytes = vec![0; len];
            loop {
                for last in 0..=u8::MAX {
                    if let Some(slot) = bytes.last_mut() {
                        *slot = last;
                    }
                    self.canonical_in(&bytes, &mut again);
                }
                // Count on: the last byte that is not ff goes up, those after it start again.
                let Some(at) = bytes.iter().rposition(|&byte| byte != 0xff) else { break };
                for byte in bytes.iter_mut().skip(at) {
                    *byte = byte.wrapping_add(1);
                }
            }
        }
    }

    /// The law [`Law::canonical`] on `bytes`.
    pub fn canonical_on(&self, bytes: &[u8]) {
        self.canonical_in(bytes, &mut vec![]);
    }

    /// The law on `bytes`, with room to encode in, as it is asked of millions of them.
    fn canonical_in(&self, bytes: &[u8], again: &mut Vec<u8>) {
        match self.segment.decode(bytes) {
            Ok(view) => {
                let value = S::own(view);
                again.clear();
                self.encode_into(&value, again);
                assert_eq!(again, bytes, "what {value:?} was read from is not how it is written");
            }
            Err(error) => {
                assert!(error.offset <= bytes.len(), "{error}, but there are just {} bytes", bytes.len());
            }
        }
    }

    /// A buffer that is too small is reported as such, and one that is just large enough is enough.
    pub fn bounded(&self) {
        for value in self.values {
            let bytes = self.encoded(value);
            for len in 0..bytes.len() {
                let mut room = vec![0; len];
                let result = self.segment.encode(S::lend(value), &mut Buffer::new(&mut room));
                let Err(EncodeError::Full { needed }) = result else {
                    panic!("{value:?} in a buffer of {len} of {} bytes gives {result:?}", bytes.len());
                };
                assert!(len < needed && needed <= bytes.len(), "{needed} bytes needed for {bytes:02x?}");
            }
            let mut room = vec![0; bytes.len()];
            let mut out = Buffer::new(&mut room);
            assert_eq!(self.segment.encode(S::lend(value), &mut out), Ok(()), "with room for {value:?}");
            assert_eq!(out.written(), bytes, "in a buffer");
        }
    }
}

impl<S: Lawful<Owned: PartialOrd>> Law<'_, S> {
    /// Byte order is the order of the arguments.
    pub fn ordered(&self) {
        self.compared(|order| order);
    }

    /// Byte order is the order of the arguments, reversed.
    pub fn descending(&self) {
        self.compared(Ordering::reverse);
    }

    fn compared(&self, expected: impl Fn(Ordering) -> Ordering) {
        for a in self.values {
            for b in self.values {
                let Some(order) = a.partial_cmp(b) else { continue };
                let bytes = (self.encoded(a), self.encoded(b));
                assert_eq!(bytes.0.cmp(&bytes.1), expected(order), "{a:?} and {b:?}: {bytes:02x?}");
            }
        }
    }
}

impl<S: Lawful + Delimited> Law<'_, S> {
    /// The end is found, whatever comes after it, and never in a part of the segment.
    pub fn delimited(&self) {
        self.delimited_before(&BEHIND);
        for value in self.values {
            let bytes = self.encoded(value);
            for cut in 0..bytes.len() {
                let part = bytes.get(..cut).unwrap_or_default();
                if let Ok(extent) = self.segment.extent(part) {
                    panic!("{value:?} is written as {bytes:02x?}, of which {cut} bytes pass for {extent}");
                }
            }
        }
    }

    /// The end is found if one of these comes after it: for segments that not everything may follow.
    pub fn delimited_before(&self, behind: &[&[u8]]) {
        for value in self.values {
            let bytes = self.encoded(value);
            for behind in behind {
                let input = [&bytes, *behind].concat();
                assert_eq!(self.segment.extent(&input), Ok(bytes.len()), "of {value:?} in {input:02x?}");
                match self.segment.take(&input) {
                    Ok((view, rest)) => assert_eq!((&S::own(view), rest), (value, *behind), "{input:02x?}"),
                    Err(error) => panic!("{value:?} is not taken from {input:02x?}: {error}"),
                }
            }
        }
    }
}

impl<S: Lawful + Open> Law<'_, S> {
    /// Every argument's bytes are all bytes of the segment and have a length that it admits; so has everything
    /// that is read.
    pub fn open(&self) {
        // Whatever the answer, asking for a length that no input has must not overflow.
        let _ = self.segment.admits(usize::MAX);
        for value in self.values {
            let bytes = self.encoded(value);
            assert_eq!(self.segment.longest(&bytes), bytes.len(), "of {value:?}, {bytes:02x?}");
            for behind in BEHIND {
                let input = [&bytes, behind].concat();
                let longest = self.segment.longest(&input);
                assert!(bytes.len() <= longest && longest <= input.len(), "{longest} of {input:02x?}");
            }
            neighbours(&bytes, |bytes| self.open_on(bytes));
        }
    }

    /// The law [`Law::open`] on `bytes`, if they are read.
    pub fn open_on(&self, bytes: &[u8]) {
        let longest = self.segment.longest(bytes);
        assert!(longest <= bytes.len(), "{longest} of {bytes:02x?}");
        if self.segment.decode(bytes).is_ok() {
            assert_eq!(longest, bytes.len(), "of {bytes:02x?}");
            assert!(self.segment.admits(bytes.len()), "the length of {bytes:02x?}");
        }
    }
}

/// Calls `check` with `bytes`, with all that differ from them in one byte, and with longer and shorter ones.
fn neighbours(bytes: &[u8], mut check: impl FnMut(&[u8])) {
    for len in 0..=bytes.len() {
        check(bytes.get(..len).unwrap_or_default());
        check(bytes.get(len..).unwrap_or_default());
    }
    for behind in BEHIND {
        check(&[bytes, behind].concat());
        check(&[behind, bytes].concat());
    }
    let mut other = bytes.to_owned();
    for (at, &byte) in bytes.iter().enumerate() {
        for flip in 1..=u8::MAX {
            if let Some(slot) = other.get_mut(at) {
                *slot = byte ^ flip;
            }
            check(&other);
        }
        if let Some(slot) = other.get_mut(at) {
            *slot = byte;
        }
    }
}

/// Segments whose view is their argument.
macro_rules! values {
    ($([$($generic:tt)*] $segment:ty => $value:ty;)*) => {$(
        impl<$($generic)*> Lawful for $segment {
            type Owned = $value;

            fn own(view: $value) -> $value {
                view
            }

            fn lend(owned: &$value) -> $value {
                *owned
            }
        }
    )*};
}

values! {
    [] Literal<'_> => ();
    [T: Int] Be<T> => T;
    [T: Int] Le<T> => T;
    [T: Signed] SignFlip<T> => T;
    [T: Signed] Saturating<T> => T;
    [] Tick9 => i64;
    [] Bool => bool;
    [T: Int] Decimal<T> => T;
    [T: Unsigned] PaddedDecimal<T> => T;
    [T: Unsigned] HexInt<T> => T;
    [T: Unsigned] PaddedHexInt<T> => T;
    [T: Unsigned] Leb128<T> => T;
    [T: Unsigned] OrdVar<T> => T;
    [T: Unsigned] BitcoinVarint<T> => T;
    [] CompactSize => u64;
    [T: Unsigned] ScaleCompact<T> => T;
    [T: Int] OrderedCodeInt<T> => T;
    [T: Unsigned] Narrow<T> => T;
    [T: Unsigned] LowBytes<T> => T;
    [T: Unsigned] HighBytes<T> => T;
    [T: Int] IntFloat<T> => T;
    [] FloatBits => f64;
    [] FloatOrdered => f64;
    [] FloatBadger => f64;
    [] Fixed => f64;
    [] ScoreExact => Score;
    [] ScoreWithin => Score;
    [] TimeText9 => i128;
    [] TimeNanos => i128;
    [T: Int] TupleInt<T> => T;
    [] TupleFloat => f64;
    [] TupleBool => bool;
}

/// Segments whose view is the argument's bytes.
macro_rules! slices {
    ($($segment:ty)*) => {$(
        impl Lawful for $segment {
            type Owned = Vec<u8>;

            fn own(view: &[u8]) -> Vec<u8> {
                view.to_owned()
            }

            fn lend(owned: &Vec<u8>) -> &[u8] {
                owned
            }
        }
    )*};
}

slices!(ByteClass<'_> Bytes<'_> Fit Nibbles<'_> LenPrefix);
#[cfg(feature = "hash")]
slices!(crate::HashConcat);

/// Segments whose view yields the argument's bytes.
macro_rules! views {
    ($($segment:ty)*) => {$(
        impl Lawful for $segment {
            type Owned = Vec<u8>;

            fn own(view: Self::View<'_>) -> Vec<u8> {
                view.bytes().collect()
            }

            fn lend(owned: &Vec<u8>) -> &[u8] {
                owned
            }
        }
    )*};
}

views!(HexBytes<'_> PackedNibbles<'_> HexPrefix<'_> CountedNibbles<'_> Terminated Escaped OrderedCode Memcmp TupleBytes);
#[cfg(feature = "bech32")]
views!(crate::Bech32<'_>);
views!(crate::Wide);
#[cfg(feature = "hash")]
views!(crate::Base58<'_>);

impl Lawful for Text<'_> {
    type Owned = String;

    fn own(view: &str) -> String {
        view.to_owned()
    }

    fn lend(owned: &String) -> &str {
        owned
    }
}

impl Lawful for TupleText {
    type Owned = String;

    fn own(view: Self::View<'_>) -> String {
        view.chars().collect()
    }

    fn lend(owned: &String) -> &str {
        owned
    }
}

impl<T: FixedWidth + Lawful> Lawful for Desc<T> {
    type Owned = T::Owned;

    fn own(view: T::Value) -> T::Owned {
        T::own(view)
    }

    fn lend(owned: &T::Owned) -> T::Arg<'_> {
        T::lend(owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodeError, Fault, Sink};

    /// A number in one byte, which breaks one law in each form.
    struct Broken(Breaks);

    #[derive(PartialEq)]
    enum Breaks {
        Nothing,
        RoundTrip,
        Canonical,
        Order,
        Extent,
        Bound,
        Longest,
    }

    impl Segment for Broken {
        type Arg<'a> = u8;
        type View<'a> = u8;

        fn encode<S: Sink + ?Sized>(&self, arg: u8, out: &mut S) -> Result<(), EncodeError> {
            let put = out.put(&[if self.0 == Breaks::Order { !arg } else { arg }]);
            if self.0 == Breaks::Bound { Ok(()) } else { put }
        }

        fn decode(&self, bytes: &[u8]) -> Result<u8, DecodeError> {
            match (&self.0, bytes) {
                (Breaks::Order, [byte]) => Ok(!byte),
                (Breaks::RoundTrip, [byte]) => Ok(byte / 2),
                (Breaks::Canonical, [byte, ..]) | (_, [byte]) => Ok(*byte),
                _ => Err(DecodeError::new(0, Fault::OutOfRange)),
            }
        }
    }

    impl Delimited for Broken {
        fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
            let width = if self.0 == Breaks::Extent { input.len() } else { 1 };
            crate::segment::fixed_extent(input, width)
        }
    }

    impl Open for Broken {
        fn longest(&self, input: &[u8]) -> usize {
            if self.0 == Breaks::Longest { 0 } else { input.len().min(1) }
        }

        fn admits(&self, len: usize) -> bool {
            len == 1
        }
    }

    values! {
        [] Broken => u8;
    }

    crate::laws! {
        sound: Broken(Breaks::Nothing), [0, 1, 255], ordered, delimited, open;
    }

    /// Each law, on the segment that breaks just that one.
    macro_rules! refused {
        ($($law:ident: $breaks:ident, $message:literal;)*) => {$(
            #[test]
            #[should_panic(expected = $message)]
            fn $law() {
                Law::new(&Broken(Breaks::$breaks), &[0, 1, 255]).$law();
            }
        )*};
    }

    refused! {
        round_trip: RoundTrip, "after a round trip through [01]";
        canonical: Canonical, "what 0 was read from is not how it is written";
        bounded: Bound, "0 in a buffer of 0 of 1 bytes gives Ok(())";
        ordered: Order, "0 and 1: ([ff], [fe])";
        descending: Nothing, "0 and 1: ([00], [01])";
        delimited: Extent, "of 0 in [00, 00]";
        open: Longest, "of 0, [00]";
    }
}
