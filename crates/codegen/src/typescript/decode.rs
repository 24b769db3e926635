//! Straight decoding, for layouts of which every segment has one possible end and is of a simple kind.

use std::fmt::Write as _;

use keyplan_plan::model::{BytesEncoding, IntEncoding, IntShape, LengthSet, Segment, Sequence, Shape};
use keyplan_plan::program::{End, Program};

use super::TypeScript;
use super::encode::{is_upper, left_out, lengths};
use super::names::bytes;
use super::types::properties;

impl TypeScript<'_> {
    /// The body of `(b: Uint8Array): T | null`, which reads what it can; `None` for a layout that takes the search.
    pub(crate) fn straight(&mut self, sequence: &Sequence) -> Option<String> {
        let program = Program::of(sequence);
        if !program.is_direct() || program.steps.is_empty() {
            return None;
        }
        let width = sequence.width();
        let (min, fixed) = (width.min, width.max == Some(width.min));
        let mut out = format!("  if (b.length {} {min}) return null;\n", if fixed { "!==" } else { "<" });
        let names = properties(sequence, false);
        let mut fields = names.iter();
        let mut at = Place::Known(0);
        for (index, step) in program.steps.iter().enumerate() {
            let room = |size: usize, at: &Place| match at {
                Place::Known(_) => String::new(),
                Place::Unknown => format!("b.length - at < {size} || "),
            };
            match (step.segment, step.end) {
                (Segment::Literal(literal), _) => {
                    let start = at.text(0);
                    let test = match literal.bytes.as_slice() {
                        [one] => format!("{}b[{start}] !== 0x{one:02x}", room(1, &at)),
                        many => format!("!hasPrefix(b, {start}, {})", bytes(many)),
                    };
                    let _ = writeln!(out, "  if ({test}) return null;");
                    at.advance(literal.bytes.len(), &mut out);
                }
                (Segment::Argument(argument), End::Fixed(size)) => {
                    let name = fields.next()?;
                    if matches!(at, Place::Unknown) {
                        let _ = writeln!(out, "  if (b.length - at < {size}) return null;");
                    }
                    out.push_str(&fixed_argument(name, &argument.shape, &at, size)?);
                    at.advance(size, &mut out);
                }
                (Segment::Argument(argument), End::Rest | End::Run) => {
                    let name = fields.next()?;
                    let rest = format!("b.subarray({})", at.text(0));
                    if step.end == End::Rest {
                        out.push_str(&self.open(name, &argument.shape, &rest)?);
                        return Some(finished(out, &names, None));
                    }
                    let run = self.run_of(&argument.shape, &rest)?;
                    let _ = writeln!(out, "  const end${index} = {} + {run};", at.text(0));
                    let piece = format!("b.subarray({}, end${index})", at.text(0));
                    out.push_str(&self.open(name, &argument.shape, &piece)?);
                    let _ = writeln!(
                        out,
                        "  {}at = end${index};",
                        if matches!(at, Place::Known(_)) { "let " } else { "" }
                    );
                    at = Place::Unknown;
                }
                _ => return None,
            }
        }
        let end = matches!(at, Place::Unknown).then_some("at === b.length");
        Some(finished(out, &names, end))
    }

    /// How far an open argument goes, where it ends before a literal.
    fn run_of(&mut self, shape: &Shape, rest: &str) -> Option<String> {
        match shape {
            Shape::Int(int) if is_plain_decimal(int) => Some(format!("digitRun({rest})")),
            Shape::Bytes { encoding: BytesEncoding::Hex(case), .. } => {
                Some(format!("hexRun({}, {rest})", is_upper(*case)))
            }
            Shape::Text(text) if text.first.is_none() => {
                Some(format!("alphabetRun({}, {rest})", self.alphabet(text.alphabet.bits())))
            }
            _ => None,
        }
    }

    /// The statements that read an argument of several lengths from all of `piece`.
    fn open(&mut self, name: &str, shape: &Shape, piece: &str) -> Option<String> {
        let unless = |test: &str| format!("  if ({test}) return null;\n");
        Some(match shape {
            Shape::Int(int) if is_plain_decimal(int) => {
                let mut out = format!("  const {name}$ = decimal({piece});\n");
                let most = u64::MAX >> (64 - int.ty.bits);
                if int.ty.bits == 64 {
                    out += &unless(&format!("{name}$ === null"));
                } else if int.ty.bits > 32 {
                    out += &unless(&format!("{name}$ === null || {name}$ > {most}n"));
                } else {
                    out = out.replace(&format!("{name}$"), &format!("{name}$$"));
                    out += &unless(&format!("{name}$$ === null || {name}$$ > {most}n"));
                    let _ = writeln!(out, "  const {name}$ = Number({name}$$);");
                }
                out
            }
            Shape::Bytes { lengths: of, encoding: BytesEncoding::Hex(case) } => {
                let digits = format!("  const {name}$$ = {piece};\n");
                let bad = format!(
                    "{name}$$.length % 2 !== 0 || hexRun({}, {name}$$) < {name}$$.length || !admits({}, {name}$$.length / 2)",
                    is_upper(*case),
                    lengths(of)
                );
                digits + &unless(&bad) + &format!("  const {name}$ = unhex({name}$$);\n")
            }
            Shape::Bytes { lengths: of, encoding: BytesEncoding::Raw } => {
                let read = format!("  const {name}$ = {}\n", piece.replace("subarray", "slice") + ";");
                if *of == LengthSet::ANY {
                    read
                } else {
                    read + &unless(&format!("!admits({}, {name}$.length)", lengths(of)))
                }
            }
            Shape::Opaque(_) => format!("  const {name}$ = {};\n", piece.replace("subarray", "slice")),
            Shape::Text(text) if !text.tuple => {
                let (alphabet, first) = self.alphabets_of(text);
                let lens = lengths(&text.lengths);
                let read = format!("  const {name}$ = textOf({piece}, {alphabet}, {first}, {lens});\n");
                let left_out = if text.except.is_empty() {
                    String::new()
                } else {
                    format!(" || [{}].includes({name}$)", left_out(text))
                };
                read + &unless(&format!("{name}$ === null{left_out}"))
            }
            _ => return None,
        })
    }
}

fn finished(mut out: String, names: &[String], end: Option<&str>) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name}: {name}$")).collect();
    let object = if names.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", names.join(", ")) };
    let _ = match end {
        Some(end) => writeln!(out, "  return {end} ? {object} : null;"),
        None => writeln!(out, "  return {object};"),
    };
    if out.contains("view.") {
        format!("  const view = new DataView(b.buffer, b.byteOffset, b.length);\n{out}")
    } else {
        out
    }
}

fn is_plain_decimal(int: &IntShape) -> bool {
    int.encoding == IntEncoding::Dec && !int.ty.signed && int.ty.bits <= 64 && int.range == int.ty.range()
}

/// Where the next segment begins: a number while the offset is known, then a variable.
enum Place {
    Known(usize),
    Unknown,
}

impl Place {
    fn text(&self, more: usize) -> String {
        match self {
            Self::Known(at) => (at + more).to_string(),
            Self::Unknown if more == 0 => "at".to_owned(),
            Self::Unknown => format!("at + {more}"),
        }
    }

    fn advance(&mut self, size: usize, out: &mut String) {
        match self {
            Self::Known(at) => *at += size,
            Self::Unknown => {
                let _ = writeln!(out, "  at += {size};");
            }
        }
    }
}

/// The statements that read an argument of one length.
fn fixed_argument(name: &str, shape: &Shape, at: &Place, size: usize) -> Option<String> {
    let (start, end) = (at.text(0), at.text(size));
    Some(match shape {
        Shape::Int(int) if int.range == int.ty.range() && int.ty.bits <= 64 => {
            let (bits, sign) = (int.ty.bits, if int.ty.signed { "Int" } else { "Uint" });
            let big = if bits == 64 { "Big" } else { "" };
            let little = if int.encoding == IntEncoding::Le && bits > 8 { ", true" } else { "" };
            match int.encoding {
                IntEncoding::Be | IntEncoding::Le if int.ty.is_narrow() => {
                    let piece = format!("b.subarray({start}, {end})");
                    let piece = if little.is_empty() { piece } else { format!("reversed({piece})") };
                    let number = format!("bigEndian({piece})");
                    let number = if bits <= 32 { format!("Number({number})") } else { number };
                    format!("  const {name}$ = {number};\n")
                }
                IntEncoding::Be | IntEncoding::Le => {
                    format!("  const {name}$ = view.get{big}{sign}{bits}({start}{little});\n")
                }
                IntEncoding::Tick9 => format!(
                    "  const {name}$ = view.getBigInt64({});\n  if (b[{start}] !== ({name}$ < 0n ? 5 : 6)) return null;\n",
                    at.text(1)
                ),
                _ => return None,
            }
        }
        // Every digest is one, whether its name is known or not.
        Shape::Bytes { encoding: BytesEncoding::Raw, .. } | Shape::Hashed { .. } => {
            format!("  const {name}$ = b.slice({start}, {end});\n")
        }
        Shape::Bytes { encoding: BytesEncoding::Hex(case), .. } => format!(
            "  const {name}$$ = b.subarray({start}, {end});\n  if (hexRun({}, {name}$$) < {size}) return null;\n  const {name}$ = unhex({name}$$);\n",
            is_upper(*case)
        ),
        _ => return None,
    })
}
