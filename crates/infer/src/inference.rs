//! From a source to known plans and a draft.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use keyplan_plan::compile;
use keyplan_plan::dynamic::Decoder;
use keyplan_store::META_SPACE;
use keyplan_store::source::{Source, SourceError, View};
use serde::Serialize;

use crate::cut::Cut;
use crate::divide::{Group, divide};
use crate::draft::{DraftSpace, identifier, parts, write};
use crate::fit::evenly;
use crate::guess::{Guess, Seen};
use crate::known::{KnownFit, try_known};
use crate::run::{Explained, findings, run};
use crate::sample::{BYTES, LONGEST, Sample, sample};
use crate::search::{Piece, common_prefix};
use crate::unsure::unsure;
use crate::values::{ValueGuess, value_layout};

/// How often a draft is mended with keys that it did not explain.
const ROUNDS: usize = 3;
/// How many values of a family are looked at.
const VALUES: usize = 200;
/// How many spaces of a source are looked at.
pub(crate) const MAX_SPACES: usize = 256;

/// What is asked for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Draft a plan even if a known one fits.
    pub draft: bool,
    /// Only this space of the source.
    pub space: Option<String>,
    /// The name of the draft.
    pub name: Option<String>,
    /// Also guess what the values are.
    pub values: bool,
}

impl Options {
    /// Drafts a plan although a known one fits.
    #[must_use]
    pub const fn draft(mut self, draft: bool) -> Self {
        self.draft = draft;
        self
    }

    /// Looks at one space of the source only.
    #[must_use]
    pub fn space(mut self, space: Option<String>) -> Self {
        self.space = space;
        self
    }

    /// Also guesses what the values are, from some of them.
    #[must_use]
    pub const fn values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }

    /// Names the draft.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// The source could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Whoever watched the progress asked for an end.
    #[error("stopped after {rows} rows")]
    Stopped {
        /// How many rows of the space were read.
        rows: u64,
    },
    /// There is no such space, or none at all.
    #[error("there is no space `{name}`; there are: {}", there.join(", "))]
    NoSpace {
        /// The name.
        name: String,
        /// The names there are.
        there: Vec<String>,
    },
    /// The source has no keys.
    #[error("there are no keys to draft a plan from")]
    Empty,
    /// The draft does not compile: a fault of the drafting.
    #[error("the draft does not compile: {what}\n{text}")]
    Broken {
        /// The first finding.
        what: String,
        /// The draft.
        text: String,
    },
}

/// What was found out about a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inference {
    /// What was read: `rocksdb`, `list`.
    pub source: String,
    /// The known plans that fit, the best first.
    pub known: Vec<KnownFit>,
    /// The draft: of the spaces that no known plan fits, or of all if that was asked for.
    pub draft: Option<Draft>,
}

/// A plan made from keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Draft {
    /// Its text.
    pub text: String,
    /// Each space of it.
    pub spaces: Vec<DraftedSpace>,
    /// What the prover refutes or cannot decide, in short.
    pub findings: Vec<String>,
    /// What was not looked at, and why.
    pub not_looked_at: Vec<String>,
}

impl Draft {
    /// How many keys there are.
    pub fn keys(&self) -> u64 {
        self.spaces.iter().map(|space| space.keys).sum()
    }

    /// How many of them the draft explains.
    pub fn explained_keys(&self) -> u64 {
        self.spaces.iter().map(|space| space.explained_keys).sum()
    }
}

/// What a draft explains of a space.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DraftedSpace {
    /// Its name in the source.
    pub source_space: String,
    /// How many keys it has.
    pub keys: u64,
    /// How many of them a family of the draft makes.
    pub explained_keys: u64,
    /// How many bytes the keys have.
    pub bytes: u64,
    /// How many of them are literals, numbers, texts or hashes, rather than bytes that are only kept.
    pub explained_bytes: u64,
    /// How many keys the draft was made from, if not from all.
    pub sampled: Option<u64>,
    /// Its families.
    pub families: Vec<DraftFamily>,
}

/// A family of a draft.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DraftFamily {
    /// Its path.
    pub path: String,
    /// How many keys it makes.
    pub keys: u64,
    /// What is not sure, and why.
    pub unsure: Vec<String>,
}

/// Tries every known plan, and drafts one if none fits. `progress` is told now and then how many rows of a space were read,
/// and may stop it.
pub fn infer(
    source: &dyn Source,
    options: &Options,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Inference, InferError> {
    let view = source.view()?;
    let mut not_looked_at = Vec::new();
    let names = wanted(source, options, &mut not_looked_at)?;
    let most = BYTES / names.len().max(1);
    let mut samples: Vec<(String, Sample)> = Vec::new();
    for name in names {
        let Some(id) = source.space(&name) else { continue };
        let kept = sample(&*view, id, most, options.values, &mut progress)?;
        if kept.keys == 0 {
            not_looked_at.push(format!("space `{name}` is empty"));
        } else {
            if kept.too_long > 0 {
                let count = kept.too_long;
                let keys = if count == 1 { "key" } else { "keys" };
                not_looked_at.push(format!("{count} {keys} of space `{name}` of more than {LONGEST} bytes"));
            }
            samples.push((name, kept));
        }
    }
    if samples.is_empty() {
        return Err(InferError::Empty);
    }
    let keys: Vec<(String, Vec<&[u8]>)> =
        samples.iter().map(|(name, sample)| (name.clone(), sample.keys())).collect();
    let known = try_known(&keys);
    drop(keys);
    if !options.draft {
        // What a known plan explains needs no draft.
        let is_known =
            |name: &str| known.iter().flat_map(|fit| &fit.spaces).any(|fit| fit.source_space == name);
        if known.iter().all(|fit| fit.in_part) {
            samples.retain(|(name, _)| !is_known(name));
        } else {
            samples.clear();
        }
    }
    let draft = if samples.is_empty() {
        None
    } else {
        Some(drafted(source, &*view, &mut samples, options, not_looked_at, &mut progress)?)
    };
    Ok(Inference { source: source.kind().to_owned(), known, draft })
}

fn wanted(
    source: &dyn Source,
    options: &Options,
    not_looked_at: &mut Vec<String>,
) -> Result<Vec<String>, InferError> {
    let mut names: Vec<String> =
        source.spaces().into_iter().map(|space| space.name).filter(|name| name != META_SPACE).collect();
    if let Some(only) = &options.space {
        if !names.contains(only) {
            return Err(InferError::NoSpace { name: only.clone(), there: names });
        }
        names.retain(|name| name == only);
    }
    if names.len() > MAX_SPACES {
        not_looked_at.push(format!("spaces after the first {MAX_SPACES}: there are {}", names.len()));
        names.truncate(MAX_SPACES);
    }
    Ok(names)
}

/// Drafts, runs, and mends the draft with what it did not explain.
fn drafted(
    source: &dyn Source,
    view: &dyn View,
    samples: &mut [(String, Sample)],
    options: &Options,
    not_looked_at: Vec<String>,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Draft, InferError> {
    let mut round = 0;
    loop {
        round += 1;
        let (made, explained) = once(source, view, samples, options, progress)?;
        let mut mended = false;
        for ((_, sample), explained) in samples.iter_mut().zip(&explained) {
            for miss in explained.misses.iter().filter(|miss| miss.len() <= LONGEST) {
                mended |= sample.rows.insert(miss.clone(), None).is_none();
            }
        }
        if mended && round < ROUNDS {
            continue;
        }
        let mut spaces = Vec::new();
        for (((name, sample), explained), (paths, notes)) in
            samples.iter().zip(explained).zip(made.paths.into_iter().zip(made.unsure))
        {
            let kept = u64::try_from(sample.rows.len()).unwrap_or(u64::MAX);
            let family = |(path, unsure): (String, Vec<String>)| {
                let keys = explained.families.get(&path).copied().unwrap_or_default();
                DraftFamily { path, keys, unsure }
            };
            spaces.push(DraftedSpace {
                source_space: name.clone(),
                keys: explained.keys,
                explained_keys: explained.read_keys,
                bytes: explained.bytes,
                explained_bytes: explained.read_bytes,
                sampled: (!sample.is_whole()).then_some(kept),
                families: paths.into_iter().zip(notes).map(family).collect(),
            });
        }
        return Ok(Draft { text: made.text, spaces, findings: made.findings, not_looked_at });
    }
}

struct Made {
    text: String,
    paths: Vec<Vec<String>>,
    unsure: Vec<Vec<Vec<String>>>,
    findings: Vec<String>,
}

/// One draft, run over everything.
fn once(
    source: &dyn Source,
    view: &dyn View,
    samples: &[(String, Sample)],
    options: &Options,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(Made, Vec<Explained>), InferError> {
    let mut spaces = Vec::new();
    let mut unsure_values = Vec::new();
    for (name, sample) in samples {
        let mut groups = divide(&sample.keys());
        groups.iter_mut().for_each(keep_sound);
        let values: Vec<Option<ValueGuess>> =
            groups.iter().map(|group| options.values.then(|| values_of(sample, group)).flatten()).collect();
        let notes = values.iter().map(|guess| guess.as_ref().and_then(|guess| guess.unsure.clone()));
        unsure_values.push(notes.collect::<Vec<_>>());
        let values = values.into_iter().map(|guess| guess.map(|guess| guess.layout)).collect();
        spaces.push(DraftSpace { name: name.clone(), groups, values });
    }
    let plan = options.name.as_deref().map_or_else(|| "draft".to_owned(), identifier);
    let about =
        format!("Drafted from the keys of a {} source; read it before you rely on it.", source.kind());
    let (text, paths) = write(&plan, &about, &spaces);
    let compiled = compile("draft.keyplan", &text, |_| Err("a draft imports nothing".to_owned()));
    let what = compiled.errors().next().map(|error| error.message.clone());
    let Some(model) = compiled.plan else {
        return Err(InferError::Broken { what: what.unwrap_or_default(), text });
    };
    let kept = plain_arguments(&spaces, &paths);
    let decoder = Decoder::new(&model);
    let mut explained = Vec::new();
    for (index, space) in spaces.iter().enumerate() {
        let Some(id) = source.space(&space.name) else { continue };
        explained.push(run(view, id, &decoder, index, &kept, progress)?);
    }
    let mut unsure: Vec<Vec<Vec<String>>> = spaces.iter().map(|space| unsure(&space.groups)).collect();
    for (families, notes) in unsure.iter_mut().zip(unsure_values) {
        families.iter_mut().zip(notes).for_each(|(family, note)| family.extend(note));
    }
    let findings = findings(&model);
    Ok((Made { text, paths, unsure, findings }, explained))
}

/// Takes the keys of a group for bytes after their common ones if its layout is not one of the language.
fn keep_sound(group: &mut Group<'_>) {
    let text = format!("plan p; space s {{ key k = {}; }}", parts(&group.layout.pieces));
    if compile("draft.keyplan", &text, |_| Err("a draft imports nothing".to_owned())).plan.is_some() {
        return;
    }
    let head = common_prefix(&group.keys);
    let lengths = Seen::of(group.keys.iter().map(|key| key.len().saturating_sub(head.len())));
    let literal = Piece { guess: Guess::Literal(head.to_vec()), cut: Cut::Fixed(head.len()) };
    let rest = Piece { guess: Guess::Bytes(lengths), cut: Cut::End };
    group.layout.pieces = if head.is_empty() { vec![rest] } else { vec![literal, rest] };
}

/// The layout of the values of a group, from those that were kept.
fn values_of(sample: &Sample, group: &Group<'_>) -> Option<ValueGuess> {
    let kept = |key: &&[u8]| sample.rows.get(*key).and_then(Option::as_deref);
    let values: Vec<&[u8]> = evenly(&group.keys, VALUES).iter().filter_map(kept).collect();
    value_layout(&values)
}

/// Which arguments of each family are bytes that are only kept.
fn plain_arguments(spaces: &[DraftSpace<'_>], paths: &[Vec<String>]) -> BTreeMap<String, Vec<bool>> {
    let mut plain = BTreeMap::new();
    for (space, paths) in spaces.iter().zip(paths) {
        for (group, path) in space.groups.iter().zip(paths) {
            let pieces = group.layout.pieces.iter();
            let arguments = pieces.filter(|piece| !matches!(piece.guess, Guess::Literal(_)));
            plain.insert(path.clone(), arguments.map(|piece| !piece.guess.is_explained()).collect());
        }
    }
    plain
}
