/// How a row cache is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowCache {
    /// The bytes that it may take, its table included. Too few for any row is no cache.
    pub bytes: u64,
    /// About how long a row is, key and value together: it decides how many rows the table has places for.
    ///
    /// The places are made at once, 48 bytes each, and a seventh more of them than there are such rows. With longer rows more of
    /// them stay empty; with shorter ones they are full before the bytes are used.
    pub row_bytes: u64,
    /// Spaces, by the names that the engine knows, whose rows are not cached.
    pub without: Vec<String>,
}

impl RowCache {
    /// A cache of so many bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self { bytes, row_bytes: 200, without: Vec::new() }
    }

    /// No cache: every read goes to the engine.
    pub const fn off() -> Self {
        Self::bytes(0)
    }
}

impl From<u64> for RowCache {
    fn from(bytes: u64) -> Self {
        Self::bytes(bytes)
    }
}

/// One budget of memory, and how it is divided between the blocks of an engine and the rows above it.
///
/// A quarter goes to blocks and three quarters to rows: for point reads rows are worth more than blocks by far, and below
/// a quarter scans begin to suffer.
///
/// ```
/// use keyplan_store::cache::MemoryBudget;
///
/// let divided = MemoryBudget::of(512 << 20);
/// assert_eq!((divided.blocks >> 20, divided.rows >> 20), (128, 384));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    /// For the engine's own cache, of blocks or pages.
    pub blocks: u64,
    /// For the row cache.
    pub rows: u64,
}

impl MemoryBudget {
    /// Divides a budget.
    pub const fn of(bytes: u64) -> Self {
        let blocks = bytes / 4;
        Self { blocks, rows: bytes - blocks }
    }
}

impl Default for MemoryBudget {
    /// Of a sixteenth of the machine's memory (or of its control group's), at least 64 MiB and at most 1 GiB; of 256 MiB
    /// where the system does not tell.
    fn default() -> Self {
        Self::of(crate::engine::default_memory())
    }
}
