//! The package's own tests: vectors, fuzz targets, allocations.

use std::fmt::Write as _;

use super::Go;
use super::names::quoted;

/// Where a package's vectors are.
pub(crate) const VECTORS: &str = "testdata/keyplan.jsonl";

impl Go<'_> {
    /// The table of layouts with the test over all vectors, and the fuzz targets.
    pub(crate) fn tests(&mut self) -> (String, String) {
        let mut table = String::new();
        let mut fuzz = String::new();
        let parts = std::mem::take(&mut self.parts);
        for part in &parts {
            let decode = self.derived(&part.go, "Decode{}");
            let target = self.derived(&part.go, "Fuzz{}");
            let (path, go) = (quoted(part.path.as_bytes()), &part.go);
            let unguarded = if part.guarded { "AppendUnguarded" } else { "AppendTo" };
            let _ = write!(
                table,
                "\t{path}: {{\n\t\t&layout{go},\n\t\tfunc(values []val, dst []byte) ([]byte, error) {{\n\t\t\treturn from{go}(val{{l: values}}).AppendTo(dst)\n\t\t}},\n\t\tfunc(values []val, dst []byte) ([]byte, error) {{\n\t\t\treturn from{go}(val{{l: values}}).{unguarded}(dst)\n\t\t}},\n\t\tfunc(b []byte) ([]val, error) {{\n\t\t\tk, err := {decode}(b)\n\t\t\tif err != nil {{\n\t\t\t\treturn nil, err\n\t\t\t}}\n\t\t\treturn k.vals(), nil\n\t\t}},\n\t\tfunc(values []val) float64 {{\n\t\t\tk := from{go}(val{{l: values}})\n\t\t\tmade, _ := k.{unguarded}(nil)\n\t\t\troom := make([]byte, 0, 1<<10+2*len(made))\n\t\t\treturn testing.AllocsPerRun(3, func() {{\n\t\t\t\t_, _ = k.{unguarded}(room)\n\t\t\t}})\n\t\t}},\n\t}},\n"
            );
            let _ = writeln!(
                fuzz,
                "func {target}(f *testing.F) {{\n\tfuzzPart(f, {}, {path}, vectorParts[{path}])\n}}\n",
                quoted(VECTORS.as_bytes())
            );
        }
        self.parts = parts;
        let mut out = map("vectorParts", "vectorPart", &table);
        table.clear();
        for (decode, disjoint, paths) in &self.spaces {
            for path in paths {
                let path = quoted(path.as_bytes());
                let _ = writeln!(table, "\t{path}: {{\n\t\tfamilyBy({decode}),\n\t\t{disjoint},\n\t}},");
            }
        }
        out.push_str(&map("vectorSpaces", "vectorSpace", &table));
        table.clear();
        for (words, body) in &self.scanned_by {
            let words = quoted(words.as_bytes());
            let _ = write!(
                table,
                "\t{words}: func(values []val, derived val, bound string) (Range, error) {{\n{body}\t}},\n"
            );
        }
        out.push_str(&map("vectorScans", "vectorScan", &table));
        let _ = write!(
            out,
            "func TestVectors(t *testing.T) {{\n\trunVectors(t, {}, vectorParts, vectorSpaces, vectorScans)\n}}\n",
            quoted(VECTORS.as_bytes())
        );
        (out, fuzz)
    }
}

/// The table of that name; one without entries is on one line.
fn map(name: &str, of: &str, entries: &str) -> String {
    let open = if entries.is_empty() { "" } else { "\n" };
    format!("var {name} = map[string]{of}{{{open}{entries}}}\n\n")
}
