//! Layouts as tables, which the search reads.

use std::fmt::Write as _;

use keyplan_codec::WideForm;
use keyplan_plan::model::{
    BytesEncoding, Extent, Frame, Framing, IntEncoding, IntShape, Segment, Sequence, Shape, Width,
};
use keyplan_plan::program::Program;

use super::TypeScript;
use super::encode::{
    derive_function, hash_function, is_upper, left_out, len_width, lengths, range, wide_range,
};
use super::names::{bytes, text};
use super::types::{is_boxed, is_labels, properties};
use crate::regular::{self, Scalar, score_range};

impl TypeScript<'_> {
    /// `{ plain, steps }` on several lines, the first without indentation.
    pub(crate) fn layout(&mut self, sequence: &Sequence, tagged: bool, depth: usize) -> String {
        let program = Program::of(sequence);
        let indent = "  ".repeat(depth);
        let names = properties(sequence, tagged);
        let mut steps = String::new();
        for (step, &extent) in program.steps.iter().zip(sequence.extents()) {
            let tail = format!("tail: [{}, {}]", step.after.min, most(step.after));
            let label = text(step.segment.label());
            let line = match step.segment {
                Segment::Literal(literal) => {
                    format!("{{ kind: S_LITERAL, label: {label}, lit: {} }}", bytes(&literal.bytes))
                }
                Segment::Argument(argument) => {
                    let node = self.ending(&argument.shape, extent, depth + 1);
                    let unnamed = if argument.name.is_none() { "unnamed: true, " } else { "" };
                    let name = step.argument.and_then(|index| names.get(index)).map_or("", String::as_str);
                    let name = text(name);
                    format!(
                        "{{ kind: S_ARGUMENT, label: {label}, name: {name}, {unnamed}{tail}, n: {node} }}"
                    )
                }
                Segment::Same(same) => {
                    let (node, of) =
                        (self.ending(&same.shape, extent, depth + 1), sequence.arguments_before(same.of));
                    format!("{{ kind: S_SAME, label: {label}, {tail}, of: {of}, n: {node} }}")
                }
                Segment::Derived(derived) => {
                    let node = int_node(&derived.shape);
                    let from: Vec<String> = derived.of.iter().map(ToString::to_string).collect();
                    let modulus = derived.modulus.and_then(|modulus| u64::try_from(modulus).ok());
                    let modulus =
                        modulus.map_or_else(String::new, |modulus| format!("modulus: {modulus}n, "));
                    let (from, function) = (from.join(", "), derive_function(derived.function));
                    format!(
                        "{{ kind: S_DERIVED, label: {label}, from: [{from}], derive: {function}, {modulus}n: {node} }}"
                    )
                }
            };
            let _ = writeln!(steps, "{indent}  {line},");
        }
        let plain = sequence.is_plain();
        if steps.is_empty() {
            return format!("{{ plain: {plain}, steps: [] }}");
        }
        format!("{{ plain: {plain}, steps: [\n{steps}{indent}] }}")
    }

    /// `{ end, min, max, … }`.
    fn node(&mut self, shape: &Shape, depth: usize) -> String {
        self.ending(shape, shape.extent(), depth)
    }

    /// The node of a shape that ends as said: what comes after it may take its own mark away.
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each encoding")]
    fn ending(&mut self, shape: &Shape, extent: Extent, depth: usize) -> String {
        let head = head(extent, Width::of_shape(shape));
        let rest = match shape {
            Shape::Int(int) => return int_node(int),
            Shape::Bool(_) | Shape::Float(_) | Shape::Time(_) => {
                Scalar::of(shape).map_or_else(String::new, |scalar| scalar_fields(&scalar))
            }
            Shape::Score { heights, encoding } => {
                let [any, within] = encoding.codecs();
                let loss = if encoding.is_float() { ", loss: LOSS_ZERO" } else { "" };
                match heights {
                    None => format!("decode: decode{any}{loss}"),
                    Some(heights) => {
                        let [least, most] = score_range(*heights, *encoding);
                        format!("decode: decode{within}{loss}, least: {least}n, most: {most}n")
                    }
                }
            }
            Shape::Bytes { encoding: BytesEncoding::Wide { signed, form }, .. } => {
                let [least, most] = wide_range(*signed);
                let decode = match form {
                    WideForm::Be => "decodeBE",
                    WideForm::Le => "decodeLE",
                    WideForm::SignFlip => "decodeSignFlip",
                };
                format!("decode: {decode}, bits: 256, signed: {signed}, least: {least}n, most: {most}n")
            }
            Shape::Bytes { lengths: of, encoding } => {
                let of = lengths(of);
                match encoding {
                    BytesEncoding::Raw => {
                        format!("decode: decodeBytes, longest: longestBytes, lens: {of}")
                    }
                    BytesEncoding::Class(class) => {
                        let class = self.alphabet(class.bits());
                        format!("decode: decodeClass, longest: longestClass, alphabet: {class}, lens: {of}")
                    }
                    BytesEncoding::Hex(case) => {
                        let upper = is_upper(*case);
                        format!(
                            "decode: decodeHexBytes, longest: longestHexBytes, upper: {upper}, lens: {of}"
                        )
                    }
                    BytesEncoding::Base58 { check } => {
                        format!("decode: decodeBase58, longest: longestBase58, counted: {check}, lens: {of}")
                    }
                    // Above: it is not a byte string in TypeScript.
                    BytesEncoding::Wide { .. } => String::new(),
                    BytesEncoding::Tuple => {
                        format!("decode: decodeTupleBytes, extent: extentTupleBytes, lens: {of}")
                    }
                    encoding => {
                        let (text, loss) = (|text: &str| bytes(text.as_bytes()), loss_of);
                        format!("{}, lens: {of}", regular::bytes_fields(encoding, text, loss))
                    }
                }
            }
            Shape::Text(shape) => {
                let (of, alphabet) = (lengths(&shape.lengths), self.alphabet(shape.alphabet.bits()));
                let first = shape
                    .first
                    .map_or_else(String::new, |first| format!(", first: {}", self.alphabet(first.bits())));
                let codec = if shape.tuple {
                    "decode: decodeTupleText, extent: extentTupleText"
                } else {
                    "decode: decodeText, longest: longestText"
                };
                let except = if shape.except.is_empty() {
                    String::new()
                } else {
                    format!(", except: [{}]", left_out(shape))
                };
                format!("{codec}, alphabet: {alphabet}{first}{except}, lens: {of}")
            }
            Shape::Nibbles { lengths: of, .. } => {
                let fields = Scalar::of(shape).map_or_else(String::new, |scalar| scalar.fields());
                format!("{fields}, lens: {}", lengths(of))
            }
            Shape::Opaque(_) => "decode: decodeOpaque".to_owned(),
            Shape::Record(sequence) => {
                format!("kind: K_RECORD, seq: {}", self.layout(sequence, false, depth))
            }
            Shape::Choice(alternatives) => {
                let indent = "  ".repeat(depth);
                let mut all = String::new();
                for one in alternatives {
                    let seq = self.layout(&one.sequence, true, depth + 1);
                    let _ = writeln!(all, "{indent}  {{ label: {}, seq: {seq} }},", text(&one.label));
                }
                let labels = if is_labels(shape) { "labels: true, " } else { "" };
                format!("kind: K_CHOICE, {labels}alts: [\n{all}{indent}]")
            }
            Shape::Option(inner) => {
                let boxed = if is_boxed(inner) { "boxed: true, " } else { "" };
                format!("kind: K_OPTION, {boxed}inner: {}", self.node(inner, depth))
            }
            Shape::List { item, counts, framing } => {
                let how = match framing {
                    Framing::ToEnd => String::new(),
                    Framing::Joined(separator) => format!(", sep: {}", bytes(separator)),
                    Framing::Counted(width) => format!(", counted: true, form: {}", len_width(*width)),
                };
                format!(
                    "kind: K_LIST, lens: {}{how}, inner: {}",
                    lengths(counts),
                    self.ending(item, Extent::of_item(item, framing), depth)
                )
            }
            Shape::Framed { frame, inner } => {
                let (name, form) = (regular::frame_name(*frame), frame_form(*frame));
                let inner = self.node(inner, depth);
                format!("kind: K_FRAMED, extent: extent{name}, unframe: unframe{name}{form}, inner: {inner}")
            }
            Shape::Desc(inner) => format!("kind: K_DESC, inner: {}", self.node(inner, depth)),
            Shape::Hashed { keep, .. } => {
                let known = self.known(shape);
                format!("kind: K_HASHED, keep: {keep}, known: {known}")
            }
            Shape::HashConcat { hash, keep, inner } => {
                let (hash, inner) = (hash_function(*hash), self.node(inner, depth));
                format!("kind: K_HASH_CONCAT, keep: {keep}, hash: {hash}, inner: {inner}")
            }
        };
        let show = show(shape);
        format!("{{ {head}, {show}{rest} }}")
    }
}

fn scalar_fields(scalar: &Scalar) -> String {
    let fields = scalar.fields();
    match (scalar.loses(), scalar.is_float()) {
        (true, _) => format!("{fields}, loss: {}", loss_of(&scalar.name)),
        (false, true) => format!("{fields}, loss: LOSS_ZERO"),
        (false, false) => fields,
    }
}

/// How the length in front of what is framed is written.
fn frame_form(frame: Frame) -> String {
    if let Frame::Len(width) = frame { format!(", form: {}", len_width(width)) } else { String::new() }
}

/// The constant for what an encoding loses.
fn loss_of(name: &str) -> String {
    format!("LOSS_{}", constant(name))
}

/// A name as constants are written: `FloatBadger` is `FLOAT_BADGER`.
fn constant(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

fn most(width: Width) -> String {
    width.max.map_or_else(|| "-1".to_owned(), |max| max.to_string())
}

fn head(extent: Extent, width: Width) -> String {
    let end = match extent {
        Extent::Fixed(_) => "END_FIXED",
        Extent::Delimited => "END_MARKED",
        Extent::Open => "END_OPEN",
    };
    format!("end: {end}, min: {}, max: {}", width.min, most(width))
}

fn int_node(int: &IntShape) -> String {
    let [least, most] = range(int.range);
    let signed = if int.ty.signed { ", signed: true" } else { "" };
    let codec = match int.encoding {
        IntEncoding::Be => "decode: decodeBE".to_owned(),
        IntEncoding::Le => "decode: decodeLE".to_owned(),
        IntEncoding::SignFlip => "decode: decodeSignFlip".to_owned(),
        IntEncoding::Tick9 => "decode: decodeTick9".to_owned(),
        IntEncoding::Dec => "decode: decodeDec, longest: longestDec".to_owned(),
        IntEncoding::DecPadded(_) => "decode: decodeDecPadded".to_owned(),
        IntEncoding::Hex(case) => {
            format!("decode: decodeHexInt, longest: longestHexInt, upper: {}", is_upper(case))
        }
        IntEncoding::HexPadded(case, _) => format!("decode: decodeHexPadded, upper: {}", is_upper(case)),
        IntEncoding::Leb128 => "decode: decodeLEB128, extent: extentSeptets".to_owned(),
        IntEncoding::OrdVar => "decode: decodeOrdVar, extent: extentOrdVar".to_owned(),
        IntEncoding::BitcoinVarint => "decode: decodeBitcoinVarint, extent: extentSeptets".to_owned(),
        IntEncoding::Saturating => "decode: decodeSaturating, loss: LOSS_SATURATING".to_owned(),
        IntEncoding::Low(_) => "decode: decodeLow, loss: LOSS_LOW".to_owned(),
        IntEncoding::High(_) => "decode: decodeHigh, loss: LOSS_HIGH".to_owned(),
        IntEncoding::Float => "decode: decodeIntFloat, loss: LOSS_INT_FLOAT".to_owned(),
        IntEncoding::OrderedCode => "decode: decodeOrderedInt, extent: extentOrderedInt".to_owned(),
        IntEncoding::Tuple => "decode: decodeTupleInt, extent: extentTupleInt".to_owned(),
        encoding => regular::fields(encoding.row()),
    };
    let width = Width::of_shape(&Shape::Int(int.clone()));
    let head = head(Extent::of_int(int), width);
    // The bits that a decoder reads at full width, and otherwise those of a built-in type.
    let bits = match int.encoding {
        IntEncoding::Be | IntEncoding::Le | IntEncoding::Low(_) | IntEncoding::High(_) => int.ty.bits,
        _ => int.ty.native_bits(),
    };
    format!("{{ {head}, show: 'int', {codec}, bits: {bits}{signed}, least: {least}n, most: {most}n }}")
}

/// What a single value is in JSON.
fn show(shape: &Shape) -> &'static str {
    match shape {
        Shape::Bool(_) => "show: 'bool', ",
        Shape::Float(_) => "show: 'float', ",
        Shape::Score { encoding, .. } if encoding.is_float() => "show: 'float', ",
        Shape::Time(_) => "show: 'time', ",
        Shape::Score { .. } => "show: 'score', ",
        Shape::Bytes { encoding: BytesEncoding::Wide { .. }, .. } => "show: 'int', ",
        Shape::Bytes { .. } | Shape::Opaque(_) => "show: 'bytes', ",
        Shape::Text(_) => "show: 'text', ",
        Shape::Nibbles { .. } => "show: 'nibbles', ",
        Shape::Int(_)
        | Shape::Record(_)
        | Shape::Choice(_)
        | Shape::Option(_)
        | Shape::List { .. }
        | Shape::Framed { .. }
        | Shape::Desc(_)
        | Shape::Hashed { .. }
        | Shape::HashConcat { .. } => "",
    }
}
