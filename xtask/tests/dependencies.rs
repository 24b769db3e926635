//! The crates depend on each other as `ARCHITECTURE.md` says.

use xtask::{architecture, workspace};

#[test]
fn the_crates_depend_on_each_other_as_the_table_says() {
    let text = std::fs::read_to_string(workspace::root().join("ARCHITECTURE.md")).unwrap();
    let allowed = architecture::allowed(&text).unwrap();
    let found = workspace::dependencies().unwrap();
    assert_eq!(architecture::differences(&allowed, &found), Vec::<String>::new());
}
