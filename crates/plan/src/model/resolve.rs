//! From what the files say to what they mean.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyplan_codec::Hash;

use super::{
    Accept, AcceptKind, Allotment, Argument, Derivation, Derived, Family, FamilyKind, Field, IntEncoding,
    IntShape, IntType, Literal, Module, ModuleId, NameSet, NamedType, Plan, Retired, Same, Scan, Segment,
    Sequence, Shape, Space,
};
use crate::diag::{Code, Diagnostic, Span};
use crate::syntax::{ast, nearest};

/// The most segments, alternatives and nested shapes that a plan may have once its types are written out.
pub(crate) const MAX_NODES: usize = 200_000;

/// The most parts that one sequence may have.
const MAX_PARTS: usize = 256;

/// What came of resolving a plan: its meaning, unless a mistake leaves it without one, and all mistakes.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The plan, if nothing in it is an error.
    pub plan: Option<Plan>,
    /// Every mistake and warning, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves the first file of `files`; the others are those that it imports.
pub fn resolve(files: &[ast::File]) -> Resolved {
    let mut resolver = Resolver::new(files);
    let plan = resolver.plan(files);
    let mut diagnostics = resolver.diagnostics;
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span(), diagnostic.code));
    let sound = diagnostics.iter().all(|d| d.severity() != crate::diag::Severity::Error);
    Resolved { plan: plan.filter(|_| sound), diagnostics }
}

/// The declarations in sight, and what has been found so far.
pub(super) struct Resolver<'a> {
    pub(super) types: BTreeMap<&'a str, TypeEntry<'a>>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) nodes: usize,
    pub(super) depth: usize,
}

/// A declared type or name set, and what is known of it.
pub(super) struct TypeEntry<'a> {
    pub(super) declaration: TypeSource<'a>,
    pub(super) state: TypeState,
    pub(super) used: bool,
}

/// What declares a type.
#[derive(Clone, Copy)]
pub(super) enum TypeSource<'a> {
    Type(&'a ast::TypeDecl),
    Names(&'a ast::NamesDecl),
}

impl TypeSource<'_> {
    fn name(&self) -> &ast::Ident {
        match self {
            Self::Type(decl) => &decl.name,
            Self::Names(decl) => &decl.name,
        }
    }

    fn doc(&self) -> &[String] {
        match self {
            Self::Type(decl) => &decl.doc,
            Self::Names(decl) => &decl.doc,
        }
    }
}

/// How far a type has been resolved.
#[derive(Clone)]
pub(super) enum TypeState {
    Unseen,
    Open,
    Done { shape: Option<Shape>, nodes: usize },
}

impl<'a> Resolver<'a> {
    fn new(files: &'a [ast::File]) -> Self {
        let mut resolver = Self { types: BTreeMap::new(), diagnostics: Vec::new(), nodes: 0, depth: 0 };
        for item in files.iter().flat_map(|file| &file.items) {
            let declaration = match item {
                ast::Item::Type(decl) => TypeSource::Type(decl),
                ast::Item::Names(decl) => TypeSource::Names(decl),
                ast::Item::Import(_) | ast::Item::Space(_) => continue,
            };
            resolver.declare(declaration);
        }
        resolver
    }

    fn declare(&mut self, declaration: TypeSource<'a>) {
        let (TypeSource::Type(ast::TypeDecl { name, .. }) | TypeSource::Names(ast::NamesDecl { name, .. })) =
            declaration;
        if let Some(first) = self.types.get(name.text.as_str()) {
            let first = first.declaration.name().span;
            self.report(
                Diagnostic::new(
                    Code::DuplicateName,
                    format!("the type `{}` is declared twice", name.text),
                    name.span,
                    "declared again here",
                )
                .with_label(first, "first declared here")
                .with_help("rename one of them; imported files share one set of type names"),
            );
            return;
        }
        if !name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
            self.spelling(name, "a type", "a capital letter first, as in `PoolId`");
        }
        let entry = TypeEntry { declaration, state: TypeState::Unseen, used: false };
        self.types.insert(&name.text, entry);
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn spelling(&mut self, name: &ast::Ident, what: &str, wanted: &str) {
        self.report(
            Diagnostic::new(
                Code::BadSpelling,
                format!("{what} is spelled with {wanted}"),
                name.span,
                "spelled otherwise",
            )
            .with_help("names become identifiers of generated code"),
        );
    }

    fn snake(&mut self, name: &ast::Ident, what: &str) {
        let snake = name.text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !snake {
            self.spelling(name, what, "small letters, digits and `_`");
        }
    }

    fn plan(&mut self, files: &'a [ast::File]) -> Option<Plan> {
        let names: Vec<&'a str> = self.types.keys().copied().collect();
        for name in &names {
            self.named_type(name);
        }
        let root = files.first()?;
        let mut spaces: Vec<Space> = Vec::new();
        for item in &root.items {
            let ast::Item::Space(decl) = item else { continue };
            if let Some(first) = spaces.iter().find(|space| space.name == decl.name.text) {
                let first = first.span;
                self.duplicate("space", &decl.name, first);
            }
            if let Some(physical) = &decl.physical
                && let Some(first) = spaces.iter().find(|s| s.physical.as_deref() == Some(&physical.value))
            {
                let first = first.span;
                self.report(
                    Diagnostic::new(
                        Code::DuplicateName,
                        format!("two spaces are stored as {:?}", physical.value),
                        physical.span,
                        "taken already",
                    )
                    .with_label(first, "by this space"),
                );
            }
            let space = self.space(decl);
            spaces.push(space);
        }
        self.accepted_paths(&mut spaces);
        self.unused(root);
        let name = root.name.as_ref()?;
        self.snake(name, "a plan");
        Some(Plan {
            name: name.text.clone(),
            doc: root.doc.clone(),
            spaces,
            types: self.named_types(&names),
            names: self.name_sets(&names),
        })
    }

    fn named_types(&self, names: &[&str]) -> Vec<NamedType> {
        let done = |name: &&str| {
            let entry = self.types.get(name)?;
            let TypeState::Done { shape: Some(shape), .. } = &entry.state else { return None };
            Some(NamedType {
                name: (*name).to_owned(),
                doc: entry.declaration.doc().to_vec(),
                shape: shape.clone(),
                span: entry.declaration.name().span,
            })
        };
        names.iter().filter_map(done).collect()
    }

    fn name_sets(&self, names: &[&str]) -> Vec<Arc<NameSet>> {
        let set = |name: &&str| match &self.types.get(name)?.state {
            TypeState::Done { shape: Some(Shape::Text(text)), .. } => {
                text.names.clone().filter(|set| set.name == **name)
            }
            _ => None,
        };
        names.iter().filter_map(set).collect()
    }

    /// Warns of types of the root file that nothing uses; those of imported files are there for others too.
    fn unused(&mut self, root: &ast::File) {
        for item in &root.items {
            let name = match item {
                ast::Item::Type(decl) => &decl.name,
                ast::Item::Names(decl) => &decl.name,
                ast::Item::Import(_) | ast::Item::Space(_) => continue,
            };
            // A file without spaces is a library of types.
            let library = root.items.iter().all(|item| !matches!(item, ast::Item::Space(_)));
            if !library && self.types.get(name.text.as_str()).is_some_and(|entry| !entry.used) {
                self.report(
                    Diagnostic::new(
                        Code::UnusedType,
                        format!("nothing uses the type `{}`", name.text),
                        name.span,
                        "declared here",
                    )
                    .with_help("use it or take it out"),
                );
            }
        }
    }

    pub(super) fn duplicate(&mut self, what: &str, name: &ast::Ident, first: Span) {
        self.report(
            Diagnostic::new(
                Code::DuplicateName,
                format!("the {what} `{}` is declared twice", name.text),
                name.span,
                "declared again here",
            )
            .with_label(first, "first declared here")
            .with_help("rename one of them"),
        );
    }

    fn space(&mut self, decl: &'a ast::SpaceDecl) -> Space {
        self.snake(&decl.name, "a space");
        let mut space = Space {
            name: decl.name.text.clone(),
            physical: decl.physical.as_ref().map(|text| text.value.clone()),
            doc: decl.doc.clone(),
            families: Vec::new(),
            modules: Vec::new(),
            retired: Vec::new(),
            span: decl.name.span,
        };
        let place = Place { path: decl.name.text.clone(), prefix: Vec::new(), module: None };
        self.members(&decl.members, &place, &mut space);
        space
    }

    fn members(&mut self, members: &'a [ast::Member], place: &Place, space: &mut Space) {
        for member in members {
            match member {
                ast::Member::Module(decl) => self.module(decl, place, space),
                ast::Member::Family(decl) => self.family(decl, place, space),
                ast::Member::Allot(decl) => self.allot(decl, place, space),
                ast::Member::Retired(decl) => self.retire(decl, place, space),
            }
        }
    }

    fn module(&mut self, decl: &'a ast::ModuleDecl, place: &Place, space: &mut Space) {
        self.snake(&decl.name, "a module");
        let path = format!("{}.{}", place.path, decl.name.text);
        if let Some(first) = space.modules.iter().find(|module| module.path == path) {
            let first = first.span;
            self.duplicate("module", &decl.name, first);
        }
        let own: Vec<Literal> = decl.prefix.iter().filter_map(|literal| self.literal(literal)).collect();
        let mut prefix = place.prefix.clone();
        prefix.extend(own);
        let id = ModuleId(space.modules.len());
        space.modules.push(Module {
            name: decl.name.text.clone(),
            path: path.clone(),
            doc: decl.doc.clone(),
            prefix: prefix.iter().flat_map(|literal| literal.bytes.iter().copied()).collect(),
            parent: place.module,
            allotments: Vec::new(),
            retired: Vec::new(),
            span: decl.name.span,
        });
        self.members(&decl.members, &Place { path, prefix, module: Some(id) }, space);
    }

    fn allot(&mut self, decl: &ast::AllotDecl, place: &Place, space: &mut Space) {
        let number = |int: &ast::Int| (!int.negative).then(|| u8::try_from(int.magnitude).ok()).flatten();
        let Some(module) = place.module.and_then(|id| space.modules.get_mut(id.0)) else {
            self.report(
                Diagnostic::new(
                    Code::BadAllotment,
                    "numbers are allotted inside a module",
                    decl.span,
                    "not inside a module",
                )
                .with_help("put the families into `module name = 0x01 { … }`"),
            );
            return;
        };
        let (Some(first), Some(last)) = (number(&decl.first), number(&decl.last)) else {
            self.report(Diagnostic::new(
                Code::BadAllotment,
                "numbers are one byte: 0x00 to 0xff",
                decl.span,
                "out of range",
            ));
            return;
        };
        if last < first {
            self.report(Diagnostic::new(
                Code::EmptyRange,
                "an allotment ends before it starts",
                decl.span,
                "no number lies in it",
            ));
            return;
        }
        let clash = module.allotments.iter().find(|other| first <= other.last && other.first <= last);
        if let Some(other) = clash {
            let (name, span) = (other.name.clone(), other.span);
            self.report(
                Diagnostic::new(
                    Code::BadAllotment,
                    format!("the allotment `{}` overlaps `{name}`", decl.name.text),
                    decl.span,
                    "overlaps",
                )
                .with_label(span, "this one"),
            );
            return;
        }
        module.allotments.push(Allotment {
            name: decl.name.text.clone(),
            purpose: decl.purpose.as_ref().map(|text| text.value.clone()),
            first,
            last,
            span: decl.span,
        });
    }

    fn retire(&mut self, decl: &ast::RetiredDecl, place: &Place, space: &mut Space) {
        let mut prefix: Vec<u8> =
            place.prefix.iter().flat_map(|literal| literal.bytes.iter().copied()).collect();
        prefix.extend(decl.prefix.iter().filter_map(|literal| self.literal(literal)).flat_map(|l| l.bytes));
        let retired = Retired { prefix, why: decl.why.value.clone(), span: decl.span };
        match place.module.and_then(|id| space.modules.get_mut(id.0)) {
            Some(module) => module.retired.push(retired),
            None => space.retired.push(retired),
        }
    }

    fn family(&mut self, decl: &'a ast::FamilyDecl, place: &Place, space: &mut Space) {
        self.snake(&decl.name, "a family");
        let path = format!("{}.{}", place.path, decl.name.text);
        if let Some(first) = space.families.iter().find(|family| family.path == path) {
            let first = first.name_span;
            self.duplicate("family", &decl.name, first);
        }
        let prefix = place.prefix.iter().cloned().map(Segment::Literal).collect();
        let number = decl.parts.first().and_then(|part| match part {
            ast::Part::Literal(literal) => self.literal(literal)?.bytes.first().copied(),
            _ => None,
        });
        let Some(key) = self.sequence_behind(prefix, &decl.parts) else {
            return;
        };
        let mut family = Family {
            name: decl.name.text.clone(),
            path,
            kind: decl.kind,
            doc: decl.doc.clone(),
            key,
            value: None,
            fields: Vec::new(),
            member: None,
            score: None,
            scans: Vec::new(),
            accepts: Vec::new(),
            retired: None,
            module: place.module,
            number: number.filter(|_| place.module.is_some()),
            allotment: None,
            name_span: decl.name.span,
            span: decl.span,
        };
        for clause in &decl.clauses {
            self.clause(clause, &mut family, place, space);
        }
        self.complete(&family);
        space.families.push(family);
    }

    fn clause(&mut self, clause: &'a ast::Clause, family: &mut Family, place: &Place, space: &Space) {
        use FamilyKind::{Hash as HashFamily, Key, Queue, Set, Zset};
        match clause {
            ast::Clause::Value(body) => {
                let value = self.body(body);
                self.once("->", &[Key], family, family.value.is_some(), body_span(body));
                family.value = value;
            }
            ast::Clause::Member(body) => {
                let member = self.body(body);
                self.once("member", &[Zset, Set, Queue], family, family.member.is_some(), body_span(body));
                family.member = member;
            }
            ast::Clause::Score(body) => {
                let score = self.body(body);
                self.once("score", &[Zset, Queue], family, family.score.is_some(), body_span(body));
                family.score = score;
            }
            ast::Clause::Field(field) => {
                self.once("field", &[HashFamily], family, false, field.span);
                self.field(field, family);
            }
            ast::Clause::Scan(scan) => self.scan(scan, family),
            ast::Clause::Accept(accept) => self.accept(accept, family),
            ast::Clause::Retired(why) => {
                self.once("retired", &[], family, family.retired.is_some(), why.span);
                family.retired = Some(why.value.clone());
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
            FamilyKind::Zset | FamilyKind::Queue if family.member.is_none() => "member",
            FamilyKind::Zset | FamilyKind::Queue if family.score.is_none() => "score",
            FamilyKind::Set if family.member.is_none() => "member",
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
        if let (Some(key), Some(_) | None) = (key, value.as_ref()) {
            family.fields.push(Field {
                name: field.name.text.clone(),
                doc: field.doc.clone(),
                key,
                value: value.flatten(),
                span: field.span,
            });
        }
    }

    fn scan(&mut self, scan: &ast::ScanClause, family: &mut Family) {
        for (index, name) in scan.by.iter().enumerate() {
            match family.key.argument_index(&name.text) {
                Some(position) if position == index => {}
                Some(_) => {
                    let order: Vec<&str> =
                        family.key.arguments().filter_map(|argument| argument.name.as_deref()).collect();
                    self.report(
                        Diagnostic::new(
                            Code::BadScan,
                            "a scan binds the first arguments of the key, in their order",
                            name.span,
                            format!("`{}` is not argument {} of the key", name.text, index + 1),
                        )
                        .with_help(format!("the arguments are: {}", order.join(", "))),
                    );
                    return;
                }
                None => {
                    let known: Vec<&str> =
                        family.key.arguments().filter_map(|argument| argument.name.as_deref()).collect();
                    let diagnostic = unknown(name, "argument", &known);
                    self.report(diagnostic);
                    return;
                }
            }
        }
        let bound = scan.by.len();
        if family.scans.iter().any(|other| other.bound == bound) {
            self.report(Diagnostic::new(Code::BadScan, "the same scan is given twice", scan.span, "again"));
            return;
        }
        family.scans.push(Scan {
            bound,
            segments: family.key.scanned_segments(bound),
            in_order: scan.in_order,
            span: scan.span,
        });
    }

    fn accept(&mut self, accept: &ast::AcceptClause, family: &mut Family) {
        let Some(kind) = AcceptKind::ALL.into_iter().find(|kind| kind.word() == accept.kind.text) else {
            let words: Vec<&str> = AcceptKind::ALL.iter().map(|kind| kind.word()).collect();
            let mut diagnostic = unknown(&accept.kind, "flaw", &words);
            diagnostic.code = Code::BadAccept;
            self.report(diagnostic.with_help(format!("flaws are: {}", words.join(", "))));
            return;
        };
        if (kind == AcceptKind::Overlap) == accept.of.is_empty() {
            let (label, help) = if kind == AcceptKind::Overlap {
                ("names no family", "write `accept overlap(other) \"why\"`")
            } else {
                ("names a family", "only `overlap` names other families")
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
        let dotted =
            |path: &ast::Path| path.names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".");
        family.accepts.push(Accept {
            kind,
            of: accept.of.iter().map(dotted).collect(),
            why: accept.why.value.clone(),
            span: accept.span,
        });
    }

    /// Replaces the paths in `accept overlap(…)` by the whole paths of the families they name.
    fn accepted_paths(&mut self, spaces: &mut [Space]) {
        for space in spaces {
            let paths: Vec<String> = space.families.iter().map(|family| family.path.clone()).collect();
            for family in &mut space.families {
                let own = family.path.clone();
                for accept in &mut family.accepts {
                    for path in &mut accept.of {
                        let suffix = format!(".{path}");
                        let exact = paths.iter().filter(|other| *other == path);
                        let found: Vec<&String> =
                            exact.chain(paths.iter().filter(|other| other.ends_with(&suffix))).collect();
                        // The family of the same module is the one that is meant, where several fit.
                        let near = own.rsplit_once('.').map(|(module, _)| format!("{module}.{path}"));
                        let chosen = match found.as_slice() {
                            [only] => Some((*only).clone()),
                            many => near.filter(|near| many.contains(&near)),
                        };
                        match chosen {
                            Some(other) if other != own => *path = other,
                            _ => {
                                let span = accept.span;
                                let message = format!("no other family of the space is called `{path}`");
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

    /// A layout given as parts or as one unnamed domain.
    pub(super) fn body(&mut self, body: &'a ast::Body) -> Option<Sequence> {
        match body {
            ast::Body::Parts(parts) => self.sequence_behind(Vec::new(), parts),
            ast::Body::Domain(domain) => {
                let shape = self.domain(domain)?;
                let type_name = type_name(domain);
                let argument = Argument { name: None, type_name, shape, span: domain.span };
                Some(Sequence::new(vec![Segment::Argument(argument)]))
            }
        }
    }

    /// The segments of `parts`, behind those of `prefix`.
    pub(super) fn sequence_behind(
        &mut self,
        prefix: Vec<Segment>,
        parts: &'a [ast::Part],
    ) -> Option<Sequence> {
        self.nodes = self.nodes.saturating_add(parts.len());
        if let Some(part) = parts.get(MAX_PARTS) {
            self.report(
                Diagnostic::new(
                    Code::TooLarge,
                    format!("a sequence has at most {MAX_PARTS} parts"),
                    part.span(),
                    "one too many",
                )
                .with_help("group parts into records"),
            );
            return None;
        }
        let before = prefix.len();
        let mut slots: Vec<Option<Segment>> = prefix.into_iter().map(Some).collect();
        let mut sound = true;
        // Derived parts may look ahead, so they are filled in last.
        for part in parts {
            let segment = match part {
                ast::Part::Literal(literal) => self.literal(literal).map(Segment::Literal),
                ast::Part::Argument { name, domain, span } => {
                    self.snake(name, "an argument");
                    if let Some(first) = find_argument(&slots, &name.text) {
                        self.duplicate("argument", name, first.1);
                    }
                    self.domain(domain).map(|shape| {
                        let type_name = type_name(domain);
                        Segment::Argument(Argument {
                            name: Some(name.text.clone()),
                            type_name,
                            shape,
                            span: *span,
                        })
                    })
                }
                ast::Part::Same { name, encodings, span } => self.same(name, encodings, *span, &slots),
                ast::Part::Derived { .. } => {
                    slots.push(None);
                    continue;
                }
            };
            sound &= segment.is_some();
            slots.push(segment);
        }
        for (index, part) in parts.iter().enumerate() {
            if let ast::Part::Derived { .. } = part {
                let derived = if sound { self.derived(part, &slots) } else { None };
                sound &= derived.is_some();
                if let Some(slot) = slots.get_mut(before + index) {
                    *slot = derived;
                }
            }
        }
        if self.nodes > MAX_NODES {
            return None;
        }
        sound.then(|| Sequence::new(slots.into_iter().flatten().collect()))
    }

    fn same(
        &mut self,
        name: &ast::Ident,
        encodings: &'a [ast::Call],
        span: Span,
        slots: &[Option<Segment>],
    ) -> Option<Segment> {
        let Some((of, _)) = find_argument(slots, &name.text) else {
            self.report(
                Diagnostic::new(
                    Code::BadReference,
                    format!("no argument `{}` stands before this", name.text),
                    name.span,
                    "not an argument before it",
                )
                .with_help("`same(x)` repeats an argument that was written earlier in the sequence"),
            );
            return None;
        };
        let Some(Some(Segment::Argument(argument))) = slots.get(of) else { return None };
        let shape = if encodings.is_empty() {
            argument.shape.clone()
        } else {
            let plain = argument.shape.without_encoding();
            self.encoded(plain, encodings, span)?
        };
        Some(Segment::Same(Same { name: name.text.clone(), of, shape, span }))
    }

    fn derived(&mut self, part: &'a ast::Part, slots: &[Option<Segment>]) -> Option<Segment> {
        let ast::Part::Derived { name, function, of, modulus, domain, span } = part else { return None };
        self.snake(name, "a derived part");
        let (derivation, bits) = match function.text.as_str() {
            "crc16" => (Derivation::Crc16, 16),
            "crc32" => (Derivation::Crc32, 32),
            "xxh3_64" => (Derivation::Xxh3, 64),
            "twox_64" => (Derivation::Twox, 64),
            _ => {
                let diagnostic = unknown(function, "function", &["crc16", "crc32", "xxh3_64", "twox_64"]);
                self.report(diagnostic);
                return None;
            }
        };
        let mut indices = Vec::new();
        for argument in of {
            let Some((index, _)) = find_argument(slots, &argument.text) else {
                self.report(Diagnostic::new(
                    Code::BadReference,
                    format!("the sequence has no argument `{}`", argument.text),
                    argument.span,
                    "not an argument of it",
                ));
                return None;
            };
            indices.push(index);
        }
        let modulus = match modulus {
            Some(int) if int.negative || int.magnitude == 0 => {
                self.report(Diagnostic::new(
                    Code::BadReference,
                    "a modulus is at least 1",
                    int.span,
                    "cannot divide by this",
                ));
                return None;
            }
            Some(int) => Some(int.magnitude),
            None => None,
        };
        let full = u128::MAX >> (128 - bits);
        let most = modulus.map_or(full, |modulus| full.min(modulus - 1));
        let shape = match domain {
            Some(domain) => match self.domain(domain)? {
                Shape::Int(int) if !int.ty.signed => int,
                _ => {
                    self.report(Diagnostic::new(
                        Code::BadReference,
                        "a derived part is written as an unsigned integer",
                        domain.span,
                        "not an unsigned integer",
                    ));
                    return None;
                }
            },
            None => {
                let ty = IntType { signed: false, bits };
                IntShape { ty, range: ty.range(), encoding: IntEncoding::Be }
            }
        };
        if !shape.range.contains_unsigned(most) || !shape.range.contains_unsigned(0) {
            self.report(Diagnostic::new(
                Code::BadReference,
                format!("`{}` is too narrow for values up to {most}", shape.ty.name()),
                *span,
                "does not fit",
            ));
            return None;
        }
        Some(Segment::Derived(Derived {
            name: name.text.clone(),
            function: derivation,
            of: indices,
            modulus,
            shape,
            span: *span,
        }))
    }

    pub(super) fn literal(&mut self, literal: &ast::Literal) -> Option<Literal> {
        let (bytes, spelling, hashed) = match &literal.kind {
            ast::LiteralKind::Hex(bytes) => (bytes.clone(), format!("0x{}", hex(bytes)), None),
            ast::LiteralKind::Text(text) => (text.clone().into_bytes(), format!("{text:?}"), None),
            ast::LiteralKind::Bytes(bytes) => (bytes.clone(), format!("b\"{}\"", bytes.escape_ascii()), None),
            ast::LiteralKind::Hash { function, of, keep } => {
                let (hash, keep) = self.hash_function(function, keep.as_ref())?;
                let digest = hash.digest(of).get(..keep)?.to_vec();
                let name = hash.name();
                let spelling = format!("{name}({:?})", String::from_utf8_lossy(of));
                (digest, spelling, Some((hash, of.clone())))
            }
        };
        Some(Literal { bytes, spelling, hashed, span: literal.span })
    }

    pub(super) fn hash_function(
        &mut self,
        name: &ast::Ident,
        keep: Option<&ast::Int>,
    ) -> Option<(Hash, usize)> {
        let Some(hash) = Hash::ALL.into_iter().find(|hash| hash.name() == name.text) else {
            let known: Vec<&str> = Hash::ALL.iter().map(|hash| hash.name()).collect();
            let diagnostic = unknown(name, "hash function", &known);
            self.report(diagnostic);
            return None;
        };
        let Some(keep) = keep else { return Some((hash, hash.width())) };
        let kept = usize::try_from(keep.magnitude).ok();
        let fits = kept.filter(|&n| !keep.negative && (1..=hash.width()).contains(&n));
        if fits.is_none() {
            self.report(Diagnostic::new(
                Code::BadEncoding,
                format!("`{}` has {} bytes", hash.name(), hash.width()),
                keep.span,
                "cannot keep this many",
            ));
        }
        fits.map(|keep| (hash, keep))
    }
}

/// Where a family stands: what its path and its keys begin with.
struct Place {
    path: String,
    prefix: Vec<Literal>,
    module: Option<ModuleId>,
}

/// The segment index and span of the argument called `name`.
fn find_argument(slots: &[Option<Segment>], name: &str) -> Option<(usize, Span)> {
    slots.iter().enumerate().find_map(|(index, slot)| match slot {
        Some(Segment::Argument(argument)) if argument.name.as_deref() == Some(name) => {
            Some((index, argument.span))
        }
        _ => None,
    })
}

fn type_name(domain: &ast::Domain) -> Option<String> {
    match &domain.atom {
        ast::Atom::Named(call) if call.name.text.starts_with(|c: char| c.is_ascii_uppercase()) => {
            Some(call.name.text.clone())
        }
        _ => None,
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

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// "nothing is called `x`", with the name that comes nearest.
pub(super) fn unknown(name: &ast::Ident, what: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::UnknownName,
        format!("no {what} is called `{}`", name.text),
        name.span,
        format!("not a known {what}"),
    );
    match nearest(&name.text, known.iter().copied()) {
        Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}
