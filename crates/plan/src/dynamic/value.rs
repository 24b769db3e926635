use keyplan_codec::Score;

/// A value of an argument.
///
/// Records, alternatives and keys hold one value for each argument of their sequence, in order; what the
/// arguments are called is known to the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of an unsigned type.
    Unsigned(u128),
    /// Of a signed type.
    Signed(i128),
    /// A truth value.
    Bool(bool),
    /// A float; also what a float score is read back as.
    Float(f64),
    /// A byte string, or an opaque value.
    Bytes(Vec<u8>),
    /// A text.
    Text(String),
    /// 4-bit digits, one a byte.
    Nibbles(Vec<u8>),
    /// Nanoseconds since 1970.
    Time(i128),
    /// A place in chain order.
    Score(Score),
    /// A hash whose argument is not known.
    Digest(Vec<u8>),
    /// The arguments of a record.
    Record(Vec<Value>),
    /// The index of an alternative and its arguments.
    Choice(usize, Vec<Value>),
    /// Present or absent.
    Option(Option<Box<Value>>),
    /// Elements in a row.
    List(Vec<Value>),
}

impl Value {
    /// What kind of value it is.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unsigned(_) => "an unsigned integer",
            Self::Signed(_) => "a signed integer",
            Self::Bool(_) => "a truth value",
            Self::Float(_) => "a float",
            Self::Bytes(_) => "bytes",
            Self::Text(_) => "text",
            Self::Nibbles(_) => "nibbles",
            Self::Time(_) => "a time",
            Self::Score(_) => "a score",
            Self::Digest(_) => "a digest",
            Self::Record(_) => "a record",
            Self::Choice(..) => "a choice",
            Self::Option(_) => "an option",
            Self::List(_) => "a list",
        }
    }
}
