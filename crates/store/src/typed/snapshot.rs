use crate::engine::{Engine, KeyRange};
use crate::{BytesOf, Direction, RangeOf, StoreError, StoreSnapshot};

use super::{Error, Page, Read, Row};
use keyplan_typed::{Key, Scan, ScanOf};

/// A point in time over all spaces of a store. Clones are cheap and see the same.
#[derive(Clone, Debug)]
pub struct Snapshot<E: Engine>(StoreSnapshot<E>);

impl<E: Engine> Snapshot<E> {
    pub(super) const fn new(raw: StoreSnapshot<E>) -> Self {
        Self(raw)
    }

    /// The same without types.
    pub const fn raw(&self) -> &StoreSnapshot<E> {
        &self.0
    }

    /// Reads up to `limit` rows of a scan, from where a token of an earlier page left off.
    ///
    /// A token outlives the snapshot and the process. It belongs to this plan, and to a scan of the same space and
    /// direction that holds the row it points at; anything else is refused.
    #[expect(clippy::needless_pass_by_value, reason = "a scan is written where it is used")]
    pub fn page<S: ScanOf>(
        &self,
        scan: Scan<'_, S>,
        limit: usize,
        token: Option<&[u8]>,
    ) -> Result<Page<S::Key, BytesOf<E>>, Error> {
        let (start, end) = scan.range();
        let direction = if scan.is_reverse() { Direction::Descending } else { Direction::Ascending };
        let space = self.0.space(S::Key::SPACE)?;
        let mut page = self.0.page(space, KeyRange { start, end }, direction, token, limit)?;
        let foreign = |key: &BytesOf<E>| S::FILTERED && <S::Key as Key>::decode(key).is_err();
        page.rows.retain(|(key, _)| !foreign(key));
        // What was dropped is made up for.
        while let Some(next) = page.next.take_if(|_| S::FILTERED && page.rows.len() < limit) {
            let left = limit - page.rows.len();
            let more = self.0.page(space, KeyRange { start, end }, direction, Some(next.as_bytes()), left)?;
            page.rows.extend(more.rows.into_iter().filter(|(key, _)| !foreign(key)));
            page.next = more.next;
        }
        let rows = page.rows.into_iter().map(|(key, value)| Row::new(key, value)).collect();
        Ok(Page { rows, next: page.next })
    }
}

impl<E: Engine> Read for Snapshot<E> {
    type Bytes = BytesOf<E>;
    type Range = RangeOf<E>;

    #[inline]
    fn get_bytes(&self, space: &str, key: &[u8]) -> Result<Option<Self::Bytes>, StoreError> {
        self.0.get(self.0.space(space)?, key)
    }

    #[inline]
    fn get_bytes_with<T>(
        &self,
        space: &str,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        self.0.get_with(self.0.space(space)?, key, with)
    }

    fn contains_bytes(&self, space: &str, key: &[u8]) -> Result<bool, StoreError> {
        self.0.contains(self.0.space(space)?, key)
    }

    fn range_bytes(&self, space: &str, range: KeyRange<'_>) -> Result<Self::Range, StoreError> {
        self.0.range(self.0.space(space)?, range)
    }
}
