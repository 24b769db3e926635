//! What a piece of a key may be, and how it is written in a plan.

use std::fmt::Write as _;

use crate::class::Class;

/// The lengths that something was seen with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Every length, ascending; at most [`Seen::MOST`].
    set: Vec<usize>,
    min: usize,
    max: usize,
    count: usize,
}

impl Seen {
    const MOST: usize = 3;

    pub(crate) fn of(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut seen = Self { set: Vec::new(), min: usize::MAX, max: 0, count: 0 };
        for length in lengths {
            seen.min = seen.min.min(length);
            seen.max = seen.max.max(length);
            seen.count += 1;
            if seen.set.len() <= Self::MOST
                && let Err(at) = seen.set.binary_search(&length)
            {
                seen.set.insert(at, length);
            }
        }
        seen.min = seen.min.min(seen.max);
        seen
    }

    pub(crate) fn fixed(&self) -> Option<usize> {
        (self.min == self.max).then_some(self.min)
    }

    pub(crate) const fn min(&self) -> usize {
        self.min
    }

    /// How many lengths lie between the least and the greatest.
    pub(crate) const fn span(&self) -> usize {
        self.max - self.min + 1
    }

    /// As lengths of the language: one, a few that come again and again, or a minimum.
    fn notation(&self) -> Option<String> {
        if let Some(fixed) = self.fixed() {
            return Some(fixed.to_string());
        }
        if self.set.len() <= Self::MOST && self.count >= 8 * self.set.len() && self.min > 0 {
            let all: Vec<String> = self.set.iter().map(usize::to_string).collect();
            return Some(all.join(" | "));
        }
        (self.min > 0).then(|| "1..".to_owned())
    }
}

/// The order and sign of an integer of fixed width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    Big,
    Little,
    Signed,
    SignFlip,
    Tick,
}

/// How a length is written before what it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Frame {
    Len8,
    Len16,
    Len32,
    VarLen,
    Len64Le,
}

impl Frame {
    pub(crate) const ALL: [Self; 5] = [Self::Len8, Self::Len16, Self::Len32, Self::VarLen, Self::Len64Le];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Len8 => "len8",
            Self::Len16 => "len16",
            Self::Len32 => "len32",
            Self::VarLen => "varlen",
            Self::Len64Le => "len64le",
        }
    }

    /// Splits a rest into what is framed and what follows, with how many bytes the length takes.
    pub(crate) fn split(self, rest: &[u8]) -> Option<(usize, &[u8])> {
        let (header, length) = match self {
            Self::Len8 => (1, u128::from(*rest.first()?)),
            Self::Len16 => (2, number(rest.get(..2)?)),
            Self::Len32 => (4, number(rest.get(..4)?)),
            Self::Len64Le => (8, number_le(rest.get(..8)?)),
            Self::VarLen => match rest {
                [low @ 0..=127, ..] => (1, u128::from(*low)),
                [low, high @ 1..=127, ..] => (2, u128::from(*low & 127) | u128::from(*high) << 7),
                _ => return None,
            },
        };
        let length = usize::try_from(length).ok()?;
        let content = rest.get(header..)?.get(..length)?;
        Some((header, content))
    }
}

/// What the bytes of a piece are read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    Literal(Vec<u8>),
    Int { width: usize, order: Order },
    Dec,
    DecPadded(usize),
    Hex { lengths: Seen, upper: bool },
    Bech32 { hrp: String, lengths: Seen },
    Time,
    Text { class: Class, lengths: Seen, separator: Option<u8> },
    Bytes(Seen),
    Framed(Frame, Box<Guess>),
}

/// What decides whether two layouts are the same but for their literals, lengths and characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Literal,
    Int(usize, Order),
    Dec,
    Hex,
    Bech32,
    Time,
    Text,
    Bytes,
    Framed(Frame),
}

impl Guess {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Literal(_) => Kind::Literal,
            Self::Int { width, order } => Kind::Int(*width, *order),
            Self::Dec | Self::DecPadded(_) => Kind::Dec,
            Self::Hex { .. } => Kind::Hex,
            Self::Bech32 { .. } => Kind::Bech32,
            Self::Time => Kind::Time,
            Self::Text { .. } => Kind::Text,
            Self::Bytes(_) => Kind::Bytes,
            Self::Framed(frame, _) => Kind::Framed(*frame),
        }
    }

    /// Whether its bytes are understood, rather than only kept.
    pub(crate) fn is_explained(&self) -> bool {
        match self {
            Self::Bytes(lengths) => lengths.fixed().is_some_and(|length| length >= 16),
            Self::Framed(_, inner) => inner.is_explained(),
            _ => true,
        }
    }

    /// A name for an argument of it.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Int { .. } | Self::Dec | Self::DecPadded(_) => "number",
            Self::Bech32 { .. } => "address",
            Self::Time => "time",
            Self::Text { .. } | Self::Literal(_) => "text",
            Self::Hex { lengths, .. } | Self::Bytes(lengths) => match lengths.fixed() {
                Some(20) => "address",
                Some(28 | 32 | 64) => "hash",
                _ => "bytes",
            },
            Self::Framed(_, inner) => inner.noun(),
        }
    }

    /// Its domain and encoding in the language.
    pub(crate) fn notation(&self) -> String {
        match self {
            Self::Literal(bytes) => literal(bytes),
            Self::Int { width, order } => {
                let bits = width * 8;
                match order {
                    Order::Big => format!("u{bits}"),
                    Order::Little => format!("u{bits}.le"),
                    Order::Signed => format!("i{bits}"),
                    Order::SignFlip => format!("i{bits}.signflip"),
                    Order::Tick => "i64.tick9".to_owned(),
                }
            }
            Self::Dec => "u64.dec".to_owned(),
            Self::DecPadded(width @ 20..) => format!("u64.dec({width})"),
            Self::DecPadded(width) => format!("u64(0..={}).dec({width})", "9".repeat(*width)),
            Self::Hex { lengths, upper } => {
                format!("{}.{}", with_lengths("bytes", lengths), if *upper { "HEX" } else { "hex" })
            }
            Self::Bech32 { hrp, lengths } => {
                // The text has an end at which its checksum still holds.
                let listed = lengths.notation().filter(|lengths| !lengths.ends_with(".."));
                let listed = listed.unwrap_or_else(|| format!("{}..=600", lengths.min().min(1)));
                format!("bytes({listed}).bech32({hrp:?})")
            }
            Self::Time => "time".to_owned(),
            Self::Text { class, lengths, separator } => {
                let class = class.notation(*separator).map(|class| format!("\"{class}\""));
                let parts: Vec<String> = class.into_iter().chain(lengths.notation()).collect();
                if parts.is_empty() { "text".to_owned() } else { format!("text({})", parts.join(", ")) }
            }
            Self::Bytes(lengths) => with_lengths("bytes", lengths),
            Self::Framed(frame, inner) => format!("{}.{}", inner.notation(), frame.word()),
        }
    }
}

fn with_lengths(word: &str, lengths: &Seen) -> String {
    lengths.notation().map_or_else(|| word.to_owned(), |lengths| format!("{word}({lengths})"))
}

/// Literal bytes: text in quotes, the rest in hex.
pub(crate) fn literal(bytes: &[u8]) -> String {
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~');
    let runs = bytes.chunk_by(|a, b| is_text(a) == is_text(b));
    let mut out: Vec<String> = Vec::new();
    for run in runs {
        if run.first().is_some_and(is_text) {
            let text: String = run.iter().map(|byte| char::from(*byte)).collect();
            out.push(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")));
        } else {
            let hex = run.iter().fold(String::from("0x"), |mut hex, byte| {
                // Writing to a string does not fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            out.push(hex);
        }
    }
    out.join(" ")
}

/// Bytes as a big-endian number; of more than 16 the last ones.
pub(crate) fn number(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |n, byte| n << 8 | u128::from(*byte))
}

/// Bytes as a little-endian number.
pub(crate) fn number_le(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |n, byte| n << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_are_written_in_the_language() {
        let seen = |lengths: &[usize]| Seen::of(lengths.iter().copied());
        assert_eq!(literal(b"\x01\x02a/\""), "0x0102 \"a/\\\"\"");
        assert_eq!(Guess::Bytes(seen(&[32, 32])).notation(), "bytes(32)");
        let often: Vec<usize> = [20, 32].repeat(8);
        assert_eq!(Guess::Bytes(seen(&often)).notation(), "bytes(20 | 32)");
        assert_eq!(Guess::Bytes(seen(&[3, 9])).notation(), "bytes(1..)");
        assert_eq!(Guess::Bytes(seen(&[0, 9])).notation(), "bytes");
        let bech32 =
            |lengths: &[usize]| Guess::Bech32 { hrp: "osmo".to_owned(), lengths: seen(lengths) }.notation();
        assert_eq!(bech32(&[20, 20]), "bytes(20).bech32(\"osmo\")");
        assert_eq!(bech32(&[20, 32]), "bytes(1..=600).bech32(\"osmo\")");
        let class = Class::of([&b"ab"[..]]).unwrap().widened();
        let text = Guess::Text { class, lengths: seen(&[2, 5]), separator: None };
        let framed = Guess::Framed(Frame::Len16, Box::new(text));
        assert_eq!(framed.notation(), "text(\"a-z\", 1..).len16");
        assert_eq!(Frame::VarLen.split(&[0x81, 0x00, 1]), None);
        assert_eq!(Frame::Len16.split(&[0, 2, 7, 8, 9]), Some((2, &[7, 8][..])));
    }
}
