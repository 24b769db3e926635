//! Adapters for Cosmos modules: iteration over a store's ranges, and codecs of keys and values for `collections`.

use std::fmt::Write as _;

use keyplan_plan::model::{Extent, Segment, Shape};

use super::Go;
use super::names::quoted;

impl Go<'_> {
    /// A codec for the keys of every family, and one for what it holds.
    pub(crate) fn cosmos(&mut self) -> String {
        let mut out = String::new();
        for (_, family) in self.plan.families() {
            let go = self.families.get(family.path.as_str()).cloned().unwrap_or_default();
            let hashed = family.key.segments().iter().any(|segment| match segment {
                Segment::Argument(argument) => matches!(argument.shape, Shape::Hashed { .. }),
                _ => false,
            });
            let over = if hashed { " Arguments that are hashed are their digests." } else { "" };
            let name = self.scope.fresh(&format!("{go}KeyCodec"));
            let (prefix, decode) = (self.derived(&go, "{}Prefix"), self.derived(&go, "Decode{}"));
            let marked = !matches!(family.key.extent(), Extent::Open);
            let _ = writeln!(
                out,
                "// {name} is the codec of a collection over `{}` whose prefix is {prefix}.{over}\nfunc {name}() KeyCodec[{go}] {{\n\treturn KeyCodec[{go}]{{\n\t\t{}, {prefix}, &layout{go}, {marked},\n\t\tfunc(key {go}, dst []byte) ([]byte, error) {{\n\t\t\treturn key.AppendTo(dst)\n\t\t}},\n\t\t{decode},\n\t\tfunc(key {go}) []val {{\n\t\t\treturn key.vals()\n\t\t}},\n\t\tfrom{go},\n\t}}\n}}\n",
                family.path,
                quoted(family.path.as_bytes()),
            );
        }
        for (path, go) in std::mem::take(&mut self.values) {
            let (name, decode) = (self.derived(&go, "{}Codec"), self.derived(&go, "Decode{}"));
            let _ = writeln!(
                out,
                "// {name} is the codec of what a collection holds as `{path}`.\nfunc {name}() ValueCodec[{go}] {{\n\treturn ValueCodec[{go}]{{\n\t\t{}, &layout{go},\n\t\tfunc(value {go}) ([]byte, error) {{\n\t\t\treturn value.Bytes()\n\t\t}},\n\t\t{decode},\n\t\tfunc(value {go}) []val {{\n\t\t\treturn value.vals()\n\t\t}},\n\t\tfrom{go},\n\t}}\n}}\n",
                quoted(path.as_bytes()),
            );
        }
        out
    }
}
