use super::btree::varint;

/// A column of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column<'r> {
    Null,
    /// A whole number.
    Integer(i64),
    Real,
    Text(&'r [u8]),
    Blob(&'r [u8]),
}

impl<'r> Column<'r> {
    /// The bytes of a text or a blob.
    pub(super) const fn bytes(self) -> Option<&'r [u8]> {
        match self {
            Self::Text(bytes) | Self::Blob(bytes) => Some(bytes),
            Self::Null | Self::Integer(_) | Self::Real => None,
        }
    }

    /// What it is called in messages.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Integer(_) => "a number",
            Self::Real => "a float",
            Self::Text(_) => "text",
            Self::Blob(_) => "a blob",
        }
    }
}

/// The column at `index` of a record; `None` if the bytes end before it does.
///
/// A record is `size of this head | kind of each column | columns`, sizes and kinds as varints.
pub(super) fn column(record: &[u8], index: usize) -> Option<Column<'_>> {
    let (head, _) = varint(record)?;
    let head = usize::try_from(head).ok()?;
    let mut kinds = varint(record.get(..head)?)?.1;
    let mut at = head;
    for before in 0.. {
        if kinds.is_empty() {
            // Columns that were added to a table later are missing in its older rows.
            return Some(Column::Null);
        }
        let (kind, rest) = varint(kinds)?;
        kinds = rest;
        let len = usize::try_from(length(kind)?).ok()?;
        let end = at.checked_add(len)?;
        if before == index {
            let bytes = record.get(at..end)?;
            return Some(match kind {
                0 => Column::Null,
                1..=6 => Column::Integer(integer(bytes)),
                7 => Column::Real,
                8 => Column::Integer(0),
                9 => Column::Integer(1),
                kind if kind % 2 == 0 => Column::Blob(bytes),
                _ => Column::Text(bytes),
            });
        }
        at = end;
    }
    None
}

fn length(kind: u64) -> Option<u64> {
    Some(match kind {
        0 | 8 | 9 => 0,
        1..=4 => kind,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        kind => (kind - 12) / 2,
    })
}

/// A number in two's complement.
fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|&first| first >= 0x80);
    bytes.iter().fold(if negative { -1 } else { 0 }, |number: i64, &byte| number << 8 | i64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_behind_the_head() {
        let record = [4, 1, 16, 0x17, 0xff, 9, 8, b'h', b'e', b'l', b'l', b'o'];
        assert_eq!(column(&record, 0), Some(Column::Integer(-1)));
        assert_eq!(column(&record, 1), Some(Column::Blob(&[9, 8])));
        assert_eq!(column(&record, 2), Some(Column::Text(b"hello")));
        assert_eq!(column(&record, 3), Some(Column::Null));
        assert_eq!(column(&record[..8], 2), None);
        assert_eq!(column(&[2, 11], 0), None);
    }
}
