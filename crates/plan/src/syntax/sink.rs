use crate::diag::{Code, Diagnostic, FileId, Span};
use crate::order::sort_by_key;

/// The most mistakes of one file that are listed.
const MOST: usize = 100;

/// Takes diagnostics in the order of the text, keeps the first ones and counts the rest.
#[derive(Debug, Default)]
pub(super) struct Sink {
    kept: Vec<Diagnostic>,
    left_out: usize,
}

impl Sink {
    /// Keeps `diagnostic` or counts it. Where two ways of going on meet the same mistake, it is one mistake.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if self.kept.contains(&diagnostic) {
            return;
        }
        if self.kept.len() < MOST {
            self.kept.push(diagnostic);
        } else {
            self.left_out += 1;
        }
    }

    /// The diagnostics kept so far.
    pub(super) fn kept_mut(&mut self) -> &mut [Diagnostic] {
        &mut self.kept
    }

    /// How many diagnostics are kept.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Adds what another phase found in the same text.
    pub(super) fn merge(&mut self, other: Self) {
        self.left_out += other.left_out;
        self.kept.extend(other.kept);
        sort_by_key(&mut self.kept, |diagnostic| diagnostic.span().start);
        self.left_out += self.kept.len().saturating_sub(MOST);
        self.kept.truncate(MOST);
    }

    /// What was found; the last one says how many others there are.
    pub(super) fn finish(mut self, file: FileId) -> Vec<Diagnostic> {
        if self.left_out > 0 {
            let last = self.kept.last().map_or_else(|| Span::new(file, 0, 0), Diagnostic::span);
            let message = match self.left_out {
                1 => "1 more mistake is not shown".to_owned(),
                count => format!("{count} more mistakes are not shown"),
            };
            self.kept.push(Diagnostic::new(Code::TooManyFaults, message, last, "the last one shown"));
        }
        self.kept
    }
}
