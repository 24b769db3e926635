use crate::migrate::{Migration, MigrationError};

use super::Error;
use keyplan_typed::{Key, Value};

/// Rows of a migration that a function of the program makes again, by their types.
///
/// The mapping of the two plans still says which family rows go to, and is proved; what it says of arguments and values is not
/// used. An argument that only the program knows has any constant in the plan's `from` clause. Nothing proves that a function
/// makes different keys of different rows: two that meet are refused, and both are still there. Old rows are kept until the end, to go back with.
///
/// ```
/// mod v1 {
///     keyplan::plan! { plan bank; space state { key balance = 0x01 owner: u32 -> cents: u64; } }
/// }
/// mod v2 {
///     keyplan::plan! { plan bank; space state { key balance = 0x02 owner: u64 -> whole: u64 cents: u8 from state.balance; } }
/// }
/// use keyplan::store::MapRows as _;
/// use keyplan::store::raw::migrate::Migration;
/// # use keyplan_plan::Compiled;
/// # fn prepare<'p>(old: &'p Compiled, new: &'p Compiled, mapping: keyplan_plan::mapping::Mapping) -> Result<(), Box<dyn std::error::Error>> {
/// let mut migration = Migration::between(old, new, mapping)?;
/// migration.map::<v1::bank::state::Balance, v2::bank::state::Balance>(|key, value, row| {
///     let new = v2::bank::state::Balance { owner: u64::from(key.owner) };
///     let cents = u8::try_from(value.cents % 100).unwrap_or_default();
///     row.put(&new, &v2::bank::state::BalanceValue { whole: value.cents / 100, cents })
/// })?;
/// # Ok(())
/// # }
/// ```
pub trait MapRows<'p> {
    /// Has rows of the family `Old` made again as rows of `New`.
    fn map<Old: Key, New: Key>(
        &mut self,
        map: impl Fn(Old::Decoded<'_>, Old::Value<'_>, &mut NewRow) -> Result<(), Error> + Send + Sync + 'p,
    ) -> Result<(), Error>;
}

/// Where a function puts the row that it makes.
#[derive(Debug)]
pub struct NewRow {
    family: &'static str,
    made: Option<(Vec<u8>, Vec<u8>)>,
}

impl NewRow {
    /// Puts the row, in place of one that was put before.
    pub fn put<K: Key>(&mut self, key: &K, value: &K::Value<'_>) -> Result<(), Error> {
        if K::FAMILY != self.family {
            return Err(Error::OtherFamily { expected: self.family, found: K::FAMILY });
        }
        self.made = Some((key.to_vec()?, value.to_vec()?));
        Ok(())
    }
}

impl<'p> MapRows<'p> for Migration<'p> {
    fn map<Old: Key, New: Key>(
        &mut self,
        map: impl Fn(Old::Decoded<'_>, Old::Value<'_>, &mut NewRow) -> Result<(), Error> + Send + Sync + 'p,
    ) -> Result<(), Error> {
        let refused = |error: MigrationError| Error::Migration(Box::new(error));
        let target = self.target_of(Old::FAMILY).map(ToOwned::to_owned);
        if target.as_deref().is_some_and(|target| target != New::FAMILY) {
            let (from, to) = (Old::FAMILY.to_owned(), New::FAMILY.to_owned());
            return Err(refused(MigrationError::OtherFamily { from, to }));
        }
        self.map_rows(Old::FAMILY, move |key, value| {
            let key = Old::decode(key).map_err(|error| error.to_string())?;
            let value = <Old::Value<'_> as Value<'_>>::decode(value).map_err(|error| error.to_string())?;
            let mut row = NewRow { family: New::FAMILY, made: None };
            map(key, value, &mut row).map_err(|error| error.to_string())?;
            row.made.ok_or_else(|| "the function of the program made no row".to_owned())
        })
        .map_err(refused)
    }
}
