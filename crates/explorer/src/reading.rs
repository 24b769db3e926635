//! The plan that keys are read under, with what is proved of it.

use std::collections::BTreeSet;

use keyplan_plan::Compiled;
use keyplan_plan::diag::{SourceMap, Span};
use keyplan_plan::model::{Family, Plan};
use keyplan_prover::{Guarantee, Options, Statement, Verdict};
use keyplan_report::findings::{Checked, Repairs};
use serde_json::{Value as Json, json};

/// A plan and its proofs.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) name: String,
    pub(crate) plan: Plan,
    pub(crate) checked: Checked,
    /// The families of which the prover knows that each of their keys has one reading.
    sure: BTreeSet<String>,
}

impl Reading {
    /// Proves a plan; `None` if it does not compile.
    pub(crate) fn new(name: &str, compiled: Compiled, repairs: Repairs) -> Result<Self, Box<Checked>> {
        let checked = Checked::new(name, compiled, Some(&Options::default()), repairs);
        let Some(plan) = checked.compiled.plan.clone().filter(|_| checked.proof.is_some()) else {
            return Err(Box::new(checked));
        };
        let sure = sure(&plan, &checked);
        Ok(Self { name: name.to_owned(), plan, checked, sure })
    }

    /// Whether a key that is read as one of this family has no other reading.
    pub(crate) fn is_sure(&self, family: &Family) -> bool {
        self.sure.contains(&family.path)
    }

    pub(crate) fn sources(&self) -> &SourceMap {
        &self.checked.compiled.sources
    }

    /// The family of a path, with the index of its space.
    pub(crate) fn family(&self, path: &str) -> Option<(usize, &Family)> {
        let of = |(index, space): (usize, &'_ keyplan_plan::model::Space)| {
            space.families.iter().position(|family| family.path == path).map(|at| (index, at))
        };
        let (space, at) = self.plan.spaces.iter().enumerate().find_map(of)?;
        Some((space, self.plan.spaces.get(space)?.families.get(at)?))
    }

    /// Every statement about a family.
    pub(crate) fn statements<'s>(&'s self, path: &'s str) -> impl Iterator<Item = &'s Statement> {
        self.checked
            .statements()
            .filter(move |statement| statement.family == path || statement.other.as_deref() == Some(path))
    }

    /// Where a span is: file and line.
    pub(crate) fn place(&self, span: Span) -> Json {
        let file = self.sources().get(span.file).map_or("", |file| file.name.as_str());
        json!({ "file": file, "line": self.sources().position(span).line })
    }

    /// The declaration of a family as it is in the plan, and where in that text each segment is.
    pub(crate) fn declaration(&self, family: &Family) -> Json {
        let text = self.sources().slice(family.span);
        let inside = |span: Span| {
            let ok = span.file == family.span.file
                && span.start >= family.span.start
                && span.end <= family.span.end;
            ok.then(|| {
                // Positions are told in characters, which is what a browser counts in for all but rare text.
                let characters = |end: u32| {
                    let end = usize::try_from(end - family.span.start).unwrap_or_default();
                    text.get(..end).map_or(0, |front| front.encode_utf16().count())
                };
                (characters(span.start), characters(span.end))
            })
        };
        let segments: Vec<Json> = family
            .key
            .segments()
            .iter()
            .filter_map(|segment| {
                let (start, end) = inside(segment.span())?;
                Some(json!({ "name": segment.label(), "start": start, "end": end }))
            })
            .collect();
        let mut place = self.place(family.span);
        if let Some(place) = place.as_object_mut() {
            place.insert("text".to_owned(), json!(text));
            place.insert("segments".to_owned(), json!(segments));
        }
        place
    }
}

/// The families whose keys have one reading, as far as that is proved.
fn sure(plan: &Plan, checked: &Checked) -> BTreeSet<String> {
    let mut sure: BTreeSet<String> = plan.families().map(|(_, family)| family.path.clone()).collect();
    let Some((_, report)) = &checked.proof else { return BTreeSet::new() };
    for statement in &report.statements {
        if matches!(statement.guarantee, Guarantee::Disjoint | Guarantee::Unambiguous)
            && statement.verdict != Verdict::Holds
        {
            sure.remove(&statement.family);
            if let Some(other) = &statement.other {
                sure.remove(other);
            }
        }
    }
    for left in &report.left_out {
        let front = format!("{}.", left.space);
        sure.retain(|path| !path.starts_with(&front));
    }
    sure
}
