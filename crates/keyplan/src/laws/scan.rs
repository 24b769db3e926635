use alloc::vec::Vec;
use core::ops::Bound;

use keyplan_plan::dynamic::Value;

use super::{FromValue, Misfit};
use crate::typed::{KeyError, OrderedScan, Scan, ScanOf};

/// A scan of a plan.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ScanEntry {
    /// The family that is scanned.
    pub family: &'static str,
    /// How many of its arguments are bound.
    pub bound: usize,
    /// Whether the prefix ends with the last of them.
    pub bare: bool,
    /// Whether the argument after them may bound the rows.
    pub ordered: bool,
    /// The rows, from the values of the bound arguments. A limit on a scan without order is inexpressible.
    pub rows: fn(&[Value], &Window<'_>) -> Result<Rows, Misfit>,
}

impl ScanEntry {
    /// What [`plan!`](crate::plan!) emits.
    pub const fn new(
        family: &'static str,
        (bound, bare): (usize, bool),
        ordered: bool,
        rows: fn(&[Value], &Window<'_>) -> Result<Rows, Misfit>,
    ) -> Self {
        Self { family, bound, bare, ordered, rows }
    }
}

/// Which rows of a scan are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window<'w> {
    /// Limits by the first argument that is not bound.
    pub limits: &'w [(Limit, Value)],
    /// The row after which to go on.
    pub cursor: Option<&'w [u8]>,
    /// Whether to go from the last row to the first.
    pub reverse: bool,
}

/// Where rows begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no other bounds")]
pub enum Limit {
    /// At the argument.
    AtOrAbove,
    /// After it.
    Above,
    /// Before it.
    Below,
    /// With it.
    AtOrBelow,
}

/// The rows of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rows {
    /// What every key begins with.
    pub prefix: Vec<u8>,
    /// The keys.
    pub range: (Bound<Vec<u8>>, Bound<Vec<u8>>),
}

/// What a function that begins a scan returns.
pub trait IntoScan {
    /// The scan.
    type Of: ScanOf;

    /// The scan, if its arguments are not refused.
    fn into_scan(self) -> Result<Scan<'static, Self::Of>, KeyError>;
}

impl<S: ScanOf> IntoScan for Scan<'static, S> {
    type Of = S;

    fn into_scan(self) -> Result<Self, KeyError> {
        Ok(self)
    }
}

impl<S: ScanOf> IntoScan for Result<Scan<'static, S>, KeyError> {
    type Of = S;

    fn into_scan(self) -> Self {
        self
    }
}

/// The rows of a scan.
pub fn rows(begun: impl IntoScan, window: &Window<'_>) -> Result<Rows, Misfit> {
    if window.limits.is_empty() {
        Ok(seen(&begun.into_scan().map_err(Misfit::Scan)?, window))
    } else {
        Err(Misfit::Inexpressible)
    }
}

/// The rows of a scan that the argument after the bound ones may limit.
pub fn limited<I: IntoScan>(begun: I, window: &Window<'_>) -> Result<Rows, Misfit>
where
    I::Of: OrderedScan,
    for<'n> <I::Of as OrderedScan>::Next<'n>: FromValue<'n>,
{
    let mut scan = begun.into_scan().map_err(Misfit::Scan)?;
    for (limit, value) in window.limits {
        let next = FromValue::from_value(value)?;
        scan = match limit {
            Limit::AtOrAbove => scan.from(next),
            Limit::Above => scan.after(next),
            Limit::Below => scan.to(next),
            Limit::AtOrBelow => scan.through(next),
        };
    }
    Ok(seen(&scan, window))
}

fn seen<S: ScanOf>(scan: &Scan<'static, S>, window: &Window<'_>) -> Rows {
    let mut scan: Scan<'_, S> = scan.clone();
    if window.reverse {
        scan = scan.rev();
    }
    if let Some(cursor) = window.cursor {
        scan = scan.after_key(cursor);
    }
    let (start, end) = scan.range();
    Rows { prefix: scan.prefix().to_vec(), range: (start.map(<[u8]>::to_vec), end.map(<[u8]>::to_vec)) }
}
