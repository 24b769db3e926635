//! From the search's values to arguments, and back: expressions over `val`.

use keyplan_plan::model::{BytesEncoding, Shape};

use super::Go;
use super::tree::{Inside, Row, Tree};

impl<'p> Go<'p> {
    /// The argument that the value `of` stands for.
    pub(crate) fn argument_of(&mut self, tree: &Tree<'p>, of: &str, depth: usize) -> String {
        match &tree.inside {
            Inside::Leaf => from_leaf(tree, of),
            Inside::Record(row) => self.struct_from(&tree.go, row, of, depth),
            Inside::Enum(_) => format!("{}({of}.i)", tree.go),
            Inside::Choice(_) => format!("{}({of})", choice_of(&tree.go)),
            Inside::Option(inner) => {
                let inside = self.argument_of(inner, "v", depth + 1);
                format!("optionOf({of}, {})", closure("val", &inner.go, &inside, depth))
            }
            Inside::List(list) => {
                let inside = self.argument_of(&list.item, "v", depth + 1);
                format!("listOf({of}, {})", closure("val", &list.item.go, &inside, depth))
            }
            Inside::Wrapped(inner) => self.argument_of(inner, of, depth),
            Inside::Hashed => {
                let (keep, known) = self.known(tree.shape);
                format!("{}(*(*[{keep}]byte)(digestOf({of}, {known})))", tree.go)
            }
        }
    }

    /// A struct from the values in `of.l`.
    pub(crate) fn struct_from(&mut self, go: &str, row: &Row<'p>, of: &str, depth: usize) -> String {
        let fields: Vec<String> = row
            .fields
            .iter()
            .enumerate()
            .map(|(index, (name, tree))| {
                format!("{name}: {}", self.argument_of(tree, &format!("{of}.l[{index}]"), depth))
            })
            .collect();
        format!("{go}{{{}}}", fields.join(", "))
    }

    /// The value of the argument `of`.
    pub(crate) fn value_of(&mut self, tree: &Tree<'p>, of: &str, depth: usize) -> String {
        match &tree.inside {
            Inside::Leaf => to_leaf(tree, of),
            Inside::Record(row) => format!("val{{l: {}}}", self.values_of(row, of, depth)),
            Inside::Enum(_) => format!("val{{i: int({of})}}"),
            Inside::Choice(_) => format!("choiceVal({of})"),
            Inside::Option(inner) => {
                let inside = self.value_of(inner, "v", depth + 1);
                format!("optionVal({of}, {})", closure(&inner.go, "val", &inside, depth))
            }
            Inside::List(list) => {
                let inside = self.value_of(&list.item, "v", depth + 1);
                format!("listVal({of}, {})", closure(&list.item.go, "val", &inside, depth))
            }
            Inside::Wrapped(inner) => self.value_of(inner, of, depth),
            Inside::Hashed => format!("digestVal({of}[:], {})", self.known(tree.shape).1),
        }
    }

    /// The values of a struct.
    pub(crate) fn values_of(&mut self, row: &Row<'p>, of: &str, depth: usize) -> String {
        let values: Vec<String> = row
            .fields
            .iter()
            .map(|(name, tree)| self.value_of(tree, &format!("{of}.{name}"), depth))
            .map(|value| element(&value).to_owned())
            .collect();
        format!("[]val{{{}}}", values.join(", "))
    }
}

/// A value inside of `[]val{…}`, where a literal needs no type.
fn element(value: &str) -> &str {
    value.strip_prefix("val").filter(|rest| rest.starts_with('{')).unwrap_or(value)
}

/// A function of `v` on a line that is indented `depth` times.
fn closure(from: &str, to: &str, inside: &str, depth: usize) -> String {
    let indent = "\t".repeat(depth);
    format!("func(v {from}) {to} {{\n{indent}\treturn {inside}\n{indent}}}")
}

/// The function that makes a choice of a value.
pub(crate) fn choice_of(go: &str) -> String {
    format!("of{go}")
}

fn is_array(go: &str) -> bool {
    go.starts_with('[') && !go.starts_with("[]")
}

fn from_leaf(tree: &Tree<'_>, of: &str) -> String {
    match tree.shape {
        Shape::Int(int) => match (int.ty.signed, int.ty.bits) {
            (false, 128) => format!("Uint128{{{of}.hi, {of}.lo}}"),
            (true, 128) => format!("Int128{{int64({of}.hi), {of}.lo}}"),
            (false, 64) => format!("{of}.lo"),
            _ => format!("{}({of}.lo)", tree.go),
        },
        Shape::Bool(_) => format!("{of}.lo != 0"),
        Shape::Float(_) => format!("math.Float64frombits({of}.lo)"),
        Shape::Time(_) => format!("timeOf({of})"),
        Shape::Score { .. } if tree.go == "HeightScore" => {
            format!("HeightScore(math.Float64frombits({of}.lo))")
        }
        Shape::Score { .. } => format!("scoreOf({of})"),
        Shape::Bytes { .. } if is_array(&tree.go) => format!("*(*{})({of}.b)", tree.go),
        Shape::Text(_) => format!("{}({of}.b)", tree.go),
        _ => format!("clipped({of}.b)"),
    }
}

fn to_leaf(tree: &Tree<'_>, of: &str) -> String {
    match tree.shape {
        Shape::Int(int) => match (int.ty.signed, int.ty.bits) {
            (false, 128) => format!("val{{hi: {of}.Hi, lo: {of}.Lo}}"),
            (true, 128) => format!("val{{hi: uint64({of}.Hi), lo: {of}.Lo}}"),
            (false, 64) => format!("val{{lo: {of}}}"),
            (true, 64) => format!("val{{hi: uint64({of} >> 63), lo: uint64({of})}}"),
            (false, _) => format!("val{{lo: uint64({of})}}"),
            (true, _) => format!("val{{hi: uint64(int64({of}) >> 63), lo: uint64({of})}}"),
        },
        Shape::Bool(_) => format!("boolVal({of})"),
        Shape::Float(_) => format!("floatVal({of})"),
        Shape::Time(_) => format!("timeVal({of})"),
        Shape::Score { .. } if tree.go == "HeightScore" => format!("floatVal(float64({of}))"),
        Shape::Score { .. } => format!("scoreVal({of})"),
        Shape::Bytes { encoding: BytesEncoding::Fit(_), .. } => format!("val{{b: {of}}}"),
        Shape::Bytes { .. } if is_array(&tree.go) => format!("val{{b: {of}[:]}}"),
        Shape::Text(_) => format!("val{{b: []byte({of})}}"),
        _ => format!("val{{b: {of}}}"),
    }
}
