//! From what the files say to what they mean.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::sight::Sight;
use super::{
    Allotment, Literal, Module, ModuleId, NameSet, NamedType, Plan, Retired, Schemas, Shape, Shown, Space,
};
use crate::diag::{Code, Diagnostic, Severity, Span};
use crate::order::{set, sort_by_key};
use crate::syntax::{ast, nearest};

/// The most segments, alternatives and nested shapes that a plan may have once its types are written out.
pub(crate) const MAX_NODES: usize = 200_000;

/// What came of resolving a plan: its meaning, unless a mistake leaves it without one, and all mistakes.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The plan, if nothing in it is an error.
    pub plan: Option<Plan>,
    /// Every mistake and warning, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file of a plan, and which of the others it imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// What the file says. The file at place *n* of a plan has the [`FileId`](crate::diag::FileId) *n*.
    pub file: ast::File,
    /// The places of the files that it imports, in its order.
    pub imports: Vec<Imported>,
}

/// One import of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The place of the imported file.
    pub file: usize,
    /// Whether only its types and names are wanted.
    pub types_only: bool,
}

/// Resolves the first file of `parts` and what it imports, which are the others, with the schemas that they name.
pub fn resolve(parts: &[Part], schemas: Schemas) -> Resolved {
    let mut resolver = Resolver::new(parts, Arc::new(schemas));
    let plan = resolver.plan(parts);
    let mut diagnostics = resolver.diagnostics;
    sort_by_key(&mut diagnostics, |diagnostic| (diagnostic.span(), diagnostic.code));
    let sound = diagnostics.iter().all(|d| d.severity() != Severity::Error);
    Resolved { plan: plan.filter(|_| sound), diagnostics }
}

/// The declarations in sight, and what has been found so far.
pub(super) struct Resolver<'a> {
    pub(super) types: BTreeMap<TypeKey<'a>, TypeEntry<'a>>,
    /// Which files each file sees the types of.
    pub(super) sight: Sight,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) nodes: usize,
    pub(super) depth: usize,
    /// The families of the space that is being resolved, by path, and where their names are.
    pub(super) families: BTreeMap<String, Span>,
    /// The clauses that refer to other families, with the path of the family that has them.
    pub(super) references: Vec<(String, &'a ast::RefersClause)>,
    /// The family or type that is being resolved, as messages name it.
    pub(super) at: Option<String>,
    /// The schemas of values.
    pub(super) schemas: Arc<Schemas>,
    /// The form in which the argument that is being resolved is shown.
    pub(super) shown: Option<Shown>,
}

/// The name of a type and the place of the file that declares it.
pub(super) type TypeKey<'a> = (&'a str, usize);

/// A declared type or name set, and what is known of it.
pub(super) struct TypeEntry<'a> {
    /// Its name in the plan: its own, or one with the name of its file's plan in front where another file has it too.
    pub(super) name: String,
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

impl<'a> TypeSource<'a> {
    /// The name as the file has it.
    fn spelled(self) -> &'a str {
        match self {
            Self::Type(decl) => &decl.name.text,
            Self::Names(decl) => &decl.name.text,
        }
    }

    pub(super) fn name(&self) -> &ast::Ident {
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
#[expect(clippy::large_enum_variant, reason = "a plan has few types, and each is resolved")]
pub(super) enum TypeState {
    Unseen,
    Open,
    Done { shape: Option<Shape>, nodes: usize, shown: Option<Shown> },
}

impl<'a> Resolver<'a> {
    fn new(parts: &'a [Part], schemas: Arc<Schemas>) -> Self {
        let mut resolver = Self {
            types: BTreeMap::new(),
            sight: Sight::of(parts),
            diagnostics: Vec::new(),
            nodes: 0,
            depth: 0,
            families: BTreeMap::new(),
            references: Vec::new(),
            at: None,
            schemas,
            shown: None,
        };
        for (place, part) in parts.iter().enumerate() {
            for item in &part.file.items {
                let declaration = match item {
                    ast::Item::Type(decl) => TypeSource::Type(decl),
                    ast::Item::Names(decl) => TypeSource::Names(decl),
                    ast::Item::Import(_) | ast::Item::Space(_) => continue,
                };
                resolver.declare(declaration, place);
            }
        }
        resolver.name_apart(parts);
        resolver
    }

    /// Gives types of one name, which files declare that do not see each other, names of their own in the plan: all but
    /// the first get the name of their file's plan in front.
    fn name_apart(&mut self, parts: &[Part]) {
        let order = super::sight::composed(parts);
        let rank =
            |place: usize| order.iter().position(|other| *other == place).unwrap_or(parts.len() + place);
        let mut keys: Vec<TypeKey<'a>> = self.types.keys().copied().collect();
        sort_by_key(&mut keys, |(_, place)| rank(*place));
        let mut taken = set(keys.iter().map(|(name, _)| (*name).to_owned()));
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for key in keys {
            if seen.insert(key.0) {
                continue;
            }
            let plan =
                parts.get(key.1).and_then(|part| part.file.name.as_ref()).map_or("", |name| &name.text);
            let mut name = format!("{}{}", camel(plan), key.0);
            for number in 2_u32.. {
                if taken.insert(name.clone()) {
                    break;
                }
                name = format!("{}{}{number}", camel(plan), key.0);
            }
            if let Some(entry) = self.types.get_mut(&key) {
                entry.name = name;
            }
        }
    }

    /// The types that the file of a name calls so: its own, or those of the files that it imports.
    pub(super) fn types_called(&self, name: &ast::Ident) -> Vec<TypeKey<'a>> {
        let place = name.span.file.0 as usize;
        let all = self.types_named(&name.text);
        let found: Vec<TypeKey<'a>> = all.into_iter().filter(|key| self.sight.sees(place, key.1)).collect();
        match found.iter().find(|key| key.1 == place) {
            Some(own) => vec![*own],
            None => found,
        }
    }

    /// The types of this name, whichever file declares them.
    fn types_named(&self, name: &str) -> Vec<TypeKey<'a>> {
        let all = self.types.range((name, 0)..=(name, usize::MAX));
        all.map(|(key, entry)| (entry.declaration.spelled(), key.1)).collect()
    }

    /// The names of the types that a file sees.
    pub(super) fn types_seen_by(&self, place: usize) -> Vec<&'a str> {
        self.types.keys().filter(|key| self.sight.sees(place, key.1)).map(|key| key.0).collect()
    }

    fn declare(&mut self, declaration: TypeSource<'a>, place: usize) {
        let (TypeSource::Type(ast::TypeDecl { name, .. }) | TypeSource::Names(ast::NamesDecl { name, .. })) =
            declaration;
        let mutual = |other: usize| self.sight.sees(place, other) || self.sight.sees(other, place);
        let first = self.types_named(&name.text).into_iter().find(|key| mutual(key.1));
        if let Some(first) = first.and_then(|key| self.types.get(&key)) {
            let first = first.declaration.name().span;
            self.report(
                Diagnostic::new(
                    Code::DuplicateName,
                    format!("the type `{}` is declared twice", name.text),
                    name.span,
                    "declared again here",
                )
                .with_label(first, "first declared here")
                .with_help("rename one of them; a file shares its type names with those that it imports"),
            );
            return;
        }
        if !name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
            self.spelling(name, "a type", "a capital letter first, as in `PoolId`", &camel(&name.text));
        }
        let entry = TypeEntry { name: name.text.clone(), declaration, state: TypeState::Unseen, used: false };
        self.types.insert((&name.text, place), entry);
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// ", in the family `s.k`", for messages about limits.
    pub(super) fn inside(&self) -> String {
        self.at.as_ref().map(|what| format!(", in {what}")).unwrap_or_default()
    }

    /// Reports that something of the plan was left out, unless an error says so already: a plan that is given out
    /// holds everything that its files declare.
    pub(super) fn left_out(&mut self, what: &str, span: Span) {
        if self.diagnostics.iter().all(|diagnostic| diagnostic.severity() != Severity::Error) {
            self.report(Diagnostic::new(
                Code::TooLarge,
                format!("{what} is more than this implementation can hold"),
                span,
                "left out",
            ));
        }
    }

    fn spelling(&mut self, name: &ast::Ident, what: &str, wanted: &str, right: &str) {
        self.report(
            Diagnostic::new(
                Code::BadSpelling,
                format!("{what} is spelled with {wanted}"),
                name.span,
                "spelled differently",
            )
            .with_help(format!("write `{right}`: names become identifiers of generated code")),
        );
    }

    pub(super) fn snake(&mut self, name: &ast::Ident, what: &str) {
        let snake = name.text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !snake {
            self.spelling(name, what, "small letters, digits and `_`", &snake_case(&name.text));
        }
    }

    fn plan(&mut self, parts: &'a [Part]) -> Option<Plan> {
        let keys: Vec<TypeKey<'a>> = self.types.keys().copied().collect();
        for key in &keys {
            self.named_type(*key);
        }
        let root = &parts.first()?.file;
        let composed = super::sight::composed(parts);
        let files: Vec<&'a ast::File> =
            composed.iter().filter_map(|place| parts.get(*place)).map(|part| &part.file).collect();
        let mut spaces: Vec<Space> = Vec::new();
        for decl in files.iter().flat_map(|file| &file.items) {
            let ast::Item::Space(decl) = decl else { continue };
            if let Some(at) = spaces.iter().position(|space| space.name == decl.name.text) {
                self.more_of(decl, at, &mut spaces);
                continue;
            }
            let space = self.space(decl);
            self.stored_apart(decl, &space, &spaces);
            spaces.push(space);
        }
        self.parts_named_apart(&spaces);
        self.accepted_paths(&mut spaces);
        self.scanned_company(&files, &mut spaces);
        self.relations(&mut spaces);
        // Behind an error a use may simply not have been seen.
        if self.diagnostics.iter().all(|diagnostic| diagnostic.severity() == Severity::Warning) {
            self.unused(root);
        }
        let name = root.name.as_ref()?;
        self.snake(name, "a plan");
        Some(Plan {
            name: name.text.clone(),
            doc: root.doc.clone(),
            spaces,
            types: self.named_types(),
            names: self.name_sets(),
            schemas: Arc::clone(&self.schemas),
        })
    }

    /// The entries by the name that they have in the plan; of several, the last.
    fn by_name(&self) -> Vec<(&str, &TypeEntry<'a>)> {
        let mut all: Vec<_> = self.types.values().map(|entry| (entry.name.as_str(), entry)).collect();
        sort_by_key(&mut all, |(name, _)| *name);
        all.reverse();
        all.dedup_by_key(|(name, _)| *name);
        all.reverse();
        all
    }

    fn named_types(&self) -> Vec<NamedType> {
        let done = |(name, entry): (&str, &TypeEntry<'a>)| {
            let TypeState::Done { shape: Some(shape), .. } = &entry.state else { return None };
            Some(NamedType {
                name: name.to_owned(),
                doc: entry.declaration.doc().to_vec(),
                shape: shape.clone(),
                span: entry.declaration.name().span,
            })
        };
        self.by_name().into_iter().filter_map(done).collect()
    }

    fn name_sets(&self) -> Vec<Arc<NameSet>> {
        let set = |(name, entry): (&str, &TypeEntry<'a>)| match &entry.state {
            TypeState::Done { shape: Some(Shape::Text(text)), .. } => {
                text.names.clone().filter(|set| set.name == name)
            }
            _ => None,
        };
        self.by_name().into_iter().filter_map(set).collect()
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
            if !library && self.types.get(&(name.text.as_str(), 0)).is_some_and(|entry| !entry.used) {
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
            engine_name: decl.physical.as_ref().map_or(&decl.name.text, |text| &text.value).clone(),
            doc: decl.doc.clone(),
            families: Vec::new(),
            modules: Vec::new(),
            retired: Vec::new(),
            dropped: Vec::new(),
            rules: Vec::new(),
            span: decl.name.span,
        };
        let place = Place { path: decl.name.text.clone(), prefix: Vec::new(), module: None };
        self.members(&decl.members, &place, &mut space);
        space
    }

    /// What another file says of a space: its modules and families join those that are there.
    fn more_of(&mut self, decl: &'a ast::SpaceDecl, at: usize, spaces: &mut [Space]) {
        let Some(space) = spaces.get_mut(at) else { return };
        if space.span.file == decl.name.span.file {
            let first = space.span;
            return self.duplicate("space", &decl.name, first);
        }
        if let Some(text) = decl.physical.as_ref().filter(|text| text.value != space.engine_name) {
            let message = format!("the space `{}` is stored as {:?}", space.name, space.engine_name);
            self.report(
                Diagnostic::new(Code::DuplicateName, message, text.span, "another name for the engine")
                    .with_label(space.span, "by the file that names it first")
                    .with_help("give the same name in every file, or leave it out after the first"),
            );
        }
        if space.doc.is_empty() {
            space.doc.clone_from(&decl.doc);
        }
        let place = Place { path: decl.name.text.clone(), prefix: Vec::new(), module: None };
        self.members(&decl.members, &place, space);
    }

    /// Refuses a space that an engine would store under the name of another: their rows would be in one place.
    fn stored_apart(&mut self, decl: &ast::SpaceDecl, space: &Space, others: &[Space]) {
        // Two spaces of one name are told about already.
        let same = |other: &&Space| other.engine_name == space.engine_name && other.name != space.name;
        let Some(first) = others.iter().find(same).map(|other| other.span) else { return };
        let span = decl.physical.as_ref().map_or(decl.name.span, |text| text.span);
        self.report(
            Diagnostic::new(
                Code::DuplicateName,
                format!("two spaces are stored as {:?}", space.engine_name),
                span,
                "taken already",
            )
            .with_label(first, "by this space")
            .with_help(
                "a space without a name for the engine is stored under its own: give one of them another",
            ),
        );
    }

    fn members(&mut self, members: &'a [ast::Member], place: &Place, space: &mut Space) {
        for member in members {
            match member {
                ast::Member::Module(decl) => self.module(decl, place, space),
                ast::Member::Family(decl) => self.family(decl, place, space),
                ast::Member::Allot(decl) => self.allot(decl, place, space),
                ast::Member::Retired(decl) => self.retire(decl, place, space),
                ast::Member::Drop(decl) => space.dropped.push(super::evolution::dropped(decl)),
                ast::Member::Rule(decl) => self.house_rule(decl, place, space),
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
            rules: Vec::new(),
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
        let since = decl.since.as_ref().map(|text| text.value.clone());
        let retired = Retired { prefix, since, why: decl.why.value.clone(), span: decl.span };
        match place.module.and_then(|id| space.modules.get_mut(id.0)) {
            Some(module) => module.retired.push(retired),
            None => space.retired.push(retired),
        }
    }
}

/// Where a family is: what its path and its keys begin with.
pub(super) struct Place {
    pub(super) path: String,
    pub(super) prefix: Vec<Literal>,
    pub(super) module: Option<ModuleId>,
}

/// "nothing is called `x`", with the name that comes nearest.
/// A name as a type is spelled: `pool_id` as `PoolId`.
pub(super) fn camel(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
    };
    let name: String = words.map(capital).collect();
    if name.starts_with(|c: char| c.is_ascii_uppercase()) { name } else { format!("T{name}") }
}

/// A name as a family or an argument is spelled: `PoolID` as `pool_id`.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut small = false;
    for char in name.chars() {
        if char.is_ascii_uppercase() && small {
            out.push('_');
        }
        small = char.is_ascii_lowercase() || char.is_ascii_digit();
        out.push(char.to_ascii_lowercase());
    }
    out
}

pub(super) fn unknown(name: &ast::Ident, what: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::UnknownName,
        format!("no {what} is called `{}`", name.text),
        name.span,
        format!("not a known {what}"),
    );
    // A width is not a slip: `len32` writes other bytes than `len64`.
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let wanted = digits(&name.text);
    let width = wanted.parse::<u16>().is_ok_and(|bits| bits.is_multiple_of(8));
    let alike = known.iter().copied().filter(|known| !width || digits(known) == wanted);
    match nearest(&name.text, alike) {
        Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}
