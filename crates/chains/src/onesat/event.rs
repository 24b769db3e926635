use keyplan::typed::KeyError;

use super::document::TokenIdJoint;
use super::{Layout, OneSatError, document};
use crate::onesat_v2 as v2;

/// The id of a BSV21 token: the output that deployed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId {
    /// The transaction in the order that people read.
    pub txid: [u8; 32],
    /// The number of the output.
    pub vout: u32,
}

/// An event that an output raises: what it can be found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Outputs of an owner.
    Owner {
        /// Its address.
        address: &'a str,
    },
    /// Outputs of a transaction.
    Transaction {
        /// The transaction in the order that people read.
        txid: [u8; 32],
    },
    /// Outputs that carry a token.
    Token {
        /// The token.
        id: TokenId,
    },
    /// Outputs that carry a token of a symbol.
    Symbol {
        /// The symbol.
        symbol: &'a str,
    },
    /// Outputs that carry a token and pay to the hash of a public key.
    P2pkh {
        /// The address that is paid.
        address: &'a str,
        /// The token.
        id: TokenId,
    },
    /// Outputs that carry a token and need a second signature.
    Cosigner {
        /// The address of the holder.
        address: &'a str,
        /// The token.
        id: TokenId,
    },
    /// Outputs of a token that is minted by locking coins.
    Ltm {
        /// The token.
        id: TokenId,
    },
    /// Outputs of a token that is mined by proof of work.
    Pow20 {
        /// The token.
        id: TokenId,
    },
    /// Outputs of a token that are offered for sale.
    Listed {
        /// The token.
        id: TokenId,
    },
    /// Outputs of a token that one seller offers.
    ListedBy {
        /// The seller's address.
        address: &'a str,
        /// The token.
        id: TokenId,
    },
    /// Any other that a parser makes up.
    Named(&'a str),
}

impl<'a> Event<'a> {
    /// Its name under a layout.
    pub(super) fn name(&self, layout: Layout) -> Result<String, OneSatError> {
        let bytes = match layout {
            Layout::V2 => v2_name(self)?,
            Layout::Document => document_name(self)?,
        };
        // The plans make these of texts.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What a name says. Every name says something.
    pub(super) fn parse(name: &'a str, layout: Layout) -> Self {
        match layout {
            Layout::V2 => v2::events::Key::decode(name.as_bytes()).map_or(Self::Named(name), Into::into),
            Layout::Document => {
                document::events::Key::decode(name.as_bytes()).map_or(Self::Named(name), Into::into)
            }
        }
    }
}

impl TokenId {
    /// Its text under a layout: `txid_vout`, or `txidivout` as the document writes it.
    pub(super) fn text(self, layout: Layout) -> Result<String, OneSatError> {
        let name = Event::Token { id: self }.name(layout)?;
        Ok(name.strip_prefix("id:").unwrap_or(&name).to_owned())
    }
}

impl From<TokenId> for v2::TokenId {
    fn from(TokenId { txid, vout }: TokenId) -> Self {
        Self { txid, vout }
    }
}

impl From<v2::TokenId> for TokenId {
    fn from(v2::TokenId { txid, vout }: v2::TokenId) -> Self {
        Self { txid, vout }
    }
}

impl From<TokenId> for document::TokenId {
    fn from(TokenId { txid, vout }: TokenId) -> Self {
        Self { txid, joint: TokenIdJoint::Ordinal, vout }
    }
}

impl From<document::TokenId> for TokenId {
    fn from(document::TokenId { txid, vout, .. }: document::TokenId) -> Self {
        Self { txid, vout }
    }
}

/// A name from an event, and an event from a key, under the plan of a layout: the plans have the same families.
macro_rules! named_by {
    ($key:ident, $name:ident) => {
        fn $name(event: &Event<'_>) -> Result<Vec<u8>, KeyError> {
            use $key::events::{Cos, Id, List, ListBySeller, Ltm, Own, P2pkh, Pow20, Sym, Txid};
            match *event {
                Event::Owner { address } => Own { address }.to_vec(),
                Event::Transaction { txid } => Txid { txid }.to_vec(),
                Event::Token { id } => Id { token_id: id.into() }.to_vec(),
                Event::Symbol { symbol } => Sym { symbol }.to_vec(),
                Event::P2pkh { address, id } => P2pkh { address, token_id: id.into() }.to_vec(),
                Event::Cosigner { address, id } => Cos { address, token_id: id.into() }.to_vec(),
                Event::Ltm { id } => Ltm { token_id: id.into() }.to_vec(),
                Event::Pow20 { id } => Pow20 { token_id: id.into() }.to_vec(),
                Event::Listed { id } => List { token_id: id.into() }.to_vec(),
                Event::ListedBy { address, id } => ListBySeller { address, token_id: id.into() }.to_vec(),
                Event::Named(name) => Ok(name.as_bytes().to_vec()),
            }
        }

        impl<'a> From<$key::events::Key<'a>> for Event<'a> {
            fn from(key: $key::events::Key<'a>) -> Self {
                use $key::events::Key;
                match key {
                    Key::Own(key) => Self::Owner { address: key.address },
                    Key::Txid(key) => Self::Transaction { txid: key.txid },
                    Key::Id(key) => Self::Token { id: key.token_id.into() },
                    Key::Sym(key) => Self::Symbol { symbol: key.symbol },
                    Key::P2pkh(key) => Self::P2pkh { address: key.address, id: key.token_id.into() },
                    Key::Cos(key) => Self::Cosigner { address: key.address, id: key.token_id.into() },
                    Key::Ltm(key) => Self::Ltm { id: key.token_id.into() },
                    Key::Pow20(key) => Self::Pow20 { id: key.token_id.into() },
                    Key::List(key) => Self::Listed { id: key.token_id.into() },
                    Key::ListBySeller(key) => {
                        Self::ListedBy { address: key.address, id: key.token_id.into() }
                    }
                }
            }
        }
    };
}

named_by!(v2, v2_name);
named_by!(document, document_name);
