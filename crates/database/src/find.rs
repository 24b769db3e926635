//! Families, fields and spaces by the names that a person types.

use keyplan_plan::model::{DottedPath, Family, Field, Plan};
use keyplan_report::structure::is_structured;

use crate::error::{Result, bail};

/// How many names a message lists.
const LISTED: usize = 8;

/// The family that `path` stands for, and the index of its space.
pub fn family<'p>(plan: &'p Plan, path: &str) -> Result<(usize, &'p Family)> {
    let found = plan.find(path);
    match found.as_slice() {
        [(space, family)] => {
            let index = plan.spaces.iter().position(|other| other.name == space.name).unwrap_or_default();
            Ok((index, family))
        }
        [] => {
            let paths = plan.families().map(|(_, family)| family.path.as_str());
            bail!("plan `{}` has no family `{path}`; {}", plan.name, nearest(paths, path))
        }
        several => {
            let paths: Vec<&str> = several.iter().map(|(_, family)| family.path.as_str()).collect();
            bail!("`{path}` could be any of: {}", paths.join(", "))
        }
    }
}

/// The index of the space called `name`, by its own name or the engine's.
pub fn space(plan: &Plan, name: &str) -> Result<usize> {
    let found = plan.spaces.iter().position(|space| space.name == name || space.engine_name() == name);
    let Some(found) = found else {
        let names: Vec<&str> = plan.spaces.iter().map(|space| space.name.as_str()).collect();
        bail!("plan `{}` has no space `{name}`; it has: {}", plan.name, names.join(", "));
    };
    Ok(found)
}

/// The space that the keys of a server are of: it has no spaces of its own.
pub fn only_space(plan: &Plan) -> Result<usize> {
    let all = || plan.spaces.iter().enumerate();
    let mut found: Vec<(usize, &str)> = all()
        .filter(|(_, space)| is_structured(space))
        .map(|(index, space)| (index, space.name.as_str()))
        .collect();
    if found.is_empty() {
        found = all().map(|(index, space)| (index, space.name.as_str())).collect();
    }
    if let [(index, _)] = found.as_slice() {
        return Ok(*index);
    }
    let names: Vec<&str> = found.iter().map(|(_, name)| *name).collect();
    bail!("a server has one space, and plan `{}` has several: {}", plan.name, names.join(", "))
}

/// The field of a hash that is called `name`.
pub fn field<'p>(family: &'p Family, name: &str) -> Result<&'p Field> {
    let found = family.fields.iter().find(|field| field.name == name);
    let Some(found) = found else {
        let names = family.fields.iter().map(|field| field.name.as_str());
        bail!("`{}` has no field `{name}`; {}", family.path, nearest(names, name))
    };
    Ok(found)
}

/// `nearest: a, b, c`, those first that look most like `wanted`.
fn nearest<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> String {
    let mut ranked: Vec<(usize, &str)> = names
        .map(|name| {
            let distance = distance(name, wanted).min(distance(DottedPath(name).last(), wanted));
            (distance, name)
        })
        .collect();
    ranked.sort_unstable();
    let close = wanted.chars().count() / 3 + 1;
    if let Some((distance, name)) = ranked.first()
        && *distance <= close
        && !wanted.is_empty()
    {
        return format!("did you mean `{name}`?");
    }
    let word = if ranked.len() > LISTED { "nearest" } else { "it has" };
    let listed: Vec<&str> = ranked.iter().take(LISTED).map(|(_, name)| *name).collect();
    if listed.is_empty() { "it has none".to_owned() } else { format!("{word}: {}", listed.join(", ")) }
}

/// How many characters must be added, dropped or changed to make one name the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(b.chars()) {
            let changed = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = changed.min(left + 1).min(diagonal + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_changed_characters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("tick", "tick"), 0);
        assert_eq!(distance("tick", "ticks"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
