use keyplan_codec::Score;

/// A value of an argument.
///
/// Records, alternatives and keys hold one value for each argument of their sequence, in order; what the
/// arguments are called is known to the model.
///
/// Every value equals itself, also a float that is not a number: what counts is which argument it is.
#[derive(Clone, Debug)]
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

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a == b || a.to_bits() == b.to_bits(),
            (Self::Unsigned(a), Self::Unsigned(b)) => a == b,
            (Self::Signed(a), Self::Signed(b)) | (Self::Time(a), Self::Time(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b))
            | (Self::Nibbles(a), Self::Nibbles(b))
            | (Self::Digest(a), Self::Digest(b)) => a == b,
            (Self::Score(a), Self::Score(b)) => a == b,
            (Self::Record(a), Self::Record(b)) | (Self::List(a), Self::List(b)) => a == b,
            (Self::Choice(i, a), Self::Choice(j, b)) => i == j && a == b,
            (Self::Option(a), Self::Option(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_equals_itself_and_no_other() {
        let nan = |bits: u64| Value::List(vec![Value::Float(f64::from_bits(bits))]);
        assert_eq!(nan(0x7ff8_0000_0000_0000), nan(0x7ff8_0000_0000_0000));
        assert_ne!(nan(0x7ff8_0000_0000_0000), nan(0x7ff8_0000_0000_0001));
        assert_ne!(Value::Bytes(vec![1]), Value::Nibbles(vec![1]));
        assert_ne!(Value::Time(1), Value::Signed(1));
        assert_ne!(Value::Record(Vec::new()), Value::List(Vec::new()));
    }
}
