use crate::number::varint;

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'m> {
    Number(u64),
    Bytes(&'m [u8]),
}

impl<'m> Field<'m> {
    pub(super) const fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Bytes(_) => None,
        }
    }

    pub(super) const fn bytes(self) -> Option<&'m [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Number(_) => None,
        }
    }
}

/// Hands on each field of a protobuf message with its number; `None` if the message is cut off or malformed.
pub(super) fn fields<'m>(
    mut message: &'m [u8],
    mut each: impl FnMut(u64, Field<'m>) -> Option<()>,
) -> Option<()> {
    while !message.is_empty() {
        let (tag, rest) = varint(message)?;
        let (field, rest) = match tag & 7 {
            0 => varint(rest).map(|(number, rest)| (Field::Number(number), rest))?,
            2 => {
                let (len, rest) = varint(rest)?;
                let (bytes, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
                (Field::Bytes(bytes), rest)
            }
            1 => (Field::Number(0), rest.get(8..)?),
            5 => (Field::Number(0), rest.get(4..)?),
            _ => return None,
        };
        each(tag >> 3, field)?;
        message = rest;
    }
    Some(())
}
