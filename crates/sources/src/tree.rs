//! A walk over a tree of pages, in either direction, whatever the pages hold.

use std::fmt::Debug;
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::source::SourceError;

/// Where the pages of a tree come from.
pub(crate) trait Pager: Debug + Send + Sync {
    /// A page, in pieces that are easy to reach.
    type Page: Page;

    /// Reads a page at a depth of the tree; the root is at depth 0.
    ///
    /// A page without items is an error unless it is the root, so that work and rows keep in step.
    fn page(&self, number: u64, depth: usize) -> Result<Self::Page, SourceError>;

    /// The error that a page lies deeper than any tree can be.
    fn too_deep(&self, number: u64) -> SourceError;
}

/// Items in order, each a row or the page of what lies between two rows.
pub(crate) trait Page {
    /// How many items there are.
    fn items(&self) -> usize;

    /// The page that an item leads to; `None` if it is a row.
    fn child(&self, item: usize) -> Option<u64>;
}

/// Where a key belongs in a page.
pub(crate) enum Place {
    /// Somewhere in the page that an item leads to.
    Into(usize),
    /// Before the item with this index, after all others.
    Gap(usize),
}

/// A place between two rows of a tree, moving one way.
#[derive(Debug)]
pub(crate) struct Cursor<P: Pager> {
    pager: Arc<P>,
    direction: Direction,
    // Each page on the way down, with the gap before the items that are still to come or after those.
    stack: Vec<(P::Page, usize)>,
}

/// No tree of pages is deeper: at two children a page, this is more pages than can be numbered.
const MAX_DEPTH: usize = 64;

impl<P: Pager> Cursor<P> {
    /// Starts at the end of the tree that the direction comes from.
    pub(crate) fn at_end(pager: Arc<P>, root: u64, direction: Direction) -> Result<Self, SourceError> {
        let mut cursor = Self { pager, direction, stack: Vec::new() };
        cursor.push(root)?;
        Ok(cursor)
    }

    /// Starts in the gap that `place` finds, page by page.
    pub(crate) fn at(
        pager: Arc<P>,
        root: u64,
        direction: Direction,
        mut place: impl FnMut(&P::Page) -> Result<Place, SourceError>,
    ) -> Result<Self, SourceError> {
        let mut cursor = Self { pager, direction, stack: Vec::new() };
        let mut number = root;
        loop {
            let page = cursor.pager.page(number, cursor.stack.len())?;
            match place(&page)? {
                Place::Gap(gap) => {
                    cursor.stack.push((page, gap));
                    return Ok(cursor);
                }
                Place::Into(item) => {
                    let Some(child) = page.child(item) else {
                        cursor.stack.push((page, item));
                        return Ok(cursor);
                    };
                    if cursor.stack.len() >= MAX_DEPTH {
                        return Err(cursor.pager.too_deep(child));
                    }
                    let gap = if direction == Direction::Ascending { item + 1 } else { item };
                    cursor.stack.push((page, gap));
                    number = child;
                }
            }
        }
    }

    /// Moves over the next row: its page and its index in it. `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(&P::Page, usize)>, SourceError> {
        let item = loop {
            let Some((page, gap)) = self.stack.last_mut() else { return Ok(None) };
            let item = match self.direction {
                Direction::Ascending if *gap < page.items() => {
                    *gap += 1;
                    *gap - 1
                }
                Direction::Descending if *gap > 0 => {
                    *gap -= 1;
                    *gap
                }
                _ => {
                    self.stack.pop();
                    continue;
                }
            };
            match page.child(item) {
                Some(child) => self.push(child)?,
                None => break item,
            }
        };
        Ok(self.stack.last().map(|(page, _)| (page, item)))
    }

    fn push(&mut self, number: u64) -> Result<(), SourceError> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.pager.too_deep(number));
        }
        let page = self.pager.page(number, self.stack.len())?;
        let gap = if self.direction == Direction::Ascending { 0 } else { page.items() };
        self.stack.push((page, gap));
        Ok(())
    }
}
