use super::{DottedPath, Dropped, Family, Fingerprint, HouseRule, NameSet, Schemas, Shape};
use crate::diag::Span;
use std::sync::Arc;

/// A whole plan, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: Vec<String>,
    /// Its spaces, as declared.
    pub spaces: Vec<Space>,
    /// The types that its files declare, by name.
    pub types: Vec<NamedType>,
    /// The name sets that its files declare, by name.
    pub names: Vec<Arc<NameSet>>,
    /// The schemas of its values. No part of the fingerprint.
    pub schemas: Arc<Schemas>,
}

/// A domain with a name of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedType {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: Vec<String>,
    /// What it stands for.
    pub shape: Shape,
    /// Where it is declared.
    pub span: Span,
}

impl Plan {
    /// A number that stands for the plan's layout: it moves with every change of bytes, and with nothing else.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self)
    }

    /// All families, with the space each belongs to.
    pub fn families(&self) -> impl Iterator<Item = (&Space, &Family)> {
        self.spaces.iter().flat_map(|space| space.families.iter().map(move |family| (space, family)))
    }

    /// The families whose path is `path` or ends with it, such as `tick`, `dex.pool` or `state.dex.pool`.
    pub fn find(&self, path: &str) -> Vec<(&Space, &Family)> {
        let exact: Vec<_> = self.families().filter(|(_, family)| family.path == path).collect();
        if !exact.is_empty() {
            return exact;
        }
        self.families().filter(|(_, family)| DottedPath(&family.path).ends_with(DottedPath(path))).collect()
    }
}

/// One physical keyspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// Its name.
    pub name: String,
    /// The name that engines know it by: the one that the plan gives, or its own.
    pub engine_name: String,
    /// What it is for.
    pub doc: Vec<String>,
    /// Its families, as declared, those of modules among them.
    pub families: Vec<Family>,
    /// Its modules, outer ones before inner ones.
    pub modules: Vec<Module>,
    /// Prefixes of the space itself that may not come back.
    pub retired: Vec<Retired>,
    /// Families of older plans whose rows a migration deletes.
    pub dropped: Vec<Dropped>,
    /// The style that its families follow. No part of the layout, nor of the fingerprint.
    pub rules: Vec<HouseRule>,
    /// Where it is declared.
    pub span: Span,
}

impl Space {
    /// The name that an engine stores it under.
    pub fn engine_name(&self) -> &str {
        &self.engine_name
    }
}

/// The index of a module in its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub usize);

/// A named prefix inside a space.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Its path, `space.outer.inner`.
    pub path: String,
    /// What it is for.
    pub doc: Vec<String>,
    /// What every key in it begins with, prefixes of outer modules included.
    pub prefix: Vec<u8>,
    /// The module around it.
    pub parent: Option<ModuleId>,
    /// Numbers set aside.
    pub allotments: Vec<Allotment>,
    /// Prefixes that may not come back.
    pub retired: Vec<Retired>,
    /// The style that its families follow.
    pub rules: Vec<HouseRule>,
    /// Where it is declared.
    pub span: Span,
}

/// Numbers set aside for one use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allotment {
    /// What the range is called.
    pub name: String,
    /// What it is for.
    pub purpose: Option<String>,
    /// The first number.
    pub first: u8,
    /// The last number.
    pub last: u8,
    /// Where it is declared.
    pub span: Span,
}

impl Allotment {
    /// Whether `number` lies in the range.
    pub fn contains(&self, number: u8) -> bool {
        (self.first..=self.last).contains(&number)
    }
}

/// A prefix that may not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retired {
    /// The whole prefix, that of the module included.
    pub prefix: Vec<u8>,
    /// Since when: a release, a height, a date.
    pub since: Option<String>,
    /// Why.
    pub why: String,
    /// Where it is declared.
    pub span: Span,
}
