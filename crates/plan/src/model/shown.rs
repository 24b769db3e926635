/// The form in which people write an argument whose bytes are something else. It changes no byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Bytes as bech32 text with this human-readable part.
    Bech32(String),
    /// Bytes as hex digits, the last byte first: transaction ids of Bitcoin.
    Reversed,
    /// Twenty bytes as an address of Ethereum, whose capital letters are its checksum.
    Eip55,
    /// A number as a time: so many nanoseconds are one of it.
    Time {
        /// 1,000,000,000 for seconds.
        unit: u32,
    },
}

impl Shown {
    /// The forms of the language.
    pub const WORDS: [&str; 7] = ["bech32", "eip55", "reversed", "seconds", "millis", "micros", "nanos"];

    /// The form as it is written in a plan.
    pub fn name(&self) -> String {
        match self {
            Self::Bech32(hrp) => format!("bech32({hrp:?})"),
            Self::Reversed => "reversed".to_owned(),
            Self::Eip55 => "eip55".to_owned(),
            Self::Time { unit } => match unit {
                1_000_000_000 => "seconds",
                1_000_000 => "millis",
                1000 => "micros",
                _ => "nanos",
            }
            .to_owned(),
        }
    }
}
