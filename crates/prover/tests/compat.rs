//! Old plan × new plan: cases with their expected lines.
//!
//! `KEYPLAN_BLESS=1` writes the expected lines anew.

use std::fs;
use std::path::{Path, PathBuf};

use keyplan_plan::model::Plan;
use keyplan_prover::{Change, Options, compare, prove};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn plan(path: &Path) -> Plan {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let folder = path.parent().unwrap().to_owned();
    let compiled = keyplan_plan::compile("plan.keyplan", &text, |import| {
        fs::read_to_string(folder.join(import)).map_err(|error| error.to_string())
    });
    compiled.plan.unwrap_or_else(|| panic!("{}: {:?}", path.display(), compiled.diagnostics))
}

fn changes(old: &Path, new: &Path) -> Vec<Change> {
    let (old, new) = (plan(old), plan(new));
    let report = prove(&new, &Options::default());
    compare(&old, &new, &report)
}

fn lines(changes: &[Change]) -> String {
    let line =
        |change: &Change| format!("{} {change}\n", if change.is_breaking() { "breaks" } else { "keeps " });
    changes.iter().map(line).collect()
}

#[test]
fn every_case_is_judged_as_its_folder_says() {
    let mut cases: Vec<PathBuf> =
        fs::read_dir(root().join("testdata/compat")).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 8, "{cases:?}");
    for case in cases {
        let got = lines(&changes(&case.join("previous.keyplan"), &case.join("current.keyplan")));
        let expected = case.join("expected.txt");
        if std::env::var_os("KEYPLAN_BLESS").is_some() {
            fs::write(&expected, &got).unwrap();
        }
        assert_eq!(got, fs::read_to_string(&expected).unwrap(), "{}", case.display());
    }
}

#[test]
fn every_plan_keeps_its_own_keys() {
    for name in ["cardano", "cardano_redb", "cosmwasm", "onesat", "onesat_v2", "osmosis_cl", "paw", "paw_v2"]
    {
        let path = root().join(format!("plans/{name}.keyplan"));
        let changes = changes(&path, &path);
        let moved: Vec<String> = changes
            .iter()
            .filter(|change| change.fate != keyplan_prover::Fate::Same)
            .map(ToString::to_string)
            .collect();
        assert_eq!(moved, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_order_of_declarations_does_not_matter() {
    let case = root().join("testdata/compat/widened");
    let (old, mut new) = (plan(&case.join("previous.keyplan")), plan(&case.join("current.keyplan")));
    let report = prove(&new, &Options::default());
    let before = compare(&old, &new, &report);
    new.spaces.iter_mut().for_each(|space| space.families.reverse());
    assert_eq!(compare(&old, &new, &report), before);
}
