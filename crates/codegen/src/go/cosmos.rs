//! Adapters for Cosmos modules: iteration over a store's ranges, and codecs for `collections`.

use std::fmt::Write as _;

use keyplan_plan::model::{Extent, Segment, Shape};

use super::Go;
use super::names::quoted;

impl Go<'_> {
    /// A codec for every family of which the arguments are in the key.
    pub(crate) fn cosmos(&mut self) -> String {
        let mut out = String::from("var _ = Each[Iter]\n\nvar _ = EachOf[Iter]\n\n");
        for (_, family) in self.plan.families() {
            let go = self.families.get(family.path.as_str()).cloned().unwrap_or_default();
            let hashed = family.key.segments().iter().any(|segment| match segment {
                Segment::Argument(argument) => matches!(argument.shape, Shape::Hashed { .. }),
                _ => false,
            });
            let over = if hashed { " Arguments that are hashed are their digests." } else { "" };
            let name = self.scope.fresh(&format!("{go}KeyCodec"));
            let (prefix, decode) =
                (self.derived(&format!("{go}Prefix")), self.derived(&format!("Decode{go}")));
            let marked = !matches!(family.key.extent(), Extent::Open);
            let _ = writeln!(
                out,
                "// {name} is the codec of a collection over `{}` whose prefix is {prefix}.{over}\nfunc {name}() KeyCodec[{go}] {{\n\treturn KeyCodec[{go}]{{\n\t\t{}, {prefix}, &layout{go}, {marked},\n\t\tfunc(key {go}, dst []byte) ([]byte, error) {{\n\t\t\treturn key.AppendTo(dst)\n\t\t}},\n\t\t{decode},\n\t\tfunc(key {go}) []val {{\n\t\t\treturn key.vals()\n\t\t}},\n\t\tfrom{go},\n\t}}\n}}\n",
                family.path,
                quoted(family.path.as_bytes()),
            );
        }
        out
    }
}
