//! What engines take: the one table of their limits.

/// An engine that keeps the rows of a plan.
///
/// The prover asks whether every key fits, the store refuses what does not, and both read the limits here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// Fjall.
    Fjall,
    /// redb.
    Redb,
    /// LMDB.
    Lmdb,
    /// `FoundationDB`.
    FoundationDb,
    /// PostgreSQL.
    Postgres,
    /// SlateDB.
    Slate,
}

/// What one row of an engine may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest key in bytes.
    pub key_bytes: u64,
    /// The longest value in bytes.
    pub value_bytes: u64,
    /// Whether a key may be empty.
    pub empty_keys: bool,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 6] =
        [Self::Fjall, Self::Redb, Self::Lmdb, Self::FoundationDb, Self::Postgres, Self::Slate];

    /// Its name, as `check --engine` takes it and databases record it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Redb => "redb",
            Self::Lmdb => "lmdb",
            Self::FoundationDb => "foundationdb",
            Self::Postgres => "postgres",
            Self::Slate => "slate",
        }
    }

    /// What one of its rows may be.
    pub const fn limits(self) -> Limits {
        const MIB: u64 = 1024 * 1024;
        match self {
            // Lengths of keys are 16 bits on disk, lengths of values 32.
            Self::Fjall => Limits { key_bytes: 0xffff, value_bytes: 0xffff_ffff, empty_keys: false },
            // A page holds no more than 4 GiB; the store keeps well below, because a page is read as a whole.
            Self::Redb => Limits { key_bytes: 256 * MIB, value_bytes: 1024 * MIB, empty_keys: true },
            // Keys, and values of a key that has several, fit into a page four times.
            Self::Lmdb => Limits { key_bytes: 511, value_bytes: 0xffff_ffff, empty_keys: false },
            Self::FoundationDb => Limits { key_bytes: 10_000, value_bytes: 100_000, empty_keys: true },
            // An entry of an index has 2,704 bytes at most, of which a key can have 2,692.
            Self::Postgres => Limits { key_bytes: 2_600, value_bytes: 64 * MIB, empty_keys: true },
            // The store's own bounds: the engine keeps 32-bit lengths, and a row in memory as a whole.
            Self::Slate => Limits { key_bytes: 0xffff, value_bytes: 256 * MIB, empty_keys: true },
        }
    }

    /// The longest key in bytes; on a machine that cannot hold such a key, the longest that it can.
    pub const fn longest_key(self) -> usize {
        let limit = self.limits().key_bytes;
        if limit > usize::MAX as u64 {
            usize::MAX
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "compared with the greatest `usize` above")]
            let limit = limit as usize;
            limit
        }
    }
}
