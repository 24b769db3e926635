//! Layouts as tables, which the search reads.

use std::fmt::Write as _;

use keyplan_codec::WideForm;
use keyplan_plan::model::{
    BytesEncoding, Extent, Frame, Framing, IntEncoding, IntShape, Segment, Sequence, Shape, Width,
};
use keyplan_plan::program::Program;

use super::Go;
use super::encode::{
    derive_function, hash_function, hex_form, left_out, len_width, lengths, limit, number, pair, range_words,
};
use super::names::quoted;
use crate::regular::{self, Scalar, score_range};

impl Go<'_> {
    /// `layout{…}` on several lines, the first without indentation.
    pub(crate) fn layout(&mut self, sequence: &Sequence, depth: usize) -> String {
        let program = Program::of(sequence);
        let indent = "\t".repeat(depth);
        let mut steps = String::new();
        for (step, &extent) in program.steps.iter().zip(sequence.extents()) {
            let tail = format!("tail: [2]int{{{}, {}}}", number(step.after.min), most(step.after));
            let label = quoted(step.segment.label().as_bytes());
            let text = match step.segment {
                Segment::Literal(literal) => {
                    format!("{{kind: sLiteral, label: {label}, lit: {}}}", quoted(&literal.bytes))
                }
                Segment::Argument(argument) => {
                    let node = self.ending(&argument.shape, extent, depth);
                    let unnamed = if argument.name.is_none() { "unnamed: true, " } else { "" };
                    format!("{{kind: sArgument, label: {label}, {unnamed}{tail}, n: {node}}}")
                }
                Segment::Same(same) => {
                    let (node, of) =
                        (self.ending(&same.shape, extent, depth), sequence.arguments_before(same.of));
                    format!("{{kind: sSame, label: {label}, {tail}, of: {of}, n: {node}}}")
                }
                Segment::Derived(derived) => {
                    let node = int_node(&derived.shape);
                    let from: Vec<String> = derived.of.iter().map(ToString::to_string).collect();
                    let modulus = derived.modulus.and_then(|modulus| u64::try_from(modulus).ok());
                    let modulus = modulus.map_or_else(String::new, |modulus| format!("modulus: {modulus}, "));
                    let (from, function) = (from.join(", "), derive_function(derived.function));
                    format!(
                        "{{kind: sDerived, label: {label}, from: []int{{{from}}}, derive: {function}, {modulus}n: {node}}}"
                    )
                }
            };
            let _ = writeln!(steps, "{indent}\t{text},");
        }
        let (width, plain) = (sequence.width(), if sequence.is_plain() { "plain: true, " } else { "" });
        let head = format!("min: {}, max: {}, {plain}", number(width.min), most(width));
        if steps.is_empty() {
            return format!("layout{{{}}}", head.trim_end_matches(", "));
        }
        format!("layout{{{head}steps: []step{{\n{steps}{indent}}}}}")
    }

    /// `&node{…}`.
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
                let loss = if encoding.is_float() { ", loss: lossZero" } else { "" };
                match heights {
                    None => format!("decode: decode{any}{loss}"),
                    Some(heights) => {
                        let [least, most] = score_range(*heights, *encoding).map(pair);
                        format!("decode: decode{within}{loss}, least: {least}, most: {most}")
                    }
                }
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
                        let form = hex_form(*case);
                        format!("decode: decodeHexBytes, longest: longestHexBytes, form: {form}, lens: {of}")
                    }
                    BytesEncoding::Base58 { check } => {
                        format!("decode: decodeBase58, longest: longestBase58, counted: {check}, lens: {of}")
                    }
                    BytesEncoding::Wide { signed, form } => {
                        let decode = match form {
                            WideForm::Be => "decodeBytes",
                            WideForm::Le => "decodeReversed",
                            WideForm::SignFlip => "decodeTurned",
                        };
                        format!("decode: {decode}, signed: {signed}, lens: {of}")
                    }
                    BytesEncoding::Tuple => {
                        format!("decode: decodeTupleBytes, extent: extentTupleBytes, lens: {of}")
                    }
                    encoding => {
                        let text = |text: &str| quoted(text.as_bytes());
                        let fields = regular::bytes_fields(encoding, text, |name| format!("loss{name}"));
                        format!("{fields}, lens: {of}")
                    }
                }
            }
            Shape::Text(text) => {
                let (of, alphabet) = (lengths(&text.lengths), self.alphabet(text.alphabet.bits()));
                let first = text
                    .first
                    .map_or_else(String::new, |first| format!(", first: &{}", self.alphabet(first.bits())));
                let codec = if text.tuple {
                    "decode: decodeTupleText, extent: extentTupleText"
                } else {
                    "decode: decodeText, longest: longestText"
                };
                let except = if text.except.is_empty() {
                    String::new()
                } else {
                    format!(", except: []string{{{}}}", left_out(text))
                };
                format!("{codec}, alphabet: {alphabet}{first}{except}, lens: {of}")
            }
            Shape::Nibbles { lengths: of, .. } => {
                let fields = Scalar::of(shape).map_or_else(String::new, |scalar| scalar.fields());
                format!("{fields}, lens: {}", lengths(of))
            }
            Shape::Opaque(_) => "decode: decodeOpaque".to_owned(),
            Shape::Record(sequence) => format!("kind: kRecord, seq: &{}", self.layout(sequence, depth + 1)),
            Shape::Choice(alternatives) => {
                let indent = "\t".repeat(depth + 1);
                let mut all = String::new();
                for one in alternatives {
                    let seq = self.layout(&one.sequence, depth + 2);
                    let _ =
                        writeln!(all, "{indent}\t{{label: {}, seq: &{seq}}},", quoted(one.label.as_bytes()));
                }
                format!("kind: kChoice, alts: []alternative{{\n{all}{indent}}}")
            }
            Shape::Option(inner) => format!("kind: kOption, inner: {}", self.node(inner, depth)),
            Shape::List { item, counts, framing } => {
                let how = match framing {
                    Framing::ToEnd => String::new(),
                    Framing::Joined(separator) => format!(", sep: {}", quoted(separator)),
                    Framing::Counted(width) => format!(", counted: true, form: {}", len_width(*width)),
                };
                format!(
                    "kind: kList, lens: {}{how}, inner: {}",
                    lengths(counts),
                    self.ending(item, Extent::of_item(item, framing), depth)
                )
            }
            Shape::Framed { frame, inner } => {
                let (name, form) = (regular::frame_name(*frame), frame_form(*frame));
                let inner = self.node(inner, depth);
                format!("kind: kFramed, extent: extent{name}, unframe: unframe{name}{form}, inner: {inner}")
            }
            Shape::Desc(inner) => format!("kind: kDesc, inner: {}", self.node(inner, depth)),
            Shape::Hashed { hash, inner, .. } => {
                let ((keep, known), inner) = (self.known(shape), self.node(inner, depth));
                let hash = hash_function(*hash);
                format!("kind: kHashed, keep: {keep}, hash: {hash}, known: {known}, inner: {inner}")
            }
            Shape::HashConcat { hash, keep, inner } => {
                let (hash, inner) = (hash_function(*hash), self.node(inner, depth));
                format!("kind: kHashConcat, keep: {keep}, hash: {hash}, inner: {inner}")
            }
        };
        let show = show(shape);
        format!("&node{{{head}, {show}{rest}}}")
    }
}

/// How the length in front of what is framed is written.
fn frame_form(frame: Frame) -> String {
    if let Frame::Len(width) = frame { format!(", form: {}", len_width(width)) } else { String::new() }
}

fn scalar_fields(scalar: &Scalar) -> String {
    let fields = scalar.fields();
    match (scalar.loses(), scalar.is_float()) {
        (true, _) => format!("{fields}, loss: loss{}", scalar.name),
        (false, true) => format!("{fields}, loss: lossZero"),
        (false, false) => fields,
    }
}

fn most(width: Width) -> String {
    width.max.map_or_else(|| "-1".to_owned(), limit)
}

fn head(extent: Extent, width: Width) -> String {
    let end = match extent {
        Extent::Fixed(_) => "endFixed",
        Extent::Delimited => "endMarked",
        Extent::Open => "endOpen",
    };
    format!("end: {end}, min: {}, max: {}", number(width.min), most(width))
}

/// The bits that a decoder reads at full width, and otherwise those of the Go type.
const fn node_bits(int: &IntShape) -> u32 {
    match int.encoding {
        IntEncoding::Be | IntEncoding::Le | IntEncoding::Low(_) | IntEncoding::High(_) => int.ty.bits,
        _ => int.ty.native_bits(),
    }
}

fn int_node(int: &IntShape) -> String {
    let [least, most] = range_words(int.range);
    let signed = if int.ty.signed { ", signed: true" } else { "" };
    let codec = match int.encoding {
        IntEncoding::Be => "decode: decodeBE".to_owned(),
        IntEncoding::Le => "decode: decodeLE".to_owned(),
        IntEncoding::SignFlip => "decode: decodeSignFlip".to_owned(),
        IntEncoding::Tick9 => "decode: decodeTick9".to_owned(),
        IntEncoding::Dec => "decode: decodeDec, longest: longestDec".to_owned(),
        IntEncoding::DecPadded(_) => "decode: decodeDecPadded".to_owned(),
        IntEncoding::Hex(case) => {
            format!("decode: decodeHexInt, longest: longestHexInt, form: {}", hex_form(case))
        }
        IntEncoding::HexPadded(case, _) => format!("decode: decodeHexPadded, form: {}", hex_form(case)),
        IntEncoding::Leb128 => "decode: decodeLEB128, extent: extentSeptets".to_owned(),
        IntEncoding::OrdVar => "decode: decodeOrdVar, extent: extentOrdVar".to_owned(),
        IntEncoding::BitcoinVarint => "decode: decodeBitcoinVarint, extent: extentSeptets".to_owned(),
        IntEncoding::Saturating => "decode: decodeSaturating, loss: lossSaturating".to_owned(),
        IntEncoding::Low(_) => "decode: decodeLow, loss: lossLow".to_owned(),
        IntEncoding::High(_) => "decode: decodeHigh, loss: lossHigh".to_owned(),
        IntEncoding::Float => "decode: decodeIntFloat, loss: lossIntFloat".to_owned(),
        IntEncoding::OrderedCode => "decode: decodeOrderedInt, extent: extentOrderedInt".to_owned(),
        IntEncoding::Tuple => "decode: decodeTupleInt, extent: extentTupleInt".to_owned(),
        encoding => regular::fields(encoding.row()),
    };
    let width = Width::of_shape(&Shape::Int(int.clone()));
    let head = head(Extent::of_int(int), width);
    format!(
        "&node{{{head}, {codec}, bits: {}{signed}, least: {}, most: {}}}",
        node_bits(int),
        pair(least),
        pair(most)
    )
}

/// What a single value is in JSON.
fn show(shape: &Shape) -> &'static str {
    match shape {
        Shape::Bool(_) => "show: jBool, ",
        Shape::Float(_) => "show: jFloat, ",
        Shape::Score { encoding, .. } if encoding.is_float() => "show: jFloat, ",
        Shape::Time(_) => "show: jTime, ",
        Shape::Score { .. } => "show: jScore, ",
        Shape::Bytes { encoding: BytesEncoding::Wide { .. }, .. } => "show: jWide, ",
        Shape::Bytes { .. } | Shape::Opaque(_) => "show: jBytes, ",
        Shape::Text(_) => "show: jText, ",
        Shape::Nibbles { .. } => "show: jNibbles, ",
        _ => "",
    }
}
