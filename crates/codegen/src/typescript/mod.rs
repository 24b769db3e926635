//! TypeScript: a module with a type and functions for every family.
//!
//! The module needs nothing but the language: what its layouts use of the runtime is written into it. Encoding is straight code.
//! Decoding is straight code where every segment has one possible end, and a search over a table of the layout otherwise; the
//! search also says why bytes are refused.

mod decode;
mod encode;
mod family;
mod names;
mod part;
mod scan;
mod space;
mod table;
mod test;
mod types;

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
use names::{bytes, doc, pascal, text};
use part::Part;

/// The runtime, of which a module gets what it needs.
const RUNTIME: [&str; 5] = [
    include_str!("runtime/core.ts"),
    include_str!("runtime/write.ts"),
    include_str!("runtime/leaf.ts"),
    include_str!("runtime/search.ts"),
    include_str!("runtime/hash.ts"),
];

/// What is there for everyone, and used by what is made itself.
const GENERATED: &str = "Record BigInt DataView Number Uint8Array";

/// Encodings that this generator does not name have their functions there.
const _: () = {
    let texts = &[include_str!("runtime/leaf.ts"), include_str!("runtime/write.ts")];
    regular::declared("function put", Needed::Always, texts);
    regular::declared("function decode", Needed::Always, texts);
    regular::declared("function extent", Needed::Marked, texts);
    regular::declared("function longest", Needed::Open, texts);
    regular::scalars_declared("function put", Needed::Always, texts);
    regular::scalars_declared("function decode", Needed::Always, texts);
    regular::scalars_declared("function extent", Needed::Marked, texts);
    regular::scores_declared("function put", "function decode", texts);
};
const _: () = {
    let texts =
        &[include_str!("runtime/leaf.ts"), include_str!("runtime/write.ts"), include_str!("runtime/hash.ts")];
    regular::bytes_declared("function put", Needed::Always, texts);
    regular::bytes_declared("function decode", Needed::Always, texts);
    regular::bytes_declared("function extent", Needed::Marked, texts);
    regular::bytes_declared("function longest", Needed::Open, texts);
};
const _: () = {
    let texts = &[include_str!("runtime/leaf.ts"), include_str!("runtime/write.ts")];
    regular::frames_declared(["function frame", "function extent", "function unframe"], texts);
};

/// The files of a module, or why there are none.
pub fn generate(compiled: &Compiled) -> Result<Vec<File>, Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = compiled.errors().cloned().collect();
    let Some(plan) = compiled.plan.as_ref().filter(|_| errors.is_empty()) else { return Err(errors) };
    let path = compiled.sources.files().first().map_or("", |file| file.name.as_str());
    let report = prove(plan, path)?;
    let mut made = TypeScript::new(plan, &compiled.sources, &report);
    let files = made.files();
    if made.problems.is_empty() { Ok(files) } else { Err(made.problems) }
}

/// What is known while a module is made.
struct TypeScript<'p> {
    plan: &'p Plan,
    sources: &'p SourceMap,
    report: &'p Report,
    /// The names of the module.
    scope: Scope,
    /// What the runtime declares.
    declared: BTreeSet<String>,
    /// The type of each family, by path.
    families: BTreeMap<&'p str, String>,
    /// The names of the plan's types and name sets.
    types: BTreeMap<&'p str, String>,
    /// The text being written.
    out: String,
    /// The tables of the layouts, which come last.
    layouts: String,
    /// The variable of each alphabet.
    alphabets: BTreeMap<[u64; 4], String>,
    /// The variable of each table of known names.
    tables: BTreeMap<String, String>,
    /// Every layout that was made.
    parts: Vec<Part>,
    /// How the test calls each scan: the family and the scan in words, the function, and the call of it.
    scanned_by: Vec<(String, String, String)>,
    /// The decoder of each space, whether no two families may make the same bytes, and the keys of its families.
    spaces: Vec<(String, bool, Vec<Part>)>,
    problems: Vec<Diagnostic>,
}

impl<'p> TypeScript<'p> {
    fn new(plan: &'p Plan, sources: &'p SourceMap, report: &'p Report) -> Self {
        let declared: BTreeSet<String> =
            RUNTIME.iter().flat_map(|text| declared(text)).map(str::to_owned).collect();
        let mut scope = names::variables();
        scope.reserve(declared.iter().map(String::as_str));
        // The module's own test has these beside what it imports.
        scope.reserve(test::TESTING.split("\n\n").flat_map(crate::typescript::declared));
        // What is there for everyone, of which the runtime uses some.
        for text in RUNTIME.into_iter().chain([test::TESTING, GENERATED]) {
            let code = text.lines().filter(|line| !shake::is_comment(line));
            let words = code.flat_map(|line| shake::words(line.split("//").next().unwrap_or_default()));
            scope.reserve(words.filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase())));
        }
        let mut made = Self {
            plan,
            sources,
            report,
            scope,
            declared,
            families: BTreeMap::new(),
            types: BTreeMap::new(),
            out: String::new(),
            layouts: String::new(),
            alphabets: BTreeMap::new(),
            tables: BTreeMap::new(),
            parts: Vec::new(),
            scanned_by: Vec::new(),
            spaces: Vec::new(),
            problems: Vec::new(),
        };
        made.name_families();
        made
    }

    /// Gives every family and type of the plan its name before anything else can take it.
    fn name_families(&mut self) {
        for (family, wanted) in wanted_names(self.plan, pascal) {
            let name = self.scope.fresh(&wanted);
            self.families.insert(&family.path, name);
        }
        let sets = self.plan.names.iter().map(|set| set.name.as_str());
        for name in self.plan.types.iter().map(|ty| ty.name.as_str()).chain(sets) {
            let made = self.scope.fresh(&pascal(name));
            self.types.insert(name, made);
        }
    }

    fn type_name(&self, name: &str) -> String {
        self.types.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    fn unsupported(&mut self, span: Span, what: &str) {
        let message = format!("there is no TypeScript for this layout: {what}");
        self.problems.push(Diagnostic::new(Code::TooLarge, message, span, "this"));
    }

    /// The variable that holds an alphabet.
    fn alphabet(&mut self, bits: [u64; 4]) -> String {
        let next = format!("$alphabet{}", self.alphabets.len() + 1);
        self.alphabets.entry(bits).or_insert(next).clone()
    }

    /// The variable that holds the known names of a digest.
    fn known(&mut self, shape: &Shape) -> String {
        let Shape::Hashed { known, .. } = shape else { return "[]".to_owned() };
        if known.is_empty() {
            return "[]".to_owned();
        }
        let mut names = String::new();
        for (digest, name) in known.iter() {
            let _ = writeln!(names, "  {{ digest: {}, name: {} }},", bytes(digest), text(&name.text));
        }
        let next = format!("$known{}", self.tables.len() + 1);
        self.tables.entry(names).or_insert(next).clone()
    }

    fn files(&mut self) -> Vec<File> {
        let types = self.declared_types();
        for space in &self.plan.spaces {
            self.space(space);
        }
        let body = std::mem::take(&mut self.out);
        let mut shared = String::new();
        for (bits, name) in &self.alphabets {
            let halves: Vec<String> = bits
                .iter()
                .flat_map(|bits| [bits & 0xffff_ffff, bits >> 32])
                .map(|half| format!("0x{half:x}"))
                .collect();
            let _ = writeln!(shared, "const {name}: Alphabet = [{}];\n", halves.join(", "));
        }
        for (names, name) in &self.tables {
            let _ = writeln!(shared, "const {name}: readonly KnownName[] = [\n{names}];\n");
        }
        // What is for everyone is there whatever the plan is.
        let always = "Refusal KeyError Range inRange compareBytes toHex fromHex Layout";
        shared.push_str(&std::mem::take(&mut self.layouts));
        let code = format!("{types}{body}{shared}\n{always}");
        let runtime = shake::needed(&RUNTIME, &code, declared).join("\n\n");
        let mut about = vec![format!("The keys of the plan `{}`.", self.plan.name)];
        if !self.plan.doc.is_empty() {
            about.push(String::new());
            about.extend(self.plan.doc.iter().cloned());
        }
        about.extend([String::new(), "@module".to_owned()]);
        let header = format!(
            "// Code generated by keyplan from the plan {}, {}. DO NOT EDIT.\n\n",
            self.plan.name,
            self.plan.fingerprint()
        );
        let module = module_name(&self.plan.name);
        let (types, shared) = (types.trim(), shared.trim());
        let parts = [types, body.trim(), &runtime, shared];
        let written: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let source = format!("{header}{}\n{}\n", doc("", &about), written.join("\n\n"));
        let test = format!("{header}{}", self.test(&module));
        vec![
            File::new("package.json", self.manifest(&module)),
            File::new(format!("{module}.ts"), source),
            File::new(format!("{module}.test.ts"), test),
        ]
    }

    /// Says to Node and to the compiler that the files are ES modules, and where the compiled ones are.
    fn manifest(&self, module: &str) -> String {
        let (name, print) = (&self.plan.name, self.plan.fingerprint());
        format!(
            "{{\n  \"//\": \"Code generated by keyplan from the plan {name}, {print}. DO NOT EDIT.\",\n  \"private\": true,\n  \"type\": \"module\",\n  \"sideEffects\": false,\n  \"exports\": {{\n    \"types\": \"./dist/{module}.d.ts\",\n    \"default\": \"./dist/{module}.js\"\n  }}\n}}\n"
        )
    }
}

/// A plan's name as that of a file. One that ends in `.d` or `.test` would mean something.
fn module_name(plan: &str) -> String {
    if plan.is_empty() { "keys".to_owned() } else { plan.replace('.', "_") }
}

/// What a paragraph of TypeScript declares at the top level.
fn declared(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let line = line.strip_prefix("async ").unwrap_or(line);
        let rest = ["function ", "class ", "const ", "type ", "interface "]
            .iter()
            .find_map(|word| line.strip_prefix(word));
        names.extend(rest.and_then(|rest| shake::words(rest).next()));
    }
    names
}
