use keyplan_codec::Hash;

use crate::engine::Engine;
use crate::error::{StoreError, TokenFault};
use crate::schema::PlanFingerprint;
use crate::snapshot::BytesOf;

/// Which way rows come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The smallest key first.
    #[default]
    Ascending,
    /// The largest key first.
    Descending,
}

/// Some rows of a range, and where the next ones begin.
#[derive(Debug)]
pub struct Page<E: Engine> {
    /// The rows.
    pub rows: Vec<(BytesOf<E>, BytesOf<E>)>,
    /// What the next page is asked for with; `None` if this is the last.
    pub next: Option<PageToken>,
}

/// Where a page ended, as bytes that can be handed to a stranger and taken back.
///
/// ```text
/// version 01 | fingerprint (16) | direction 00 or 01 | length of the space's name (1) | name | last key | check (8)
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageToken(Vec<u8>);

const VERSION: u8 = 1;

/// How many bytes of a hash guard a token against being changed or cut.
const CHECK: usize = 8;

impl PageToken {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its bytes, owned.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn new(
        fingerprint: PlanFingerprint,
        space: &str,
        direction: Direction,
        last: &[u8],
    ) -> Result<Self, StoreError> {
        let length = u8::try_from(space.len()).map_err(|_| StoreError::NoSpace { name: space.to_owned() })?;
        let direction = u8::from(direction == Direction::Descending);
        let head = [&[VERSION], &fingerprint.0[..], &[direction, length], space.as_bytes(), last];
        let mut token = head.concat();
        let check = Hash::Xxh3_64.digest(&token);
        token.extend_from_slice(&check);
        Ok(Self(token))
    }

    /// The last key of the page that the token was made for.
    pub(crate) fn read(
        token: &[u8],
        fingerprint: PlanFingerprint,
        space: &str,
        direction: Direction,
    ) -> Result<Vec<u8>, TokenFault> {
        let split = token.len().checked_sub(CHECK).and_then(|at| token.split_at_checked(at));
        let (head, check) = split.ok_or(TokenFault::Damaged)?;
        let (&version, rest) = head.split_first().ok_or(TokenFault::Damaged)?;
        if *Hash::Xxh3_64.digest(head) != *check {
            return Err(TokenFault::Damaged);
        }
        if version != VERSION {
            return Err(TokenFault::Version);
        }
        let (plan, rest) = rest.split_first_chunk::<16>().ok_or(TokenFault::Damaged)?;
        let (&[way, length], rest) = rest.split_first_chunk::<2>().ok_or(TokenFault::Damaged)?;
        let (name, last) = rest.split_at_checked(length.into()).ok_or(TokenFault::Damaged)?;
        if *plan != fingerprint.0 {
            return Err(TokenFault::Plan);
        }
        if name != space.as_bytes() {
            return Err(TokenFault::Space);
        }
        if way != u8::from(direction == Direction::Descending) {
            return Err(TokenFault::Direction);
        }
        Ok(last.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: PlanFingerprint = PlanFingerprint([3; 16]);

    #[test]
    fn a_token_is_refused_under_another_plan_space_or_direction() {
        let token = PageToken::new(PLAN, "cl", Direction::Ascending, &[1, 0xff]).unwrap();
        let token = token.as_bytes();
        let read = |plan, space, direction| PageToken::read(token, plan, space, direction);
        assert_eq!(read(PLAN, "cl", Direction::Ascending), Ok(vec![1, 0xff]));
        assert_eq!(read(PlanFingerprint([4; 16]), "cl", Direction::Ascending), Err(TokenFault::Plan));
        assert_eq!(read(PLAN, "c", Direction::Ascending), Err(TokenFault::Space));
        assert_eq!(read(PLAN, "cl", Direction::Descending), Err(TokenFault::Direction));
    }

    #[test]
    fn a_token_that_is_cut_or_changed_is_damaged() {
        let token = PageToken::new(PLAN, "cl", Direction::Descending, &[1, 2, 3]).unwrap().into_bytes();
        for length in 0..token.len() {
            let cut = PageToken::read(&token[..length], PLAN, "cl", Direction::Descending);
            assert_eq!(cut, Err(TokenFault::Damaged));
        }
        for at in 0..token.len() {
            let mut changed = token.clone();
            changed[at] ^= 0x10;
            assert_eq!(
                PageToken::read(&changed, PLAN, "cl", Direction::Descending),
                Err(TokenFault::Damaged)
            );
        }
        let mut later = token[..token.len() - CHECK].to_vec();
        later[0] = 2;
        later.extend_from_slice(&Hash::Xxh3_64.digest(&later.clone()));
        assert_eq!(PageToken::read(&later, PLAN, "cl", Direction::Descending), Err(TokenFault::Version));
    }
}
