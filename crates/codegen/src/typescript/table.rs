//! What TypeScript gives its runtime, as TypeScript writes it.

use keyplan_codec::{Case, Hash, LenWidth, WideForm};
use keyplan_plan::model::{Derivation, IntRange, LengthSet, Sequence, Shape};

use super::TypeScript;
use super::encode::{derive_function, is_upper, len_width, lengths, range, wide_range};
use super::names::{bytes, text};
use super::types::{is_labels, properties};
use crate::runtime::Runtime;

impl Runtime for TypeScript<'_> {
    const INDENT: &'static str = "  ";
    const POINTER: &'static str = "";

    fn object(_: &str, fields: &str) -> String {
        format!("{{ {fields} }}")
    }

    fn list(_: &str, elements: &str) -> String {
        format!("[{elements}]")
    }

    fn whole(sequence: &Sequence, steps: &str) -> String {
        format!("{{ plain: {}, steps: [{steps}] }}", sequence.is_plain())
    }

    /// `lossFloatBadger` is `LOSS_FLOAT_BADGER`.
    fn constant(name: &str) -> String {
        let mut out = String::new();
        for c in name.chars() {
            if c.is_ascii_uppercase() {
                out.push('_');
            }
            out.push(c.to_ascii_uppercase());
        }
        out
    }

    fn show(kind: &str) -> String {
        let kind = if kind == "Wide" { "Int" } else { kind };
        format!("show: '{}', ", kind.to_ascii_lowercase())
    }

    fn text(of: &str) -> String {
        text(of)
    }

    fn bytes(of: &[u8]) -> String {
        bytes(of)
    }

    fn length(length: usize) -> String {
        length.to_string()
    }

    fn limit(max: usize) -> String {
        max.to_string()
    }

    fn lengths(of: &LengthSet) -> String {
        lengths(of)
    }

    fn ends(of: IntRange) -> [String; 2] {
        range(of).map(|end| format!("{end}n"))
    }

    fn modulus(modulus: u64) -> String {
        format!("{modulus}n")
    }

    fn case(case: Case) -> String {
        format!("upper: {}", is_upper(case))
    }

    fn len_width(width: LenWidth) -> String {
        len_width(width)
    }

    fn derivation(function: Derivation) -> &'static str {
        derive_function(function)
    }

    fn wide(signed: bool, form: WideForm, _: &LengthSet) -> String {
        let [least, most] = wide_range(signed);
        let decode = match form {
            WideForm::Be => "decodeBE",
            WideForm::Le => "decodeLE",
            WideForm::SignFlip => "decodeSignFlip",
        };
        format!("decode: {decode}, bits: 256, signed: {signed}, least: {least}n, most: {most}n")
    }

    fn names(sequence: &Sequence, tagged: bool) -> Vec<String> {
        properties(sequence, tagged).iter().map(|name| format!("name: {}, ", text(name))).collect()
    }

    fn marks(shape: &Shape) -> &'static str {
        let is_boxed = shape.inner().and_then(Shape::optional).is_some();
        match (is_labels(shape), is_boxed) {
            (true, _) => "labels: true, ",
            (false, true) => "boxed: true, ",
            (false, false) => "",
        }
    }

    fn alphabet_of(&mut self, bits: [u64; 4]) -> String {
        self.alphabet(bits)
    }

    fn hashed(&mut self, shape: &Shape, _: Hash, keep: usize, _: &Shape, _: usize) -> String {
        format!("keep: {keep}, known: {}", self.known(shape))
    }
}
