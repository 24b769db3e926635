//! What was proved of a plan, in a form that can be checked again.
//!
//! [`certify`] writes down a report: every statement with its verdict, and with each verdict what it rests on. A
//! refutation rests on its keys, given as arguments and as hex. A proof rests on a short reason where one exists: lengths
//! or bytes in which two layouts differ, marks at the end of every argument, the order of every encoding, the longest key.
//!
//! [`verify`] checks a certificate against a plan with code that shares nothing with the prover but the model and the
//! codec: it encodes every witness again and looks at every reason itself. **Not every statement has such a reason.**
//! Those that do not (what only a product of graphs decides: ranges, lengths that must be reckoned with, and flaws that
//! are accepted for what causes them) are proved again by the same prover and compared; [`Verified::recomputed`] lists
//! them, and for them a certificate is no more than a record. The plan's fingerprint, name and claims must be those of
//! the certificate.
//!
//! That pruning removes a range and nothing else is not a statement of its own: it follows from three about the scan that the
//! rows are found by, and from one about the family's keys. The certificate names them, and [`verify`] looks whether they are
//! there and hold.
//!
//! The way from the last release is a record, too: [`verify_carried`] proves it anew from both plans.

mod carried;
mod ends;
mod order;
mod pruned;
mod reason;
mod standing;
mod verify;
mod witness;

use keyplan_plan::model::{Plan, ScanId};
use serde::{Deserialize, Serialize};

use crate::guarantee::Guarantee;
use crate::proof::{Report, Statement, Verdict};
use crate::prove::Options;
use reason::{Distance, Layouts};

pub use carried::{Carried, CarriedObligation, verify_carried};
pub use pruned::Pruned;
pub use standing::Standing;
pub use verify::{MOST_STEPS, Rejected, Verified, verify};
pub use witness::{Fault, Key, Keys};

/// The version of the format that is written and read.
pub const FORMAT: u32 = 1;

/// What was proved of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The version of this format.
    pub format: u32,
    /// The plan's name.
    pub plan: String,
    /// The plan's fingerprint, in hex: it moves with every byte that the plan can write.
    pub fingerprint: String,
    /// The hash of the schemas of its values, in hex, if it has any: the fingerprint does not move with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schemas: Option<String>,
    /// The engine that the keys must fit.
    pub engine: String,
    /// The most steps that the products could take.
    pub steps: u64,
    /// Every statement, as in the report.
    pub statements: Vec<Certified>,
    /// What may be pruned, and the statements by which that removes a range and nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pruned: Vec<Pruned>,
    /// How rows of the last release become rows of the plan, if it has moved since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
}

/// A statement with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certified {
    /// The code of the guarantee, such as `KP0001`.
    pub code: String,
    /// The space.
    pub space: String,
    /// The path of the family, field, member or score.
    pub family: String,
    /// The path of the other family, where the verdict is about two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// How many arguments the scan binds, where the verdict is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<usize>,
    /// Which of the scans that bind so many, where it is not the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nth: usize,
    /// Whether the plan accepts the flaw.
    pub accepted: bool,
    /// What is known.
    pub verdict: Ruling,
}

/// A verdict with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ruling {
    /// Proved.
    Holds(Ground),
    /// Proved unless a hash collides.
    Assumed {
        /// The function.
        hash: String,
        /// How many bytes of its digest are kept.
        keep: usize,
        /// Why it holds apart from that.
        ground: Ground,
    },
    /// Refuted by these keys.
    Fails(Keys),
    /// Neither, for this reason.
    Unknown(String),
}

/// Why something holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ground {
    /// Every layout whose leading literals do not already differ is told apart in this way. Of a number that is allotted:
    /// it is the family's own, and every retired prefix, by its hex, is told apart so.
    Apart(Vec<Apart>),
    /// Every argument has one reading, and its end is fixed, marked by its own bytes or by a byte that it cannot
    /// hold, or known from the end of the key.
    Marked,
    /// The longest key is not longer than the engine allows.
    Short,
    /// Every argument that a scan leaves free sorts by its bytes, and what follows it does not undo that.
    Sorted,
    /// No two names that are known have one digest.
    Digests,
    /// The prover said so; it is asked again.
    Product,
}

/// How a layout is told apart from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apart {
    /// The path of the other layout.
    pub other: String,
    /// How.
    pub by: By,
}

/// How two layouts are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum By {
    /// The longest of one is shorter than the shortest of the other.
    Length,
    /// The byte at this offset is never the same.
    Start(usize),
    /// The byte at this offset from the end is never the same; 0 is the last one.
    End(usize),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Certified {
    /// Which scan it is about.
    pub(crate) fn scan_id(&self) -> Option<ScanId> {
        self.scan.map(|bound| ScanId { bound, nth: self.nth })
    }
}

impl Certificate {
    /// As JSON, with a line for each field.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Reads what [`Certificate::to_json`] wrote; what is unknown to this version is an error.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// Writes down what was proved: `report` must be what [`prove`](crate::prove) gives for the plan and the options.
pub fn certify(plan: &Plan, options: &Options, report: &Report) -> Certificate {
    let layouts = Layouts::new(plan);
    let statements: Vec<Certified> =
        report.statements.iter().map(|statement| certified(&layouts, statement)).collect();
    Certificate {
        pruned: pruned::pruned(plan, &statements),
        format: FORMAT,
        plan: plan.name.clone(),
        fingerprint: plan.fingerprint().to_string(),
        schemas: plan.schemas.digest(),
        engine: options.engine.name().to_owned(),
        steps: options.steps,
        statements,
        carried: None,
    }
}

fn certified(layouts: &Layouts<'_>, statement: &Statement) -> Certified {
    let verdict = match &statement.verdict {
        Verdict::Holds => Ruling::Holds(ground(layouts, statement)),
        Verdict::Assumed(assumption) => Ruling::Assumed {
            hash: assumption.hash.name().to_owned(),
            keep: assumption.keep,
            ground: ground(layouts, statement),
        },
        Verdict::Fails(witness) => {
            let scan = statement.scan.and_then(|id| layouts.scan(&statement.space, &statement.family, id));
            Ruling::Fails(Keys::new(layouts, witness, scan))
        }
        Verdict::Unknown(reason) => Ruling::Unknown(reason.to_string()),
    };
    Certified {
        code: statement.guarantee.code().to_owned(),
        space: statement.space.clone(),
        family: statement.family.clone(),
        other: statement.other.clone(),
        scan: statement.scan.map(|scan| scan.bound),
        nth: statement.scan.map_or(0, |scan| scan.nth),
        accepted: statement.accepted,
        verdict,
    }
}

/// The short reason of a statement that holds, if there is one.
fn ground(layouts: &Layouts<'_>, statement: &Statement) -> Ground {
    let assumed = matches!(statement.verdict, Verdict::Assumed(_));
    // What is told of a prefix does not tell what lies between it and another.
    if layouts.is_range(&statement.space, &statement.family, statement.scan) {
        return Ground::Product;
    }
    let short = match statement.guarantee {
        Guarantee::Disjoint | Guarantee::NoForeignRows if !assumed => {
            let others = layouts.others(&statement.space, &statement.family, statement.other.as_deref());
            let front = layouts.front(&statement.space, &statement.family, statement.scan);
            front.zip(others).and_then(|(front, others)| {
                let apart = |(path, other): (String, Distance)| {
                    let by = front.apart(&other, statement.scan.is_some());
                    by.map(|by| Apart { other: path, by })
                };
                let near = others.into_iter().filter(|(_, other)| !front.literals_differ(other));
                near.map(apart).collect::<Option<Vec<_>>>().map(Ground::Apart)
            })
        }
        Guarantee::Unambiguous | Guarantee::NoSiblingRows => {
            let hashes = layouts.marked(&statement.space, &statement.family, statement.scan);
            hashes.filter(|hashes| assumed || hashes.is_empty()).map(|_| Ground::Marked)
        }
        Guarantee::KeepsOut if !assumed => {
            let known = layouts.kept_out(&statement.space, &statement.family);
            known.and_then(|(own, prefixes)| {
                let near = prefixes.into_iter().filter(|(_, prefix)| !prefix.literals_differ(&own));
                let apart = |(path, prefix): (String, Distance)| {
                    prefix.apart(&own, true).map(|by| Apart { other: path, by })
                };
                near.map(apart).collect::<Option<Vec<_>>>().map(Ground::Apart)
            })
        }
        Guarantee::Allotted if !assumed => {
            let known = layouts.retired(&statement.space, &statement.family);
            known.and_then(|(own, prefixes)| {
                let near = prefixes.into_iter().filter(|(_, prefix)| !prefix.literals_differ(&own));
                let apart = |(path, prefix): (String, Distance)| {
                    prefix.apart(&own, true).map(|by| Apart { other: path, by })
                };
                near.map(apart).collect::<Option<Vec<_>>>().map(Ground::Apart)
            })
        }
        Guarantee::InOrder if !assumed => {
            let sorted =
                statement.scan.is_some_and(|id| layouts.sorted(&statement.space, &statement.family, id));
            sorted.then_some(Ground::Sorted)
        }
        Guarantee::DistinctNames => Some(Ground::Digests),
        Guarantee::Fits if !assumed => Some(Ground::Short),
        _ => None,
    };
    short.unwrap_or(Ground::Product)
}
