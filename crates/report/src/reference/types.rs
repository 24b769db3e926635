//! The types and name sets of a plan.

use std::sync::Arc;

use keyplan_plan::model::{Family, Name, NameSet, Plan, Sequence, Shape};

use super::{Page, code};
use keyplan_plan::notation::encodings;
use keyplan_plan::notation::hex;
use keyplan_plan::notation::text_domain;

pub(super) fn sections(page: &mut Page<'_>, plan: &Plan) {
    // Name sets are types, too, but have a section of their own.
    let types = plan.types.iter().filter(|ty| plan.names.iter().all(|set| set.name != ty.name));
    let rows: Vec<Vec<String>> = types
        .map(|ty| vec![code(&ty.name), code(&page.notation.shape(&ty.shape)), flowing(&ty.doc)])
        .collect();
    if !rows.is_empty() {
        page.line("## Types");
        page.table(&["type", "is", "purpose"], &rows);
    }
    for set in &plan.names {
        name_set(page, plan, set);
    }
}

fn flowing(doc: &[String]) -> String {
    doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// The known names, each with the digests that stand for it in keys.
fn name_set(page: &mut Page<'_>, plan: &Plan, set: &NameSet) {
    page.line(&format!("## Names {}", code(&set.name)));
    page.paragraphs(&set.doc);
    let shape = plan.types.iter().find(|ty| ty.name == set.name).map(|ty| &ty.shape);
    if let Some(Shape::Text(text)) = shape {
        page.line(&format!("Taken from {}.", code(&text_domain(text))));
    }
    let mut hashes: Vec<HashedNames> = Vec::new();
    for (_, family) in plan.families() {
        for sequence in layouts(family) {
            for argument in sequence.arguments() {
                hashed_names(&argument.shape, &set.name, &mut hashes);
            }
        }
    }
    let mut head = vec!["name"];
    head.extend(hashes.iter().map(|hashed| hashed.title.as_str()));
    head.push("purpose");
    let rows: Vec<Vec<String>> = set
        .names
        .iter()
        .map(|name| {
            let digest = |hashed: &HashedNames| {
                let found = hashed.known.iter().find(|(_, known)| known.text == name.text);
                found.map_or(String::new(), |(digest, _)| code(&hex(digest)))
            };
            let mut row = vec![code(&name.text)];
            row.extend(hashes.iter().map(digest));
            let retired = if name.retired { "**retired** " } else { "" };
            row.push(format!("{retired}{}", flowing(&name.doc)).trim_end().to_owned());
            row
        })
        .collect();
    page.table(&head, &rows);
}

fn layouts(family: &Family) -> impl Iterator<Item = &Sequence> {
    let fields = family.fields.iter().flat_map(|field| [Some(&field.key), field.value.as_ref()]);
    let parts = [Some(&family.key), family.value.as_ref(), family.member.as_ref(), family.score.as_ref()];
    parts.into_iter().chain(fields).flatten()
}

/// A hash under which a name set is written, and the digests.
struct HashedNames {
    title: String,
    known: Arc<Vec<(Vec<u8>, Name)>>,
}

fn hashed_names(shape: &Shape, set: &str, found: &mut Vec<HashedNames>) {
    match shape {
        Shape::Hashed { inner, known, .. } => {
            let title = encodings(shape).join(".");
            let is_set =
                matches!(&**inner, Shape::Text(text) if text.names.as_ref().is_some_and(|n| n.name == set));
            if is_set && found.iter().all(|other| other.title != title) {
                found.push(HashedNames { title, known: Arc::clone(known) });
            }
        }
        shape => shape.children().for_each(|inside| hashed_names(inside, set, found)),
    }
}
