//! Which rows the rows of a family refer to.

use std::fmt::Write as _;

use super::clause::chosen;
use super::evolution::constant;
use super::resolve::{Resolver, unknown};
use super::{Argument, DottedPath, Family, IntRange, LengthSet, Opaque, Sequence, Shape, Space};
use crate::diag::{Code, Diagnostic, Span};
use crate::dynamic::Value;
use crate::mapping::bare;
use crate::syntax::ast;

/// A row of another family that every row of a family refers to: an index and what it lists, a position and its pool.
///
/// It is a claim about rows, which an audit looks at, and no part of the layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// The path of the family that has the row; it may be in another space, and may be the family itself.
    pub family: String,
    /// Where each argument of its key comes from, in their order.
    pub bindings: Vec<Reference>,
    /// Where it is declared.
    pub span: Span,
}

/// Where one argument of the key that a row refers to comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The argument.
    pub argument: String,
    /// Where it comes from.
    pub source: ReferenceSource,
    /// The source as the plan has it.
    pub spelled: String,
}

/// Where in a row an argument comes from. A place is the index of an argument, then the indices inside of records.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceSource {
    /// The key.
    Key(Vec<usize>),
    /// The member of a set, sorted set or queue.
    Member(Vec<usize>),
    /// The value.
    Value(Vec<usize>),
    /// A part of an argument of the value that is in a format of its own.
    Inside {
        /// The index of the argument.
        argument: usize,
        /// The names that lead to the part.
        path: Vec<String>,
    },
    /// It is always this.
    Constant(Value),
}

impl Relation {
    /// The clause in words, as a plan has it: `refers to cl.pool(pool_id = value.pool)`.
    pub fn words(&self) -> String {
        let other = |reference: &&Reference| reference.argument != reference.spelled;
        let said: Vec<String> = self
            .bindings
            .iter()
            .filter(other)
            .map(|reference| format!("{} = {}", reference.argument, reference.spelled))
            .collect();
        if said.is_empty() {
            format!("refers to {}", self.family)
        } else {
            format!("refers to {}({})", self.family, said.join(", "))
        }
    }

    /// Whether each member refers to a row of its own.
    pub fn reads_member(&self) -> bool {
        self.bindings.iter().any(|reference| matches!(reference.source, ReferenceSource::Member(_)))
    }

    /// Whether a row's value has to be read to know what it refers to.
    pub fn reads_value(&self) -> bool {
        let of_value = |reference: &Reference| {
            matches!(reference.source, ReferenceSource::Value(_) | ReferenceSource::Inside { .. })
        };
        self.bindings.iter().any(of_value)
    }
}

/// What a name of a source leads to.
struct Found<'f> {
    source: ReferenceSource,
    /// Its shape; `None` inside of a format of its own.
    shape: Option<&'f Shape>,
}

impl Resolver<'_> {
    /// Resolves the `refers to` clauses, once all spaces are known.
    pub(super) fn relations(&mut self, spaces: &mut [Space]) {
        for (own, clause) in std::mem::take(&mut self.references) {
            let Some(relation) = self.relation(&own, clause, spaces) else { continue };
            let all = spaces.iter_mut().flat_map(|space| &mut space.families);
            let Some(family) = all.into_iter().find(|family| family.path == own) else { continue };
            if let Some(first) = family
                .relations
                .iter()
                .find(|other| other.bindings == relation.bindings && other.family == relation.family)
            {
                let message = format!("`{}` is given twice", relation.words());
                let diagnostic = Diagnostic::new(Code::BadClause, message, clause.span, "again")
                    .with_label(first.span, "first given here");
                self.report(diagnostic);
                continue;
            }
            family.relations.push(relation);
        }
    }

    fn relation(&mut self, own: &str, clause: &ast::RefersClause, spaces: &[Space]) -> Option<Relation> {
        let families = || spaces.iter().flat_map(|space| &space.families);
        let family = families().find(|family| family.path == own)?;
        let target = self.target(own, &clause.family, spaces)?;
        let target = families().find(|family| family.path == target)?;
        let known: Vec<&str> =
            target.key.arguments().filter_map(|argument| argument.name.as_deref()).collect();
        for (index, binding) in clause.bindings.iter().enumerate() {
            if !known.contains(&binding.name.text.as_str()) {
                let what = format!("argument of `{}`", target.path);
                self.report(unknown(&binding.name, &what, &known));
                return None;
            }
            if clause.bindings.iter().take(index).any(|other| other.name.text == binding.name.text) {
                let message = format!("`{}` is said to come from two places", binding.name.text);
                self.report(Diagnostic::new(Code::BadClause, message, binding.name.span, "again"));
                return None;
            }
        }
        let mut bindings = Vec::new();
        for argument in target.key.arguments() {
            let name = argument.name.as_deref().unwrap_or_default();
            let said = clause.bindings.iter().find(|binding| binding.name.text == name);
            let reference = match said {
                Some(said) => self.said(said, argument, family),
                None => self.unsaid(clause, argument, family, target),
            };
            bindings.push(reference?);
        }
        Some(Relation { family: target.path.clone(), bindings, span: clause.span })
    }

    /// The path of the family that is meant: one of the same space, or one of the plan.
    fn target(&mut self, own: &str, path: &ast::Path, spaces: &[Space]) -> Option<String> {
        let written = path.dotted();
        let paths =
            |space: &Space| space.families.iter().map(|family| family.path.clone()).collect::<Vec<_>>();
        let home = DottedPath(own).first();
        let near: Vec<String> = spaces.iter().filter(|space| space.name == home).flat_map(paths).collect();
        let all: Vec<String> = spaces.iter().flat_map(paths).collect();
        let found = chosen(&near, own, &written).or_else(|| chosen(&all, own, &written));
        if found.is_none() {
            let message = format!("no one family of the plan is called `{written}`");
            self.report(
                Diagnostic::new(Code::UnknownName, message, path.span, "referred to here")
                    .with_help("give the path of one family: `space.module.name`"),
            );
        }
        found
    }

    fn said(&mut self, said: &ast::RefersBinding, argument: &Argument, family: &Family) -> Option<Reference> {
        let name = said.name.text.clone();
        let (written, span) = match &said.source {
            ast::RefersSource::Named(path) => {
                let found = self.place(path, family)?;
                if let Some(shape) = found.shape
                    && let Err(why) = fits(shape, &argument.shape)
                {
                    let message = format!("`{name}` cannot come from here: {why}");
                    self.report(Diagnostic::new(Code::BadClause, message, path.span, "of another kind"));
                    return None;
                }
                return Some(Reference { argument: name, source: found.source, spelled: path.dotted() });
            }
            ast::RefersSource::Int(int) => {
                let sign = if int.negative { "-" } else { "" };
                (format!("{sign}{}", int.magnitude), int.span)
            }
            ast::RefersSource::Text(text) => (text.value.clone(), text.span),
            ast::RefersSource::Bytes(bytes, span) => (digits(bytes), *span),
        };
        match constant(&argument.shape, &written) {
            Ok(value) => {
                let quoted = matches!(said.source, ast::RefersSource::Text(_));
                let spelled = if quoted { format!("{written:?}") } else { written };
                Some(Reference { argument: name, source: ReferenceSource::Constant(value), spelled })
            }
            Err(why) => {
                let message = format!("the constant is not a value of `{name}`");
                self.report(Diagnostic::new(Code::BadClause, message, span, why));
                None
            }
        }
    }

    /// An argument that nothing is said of comes from that of the same name: of the key, the member or the value.
    fn unsaid(
        &mut self,
        clause: &ast::RefersClause,
        argument: &Argument,
        family: &Family,
        target: &Family,
    ) -> Option<Reference> {
        let name = argument.name.as_deref().unwrap_or_default();
        let in_part = |layout: Option<&Sequence>| layout?.argument_index(name).filter(|_| !name.is_empty());
        let places = [
            in_part(Some(&family.key)).map(|at| (ReferenceSource::Key(vec![at]), &family.key, at, "")),
            family.member.as_ref().and_then(|layout| {
                in_part(Some(layout)).map(|at| (ReferenceSource::Member(vec![at]), layout, at, "member."))
            }),
            family.value.as_ref().and_then(|layout| {
                in_part(Some(layout)).map(|at| (ReferenceSource::Value(vec![at]), layout, at, "value."))
            }),
        ];
        let found = places.into_iter().flatten().next();
        let fitting = found.and_then(|(source, layout, at, part)| {
            let shape = &layout.arguments().nth(at)?.shape;
            Some((source, part, fits(shape, &argument.shape)))
        });
        match fitting {
            Some((source, part, Ok(()))) => {
                // A name that is the same in the key needs no word; elsewhere the part is shown.
                let spelled = format!("{part}{name}");
                Some(Reference { argument: name.to_owned(), source, spelled })
            }
            Some((_, _, Err(why))) => {
                let message =
                    format!("`{name}` of `{}` is not the one of `{}`: {why}", target.path, family.path);
                self.report(
                    Diagnostic::new(Code::BadClause, message, clause.span, "of another kind").with_help(
                        format!("say where it comes from: `refers to {}({name} = …)`", target.name),
                    ),
                );
                None
            }
            None => {
                let message = format!("nothing says which `{name}` of `{}` is meant", target.path);
                self.report(
                    Diagnostic::new(Code::BadClause, message, clause.span, format!("no `{name}` here"))
                        .with_help(format!(
                            "say where it comes from: `refers to {}({name} = …)`",
                            target.name
                        )),
                );
                None
            }
        }
    }

    /// What a dotted name of a family means: an argument of its key, or of the part that it begins with.
    fn place<'f>(&mut self, path: &ast::Path, family: &'f Family) -> Option<Found<'f>> {
        let (first, rest) = path.names.split_first()?;
        if family.key.argument_index(&first.text).is_some() {
            return self.inside_part(&path.names, &family.key, ReferenceSource::Key);
        }
        let part = match first.text.as_str() {
            "member" => family.member.as_ref().map(|layout| (layout, ReferenceSource::Member as fn(_) -> _)),
            "value" => family.value.as_ref().map(|layout| (layout, ReferenceSource::Value as fn(_) -> _)),
            _ => None,
        };
        let Some((layout, make)) = part else {
            let known = family.key.arguments().filter_map(|argument| argument.name.as_deref());
            let parts = [("member", family.member.is_some()), ("value", family.value.is_some())];
            let parts = parts.into_iter().filter(|(_, there)| *there).map(|(name, _)| name);
            let known: Vec<&str> = known.chain(parts).collect();
            let diagnostic = unknown(first, "argument of the key", &known);
            let help = "write `value.NAME` or `member.NAME` for what is not in the key";
            self.report(if diagnostic.notes.is_empty() { diagnostic.with_help(help) } else { diagnostic });
            return None;
        };
        // A value without a name, or one that is in a format of its own altogether.
        if let Some(only) = layout.arguments().next().filter(|only| only.name.is_none()) {
            if let Shape::Opaque(opaque) = &only.shape {
                return self.in_format(opaque, 0, rest, first.span, &make(vec![0]));
            }
            if rest.is_empty() {
                return Some(Found { source: make(vec![0]), shape: Some(&only.shape) });
            }
            if let Some(inner) = only.shape.record() {
                let prefixed = |place: Vec<usize>| make(std::iter::once(0).chain(place).collect());
                return self.inside_part(rest, inner, prefixed);
            }
        }
        if rest.is_empty() {
            let message = format!("it does not say which part of the {} is meant", first.text);
            let help = format!("write `{}.NAME`", first.text);
            self.report(
                Diagnostic::new(Code::BadClause, message, first.span, "has several parts").with_help(help),
            );
            return None;
        }
        self.inside_part(rest, layout, make)
    }

    /// Follows names into the records of a layout.
    fn inside_part<'f>(
        &mut self,
        names: &[ast::Ident],
        layout: &'f Sequence,
        make: impl Fn(Vec<usize>) -> ReferenceSource,
    ) -> Option<Found<'f>> {
        let mut place = Vec::new();
        let mut layout = layout;
        let mut names = names.iter();
        while let Some(name) = names.next() {
            let known: Vec<&str> =
                layout.arguments().filter_map(|argument| argument.name.as_deref()).collect();
            let Some(at) = layout.argument_index(&name.text) else {
                self.report(unknown(name, "argument", &known));
                return None;
            };
            place.push(at);
            let shape = &layout.arguments().nth(at)?.shape;
            let rest = names.as_slice();
            if rest.is_empty() && !matches!(shape, Shape::Opaque(_)) {
                return Some(Found { source: make(place), shape: Some(shape) });
            }
            match (bare(shape), shape.record()) {
                (_, Some(inner)) => layout = inner,
                (Shape::Opaque(opaque), None) => {
                    return self.in_format(opaque, at, rest, name.span, &make(place));
                }
                _ => {
                    let message = format!("`{}` has no parts", name.text);
                    let span = rest.first().map_or(name.span, |name| name.span);
                    self.report(Diagnostic::new(Code::BadClause, message, span, "not a part of it"));
                    return None;
                }
            }
        }
        None
    }

    /// A part of a value that is in a format of its own, which only a reader of the format can look at.
    fn in_format<'f>(
        &mut self,
        opaque: &Opaque,
        argument: usize,
        rest: &[ast::Ident],
        span: Span,
        place: &ReferenceSource,
    ) -> Option<Found<'f>> {
        let silent = matches!(opaque, Opaque::Raw | Opaque::Rlp);
        // Only what is in the value itself is read like this.
        let direct = matches!(place, ReferenceSource::Value(place) if place.len() == 1);
        let (message, label) = if silent {
            (format!("{} has no parts with names", opaque.name()), "says nothing of its parts")
        } else if rest.is_empty() {
            (format!("it does not say which part of the {} is meant", opaque.name()), "write `value.NAME`")
        } else if !direct {
            (format!("parts of {} are looked at in values only", opaque.name()), "not in a value")
        } else {
            let path = rest.iter().map(|name| name.text.clone()).collect();
            return Some(Found { source: ReferenceSource::Inside { argument, path }, shape: None });
        };
        self.report(Diagnostic::new(Code::BadClause, message, span, label));
        None
    }
}

fn digits(bytes: &[u8]) -> String {
    let mut digits = String::from("0x");
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Whether a value of the first shape can be one of the second.
fn fits(from: &Shape, to: &Shape) -> Result<(), String> {
    if from == to {
        return Ok(());
    }
    if is_hashed(from) {
        return Err("it is known by its hash only".to_owned());
    }
    let (from, to) = (bare(from), bare(to));
    if let Some(from) = from.optional() {
        return fits(from, to.optional().unwrap_or(to));
    }
    if let Some(to) = to.optional() {
        return fits(from, to);
    }
    match (from, to) {
        (Shape::Int(from), Shape::Int(to)) => {
            if meet(from.range, to.range) {
                Ok(())
            } else {
                Err("no number is in both ranges".to_owned())
            }
        }
        // Bytes are not a number of 256 bits.
        (Shape::Bytes { .. }, Shape::Bytes { .. }) if from.kind() != to.kind() => {
            Err(format!("it is {}, and not {}", from.kind(), to.kind()))
        }
        (Shape::Bytes { lengths: from, .. }, Shape::Bytes { lengths: to, .. })
        | (Shape::Nibbles { lengths: from, .. }, Shape::Nibbles { lengths: to, .. }) => same_length(from, to),
        (Shape::Text(from), Shape::Text(to)) => same_length(&from.lengths, &to.lengths),
        (Shape::Text(text), Shape::Bytes { lengths, .. }) => same_length(&text.lengths, lengths),
        (Shape::Bytes { lengths, .. }, Shape::Text(text)) => same_length(lengths, &text.lengths),
        (Shape::Bool(_), Shape::Bool(_))
        | (Shape::Float(_), Shape::Float(_))
        | (Shape::Time(_), Shape::Time(_))
        | (Shape::Score { .. }, Shape::Score { .. }) => Ok(()),
        (from, to) if from.is_leaf() || from.kind() != to.kind() => {
            Err(format!("it is {}, and not {}", from.kind(), to.kind()))
        }
        (from, to) => {
            for (label, row) in from.labelled() {
                let Some((_, other)) = to.labelled().find(|(other, _)| *other == label) else {
                    return Err(format!("there is no alternative `{}`", label.unwrap_or_default()));
                };
                same_arguments(row, other)?;
            }
            from.inner().zip(to.inner()).map_or(Ok(()), |(from, to)| fits(from, to))
        }
    }
}

fn same_arguments(from: &Sequence, to: &Sequence) -> Result<(), String> {
    let mut names = from.arguments().map(|argument| &argument.name);
    if !names.by_ref().eq(to.arguments().map(|argument| &argument.name)) {
        return Err("its parts have other names".to_owned());
    }
    from.arguments().zip(to.arguments()).try_for_each(|(from, to)| fits(&from.shape, &to.shape))
}

/// Whether only a hash of the values is written.
fn is_hashed(shape: &Shape) -> bool {
    matches!(shape.unwrapped(), Shape::Hashed { .. }) || shape.optional().is_some_and(is_hashed)
}

fn same_length(from: &LengthSet, to: &LengthSet) -> Result<(), String> {
    match (from.fixed(), to.fixed()) {
        (Some(from), Some(to)) if from != to => Err(format!("it is {from} long, and not {to}")),
        _ => Ok(()),
    }
}

fn meet(one: IntRange, other: IntRange) -> bool {
    // What is beyond the signed numbers is above all of them.
    let ends = |range: IntRange| match range {
        IntRange::Signed { min, max } => (min, max),
        IntRange::Unsigned { min, max } => {
            (i128::try_from(min).unwrap_or(i128::MAX), i128::try_from(max).unwrap_or(i128::MAX))
        }
    };
    let ((low, high), (other_low, other_high)) = (ends(one), ends(other));
    low <= other_high && other_low <= high
}
