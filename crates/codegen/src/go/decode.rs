//! Straight decoding, for layouts of which every segment has one possible end and is of a simple kind.

use std::fmt::Write as _;

use keyplan_plan::model::{BytesEncoding, IntEncoding, LengthSet, Segment, Shape};
use keyplan_plan::program::{End, Program};

use super::Go;
use super::encode::{hex_form, left_out, lengths, number};
use super::names::quoted;
use super::tree::{Inside, Row};

/// What a function that reads straight on gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// What it has read and whether that is all: the quickest for numbers.
    Both,
    /// Whether that is all; arrays are read to where they stay, and not copied.
    Whether,
}

impl Returns {
    pub(crate) fn of(row: &Row<'_>) -> Self {
        let arrays = row.fields.iter().any(|(_, tree)| {
            matches!(tree.inside, Inside::Hashed) || (tree.go.starts_with('[') && !tree.go.starts_with("[]"))
        });
        if arrays { Self::Whether } else { Self::Both }
    }

    fn with(self, ok: &str) -> String {
        match self {
            Self::Both => format!("return k, {ok}"),
            Self::Whether => format!("return {ok}"),
        }
    }
}

impl<'p> Go<'p> {
    /// The body of `func(key []byte) (k T, ok bool)`, or of `func(key []byte, k *T) bool`, whose statements return as
    /// [`Returns`] says; `None` for a layout that takes the search.
    pub(crate) fn straight(&mut self, row: &Row<'p>, returns: Returns) -> Option<String> {
        let fail = returns.with("false");
        let program = Program::of(row.sequence);
        if !program.is_direct() || program.steps.is_empty() {
            return None;
        }
        let width = row.sequence.width();
        let min = number(width.min);
        let mut out = match width.max {
            Some(max) if max == width.min => format!("\tif len(key) != {min} {{\n\t\t{fail}\n\t}}\n"),
            _ => format!("\tif len(key) < {min} {{\n\t\t{fail}\n\t}}\n"),
        };
        // A number while the offset is known, then a variable.
        let mut at = Place::Known(0);
        let mut fields = row.fields.iter();
        for (index, step) in program.steps.iter().enumerate() {
            let (start, known) = (at.text(0), matches!(at, Place::Known(_)));
            match (step.segment, step.end) {
                (Segment::Literal(literal), _) => {
                    let size = literal.bytes.len();
                    let short = if known { String::new() } else { format!("len(key)-at < {size} || ") };
                    let test = match literal.bytes.as_slice() {
                        [one] => format!("key[{start}] != 0x{one:02x}"),
                        // In an expression of several operators gofmt leaves out the spaces.
                        bytes if !known => {
                            format!("string(key[{start}:{}]) != {}", at.text(size), quoted(bytes))
                        }
                        bytes => format!("string({}) != {}", piece(&start, &at.text(size)), quoted(bytes)),
                    };
                    let _ = writeln!(out, "\tif {short}{test} {{\n\t\t{fail}\n\t}}");
                    at.advance(size, &mut out, index + 1 == program.steps.len());
                }
                (Segment::Argument(argument), End::Fixed(size)) => {
                    let (name, tree) = fields.next()?;
                    if !matches!(tree.inside, Inside::Leaf | Inside::Hashed) {
                        return None;
                    }
                    if !known {
                        let _ = writeln!(out, "\tif len(key)-at < {size} {{\n\t\t{fail}\n\t}}");
                    }
                    let pieces = [0, 1].map(|skipped| piece(&at.text(skipped), &at.text(size)));
                    out.push_str(&fixed(name, &argument.shape, &tree.go, &pieces, &start, &fail)?);
                    at.advance(size, &mut out, index + 1 == program.steps.len());
                }
                (Segment::Argument(argument), End::Rest | End::Run) => {
                    let (name, tree) = fields.next()?;
                    let rest = format!("key[{start}:]");
                    let size = self.run_of(&argument.shape, &rest, step.end, &tree.go)?;
                    let piece = if step.end == End::Rest {
                        rest
                    } else {
                        let _ = writeln!(out, "\tsize{index} := {size}");
                        let end =
                            if known { format!("{start}+size{index}") } else { format!("at+size{index}") };
                        piece(&start, &end)
                    };
                    out.push_str(&self.open(name, &argument.shape, &tree.go, &piece, &fail)?);
                    if step.end == End::Run {
                        let line = if known {
                            format!("\tat := {start} + size{index}\n")
                        } else {
                            format!("\tat += size{index}\n")
                        };
                        out.push_str(&line);
                        at = Place::Unknown;
                    } else {
                        return Some(format!("{out}\t{}\n", returns.with("true")));
                    }
                }
                _ => return None,
            }
        }
        if let Place::Unknown = at {
            let _ = writeln!(out, "\t{}", returns.with("at == len(key)"));
        } else {
            let _ = writeln!(out, "\t{}", returns.with("true"));
        }
        Some(out)
    }

    /// How far an open argument goes, where it ends before a literal.
    fn run_of(&mut self, shape: &Shape, rest: &str, end: End, go: &str) -> Option<String> {
        if end == End::Rest {
            return Some(String::new());
        }
        match shape {
            Shape::Int(int) if int.encoding == IntEncoding::Dec && !int.ty.signed && int.ty.bits <= 64 => {
                Some(format!("digitRun({rest})"))
            }
            Shape::Bytes { encoding: BytesEncoding::Hex(case), .. } => {
                Some(format!("hexRun({}, {rest})", hex_form(*case)))
            }
            Shape::Text(text) if text.first.is_none() && go == "string" => {
                Some(format!("alphabetRun(&{}, {rest})", self.alphabet(text.alphabet.bits())))
            }
            _ => None,
        }
    }

    /// The statements that read an argument of several lengths from all of `piece`.
    fn open(&mut self, name: &str, shape: &Shape, go: &str, piece: &str, fail: &str) -> Option<String> {
        Some(match shape {
            Shape::Int(int)
                if int.encoding == IntEncoding::Dec
                    && !int.ty.signed
                    && int.ty.bits <= 64
                    && int.range == int.ty.range() =>
            {
                let most = u64::MAX >> (64 - int.ty.bits);
                let value = if int.ty.bits == 64 { "n".to_owned() } else { format!("{go}(n)") };
                let bound = if int.ty.bits == 64 { String::new() } else { format!(" || n > {most}") };
                format!(
                    "\tif n, ok := decimal({piece}); !ok{bound} {{\n\t\t{fail}\n\t}} else {{\n\t\tk.{name} = {value}\n\t}}\n"
                )
            }
            Shape::Bytes { lengths: of, encoding: BytesEncoding::Hex(case) } if go == "[]byte" => format!(
                "\tif piece := {piece}; len(piece)%2 != 0 || !({}).admits(len(piece)/2) {{\n\t\t{fail}\n\t}} else if k.{name} = make([]byte, len(piece)/2); !unhexed({}, k.{name}, piece) {{\n\t\t{fail}\n\t}}\n",
                lengths(of),
                hex_form(*case)
            ),
            Shape::Bytes { lengths: of, encoding: BytesEncoding::Raw } if go == "[]byte" => {
                let admits = if *of == LengthSet::ANY {
                    String::new()
                } else {
                    format!("\tif !({}).admits(len(k.{name})) {{\n\t\t{fail}\n\t}}\n", lengths(of))
                };
                format!("\tk.{name} = clipped({piece})\n{admits}")
            }
            Shape::Opaque(_) => format!("\tk.{name} = clipped({piece})\n"),
            Shape::Text(text) if !text.tuple && go == "string" => {
                let alphabet = if text.alphabet.bits() == [u64::MAX; 4] && text.first.is_none() {
                    "nil".to_owned()
                } else {
                    format!("&{}", self.alphabet(text.alphabet.bits()))
                };
                let first = text
                    .first
                    .map_or_else(|| "nil".to_owned(), |first| format!("&{}", self.alphabet(first.bits())));
                format!(
                    "\tk.{name} = string({piece})\n\tif !isText(k.{name}, {alphabet}, {first}, {}){} {{\n\t\t{fail}\n\t}}\n",
                    lengths(&text.lengths),
                    if text.except.is_empty() {
                        String::new()
                    } else {
                        format!(" || leftOut(k.{name}, {})", left_out(text))
                    }
                )
            }
            _ => return None,
        })
    }
}

/// A slice of the key, spaced as gofmt does.
fn piece(start: &str, end: &str) -> String {
    if start.contains('+') || end.contains('+') {
        format!("key[{start} : {end}]")
    } else {
        format!("key[{start}:{end}]")
    }
}

/// Where the next segment begins.
enum Place {
    Known(usize),
    Unknown,
}

impl Place {
    fn text(&self, more: usize) -> String {
        match self {
            Self::Known(at) => (at + more).to_string(),
            Self::Unknown if more == 0 => "at".to_owned(),
            Self::Unknown => format!("at+{more}"),
        }
    }

    fn advance(&mut self, size: usize, out: &mut String, _last: bool) {
        match self {
            Self::Known(at) => *at += size,
            Self::Unknown if size == 1 => out.push_str("\tat++\n"),
            Self::Unknown => {
                let _ = writeln!(out, "\tat += {size}");
            }
        }
    }
}

/// The statements that read an argument of one length from all of its bytes, or from those after the first of them.
fn fixed(
    name: &str,
    shape: &Shape,
    go: &str,
    [piece, rest]: &[String; 2],
    start: &str,
    fail: &str,
) -> Option<String> {
    Some(match shape {
        Shape::Int(int) if int.range == int.ty.range() && int.ty.bits <= 64 => {
            let (bits, signed) = (int.ty.bits, int.ty.signed);
            let number = |order: &str| {
                if bits == 8 {
                    format!("key[{start}]")
                } else {
                    format!("binary.{order}Endian.Uint{bits}({piece})")
                }
            };
            match int.encoding {
                IntEncoding::Be | IntEncoding::Le if int.ty.is_narrow() => {
                    let order = if int.encoding == IntEncoding::Be { "big" } else { "little" };
                    format!("\tk.{name} = {go}({order}Word({piece}))\n")
                }
                IntEncoding::Be | IntEncoding::Le => {
                    let number = number(if int.encoding == IntEncoding::Be { "Big" } else { "Little" });
                    format!("\tk.{name} = {}\n", if signed { format!("{go}({number})") } else { number })
                }
                IntEncoding::SignFlip => format!("\tk.{name} = {go}({} ^ 1<<{})\n", number("Big"), bits - 1),
                IntEncoding::Tick9 => {
                    format!(
                        "\tk.{name} = int64(binary.BigEndian.Uint64({rest}))\n\tif key[{start}] != 6-byte(uint64(k.{name})>>63) {{\n\t\t{fail}\n\t}}\n"
                    )
                }
                _ => return None,
            }
        }
        // Every digest is one, whether its name is known or not.
        Shape::Bytes { encoding: BytesEncoding::Raw, .. } | Shape::Hashed { .. } if go != "[]byte" => {
            format!("\tk.{name} = *(*{go})({piece})\n")
        }
        Shape::Bytes { encoding: BytesEncoding::Hex(case), .. } if go != "[]byte" => {
            format!("\tif !unhexed({}, k.{name}[:], {piece}) {{\n\t\t{fail}\n\t}}\n", hex_form(*case))
        }
        _ => return None,
    })
}
