use std::ops::{ControlFlow, Deref};

use super::Error;
use crate::page::Direction;

/// Rows of a range, in the order of their keys, from either end.
///
/// An item owns its row, which can be kept. Where rows are only looked at, [`RowRange::visit`] lends them instead.
pub trait RowRange:
    DoubleEndedIterator<Item = Result<(<Self as RowRange>::Bytes, <Self as RowRange>::Bytes), Error>>
{
    /// A key or a value.
    type Bytes: Deref<Target = [u8]>;

    /// Lends the rows that are left to `each`, one after the other, until it breaks off.
    ///
    /// This is the cheapest way through many rows: a key and a value are borrowed where the engine has them, and are not
    /// moved. A range that `each` broke off goes on after the row that it broke off at.
    ///
    /// `each` may read the same snapshot. It must not wait for another thread that does: an engine may keep others out
    /// meanwhile.
    fn visit<T>(
        &mut self,
        direction: Direction,
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<T>,
    ) -> Result<ControlFlow<T>, Error> {
        loop {
            let row = match direction {
                Direction::Ascending => self.next(),
                Direction::Descending => self.next_back(),
            };
            let Some(row) = row else { return Ok(ControlFlow::Continue(())) };
            let (key, value) = row?;
            if let ControlFlow::Break(end) = each(&key, &value) {
                return Ok(ControlFlow::Break(end));
            }
        }
    }
}
