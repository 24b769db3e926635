//! Which names a plan declares, and where each is used.

use std::collections::BTreeMap;

use keyplan_plan::diag::{FileId, Span};
use keyplan_plan::model::{DottedPath, domains};
use keyplan_plan::syntax::ast::{
    Alternative, Atom, Body, Call, CallArg, Clause, Domain, FamilyDecl, File, Ident, Item, Member, Part,
    RefersSource,
};

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Plan,
    Type,
    Space,
    Module,
    Family,
    Field,
    Argument,
    Allotment,
    Label,
}

/// A name where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) kind: Kind,
    /// What tells two of the same spelling apart: the path of what they are declared in.
    pub(crate) scope: String,
    pub(crate) text: String,
    pub(crate) span: Span,
    /// Whether it is declared here.
    pub(crate) declares: bool,
}

impl Name {
    /// Whether two places name the same thing.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.kind == other.kind && self.scope == other.scope && self.text == other.text
    }
}

/// Every name of these files, in the order of their text.
pub(crate) fn names(files: &[File]) -> Vec<Name> {
    let mut walk = Walk { all: Vec::new(), families: Vec::new(), later: Vec::new() };
    for file in files {
        walk.file(file);
    }
    walk.paths();
    walk.types();
    walk.all.sort_by_key(|name| (name.span.file, name.span.start));
    walk.all
}

struct Walk {
    all: Vec<Name>,
    /// The path of each family.
    families: Vec<String>,
    /// Paths of families that are used, the family that uses them, and the arguments of theirs that it names.
    later: Vec<(String, Vec<Ident>, Vec<Ident>)>,
}

impl Walk {
    fn push(&mut self, kind: Kind, scope: &str, name: &Ident, declares: bool) {
        let (scope, text, span) = (scope.to_owned(), name.text.clone(), name.span);
        self.all.push(Name { kind, scope, text, span, declares });
    }

    fn file(&mut self, file: &File) {
        if let Some(name) = &file.name {
            self.push(Kind::Plan, "", name, true);
        }
        for item in &file.items {
            match item {
                Item::Import(_) => {}
                Item::Type(decl) => {
                    self.push(Kind::Type, "", &decl.name, true);
                    self.domain(&decl.domain, &format!("type {}", decl.name.text));
                }
                Item::Names(decl) => {
                    self.push(Kind::Type, "", &decl.name, true);
                    self.domain(&decl.domain, &format!("type {}", decl.name.text));
                }
                Item::Space(decl) => {
                    self.push(Kind::Space, "", &decl.name, true);
                    self.members(&decl.members, &decl.name.text);
                }
            }
        }
    }

    fn members(&mut self, members: &[Member], path: &str) {
        for member in members {
            match member {
                Member::Module(decl) => {
                    self.push(Kind::Module, path, &decl.name, true);
                    self.members(&decl.members, &format!("{path}.{}", decl.name.text));
                }
                Member::Allot(decl) => self.push(Kind::Allotment, path, &decl.name, true),
                Member::Retired(_) | Member::Drop(_) | Member::Rule(_) => {}
                Member::Family(decl) => self.family(decl, path),
            }
        }
    }

    fn family(&mut self, decl: &FamilyDecl, path: &str) {
        self.push(Kind::Family, path, &decl.name, true);
        let own = format!("{path}.{}", decl.name.text);
        self.families.push(own.clone());
        let key = format!("{own} key");
        self.parts(&decl.parts, &key);
        for clause in &decl.clauses {
            match clause {
                Clause::Value(body) => self.body(body, &format!("{own} value")),
                Clause::Member(body) => self.body(body, &format!("{own} member")),
                Clause::Score(body) => self.body(body, &format!("{own} score")),
                Clause::Scan(scan) => {
                    scan.by.iter().for_each(|name| self.push(Kind::Argument, &key, name, false));
                    let paths = scan.with.iter().map(|with| (own.clone(), with.names.clone(), Vec::new()));
                    self.later.extend(paths);
                }
                Clause::Accept(accept) => {
                    let paths = accept.of.iter().map(|of| (own.clone(), of.names.clone(), Vec::new()));
                    self.later.extend(paths);
                }
                Clause::Retain(retain) => {
                    retain.arguments.iter().for_each(|name| self.push(Kind::Argument, &key, name, false));
                }
                Clause::Refers(refers) => {
                    let theirs = refers.bindings.iter().map(|binding| binding.name.clone()).collect();
                    self.later.push((own.clone(), refers.family.names.clone(), theirs));
                    let ours = decl.parts.iter().filter_map(|part| match part {
                        Part::Argument { name, .. } => Some(name.text.as_str()),
                        _ => None,
                    });
                    let ours: Vec<&str> = ours.collect();
                    for binding in &refers.bindings {
                        let RefersSource::Named(path) = &binding.source else { continue };
                        match path.names.as_slice() {
                            [name, ..] if ours.contains(&name.text.as_str()) => {
                                self.push(Kind::Argument, &key, name, false);
                            }
                            [part, name, ..] if part.text == "value" || part.text == "member" => {
                                self.push(Kind::Argument, &format!("{own} {}", part.text), name, false);
                            }
                            _ => {}
                        }
                    }
                }
                Clause::Allot(name) => self.push(Kind::Allotment, path, name, false),
                Clause::Field(field) => {
                    self.push(Kind::Field, &own, &field.name, true);
                    let scope = format!("{own} field {}", field.name.text);
                    self.parts(&field.parts, &scope);
                    if let Some(value) = &field.value {
                        self.body(value, &format!("{scope} value"));
                    }
                }
                // What an older plan called its parts is not declared here.
                Clause::Retired(_)
                | Clause::Spread(_)
                | Clause::Named(_)
                | Clause::From(_)
                | Clause::AllowBreak(_) => {}
            }
        }
    }

    fn body(&mut self, body: &Body, scope: &str) {
        match body {
            Body::Parts(parts) => self.parts(parts, scope),
            Body::Domain(domain) => self.domain(domain, scope),
        }
    }

    fn parts(&mut self, parts: &[Part], scope: &str) {
        for part in parts {
            match part {
                Part::Literal(_) => {}
                Part::Argument { name, domain, .. } => {
                    self.push(Kind::Argument, scope, name, true);
                    self.domain(domain, &format!("{scope} {}", name.text));
                }
                Part::Same { name, .. } => self.push(Kind::Argument, scope, name, false),
                Part::Derived { name, of, domain, .. } => {
                    self.push(Kind::Argument, scope, name, true);
                    for name in of {
                        self.push(Kind::Argument, scope, name, false);
                    }
                    if let Some(domain) = domain {
                        self.domain(domain, scope);
                    }
                }
            }
        }
    }

    fn domain(&mut self, domain: &Domain, scope: &str) {
        match &domain.atom {
            Atom::Named(call) => self.call(call, scope),
            Atom::Record(parts) => self.parts(parts, scope),
            Atom::Choice(alternatives) => {
                for Alternative { label, body, .. } in alternatives {
                    self.push(Kind::Label, scope, label, true);
                    self.body(body, &format!("{scope} {}", label.text));
                }
            }
        }
    }

    fn call(&mut self, call: &Call, scope: &str) {
        if !domains().contains(&call.name.text.as_str()) {
            self.push(Kind::Type, "", &call.name, false);
        }
        for arg in call.args.iter().flatten() {
            if let CallArg::Domain(domain) = arg {
                self.domain(domain, scope);
            }
        }
    }

    /// Tells types of one name apart that several files declare: a file means its own, or the first that there is.
    fn types(&mut self) {
        let mut declared: BTreeMap<String, Vec<FileId>> = BTreeMap::new();
        for name in self.all.iter().filter(|name| name.kind == Kind::Type && name.declares) {
            declared.entry(name.text.clone()).or_default().push(name.span.file);
        }
        for name in self.all.iter_mut().filter(|name| name.kind == Kind::Type) {
            let Some([first, _, ..]) = declared.get(&name.text).map(Vec::as_slice) else { continue };
            let files = declared.get(&name.text).map(Vec::as_slice).unwrap_or_default();
            let meant = if files.contains(&name.span.file) { name.span.file } else { *first };
            name.scope = format!("file {}", meant.0);
        }
    }

    /// Settles which family each path names: the one whose own path ends so, the nearest space first.
    fn paths(&mut self) {
        for (from, names, arguments) in std::mem::take(&mut self.later) {
            let wanted: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
            let wanted = wanted.join(".");
            let space = DottedPath(&from).first().to_owned();
            let ends = |path: &&String| DottedPath(path).ends_with(DottedPath(&wanted));
            let near = |path: &&String| DottedPath(path).first() == space;
            let found = self.families.iter().find(|path| ends(path) && near(path));
            let found = found.or_else(|| self.families.iter().find(ends)).cloned();
            let (Some(found), Some(last)) = (found, names.last()) else { continue };
            let scope = DottedPath(&found).owner().unwrap_or_default().to_owned();
            self.push(Kind::Family, &scope, last, false);
            for argument in &arguments {
                self.push(Kind::Argument, &format!("{found} key"), argument, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use keyplan_plan::syntax::parse;

    use super::*;

    fn uses(text: &str, at: &str) -> Vec<(u32, bool)> {
        let all = names(&[parse(FileId(0), text).file]);
        let offset = u32::try_from(text.find(at).unwrap()).unwrap();
        let name = all.iter().find(|name| name.span.start == offset).unwrap();
        all.iter().filter(|other| other.is(name)).map(|name| (name.span.start, name.declares)).collect()
    }

    #[test]
    fn a_type_of_two_files_is_the_one_of_its_own_file() {
        let files = [
            parse(FileId(0), "plan p; space s { key a = x: T; }").file,
            parse(FileId(1), "plan a; type T = u8; space t { key a = x: T; }").file,
            parse(FileId(2), "plan b; type T = u16; space u { key a = x: T; }").file,
        ];
        let all = names(&files);
        let types: Vec<_> = all.iter().filter(|name| name.kind == Kind::Type).collect();
        let scopes: Vec<(u32, &str)> =
            types.iter().map(|name| (name.span.file.0, name.scope.as_str())).collect();
        let expected = [(0, "file 1"), (1, "file 1"), (1, "file 1"), (2, "file 2"), (2, "file 2")];
        assert_eq!(scopes, expected);
    }

    #[test]
    fn names_are_told_apart_by_where_they_are_declared() {
        let text = "plan p; type T = u8; space s { key a = x: T y: T scan by x; key b = x: T accept overlap(a) \"w\"; }";
        assert_eq!(uses(text, "T = u8"), [(13, true), (42, false), (47, false), (71, false)]);
        assert_eq!(uses(text, "x: T y"), [(39, true), (57, false)]);
        assert_eq!(uses(text, "a = x"), [(35, true), (88, false)]);
    }

    #[test]
    fn what_a_family_refers_to_is_named() {
        let text = "plan p; space s { key a = x: u8; key b = y: u8 -> z: u8 refers to a(x = y) refers to a(x = value.z); }";
        assert_eq!(uses(text, "a = x"), [(22, true), (66, false), (85, false)]);
        assert_eq!(uses(text, "x: u8"), [(26, true), (68, false), (87, false)]);
        assert_eq!(uses(text, "y: u8"), [(41, true), (72, false)]);
        assert_eq!(uses(text, "z: u8"), [(50, true), (97, false)]);
    }
}
