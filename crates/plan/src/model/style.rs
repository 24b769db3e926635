//! House rules: the style that the families of a space or module follow.

use super::resolve::{Place, Resolver, unknown};
use super::{Family, ModuleId, Segment, Sequence, Shape, Space};
use crate::diag::{Code, Diagnostic, Span};
use crate::notation::{encodings, escaped};
use crate::syntax::ast;

/// One rule of style, for every family of the space or module that states it, and of the modules inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HouseRule {
    /// What is asked.
    pub asks: Asks,
    /// Why.
    pub why: String,
    /// Where it is declared.
    pub span: Span,
}

/// What a house rule asks of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A key begins with exactly so many literal bytes, those of its module included.
    Prefix(usize),
    /// Integers are written in one of these encodings.
    Integers(Vec<String>),
    /// Byte strings are written in one of these encodings.
    Bytes(Vec<String>),
    /// Literals after the first argument are among these.
    Separators(Vec<Vec<u8>>),
    /// The family is documented.
    Documented,
}

/// A place where a family does not follow a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyleFault<'p> {
    /// The rule.
    pub rule: &'p HouseRule,
    /// What is otherwise, as a sentence about the family: "begins with 3 literal bytes".
    pub what: String,
    /// Where.
    pub span: Span,
}

const ABOUT: [&str; 5] = ["prefix", "integers", "bytes", "separators", "documented"];

impl Space {
    /// The rules that a family is under: those of the space, and of the modules around it, the outermost first.
    pub fn rules_for(&self, family: &Family) -> Vec<&HouseRule> {
        let mut modules = Vec::new();
        let mut next = family.module;
        while let Some(module) = next.and_then(|id| self.modules.get(id.0)) {
            modules.push(module);
            next = module.parent;
        }
        self.rules.iter().chain(modules.into_iter().rev().flat_map(|module| &module.rules)).collect()
    }

    /// Every place where a family does not follow the rules that it is under.
    pub fn style_faults(&self, family: &Family) -> Vec<StyleFault<'_>> {
        let mut faults = Vec::new();
        for rule in self.rules_for(family) {
            for (what, span) in rule.asks.broken_by(family) {
                faults.push(StyleFault { rule, what, span });
            }
        }
        faults
    }
}

impl Asks {
    fn broken_by(&self, family: &Family) -> Vec<(String, Span)> {
        let mut found = Vec::new();
        match self {
            Self::Prefix(wanted) => {
                let got = family.key.literal_prefix().len();
                if got != *wanted {
                    let bytes = if got == 1 { "byte" } else { "bytes" };
                    found.push((format!("begins with {got} literal {bytes}"), family.name_span));
                }
            }
            Self::Integers(allowed) => each_shape(&family.key, &mut |shape, span| {
                if matches!(shape, Shape::Int(_)) {
                    otherwise("an integer", shape, "be", allowed, span, &mut found);
                }
            }),
            Self::Bytes(allowed) => each_shape(&family.key, &mut |shape, span| {
                if matches!(shape, Shape::Bytes { .. }) {
                    otherwise("bytes", shape, "raw", allowed, span, &mut found);
                }
            }),
            Self::Separators(allowed) => {
                let behind = family.key.segments().iter().skip_while(|s| matches!(s, Segment::Literal(_)));
                for segment in behind {
                    let Segment::Literal(literal) = segment else { continue };
                    if !allowed.contains(&literal.bytes) {
                        let shown = escaped(&literal.bytes);
                        found.push((format!("has the separator \"{shown}\""), literal.span));
                    }
                }
            }
            Self::Documented => {
                if family.doc.is_empty() {
                    found.push(("is not documented".to_owned(), family.name_span));
                }
            }
        }
        found
    }
}

/// Adds a shape whose first encoding is none of `allowed`.
fn otherwise(
    what: &str,
    shape: &Shape,
    default: &str,
    allowed: &[String],
    span: Span,
    found: &mut Vec<(String, Span)>,
) {
    let words = encodings(shape);
    let word = words.first().map_or(default, |word| word.split('(').next().unwrap_or(word));
    if !allowed.iter().any(|allowed| allowed == word) {
        found.push((format!("writes {what} as `{word}`"), span));
    }
}

/// Calls `look` with every leaf of a layout, and where it is.
fn each_shape(sequence: &Sequence, look: &mut dyn FnMut(&Shape, Span)) {
    for segment in sequence.segments() {
        if let Segment::Argument(argument) = segment {
            inside(&argument.shape, argument.span, look);
        }
    }
}

fn inside(shape: &Shape, span: Span, look: &mut dyn FnMut(&Shape, Span)) {
    // What is only hashed is not seen in the key.
    if shape.is_leaf() || matches!(shape, Shape::Hashed { .. }) {
        return look(shape, span);
    }
    if let Some(inner) = shape.inner() {
        inside(inner, span, look);
    }
    for row in shape.rows() {
        each_shape(row, look);
    }
}

impl Resolver<'_> {
    pub(super) fn house_rule(&mut self, decl: &ast::RuleDecl, place: &Place, space: &mut Space) {
        let words: Vec<String> = decl.words.iter().map(|word| word.text.clone()).collect();
        let literals: Option<Vec<Vec<u8>>> =
            decl.literals.iter().map(|literal| self.literal(literal).map(|literal| literal.bytes)).collect();
        let Some(literals) = literals else { return };
        let number =
            decl.number.filter(|number| !number.negative).and_then(|n| usize::try_from(n.magnitude).ok());
        let none = words == ["none"];
        let asks = match (decl.about.text.as_str(), number, words.is_empty(), literals.is_empty()) {
            ("prefix", Some(bytes), true, true) => Some(Asks::Prefix(bytes)),
            ("integers", None, false, true) => Some(Asks::Integers(words)),
            ("bytes", None, false, true) => Some(Asks::Bytes(words)),
            ("separators", None, false, true) if none => Some(Asks::Separators(Vec::new())),
            ("separators", None, true, false) => Some(Asks::Separators(literals)),
            ("documented", None, true, true) => Some(Asks::Documented),
            _ => None,
        };
        let Some(asks) = asks else {
            let diagnostic = if ABOUT.contains(&decl.about.text.as_str()) {
                Diagnostic::new(Code::BadClause, "the rule is not written like this", decl.span, "not a rule")
            } else {
                unknown(&decl.about, "rule", &ABOUT)
            };
            self.report(diagnostic.with_help(
                "write `rule prefix 2 \"why\";`, `rule integers be, signflip \"why\";`, `rule bytes raw \"why\";`, \
                 `rule separators none \"why\";`, `rule separators \"/\" \"why\";` or `rule documented \"why\";`",
            ));
            return;
        };
        let rule = HouseRule { asks, why: decl.why.value.clone(), span: decl.span };
        match place.module.and_then(|id: ModuleId| space.modules.get_mut(id.0)) {
            Some(module) => module.rules.push(rule),
            None => space.rules.push(rule),
        }
    }
}
