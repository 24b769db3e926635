//! The files of the schemas that a plan names, and of those that they import.

use std::collections::BTreeSet;

use crate::compile::joined;
use crate::diag::{Code, Diagnostic, SourceMap, Span};
use crate::model::{MissingSchema, SchemaFile, SchemaFormat, Schemas};
use crate::syntax::ast;

/// The most files that the schemas of a plan may be made of.
const MAX_SCHEMA_FILES: usize = 512;
/// The most folders around a file in which an imported one is looked for.
const MAX_FOLDERS: usize = 16;

/// The ends of the names of files that are descriptor sets, which are not text.
const SETS: [&str; 5] = ["binpb", "desc", "fds", "pb", "protoset"];

/// Whether a path is that of a descriptor set.
pub(crate) fn is_set(path: &str) -> bool {
    extension(path).is_some_and(|end| SETS.contains(&end))
}

/// Whether a path is that of a schema, and not of a plan.
pub(crate) fn is_schema(path: &str) -> bool {
    extension(path) == Some("proto") || is_set(path)
}

fn extension(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.rsplit_once('.').map(|(_, end)| end)
}

/// The files of schemas while they are fetched.
#[derive(Default)]
pub(crate) struct Gathering {
    files: Vec<SchemaFile>,
    known: BTreeSet<String>,
    missing: Vec<MissingSchema>,
}

impl Gathering {
    /// Fetches the file of a statement in the plan file `from`, and everything that it imports. What cannot be fetched is
    /// remembered: keys have their meaning without it.
    pub(crate) fn add(
        &mut self,
        statement: &ast::Import,
        from: &str,
        fetch: &mut impl FnMut(&str) -> Result<String, String>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let path = joined(from, &statement.path.value);
        let span = statement.path.span;
        if self.known.contains(&path) {
            return;
        }
        match fetch(&path) {
            Ok(text) => self.keep(path, None, text, span),
            Err(why) => {
                self.missing.push(MissingSchema { message: format!("cannot read `{path}`: {why}"), span });
                return;
            }
        }
        let mut at = self.files.len() - 1;
        while let Some(file) = self.files.get(at) {
            let (importing, imports) = (file.path.clone(), proto_imports(&file.text));
            at += 1;
            for import in imports {
                if self.files.len() >= MAX_SCHEMA_FILES {
                    let message = format!("schemas are made of at most {MAX_SCHEMA_FILES} files");
                    diagnostics.push(Diagnostic::new(Code::TooLarge, message, span, "one too many"));
                    return;
                }
                self.import(&importing, &import, span, fetch);
            }
        }
    }

    /// Looks for an imported file in the folders around the one that imports it, the nearest first.
    fn import(
        &mut self,
        importing: &str,
        import: &str,
        span: Span,
        fetch: &mut impl FnMut(&str) -> Result<String, String>,
    ) {
        let mut folder = importing;
        for _ in 0..MAX_FOLDERS {
            if folder.is_empty() {
                break;
            }
            folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_top = folder.is_empty() && !importing.starts_with('/');
            let path = if is_top { joined("", import) } else { joined(&format!("{folder}/"), import) };
            if self.known.contains(&path) {
                if let Some(file) = self.files.iter_mut().find(|file| file.path == path) {
                    file.import.get_or_insert_with(|| import.to_owned());
                }
                return;
            }
            if let Ok(text) = fetch(&path) {
                self.keep(path, Some(import.to_owned()), text, span);
                return;
            }
        }
        // These are known to every compiler of schemas.
        if !import.starts_with("google/protobuf/") {
            let message = format!("`{importing}` imports `{import}`, which is in no folder around it");
            self.missing.push(MissingSchema { message, span });
        }
    }

    fn keep(&mut self, path: String, import: Option<String>, text: String, span: Span) {
        self.known.insert(path.clone());
        self.files.push(SchemaFile { format: SchemaFormat::Proto, path, import, text, span });
    }

    /// The schemas; their files are added to those of the plan.
    pub(crate) fn end(self, sources: &mut SourceMap) -> Schemas {
        for file in &self.files {
            sources.add_schema(&file.path, &file.text);
        }
        Schemas { files: self.files, missing: self.missing, ..Schemas::default() }
    }
}

/// The paths that a `.proto` file imports.
fn proto_imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else if first == '"' || first == '\'' {
            let (inside, after) = rest.get(1..).and_then(|rest| rest.split_once(first)).unwrap_or_default();
            if matches!(words.as_slice(), ["import"] | ["import", "public" | "weak"]) {
                found.push(inside.to_owned());
            }
            rest = after;
        } else if first.is_ascii_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            words.push(word);
            rest = after;
        } else {
            if matches!(first, ';' | '{' | '}') {
                words.clear();
            }
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::compile;

    fn compiled(files: &[(&str, &str)]) -> crate::Compiled {
        compile(files[0].0, files[0].1, |path| {
            let found = files.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "not there".to_owned())
        })
    }

    #[test]
    fn imports_of_a_schema_are_found_in_its_text() {
        let text = "syntax = \"proto3\";\n// import \"no.proto\";\nimport \"a/b.proto\"; import public 'c.proto';\n/* import \"d\"; */ option x = \"import\"; message M { string import = 1 [json_name = \"e\"]; }";
        assert_eq!(proto_imports(text), ["a/b.proto", "c.proto"]);
    }

    #[test]
    fn schemas_are_fetched_with_what_they_import() {
        let files = [
            (
                "plans/p.keyplan",
                "plan p; import \"proto/x/m.proto\"; space s { key k = 0x01 -> proto(\"M\"); }",
            ),
            ("plans/proto/x/m.proto", "import \"y/n.proto\"; import \"google/protobuf/any.proto\";"),
            ("plans/proto/y/n.proto", "import \"x/m.proto\";"),
        ];
        let compiled = compiled(&files);
        assert_eq!(compiled.diagnostics, []);
        let plan = compiled.plan.unwrap();
        let named: Vec<(&str, Option<&str>)> =
            plan.schemas.files.iter().map(|file| (file.path.as_str(), file.import.as_deref())).collect();
        assert_eq!(
            named,
            [("plans/proto/x/m.proto", Some("x/m.proto")), ("plans/proto/y/n.proto", Some("y/n.proto"))]
        );
        // The database keeps them beside the plan: they are among its files.
        let kinds: Vec<(&str, bool)> =
            compiled.sources.files().iter().map(|file| (file.name.as_str(), file.schema)).collect();
        let kept =
            [("plans/p.keyplan", false), ("plans/proto/x/m.proto", true), ("plans/proto/y/n.proto", true)];
        assert_eq!(kinds, kept);
    }

    #[test]
    fn the_digest_moves_with_schemas_and_the_fingerprint_does_not() {
        let plan = |schema: &str, proto: &str, folder: &str| {
            let root = format!("plan p; {schema} space s {{ key k = 0x01 -> proto(\"M\"); }}");
            let (plan, file) = (format!("{folder}p.keyplan"), format!("{folder}m.proto"));
            compiled(&[(&plan, &root), (&file, proto)]).plan.unwrap()
        };
        let schema = "import \"m.proto\";";
        let (none, one, other, moved) =
            (plan("", "", ""), plan(schema, "a", ""), plan(schema, "b", ""), plan(schema, "a", "x/"));
        assert_eq!(none.schemas.digest(), None);
        assert_ne!(one.schemas.digest(), other.schemas.digest());
        assert_eq!(one.schemas.digest(), moved.schemas.digest());
        assert_eq!(one.schemas.digest().unwrap().len(), 64);
        assert!([&one, &other, &moved].iter().all(|plan| plan.fingerprint() == none.fingerprint()));
    }

    #[test]
    fn what_cannot_be_fetched_leaves_the_plan_its_meaning() {
        let said = |text: &str, proto: &str| {
            let compiled = compiled(&[("p", text), ("m.proto", proto)]);
            assert_eq!(compiled.diagnostics, []);
            let schemas = Arc::clone(&compiled.plan.unwrap().schemas);
            schemas.missing.iter().map(|missing| missing.message.clone()).collect::<Vec<_>>()
        };
        assert_eq!(said("plan p; import \"n.proto\";", ""), ["cannot read `n.proto`: not there"]);
        assert_eq!(
            said("plan p; import \"m.proto\";", "import \"o.proto\";"),
            ["`m.proto` imports `o.proto`, which is in no folder around it"]
        );
        assert_eq!(
            said("plan p; import \"m.proto\";", "import \"google/protobuf/any.proto\";"),
            [] as [&str; 0]
        );
    }
}
