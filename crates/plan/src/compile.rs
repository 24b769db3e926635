use crate::diag::{Code, Diagnostic, FileId, Severity, SourceMap, Span};
use crate::model::{Imported, Part, Plan, resolve};
use crate::order::sort_by_key;
use crate::schema::{Gathering, is_schema};
use crate::syntax::{ast, parse};

/// The most files that one plan may be made of.
const MAX_FILES: usize = 256;

/// What came of reading a plan: its files, its meaning, and every finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The files, the root first.
    pub sources: SourceMap,
    /// The plan, unless an error leaves it without a meaning.
    pub plan: Option<Plan>,
    /// Mistakes and warnings, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    /// The findings that keep the plan from being used.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error)
    }

    /// The plan, if nothing keeps it from being used.
    pub fn sound(&self) -> Option<&Plan> {
        self.plan.as_ref().filter(|_| self.errors().next().is_none())
    }
}

/// Reads a plan and the files that it imports.
///
/// `import` is given the path of an imported file, relative to the same folder as `name`, and returns its text or why
/// it cannot be had: this crate does no input or output of its own.
///
/// ```
/// let text = "plan demo; space s { key pool = 0x01 id: u64; }";
/// let compiled = keyplan_plan::compile("demo.keyplan", text, |path| Err(format!("no {path} here")));
/// let plan = compiled.plan.expect("the plan is sound");
/// assert_eq!(plan.find("pool").len(), 1);
/// ```
pub fn compile(name: &str, text: &str, import: impl FnMut(&str) -> Result<String, String>) -> Compiled {
    compile_with_trees(name, text, import).0
}

/// As [`compile`], with the tree of each file of the plan, in the order of the files. Schemas have none.
pub(crate) fn compile_with_trees(
    name: &str,
    text: &str,
    mut import: impl FnMut(&str) -> Result<String, String>,
) -> (Compiled, Vec<ast::File>) {
    let mut sources = SourceMap::default();
    let mut diagnostics = Vec::new();
    // The file at place n has the id n.
    let mut parts: Vec<Part> = Vec::new();
    let mut schemas = Gathering::default();
    let root = sources.add(name, text);
    // Each waiting file with the files that led to it, by name.
    let mut waiting: Vec<(FileId, Vec<String>)> = vec![(root, vec![name.to_owned()])];
    while let Some((id, trail)) = waiting.pop() {
        let text = sources.get(id).map(|source| source.text.clone()).unwrap_or_default();
        let parsed = parse(id, &text);
        diagnostics.extend(parsed.diagnostics);
        let mut imports = Vec::new();
        for item in &parsed.file.items {
            let ast::Item::Import(statement) = item else { continue };
            let types_only = statement.types_only;
            let from = trail.last().map_or("", String::as_str);
            if is_schema(&statement.path.value) {
                schemas.add(statement, from, &mut import, &mut diagnostics);
                continue;
            }
            let path = joined(from, &statement.path.value);
            if trail.contains(&path) {
                diagnostics.push(cycle(&trail, &path, statement.path.span));
                continue;
            }
            if let Some(known) = sources.find(&path) {
                imports.push(Imported { file: known.0 as usize, types_only });
                continue;
            }
            if sources.files().len() >= MAX_FILES {
                diagnostics.push(Diagnostic::new(
                    Code::TooLarge,
                    format!("a plan is made of at most {MAX_FILES} files"),
                    statement.path.span,
                    "one too many",
                ));
                continue;
            }
            match import(&path) {
                Ok(text) => {
                    let imported = sources.add(&path, text);
                    imports.push(Imported { file: imported.0 as usize, types_only });
                    let mut trail = trail.clone();
                    trail.push(path);
                    waiting.push((imported, trail));
                }
                Err(why) => diagnostics.push(
                    Diagnostic::new(
                        Code::BadImport,
                        format!("cannot read `{path}`: {why}"),
                        statement.path.span,
                        "imported here",
                    )
                    .with_help("the path is relative to the file that imports it"),
                ),
            }
        }
        let place = id.0 as usize;
        if parts.len() <= place {
            parts.resize_with(place + 1, Part::default);
        }
        if let Some(part) = parts.get_mut(place) {
            *part = Part { file: parsed.file, imports };
        }
    }
    let schemas = schemas.end(&mut sources);
    let resolved = resolve(&parts, schemas);
    let parsed = diagnostics.is_empty();
    // Arguments that could not be read are wrong ones only for that reason.
    let unread: Vec<Span> = diagnostics.iter().map(Diagnostic::span).collect();
    let follows = |found: &Diagnostic| {
        found.code == Code::BadDomain && unread.iter().any(|span| found.span().contains(*span))
    };
    diagnostics.extend(resolved.diagnostics.into_iter().filter(|found| !follows(found)));
    sort_by_key(&mut diagnostics, |diagnostic| (diagnostic.span(), diagnostic.code));
    // What a broken file seems to mean is not what it means.
    let compiled = Compiled { sources, plan: resolved.plan.filter(|_| parsed), diagnostics };
    (compiled, parts.into_iter().map(|part| part.file).collect())
}

fn cycle(trail: &[String], path: &str, span: Span) -> Diagnostic {
    let circle: Vec<&str> =
        trail.iter().map(String::as_str).skip_while(|name| *name != path).chain([path]).collect();
    Diagnostic::new(Code::ImportCycle, "files import each other in a circle", span, "leads back to itself")
        .with_note(crate::diag::NoteKind::Note, circle.join(" → "))
        .with_help("move what both need into a third file")
}

/// `path` as seen from the folder of `from`, with `.` and `..` taken out where they can be.
pub(crate) fn joined(from: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let rooted = folder.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in folder.split('/').chain(path.split('/')) {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    format!("{}{}", if rooted { "/" } else { "" }, names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(files: &[(&str, &str)]) -> Vec<&'static str> {
        let import = |path: &str| {
            let found = files.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "not there".to_owned())
        };
        let compiled = compile(files[0].0, files[0].1, import);
        compiled.diagnostics.iter().map(|diagnostic| diagnostic.code.id()).collect()
    }

    #[test]
    fn imported_types_are_in_sight() {
        let files = [
            ("plans/a.keyplan", "plan a; import \"lib/b.keyplan\"; space s { key k = x: Id; }"),
            ("plans/lib/b.keyplan", "plan b; import \"../c.keyplan\"; type Id = Raw.le;"),
            ("plans/c.keyplan", "plan c; type Raw = u64;"),
        ];
        assert_eq!(codes(&files), Vec::<&str>::new());
    }

    #[test]
    fn a_file_that_imports_itself_is_a_finding() {
        assert_eq!(codes(&[("a.keyplan", "plan a; import \"a.keyplan\";")]), ["KP0205"]);
        let circle = [
            ("a.keyplan", "plan a; import \"b.keyplan\";"),
            ("b.keyplan", "plan b; import \"./a.keyplan\";"),
        ];
        assert_eq!(codes(&circle), ["KP0205"]);
    }

    #[test]
    fn a_file_that_is_not_there_is_a_finding() {
        assert_eq!(codes(&[("a.keyplan", "plan a; import \"b.keyplan\";")]), ["KP0204"]);
    }

    #[test]
    fn arguments_that_cannot_be_read_are_told_once() {
        assert_eq!(codes(&[("a", "plan a; space s { key k = x: text(..=252); }")]), ["KP0102"]);
        assert_eq!(
            codes(&[("a", "plan a; space s { key k = x: text(1, 2) y: text(..=252); }")]),
            ["KP0206", "KP0102"]
        );
    }

    #[test]
    fn a_file_imported_twice_is_read_once() {
        let diamond = [
            ("a", "plan a; import \"b\"; import \"c\"; space s { key k = x: T; }"),
            ("b", "plan b; import \"d\";"),
            ("c", "plan c; import \"d\";"),
            ("d", "plan d; type T = u8;"),
        ];
        assert_eq!(codes(&diamond), Vec::<&str>::new());
    }
}
