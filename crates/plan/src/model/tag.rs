//! The tag of every encoding in a fingerprint.
//!
//! Databases keep fingerprints, so a tag never changes and is never given to another encoding, whatever the code calls
//! it. A number that an encoding takes (a width, a count of decimals) follows its tag.

use keyplan_codec::{Case, LenWidth, WideForm};

use super::{
    BoolEncoding, BytesEncoding, FloatEncoding, Frame, IntEncoding, NibbleEncoding, Opaque, ScoreEncoding,
    TimeEncoding,
};

/// Something that a fingerprint names.
pub(super) trait Tag {
    /// Its name there, for ever.
    fn tag(&self) -> &'static str;
}

/// One row per encoding: what it is in the code, what it is in a fingerprint.
macro_rules! tags {
    ($($ty:ident { $($variant:pat => $tag:literal,)* })*) => {
        $(impl Tag for $ty {
            fn tag(&self) -> &'static str {
                use $ty::*;
                match self { $($variant => $tag,)* }
            }
        })*

        #[cfg(test)]
        const TAGS: &[(&str, &[&str])] = &[$((stringify!($ty), &[$($tag,)*]),)*];
    };
}

tags! {
    IntEncoding {
        Be => "be",
        Le => "le",
        SignFlip => "signflip",
        Tick9 => "tick9",
        Dec => "dec",
        DecPadded(_) => "dec padded",
        Hex(Case::Lower) => "hex lower",
        Hex(Case::Upper) => "hex upper",
        HexPadded(..) => "hex padded",
        Leb128 => "leb128",
        OrdVar => "ordvar",
        BitcoinVarint => "bitcoin varint",
        CompactSize => "compact size",
        ScaleCompact => "scale compact",
        OrderedCode => "orderedcode",
        Saturating => "saturating",
        Tuple => "tuple",
    }
    BoolEncoding {
        Byte => "byte",
        Tuple => "tuple",
    }
    FloatEncoding {
        Bits => "bits",
        Ordered => "ordered",
        Badger => "badger",
        Fixed(_) => "fixed",
        Tuple => "tuple",
    }
    TimeEncoding {
        Text9 => "text9",
        Nanos => "nanos",
    }
    ScoreEncoding {
        Exact => "exact",
        HeightScore => "height score",
    }
    BytesEncoding {
        Raw => "raw",
        Class(_) => "class",
        Hex(Case::Lower) => "hex lower",
        Hex(Case::Upper) => "hex upper",
        Bech32(_) => "bech32",
        Base58 { check: false } => "base58",
        Base58 { check: true } => "base58check",
        Wide { signed: false, form: WideForm::Be } => "u256 big",
        Wide { signed: false, form: WideForm::Le } => "u256 little",
        Wide { signed: false, form: WideForm::SignFlip } => "u256 sign-flipped",
        Wide { signed: true, form: WideForm::Be } => "i256 big",
        Wide { signed: true, form: WideForm::Le } => "i256 little",
        Wide { signed: true, form: WideForm::SignFlip } => "i256 sign-flipped",
        Fit(_) => "fit",
        Tuple => "tuple",
    }
    NibbleEncoding {
        Unpacked => "unpacked",
        Packed => "packed",
        HexPrefix => "hex prefix",
        Counted => "counted",
    }
    Opaque {
        Cbor => "cbor",
        Rlp => "rlp",
        Json => "json",
        Proto(_) => "proto",
        Coded(_) => "coded",
        Raw => "raw",
    }
    Frame {
        Len(_) => "length",
        Terminated => "terminated",
        Escaped => "escaped",
        Memcmp => "memcmp",
        OrderedCode => "orderedcode",
    }
    LenWidth {
        L8 => "8",
        L16 => "16",
        L32 => "32",
        L64 => "64",
        L16Le => "16 le",
        L32Le => "32 le",
        L64Le => "64 le",
        Varint => "varint",
        Compact => "compact size",
        Scale => "scale compact",
    }
    Case {
        Lower => "lower",
        Upper => "upper",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::TAGS;

    #[test]
    fn no_two_encodings_of_a_domain_share_a_tag() {
        for (domain, tags) in TAGS {
            let distinct: BTreeSet<&&str> = tags.iter().collect();
            assert_eq!(distinct.len(), tags.len(), "{domain}");
        }
    }
}
