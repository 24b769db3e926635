//! What a plan says of older plans: where rows come from, which changes are meant, what is dropped.

use std::fmt::Write as _;

use super::resolve::{Resolver, unknown};
use super::{Family, Shape};
use crate::diag::{Code, Diagnostic, Span};
use crate::dynamic::{Value, encode_one, parse};
use crate::syntax::ast;

/// A family of an older plan that rows of a family come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Predecessor {
    /// Its path in the older plan, or an end of it that is clear.
    pub family: String,
    /// Arguments that do not come from the old argument of the same name.
    pub bindings: Vec<Binding>,
    /// Old arguments that the new key does not have.
    pub dropped: Vec<String>,
    /// Whether a row with several readings is taken for the one that the new domains admit, if there is just one.
    pub fitting: bool,
    /// What becomes of a row that the new layout has no key for.
    pub rule: MisfitRule,
    /// Where it is declared.
    pub span: Span,
}

/// Where one argument of a key comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The argument.
    pub argument: String,
    /// Where it comes from.
    pub source: BindingSource,
}

/// Where an argument comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum BindingSource {
    /// This argument of the old key.
    Argument(String),
    /// This argument of the old value.
    Value(String),
    /// It is always this.
    Constant(Value),
}

/// What becomes of a row that the new layout has no key for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MisfitRule {
    /// The migration does not begin.
    #[default]
    Refuse,
    /// It is deleted.
    Drop,
    /// It is set aside.
    Park,
}

impl MisfitRule {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Refuse, Self::Drop, Self::Park];

    /// The word in a plan.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Drop => "drop",
            Self::Park => "park",
        }
    }
}

/// Changes against older plans that are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedBreak {
    /// The kinds of change; never empty.
    pub kinds: Vec<BreakKind>,
    /// Why.
    pub why: String,
    /// Where it is declared.
    pub span: Span,
}

/// A kind of change that breaks programs or databases of an older plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BreakKind {
    /// Keys are written as other bytes, or somewhere else.
    Moved,
    /// Arguments that were taken are refused.
    Narrowed,
    /// A scan is gone.
    Scan,
    /// A scan is no longer claimed to be in order.
    Order,
    /// Values, members or scores are written as other bytes.
    Value,
}

impl BreakKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Moved, Self::Narrowed, Self::Scan, Self::Order, Self::Value];

    /// The word in a plan.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Moved => "moved",
            Self::Narrowed => "narrowed",
            Self::Scan => "scan",
            Self::Order => "order",
            Self::Value => "value",
        }
    }
}

/// A family of an older plan whose rows a migration deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its path in the older plan, or an end of it that is clear.
    pub family: String,
    /// Why.
    pub why: String,
    /// Where it is declared.
    pub span: Span,
}

pub(super) fn dropped(decl: &ast::DropDecl) -> Dropped {
    Dropped { family: decl.family.dotted(), why: decl.why.value.clone(), span: decl.span }
}

impl Resolver<'_> {
    pub(super) fn predecessor(&mut self, from: &ast::FromClause, family: &mut Family) {
        let path = from.family.dotted();
        if let Some(first) = family.predecessors.iter().find(|other| other.family == path) {
            let span = first.span;
            self.report(
                Diagnostic::new(Code::BadClause, format!("`from {path}` is given twice"), from.span, "again")
                    .with_label(span, "first given here"),
            );
            return;
        }
        let mut bindings: Vec<Binding> = Vec::new();
        let mut dropped = Vec::new();
        for binding in &from.bindings {
            match binding {
                ast::FromBinding::Dropped(name) => dropped.push(name.text.clone()),
                ast::FromBinding::Bound { name, source } => {
                    if bindings.iter().any(|other| other.argument == name.text) {
                        let message = format!("`{}` is said to come from two places", name.text);
                        self.report(Diagnostic::new(Code::BadClause, message, name.span, "again"));
                        continue;
                    }
                    let Some(source) = self.binding_source(name, source, family) else { continue };
                    bindings.push(Binding { argument: name.text.clone(), source });
                }
            }
        }
        let word = from.rule.as_ref().map(|rule| rule.text.as_str());
        let rule = MisfitRule::ALL.into_iter().find(|rule| Some(rule.word()) == word).unwrap_or_default();
        let (fitting, span) = (from.fitting, from.span);
        family.predecessors.push(Predecessor { family: path, bindings, dropped, fitting, rule, span });
    }

    fn binding_source(
        &mut self,
        name: &ast::Ident,
        source: &ast::FromSource,
        family: &Family,
    ) -> Option<BindingSource> {
        let Some(argument) = family.key.arguments().find(|a| a.name.as_deref() == Some(&name.text)) else {
            let known: Vec<&str> = family.key.arguments().filter_map(|a| a.name.as_deref()).collect();
            let diagnostic = unknown(name, "argument", &known);
            self.report(diagnostic);
            return None;
        };
        let (written, span) = match source {
            ast::FromSource::Argument(old) => return Some(BindingSource::Argument(old.text.clone())),
            ast::FromSource::Value(old) => return Some(BindingSource::Value(old.text.clone())),
            ast::FromSource::Int(int) => {
                let sign = if int.negative { "-" } else { "" };
                (format!("{sign}{}", int.magnitude), int.span)
            }
            ast::FromSource::Text(text) => (text.value.clone(), text.span),
            ast::FromSource::Bytes(bytes, span) => {
                let mut digits = String::from("0x");
                for byte in bytes {
                    // Writing to a string does not fail.
                    let _ = write!(digits, "{byte:02x}");
                }
                (digits, *span)
            }
        };
        match constant(&argument.shape, &written) {
            Ok(value) => Some(BindingSource::Constant(value)),
            Err(why) => {
                let message = format!("the constant is not a value of `{}`", name.text);
                self.report(Diagnostic::new(Code::BadClause, message, span, why));
                None
            }
        }
    }

    pub(super) fn allowed_break(&mut self, allow: &ast::AllowBreakClause, family: &mut Family) {
        let mut kinds = Vec::new();
        for kind in &allow.kinds {
            if let Some(known) = BreakKind::ALL.into_iter().find(|known| known.word() == kind.text) {
                kinds.push(known);
                continue;
            }
            let words: Vec<&str> = BreakKind::ALL.iter().map(|kind| kind.word()).collect();
            let mut diagnostic = unknown(kind, "kind of break", &words);
            diagnostic.code = Code::BadClause;
            self.report(diagnostic.with_help(format!("kinds are: {}", words.join(", "))));
        }
        if allow.kinds.is_empty() {
            kinds.extend(BreakKind::ALL);
        }
        if !kinds.is_empty() {
            let why = allow.why.value.clone();
            family.allowed_breaks.push(AllowedBreak { kinds, why, span: allow.span });
        }
    }
}

/// A value that the shape can write, from text as a person writes it.
pub(super) fn constant(shape: &Shape, written: &str) -> Result<Value, String> {
    let value = parse(shape, written).map_err(|error| format!("expected {}", error.expected))?;
    encode_one(shape, &value, &mut Vec::new()).map_err(|error| error.to_string())?;
    Ok(value)
}
