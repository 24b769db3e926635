//! Domains: the values of an argument, before and after their encodings.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyplan_codec::{Alphabet, Heights, WideForm};

use super::resolve::{MAX_NODES, Resolver, TypeKey, TypeSource, TypeState, camel, unknown};
use super::{
    Alternative, BoolEncoding, BytesEncoding, Coded, FloatEncoding, Framing, IntEncoding, IntRange, IntShape,
    IntType, LengthSet, Made, Name, NameSet, NibbleEncoding, Opaque, ProtoMessage, ScoreEncoding, Segment,
    Sequence, Shape, TextShape, TimeEncoding, ValueCodec,
};
use crate::diag::{Code, Diagnostic, Span};
use crate::order;
use crate::syntax::{ast, foreign};

/// How deep shapes may nest once types are written out. The parser bounds what one file can spell; types that
/// name types could still pile up.
const MAX_DEPTH: usize = 96;

/// The domains that are not types of the plan.
const BUILT_IN: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128", "u24", "u40", "u48", "u56", "u256",
    "i256", "bool", "f64", "bytes", "text", "nibbles", "time", "score", "option", "list", "cbor", "json",
    "rlp", "proto", "scale", "bcs", "borsh", "bincode", "raw",
];

/// The words for domains that are not types of a plan.
pub fn domains() -> &'static [&'static str] {
    BUILT_IN
}

impl<'a> Resolver<'a> {
    /// The shape of a domain with its encodings.
    pub(super) fn domain(&mut self, domain: &'a ast::Domain) -> Option<Shape> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > MAX_NODES || self.depth > MAX_DEPTH {
            self.too_large(domain.span);
            return None;
        }
        if let (ast::Atom::Named(call), Some(next)) = (&domain.atom, domain.encodings.first())
            && let Some(here) = foreign::qualified(&call.name.text, &next.name.text)
        {
            let message = format!("no domain or type is called `{}.{}`", call.name.text, next.name.text);
            let diagnostic =
                Diagnostic::new(Code::UnknownName, message, domain.span, "not a known domain or type");
            self.report(diagnostic.with_help(format!("write `{here}`")));
            return None;
        }
        self.depth += 1;
        let atom = self.atom(domain);
        let shape = atom.and_then(|shape| self.encoded(shape, &domain.encodings, domain.span));
        self.depth -= 1;
        shape
    }

    /// Reports that the plan has too many parts, at the family or type where that shows.
    pub(super) fn too_large(&mut self, span: Span) {
        // Once is enough: everything after it would say the same.
        if self.diagnostics.iter().all(|d| d.code != Code::TooLarge) {
            let limits = format!("over {MAX_NODES} parts, or nested over {MAX_DEPTH} deep");
            let message = format!("the plan is too large: {limits}{}", self.inside());
            self.report(
                Diagnostic::new(Code::TooLarge, message, span, "reached here")
                    .with_help("types that name types multiply: split the plan or flatten the types"),
            );
        }
    }

    fn atom(&mut self, domain: &'a ast::Domain) -> Option<Shape> {
        match &domain.atom {
            ast::Atom::Named(call) => self.named(call),
            ast::Atom::Record(parts) => self.sequence_behind(Vec::new(), parts).map(Shape::Record),
            ast::Atom::Choice(alternatives) => self.choice(alternatives),
        }
    }

    fn choice(&mut self, alternatives: &'a [ast::Alternative]) -> Option<Shape> {
        let mut resolved: Vec<Alternative> = Vec::new();
        let mut known: BTreeMap<&str, Span> = BTreeMap::new();
        let mut sound = true;
        for alternative in alternatives {
            let label = &alternative.label;
            if let Some(&first) = known.get(label.text.as_str()) {
                self.duplicate("alternative", label, first);
            }
            let Some(sequence) = self.body(&alternative.body) else {
                sound = false;
                continue;
            };
            known.entry(&label.text).or_insert(alternative.span);
            resolved.push(Alternative {
                label: label.text.clone(),
                doc: alternative.doc.clone(),
                sequence,
                span: alternative.span,
            });
        }
        sound.then_some(Shape::Choice(resolved))
    }

    fn named(&mut self, call: &'a ast::Call) -> Option<Shape> {
        let args = call.args.as_deref().unwrap_or_default();
        if let Some(ty) = IntType::from_name(&call.name.text) {
            return self.integer(ty, call, args);
        }
        match call.name.text.as_str() {
            "bool" => self.plain(call, Shape::Bool(BoolEncoding::Byte)),
            "f64" => self.plain(call, Shape::Float(FloatEncoding::Bits)),
            "time" => self.plain(call, Shape::Time(TimeEncoding::Text9)),
            "score" => self.score(call, args),
            "cbor" if call.args.is_some() => self.coded(ValueCodec::Cbor, call, args),
            "cbor" => self.plain(call, Shape::Opaque(Opaque::Cbor)),
            "json" => self.plain(call, Shape::Opaque(Opaque::Json)),
            "rlp" => self.plain(call, Shape::Opaque(Opaque::Rlp)),
            "raw" => self.plain(call, Shape::Opaque(Opaque::Raw)),
            "proto" => match args {
                [ast::CallArg::Text(message)] => {
                    let schemas = Arc::clone(&self.schemas);
                    let message = ProtoMessage { name: message.value.clone(), schemas };
                    Some(Shape::Opaque(Opaque::Proto(message)))
                }
                _ => self.bad(call, "`proto(\"package.Message\")`"),
            },
            "scale" => self.coded(ValueCodec::Scale, call, args),
            "bcs" => self.coded(ValueCodec::Bcs, call, args),
            "borsh" => self.coded(ValueCodec::Borsh, call, args),
            "bincode" => self.coded(ValueCodec::Bincode, call, args),
            "u256" | "i256" => {
                let signed = call.name.text == "i256";
                let encoding = BytesEncoding::Wide { signed, form: WideForm::Be };
                self.plain(call, Shape::Bytes { lengths: LengthSet::Range { min: 32, max: 32 }, encoding })
            }
            "bytes" => self.bytes(call, args),
            "nibbles" => {
                let lengths = self.lengths_of(call, args, "`nibbles(0..=64)`")?;
                Some(Shape::Nibbles { lengths, encoding: NibbleEncoding::Unpacked })
            }
            "text" => self.text(call, args),
            "option" => match args {
                [ast::CallArg::Domain(inner)] => {
                    self.domain(inner).map(|shape| Shape::Option(Box::new(shape)))
                }
                _ => self.bad(call, "`option(u64)`"),
            },
            "list" => self.list(call, args),
            _ => self.declared(call, args),
        }
    }

    /// A value by a type, in a format that has a form for each part of it.
    fn coded(&mut self, codec: ValueCodec, call: &'a ast::Call, args: &'a [ast::CallArg]) -> Option<Shape> {
        let [ast::CallArg::Domain(of)] = args else {
            return self.bad(call, &format!("`{0}(Type)` or `{0}((name: text amount: u64))`", codec.word()));
        };
        let shape = self.domain(of)?;
        // The forms of its parts are theirs.
        self.shown = None;
        if let Some(what) = uncoded(codec, &shape) {
            self.report(
                Diagnostic::new(
                    Code::BadDomain,
                    format!("{} has no form for {what}", codec.title()),
                    of.span,
                    "a part of it has none",
                )
                .with_help(
                    "use integers, `bool`, `f64`, `text`, `bytes`, `bytes(32)`, `option`, `list`, records and choices, without encodings or literals",
                ),
            );
            return None;
        }
        Some(Shape::Opaque(Opaque::Coded(Coded { codec, shape: Arc::new(shape), made: Made::default() })))
    }

    fn plain(&mut self, call: &ast::Call, shape: Shape) -> Option<Shape> {
        if call.args.is_some() {
            return self.bad(call, &format!("`{}`", call.name.text));
        }
        Some(shape)
    }

    pub(super) fn bad<T>(&mut self, call: &ast::Call, wanted: &str) -> Option<T> {
        self.report(
            Diagnostic::new(
                Code::BadDomain,
                format!("`{}` does not take these arguments", call.name.text),
                call.span,
                "cannot be written this way",
            )
            .with_help(format!("write {wanted}")),
        );
        None
    }

    /// A score, of which the range is one of heights.
    fn score(&mut self, call: &ast::Call, args: &[ast::CallArg]) -> Option<Shape> {
        let heights = match args {
            [] if call.args.is_none() => None,
            [ast::CallArg::Range { first, last: Some(last), span }] => {
                let range = IntType { signed: false, bits: 32 }.range().narrowed(first, last);
                let heights = match range {
                    Some(IntRange::Unsigned { min, max }) => {
                        let ends = u32::try_from(min).ok().zip(u32::try_from(max).ok());
                        ends.map(|(least, most)| Heights { least, most })
                    }
                    _ => None,
                };
                if heights.is_none() {
                    self.report(
                        Diagnostic::new(
                            Code::EmptyRange,
                            "no height of a block lies in this range, or it goes beyond 32 bits",
                            *span,
                            "out of range",
                        )
                        .with_help("write the least height first: `score(1..=8388607)`"),
                    );
                    return None;
                }
                heights
            }
            _ => return self.bad(call, "`score` or `score(1..=8388607)`"),
        };
        Some(Shape::Score { heights, encoding: ScoreEncoding::Exact })
    }

    fn integer(&mut self, ty: IntType, call: &ast::Call, args: &[ast::CallArg]) -> Option<Shape> {
        let range = match args {
            [] if call.args.is_none() => ty.range(),
            [ast::CallArg::Range { first, last: Some(last), span }] => {
                let range = ty.range().narrowed(first, last);
                if range.is_none() {
                    let diagnostic = Diagnostic::new(
                        Code::EmptyRange,
                        format!("no `{}` lies in this range, or it goes beyond the type", ty.name()),
                        *span,
                        "out of range",
                    );
                    let turned = ty.range().narrowed(last, first).is_some();
                    let shown =
                        |int: &ast::Int| format!("{}{}", if int.negative { "-" } else { "" }, int.magnitude);
                    self.report(diagnostic.with_help(match ty.range() {
                        _ if turned => {
                            let (first, last) = (shown(last), shown(first));
                            format!("write the least number first: `{}({first}..={last})`", ty.name())
                        }
                        IntRange::Unsigned { max, .. } => {
                            format!("write the least number first, none above {max}: `{}(0..=5)`", ty.name())
                        }
                        IntRange::Signed { min, max } => {
                            format!(
                                "write the least number first, from {min} to {max}: `{}(-5..=5)`",
                                ty.name()
                            )
                        }
                    }));
                }
                range?
            }
            _ => return self.bad(call, &format!("`{0}` or `{0}(0..=5)`", ty.name())),
        };
        Some(Shape::Int(IntShape { ty, range, encoding: IntEncoding::Be }))
    }

    fn bytes(&mut self, call: &ast::Call, args: &[ast::CallArg]) -> Option<Shape> {
        let wanted =
            "`bytes(32)`, `bytes(1..=255)`, `bytes(20 | 32)` or `bytes(\"\\\\x01-\\\\xff\", 0..=255)`";
        let [ast::CallArg::Text(class), rest @ ..] = args else {
            let lengths = self.lengths_of(call, args, wanted)?;
            return Some(Shape::Bytes { lengths, encoding: BytesEncoding::Raw });
        };
        let parsed = numbered(&class.value).and_then(|bytes| parse_members(&bytes));
        let class = match parsed {
            Ok(class) => class,
            Err(why) => {
                self.report(
                    Diagnostic::new(Code::BadClass, "the class of bytes is malformed", class.span, why)
                        .with_help("list bytes and ranges, such as \"\\\\x01-\\\\xff\"; `-` goes last"),
                );
                return None;
            }
        };
        let lengths = match rest {
            [] => LengthSet::ANY,
            rest => self.lengths_of(call, rest, wanted)?,
        };
        Some(Shape::Bytes { lengths, encoding: BytesEncoding::Class(class) })
    }

    fn lengths_of(&mut self, call: &ast::Call, args: &[ast::CallArg], wanted: &str) -> Option<LengthSet> {
        match args {
            [] if call.args.is_none() => Some(LengthSet::ANY),
            [arg] => match self.lengths(arg) {
                Lengths::Given(lengths) => lengths,
                Lengths::Other => self.bad(call, wanted),
            },
            _ => self.bad(call, wanted),
        }
    }

    /// Reads lengths; `Given(None)` if they were given wrongly, which has then been reported.
    fn lengths(&mut self, arg: &ast::CallArg) -> Lengths {
        let number = |int: &ast::Int| (!int.negative).then(|| usize::try_from(int.magnitude).ok()).flatten();
        let (set, span) = match arg {
            ast::CallArg::Int(int) => (number(int).map(|n| LengthSet::Range { min: n, max: n }), int.span),
            ast::CallArg::Range { first, last, span } => {
                let max = last.as_ref().map_or(Some(usize::MAX), number);
                let range = number(first).zip(max).filter(|(min, max)| min <= max);
                (range.map(|(min, max)| LengthSet::Range { min, max }), *span)
            }
            ast::CallArg::OneOf(ints, span) => {
                let set: Option<Vec<usize>> = ints.iter().map(number).collect();
                let sorted = set.map(|mut set| {
                    order::sort(&mut set);
                    set.dedup();
                    match set.as_slice() {
                        [only] => LengthSet::Range { min: *only, max: *only },
                        _ => LengthSet::OneOf(set),
                    }
                });
                (sorted, *span)
            }
            ast::CallArg::Text(_) | ast::CallArg::Domain(_) => return Lengths::Other,
        };
        if set.is_none() {
            let given = |int: &ast::Int| usize::try_from(int.magnitude).is_err();
            let huge = match arg {
                ast::CallArg::Int(int) => given(int),
                ast::CallArg::Range { first, last, .. } => given(first) || last.as_ref().is_some_and(given),
                ast::CallArg::OneOf(ints, _) => ints.iter().any(given),
                ast::CallArg::Text(_) | ast::CallArg::Domain(_) => false,
            };
            self.report(if huge {
                Diagnostic::new(Code::EmptyRange, "the length is too large", span, "does not fit 64 bits")
                    .with_help("give the longest length that the keys really have, or none: `1..`")
            } else {
                Diagnostic::new(Code::EmptyRange, "no length lies in this range", span, "empty")
                    .with_help("write the least length first: `1..=255`")
            });
        }
        Lengths::Given(set)
    }

    fn text(&mut self, call: &ast::Call, args: &[ast::CallArg]) -> Option<Shape> {
        let wanted = "`text`, `text(1..=64)`, `text(\"a-z\", 1..=64)` or `text(\"A-Z\", \"a-z\", 1..=64)`";
        let (classes, rest): (Vec<&ast::Text>, &[ast::CallArg]) = match args {
            [ast::CallArg::Text(first), ast::CallArg::Text(all), rest @ ..] => (vec![first, all], rest),
            [ast::CallArg::Text(all), rest @ ..] => (vec![all], rest),
            rest => (Vec::new(), rest),
        };
        let mut alphabets = Vec::new();
        for class in classes {
            alphabets.push(self.class(class)?);
        }
        let lengths = match rest {
            [] if call.args.is_none() || !alphabets.is_empty() => LengthSet::ANY,
            [arg] => match self.lengths(arg) {
                Lengths::Given(lengths) => lengths?,
                Lengths::Other => return self.bad(call, wanted),
            },
            _ => return self.bad(call, wanted),
        };
        let (first, alphabet) = match alphabets.as_slice() {
            [first, all] => (Some(*first), *all),
            [all] => (None, *all),
            _ => (None, Alphabet::UTF8),
        };
        Some(Shape::Text(TextShape {
            alphabet,
            first,
            lengths,
            names: None,
            tuple: false,
            except: Arc::default(),
        }))
    }

    fn class(&mut self, class: &ast::Text) -> Option<Alphabet> {
        match parse_class(&class.value) {
            Ok(alphabet) => Some(alphabet),
            Err(why) => {
                self.report(
                    Diagnostic::new(Code::BadClass, "the character class is malformed", class.span, why)
                        .with_help("list characters and ranges, such as \"a-zA-Z0-9/\"; `-` goes last"),
                );
                None
            }
        }
    }

    fn list(&mut self, call: &ast::Call, args: &'a [ast::CallArg]) -> Option<Shape> {
        let (item, counts) = match args {
            [ast::CallArg::Domain(item)] => (item, LengthSet::ANY),
            [ast::CallArg::Domain(item), arg] => match self.lengths(arg) {
                Lengths::Given(counts) => (item, counts?),
                Lengths::Other => return self.bad(call, "`list(u64, 1..=4)`"),
            },
            _ => return self.bad(call, "`list(u64)` or `list(u64, 1..=4)`"),
        };
        let item = Box::new(self.domain(item)?);
        Some(Shape::List { item, counts, framing: Framing::ToEnd })
    }

    fn declared(&mut self, call: &ast::Call, args: &[ast::CallArg]) -> Option<Shape> {
        let name = call.name.text.as_str();
        let called = self.types_called(&call.name);
        if let [first, second, ..] = called.as_slice() {
            let at = |key: &TypeKey<'_>| self.types.get(key).map(|entry| entry.declaration.name().span);
            let message = format!("two of the imported files declare the type `{name}`");
            let mut diagnostic =
                Diagnostic::new(Code::DuplicateName, message, call.name.span, "which one is not clear");
            for span in [at(first), at(second)].into_iter().flatten() {
                diagnostic = diagnostic.with_label(span, "declared here");
            }
            let help = "rename one of them, or give the one that is meant another name where it is declared";
            self.report(diagnostic.with_help(help));
            return None;
        }
        let Some((key, entry)) = called.first().and_then(|key| Some((*key, self.types.get_mut(key)?))) else {
            let seen = self.types_seen_by(call.name.span.file.0 as usize);
            let mut known = seen.clone();
            known.extend(BUILT_IN);
            let mut diagnostic = unknown(&call.name, "domain or type", &known);
            if let Some(here) = foreign::domain(name, BUILT_IN)
                && !seen.iter().any(|known| known.eq_ignore_ascii_case(name))
            {
                diagnostic.notes.clear();
                let why = if here.starts_with("bytes(")
                    && name.starts_with(['u', 'U'])
                    && name.ends_with(|last: char| last.is_ascii_digit())
                {
                    ": big-endian bytes sort as the numbers do"
                } else {
                    ""
                };
                diagnostic = diagnostic.with_help(format!("write `{here}`{why}"));
            }
            if diagnostic.notes.is_empty() {
                diagnostic = diagnostic.with_help(format!(
                    "declare it, `type {} = …;`, or use one of: {}",
                    camel(name),
                    BUILT_IN.join(", ")
                ));
            }
            self.report(diagnostic);
            return None;
        };
        entry.used = true;
        if !args.is_empty() {
            return self.bad(call, &format!("only `{name}`: a type takes no arguments"));
        }
        if matches!(entry.state, TypeState::Open) {
            self.report(
                Diagnostic::new(
                    Code::RecursiveType,
                    format!("the type `{name}` is made of itself"),
                    call.name.span,
                    "leads back to it",
                )
                .with_help("a key is finite: use `list(…)` or `bytes` where the depth is not known"),
            );
            return None;
        }
        self.named_type(key)
    }

    /// The shape of a declared type, resolved at its first use.
    pub(super) fn named_type(&mut self, key: TypeKey<'a>) -> Option<Shape> {
        let entry = self.types.get_mut(&key)?;
        match &entry.state {
            TypeState::Done { shape, nodes, shown } => {
                let (shape, nodes) = (shape.clone(), *nodes);
                self.shown.clone_from(shown);
                self.nodes = self.nodes.saturating_add(nodes);
                return shape;
            }
            TypeState::Open => return None,
            TypeState::Unseen => entry.state = TypeState::Open,
        }
        let declaration = entry.declaration;
        let name = entry.name.clone();
        let before = self.nodes;
        let around = self.at.replace(format!("the type `{}`", key.0));
        self.shown = None;
        let shape = match declaration {
            TypeSource::Type(decl) => self.domain(&decl.domain),
            TypeSource::Names(decl) => self.name_set(decl, name),
        };
        self.at = around;
        let nodes = self.nodes.saturating_sub(before);
        if let Some(entry) = self.types.get_mut(&key) {
            entry.state = TypeState::Done { shape: shape.clone(), nodes, shown: self.shown.clone() };
        }
        shape
    }

    fn name_set(&mut self, decl: &'a ast::NamesDecl, name: String) -> Option<Shape> {
        let mut shape = self.domain(&decl.domain)?;
        let Shape::Text(text) = &mut shape else {
            self.report(Diagnostic::new(
                Code::BadDomain,
                "names are taken from a text domain",
                decl.domain.span,
                "not a text",
            ));
            return None;
        };
        let mut names: Vec<Name> = Vec::new();
        let mut known: BTreeMap<&str, Span> = BTreeMap::new();
        for entry in &decl.entries {
            let value = &entry.text.value;
            if let Some(&span) = known.get(value.as_str()) {
                self.report(
                    Diagnostic::new(
                        Code::DuplicateName,
                        format!("the name {value:?} is listed twice"),
                        entry.text.span,
                        "again",
                    )
                    .with_label(span, "first listed here"),
                );
                continue;
            }
            if !text.admits(value) {
                self.report(Diagnostic::new(
                    Code::BadDomain,
                    format!("the name {value:?} is not of its own domain"),
                    entry.text.span,
                    "has a character or a length that the domain refuses",
                ));
            }
            known.insert(value, entry.text.span);
            names.push(Name {
                text: value.clone(),
                doc: entry.doc.clone(),
                retired: entry.retired,
                span: entry.text.span,
            });
        }
        let set = NameSet { name, doc: decl.doc.clone(), names };
        text.names = Some(Arc::new(set));
        Some(shape)
    }
}

/// What in a shape has no form of its own in formats that write nothing but the parts of a type.
fn uncoded(codec: ValueCodec, shape: &Shape) -> Option<&'static str> {
    let any = |lengths: &LengthSet| *lengths == LengthSet::ANY;
    match shape {
        // An item of CBOR says itself what it is, and its numbers have 64 bits.
        Shape::Opaque(Opaque::Cbor) if codec == ValueCodec::Cbor => None,
        Shape::Int(int) if codec == ValueCodec::Cbor && int.ty.bits > 64 => Some("an integer of this width"),
        Shape::Int(int) if !matches!(int.ty.bits, 8 | 16 | 32 | 64 | 128) => Some("an integer of this width"),
        Shape::Int(int) if int.range != int.ty.range() => Some("a range of integers"),
        Shape::Int(int) if codec == ValueCodec::Scale && int.encoding == IntEncoding::ScaleCompact => None,
        Shape::Int(int) if int.encoding != IntEncoding::Be => Some("an integer with an encoding"),
        Shape::Bytes { encoding, .. } if *encoding != BytesEncoding::Raw => Some("bytes with an encoding"),
        Shape::Bytes { lengths, .. } if !any(lengths) && lengths.fixed().is_none() => {
            Some("bytes of several lengths")
        }
        Shape::Text(text) if text.tuple || !any(&text.lengths) || text.alphabet != Alphabet::UTF8 => {
            Some("a text of some characters or lengths")
        }
        Shape::Int(_)
        | Shape::Bytes { .. }
        | Shape::Text(_)
        | Shape::Bool(BoolEncoding::Byte)
        | Shape::Float(FloatEncoding::Bits) => None,
        Shape::Option(inner) => uncoded(codec, inner),
        Shape::List { framing, .. } if *framing != Framing::ToEnd => Some("a list with an encoding"),
        Shape::List { counts, .. } if !any(counts) && counts.fixed().is_none() => {
            Some("a list of several lengths")
        }
        Shape::List { item, .. } => uncoded(codec, item),
        Shape::Record(sequence) => uncoded_parts(codec, sequence),
        Shape::Choice(alternatives) => {
            alternatives.iter().find_map(|alternative| uncoded_parts(codec, &alternative.sequence))
        }
        _ => Some("this domain"),
    }
}

fn uncoded_parts(codec: ValueCodec, sequence: &Sequence) -> Option<&'static str> {
    sequence.segments().iter().find_map(|segment| match segment {
        Segment::Argument(argument) => uncoded(codec, &argument.shape),
        _ => Some("literals, copies and derived parts"),
    })
}

enum Lengths {
    Given(Option<LengthSet>),
    Other,
}

impl IntRange {
    /// The part of the range from `first` to `last`; `None` if it goes beyond it or is empty.
    fn narrowed(self, first: &ast::Int, last: &ast::Int) -> Option<Self> {
        match self {
            Self::Unsigned { min, max } => {
                let (first, last) = (unsigned(first)?, unsigned(last)?);
                (min <= first && first <= last && last <= max)
                    .then_some(Self::Unsigned { min: first, max: last })
            }
            Self::Signed { min, max } => {
                let (first, last) = (signed(first)?, signed(last)?);
                (min <= first && first <= last && last <= max)
                    .then_some(Self::Signed { min: first, max: last })
            }
        }
    }

    /// Whether `n` lies in the range.
    pub fn contains_unsigned(self, n: u128) -> bool {
        match self {
            Self::Unsigned { min, max } => (min..=max).contains(&n),
            Self::Signed { min, max } => i128::try_from(n).is_ok_and(|n| (min..=max).contains(&n)),
        }
    }

    /// Whether `n` lies in the range.
    pub fn contains_signed(self, n: i128) -> bool {
        match self {
            Self::Unsigned { min, max } => u128::try_from(n).is_ok_and(|n| (min..=max).contains(&n)),
            Self::Signed { min, max } => (min..=max).contains(&n),
        }
    }
}

fn unsigned(int: &ast::Int) -> Option<u128> {
    (!int.negative || int.magnitude == 0).then_some(int.magnitude)
}

fn signed(int: &ast::Int) -> Option<i128> {
    if int.negative { 0i128.checked_sub_unsigned(int.magnitude) } else { i128::try_from(int.magnitude).ok() }
}

/// Reads a character class: characters, ranges `a-z`, escapes `\-`, a leading `^` for "all but".
fn parse_class(class: &str) -> Result<Alphabet, String> {
    if let Some(c) = class.chars().find(|c| !c.is_ascii()) {
        return Err(format!("`{c}` is not ASCII: use `^…` or `text` for more than ASCII"));
    }
    let mut characters = Vec::new();
    let (negated, body) = negation(class);
    let mut rest = body.bytes();
    while let Some(byte) = rest.next() {
        characters.push(match byte {
            b'\\' => (rest.next().ok_or("nothing comes after the last `\\`")?, true),
            byte => (byte, false),
        });
    }
    parse_members(&Members { negated, characters })
}

/// The characters of a class, and whether each was escaped.
struct Members {
    negated: bool,
    characters: Vec<(u8, bool)>,
}

fn negation(class: &str) -> (bool, &str) {
    class.strip_prefix('^').map_or((false, class), |rest| (true, rest))
}

/// The members of a class of bytes, in which `\x` and two digits stand for a byte.
fn numbered(class: &str) -> Result<Members, String> {
    let (negated, mut rest) = negation(class);
    let mut characters = Vec::new();
    while let Some(c) = rest.chars().next() {
        let (byte, behind) = if let Some(number) = rest.strip_prefix("\\x") {
            let digits = number.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            ((byte.ok_or("two hexadecimal digits belong after `\\x`")?, true), number.get(2..))
        } else if let Some(escaped) = rest.strip_prefix('\\') {
            let c = escaped.chars().next().ok_or("nothing comes after the last `\\`")?;
            ((ascii(c)?, true), escaped.get(c.len_utf8()..))
        } else {
            ((ascii(c)?, false), rest.get(c.len_utf8()..))
        };
        characters.push(byte);
        rest = behind.unwrap_or_default();
    }
    Ok(Members { negated, characters })
}

fn ascii(c: char) -> Result<u8, String> {
    u8::try_from(c)
        .ok()
        .filter(u8::is_ascii)
        .ok_or_else(|| format!("`{c}` is not ASCII: write bytes beyond it as `\\\\xff`"))
}

fn parse_members(members: &Members) -> Result<Alphabet, String> {
    let shown = |byte: u8| byte.escape_ascii().to_string();
    let mut alphabet = Alphabet::EMPTY;
    let mut index = 0;
    while let Some(&(first, _)) = members.characters.get(index) {
        let Some([(b'-', false), (last, _)]) = members.characters.get(index + 1..index + 3) else {
            alphabet = alphabet.with(first);
            index += 1;
            continue;
        };
        if *last < first {
            return Err(format!("the range `{}-{}` is reversed", shown(first), shown(*last)));
        }
        alphabet = alphabet.with_range(first, *last);
        index += 3;
    }
    let alphabet = if members.negated { alphabet.complement() } else { alphabet };
    if alphabet.is_empty() { Err("it has no characters".to_owned()) } else { Ok(alphabet) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_ranges_and_a_last_hyphen() {
        let denom = Alphabet::EMPTY.with_range(b'a', b'z').with_range(b'0', b'9').with(b'/').with(b'-');
        assert_eq!(parse_class("a-z0-9/-"), Ok(denom));
        assert_eq!(parse_class("^/"), Ok(Alphabet::EMPTY.with(b'/').complement()));
        assert_eq!(parse_class("+\\-/"), Ok(Alphabet::EMPTY.with(b'+').with(b'-').with(b'/')));
        assert_eq!(parse_class("z-a"), Err("the range `z-a` is reversed".to_owned()));
        assert_eq!(parse_class(""), Err("it has no characters".to_owned()));
        let bytes = |class: &str| numbered(class).and_then(|members| parse_members(&members));
        assert_eq!(bytes("\\x01-\\xff"), Ok(Alphabet::EMPTY.with(0).complement()));
        assert_eq!(bytes("^\0"), Ok(Alphabet::EMPTY.with(0).complement()));
        assert_eq!(bytes("a\\-z"), Ok(Alphabet::EMPTY.with(b'a').with(b'-').with(b'z')));
        assert!(bytes("\\xg0").is_err() && bytes("\\x1").is_err() && bytes("é").is_err());
    }
}
