//! Changes to a plan's text that make a finding go away, each proved before it is offered.
//!
//! [`repairs`] knows a few changes that help against a flaw, applies each to the text, reads and proves the plan again,
//! and keeps those after which the flaw is gone and no other has come. What it offers is therefore right; that it
//! offers nothing does not mean that there is nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use keyplan_plan::Compiled;
use keyplan_plan::diag::Span;
use keyplan_plan::model::{
    Argument, DottedPath, Extent, Family, Fingerprint, Frame, IntEncoding, IntShape, Plan, ScanId,
    ScoreEncoding, Segment, Sequence, Shape, Space, Width,
};
use keyplan_plan::order::{map, set, sort_by_key};

use crate::guarantee::Guarantee;
use crate::proof::{Report, Statement, Verdict};
use crate::prove::{Options, prove, prove_some};

/// The most candidates that are proved for one finding.
const MOST_PROOFS: usize = 24;

/// A change to a plan's text that takes a flaw away and brings no other. Proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What it does, as a sentence without its full stop.
    pub title: String,
    /// Where the text is replaced, and by what.
    pub edit: (Span, String),
    /// By how many bytes keys of the family grow at least and at most; `None` if it has no longest key.
    pub cost: (i64, Option<i64>),
    /// Whether keys that are already written have other bytes under the new plan.
    pub needs_migration: bool,
    /// Whether the plan still claims all that it claimed before.
    pub keeps_claims: bool,
    /// Whether the plan still states every scan in the same words. A scan is what a program does, and where the plan does not say
    /// so the program does it all the same.
    pub keeps_scans: bool,
    diff: String,
}

impl Repair {
    /// The change as a unified diff.
    pub fn diff(&self) -> &str {
        &self.diff
    }

    /// What it does and what it costs, with the lines that it takes out and puts in.
    pub fn summary(&self) -> String {
        let migration = if self.needs_migration { "needs a migration" } else { "needs no migration" };
        let mut out = format!("{} (proved; {}; {migration})", self.title, self.price());
        let changed = self.diff.lines().filter(|line| line.starts_with(['-', '+']));
        for line in changed.filter(|line| !line.starts_with("---") && !line.starts_with("+++")) {
            out.push('\n');
            out.push_str(line);
        }
        out
    }

    fn price(&self) -> String {
        let bytes = |n: i64| if n.abs() == 1 { "byte" } else { "bytes" };
        match self.cost {
            (0, Some(0)) => "keys keep their length".to_owned(),
            (least, Some(most)) if least == most => format!("{least:+} {} per key", bytes(least)),
            (least, Some(most)) => format!("{least:+} to {most:+} bytes per key"),
            (least, None) => format!("{least:+} {} per key or more", bytes(least)),
        }
    }
}

/// Finds repairs for a statement that fails or is unknown, the cheapest first. Those that write no byte otherwise come
/// before those that do.
pub fn repairs(compiled: &Compiled, statement: &Statement, options: &Options) -> Vec<Repair> {
    let Some(plan) = &compiled.plan else { return Vec::new() };
    let report = prove(plan, options);
    Workshop::new(compiled, plan, &report, options).repairs(statement).unwrap_or_default()
}

/// The work that is always allowed, so that small plans get all that there is.
const LEAST_WORK: u64 = 1_000_000;

/// The most work that is done for one plan, in steps of the prover: about a second.
const MOST_WORK: u64 = 10_000_000;

/// How many times the work of the proof is allowed.
const TIMES_THE_PROOF: u64 = 5;

/// What drawing one family costs, in steps of the prover.
const STEPS_PER_FAMILY: u64 = 64;

/// Where repairs of one plan are looked for, with as much work as that is worth. No clock is read: the same plan gets the
/// same repairs on every machine.
pub(crate) struct Workshop<'p> {
    compiled: &'p Compiled,
    plan: &'p Plan,
    options: Options,
    before: BTreeSet<Flaw>,
    /// Families that share keys with others, in spaces where not every pair was compared.
    crowded: BTreeSet<&'p str>,
    layouts: BTreeMap<&'p str, (Fingerprint, Claims)>,
    fingerprint: Fingerprint,
    left: u64,
}

/// The scans of a family: how many arguments each binds, how much of the key it covers, whether it claims an order.
type Claims = Vec<(usize, usize, bool)>;

impl<'p> Workshop<'p> {
    pub(crate) fn new(compiled: &'p Compiled, plan: &'p Plan, report: &'p Report, options: &Options) -> Self {
        let size: usize = compiled.sources.files().iter().map(|file| file.text.len()).sum();
        let proof = work(size, plan).saturating_add(report.steps);
        let crowded = report.left_out.iter().flat_map(|left| {
            let overlaps = report.statements.iter().filter(move |statement| {
                statement.space == left.space
                    && statement.guarantee == Guarantee::Disjoint
                    && is_flawed(statement)
            });
            overlaps.flat_map(|statement| [Some(statement.family.as_str()), statement.other.as_deref()])
        });
        Self {
            compiled,
            plan,
            options: Options { steps: (options.steps / 8).max(1_000_000), ..options.clone() },
            before: flaws(report),
            crowded: set(crowded.flatten()),
            layouts: map(plan.families().map(|(_, family)| (family.path.as_str(), described(family)))),
            fingerprint: plan.fingerprint(),
            left: proof.saturating_mul(TIMES_THE_PROOF).clamp(LEAST_WORK, MOST_WORK),
        }
    }

    /// The repairs of a statement, the cheapest first; `None` if there is no work left to look for them.
    pub(crate) fn repairs(&mut self, statement: &Statement) -> Option<Vec<Repair>> {
        if !is_flawed(statement) {
            return Some(Vec::new());
        }
        let Some((space, family)) = subject(self.plan, &statement.space, &statement.of) else {
            return Some(Vec::new());
        };
        let mut found = Vec::new();
        let candidates = candidates(space, family, statement, self.plan, self.compiled);
        for candidate in candidates.into_iter().take(MOST_PROOFS) {
            if self.left == 0 {
                return None;
            }
            found.extend(self.tried(statement, &family.path, candidate));
        }
        let weight = |repair: &Repair| {
            let most = repair.cost.1.unwrap_or(repair.cost.0);
            (repair.needs_migration, most.max(repair.cost.0), most.min(repair.cost.0))
        };
        sort_by_key(&mut found, weight);
        Some(found)
    }

    /// A candidate as a repair, if it takes the flaw away and brings no other. What it does not change is not proved again.
    fn tried(&mut self, statement: &Statement, family: &str, candidate: Candidate) -> Option<Repair> {
        let source = self.compiled.sources.get(candidate.span.file)?;
        let range = candidate.span.range();
        let edited =
            format!("{}{}{}", source.text.get(..range.start)?, candidate.text, source.text.get(range.end..)?);
        let new = self.compiled_again(&source.name, &edited)?;
        let differ = new
            .families()
            .filter(|(_, family)| self.layouts.get(family.path.as_str()) != Some(&described(family)));
        let mut changed = set(differ.map(|(_, family)| family.path.clone()));
        changed.insert(family.to_owned());
        let (report, steps) = prove_some(&new, &self.options, Some(&changed));
        self.left = self.left.saturating_sub(work(edited.len(), &new).saturating_add(steps));
        let after = flaws(&report);
        if after.contains(&flaw(statement)) || after.iter().any(|flaw| !self.is_known(flaw)) {
            return None;
        }
        let key = |plan: &Plan| {
            subject(plan, &statement.space, &statement.of).map(|(_, family)| family.key.width())
        };
        let cost = growth(key(self.plan)?, key(&new)?);
        let needs_migration = self.fingerprint != new.fingerprint();
        let diff = unified(&source.name, &source.text, &edited);
        Some(Repair {
            title: candidate.title,
            edit: (candidate.span, candidate.text),
            cost,
            needs_migration,
            keeps_claims: candidate.keeps_claims,
            keeps_scans: candidate.keeps_scans,
            diff,
        })
    }

    /// The plan with one file changed; `None` if it does not compile then.
    fn compiled_again(&mut self, name: &str, text: &str) -> Option<Plan> {
        let sources = &self.compiled.sources;
        let text_of = |wanted: &str| {
            if wanted == name {
                return Some(text.to_owned());
            }
            sources.find(wanted).and_then(|id| sources.get(id)).map(|file| file.text.clone())
        };
        let root = sources.files().first()?;
        let again = keyplan_plan::compile(&root.name, &text_of(&root.name)?, |path| {
            text_of(path).ok_or_else(|| "not among the files that were read".to_owned())
        });
        self.left = self.left.saturating_sub(text.len() as u64);
        if again.errors().next().is_some() {
            return None;
        }
        again.plan
    }

    /// Whether a flaw was there before.
    fn is_known(&self, flaw: &Flaw) -> bool {
        let (guarantee, family, other, _) = flaw;
        let both =
            |other: &String| self.crowded.contains(family.as_str()) && self.crowded.contains(other.as_str());
        self.before.contains(flaw) || (*guarantee == Guarantee::Disjoint && other.as_ref().is_some_and(both))
    }
}

/// What it takes to read a plan of so many bytes and to draw its families.
fn work(bytes: usize, plan: &Plan) -> u64 {
    let families = plan.families().count() as u64;
    (bytes as u64).saturating_add(families.saturating_mul(STEPS_PER_FAMILY))
}

/// All that a proof of a family depends on, apart from where it is declared.
fn described(family: &Family) -> (Fingerprint, Claims) {
    let scans = family.scans.iter().map(|scan| (scan.bound, scan.segments, scan.in_order));
    (Fingerprint::of_family(family), scans.collect())
}

/// A change that may help.
struct Candidate {
    title: String,
    span: Span,
    text: String,
    keeps_claims: bool,
    keeps_scans: bool,
}

/// What a flaw is about: guarantee, family, other family, scan.
type Flaw = (Guarantee, String, Option<String>, Option<ScanId>);

fn flaw(statement: &Statement) -> Flaw {
    // Of which family a scan returns rows may change with what else there is.
    let other = statement.other.clone().filter(|_| statement.guarantee != Guarantee::NoForeignRows);
    (statement.guarantee, statement.family.clone(), other, statement.scan)
}

/// What fails or is unknown, accepted or not.
fn flaws(report: &Report) -> BTreeSet<Flaw> {
    set(report.statements.iter().filter(|statement| is_flawed(statement)).map(flaw))
}

fn is_flawed(statement: &Statement) -> bool {
    matches!(statement.verdict, Verdict::Fails(_) | Verdict::Unknown(_))
}

fn growth(old: Width, new: Width) -> (i64, Option<i64>) {
    let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let least = signed(new.min) - signed(old.min);
    let most = old.max.zip(new.max).map(|(a, b)| signed(b) - signed(a));
    (most.map_or(least, |most| least.min(most)), most.map(|most| most.max(least)))
}

/// The family of a path, in its space.
fn subject<'p>(plan: &'p Plan, space: &str, path: &str) -> Option<(&'p Space, &'p Family)> {
    let space = plan.spaces.iter().find(|candidate| candidate.name == space)?;
    let family = space.families.iter().find(|family| family.path == path);
    family.map(|family| (space, family))
}

/// The layout that a statement is about.
fn layout<'f>(family: &'f Family, path: &str) -> Option<&'f Sequence> {
    if family.path == path {
        return Some(&family.key);
    }
    let name = DottedPath(path).inside(&family.path)?;
    let field = family.fields.iter().find(|field| field.name == name).map(|field| &field.key);
    field.or(match name {
        "member" => family.member.as_ref(),
        "score" => family.score.as_ref(),
        _ => None,
    })
}

fn candidates(
    space: &Space,
    family: &Family,
    statement: &Statement,
    plan: &Plan,
    compiled: &Compiled,
) -> Vec<Candidate> {
    let mut all = Vec::new();
    let Some(sequence) = layout(family, &statement.family) else { return all };
    let text = |span: Span| compiled.sources.slice(span);
    match statement.guarantee {
        Guarantee::Unambiguous => ends(sequence, &text, &mut all),
        Guarantee::NoSiblingRows => {
            drop_bare(family, statement, compiled, &mut all);
            ends(sequence, &text, &mut all);
            drop_scan(family, statement, compiled, &mut all);
        }
        Guarantee::Disjoint | Guarantee::NoForeignRows => {
            drop_bare(family, statement, compiled, &mut all);
            let other = statement.other.as_deref().and_then(|path| subject(plan, &statement.space, path));
            for family in [Some(family), other.map(|(_, family)| family)].into_iter().flatten() {
                prefixes(space, family, &text, &mut all);
            }
            ends(sequence, &text, &mut all);
            if statement.guarantee == Guarantee::NoForeignRows {
                drop_scan(family, statement, compiled, &mut all);
            }
        }
        Guarantee::InOrder => {
            order(sequence, &text, &mut all);
            drop_order(statement, compiled, &mut all);
        }
        Guarantee::Lossless => exact(sequence, &text, &mut all),
        _ => {}
    }
    all
}

/// Marks at the ends of arguments that have none.
fn ends<'t>(sequence: &Sequence, text: &dyn Fn(Span) -> &'t str, all: &mut Vec<Candidate>) {
    for (index, segment) in sequence.segments().iter().enumerate() {
        let Segment::Argument(argument) = segment else { continue };
        if !declared_here(argument, text) {
            continue;
        }
        all.extend(marked_apart(argument, text));
        if !matches!(argument.shape.extent(), Extent::Open) {
            continue;
        }
        let last = index + 1 == sequence.segments().len();
        let name = argument.name.as_deref().unwrap_or_default();
        for byte in [b'/', b'|', b':', 0x00, 0xff] {
            let shown = if byte.is_ascii_graphic() {
                format!("{:?}", char::from(byte).to_string())
            } else {
                format!("0x{byte:02x}")
            };
            if last || !never_holds(&argument.shape, byte) {
                continue;
            }
            let title = format!("end `{name}` with {shown}, a byte that it cannot contain");
            all.push(behind(argument, title, &format!(" {shown}")));
            break;
        }
        for (encoding, what) in [
            ("len8", "put the length of `{}` before it, in one byte"),
            ("len16", "put the length of `{}` before it, in two bytes"),
            ("varlen", "put the length of `{}` before it, in as many bytes as it takes"),
            ("terminated", "end `{}` with 00 00 and escape what it holds of it"),
        ] {
            let fits = match encoding {
                "len8" => Width::of_shape(&argument.shape).max.is_some_and(|max| max <= 255),
                "len16" => Width::of_shape(&argument.shape).max.is_some_and(|max| max <= 65_535),
                _ => true,
            };
            if fits {
                all.push(behind(argument, what.replace("{}", name), &format!(".{encoding}")));
            }
        }
    }
}

/// An end that is never the front of a zero, in place of one that is.
fn marked_apart<'t>(argument: &Argument, text: &dyn Fn(Span) -> &'t str) -> Option<Candidate> {
    let Shape::Framed { frame: Frame::Escaped, .. } = &argument.shape else { return None };
    let kept = text(argument.span).strip_suffix(".escaped")?;
    let start = argument.span.start + u32::try_from(kept.len()).ok()?;
    Some(Candidate {
        title: format!("end `{}` with 00 00 instead of 00", argument.name.as_deref().unwrap_or_default()),
        span: Span::new(argument.span.file, start, argument.span.end),
        text: ".terminated".to_owned(),
        keeps_claims: true,
        keeps_scans: true,
    })
}

fn behind(argument: &Argument, title: String, text: &str) -> Candidate {
    let Span { file, end, .. } = argument.span;
    Candidate {
        title,
        span: Span::new(file, end, end),
        text: text.to_owned(),
        keeps_claims: true,
        keeps_scans: true,
    }
}

/// Whether the argument's own text is what its span covers, and not that of a type declared elsewhere.
fn declared_here<'t>(argument: &Argument, text: &dyn Fn(Span) -> &'t str) -> bool {
    argument.name.as_deref().is_some_and(|name| text(argument.span).starts_with(name))
}

/// Whether no value of a shape has a byte in it, as far as its alphabet shows.
fn never_holds(shape: &Shape, byte: u8) -> bool {
    match shape {
        Shape::Text(text) if !text.tuple => {
            !text.alphabet.contains(byte) && !text.first.is_some_and(|first| first.contains(byte))
        }
        Shape::Int(int) => match int.encoding {
            IntEncoding::Dec => !byte.is_ascii_digit() && byte != b'-',
            IntEncoding::Hex(_) => !byte.is_ascii_hexdigit(),
            _ => false,
        },
        Shape::Bytes { encoding: keyplan_plan::model::BytesEncoding::Hex(_), .. } => {
            !byte.is_ascii_hexdigit()
        }
        _ => false,
    }
}

/// Encodings whose bytes sort as their values do.
fn order<'t>(sequence: &Sequence, text: &dyn Fn(Span) -> &'t str, all: &mut Vec<Candidate>) {
    for argument in sequence.arguments() {
        let name = argument.name.as_deref().unwrap_or_default();
        let own = text(argument.span);
        let swap = |suffix: &str, by: &str, title: String| {
            let kept = own.strip_suffix(suffix)?;
            let start = argument.span.start + u32::try_from(kept.len()).ok()?;
            let span = Span::new(argument.span.file, start, argument.span.end);
            Some(Candidate { title, span, text: by.to_owned(), keeps_claims: true, keeps_scans: true })
        };
        match &argument.shape {
            Shape::Int(int @ IntShape { encoding: IntEncoding::Dec, .. }) => {
                let digits = Width::of_shape(&Shape::Int(int.clone())).max.unwrap_or(20);
                if int.ty.signed {
                    let title = format!("write `{name}` in fixed width with its sign flipped");
                    all.extend(swap(".dec", ".signflip", title));
                } else {
                    let title = format!("pad `{name}` with zeros to {digits} digits");
                    all.extend(swap(".dec", &format!(".dec({digits})"), title));
                    let title = format!("write `{name}` big-endian in fixed width");
                    all.extend(swap(".dec", "", title));
                }
            }
            Shape::Int(IntShape { encoding: IntEncoding::Hex(_), ty, .. }) => {
                let title = format!("write `{name}` big-endian in fixed width");
                let digits = ty.bytes().saturating_mul(2);
                for suffix in [".hex", ".HEX"] {
                    let padded = format!("pad `{name}` with zeros to {digits} digits");
                    all.extend(swap(suffix, &format!("{suffix}({digits})"), padded));
                    all.extend(swap(suffix, "", title.clone()));
                }
            }
            Shape::Int(int) if int.ty.signed && int.encoding == IntEncoding::Be => {
                all.push(behind(argument, format!("flip the sign bit of `{name}`"), ".signflip"));
            }
            Shape::Int(int) if int.encoding == IntEncoding::Le => {
                let (by, how) = if int.ty.signed {
                    (".signflip", "big-endian with its sign bit flipped")
                } else {
                    ("", "big-endian")
                };
                all.extend(swap(".le", by, format!("write `{name}` {how}")));
            }
            Shape::Int(int) if int.encoding == IntEncoding::Leb128 => {
                all.extend(swap(
                    ".leb128",
                    ".ordvar",
                    format!("write `{name}` in the variable length that sorts"),
                ));
                all.extend(swap(".leb128", "", format!("write `{name}` big-endian in fixed width")));
            }
            Shape::Float(keyplan_plan::model::FloatEncoding::Bits) => {
                all.push(behind(argument, format!("write `{name}` so that its bytes sort"), ".ordered"));
            }
            shape if matches!(shape.extent(), Extent::Open) => {
                let title = format!("end `{name}` with 00 00 and escape what it holds of it");
                all.push(behind(argument, title, ".terminated"));
            }
            Shape::Framed { .. } => {
                for suffix in [".len8", ".len16", ".len32", ".varlen"] {
                    let title = format!("end `{name}` with 00 00 instead of beginning with its length");
                    all.extend(swap(suffix, ".terminated", title));
                }
            }
            _ => {}
        }
    }
}

/// Encodings that keep what others lose.
fn exact<'t>(sequence: &Sequence, text: &dyn Fn(Span) -> &'t str, all: &mut Vec<Candidate>) {
    for argument in sequence.arguments() {
        let (suffix, by) = match &argument.shape {
            Shape::Score { encoding: ScoreEncoding::HeightScore, .. } => (".height_score", ""),
            Shape::Int(int) if int.encoding == IntEncoding::Saturating => (".saturating", ".signflip"),
            Shape::Float(keyplan_plan::model::FloatEncoding::Badger) => (".badger", ".ordered"),
            _ => continue,
        };
        let Some(kept) = text(argument.span).strip_suffix(suffix) else { continue };
        let Ok(length) = u32::try_from(kept.len()) else { continue };
        let title = format!(
            "write `{}` in an encoding that loses nothing",
            argument.name.as_deref().unwrap_or_default()
        );
        let span = Span::new(argument.span.file, argument.span.start + length, argument.span.end);
        all.push(Candidate { title, span, text: by.to_owned(), keeps_claims: true, keeps_scans: true });
    }
}

/// Another first byte of a family's own: the first few that no other family of the module has.
fn prefixes<'t>(space: &Space, family: &Family, text: &dyn Fn(Span) -> &'t str, all: &mut Vec<Candidate>) {
    let module = family.module.and_then(|id| space.modules.get(id.0));
    let before = module.map_or(&[][..], |module| module.prefix.as_slice());
    let mut front = Vec::new();
    for segment in family.key.segments() {
        let Segment::Literal(literal) = segment else { break };
        let own = front.len() >= before.len();
        if own && literal.bytes.len() == 1 && text(literal.span).starts_with("0x") {
            let taken = |byte: u8| {
                let mut prefix = front.clone();
                prefix.push(byte);
                let used = space.families.iter().map(|other| other.key.literal_prefix());
                let retired = space.retired.iter().chain(space.modules.iter().flat_map(|m| &m.retired));
                used.chain(retired.map(|retired| retired.prefix.clone()))
                    .any(|other| other.starts_with(&prefix) || prefix.starts_with(&other))
            };
            let allotted = |byte: u8| {
                let named = family.allotment.as_ref().and_then(|name| {
                    module
                        .and_then(|module| module.allotments.iter().find(|allotment| allotment.name == *name))
                });
                named.is_none_or(|allotment| allotment.contains(byte))
            };
            let free = (1..=255u8).filter(|&byte| allotted(byte) && !taken(byte)).take(2);
            all.extend(free.map(|byte| Candidate {
                title: format!("give `{}` the free prefix 0x{byte:02x}", family.name),
                span: literal.span,
                text: format!("0x{byte:02x}"),
                keeps_claims: true,
                keeps_scans: true,
            }));
            return;
        }
        front.extend(&literal.bytes);
    }
}

/// The scan with the literals after its last argument. The program must make the same change.
fn drop_bare(family: &Family, statement: &Statement, compiled: &Compiled, all: &mut Vec<Candidate>) {
    let Some(scan) = statement.scan.and_then(|id| family.scan(id)).filter(|scan| scan.bare) else { return };
    let text = compiled.sources.slice(scan.span);
    // A word of the clause, and not the end of a name.
    let Some((at, word)) = text.rmatch_indices(" bare").find(|(at, word)| {
        let behind = text.get(at + word.len()..).unwrap_or_default();
        !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    }) else {
        return;
    };
    let place = |offset: usize| u32::try_from(offset).ok().map(|offset| scan.span.start + offset);
    if let (Some(start), Some(end)) = (place(at), place(at + word.len())) {
        let title = "drop `bare` here and in the program: the prefix then ends with the literals after the last argument";
        all.push(Candidate {
            title: title.to_owned(),
            span: Span::new(scan.span.file, start, end),
            text: String::new(),
            keeps_claims: false,
            keeps_scans: false,
        });
    }
}

fn drop_scan(family: &Family, statement: &Statement, compiled: &Compiled, all: &mut Vec<Candidate>) {
    let Some(scan) = statement.scan.and_then(|id| family.scan(id)) else { return };
    let text = compiled.sources.slice(scan.span);
    if text.starts_with("scan") {
        let title = "no longer claim the scan".to_owned();
        let line = with_blank(scan.span, compiled);
        all.push(Candidate {
            title,
            span: line,
            text: String::new(),
            keeps_claims: false,
            keeps_scans: false,
        });
    }
}

fn drop_order(statement: &Statement, compiled: &Compiled, all: &mut Vec<Candidate>) {
    let text = compiled.sources.slice(statement.span);
    let claim = text.strip_suffix("in order").map(str::trim_end);
    if let Some(length) = claim.and_then(|claim| u32::try_from(claim.len()).ok()) {
        let span = Span::new(statement.span.file, statement.span.start + length, statement.span.end);
        let title = "no longer claim the order".to_owned();
        all.push(Candidate { title, span, text: String::new(), keeps_claims: false, keeps_scans: true });
    }
}

/// A span with the blanks before it.
fn with_blank(span: Span, compiled: &Compiled) -> Span {
    let text = compiled.sources.get(span.file).map_or("", |source| source.text.as_str());
    let before = text.get(..span.start as usize).unwrap_or_default().trim_end().len();
    Span::new(span.file, u32::try_from(before).unwrap_or(span.start), span.end)
}

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

/// The lines in which two texts differ, as a unified diff of one hunk.
fn unified(name: &str, old: &str, new: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let short = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(short).take_while(|(a, b)| a == b).count();
    let start = head.saturating_sub(CONTEXT);
    let end = |lines: &[&str]| lines.len() - tail + tail.min(CONTEXT);
    let part = |lines: &[&str], from: usize, to: usize| -> Vec<String> {
        lines.get(from..to).unwrap_or_default().iter().map(|line| (*line).to_owned()).collect()
    };
    let mut out = format!("--- {name}\n+++ {name}\n");
    let counts = (end(&before) - start, end(&after) - start);
    let _ = writeln!(out, "@@ -{},{} +{},{} @@", start + 1, counts.0, start + 1, counts.1);
    let groups = [
        (' ', part(&before, start, head)),
        ('-', part(&before, head, before.len() - tail)),
        ('+', part(&after, head, after.len() - tail)),
        (' ', part(&before, before.len() - tail, end(&before))),
    ];
    for (mark, lines) in groups {
        for line in lines {
            let _ = writeln!(out, "{mark}{line}");
        }
    }
    out
}
