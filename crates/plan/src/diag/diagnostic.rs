use super::{Code, Recipe, Severity, Span};

/// One finding about a plan: what, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable code.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One line, lower case, no final stop.
    pub message: String,
    /// What to underline; the first label is the primary one.
    pub labels: Vec<Label>,
    /// What is below the snippet.
    pub notes: Vec<Note>,
    /// What the keys that show the fault are made of.
    pub recipes: Vec<Recipe>,
}

/// Text under a stretch of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The stretch.
    pub span: Span,
    /// The text; may be empty.
    pub text: String,
}

/// A line below the snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What kind of line.
    pub kind: NoteKind,
    /// The text; may have several lines.
    pub text: String,
}

/// What a [`Note`] is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Two keys that show the fault.
    Witness,
    /// A command that shows the fault again.
    Reproduce,
    /// A fact that explains.
    Note,
    /// A way out.
    Help,
    /// A change that was proved to cure it.
    Repair,
}

impl NoteKind {
    /// The word before the text.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Witness => "witness",
            Self::Reproduce => "reproduce",
            Self::Note => "note",
            Self::Help => "help",
            Self::Repair => "repair",
        }
    }
}

impl Diagnostic {
    /// A finding with its primary label, as bad as its code says.
    pub fn new(code: Code, message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            labels: vec![Label { span, text: label.into() }],
            notes: Vec::new(),
            recipes: Vec::new(),
        }
    }

    /// The same as a warning.
    #[must_use]
    pub const fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Adds a second label.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn with_note(mut self, kind: NoteKind, text: impl Into<String>) -> Self {
        self.notes.push(Note { kind, text: text.into() });
        self
    }

    /// Adds what the keys that show the fault are made of, with a note of the commands that make them again.
    #[must_use]
    pub fn with_recipes(mut self, recipes: Vec<Recipe>) -> Self {
        let commands: Vec<String> = recipes.iter().filter_map(Recipe::command).collect();
        self.recipes.extend(recipes);
        if commands.is_empty() { self } else { self.with_note(NoteKind::Reproduce, commands.join("\n")) }
    }

    /// Adds a way out.
    #[must_use]
    pub fn with_help(self, text: impl Into<String>) -> Self {
        self.with_note(NoteKind::Help, text)
    }

    /// How bad it is.
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// The primary label's span.
    pub fn span(&self) -> Span {
        self.labels.first().map_or_else(Span::default, |label| label.span)
    }
}
