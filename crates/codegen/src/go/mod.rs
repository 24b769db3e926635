//! Go: a package with a type for every family.
//!
//! The package needs nothing but the standard library: what its layouts use of the runtime is written into it. Encoding is
//! straight code without allocations. Decoding is straight code where every segment has one possible end, and a search over
//! a table of the layout otherwise; the search also says why bytes are refused.

mod comment;
mod cosmos;
mod decode;
mod encode;
mod family;
mod migration;
mod names;
mod scan;
mod space;
mod table;
mod test;
mod tree;
mod types;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use keyplan_plan::Compiled;
use keyplan_plan::diag::{Code, Diagnostic, SourceMap, Span};
use keyplan_plan::model::{Plan, Shape};
use keyplan_prover::Report;

use crate::File;
use crate::naming::{Scope, wanted_names};
use crate::prove::prove;
use crate::regular::{self, Needed};
use crate::shake;
use comment::comment;
use migration::Before;
use names::{exported, quoted};
use tree::Tree;

/// The runtime, of which a package gets what it needs.
const RUNTIME: [&str; 8] = [
    include_str!("runtime/core.go"),
    include_str!("runtime/leaf.go"),
    include_str!("runtime/frame.go"),
    include_str!("runtime/append.go"),
    include_str!("runtime/hash.go"),
    include_str!("runtime/search.go"),
    include_str!("runtime/value.go"),
    include_str!("runtime/json.go"),
];

/// Encodings that this generator does not name have their functions there.
const _: () = {
    let texts = &[include_str!("runtime/leaf.go"), include_str!("runtime/append.go")];
    regular::declared("func append", Needed::Always, texts);
    regular::declared("func decode", Needed::Always, texts);
    regular::declared("func extent", Needed::Marked, texts);
    regular::declared("func longest", Needed::Open, texts);
    regular::scalars_declared("func append", Needed::Always, texts);
    regular::scalars_declared("func decode", Needed::Always, texts);
    regular::scalars_declared("func extent", Needed::Marked, texts);
    regular::scores_declared("func append", "func decode", texts);
};
const _: () = {
    let texts = &[
        include_str!("runtime/leaf.go"),
        include_str!("runtime/append.go"),
        include_str!("runtime/hash.go"),
    ];
    regular::bytes_declared("func append", Needed::Always, texts);
    regular::bytes_declared("func decode", Needed::Always, texts);
    regular::bytes_declared("func extent", Needed::Marked, texts);
    regular::bytes_declared("func longest", Needed::Open, texts);
};
const _: () = {
    let texts = &[
        include_str!("runtime/leaf.go"),
        include_str!("runtime/append.go"),
        include_str!("runtime/frame.go"),
    ];
    regular::frames_declared(["func frame", "func extent", "func unframe"], texts);
};

/// What tests need beside it.
const TESTING: &str = include_str!("runtime/vectors.go");

/// What the function of an upgrade handler needs.
const MIGRATION: &str = include_str!("runtime/migrate.go");

/// The adapters for Cosmos modules.
const COSMOS: &str = include_str!("runtime/cosmos.go");

/// The standard library's packages by the name that code uses.
const IMPORTS: [(&str, &str); 19] = [
    ("bufio", "bufio"),
    ("bytes", "bytes"),
    ("sha256", "crypto/sha256"),
    ("binary", "encoding/binary"),
    ("hex", "encoding/hex"),
    ("json", "encoding/json"),
    ("errors", "errors"),
    ("fmt", "fmt"),
    ("crc32", "hash/crc32"),
    ("math", "math"),
    ("big", "math/big"),
    ("bits", "math/bits"),
    ("os", "os"),
    ("strconv", "strconv"),
    ("strings", "strings"),
    ("testing", "testing"),
    ("time", "time"),
    ("utf8", "unicode/utf8"),
    ("io", "io"),
];

/// How a package is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The package's name; that of the plan if there is none.
    pub package: Option<String>,
    /// Whether adapters for Cosmos modules are made too.
    pub cosmos: bool,
}

/// The files of a package, or why there are none.
pub fn generate(compiled: &Compiled, options: &Options) -> Result<Vec<File>, Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = compiled.errors().cloned().collect();
    let Some(plan) = compiled.plan.as_ref().filter(|_| errors.is_empty()) else { return Err(errors) };
    let path = compiled.sources.files().first().map_or("", |file| file.name.as_str());
    let report = prove(plan, path)?;
    let mut go = Go::new(plan, &compiled.sources, &report, options);
    let files = go.package(None);
    if go.problems.is_empty() { Ok(files) } else { Err(go.problems) }
}

/// The files of a package with the function of an upgrade handler that carries rows of an older plan to this one.
pub fn generate_migration(
    compiled: &Compiled,
    old: &Compiled,
    options: &Options,
) -> Result<Vec<File>, Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = compiled.errors().cloned().collect();
    let Some(plan) = compiled.plan.as_ref().filter(|_| errors.is_empty()) else { return Err(errors) };
    let path = compiled.sources.files().first().map_or("", |file| file.name.as_str());
    let report = prove(plan, path)?;
    let before = Before::new(old, plan)?;
    let mut go = Go::new(plan, &compiled.sources, &report, options);
    let files = go.package(Some(&before));
    if go.problems.is_empty() { Ok(files) } else { Err(go.problems) }
}

/// What is known while a package is made.
struct Go<'p> {
    plan: &'p Plan,
    sources: &'p SourceMap,
    report: &'p Report,
    package: String,
    cosmos: bool,
    /// The names of the package.
    scope: Scope,
    /// The type of each family, by path.
    families: BTreeMap<&'p str, String>,
    /// The names of the plan's types and name sets.
    types: BTreeMap<&'p str, String>,
    /// Types of the plan that are declared.
    named: BTreeMap<String, Tree<'p>>,
    /// Names that are made of others, by what they belong to and how they are made of it.
    derived: BTreeMap<(String, &'static str), String>,
    /// Names that no parameter may have, since what generated code calls would be hidden by it.
    hidden: BTreeSet<&'static str>,
    /// The file being written.
    out: String,
    /// Declarations that belong to no space.
    shared: String,
    /// The variable of each alphabet.
    alphabets: BTreeMap<[u64; 4], String>,
    /// The variable of each table of known names.
    tables: BTreeMap<(String, Vec<u8>), String>,
    /// Every layout that was made.
    parts: Vec<Part>,
    /// How the test calls each scan: the family and the scan in words, and the body of a function.
    scanned_by: Vec<(String, String)>,
    /// What families hold: what vectors call it, and its type.
    values: Vec<(String, String)>,
    /// The decoder of each space, whether no two families may make the same bytes, and the paths of its families.
    spaces: Vec<(String, bool, Vec<String>)>,
    problems: Vec<Diagnostic>,
}

/// A layout that was made: what vectors call it, and its type.
struct Part {
    path: String,
    go: String,
    guarded: bool,
}

impl<'p> Go<'p> {
    fn new(plan: &'p Plan, sources: &'p SourceMap, report: &'p Report, options: &Options) -> Self {
        let mut scope = Scope::default();
        scope.reserve(["TestVectors"]);
        let declared: BTreeSet<&'static str> = RUNTIME
            .iter()
            .chain([&TESTING, &COSMOS, &MIGRATION])
            .flat_map(|text| text.split("\n\n"))
            .flat_map(declared)
            .collect();
        let is_public = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
        scope.reserve(declared.iter().copied().filter(|name| is_public(name)));
        let mut hidden: BTreeSet<&'static str> = IMPORTS.iter().map(|(name, _)| *name).collect();
        hidden.extend(declared.into_iter().filter(|name| !is_public(name)));
        let mut go = Self {
            plan,
            sources,
            report,
            package: options.package.clone().unwrap_or_else(|| package_name(&plan.name)),
            cosmos: options.cosmos,
            scope,
            families: BTreeMap::new(),
            types: BTreeMap::new(),
            named: BTreeMap::new(),
            derived: BTreeMap::new(),
            hidden,
            out: String::new(),
            shared: String::new(),
            alphabets: BTreeMap::new(),
            tables: BTreeMap::new(),
            parts: Vec::new(),
            scanned_by: Vec::new(),
            values: Vec::new(),
            spaces: Vec::new(),
            problems: Vec::new(),
        };
        go.name_families();
        go
    }

    /// Gives every family and type of the plan its name before anything else can take it.
    fn name_families(&mut self) {
        for (family, wanted) in wanted_names(self.plan, exported) {
            let name = self.scope.fresh(&wanted);
            self.families.insert(&family.path, name);
        }
        for name in
            self.plan.types.iter().map(|ty| &ty.name).chain(self.plan.names.iter().map(|set| &set.name))
        {
            let go = self.scope.fresh(name);
            self.types.insert(name, go);
        }
    }

    fn type_name(&self, name: &str) -> String {
        self.types.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// The name for what belongs to a type, such as `Decode{}`, the same whenever it is asked for.
    fn derived(&mut self, owner: &str, form: &'static str) -> String {
        let of = (owner.to_owned(), form);
        if let Some(name) = self.derived.get(&of) {
            return name.clone();
        }
        let name = self.scope.fresh(&form.replace("{}", owner));
        self.derived.insert(of, name.clone());
        name
    }

    /// The name that was given before.
    fn known_name(&self, owner: &str, form: &'static str) -> String {
        let known = self.derived.get(&(owner.to_owned(), form));
        known.cloned().unwrap_or_else(|| form.replace("{}", owner))
    }

    fn set_name(&self, name: &str) -> String {
        self.type_name(name)
    }

    fn unsupported(&mut self, span: Span, what: &str) {
        let message = format!("there is no Go for this layout: {what}");
        self.problems.push(Diagnostic::new(Code::TooLarge, message, span, "this"));
    }

    /// The variable that holds an alphabet.
    fn alphabet(&mut self, bits: [u64; 4]) -> String {
        let next = format!("alphabet{}", self.alphabets.len() + 1);
        self.alphabets.entry(bits).or_insert(next).clone()
    }

    /// The width of a digest, and the variable that holds its known names.
    fn known(&mut self, shape: &Shape) -> (usize, String) {
        let Shape::Hashed { keep, known, .. } = shape else { return (0, "nil".to_owned()) };
        if known.is_empty() {
            return (*keep, "nil".to_owned());
        }
        let mut names = String::new();
        for (digest, name) in known.iter() {
            let _ = writeln!(names, "\t{{{}, {}}},", quoted(digest), quoted(name.text.as_bytes()));
        }
        let next = format!("known{}", self.tables.len() + 1);
        (*keep, self.tables.entry((names, Vec::new())).or_insert(next).clone())
    }

    fn package(&mut self, before: Option<&Before<'p>>) -> Vec<File> {
        let mut files = Vec::new();
        let mut bodies: Vec<(String, String)> = Vec::new();
        let mut taken = Scope::default();
        // They are there with some options, and no name of a space's file changes with them.
        taken.reserve(["cosmos", "migration"]);
        for space in &self.plan.spaces {
            self.out.clear();
            self.space(space);
            let body = std::mem::take(&mut self.out);
            bodies.push((format!("{}.keyplan.go", taken.fresh(&names::file(&space.name))), body));
        }
        self.name_sets();
        let mut migration = String::new();
        if let Some(before) = before {
            migration = self.migration(before);
            let needed = shake::needed(&[MIGRATION], &migration, declared).join("\n\n");
            migration.push_str(&needed);
        }
        let shared = self.shared();
        let (test, fuzz) = self.tests();
        let mut cosmos = String::new();
        if self.cosmos {
            cosmos = self.cosmos();
            let used = format!("{cosmos}\nEach EachOf");
            let adapters = shake::needed(&[COSMOS], &used, declared).join("\n\n");
            cosmos.push_str(&adapters);
        }
        let code: String = bodies
            .iter()
            .map(|(_, body)| body.as_str())
            .chain([shared.as_str(), &cosmos, &migration])
            .collect();
        let needed = shake::needed(&RUNTIME, &code, declared);
        let runtime = needed.join("\n\n");
        let package = self.package.clone();
        let doc = self.package_doc();
        files.push(File::new("keyplan.go", self.file(&doc, &package, &[&shared, &runtime])));
        for (name, body) in bodies {
            files.push(File::new(name, self.file("", &package, &[&body])));
        }
        if before.is_some() {
            files.push(File::new("migration.keyplan.go", self.file("", &package, &[&migration])));
        }
        if self.cosmos {
            files.push(File::new("cosmos.keyplan.go", self.file("", &package, &[&cosmos])));
        }
        let mut more = vec![TESTING];
        more.extend(RUNTIME);
        let testing = shake::needed(&more, &(test.clone() + &fuzz), declared);
        let testing: Vec<&str> = testing.into_iter().filter(|text| !needed.contains(text)).collect();
        files.push(File::new(
            "keyplan_test.go",
            self.file("", &package, &[&test, &fuzz, &testing.join("\n\n")]),
        ));
        files
    }

    /// Alphabets, known names and types that belong to no space.
    fn shared(&mut self) -> String {
        let mut out = std::mem::take(&mut self.shared);
        for (bits, name) in &self.alphabets {
            let bits: Vec<String> = bits.iter().map(|bits| format!("0x{bits:x}")).collect();
            let _ = writeln!(out, "var {name} = [4]uint64{{{}}}\n", bits.join(", "));
        }
        for ((names, _), name) in &self.tables {
            let _ = writeln!(out, "var {name} = []knownName{{\n{names}}}\n");
        }
        out
    }

    fn package_doc(&self) -> String {
        let mut doc =
            vec![format!("Package {} holds the keys of the plan `{}`.", self.package, self.plan.name)];
        doc.push(String::new());
        doc.extend(self.plan.doc.iter().cloned());
        doc.push(String::new());
        doc.push("Slices in what is decoded are parts of the key that was given.".to_owned());
        comment("", &doc)
    }

    /// A file with its header and the imports that its text uses.
    fn file(&self, doc: &str, package: &str, parts: &[&str]) -> String {
        let text: String = parts
            .iter()
            .map(|part| part.trim())
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("\n\n");
        let mut used: Vec<&str> = IMPORTS
            .iter()
            .filter(|(name, _)| text.lines().any(|line| imports(line, name)))
            .map(|(_, path)| *path)
            .collect();
        used.sort_unstable();
        let mut out = format!(
            "// Code generated by keyplan from the plan {}, {}. DO NOT EDIT.\n\n{doc}package {package}\n",
            self.plan.name,
            self.plan.fingerprint()
        );
        match used.as_slice() {
            [] => {}
            [one] => {
                let _ = write!(out, "\nimport \"{one}\"\n");
            }
            many => {
                out.push_str("\nimport (\n");
                for path in many {
                    let _ = writeln!(out, "\t\"{path}\"");
                }
                out.push_str(")\n");
            }
        }
        if !text.is_empty() {
            let _ = write!(out, "\n{text}\n");
        }
        out
    }
}

/// Whether a line of code names a package, outside of comments.
fn imports(line: &str, name: &str) -> bool {
    if line.trim_start().starts_with("//") {
        return false;
    }
    let wanted = format!("{name}.");
    line.match_indices(&wanted).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let after = line.get(at + wanted.len()..).and_then(|after| after.chars().next());
        before.is_none_or(|c| !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '"'))
            && after.is_some_and(|c| c.is_ascii_uppercase())
    })
}

/// What a paragraph of Go declares at the top level. Methods belong to their type.
fn declared(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut group = false;
    for line in text.lines() {
        if line.starts_with(')') {
            group = false;
        }
        let rest = if group && line.starts_with('\t') && !line.starts_with("\t\t") {
            line.trim_start()
        } else if let Some(rest) = line.strip_prefix("func (") {
            let Some((receiver, method)) = rest.split_once(") ") else { continue };
            // A method is kept when its name is used, and one for users with its type.
            let name = shake::words(method).next();
            let exported = name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
            let of = receiver.split('[').next().unwrap_or_default();
            names.extend(if exported { shake::words(of).last() } else { name });
            continue;
        } else if let Some(rest) =
            ["func ", "type ", "const ", "var "].iter().find_map(|word| line.strip_prefix(word))
        {
            group = rest.starts_with('(');
            if group {
                continue;
            }
            rest
        } else {
            continue;
        };
        names.extend(shake::words(rest).next().filter(|_| !rest.starts_with("//")));
    }
    names
}

/// Whether a package can be called by this name: a word of letters, digits and `_` that Go gives no other meaning. One that ends in `_test`
/// is for tests only.
pub fn is_package_name(name: &str) -> bool {
    let first = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let rest = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    first && rest && name != "_" && !name.ends_with("_test") && !token::is_keyword(name)
}

/// A plan's name as that of a package.
fn package_name(plan: &str) -> String {
    let name: String = plan.chars().filter(|c| *c != '_').collect();
    let name =
        if name.starts_with(|first: char| first.is_ascii_lowercase()) { name } else { format!("keys{name}") };
    if token::is_keyword(&name) { format!("{name}keys") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_a_name_that_go_takes() {
        for name in ["keys", "dexKeys", "_k", "v2", "error", "x_y"] {
            assert!(is_package_name(name), "{name}");
        }
        for name in
            ["", "_", "my-keys", "2keys", "func", "main", "init", "keys_test", "schlüssel", "a.b", "a b"]
        {
            assert!(!is_package_name(name), "{name}");
        }
        let plans = ["dex", "my_dex", "_1", "__", "type", "main", "_2_x"];
        let packages = ["dex", "mydex", "keys1", "keys", "typekeys", "mainkeys", "keys2x"];
        assert_eq!(plans.map(package_name), packages);
    }
}

mod token {
    //! Words that a package cannot be called.

    pub(super) fn is_keyword(word: &str) -> bool {
        matches!(
            word,
            "break"
                | "case"
                | "chan"
                | "const"
                | "continue"
                | "default"
                | "defer"
                | "else"
                | "fallthrough"
                | "for"
                | "func"
                | "go"
                | "goto"
                | "if"
                | "import"
                | "interface"
                | "map"
                | "package"
                | "range"
                | "return"
                | "select"
                | "struct"
                | "switch"
                | "type"
                | "var"
                | "main"
                | "init"
        )
    }
}

/// A function without statements, which gofmt keeps on one line if its head is not too long.
fn empty(head: &str) -> String {
    if head.len() <= 100 { format!("{head} {{}}") } else { format!("{head} {{\n}}") }
}
