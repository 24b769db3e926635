//! What Go gives its runtime, as Go writes it.

use keyplan_codec::{Case, Hash, LenWidth, WideForm};
use keyplan_plan::model::{Derivation, IntRange, LengthSet, Sequence, Shape};

use super::Go;
use super::encode::{derive_function, hex_form, len_width, lengths, limit, number, pair, range_words};
use super::names::quoted;
use crate::regular;
use crate::runtime::Runtime;

impl Runtime for Go<'_> {
    const INDENT: &'static str = "\t";
    const POINTER: &'static str = "&";

    fn object(ty: &str, fields: &str) -> String {
        format!("{ty}{{{fields}}}")
    }

    fn list(ty: &str, elements: &str) -> String {
        format!("{ty}{{{elements}}}")
    }

    fn whole(sequence: &Sequence, steps: &str) -> String {
        let width = sequence.width();
        let (min, max) = (number(width.min), width.max.map_or_else(|| "-1".to_owned(), limit));
        let plain = if sequence.is_plain() { ", plain: true" } else { "" };
        let steps = if steps.is_empty() { String::new() } else { format!(", steps: []step{{{steps}}}") };
        format!("layout{{min: {min}, max: {max}{plain}{steps}}}")
    }

    fn constant(name: &str) -> String {
        name.to_owned()
    }

    fn show(kind: &str) -> String {
        // It is what a node without the field is.
        if kind == "Int" { String::new() } else { format!("show: j{kind}, ") }
    }

    fn text(text: &str) -> String {
        quoted(text.as_bytes())
    }

    fn bytes(bytes: &[u8]) -> String {
        quoted(bytes)
    }

    fn length(length: usize) -> String {
        number(length)
    }

    fn limit(max: usize) -> String {
        limit(max)
    }

    fn lengths(of: &LengthSet) -> String {
        lengths(of)
    }

    fn ends(range: IntRange) -> [String; 2] {
        range_words(range).map(pair)
    }

    fn modulus(modulus: u64) -> String {
        modulus.to_string()
    }

    fn case(case: Case) -> String {
        format!("form: {}", hex_form(case))
    }

    fn len_width(width: LenWidth) -> String {
        len_width(width).to_owned()
    }

    fn derivation(function: Derivation) -> &'static str {
        derive_function(function)
    }

    fn wide(signed: bool, form: WideForm, lengths: &LengthSet) -> String {
        let decode = match form {
            WideForm::Be => "decodeBytes",
            WideForm::Le => "decodeReversed",
            WideForm::SignFlip => "decodeTurned",
        };
        format!("decode: {decode}, signed: {signed}, lens: {}", Self::lengths(lengths))
    }

    fn names(_: &Sequence, _: bool) -> Vec<String> {
        Vec::new()
    }

    fn marks(_: &Shape) -> &'static str {
        ""
    }

    fn alphabet_of(&mut self, bits: [u64; 4]) -> String {
        self.alphabet(bits)
    }

    fn hashed(&mut self, shape: &Shape, hash: Hash, _: usize, inner: &Shape, depth: usize) -> String {
        let ((keep, known), inner) = (self.known(shape), self.node(inner, depth));
        format!("keep: {keep}, hash: {}, known: {known}, inner: {inner}", regular::hash_function(hash))
    }
}
