use std::fmt;

use keyplan_plan::Compiled;
use keyplan_plan::model::{self, FamilyKind, Fingerprint};

use crate::engine::{Space, SpaceUsage};

/// What a store needs to know of a plan: its text, for those who come without it, its fingerprint, and its spaces.
///
/// Two are equal if these are; what reads are counted by is not part of it.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The files that the plan is made of, the root first.
    pub files: Vec<PlanFile>,
    /// The fingerprint of its layout.
    pub fingerprint: PlanFingerprint,
    /// Its spaces under the names that the engine knows, in the order of the plan.
    pub spaces: Vec<Space>,
    /// What the keys of its families begin with, to count reads by. Empty where the plan is known only by its text.
    pub families: Vec<FamilyPrefix>,
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        (&self.files, self.fingerprint, &self.spaces) == (&other.files, other.fingerprint, &other.spaces)
    }
}

impl Eq for Schema {}

/// What the keys of a family begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyPrefix {
    /// The space, as the engine knows it.
    pub space: String,
    /// The path of the family.
    pub family: String,
    /// The bytes that all of its keys begin with.
    pub prefix: Vec<u8>,
}

/// A file of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFile {
    /// The name that other files import it by.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Schema {
    /// The schema of a plan; `None` if it did not compile.
    ///
    /// ```
    /// use keyplan_store::Schema;
    ///
    /// let text = "plan demo; space cl = \"cl-state\" { key tick = 0x01 pool: u64; }";
    /// let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
    /// let schema = Schema::of(&compiled).expect("sound");
    /// assert_eq!(schema.spaces[0].name, "cl-state");
    /// ```
    pub fn of(compiled: &Compiled) -> Option<Self> {
        let plan = compiled.plan.as_ref()?;
        let files = compiled.sources.files().iter();
        Some(Self {
            files: files.map(|file| PlanFile { name: file.name.clone(), text: file.text.clone() }).collect(),
            fingerprint: plan.fingerprint().into(),
            spaces: plan.spaces.iter().map(space).collect(),
            families: plan.spaces.iter().flat_map(prefixes).collect(),
        })
    }

    /// The same with one of its spaces a multimap.
    #[must_use]
    pub fn with_multimap(mut self, name: &str) -> Self {
        for space in &mut self.spaces {
            if space.name == name {
                *space = Space::multimap(name);
            }
        }
        self
    }
}

/// A plan that was compiled in is not compiled again.
#[cfg(feature = "typed")]
impl From<&keyplan_typed::PlanText> for Schema {
    fn from(plan: &keyplan_typed::PlanText) -> Self {
        let file = |&(name, text): &(&str, &str)| PlanFile { name: name.to_owned(), text: text.to_owned() };
        let families = plan.spaces.iter().flat_map(|space| {
            space.rows.iter().map(|&(family, prefix)| FamilyPrefix {
                space: space.name.to_owned(),
                family: family.to_owned(),
                prefix: prefix.to_vec(),
            })
        });
        let spaces = plan.spaces.iter().map(|space| Space {
            usage: usage(space.rows.len(), space.structures.len()),
            ..Space::map(space.name)
        });
        Self {
            files: plan.files.iter().map(file).collect(),
            fingerprint: PlanFingerprint(plan.fingerprint),
            spaces: spaces.collect(),
            families: families.collect(),
        }
    }
}

fn space(space: &model::Space) -> Space {
    let structures = space.families.iter().filter(|family| family.kind != FamilyKind::Key).count();
    let usage = usage(space.families.len() - structures, structures);
    Space { usage, ..Space::map(space.engine_name()) }
}

/// What a space is for, by how many families of keys and how many structures it has.
const fn usage(rows: usize, structures: usize) -> SpaceUsage {
    match (rows, structures) {
        (_, 0) => SpaceUsage::Rows,
        (0, _) => SpaceUsage::Structures,
        _ => SpaceUsage::Mixed,
    }
}

/// What the keys of a space begin with. Rows of structures are not those of the plan.
fn prefixes(space: &model::Space) -> impl Iterator<Item = FamilyPrefix> {
    let families = space.families.iter().filter(|family| family.kind == FamilyKind::Key);
    families.map(|family| FamilyPrefix {
        space: space.engine_name().to_owned(),
        family: family.path.clone(),
        prefix: family.key.literal_prefix(),
    })
}

/// The fingerprint of a plan's layout, as it is written into a database.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanFingerprint(pub [u8; 16]);

impl From<Fingerprint> for PlanFingerprint {
    fn from(fingerprint: Fingerprint) -> Self {
        Self(fingerprint.bytes())
    }
}

impl fmt::Display for PlanFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PlanFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlanFingerprint({self})")
    }
}
