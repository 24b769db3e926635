//! Every byte string of up to three bytes: refused at one of its bytes, or written as it was read.
//!
//! These are the segments in which three bytes can do more than two, up to which each segment is tested where
//! it is implemented.

use keyplan_codec::laws::{Law, Lawful};
use keyplan_codec::{
    Alphabet, BitcoinVarint, Case, CompactSize, Decimal, Escaped, HexBytes, HexPrefix, Leb128, LenPrefix,
    LenWidth, Lengths, OrdVar, Terminated, Text, TupleInt, TupleText,
};

fn sweep<S: Lawful>(segment: &S) {
    Law::new(segment, &[]).canonical_up_to(3);
}

/// One test for each segment, so that they run side by side.
macro_rules! sweep {
    ($($name:ident: $segment:expr;)*) => {$(
        #[test]
        fn $name() {
            sweep(&$segment);
        }
    )*};
}

const FEW: Lengths<'_> = Lengths::OneOf(&[1, 3]);
const DENOM: Alphabet = Alphabet::EMPTY.with_range(b'a', b'z').with_range(b'0', b'9');
const LETTERS: Alphabet = Alphabet::EMPTY.with_range(b'a', b'z').with_range(0xc3, 0xff);

sweep! {
    signed_decimals: Decimal::<i16> { min: -12, max: 120 };
    hex: HexBytes { case: Case::Lower, lengths: Lengths::ANY };
    text_with_a_first_class: Text { alphabet: &DENOM, first: Some(&LETTERS), lengths: FEW, except: &[] };
    leb128: Leb128::<u16>::new();
    ordered_varints: OrdVar::<u16>::new();
    bitcoin_varints: BitcoinVarint::<u16>::new();
    compact_sizes: CompactSize;
    hex_prefix: HexPrefix { lengths: FEW };
    lengths_of_8_bits: LenPrefix { width: LenWidth::L8 };
    varint_lengths: LenPrefix { width: LenWidth::Varint };
    terminated: Terminated;
    escaped: Escaped;
    tuple_integers: TupleInt::<i16>::new();
    tuple_text: TupleText;
}
