/// Ways in which the protocol of the cache would be wrong.
///
/// Tests break it in each of them, and must find out; outside of tests nothing is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A reader keeps what it read although a later commit has touched the key.
    FillWithoutTest,
    /// A commit is given out before the cache knows of it.
    PublishFirst,
    /// A snapshot takes a row whatever commit it is from.
    HitWithoutAge,
    /// A commit leaves its mark only where its key is cached.
    MarkOnlyCached,
    /// The mark of a commit is in the row, and goes with it.
    MarkInRow,
    /// What a reader keeps is taken to have been true for ever.
    FillFromZero,
    /// The number of a snapshot is read after the snapshot was opened. Only a test takes these steps apart.
    #[cfg(test)]
    NumberApart,
    /// A commit that failed leaves what the cache knew of its keys.
    FailedCommitKept,
}

/// The fault that is switched on, in tests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    #[cfg(test)]
    pub(super) on: Option<Fault>,
}

impl Faults {
    #[cfg(test)]
    #[inline]
    pub(super) fn has(self, fault: Fault) -> bool {
        self.on == Some(fault)
    }

    #[cfg(not(test))]
    #[inline]
    #[expect(clippy::unused_self, reason = "in tests it is asked")]
    pub(super) const fn has(self, _: Fault) -> bool {
        false
    }
}
