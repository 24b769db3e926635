//! The function of an upgrade handler: rows of an older plan become rows of this one, by the mapping that the prover derives.
//!
//! It is made only where everything is proved: each row of a family that moves has one new key, no two have the same, and none is an
//! old key that may still be there. What is not proved, or has no Go, is refused by the name of its family.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use keyplan_plan::Compiled;
use keyplan_plan::diag::{Code, Diagnostic, Span};
use keyplan_plan::dynamic::Value;
use keyplan_plan::mapping::{Arguments, Carried, Course, Passage, Place, Source, bare, leaves};
use keyplan_plan::model::{Family, FamilyKind, Plan, Sequence, Shape, Space};
use keyplan_prover::{Decision, MigrationProof, Options as ProverOptions, prove_migration};

use super::names::{exported, quoted};
use super::{Go, Options};
use crate::naming::wanted_names;

/// The older plan, and what was proved of the way from it.
pub(crate) struct Before<'p> {
    compiled: &'p Compiled,
    plan: &'p Plan,
    proof: MigrationProof,
}

impl<'p> Before<'p> {
    /// Derives and proves the way from `old` to `new`, or says what speaks against it.
    pub(crate) fn new(old: &'p Compiled, new: &'p Plan) -> Result<Self, Vec<Diagnostic>> {
        let errors: Vec<Diagnostic> = old.errors().cloned().collect();
        let Some(plan) = old.plan.as_ref().filter(|_| errors.is_empty()) else {
            let message = "the older plan has mistakes";
            return Err(vec![refused(
                message,
                new.spaces.first().map(|space| space.span).unwrap_or_default(),
            )]);
        };
        let proof = prove_migration(plan, new, &ProverOptions::default());
        let mut problems = Vec::new();
        for duty in &proof.duties {
            let proved = matches!(duty.decision, Decision::Proved | Decision::Assumed(_));
            if !proved {
                problems.push(refused(&format!("the handler needs what is not proved: {duty}"), duty.span));
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self { compiled: old, plan, proof })
    }
}

fn refused(message: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code::TooLarge, format!("there is no Go for this migration: {message}"), span, "here")
}

/// An argument list as an expression over the values of the old row.
struct Expression<'a> {
    arguments: &'a Arguments,
    old: &'a Sequence,
    value: Option<&'a Sequence>,
    whole: &'a Sequence,
}

impl Expression<'_> {
    /// `[]val{…}`, or what has no Go.
    fn list(&self, new: &Sequence, base: &[usize]) -> Result<String, String> {
        let mut all = Vec::new();
        for (index, argument) in new.arguments().enumerate() {
            let path: Vec<usize> = base.iter().copied().chain([index]).collect();
            let source = self.arguments.sources.iter().find(|(place, _)| *place == path);
            all.push(match (source.map(|(_, source)| source), argument.shape.record()) {
                (Some(Source::Constant(value)), _) => constant(value)?,
                (Some(Source::Key(from)), _) => {
                    let (before, _) = leaves(self.old, self.whole);
                    let leaf =
                        before.iter().find(|leaf| leaf.path == *from).ok_or("the arguments are others")?;
                    converted(leaf.shape, &argument.shape, &place("old", from))?
                }
                (Some(Source::Value(from)), _) => {
                    let index = from.first().copied().unwrap_or_default();
                    let found = self.value.and_then(|value| value.arguments().nth(index));
                    let found = found.ok_or("the value has no such argument")?;
                    converted(&found.shape, &argument.shape, &place("beside", from))?
                }
                (None, Some(inner)) => format!("{{l: {}}}", self.list(inner, &path)?),
                (None, None) => "{}".to_owned(),
            });
        }
        Ok(format!("[]val{{{}}}", all.join(", ")))
    }
}

/// The value at a path: `old[1].l[0]`.
fn place(of: &str, path: &[usize]) -> String {
    let mut out = of.to_owned();
    for (depth, index) in path.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = if depth == 0 { write!(out, "[{index}]") } else { write!(out, ".l[{index}]") };
    }
    out
}

/// A value of one shape as one of another. That it is one is proved.
fn converted(old: &Shape, new: &Shape, of: &str) -> Result<String, String> {
    if same_form(old, new) {
        return Ok(of.to_owned());
    }
    match bare(new).optional() {
        Some(inner) if bare(old).optional().is_none() && same_form(old, inner) => {
            Ok(format!("someVal({of})"))
        }
        _ => Err(format!("{} become {}", old.kind(), new.kind())),
    }
}

/// Whether a value of the one shape is held as the same value of the other.
fn same_form(old: &Shape, new: &Shape) -> bool {
    let row = |a: &Sequence, b: &Sequence| {
        a.argument_count() == b.argument_count()
            && a.arguments()
                .zip(b.arguments())
                .all(|(a, b)| a.name == b.name && same_form(&a.shape, &b.shape))
    };
    match (bare(old), bare(new)) {
        (a, b) if a == b => true,
        (Shape::Int(_), Shape::Int(_))
        | (Shape::Bool(_), Shape::Bool(_))
        | (Shape::Float(_), Shape::Float(_))
        | (Shape::Time(_), Shape::Time(_))
        | (Shape::Bytes { .. } | Shape::Text(_), Shape::Bytes { .. } | Shape::Text(_))
        | (Shape::Nibbles { .. }, Shape::Nibbles { .. }) => true,
        (a, b) if a.is_leaf() || a.kind() != b.kind() => false,
        (a, b) => {
            a.inner().zip(b.inner()).is_none_or(|(a, b)| same_form(a, b))
                && a.rows().count() == b.rows().count()
                && a.labelled().zip(b.labelled()).all(|((label, a), (other, b))| label == other && row(a, b))
        }
    }
}

fn constant(value: &Value) -> Result<String, String> {
    let words = |number: u128| {
        let (hi, lo) = (number >> 64, number & u128::from(u64::MAX));
        format!("{{hi: {hi}, lo: {lo}}}")
    };
    Ok(match value {
        Value::Unsigned(number) => words(*number),
        Value::Signed(number) => words(number.cast_unsigned()),
        Value::Bool(truth) => words(u128::from(*truth)),
        Value::Text(text) => format!("{{b: []byte({})}}", quoted(text.as_bytes())),
        Value::Bytes(bytes) => format!("{{b: []byte({})}}", quoted(bytes)),
        Value::Choice(index, inner) if inner.is_empty() => format!("{{i: {index}}}"),
        other => return Err(format!("a constant that is {}", other.kind())),
    })
}

impl<'p> Go<'p> {
    /// The file with the function, the types of old rows included.
    pub(crate) fn migration(&mut self, before: &Before<'p>) -> String {
        let mut old = self.older(before);
        let mut moves = String::new();
        for route in &before.proof.mapping.routes {
            let Some((space, family)) = route.from.find(before.plan) else { continue };
            let (to, row) = match &route.course {
                Course::Kept { .. } | Course::Retired { .. } | Course::Unspoken => continue,
                Course::Dropped { .. } => (space.engine_name().to_owned(), None),
                Course::Moved(passage) => {
                    let Some((to, heir)) = passage.to.find(self.plan) else { continue };
                    (to.engine_name().to_owned(), Some((passage.as_ref(), heir)))
                }
            };
            if family.kind != FamilyKind::Key {
                let message =
                    format!("`{}` holds structures, which a chain's store does not have", family.path);
                self.problems.push(refused(&message, family.name_span));
                continue;
            }
            self.route(&mut old, (space, family, &route.from), &to, row, &mut moves);
        }
        self.scope = std::mem::take(&mut old.scope);
        self.shared = std::mem::take(&mut old.shared);
        self.alphabets = std::mem::take(&mut old.alphabets);
        self.tables = std::mem::take(&mut old.tables);
        self.problems.append(&mut old.problems);
        let mut out = old.out;
        let (from, to) = (before.plan.fingerprint(), self.plan.fingerprint());
        let name = self.scope.fresh("Migrate");
        let _ = writeln!(
            out,
            "// {name} carries the rows of the plan `{}`, {from}, to those of `{}`, {to}. store gives the store of a space, by the name\n// that engines know it by. In the handler of an upgrade:\n//\n//\tfunc (m Migrator) Migrate1to2(ctx sdk.Context) error {{\n//\t\ts := ctx.KVStore(m.storeKey)\n//\t\t_, err := {name}(func(space string) MigrationStore[storetypes.Iterator] {{\n//\t\t\treturn MigrationStore[storetypes.Iterator]{{Iterator: s.Iterator, Set: s.Set, Delete: s.Delete}}\n//\t\t}})\n//\t\treturn err\n//\t}}\n//\n// Every row of a family that moves has one new key, no two have the same, and none is an old key: that is proved. An error leaves\n// the families after its own as they were, and may come between two steps of its own; a handler that returns it lets the chain\n// take everything back.\nfunc {name}[I MigrationIter](store func(space string) MigrationStore[I]) ([]Migrated, error) {{\n\tvar all []Migrated\n\tfor _, move := range migrationMoves {{\n\t\tdone, err := migrateRows(store(move.from), store(move.to), move)\n\t\tall = append(all, done)\n\t\tif err != nil {{\n\t\t\treturn all, err\n\t\t}}\n\t}}\n\treturn all, nil\n}}\n",
            before.plan.name, self.plan.name,
        );
        let _ = writeln!(out, "var migrationMoves = []migrationMove{{\n{moves}}}\n");
        out
    }

    /// What makes the types of old rows: in the same package, with the same alphabets and tables.
    fn older(&mut self, before: &Before<'p>) -> Go<'p> {
        let mut scope = std::mem::take(&mut self.scope);
        let mut families = BTreeMap::new();
        for (family, wanted) in wanted_names(before.plan, exported) {
            families.insert(family.path.as_str(), scope.fresh(&format!("Old{wanted}")));
        }
        let mut types = BTreeMap::new();
        let sets = before.plan.names.iter().map(|set| &set.name);
        for name in before.plan.types.iter().map(|ty| &ty.name).chain(sets) {
            types.insert(name.as_str(), scope.fresh(&format!("Old{name}")));
        }
        let options = Options { package: Some(self.package.clone()), cosmos: false };
        let mut old = Go::new(before.plan, &before.compiled.sources, self.report, &options);
        old.scope = scope;
        old.families = families;
        old.types = types;
        old.shared = std::mem::take(&mut self.shared);
        old.alphabets = std::mem::take(&mut self.alphabets);
        old.tables = std::mem::take(&mut self.tables);
        old.name_sets();
        old
    }

    fn route(
        &mut self,
        old: &mut Go<'p>,
        (space, family, from): (&'p Space, &'p Family, &Place),
        to: &str,
        row: Option<(&Passage, &'p Family)>,
        moves: &mut String,
    ) {
        let go = old.families.get(from.path.as_str()).cloned().unwrap_or_default();
        let about = [format!("{go} is a key of the family `{}` of the older plan.", family.path)];
        old.bare_part(&go, &family.path, &family.key, &about);
        let decode = old.derived(&go, "Decode{}");
        let function = match row {
            None => {
                "func(_, _ []byte) ([]byte, []byte, error) {\n\t\t\treturn nil, nil, nil\n\t\t}".to_owned()
            }
            Some((passage, heir)) => match self.row_function(old, (&go, family), passage, heir) {
                Ok(name) => name,
                Err(why) => {
                    self.problems.push(refused(&format!("`{}`: {why}", family.path), heir.name_span));
                    return;
                }
            },
        };
        let _ = write!(
            moves,
            "\t{{\n\t\t{}, {}, {}, {},\n\t\tfunc(key []byte) bool {{\n\t\t\t_, err := {decode}(key)\n\t\t\treturn err == nil\n\t\t}},\n\t\t{function},\n\t}},\n",
            quoted(family.path.as_bytes()),
            quoted(space.engine_name().as_bytes()),
            quoted(to.as_bytes()),
            quoted(&family.key.literal_prefix()),
        );
    }

    /// The function that makes a new row of an old one; its name.
    fn row_function(
        &mut self,
        old: &mut Go<'p>,
        (go, family): (&str, &'p Family),
        passage: &Passage,
        heir: &'p Family,
    ) -> Result<String, String> {
        let new = self.families.get(heir.path.as_str()).cloned().unwrap_or_default();
        let list = Expression {
            arguments: &passage.key,
            old: &family.key,
            value: family.value.as_ref(),
            whole: &heir.key,
        }
        .list(&heir.key, &[])?;
        let needs_value = passage.key.sources.iter().any(|(_, source)| matches!(source, Source::Value(_)));
        let name = old.scope.fresh(&format!("migrate{go}"));
        let mut body = format!(
            "\tread, err := {}(key)\n\tif err != nil {{\n\t\treturn nil, nil, err\n\t}}\n",
            old.derived(go, "Decode{}")
        );
        body.push_str(if list.contains("old[") { "\told := read.vals()\n" } else { "\t_ = read\n" });
        let value_of = |old: &mut Go<'p>, body: &mut String| -> Result<(), String> {
            let layout = family.value.as_ref().ok_or("the old value has no layout")?;
            let ty = old.scope.fresh(&format!("{go}Value"));
            let about = [format!("{ty} is the value of `{}` of the older plan.", family.path)];
            old.bare_part(&ty, &format!("{} value", family.path), layout, &about);
            let decode = old.derived(&ty, "Decode{}");
            let _ = write!(
                body,
                "\tstored, err := {decode}(value)\n\tif err != nil {{\n\t\treturn nil, nil, err\n\t}}\n\tbeside := stored.vals()\n"
            );
            Ok(())
        };
        let value = if let (Carried::Converted(arguments), Some(layout)) = (&passage.value, &heir.value) {
            let before = family.value.as_ref().ok_or("the old value has no layout")?;
            let list = Expression { arguments, old: before, value: None, whole: layout }.list(layout, &[])?;
            value_of(old, &mut body)?;
            let ty = self.known_value(&format!("{} value", heir.path)).ok_or("the new value has no type")?;
            let list = list.replace("old[", "beside[");
            if !list.contains("beside[") && !needs_value {
                body.push_str("\t_ = beside\n");
            }
            // Stores refuse a value of nil, which no bytes appended to it would be.
            format!("from{ty}(val{{l: {list}}}).AppendTo([]byte{{}})")
        } else {
            if needs_value {
                value_of(old, &mut body)?;
            }
            String::new()
        };
        let _ = write!(
            body,
            "\tnewKey, err = from{new}(val{{l: {list}}}).AppendTo([]byte{{}})\n\tif err != nil {{\n\t\treturn nil, nil, err\n\t}}\n"
        );
        if value.is_empty() {
            body.push_str("\treturn newKey, value, nil\n");
        } else {
            let _ = write!(
                body,
                "\tnewValue, err = {value}\n\tif err != nil {{\n\t\treturn nil, nil, err\n\t}}\n\treturn newKey, newValue, nil\n"
            );
        }
        let _ = writeln!(
            old.out,
            "func {name}(key, value []byte) (newKey, newValue []byte, err error) {{\n{body}}}\n"
        );
        Ok(name)
    }

    /// The type of a layout that was made before, by what vectors call it.
    fn known_value(&self, path: &str) -> Option<String> {
        self.parts.iter().find(|part| part.path == path).map(|part| part.go.clone())
    }
}
