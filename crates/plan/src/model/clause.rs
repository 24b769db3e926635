//! Families and what is claimed of them.

use super::resolve::{Place, Resolver, unknown};
use super::{Accept, AcceptKind, DottedPath, Family, FamilyKind, Field, Segment, Sequence, Space};
use crate::diag::{Code, Diagnostic, Span};
use crate::syntax::ast;

/// How many buckets a hash may be spread over: the slots of a cluster.
const BUCKETS: u16 = 16_384;

impl<'a> Resolver<'a> {
    pub(super) fn family(&mut self, decl: &'a ast::FamilyDecl, place: &Place, space: &mut Space) {
        self.snake(&decl.name, "a family");
        let path = format!("{}.{}", place.path, decl.name.text);
        if let Some(&first) = self.families.get(&path) {
            self.duplicate("family", &decl.name, first);
        }
        self.families.entry(path.clone()).or_insert(decl.name.span);
        let prefix = place.prefix.iter().cloned().map(Segment::Literal).collect();
        let number = decl.parts.first().and_then(|part| match part {
            ast::Part::Literal(literal) => self.literal(literal)?.bytes.first().copied(),
            _ => None,
        });
        self.at = Some(format!("the family `{path}`"));
        let Some(key) = self.sequence_behind(prefix, &decl.parts) else {
            self.left_out(&format!("the family `{path}`"), decl.name.span);
            self.at = None;
            return;
        };
        let mut family = Family {
            name: decl.name.text.clone(),
            path,
            kind: decl.kind,
            real_name: None,
            doc: decl.doc.clone(),
            key,
            value: None,
            fields: Vec::new(),
            member: None,
            score: None,
            spread: None,
            scans: Vec::new(),
            accepts: Vec::new(),
            predecessors: Vec::new(),
            allowed_breaks: Vec::new(),
            relations: Vec::new(),
            retired: None,
            retired_since: None,
            retention: None,
            module: place.module,
            number: number.filter(|_| place.module.is_some()),
            allotment: None,
            name_span: decl.name.span,
            span: decl.span,
        };
        for clause in &decl.clauses {
            self.clause(clause, &mut family, place, space);
        }
        self.at = None;
        family.number_scans();
        self.retention(&decl.clauses, &mut family);
        self.complete(&family);
        space.families.push(family);
    }

    fn clause(&mut self, clause: &'a ast::Clause, family: &mut Family, place: &Place, space: &Space) {
        use FamilyKind::{Hash as HashFamily, Key, Queue, Set, Zset};
        match clause {
            ast::Clause::Value(body) => {
                let value = self.body(body);
                self.kept(value.as_ref(), family, "the value", body_span(body));
                self.once("->", &[Key], family, family.value.is_some(), body_span(body));
                family.value = value;
            }
            ast::Clause::Member(body) => {
                let member = self.body(body);
                self.kept(member.as_ref(), family, "the member", body_span(body));
                self.once("member", &[Zset, Set, Queue], family, family.member.is_some(), body_span(body));
                family.member = member;
            }
            ast::Clause::Score(body) => {
                let score = self.body(body);
                self.kept(score.as_ref(), family, "the score", body_span(body));
                self.once("score", &[Zset, Queue], family, family.score.is_some(), body_span(body));
                family.score = score;
            }
            ast::Clause::Field(field) => {
                self.once("field", &[HashFamily], family, false, field.span);
                self.field(field, family);
            }
            ast::Clause::Spread(buckets) => {
                self.once("spread", &[HashFamily], family, family.spread.is_some(), buckets.span);
                family.spread = self.spread(*buckets, family);
            }
            ast::Clause::Named(name) => {
                self.once("named", &[], family, family.real_name.is_some(), name.span);
                if name.value.is_empty() {
                    let message = "a family has a name of at least one character";
                    self.report(
                        Diagnostic::new(Code::BadClause, message, name.span, "nothing is named")
                            .with_help("write the name as the program spells it, or leave the clause out"),
                    );
                } else {
                    family.real_name = Some(name.value.clone());
                }
            }
            ast::Clause::Scan(scan) => self.scan(scan, family),
            ast::Clause::Accept(accept) => self.accept(accept, family),
            ast::Clause::From(from) => self.predecessor(from, family),
            ast::Clause::AllowBreak(allow) => self.allowed_break(allow, family),
            // Looked at when all families are known.
            ast::Clause::Refers(refers) => self.references.push((family.path.clone(), refers)),
            ast::Clause::Retired(retired) => {
                self.once("retired", &[], family, family.retired.is_some(), retired.span);
                family.retired = Some(retired.why.value.clone());
                family.retired_since = retired.since.as_ref().map(|since| since.value.clone());
            }
            // Looked at when all scans are known.
            ast::Clause::Retain(retain) => {
                self.once("retain", &[Key], family, false, retain.span);
            }
            ast::Clause::Allot(name) => {
                self.once("allot", &[], family, family.allotment.is_some(), name.span);
                let module = place.module.and_then(|id| space.modules.get(id.0));
                let known: Vec<&str> =
                    module.into_iter().flat_map(|m| &m.allotments).map(|a| a.name.as_str()).collect();
                if known.contains(&name.text.as_str()) {
                    family.allotment = Some(name.text.clone());
                } else {
                    let diagnostic = unknown(name, "allotment", &known)
                        .with_help("declare it in the module, before the family: `allot 0x01..=0x0f core;`");
                    self.report(diagnostic);
                }
            }
        }
    }

    /// Reports a layout of a family that did not resolve, unless the reason is reported already.
    fn kept(&mut self, layout: Option<&Sequence>, family: &Family, what: &str, span: Span) {
        if layout.is_none() {
            self.left_out(&format!("{what} of `{}`", family.path), span);
        }
    }

    /// Refuses a clause that the kind of family does not take (`kinds`; empty for all), or takes only once.
    fn once(&mut self, clause: &str, kinds: &[FamilyKind], family: &Family, again: bool, span: Span) {
        let kind = family.kind.keyword();
        if !kinds.is_empty() && !kinds.contains(&family.kind) {
            let takers: Vec<&str> = kinds.iter().map(|kind| kind.keyword()).collect();
            self.report(
                Diagnostic::new(
                    Code::BadClause,
                    format!("a `{kind}` family has no `{clause}`"),
                    span,
                    "not for this kind of family",
                )
                .with_help(format!("`{clause}` belongs to: {}", takers.join(", "))),
            );
        } else if again {
            self.report(Diagnostic::new(
                Code::BadClause,
                format!("`{clause}` is given twice"),
                span,
                "given already",
            ));
        }
    }

    /// Refuses a family that lacks a clause which its kind needs.
    fn complete(&mut self, family: &Family) {
        let missing = match family.kind {
            FamilyKind::Zset | FamilyKind::Queue | FamilyKind::Set if family.member.is_none() => "member",
            FamilyKind::Zset | FamilyKind::Queue if family.score.is_none() => "score",
            FamilyKind::Hash if family.fields.is_empty() => "field",
            _ => return,
        };
        // A clause that is there but did not resolve has been reported already.
        let reported = self.diagnostics.iter().any(|d| {
            d.span().file == family.span.file && family.span.range().contains(&(d.span().start as usize))
        });
        if !reported {
            self.report(
                Diagnostic::new(
                    Code::BadClause,
                    format!("a `{}` family needs a `{missing}` clause", family.kind.keyword()),
                    family.name_span,
                    format!("no `{missing}`"),
                )
                .with_help("say what its members, scores or fields look like"),
            );
        }
    }

    fn field(&mut self, field: &'a ast::FieldClause, family: &mut Family) {
        self.snake(&field.name, "a field");
        if let Some(first) = family.fields.iter().find(|other| other.name == field.name.text) {
            let first = first.span;
            self.duplicate("field", &field.name, first);
        }
        let key = self.sequence_behind(Vec::new(), &field.parts);
        let value = field.value.as_ref().map(|body| self.body(body));
        self.kept(key.as_ref(), family, "a field", field.span);
        if let Some(value) = &value {
            self.kept(value.as_ref(), family, "the value of a field", field.span);
        }
        if let Some(key) = key {
            family.fields.push(Field {
                name: field.name.text.clone(),
                doc: field.doc.clone(),
                key,
                value: value.flatten(),
                span: field.span,
            });
        }
    }

    /// The number of buckets of a hash. Its key must be known, and have no tag of its own: the buckets are named after it.
    fn spread(&mut self, buckets: ast::Int, family: &Family) -> Option<u16> {
        let (label, help) = match family.key.constant() {
            None => ("its key has arguments", "one hash is spread: write its key with literals only"),
            Some(key) if key.contains(&b'{') => {
                ("its key has a `{`", "what is in braces is what a cluster looks at: the buckets need it")
            }
            Some(_) => match u16::try_from(buckets.magnitude) {
                Ok(number @ 1..=BUCKETS) if !buckets.negative => return Some(number),
                _ => ("out of range", "a cluster has 16384 slots: there are 1 to 16384 buckets"),
            },
        };
        let message = "the hash cannot be spread";
        self.report(Diagnostic::new(Code::BadClause, message, buckets.span, label).with_help(help));
        None
    }

    fn accept(&mut self, accept: &ast::AcceptClause, family: &mut Family) {
        let Some(kind) = AcceptKind::ALL.into_iter().find(|kind| kind.word() == accept.kind.text) else {
            let words: Vec<&str> = AcceptKind::ALL.iter().map(|kind| kind.word()).collect();
            let mut diagnostic = unknown(&accept.kind, "flaw", &words);
            diagnostic.code = Code::BadAccept;
            self.report(diagnostic.with_help(format!("flaws are: {}", words.join(", "))));
            return;
        };
        let fits = match kind {
            AcceptKind::Overlap => !accept.of.is_empty(),
            AcceptKind::Leak => true,
            _ => accept.of.is_empty(),
        };
        if !fits {
            let (label, help) = if kind == AcceptKind::Overlap {
                ("names no family", "write `accept overlap(other) \"why\"`")
            } else {
                ("names a family", "only `overlap` and `leak` name families")
            };
            self.report(
                Diagnostic::new(
                    Code::BadAccept,
                    format!("`accept {}` is not written like this", kind.word()),
                    accept.span,
                    label,
                )
                .with_help(help),
            );
            return;
        }
        family.accepts.push(Accept {
            kind,
            of: accept.of.iter().map(ast::Path::dotted).collect(),
            why: accept.why.value.clone(),
            span: accept.span,
        });
    }

    /// Refuses a family at the path of a field, of the members or of the scores of another one: what was proved of the
    /// one could be taken for what was proved of the other.
    pub(super) fn parts_named_apart(&mut self, spaces: &[Space]) {
        let families = spaces.iter().flat_map(|space| &space.families);
        for owner in families {
            let fields = owner.fields.iter().map(|field| (field.name.as_str(), "a field", field.span));
            let member = owner.member.as_ref().map(|_| ("member", "the members", owner.name_span));
            let score = owner.score.as_ref().map(|_| ("score", "the scores", owner.name_span));
            for (name, what, span) in fields.chain(member).chain(score) {
                let path = owner.path_of(name);
                let Some(&taken) = self.families.get(&path) else { continue };
                self.report(
                    Diagnostic::new(
                        Code::DuplicateName,
                        format!("`{path}` is the path of a family and of {what} of `{}`", owner.path),
                        taken,
                        "this family",
                    )
                    .with_label(span, format!("{what} of this family"))
                    .with_help("rename the family or its module"),
                );
            }
        }
    }

    /// Replaces the paths in `accept overlap(…)` and `accept leak(…)` by the whole paths of the families they name.
    pub(super) fn accepted_paths(&mut self, spaces: &mut [Space]) {
        for space in spaces {
            let paths: Vec<String> = space.families.iter().map(|family| family.path.clone()).collect();
            for family in &mut space.families {
                let own = family.path.clone();
                for accept in &mut family.accepts {
                    // Rows of the family itself leak too; a key that it shares with itself is ambiguous.
                    let itself = accept.kind == AcceptKind::Leak;
                    for path in &mut accept.of {
                        match chosen(&paths, &own, path) {
                            Some(other) if itself || other != own => *path = other,
                            _ => {
                                let span = accept.span;
                                let other = if itself { "" } else { "other " };
                                let message = format!("no {other}family of the space is called `{path}`");
                                self.diagnostics.push(
                                    Diagnostic::new(Code::BadAccept, message, span, "names it here")
                                        .with_help("give the path of one family: `module.name`"),
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The one of `paths` that is or ends with `path`; the one of the same module as `own`, where several do.
pub(super) fn chosen(paths: &[String], own: &str, path: &str) -> Option<String> {
    let found: Vec<&String> =
        paths.iter().filter(|other| DottedPath(other).ends_with(DottedPath(path))).collect();
    let near = DottedPath(own).owner().map(|module| format!("{module}.{path}"));
    match found.as_slice() {
        [only] => Some((*only).clone()),
        many => near.filter(|near| many.contains(&near)),
    }
}

fn body_span(body: &ast::Body) -> Span {
    match body {
        ast::Body::Domain(domain) => domain.span,
        ast::Body::Parts(parts) => match (parts.first(), parts.last()) {
            (Some(first), Some(last)) => first.span().to(last.span()),
            _ => Span::default(),
        },
    }
}
