//! Every domain and encoding: the generated types against the dynamic path, and their laws.

#[cfg(test)]
mod agree;

keyplan::plan!("tests/everything.keyplan");

use agree::{compare, keep_the_laws};

#[test]
fn every_encoding_agrees_with_the_dynamic_path() {
    compare(&everything::TYPES, 300);
}

#[test]
fn every_encoding_keeps_the_laws() {
    keep_the_laws(&everything::TYPES, 60);
}

/// A new encoding is compared with the dynamic path as soon as it has its row.
#[test]
fn every_row_of_the_table_is_in_the_plan() {
    let text = everything::PLAN.text();
    let is_there = |word: &str| {
        text.match_indices(&format!(".{word}")).any(|(at, found)| {
            let behind = text[at + found.len()..].chars().next();
            behind.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_')
        })
    };
    let rows: Vec<_> = keyplan::plan::model::table().filter(|row| !row.word.is_empty()).collect();
    assert!(rows.len() > 70, "{} rows", rows.len());
    let missing: Vec<&str> = rows.iter().map(|row| row.word).filter(|word| !is_there(word)).collect();
    assert_eq!(missing, [""; 0]);
}

/// The store is opened with what `plan!` emits, and the plan is not compiled again.
#[cfg(feature = "store")]
#[test]
fn the_schema_that_is_compiled_in_is_that_of_the_plan() {
    use keyplan::store::raw::Schema;

    let compiled = keyplan::plan::compile(everything::PLAN.files[0].0, everything::PLAN.text(), |path| {
        Err(path.to_owned())
    });
    let read = Schema::of(&compiled).unwrap();
    let emitted = Schema::from(&everything::PLAN);
    assert_eq!(emitted, read);
    assert_eq!(emitted.families, read.families);
    assert!(emitted.families.len() > 20 && emitted.spaces.len() > 1, "{emitted:?}");
}
