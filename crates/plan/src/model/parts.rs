//! Sequences: parts in a row, with the copies and derived values among them.

use keyplan_codec::Hash;

use super::resolve::{Resolver, unknown};
use super::{
    Argument, Derivation, Derived, Extent, IntEncoding, IntShape, IntType, Literal, Same, Segment, Sequence,
    Shape,
};
use crate::diag::{Code, Diagnostic, Span};
use crate::syntax::ast;

/// The most parts that one sequence may have.
const MAX_PARTS: usize = 256;

impl<'a> Resolver<'a> {
    /// A layout given as parts or as one unnamed domain.
    pub(super) fn body(&mut self, body: &'a ast::Body) -> Option<Sequence> {
        match body {
            ast::Body::Parts(parts) => self.sequence_behind(Vec::new(), parts),
            ast::Body::Domain(domain) => {
                self.shown = None;
                let shape = self.domain(domain)?;
                let (type_name, shown) = (self.type_name(domain), self.shown.take());
                let doc = Vec::new();
                let argument = Argument { name: None, type_name, shape, shown, doc, span: domain.span };
                Some(Sequence::new(vec![Segment::Argument(argument)]))
            }
        }
    }

    /// What the plan calls the type that a domain names.
    fn type_name(&self, domain: &ast::Domain) -> Option<String> {
        let ast::Atom::Named(call) = &domain.atom else { return None };
        let named = call.name.text.starts_with(|c: char| c.is_ascii_uppercase());
        let key = self.types_called(&call.name).into_iter().next().filter(|_| named)?;
        self.types.get(&key).map(|entry| entry.name.clone())
    }

    /// The segments of `parts`, after those of `prefix`.
    pub(super) fn sequence_behind(
        &mut self,
        prefix: Vec<Segment>,
        parts: &'a [ast::Part],
    ) -> Option<Sequence> {
        self.nodes = self.nodes.saturating_add(parts.len());
        if let Some(part) = parts.get(MAX_PARTS) {
            let message = format!("a sequence has at most {MAX_PARTS} parts{}", self.inside());
            self.report(
                Diagnostic::new(Code::TooLarge, message, part.span(), "one too many")
                    .with_help("group parts into records"),
            );
            return None;
        }
        let before = prefix.len();
        let mut slots: Vec<Option<Segment>> = prefix.into_iter().map(Some).collect();
        let mut sound = true;
        // Derived parts may look ahead, so they are filled in last.
        for part in parts {
            let segment = match part {
                ast::Part::Literal(literal) => self.literal(literal).map(Segment::Literal),
                ast::Part::Argument { doc, name, domain, span } => {
                    self.snake(name, "an argument");
                    if let Some(first) = find_argument(&slots, &name.text) {
                        self.duplicate("argument", name, first.1);
                    }
                    self.shown = None;
                    self.domain(domain).map(|shape| {
                        let (type_name, shown) = (self.type_name(domain), self.shown.take());
                        Segment::Argument(Argument {
                            name: Some(name.text.clone()),
                            type_name,
                            shape,
                            shown,
                            doc: doc.clone(),
                            span: *span,
                        })
                    })
                }
                ast::Part::Same { name, encodings, span } => self.same(name, encodings, *span, &slots),
                ast::Part::Derived { .. } => {
                    slots.push(None);
                    continue;
                }
            };
            sound &= segment.is_some();
            slots.push(segment);
        }
        for (index, part) in parts.iter().enumerate() {
            if let ast::Part::Derived { .. } = part {
                let derived = if sound { self.derived(part, &slots) } else { None };
                sound &= derived.is_some();
                if let Some(slot) = slots.get_mut(before + index) {
                    *slot = derived;
                }
            }
        }
        if self.nodes > super::resolve::MAX_NODES {
            let span = parts.first().map_or(Span::default(), |first| {
                parts.last().map_or(first.span(), |last| first.span().to(last.span()))
            });
            self.too_large(span);
            return None;
        }
        sound.then(|| Sequence::new(slots.into_iter().flatten().collect()))
    }

    fn same(
        &mut self,
        name: &ast::Ident,
        encodings: &'a [ast::Call],
        span: Span,
        slots: &[Option<Segment>],
    ) -> Option<Segment> {
        let Some((of, _)) = find_argument(slots, &name.text) else {
            self.report(
                Diagnostic::new(
                    Code::BadReference,
                    format!("no argument `{}` comes before this", name.text),
                    name.span,
                    "not an argument before it",
                )
                .with_help("`same(x)` repeats an argument that was written earlier in the sequence"),
            );
            return None;
        };
        let Some(Some(Segment::Argument(argument))) = slots.get(of) else { return None };
        let shape = if encodings.is_empty() {
            argument.shape.clone()
        } else {
            let plain = argument.shape.without_encoding();
            let copied = self.encoded(plain, encodings, span)?;
            if !tells(&argument.shape) || !tells(&copied) {
                self.report(
                    Diagnostic::new(
                        Code::BadReference,
                        format!("one of the two encodings of `{}` loses what the other tells", name.text),
                        span,
                        "it cannot be compared with its argument when it is read",
                    )
                    .with_help("`.hash_concat(…)` writes an argument after its hash; a number can be derived: `slot = crc32(x)`"),
                );
                return None;
            }
            copied
        };
        Some(Segment::Same(Same { name: name.text.clone(), of, shape, span }))
    }

    fn derived(&mut self, part: &'a ast::Part, slots: &[Option<Segment>]) -> Option<Segment> {
        let ast::Part::Derived { name, function, of, modulus, domain, span } = part else { return None };
        self.snake(name, "a derived part");
        let (derivation, bits) = match function.text.as_str() {
            "crc16" => (Derivation::Crc16, 16),
            "crc32" => (Derivation::Crc32, 32),
            "xxh3_64" => (Derivation::Xxh3, 64),
            "twox_64" => (Derivation::Twox, 64),
            _ => {
                let known = ["crc16", "crc32", "xxh3_64", "twox_64"];
                let diagnostic = unknown(function, "function", &known);
                self.report(diagnostic.with_help(format!("functions are: {}", known.join(", "))));
                return None;
            }
        };
        let mut indices = Vec::new();
        for argument in of {
            let Some((index, _)) = find_argument(slots, &argument.text) else {
                self.report(Diagnostic::new(
                    Code::BadReference,
                    format!("the sequence has no argument `{}`", argument.text),
                    argument.span,
                    "not an argument of it",
                ));
                return None;
            };
            indices.push(index);
        }
        let modulus = match modulus {
            Some(int) if int.negative || int.magnitude == 0 => {
                self.report(Diagnostic::new(
                    Code::BadReference,
                    "a modulus is at least 1",
                    int.span,
                    "cannot divide by this",
                ));
                return None;
            }
            Some(int) => Some(int.magnitude),
            None => None,
        };
        let full = u128::MAX >> (128 - bits);
        let most = modulus.map_or(full, |modulus| full.min(modulus - 1));
        let shape = if let Some(domain) = domain {
            let Shape::Int(int) = self.domain(domain)? else {
                self.not_unsigned(domain.span);
                return None;
            };
            if int.ty.signed {
                self.not_unsigned(domain.span);
                return None;
            }
            int
        } else {
            let ty = IntType { signed: false, bits };
            IntShape { ty, range: ty.range(), encoding: IntEncoding::Be }
        };
        if !shape.range.contains_unsigned(most) || !shape.range.contains_unsigned(0) {
            self.report(Diagnostic::new(
                Code::BadReference,
                format!("`{}` is too narrow for values up to {most}", shape.ty.name()),
                *span,
                "does not fit",
            ));
            return None;
        }
        if Extent::of_int(&shape) == Extent::Open {
            self.report(
                Diagnostic::new(
                    Code::BadReference,
                    "a derived part must tell where it ends",
                    *span,
                    "its digits may run into the next part",
                )
                .with_help("give it a width, as in `as u16.dec(5)`"),
            );
            return None;
        }
        Some(Segment::Derived(Derived {
            name: name.text.clone(),
            function: derivation,
            of: indices,
            modulus,
            shape,
            span: *span,
        }))
    }

    fn not_unsigned(&mut self, span: Span) {
        self.report(Diagnostic::new(
            Code::BadReference,
            "a derived part is written as an unsigned integer",
            span,
            "not an unsigned integer",
        ));
    }

    pub(super) fn literal(&mut self, literal: &ast::Literal) -> Option<Literal> {
        let (bytes, spelling, hashed) = match &literal.kind {
            ast::LiteralKind::Hex(bytes) => (bytes.clone(), format!("0x{}", const_hex::encode(bytes)), None),
            ast::LiteralKind::Text(text) => (text.clone().into_bytes(), format!("{text:?}"), None),
            ast::LiteralKind::Bytes(bytes) => (bytes.clone(), format!("b\"{}\"", bytes.escape_ascii()), None),
            ast::LiteralKind::Hash { function, of, keep } => {
                let (hash, keep) = self.hash_function(function, keep.as_ref())?;
                let digest = hash.digest(of).get(..keep)?.to_vec();
                let name = hash.name();
                let spelling = format!("{name}({:?})", String::from_utf8_lossy(of));
                (digest, spelling, Some((hash, of.clone())))
            }
        };
        Some(Literal { bytes, spelling, hashed, span: literal.span })
    }

    pub(super) fn hash_function(
        &mut self,
        name: &ast::Ident,
        keep: Option<&ast::Int>,
    ) -> Option<(Hash, usize)> {
        let Some(hash) = Hash::ALL.into_iter().find(|hash| hash.name() == name.text) else {
            let known: Vec<&str> = Hash::ALL.iter().map(|hash| hash.name()).collect();
            let diagnostic = unknown(name, "hash function", &known);
            self.report(diagnostic.with_help(format!("hash functions are: {}", known.join(", "))));
            return None;
        };
        let Some(keep) = keep else { return Some((hash, hash.width())) };
        let kept = usize::try_from(keep.magnitude).ok();
        let fits = kept.filter(|&n| !keep.negative && (1..=hash.width()).contains(&n));
        if fits.is_none() {
            self.report(Diagnostic::new(
                Code::BadEncoding,
                format!("`{}` has {} bytes", hash.name(), hash.width()),
                keep.span,
                "cannot keep this many",
            ));
        }
        fits.map(|keep| (hash, keep))
    }
}

/// The segment index and span of the argument called `name`.
fn find_argument(slots: &[Option<Segment>], name: &str) -> Option<(usize, Span)> {
    slots.iter().enumerate().find_map(|(index, slot)| match slot {
        Some(Segment::Argument(argument)) if argument.name.as_deref() == Some(name) => {
            Some((index, argument.span))
        }
        _ => None,
    })
}

/// Whether the value is known from its bytes.
fn tells(shape: &Shape) -> bool {
    match shape {
        Shape::Int(int) => int.alike().is_none(),
        Shape::Hashed { .. } => false,
        _ if shape.is_leaf() => !shape.loses_information(),
        _ => shape.children().all(tells),
    }
}
