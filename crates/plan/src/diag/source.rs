/// Which file of a [`SourceMap`] a span belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A stretch of a file, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// A stretch of `file`.
    pub const fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The stretch from the start of this one to the end of `last`.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        Self { file: self.file, start: self.start, end: last.end.max(self.start) }
    }

    /// Whether all of another stretch is in this one.
    pub fn contains(self, other: Self) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// The stretch as a range of byte offsets.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place in a file as a person counts: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A file of a plan as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path or name under which a person knows it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether it is a file of a schema, and no plan.
    pub schema: bool,
}

/// The files that a plan was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    files: Vec<Source>,
}

impl SourceMap {
    /// Adds a file.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.push(Source { name: name.into(), text: text.into(), schema: false })
    }

    /// Adds a file of a schema.
    pub fn add_schema(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.push(Source { name: name.into(), text: text.into(), schema: true })
    }

    fn push(&mut self, source: Source) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(source);
        id
    }

    /// The file after `id`.
    pub fn get(&self, id: FileId) -> Option<&Source> {
        self.files.get(id.0 as usize)
    }

    /// All files, in the order in which they were added.
    pub fn files(&self) -> &[Source] {
        &self.files
    }

    /// The file of that name.
    pub fn find(&self, name: &str) -> Option<FileId> {
        let index = self.files.iter().position(|file| file.name == name)?;
        u32::try_from(index).ok().map(FileId)
    }

    /// The text of a span; empty if there is no such text.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file).and_then(|file| file.text.get(span.range())).unwrap_or_default()
    }

    /// Where a span begins, as a person counts.
    pub fn position(&self, span: Span) -> Position {
        let text = self.get(span.file).map_or("", |file| file.text.as_str());
        let mut end = (span.start as usize).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(..end).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Position { line, column }
    }
}
