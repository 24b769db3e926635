use super::token::{Token, TokenKind};

/// Which bracket closes which, found in one pass, so that no look-ahead is ever repeated.
pub(super) struct Brackets {
    /// For the index of an opening bracket, what is known of it.
    groups: Vec<Group>,
}

/// A bracketed stretch of tokens.
#[derive(Clone, Copy, Default)]
pub(super) struct Group {
    /// The index of the closing bracket.
    pub(super) close: Option<usize>,
    /// Whether a `|` is directly inside.
    pub(super) has_bar: bool,
}

impl Brackets {
    /// Pairs the brackets of `tokens`.
    ///
    /// Parentheses never hold `;` or braces, so those leave every open parenthesis unclosed: one mistake does
    /// not pair brackets across statements.
    pub(super) fn new(tokens: &[Token]) -> Self {
        let mut groups = vec![Group::default(); tokens.len()];
        let mut parens: Vec<usize> = Vec::new();
        let mut braces: Vec<usize> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::OpenParen => parens.push(index),
                TokenKind::CloseParen => close(&mut groups, parens.pop(), index),
                TokenKind::Bar => {
                    if let Some(group) = parens.last().and_then(|open| groups.get_mut(*open)) {
                        group.has_bar = true;
                    }
                }
                TokenKind::OpenBrace => {
                    parens.clear();
                    braces.push(index);
                }
                TokenKind::CloseBrace => {
                    parens.clear();
                    close(&mut groups, braces.pop(), index);
                }
                TokenKind::Semicolon => parens.clear(),
                _ => {}
            }
        }
        Self { groups }
    }

    /// What is known of the bracket that opens at `index`.
    pub(super) fn group(&self, index: usize) -> Group {
        self.groups.get(index).copied().unwrap_or_default()
    }
}

fn close(groups: &mut [Group], open: Option<usize>, index: usize) {
    if let Some(group) = open.and_then(|open| groups.get_mut(open)) {
        group.close = Some(index);
    }
}
