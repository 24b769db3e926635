//! What is claimed of the rows that begin alike, as a plan states it.

use std::fmt::{self, Write as _};

use super::clause::chosen;
use super::resolve::{Resolver, unknown};
use super::{Family, Segment, Sequence, Space};
use crate::diag::{Code, Diagnostic, NoteKind, Span};
use crate::dynamic::readings;
use crate::syntax::ast;

/// A claim about the rows that share a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
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

    /// The layout of its prefix.
    pub fn prefix(&self, key: &Sequence) -> Sequence {
        Sequence::new(key.segments().iter().take(self.segments).cloned().collect())
    }

    /// The scan in words, as in the plan: `by pool bare to next`. The words of the claim about order and company are
    /// left out.
    pub fn words(&self, key: &Sequence) -> String {
        let names: Vec<&str> = key.arguments().take(self.bound).filter_map(|a| a.name.as_deref()).collect();
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
        let those = self.scans.iter().filter(|scan| scan.bound == bound && scan.is_called());
        those.min_by_key(|scan| scan.id)
    }

    /// The scan of this number.
    pub fn scan(&self, id: ScanId) -> Option<&Scan> {
        self.scans.iter().find(|scan| scan.id == id)
    }

    /// Numbers the scans that bind equally many arguments.
    pub(super) fn number_scans(&mut self) {
        let all: Vec<(usize, bool, ScanEnd)> =
            self.scans.iter().map(|scan| (scan.bound, scan.bare, scan.end.clone())).collect();
        for scan in &mut self.scans {
            let own = (scan.bound, scan.bare, scan.end.clone());
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
        if !self.binds_first(scan, family) {
            return;
        }
        let bound = scan.by.len();
        let Some(end) = self.scan_end(scan) else { return };
        if let Some((label, help)) = misfit(scan, family) {
            let message = "a scan is not written like this";
            self.report(Diagnostic::new(Code::BadScan, message, scan.span, label).with_help(help));
            return;
        }
        if family.scans.iter().any(|other| (other.bound, other.bare, &other.end) == (bound, scan.bare, &end))
        {
            self.report(Diagnostic::new(Code::BadScan, "the same scan is given twice", scan.span, "again"));
            return;
        }
        let scanned = family.key.scanned_segments(bound);
        // A part that is derived from arguments which are not bound ends the prefix before them.
        let segments = if scan.bare { scanned.min(family.key.bare_segments(bound)) } else { scanned };
        let example = self.example(scan, &family.key, segments);
        family.scans.push(Scan {
            id: ScanId { bound, nth: 0 },
            bound,
            segments,
            bare: scan.bare,
            end,
            with: Vec::new(),
            filtered: scan.filtered,
            own: scan.own,
            example,
            in_order: scan.in_order,
            span: scan.span,
        });
    }

    fn binds_first(&mut self, scan: &ast::ScanClause, family: &Family) -> bool {
        let known =
            || family.key.arguments().filter_map(|argument| argument.name.as_deref()).collect::<Vec<_>>();
        for (index, name) in scan.by.iter().enumerate() {
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
            return false;
        }
        true
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
        let bare = key.bare_segments(scan.by.len());
        let (real, other) = if scan.bare { (bare, segments_behind(key, bare)) } else { (segments, bare) };
        // The arguments of the example are known if only the literals behind them are missing or too many.
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

/// The segments of a scan that is not bare and whose last argument ends at `bare`.
fn segments_behind(key: &Sequence, bare: usize) -> usize {
    key.scanned_segments(key.arguments_before(bare))
}

/// What does not fit together in a scan, and what to write.
fn misfit(scan: &ast::ScanClause, family: &Family) -> Option<(&'static str, &'static str)> {
    let range = scan.end.is_some();
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
            return Some(("has no next value", "`to next` needs an integer as its last bound argument"));
        }
    }
    if scan.filtered && !scan.with.is_empty() {
        return Some(("drops rows and wants them", "a scan is `filtered`, or has company: take one out"));
    }
    if range && (scan.filtered || scan.in_order) {
        let help =
            "a range is a claim about the rows between its ends: state order and filter of the scan itself";
        return Some(("claims too much of a range", help));
    }
    if scan.own && (range || scan.filtered || scan.in_order || !scan.with.is_empty()) {
        return Some((
            "is no scan",
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
    let written = path.names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".");
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
