//! The types of every plan against the dynamic path, and the laws that each of them must keep.

#[cfg(test)]
#[path = "../../keyplan/tests/agree/mod.rs"]
mod agree;

use agree::{compare, keep_the_laws};

/// A module of tests for each plan.
macro_rules! plans {
    ($($name:ident: $module:path;)*) => {$(
        mod $name {
            use $module as module;

            #[test]
            fn agrees_with_the_dynamic_path() {
                super::compare(&module::TYPES, 40);
            }

            #[test]
            fn keeps_the_laws() {
                super::keep_the_laws(&module::TYPES, 24);
            }
        }
    )*

        const PLANS: &[&keyplan::laws::PlanTypes] = &[$({
            use $module as module;
            &module::TYPES
        }),*];
    };
}

plans! {
    osmosis_cl: keyplan_chains::osmosis_cl;
    cardano: keyplan_chains::cardano::document;
    cardano_store: keyplan_chains::cardano;
    cardano_redb: keyplan_chains::cardano_redb;
    cosmwasm: keyplan_chains::cosmwasm;
    paw: keyplan_chains::paw;
    paw_v2: keyplan_chains::paw_v2;
    onesat: keyplan_chains::onesat::document;
    onesat_v2: keyplan_chains::onesat_v2;
    osmosis_cl_upstream: keyplan_chains::upstream::osmosis_cl_upstream;
    dolos: keyplan_chains::upstream::dolos;
    paw_upstream: keyplan_chains::upstream::paw_upstream;
    onesat_upstream: keyplan_chains::upstream::onesat_upstream;
    cosmwasm_upstream: keyplan_chains::upstream::cosmwasm_upstream;
}

/// Plans that are not among those above: `five` is the others together, `structures` is not a chain's.
const APART: [&str; 2] = ["five.keyplan", "structures.keyplan"];

#[test]
fn no_plan_is_left_out() {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let files = ["", "upstream"].iter().flat_map(|below| std::fs::read_dir(folder.join(below)).unwrap());
    let mut texts: Vec<(String, String)> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "keyplan"))
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    texts.retain(|(name, _)| !APART.contains(&name.as_str()));
    assert_eq!(texts.len(), PLANS.len());
    for (name, text) in &texts {
        assert!(PLANS.iter().any(|types| types.plan.text() == text), "{name} has no types here");
    }
}
