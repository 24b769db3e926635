//! What the runtimes of Go and TypeScript are given: layouts as tables, which the search reads, and the calls around what is written.
//!
//! The nodes of both have the same fields, and the functions of both have the same names. What each language writes in its own way is
//! in its [`Runtime`].

use std::fmt::Write as _;

use keyplan_codec::{Case, Hash, LenWidth, WideForm};
use keyplan_plan::model::{
    BytesEncoding, Derivation, Derived, Extent, Frame, Framing, IntEncoding, IntRange, IntShape, LengthSet,
    Segment, Sequence, Shape, TextShape, Width,
};
use keyplan_plan::program::{Program, Step};

use crate::regular::{self, Scalar, score_range};

/// A language with a runtime, and how it writes what the runtime is given.
pub(crate) trait Runtime: Sized {
    /// What lines are indented by.
    const INDENT: &'static str;
    /// What stands before an object that a field points to.
    const POINTER: &'static str;

    /// An object of a type.
    fn object(ty: &str, fields: &str) -> String;
    /// A list of a type.
    fn list(ty: &str, elements: &str) -> String;
    /// A layout, in an object that its steps are given to.
    fn whole(sequence: &Sequence, steps: &str) -> String;
    /// The constant that is called like this in Go.
    fn constant(name: &str) -> String;
    /// The field that says what a single value is in JSON, or nothing.
    fn show(kind: &str) -> String;
    /// A literal of a text.
    fn text(text: &str) -> String;
    /// A literal of bytes.
    fn bytes(bytes: &[u8]) -> String;
    /// A least length.
    fn length(length: usize) -> String;
    /// A greatest length.
    fn limit(max: usize) -> String;
    /// The lengths that something may have.
    fn lengths(lengths: &LengthSet) -> String;
    /// The ends of a range.
    fn ends(range: IntRange) -> [String; 2];
    /// What the value of a function is divided by.
    fn modulus(modulus: u64) -> String;
    /// The field that says which digits a hexadecimal number has.
    fn case(case: Case) -> String;
    /// The constant for how a length is written.
    fn len_width(width: LenWidth) -> String;
    /// The function of a derived part.
    fn derivation(function: Derivation) -> &'static str;
    /// The fields of a number of 256 bits.
    fn wide(signed: bool, form: WideForm, lengths: &LengthSet) -> String;
    /// The fields that each argument has more than others do. A layout that is tagged is that of an alternative.
    fn names(sequence: &Sequence, tagged: bool) -> Vec<String>;
    /// The fields that a choice or an option has more than others do.
    fn marks(shape: &Shape) -> &'static str;
    /// The variable of an alphabet.
    fn alphabet_of(&mut self, bits: [u64; 4]) -> String;
    /// The fields of what only a digest is written of.
    fn hashed(&mut self, shape: &Shape, hash: Hash, keep: usize, inner: &Shape, depth: usize) -> String;

    /// A layout on several lines, the first without indentation.
    fn layout(&mut self, sequence: &Sequence, tagged: bool, depth: usize) -> String {
        let indent = Self::INDENT.repeat(depth);
        let names = Self::names(sequence, tagged);
        let mut steps = String::new();
        for (step, &extent) in Program::of(sequence).steps.iter().zip(sequence.extents()) {
            let name = step.argument.and_then(|index| names.get(index)).map_or("", String::as_str);
            let fields = self.step(sequence, step, extent, name, depth);
            let _ = write!(steps, "\n{indent}{}{},", Self::INDENT, Self::object("", &fields));
        }
        if !steps.is_empty() {
            let _ = write!(steps, "\n{indent}");
        }
        Self::whole(sequence, &steps)
    }

    /// The fields of a step.
    fn step(
        &mut self,
        sequence: &Sequence,
        step: &Step<'_>,
        extent: Extent,
        name: &str,
        depth: usize,
    ) -> String {
        let after = format!("{}, {}", Self::length(step.after.min), most::<Self>(step.after));
        let tail = format!("tail: {}", Self::list("[2]int", &after));
        let (kind, fields) = match step.segment {
            Segment::Literal(literal) => ("sLiteral", format!("lit: {}", Self::bytes(&literal.bytes))),
            Segment::Argument(argument) => {
                let unnamed = if argument.name.is_none() { "unnamed: true, " } else { "" };
                let node = self.ending(&argument.shape, extent, depth);
                ("sArgument", format!("{name}{unnamed}{tail}, n: {node}"))
            }
            Segment::Same(same) => {
                let (node, of) =
                    (self.ending(&same.shape, extent, depth), sequence.arguments_before(same.of));
                ("sSame", format!("{tail}, of: {of}, n: {node}"))
            }
            Segment::Derived(derived) => ("sDerived", self.derived(derived, depth)),
        };
        format!("kind: {}, label: {}, {fields}", Self::constant(kind), Self::text(step.segment.label()))
    }

    /// The fields of a derived part.
    fn derived(&mut self, derived: &Derived, depth: usize) -> String {
        let node = self.node(&Shape::Int(derived.shape.clone()), depth);
        let from: Vec<String> = derived.of.iter().map(ToString::to_string).collect();
        let from = Self::list("[]int", &from.join(", "));
        let modulus = derived.modulus.and_then(|modulus| u64::try_from(modulus).ok());
        let modulus =
            modulus.map_or_else(String::new, |modulus| format!("modulus: {}, ", Self::modulus(modulus)));
        format!("from: {from}, derive: {}, {modulus}n: {node}", Self::derivation(derived.function))
    }

    /// The node of a shape.
    fn node(&mut self, shape: &Shape, depth: usize) -> String {
        self.ending(shape, shape.extent(), depth)
    }

    /// The node of a shape that ends as said: what comes after it may take its own mark away.
    fn ending(&mut self, shape: &Shape, extent: Extent, depth: usize) -> String {
        let (width, show) = (Width::of_shape(shape), kind(shape).map_or_else(String::new, Self::show));
        let end = Self::constant(match extent {
            Extent::Fixed(_) => "endFixed",
            Extent::Delimited => "endMarked",
            Extent::Open => "endOpen",
        });
        let (least, most) = (Self::length(width.min), most::<Self>(width));
        let fields = self.fields(shape, depth);
        let node = format!("{}node", Self::POINTER);
        Self::object(&node, &format!("end: {end}, min: {least}, max: {most}, {show}{fields}"))
    }

    /// The fields of the node of a shape after its width.
    fn fields(&mut self, shape: &Shape, depth: usize) -> String {
        let kind = |name: &str| format!("kind: {}", Self::constant(name));
        match shape {
            Shape::Int(int) => int_fields::<Self>(int),
            Shape::Bool(_) | Shape::Float(_) | Shape::Time(_) => {
                Scalar::of(shape).map_or_else(String::new, |scalar| scalar_fields::<Self>(&scalar))
            }
            Shape::Score { heights, encoding } => {
                let [any, within] = encoding.codecs();
                let loss = if encoding.is_float() { loss::<Self>("Zero") } else { String::new() };
                match heights {
                    None => format!("decode: decode{any}{loss}"),
                    Some(heights) => {
                        let [min, max] = score_range(*heights, *encoding);
                        let [least, most] = Self::ends(IntRange::Unsigned { min, max });
                        format!("decode: decode{within}{loss}, least: {least}, most: {most}")
                    }
                }
            }
            Shape::Bytes { lengths, encoding } => self.bytes_fields(lengths, encoding),
            Shape::Text(text) => self.text_fields(text),
            Shape::Nibbles { lengths, .. } => {
                let fields = Scalar::of(shape).map_or_else(String::new, |scalar| scalar.fields());
                format!("{fields}, lens: {}", Self::lengths(lengths))
            }
            Shape::Opaque(_) => "decode: decodeOpaque".to_owned(),
            Shape::Record(sequence) => {
                let layout = self.layout(sequence, false, depth + 1);
                format!("{}, seq: {}{layout}", kind("kRecord"), Self::POINTER)
            }
            Shape::Choice(alternatives) => {
                let indent = Self::INDENT.repeat(depth + 1);
                let mut all = String::from("\n");
                for one in alternatives {
                    let layout = self.layout(&one.sequence, true, depth + 2);
                    let label = Self::text(&one.label);
                    let fields = format!("label: {label}, seq: {}{layout}", Self::POINTER);
                    let _ = writeln!(all, "{indent}{}{},", Self::INDENT, Self::object("", &fields));
                }
                let all = Self::list("[]alternative", &format!("{all}{indent}"));
                format!("{}, {}alts: {all}", kind("kChoice"), Self::marks(shape))
            }
            Shape::Option(inner) => {
                format!("{}, {}inner: {}", kind("kOption"), Self::marks(shape), self.node(inner, depth))
            }
            Shape::List { item, counts, framing } => {
                let how = match framing {
                    Framing::ToEnd => String::new(),
                    Framing::Joined(separator) => format!(", sep: {}", Self::bytes(separator)),
                    Framing::Counted(width) => format!(", counted: true, form: {}", Self::len_width(*width)),
                };
                let inner = self.ending(item, Extent::of_item(item, framing), depth);
                format!("{}, lens: {}{how}, inner: {inner}", kind("kList"), Self::lengths(counts))
            }
            Shape::Framed { frame, inner } => {
                let (name, kind) = (regular::frame_name(*frame), kind("kFramed"));
                let form = match frame {
                    Frame::Len(width) => format!(", form: {}", Self::len_width(*width)),
                    _ => String::new(),
                };
                let inner = self.node(inner, depth);
                format!("{kind}, extent: extent{name}, unframe: unframe{name}{form}, inner: {inner}")
            }
            Shape::Desc(inner) => format!("{}, inner: {}", kind("kDesc"), self.node(inner, depth)),
            Shape::Hashed { hash, keep, inner, .. } => {
                format!("{}, {}", kind("kHashed"), self.hashed(shape, *hash, *keep, inner, depth))
            }
            Shape::HashConcat { hash, keep, inner } => {
                let (kind, hash) = (kind("kHashConcat"), regular::hash_function(*hash));
                format!("{kind}, keep: {keep}, hash: {hash}, inner: {}", self.node(inner, depth))
            }
        }
    }

    /// The fields of a byte string.
    fn bytes_fields(&mut self, lengths: &LengthSet, encoding: &BytesEncoding) -> String {
        let fields = match encoding {
            BytesEncoding::Wide { signed, form } => return Self::wide(*signed, *form, lengths),
            BytesEncoding::Raw => "decode: decodeBytes, longest: longestBytes".to_owned(),
            BytesEncoding::Class(class) => {
                let class = self.alphabet_of(class.bits());
                format!("decode: decodeClass, longest: longestClass, alphabet: {class}")
            }
            BytesEncoding::Hex(case) => {
                format!("decode: decodeHexBytes, longest: longestHexBytes, {}", Self::case(*case))
            }
            BytesEncoding::Base58 { check } => {
                format!("decode: decodeBase58, longest: longestBase58, counted: {check}")
            }
            BytesEncoding::Tuple => "decode: decodeTupleBytes, extent: extentTupleBytes".to_owned(),
            encoding => {
                let text = |text: &str| Self::bytes(text.as_bytes());
                regular::bytes_fields(encoding, text, |name| Self::constant(&format!("loss{name}")))
            }
        };
        format!("{fields}, lens: {}", Self::lengths(lengths))
    }

    /// The fields of a text.
    fn text_fields(&mut self, text: &TextShape) -> String {
        let codec = if text.tuple {
            "decode: decodeTupleText, extent: extentTupleText"
        } else {
            "decode: decodeText, longest: longestText"
        };
        let alphabet = self.alphabet_of(text.alphabet.bits());
        let first = text.first.map_or_else(String::new, |first| {
            format!(", first: {}{}", Self::POINTER, self.alphabet_of(first.bits()))
        });
        let except: Vec<String> = text.except.texts().iter().map(|one| Self::text(one)).collect();
        let except = if except.is_empty() {
            String::new()
        } else {
            format!(", except: {}", Self::list("[]string", &except.join(", ")))
        };
        format!("{codec}, alphabet: {alphabet}{first}{except}, lens: {}", Self::lengths(&text.lengths))
    }

    /// The call after what is inside of a frame, complemented, or hashed.
    fn closing(shape: &Shape) -> Closing {
        let plain = |function: &str| (function.to_owned(), String::new());
        let hashed = |function: &str, hash: Hash, keep: usize| {
            (function.to_owned(), format!(", {}, {keep}", regular::hash_function(hash)))
        };
        let mut outcome = Outcome::Moves;
        let (function, arguments) = match shape {
            Shape::Framed { frame: Frame::Len(width), .. } => {
                outcome = Outcome::MayRefuse;
                ("frameLen".to_owned(), format!(", {}", Self::len_width(*width)))
            }
            Shape::Framed { frame: Frame::Terminated, .. } => ("frameEscaped".to_owned(), ", 2".to_owned()),
            Shape::Framed { frame: Frame::Escaped, .. } => ("frameEscaped".to_owned(), ", 1".to_owned()),
            Shape::Framed { frame, .. } => plain(&format!("frame{}", regular::frame_name(*frame))),
            Shape::Hashed { hash, keep, .. } => hashed("hashTail", *hash, *keep),
            Shape::HashConcat { hash, keep, .. } => hashed("hashFront", *hash, *keep),
            _ => {
                outcome = Outcome::Stays;
                plain("complementTail")
            }
        };
        Closing { function, arguments, outcome }
    }
}

/// A call after what a shape is written around.
pub(crate) struct Closing {
    /// The function, which is given what was written and the place where that begins.
    pub(crate) function: String,
    /// What it is given beside them.
    pub(crate) arguments: String,
    pub(crate) outcome: Outcome,
}

/// What a call does to the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Others are in their place.
    Stays,
    /// There are more or fewer of them.
    Moves,
    /// The same, or there are too many.
    MayRefuse,
}

fn most<R: Runtime>(width: Width) -> String {
    width.max.map_or_else(|| "-1".to_owned(), R::limit)
}

/// The field that says what an encoding loses.
fn loss<R: Runtime>(name: &str) -> String {
    format!(", loss: {}", R::constant(&format!("loss{name}")))
}

fn scalar_fields<R: Runtime>(scalar: &Scalar) -> String {
    let fields = scalar.fields();
    match (scalar.loses(), scalar.is_float()) {
        (true, _) => fields + &loss::<R>(&scalar.name),
        (false, true) => fields + &loss::<R>("Zero"),
        (false, false) => fields,
    }
}

/// The bits that a decoder reads at full width, and otherwise those of a built-in type.
const fn node_bits(int: &IntShape) -> u32 {
    match int.encoding {
        IntEncoding::Be | IntEncoding::Le | IntEncoding::Low(_) | IntEncoding::High(_) => int.ty.bits,
        _ => int.ty.native_bits(),
    }
}

fn int_fields<R: Runtime>(int: &IntShape) -> String {
    let [least, most] = R::ends(int.range);
    let signed = if int.ty.signed { ", signed: true" } else { "" };
    let plain = |name: &str| format!("decode: decode{name}");
    let open = |name: &str| format!("decode: decode{name}, longest: longest{name}");
    let marked = |name: &str, extent: &str| format!("decode: decode{name}, extent: extent{extent}");
    let lossy = |name: &str| plain(name) + &loss::<R>(name);
    let codec = match int.encoding {
        IntEncoding::Be => plain("BE"),
        IntEncoding::Le => plain("LE"),
        IntEncoding::SignFlip => plain("SignFlip"),
        IntEncoding::Tick9 => plain("Tick9"),
        IntEncoding::Dec => open("Dec"),
        IntEncoding::DecPadded(_) => plain("DecPadded"),
        IntEncoding::Hex(case) => format!("{}, {}", open("HexInt"), R::case(case)),
        IntEncoding::HexPadded(case, _) => format!("{}, {}", plain("HexPadded"), R::case(case)),
        IntEncoding::Leb128 => marked("LEB128", "Septets"),
        IntEncoding::OrdVar => marked("OrdVar", "OrdVar"),
        IntEncoding::BitcoinVarint => marked("BitcoinVarint", "Septets"),
        IntEncoding::Saturating => lossy("Saturating"),
        IntEncoding::Low(_) => lossy("Low"),
        IntEncoding::High(_) => lossy("High"),
        IntEncoding::Float => lossy("IntFloat"),
        IntEncoding::OrderedCode => marked("OrderedInt", "OrderedInt"),
        IntEncoding::Tuple => marked("TupleInt", "TupleInt"),
        encoding => regular::fields(encoding.row()),
    };
    format!("{codec}, bits: {}{signed}, least: {least}, most: {most}", node_bits(int))
}

/// What a single value is in JSON.
fn kind(shape: &Shape) -> Option<&'static str> {
    Some(match shape {
        Shape::Int(_) => "Int",
        Shape::Bool(_) => "Bool",
        Shape::Float(_) => "Float",
        Shape::Score { encoding, .. } if encoding.is_float() => "Float",
        Shape::Time(_) => "Time",
        Shape::Score { .. } => "Score",
        Shape::Bytes { encoding: BytesEncoding::Wide { .. }, .. } => "Wide",
        Shape::Bytes { .. } | Shape::Opaque(_) => "Bytes",
        Shape::Text(_) => "Text",
        Shape::Nibbles { .. } => "Nibbles",
        _ => return None,
    })
}
