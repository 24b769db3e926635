//! One claim about a layout, judged by the decoder and encoder for plans known at run time.

use keyplan_plan::dynamic::{Value, encode, other_layout, readings};
use keyplan_plan::notation::{write_json, write_string};

use super::Part;

/// What must come of arguments or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both directions agree.
    Valid,
    /// The arguments make the bytes, which are read as other arguments.
    Lossy,
    /// The arguments are refused, since their bytes have another reading.
    Guarded,
    /// The arguments are refused.
    Refused,
    /// The bytes are refused.
    Invalid,
}

impl Outcome {
    /// The word in a line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Lossy => "lossy",
            Self::Guarded => "guarded",
            Self::Refused => "refused",
            Self::Invalid => "invalid",
        }
    }
}

/// A claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What must come of it.
    pub outcome: Outcome,
    values: Option<Vec<Value>>,
    bytes: Option<Vec<u8>>,
    /// Where bytes are refused, in which segment, and why.
    fault: Option<(usize, String, String)>,
}

impl Case {
    /// The bytes, if it is about some.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// The arguments, if it is about some.
    pub fn values(&self) -> Option<&[Value]> {
        self.values.as_deref()
    }

    /// Where bytes are refused, and in which segment.
    pub fn place(&self) -> Option<(usize, &str)> {
        self.fault.as_ref().map(|(offset, segment, _)| (*offset, segment.as_str()))
    }

    /// The claim as a line of JSON.
    pub fn line(&self, part: &Part<'_>) -> String {
        let mut out = Vec::from(*b"{\"part\":");
        write_string(&mut out, &part.path);
        out.extend_from_slice(format!(",\"result\":\"{}\"", self.outcome.word()).as_bytes());
        if let Some(values) = &self.values {
            out.extend_from_slice(b",\"args\":");
            write_json(&mut out, part.sequence, values);
        }
        if let Some(bytes) = &self.bytes {
            out.extend_from_slice(format!(",\"hex\":\"{}\"", keyplan_plan::notation::hex(bytes)).as_bytes());
        }
        if let Some((offset, segment, reason)) = &self.fault {
            out.extend_from_slice(format!(",\"offset\":{offset},\"segment\":").as_bytes());
            write_string(&mut out, segment);
            out.extend_from_slice(b",\"reason\":");
            write_string(&mut out, reason);
        }
        out.push(b'}');
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// What must come of arguments. Those that a digest stands for are written as that digest.
pub fn judge_args(part: &Part<'_>, values: Vec<Value>) -> Case {
    let mut bytes = Vec::new();
    if encode(part.sequence, &values, &mut bytes).is_err() {
        return Case { outcome: Outcome::Refused, values: Some(values), bytes: None, fault: None };
    }
    let first = readings(part.sequence, &bytes, 1).ok().and_then(|found| found.readings.into_iter().next());
    let own = part.guarded.then_some((part.path.as_str(), part.sequence));
    let own = own.and_then(|own| other_layout([own], &part.path, &values, &bytes));
    let other = part.others.iter().find(|other| readings(other, &bytes, 1).is_ok());
    let outcome = if own.is_some() || other.is_some() {
        Outcome::Guarded
    } else if first.as_ref() == Some(&values) {
        Outcome::Valid
    } else {
        Outcome::Lossy
    };
    Case { outcome, values: Some(values), bytes: Some(bytes), fault: None }
}

/// What must come of bytes.
pub fn judge_bytes(part: &Part<'_>, bytes: Vec<u8>) -> Case {
    match readings(part.sequence, &bytes, 1) {
        Ok(found) => match found.readings.into_iter().next() {
            Some(values) => judge_args(part, values),
            None => Case { outcome: Outcome::Invalid, values: None, bytes: Some(bytes), fault: None },
        },
        Err(failure) => {
            let reason = if failure.exhausted {
                "the layout allows too many splits of this key".to_owned()
            } else {
                failure.fault.to_string()
            };
            let fault = Some((failure.offset, failure.segment, reason));
            Case { outcome: Outcome::Invalid, values: None, bytes: Some(bytes), fault }
        }
    }
}
