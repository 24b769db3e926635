//! Every domain and encoding: the generated types against the dynamic path.

#[cfg(test)]
mod agree;

keyplan::plan!("tests/everything.keyplan");

use agree::{compare, plan};

#[test]
fn every_encoding_agrees_with_the_dynamic_path() {
    let readers = readers!(crate::everything { numbers strings });
    let shapes: (&str, agree::Read) = ("shapes", |key| {
        let read = everything::shapes::AnyKey::decode(key)?;
        let (mut again, mut guarded) = (Vec::new(), Vec::new());
        Ok(agree::Typed {
            family: read.family(),
            shown: read.to_string(),
            again: read.encode_unguarded_into(&mut again).map(|()| again),
            guarded: read.encode_into(&mut guarded).map(|()| guarded),
        })
    });
    compare(&plan("tests", "everything.keyplan"), &[readers[0], readers[1], shapes], 300);
}
