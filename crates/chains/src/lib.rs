//! chains
