use std::ops::Bound;

use keyplan::codec::Score;
use keyplan_store::Direction;
use keyplan_store::structure::{ScoreRange, Search, SearchMode, SetScore, Structures};

use super::layout::{read_outpoint, read_txid};
use super::names::{SortedSet, TokenList};
use super::{OneSat, OneSatError, Outpoint, TokenId, Txid};

/// A part of a sorted set: places in the chain, a direction, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceQuery {
    /// Where it starts.
    pub from: Bound<Score>,
    /// Where it ends.
    pub to: Bound<Score>,
    /// From which end.
    pub direction: Direction,
    /// How many, at most.
    pub limit: Option<usize>,
}

impl Default for PlaceQuery {
    fn default() -> Self {
        let direction = Direction::Ascending;
        Self { from: Bound::Unbounded, to: Bound::Unbounded, direction, limit: None }
    }
}

/// A member that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<M> {
    /// The member.
    pub member: M,
    /// Its place in the chain: exact, or 1Sat's float under the layout of the document.
    pub at: SetScore,
    /// The number of the set, among those asked, that it has this place in.
    pub set: usize,
}

/// Some members, and where to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPage<M> {
    /// The members.
    pub found: Vec<Found<M>>,
    /// What the next page is asked for with; `None` if this is the last.
    pub next: Option<Vec<u8>>,
}

/// A member of a sorted set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Member {
    /// An output.
    Output(Outpoint),
    /// A transaction.
    Transaction(Txid),
}

impl<S: Structures> OneSat<S> {
    /// Searches the outputs of several events: those that have raised any of them, or all, or the first and no other.
    pub fn search(
        &self,
        events: &[&str],
        mode: SearchMode,
        query: &PlaceQuery,
        token: Option<&[u8]>,
    ) -> Result<FoundPage<Outpoint>, OneSatError> {
        let keys = events.iter().map(|event| self.layout().sorted_set(SortedSet::Event(event)));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        self.find(&keys, mode, query, token, read_outpoint)
    }

    /// The outputs that have raised an event and are not spent.
    pub fn unspent(
        &self,
        event: &str,
        query: &PlaceQuery,
        token: Option<&[u8]>,
    ) -> Result<FoundPage<Outpoint>, OneSatError> {
        let keys = [
            self.layout().sorted_set(SortedSet::Event(event))?,
            self.layout().sorted_set(SortedSet::EventSpent(event))?,
        ];
        self.find(&keys, SearchMode::Difference, query, token, read_outpoint)
    }

    /// The members of a sorted set in chain order.
    pub fn range(
        &self,
        set: SortedSet<'_>,
        query: &PlaceQuery,
        token: Option<&[u8]>,
    ) -> Result<FoundPage<Member>, OneSatError> {
        let keys = [self.layout().sorted_set(set)?];
        self.find(&keys, SearchMode::Union, query, token, |bytes| {
            if set.holds_outputs() {
                read_outpoint(bytes).map(Member::Output)
            } else {
                read_txid(bytes).map(Member::Transaction)
            }
        })
    }

    /// How many members a sorted set has.
    pub fn count(&self, set: SortedSet<'_>) -> Result<u64, OneSatError> {
        Ok(self.structures().zset_count(&self.layout().sorted_set(set)?)?)
    }

    /// The place of a transaction that a topic has applied.
    pub fn topic_applied(&self, topic: &str, txid: Txid) -> Result<Option<SetScore>, OneSatError> {
        let key = self.layout().sorted_set(SortedSet::TopicTxs(topic))?;
        Ok(self.structures().zset_score(&key, &txid)?)
    }

    fn find<M>(
        &self,
        keys: &[Vec<u8>],
        mode: SearchMode,
        query: &PlaceQuery,
        token: Option<&[u8]>,
        read: impl Fn(&[u8]) -> Result<M, OneSatError>,
    ) -> Result<FoundPage<M>, OneSatError> {
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let end = |bound: Bound<Score>| {
            Ok::<_, OneSatError>(match bound {
                Bound::Included(at) => Bound::Included(self.layout().score(at)?),
                Bound::Excluded(at) => Bound::Excluded(self.layout().score(at)?),
                Bound::Unbounded => Bound::Unbounded,
            })
        };
        let scores = ScoreRange { min: end(query.from)?, max: end(query.to)? };
        let search = Search { keys: &keys, mode, scores, direction: query.direction, limit: query.limit };
        // One moment for all sets, where there can be one.
        let page = if self.structures().capabilities().snapshots {
            search.run(&*self.structures().snapshot()?, token)?
        } else {
            search.run(self.structures(), token)?
        };
        let found = page
            .hits
            .into_iter()
            .map(|hit| Ok(Found { member: read(&hit.member)?, at: hit.score, set: hit.set }));
        let found = found.collect::<Result<Vec<_>, OneSatError>>()?;
        Ok(FoundPage { found, next: page.next.map(keyplan_store::structure::SearchToken::into_bytes) })
    }

    /// Adds a token to a list. Returns whether it is new there.
    pub fn list_token(&self, list: TokenList, token: TokenId) -> Result<bool, OneSatError> {
        let token = token.text(self.layout())?;
        Ok(self.structures().set_add(&self.layout().set(list.name())?, token.as_bytes())?)
    }

    /// Removes a token from a list. Returns whether it was there.
    pub fn unlist_token(&self, list: TokenList, token: TokenId) -> Result<bool, OneSatError> {
        let token = token.text(self.layout())?;
        Ok(self.structures().set_remove(&self.layout().set(list.name())?, token.as_bytes())?)
    }

    /// Whether a token is on a list.
    pub fn is_listed(&self, list: TokenList, token: TokenId) -> Result<bool, OneSatError> {
        let token = token.text(self.layout())?;
        Ok(self.structures().set_contains(&self.layout().set(list.name())?, token.as_bytes())?)
    }

    /// The ids of the tokens on a list, as text.
    pub fn listed(&self, list: TokenList) -> Result<Vec<String>, OneSatError> {
        let key = self.layout().set(list.name())?;
        let members = self.structures().set_members(&key)?;
        members.map(|member| Ok(String::from_utf8_lossy(&member?).into_owned())).collect()
    }
}
