use std::sync::OnceLock;

use keyplan_plan::compile;
use keyplan_plan::model::{Plan, Sequence};

use crate::workspace;

/// A plan that layouts are taken from.
#[derive(Debug)]
pub struct Kept {
    /// Its path, as seen from the root.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What it means.
    pub plan: Plan,
}

impl Kept {
    /// Every layout in the plan: of keys, values, fields, members and scores.
    pub fn layouts(&self) -> Vec<&Sequence> {
        let families = self.plan.families().map(|(_, family)| family);
        families
            .flat_map(|family| {
                let fields = family.fields.iter().flat_map(|field| [Some(&field.key), field.value.as_ref()]);
                let own =
                    [Some(&family.key), family.value.as_ref(), family.member.as_ref(), family.score.as_ref()];
                own.into_iter().chain(fields).flatten()
            })
            .collect()
    }
}

/// The plans of the project, and one that uses every encoding of the language.
///
/// # Panics
///
/// If one of them cannot be read or does not compile.
pub fn kept() -> &'static [Kept] {
    static KEPT: OnceLock<Vec<Kept>> = OnceLock::new();
    KEPT.get_or_init(|| {
        // This one stays the first, so that the inputs in `fuzz/corpus/` keep their meaning.
        let mut paths = vec![workspace::root().join("fuzz/every_encoding.keyplan")];
        paths.extend(workspace::plans().unwrap_or_default());
        paths.iter().map(|path| read(&workspace::relative(path))).collect()
    })
}

#[expect(clippy::panic, reason = "a plan of the project that does not compile is a fault of the project")]
fn read(path: &str) -> Kept {
    let load =
        |path: &str| std::fs::read_to_string(workspace::root().join(path)).map_err(|error| error.to_string());
    let text = load(path).unwrap_or_default();
    let compiled = compile(path, &text, load);
    let errors: Vec<&str> = compiled.errors().map(|error| error.message.as_str()).collect();
    match compiled.plan {
        Some(plan) => Kept { path: path.to_owned(), text, plan },
        None => panic!("{path} does not compile: {errors:?}"),
    }
}
