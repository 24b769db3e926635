//! A document and what is known of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use keyplan_plan::Compiled;
use keyplan_plan::diag::{FileId, Span};
use keyplan_plan::load::{import_name, load_with_trees};
use keyplan_plan::model::{Family, Plan};
use keyplan_plan::syntax::ast;
use keyplan_report::files::{Files, Imports};
use keyplan_report::findings::Checked;

use crate::text::{Encoding, Lines};

/// A text that an editor has open, with all that was read of it.
pub(crate) struct Document {
    pub(crate) uri: String,
    pub(crate) path: String,
    pub(crate) version: i64,
    pub(crate) lines: Lines,
    /// The plan, its imports and their mistakes. Its first file is this one. A proof that waits has it too.
    pub(crate) compiled: Arc<Compiled>,
    /// The tree of each file of the plan, in the order of the files.
    pub(crate) trees: Vec<ast::File>,
    /// What was proved of exactly this text.
    pub(crate) checked: Option<Checked>,
}

impl Document {
    /// Reads a text. `open` gives the text of files that are open in the editor; others are read from the disk.
    pub(crate) fn new(
        uri: &str,
        version: i64,
        text: &str,
        encoding: Encoding,
        open: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let path = crate::uri::path_of(uri);
        let (compiled, trees) = read(&path, text, open);
        let compiled = Arc::new(compiled);
        let lines = Lines::new(text, encoding);
        Self { uri: uri.to_owned(), path, version, lines, compiled, trees, checked: None }
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        self.compiled.sources.files().first().map_or("", |file| file.text.as_str())
    }

    /// The tree of the text itself.
    pub(crate) fn tree(&self) -> Option<&ast::File> {
        self.trees.first()
    }

    /// The plan, if the text has a meaning.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.compiled.plan.as_ref()
    }

    /// The files that this one imports, in the order of its text.
    pub(crate) fn imports(&self) -> Vec<Import> {
        self.trees.first().map_or_else(Vec::new, |tree| self.imports_of(tree, &self.path))
    }

    fn imports_of(&self, tree: &ast::File, name: &str) -> Vec<Import> {
        let paths = tree.items.iter().filter_map(|item| match item {
            ast::Item::Import(import) => Some(&import.path),
            _ => None,
        });
        let found = paths.filter_map(|path| {
            let file = self.compiled.sources.find(&import_name(name, &path.value))?;
            Some(Import { file, span: path.span })
        });
        found.collect()
    }

    /// The file of an import, and those that are imported by it.
    pub(crate) fn reached(&self, import: &Import) -> BTreeSet<FileId> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![import.file];
        while let Some(file) = waiting.pop() {
            if file == FileId(0) || !found.insert(file) {
                continue;
            }
            let tree = self.trees.get(file.0 as usize);
            if let (Some(tree), Some(source)) = (tree, self.compiled.sources.get(file)) {
                waiting.extend(self.imports_of(tree, &source.name).into_iter().map(|import| import.file));
            }
        }
        found
    }

    /// The family whose declaration an offset is in.
    pub(crate) fn family_at(&self, offset: usize) -> Option<&Family> {
        self.plan()?.families().map(|(_, family)| family).find(|family| holds(family.span, offset))
    }
}

/// An import of a file that could be read.
pub(crate) struct Import {
    /// The file that it leads to.
    pub(crate) file: FileId,
    /// Where its path is written.
    pub(crate) span: Span,
}

/// Compiles a text as the file at a path.
pub(crate) fn compile(path: &str, text: &str, open: impl Fn(&str) -> Option<String>) -> Compiled {
    read(path, text, open).0
}

/// As [`compile`], with the trees.
fn read(path: &str, text: &str, open: impl Fn(&str) -> Option<String>) -> (Compiled, Vec<ast::File>) {
    let disk = Files::new(Imports::Project).fetcher(path);
    load_with_trees(path, text.as_bytes(), |import| match open(import) {
        Some(text) => Ok(text.into_bytes()),
        None => disk(import),
    })
}

/// Whether an offset of the first file is in a span, its end included.
pub(crate) fn holds(span: Span, offset: usize) -> bool {
    span.file == FileId(0) && span.start as usize <= offset && offset <= span.end as usize
}
