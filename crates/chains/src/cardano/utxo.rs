use std::fmt;
use std::ops::Deref;

use keyplan::typed::KeyError;

use super::utxos::{Utxo, UtxoValue};

/// A reference to an output: the transaction and the output's number in it.
pub type TxoRef = Utxo;

/// An output as a transaction made it: its era, and its CBOR as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EraCbor {
    /// The number of the era, which tells how to read the CBOR.
    pub era: u16,
    /// The output, in CBOR. The store does not look into it, and it may be empty.
    pub cbor: Vec<u8>,
}

/// What a block, or taking one back, does to the set of unspent outputs.
///
/// The four are applied in the order in which they are here. So removing wins over adding, `recovered` wins over
/// `produced`, and of two outputs under one reference the later one. Removing what is not there is no error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UtxoSetDelta {
    /// Outputs that the block makes.
    pub produced: Vec<(TxoRef, EraCbor)>,
    /// Outputs that come back because the block that spent them is taken back.
    pub recovered: Vec<(TxoRef, EraCbor)>,
    /// Outputs that the block spends.
    pub consumed: Vec<TxoRef>,
    /// Outputs that go because the block that made them is taken back.
    pub undone: Vec<TxoRef>,
}

/// An output in the store. Its bytes are the engine's own and are not copied.
#[derive(Clone)]
pub struct Output<B> {
    era: u16,
    // Where the body begins in the value.
    body: usize,
    value: B,
}

impl<B: Deref<Target = [u8]>> Output<B> {
    /// Reads the value of a row.
    pub fn decode(value: B) -> Result<Self, Box<KeyError>> {
        let UtxoValue { era, body } = UtxoValue::decode(&value).map_err(Box::new)?;
        let body = value.len().saturating_sub(body.0.len());
        Ok(Self { era, body, value })
    }

    /// The number of the era.
    pub const fn era(&self) -> u16 {
        self.era
    }

    /// The output, in CBOR.
    pub fn cbor(&self) -> &[u8] {
        self.value.get(self.body..).unwrap_or_default()
    }

    /// The row's value as the engine has it: the era in two bytes, then the CBOR.
    pub fn into_value(self) -> B {
        self.value
    }

    /// The output with bytes of its own.
    pub fn to_era_cbor(&self) -> EraCbor {
        EraCbor { era: self.era, cbor: self.cbor().to_vec() }
    }
}

impl<B: Deref<Target = [u8]>> PartialEq<EraCbor> for Output<B> {
    fn eq(&self, other: &EraCbor) -> bool {
        self.era == other.era && self.cbor() == other.cbor
    }
}

impl<B: Deref<Target = [u8]>> fmt::Debug for Output<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Output").field(&self.era).field(&self.cbor()).finish()
    }
}
