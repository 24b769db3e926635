/// A key of fixed length in the making: pieces are written one after the other into an array.
///
/// The layout's length is known when it is compiled, so there is nothing to refuse: a piece that does not fit would
/// be a fault of the generator, and its tests look for it.
#[derive(Debug)]
pub struct Slots<'a>(&'a mut [u8]);

impl<'a> Slots<'a> {
    /// Starts at the front of `array`.
    #[inline]
    pub fn new<const N: usize>(array: &'a mut [u8; N]) -> Self {
        Self(array)
    }

    /// Writes the next piece.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "only inlined are the lengths constants, and the checks gone")]
    pub fn put(&mut self, piece: &[u8]) {
        let room = core::mem::take(&mut self.0);
        if let Some((slot, rest)) = room.split_at_mut_checked(piece.len()) {
            slot.copy_from_slice(piece);
            self.0 = rest;
        }
    }
}
