//! What is claimed of the rows that begin alike, as a plan states it.

use std::fmt::{self, Write as _};

use super::clause::chosen;
use super::resolve::{Resolver, unknown};
use super::{Argument, Family, IntRange, Segment, Sequence, Shape, Space};
use crate::diag::{Code, Diagnostic, NoteKind, Span};
use crate::dynamic::{EncodeError, Value, derived_value, readings};
use crate::syntax::ast;

/// A claim about the rows that share a prefix.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the clause")]
pub struct Scan {
    /// Which of the family's scans it is.
    pub id: ScanId,
    /// How many of the first arguments are bound; 0 for `scan all`.
    pub bound: usize,
    /// How many of the key's segments the prefix covers: the bound arguments and, unless it is bare, the literals
    /// after them.
    pub segments: usize,
    /// Whether the prefix ends with the last bound argument, before the literals after it.
    pub bare: bool,
    /// The derived part that is bound by its value, after the bound arguments.
    pub part: Option<BoundPart>,
    /// Where the rows end.
    pub end: ScanEnd,
    /// What else is wanted among the rows.
    pub with: Vec<Company>,
    /// Whether the program drops the rows of other families.
    pub filtered: bool,
    /// Whether it is a claim only: what begins so is the family's own. There is nothing to call.
    pub own: bool,
    /// A prefix that the scan was said to have; it has.
    pub example: Option<Vec<u8>>,
    /// Whether the rows are claimed to come in the order of the remaining arguments.
    pub in_order: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A derived part that a scan binds by its value: whoever scans need not know what it is derived from.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundPart {
    /// The index of the part among the segments of the key.
    pub segment: usize,
    /// The layout of the prefix, in which the part is an argument like the others, and the last one.
    pub prefix: Sequence,
}

/// Which scan of a family: how many arguments it binds and, where several bind as many, which of them.
///
/// Their order does not depend on the order of declarations: the plain scan is first, then the bare one, then ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScanId {
    /// How many arguments it binds.
    pub bound: usize,
    /// Its place among the scans that bind as many.
    pub nth: usize,
}

impl fmt::Display for ScanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.bound)?;
        if self.nth > 0 { write!(f, ".{}", self.nth) } else { Ok(()) }
    }
}

/// Where the rows of a scan end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScanEnd {
    /// With the last key that begins with the prefix.
    Prefix,
    /// Before the prefix of the next value of the last bound argument.
    Next,
    /// Before the key that is the prefix and these bytes.
    Before(Vec<u8>),
    /// With the key that is the prefix and these bytes.
    Through(Vec<u8>),
}

/// Families whose rows are wanted in a scan of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Company {
    /// The path of the family or module that the plan names.
    pub path: String,
    /// The paths of the families that this means.
    pub families: Vec<String>,
    /// Where it is named.
    pub span: Span,
}

impl Scan {
    /// Whether rows of the family at `path` belong to the scan beside its own.
    pub fn wants(&self, path: &str) -> bool {
        self.with.iter().any(|company| company.families.iter().any(|family| family == path))
    }

    /// Whether it can be called: it is neither a claim only nor a range as other code writes it.
    pub fn is_called(&self) -> bool {
        !self.own && self.end == ScanEnd::Prefix
    }

    /// The layout of its prefix. A derived part that is bound by its value is an argument of it.
    pub fn prefix(&self, key: &Sequence) -> Sequence {
        match &self.part {
            Some(part) => part.prefix.clone(),
            None => Sequence::new(key.segments().iter().take(self.segments).cloned().collect()),
        }
    }

    /// The layout whose first segments are those of the prefix: the key's own, but for a scan that binds a derived part.
    pub fn layout<'a>(&'a self, key: &'a Sequence) -> &'a Sequence {
        self.part.as_ref().map_or(key, |part| &part.prefix)
    }

    /// How many values whoever scans has to give.
    pub fn value_count(&self) -> usize {
        self.bound + usize::from(self.part.is_some())
    }

    /// Appends the prefix of these values.
    pub fn write(&self, key: &Sequence, values: &[Value], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        crate::dynamic::prefix(self.layout(key), self.segments, values, out)
    }

    /// The values by which a row is scanned; `None` if these are not the arguments of a row.
    pub fn values_of(&self, key: &Sequence, row: &[Value]) -> Option<Vec<Value>> {
        let mut values = row.get(..self.bound)?.to_vec();
        if let Some(part) = &self.part {
            values.push(Value::Unsigned(derived_value(key, part.segment, row).ok()?));
        }
        Some(values)
    }

    /// Whether a row of the family is one of the scan with these values.
    pub fn owns(&self, key: &Sequence, values: &[Value], row: &[Value]) -> bool {
        match &self.part {
            Some(_) => self.values_of(key, row).is_some_and(|own| own == values),
            None => row.starts_with(values),
        }
    }

    /// The scan in words, as in the plan: `by pool bare to next`. The words of the claim about order and company are
    /// left out.
    pub fn words(&self, key: &Sequence) -> String {
        let bound = self.layout(key).arguments().take(self.value_count());
        let names: Vec<&str> = bound.filter_map(|a| a.name.as_deref()).collect();
        let mut words = if names.is_empty() { "all".to_owned() } else { format!("by {}", names.join(", ")) };
        if self.bare {
            words.push_str(" bare");
        }
        match &self.end {
            ScanEnd::Prefix => {}
            ScanEnd::Next => words += " to next",
            ScanEnd::Before(bytes) => words = words + " to 0x" + &hex(bytes),
            ScanEnd::Through(bytes) => words = words + " through 0x" + &hex(bytes),
        }
        if self.filtered {
            words.push_str(" filtered");
        }
        words
    }
}

impl Family {
    /// The scan that binds the first `bound` arguments and can be called; the one that is not bare, where there are two.
    pub fn scan_by(&self, bound: usize) -> Option<&Scan> {
        let those = self.scans.iter().filter(|scan| scan.bound == bound && scan.part.is_none());
        those.filter(|scan| scan.is_called()).min_by_key(|scan| scan.id)
    }

    /// The scan that can be called with values of these names: of the first arguments, and perhaps of a derived part
    /// after them.
    pub fn scan_named(&self, names: &[&str]) -> Option<&Scan> {
        let by_part = self.scans.iter().filter(|scan| {
            let part = scan.part.as_ref().and_then(|part| part.prefix.arguments().last());
            part.and_then(|part| part.name.as_deref()).is_some_and(|part| names.contains(&part))
        });
        let by_part = by_part.filter(|scan| scan.is_called() && scan.value_count() == names.len());
        by_part.min_by_key(|scan| scan.id).or_else(|| self.scan_by(names.len()))
    }

    /// The scan of this number.
    pub fn scan(&self, id: ScanId) -> Option<&Scan> {
        self.scans.iter().find(|scan| scan.id == id)
    }

    /// Numbers the scans that bind equally many arguments.
    pub(super) fn number_scans(&mut self) {
        let key = |scan: &Scan| {
            let part = scan.part.as_ref().map(|part| part.segment);
            (scan.bound, part, scan.bare, scan.end.clone())
        };
        let all: Vec<(usize, Option<usize>, bool, ScanEnd)> = self.scans.iter().map(key).collect();
        for scan in &mut self.scans {
            let own = key(scan);
            let nth = all.iter().filter(|other| other.0 == own.0 && **other < own).count();
            scan.id = ScanId { bound: scan.bound, nth };
        }
    }
}

impl Sequence {
    /// The number of segments up to the last of the first `bound` arguments.
    pub fn bare_segments(&self, bound: usize) -> usize {
        let arguments = self.segments().iter().enumerate();
        let mut arguments = arguments.filter(|(_, segment)| matches!(segment, Segment::Argument(_)));
        bound.checked_sub(1).and_then(|last| arguments.nth(last)).map_or(0, |(index, _)| index + 1)
    }
}

impl Resolver<'_> {
    pub(super) fn scan(&mut self, scan: &ast::ScanClause, family: &mut Family) {
        let (bound, part) = match self.binds_first(scan, family) {
            Some(Bound::Arguments) => (scan.by.len(), None),
            Some(Bound::Part(segment)) => (scan.by.len() - 1, Some(segment)),
            None => return,
        };
        let Some(end) = self.scan_end(scan) else { return };
        if let Some((label, help)) = misfit(scan, family, part.is_some()) {
            let message = "a scan is not written like this";
            self.report(Diagnostic::new(Code::BadScan, message, scan.span, label).with_help(help));
            return;
        }
        let segment_of = |scan: &Scan| scan.part.as_ref().map(|part| part.segment);
        let same = |other: &Scan| {
            (other.bound, segment_of(other), other.bare, &other.end) == (bound, part, scan.bare, &end)
        };
        if family.scans.iter().any(same) {
            self.report(Diagnostic::new(Code::BadScan, "the same scan is given twice", scan.span, "again"));
            return;
        }
        let scanned = family.key.scanned_segments(bound);
        if part.is_none() && scanned < family.key.bare_segments(bound) {
            self.cut_short(scan, family, scanned);
            return;
        }
        // A part that is derived from arguments which are not bound ends the prefix before them.
        let (segments, part) = match part {
            Some(segment) => {
                let (segments, part) = bound_part(&family.key, segment, scan.bare);
                (segments, Some(part))
            }
            None if scan.bare => (scanned.min(family.key.bare_segments(bound)), None),
            None => (scanned, None),
        };
        let layout = part.as_ref().map_or(&family.key, |part| &part.prefix);
        let example = self.example(scan, layout, segments);
        family.scans.push(Scan {
            id: ScanId { bound, nth: 0 },
            bound,
            segments,
            bare: scan.bare,
            part,
            end,
            with: Vec::new(),
            filtered: scan.filtered,
            own: scan.own,
            example,
            in_order: scan.in_order,
            span: scan.span,
        });
    }

    /// Refuses a scan whose prefix ends before the arguments that it binds: at a part that other arguments decide.
    fn cut_short(&mut self, scan: &ast::ScanClause, family: &Family, at: usize) {
        let label = family.key.segments().get(at).map_or("", Segment::label);
        self.report(
            Diagnostic::new(
                Code::BadScan,
                "the prefix of a scan ends before an argument that it binds",
                scan.span,
                format!("it ends before `{label}`, which arguments decide that are not bound"),
            )
            .with_help(format!(
                "bind all of these arguments, or `{label}` itself by its value, after the arguments before it"
            )),
        );
    }

    /// What the scan binds; `None` if that is not what it may.
    fn binds_first(&mut self, scan: &ast::ScanClause, family: &Family) -> Option<Bound> {
        let known =
            || family.key.arguments().filter_map(|argument| argument.name.as_deref()).collect::<Vec<_>>();
        for (index, name) in scan.by.iter().enumerate() {
            if let Some(segment) = part_named(&family.key, &name.text) {
                let last = index + 1 == scan.by.len();
                let front = family.key.scanned_segments(index);
                if last && front == segment && front >= family.key.bare_segments(index) {
                    return Some(Bound::Part(segment));
                }
                let help = if last {
                    "the arguments before it must be bound, and those that it is derived from must not be"
                } else {
                    "name it last: the arguments after it decide it, so that a scan by them needs no value of it"
                };
                self.report(
                    Diagnostic::new(
                        Code::BadScan,
                        "a scan binds a derived part right after the arguments before it",
                        name.span,
                        "not there",
                    )
                    .with_help(help),
                );
                return None;
            }
            let diagnostic = match family.key.argument_index(&name.text) {
                Some(position) if position == index => continue,
                Some(_) => Diagnostic::new(
                    Code::BadScan,
                    "a scan binds the first arguments of the key, in their order",
                    name.span,
                    format!("`{}` is not argument {} of the key", name.text, index + 1),
                )
                .with_help(format!("the arguments are: {}", known().join(", "))),
                None => unknown(name, "argument", &known()),
            };
            self.report(diagnostic);
            return None;
        }
        Some(Bound::Arguments)
    }

    fn scan_end(&mut self, scan: &ast::ScanClause) -> Option<ScanEnd> {
        Some(match &scan.end {
            None => ScanEnd::Prefix,
            Some(ast::RangeEnd::Next(_)) => ScanEnd::Next,
            Some(ast::RangeEnd::Before(literals)) => ScanEnd::Before(self.joined(literals)?),
            Some(ast::RangeEnd::Through(literals)) => ScanEnd::Through(self.joined(literals)?),
        })
    }

    fn joined(&mut self, literals: &[ast::Literal]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for literal in literals {
            bytes.extend(self.literal(literal)?.bytes);
        }
        Some(bytes)
    }

    /// The example of a prefix, if the scan can have it.
    fn example(&mut self, scan: &ast::ScanClause, key: &Sequence, segments: usize) -> Option<Vec<u8>> {
        let example = scan.example.as_ref()?;
        let bytes = self.joined(&example.literals)?;
        let front = |count: usize| Sequence::new(key.segments().iter().take(count).cloned().collect());
        if readings(&front(segments), &bytes, 1).is_ok() {
            return Some(bytes);
        }
        let mut diagnostic = Diagnostic::new(
            Code::BadScan,
            format!("the scan has no prefix of the bytes 0x{}", hex(&bytes)),
            example.span,
            "no prefix of this scan",
        );
        let bare = key.bare_segments(key.argument_count().min(scan.by.len()));
        let (real, other) = if scan.bare { (bare, segments_behind(key, bare)) } else { (segments, bare) };
        // The arguments of the example are known if only the literals after them are missing or too many.
        let values =
            readings(&front(other), &bytes, 1).ok().and_then(|read| read.readings.into_iter().next());
        diagnostic = match values {
            Some(values) if other != real => {
                let mut whole = Vec::new();
                let written = crate::dynamic::prefix(key, real, &values, &mut whole);
                let word = if scan.bare { "without `bare`" } else { "with `bare`" };
                match written {
                    Ok(()) => diagnostic
                        .with_note(NoteKind::Note, format!("with these arguments it is 0x{}", hex(&whole)))
                        .with_help(format!("the bytes given are those of the scan {word}")),
                    Err(_) => diagnostic,
                }
            }
            _ => match readings(&front(segments), &bytes, 1) {
                Err(failure) => diagnostic
                    .with_note(NoteKind::Note, failure.to_string())
                    .with_help("give the bytes of a prefix as the program makes it, or change the scan"),
                Ok(_) => diagnostic,
            },
        };
        self.report(diagnostic);
        None
    }

    /// Finds the families that the scans of the plan want company of.
    pub(super) fn scanned_company(&mut self, files: &[&ast::File], spaces: &mut [Space]) {
        for item in files.iter().flat_map(|file| &file.items) {
            let ast::Item::Space(decl) = item else { continue };
            let Some(space) = spaces.iter_mut().find(|space| space.name == decl.name.text) else { continue };
            let paths: Vec<String> = space.families.iter().map(|family| family.path.clone()).collect();
            let modules: Vec<String> = space.modules.iter().map(|module| module.path.clone()).collect();
            let mut clauses = Vec::new();
            collect(&decl.members, &mut clauses);
            for family in &mut space.families {
                let own = family.path.clone();
                for scan in &mut family.scans {
                    let Some(clause) = clauses.iter().find(|clause| clause.span == scan.span) else {
                        continue;
                    };
                    for path in &clause.with {
                        match company(&paths, &modules, &own, path) {
                            Ok(company) => scan.with.push(company),
                            Err(diagnostic) => self.report(diagnostic),
                        }
                    }
                }
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What a scan binds.
enum Bound {
    /// The first arguments.
    Arguments,
    /// The first arguments and after them the derived part at this segment, by its value.
    Part(usize),
}

/// The segment of the derived part with this name.
fn part_named(key: &Sequence, name: &str) -> Option<usize> {
    key.segments()
        .iter()
        .position(|segment| matches!(segment, Segment::Derived(derived) if derived.name == name))
}

/// How many segments the prefix has that ends with a derived part, and its layout with that part as an argument.
fn bound_part(key: &Sequence, segment: usize, bare: bool) -> (usize, BoundPart) {
    let mut segments: Vec<Segment> = key.segments().iter().take(segment + 1).cloned().collect();
    if let Some(last) = segments.last_mut()
        && let Segment::Derived(derived) = last
    {
        let mut shape = derived.shape.clone();
        if let (Some(modulus), IntRange::Unsigned { min, max }) = (derived.modulus, shape.range) {
            shape.range = IntRange::Unsigned { min, max: max.min(modulus.saturating_sub(1)) };
        }
        *last = Segment::Argument(Argument {
            name: Some(derived.name.clone()),
            type_name: None,
            shape: Shape::Int(shape),
            shown: None,
            doc: Vec::new(),
            span: derived.span,
        });
    }
    if !bare {
        let behind = key.segments().iter().skip(segment + 1);
        segments.extend(behind.take_while(|segment| matches!(segment, Segment::Literal(_))).cloned());
    }
    (segments.len(), BoundPart { segment, prefix: Sequence::new(segments) })
}

/// The segments of a scan that is not bare and whose last argument ends at `bare`.
fn segments_behind(key: &Sequence, bare: usize) -> usize {
    key.scanned_segments(key.arguments_before(bare))
}

/// What does not fit together in a scan, and what to write.
fn misfit(scan: &ast::ScanClause, family: &Family, part: bool) -> Option<(&'static str, &'static str)> {
    let range = scan.end.is_some();
    if part && (range || scan.filtered || scan.in_order) {
        return Some((
            "claims too much of a derived part",
            "a scan by a derived part takes `bare`, `as` and `with`, and no others: state them of the scan by its arguments",
        ));
    }
    if scan.bare && scan.by.is_empty() {
        return Some((
            "binds no argument",
            "`bare` ends the prefix with the last bound argument: write `by …`",
        ));
    }
    if matches!(scan.end, Some(ast::RangeEnd::Next(_))) {
        let Some(last) = scan.by.len().checked_sub(1) else {
            return Some(("binds no argument", "`to next` is about the last bound argument: write `by …`"));
        };
        let counted = family.key.arguments().nth(last).is_some_and(|argument| argument.shape.is_counted());
        if !counted {
            return Some((
                "has no next value",
                "`to next` needs an integer of 128 bits or less as its last bound argument",
            ));
        }
    }
    if scan.filtered && !scan.with.is_empty() {
        return Some(("drops rows and wants them", "a scan is `filtered`, or has company: take one out"));
    }
    if range && scan.in_order {
        let help = "a range is a claim about the rows between its ends: state their order of the scan itself";
        return Some(("claims too much of a range", help));
    }
    if scan.own && (range || scan.filtered || scan.in_order || !scan.with.is_empty()) {
        return Some((
            "is not a scan",
            "`own` says that what begins so is the family's, and takes `bare` and `as` only",
        ));
    }
    None
}

fn collect<'a>(members: &'a [ast::Member], clauses: &mut Vec<&'a ast::ScanClause>) {
    for member in members {
        match member {
            ast::Member::Module(module) => collect(&module.members, clauses),
            ast::Member::Family(family) => {
                clauses.extend(family.clauses.iter().filter_map(|clause| match clause {
                    ast::Clause::Scan(scan) => Some(scan),
                    _ => None,
                }));
            }
            ast::Member::Allot(_) | ast::Member::Retired(_) | ast::Member::Drop(_) | ast::Member::Rule(_) => {
            }
        }
    }
}

/// The families that `path` names, one or those of a module.
fn company(paths: &[String], modules: &[String], own: &str, path: &ast::Path) -> Result<Company, Diagnostic> {
    let written = path.dotted();
    if let Some(family) = chosen(paths, own, &written).filter(|family| family != own) {
        return Ok(Company { path: family.clone(), families: vec![family], span: path.span });
    }
    if let Some(module) = chosen(modules, own, &written) {
        let inside = format!("{module}.");
        let families = paths.iter().filter(|family| family.starts_with(&inside) && *family != own).cloned();
        return Ok(Company { path: module, families: families.collect(), span: path.span });
    }
    let message = format!("no other family or module of the space is called `{written}`");
    Err(Diagnostic::new(Code::BadScan, message, path.span, "wanted here")
        .with_help("give the path of a family or of a module: `module.name`"))
}
