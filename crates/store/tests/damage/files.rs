//! The files of a database, and what can happen to them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::Random;

/// A file: its name, what is written in it, and its length. Journals are allocated ahead with zeros.
pub(crate) type Written = (PathBuf, Vec<u8>, u64);

/// The files of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Files(pub(crate) Vec<Written>);

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Damage {
    Cut,
    Flip,
    ZeroSector,
    ZeroPage,
    SwapPages,
    SwapFiles,
    Append,
    Delete,
    Empty,
}

pub(crate) const EVERY: [Damage; 9] = [
    Damage::Cut,
    Damage::Flip,
    Damage::ZeroSector,
    Damage::ZeroPage,
    Damage::SwapPages,
    Damage::SwapFiles,
    Damage::Append,
    Damage::Delete,
    Damage::Empty,
];

impl Files {
    pub(crate) fn read(directory: &Path) -> Self {
        let mut found = Vec::new();
        let mut waiting = vec![directory.to_owned()];
        while let Some(at) = waiting.pop() {
            for entry in std::fs::read_dir(at).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    waiting.push(path);
                    continue;
                }
                let mut bytes = std::fs::read(&path).unwrap();
                let length = bytes.len() as u64;
                // By pages first: a journal is tens of megabytes of zeros.
                while bytes.len() > 4096 && bytes.ends_with(&[0; 4096]) {
                    bytes.truncate(bytes.len() - 4096);
                }
                let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
                bytes.truncate(written);
                found.push((path.strip_prefix(directory).unwrap().to_owned(), bytes, length));
            }
        }
        found.sort();
        Self(found)
    }

    pub(crate) fn write(&self, directory: &Path) {
        std::fs::create_dir_all(directory).unwrap();
        for (name, bytes, length) in &self.0 {
            let path = directory.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(*length).unwrap();
        }
    }

    pub(crate) fn file(&mut self, name: &str) -> &mut Written {
        self.0.iter_mut().find(|(file, ..)| file.ends_with(name)).unwrap()
    }

    pub(crate) fn remove(&mut self, name: &str) {
        let before = self.0.len();
        self.0.retain(|(file, ..)| !file.starts_with(name));
        assert!(self.0.len() < before, "{name}");
    }

    /// The kinds of files that there are.
    pub(crate) fn kinds(&self) -> BTreeSet<&'static str> {
        self.0.iter().map(|(name, ..)| kind(name)).collect()
    }

    /// Damages a file; says which, and how.
    pub(crate) fn damage(&mut self, random: &mut Random, only: &str) -> (Damage, String) {
        let kinds: Vec<&str> = self.kinds().into_iter().filter(|kind| kind.contains(only)).collect();
        let of = *random.pick(&kinds);
        let some: Vec<usize> = (0..self.0.len()).filter(|&at| kind(&self.0[at].0) == of).collect();
        let at = *random.pick(&some);
        let mut damage = *random.pick(&EVERY);
        if self.0[at].1.is_empty() && damage != Damage::Delete {
            damage = Damage::Append;
        }
        let name = self.0[at].0.display().to_string();
        let said = self.apply(random, damage, at, &some);
        (damage, format!("{name}: {damage:?} {said}"))
    }

    fn apply(&mut self, random: &mut Random, damage: Damage, at: usize, alike: &[usize]) -> String {
        let (_, bytes, length) = &mut self.0[at];
        let written = bytes.len() as u64;
        let place = |random: &mut Random, size: u64| {
            let begin = random.below(written) / size * size;
            usize::try_from(begin).unwrap()..usize::try_from((begin + size).min(written)).unwrap()
        };
        match damage {
            Damage::Cut => {
                *length = random.below(written);
                bytes.truncate(usize::try_from(*length).unwrap());
                format!("to {length}")
            }
            Damage::Flip => {
                let places: Vec<u64> = (0..=random.below(3)).map(|_| random.below(written)).collect();
                for at in &places {
                    bytes[usize::try_from(*at).unwrap()] ^= 1 << random.below(8);
                }
                format!("at {places:?}")
            }
            Damage::ZeroSector | Damage::ZeroPage => {
                let size = if damage == Damage::ZeroPage { 4096 } else { 512 };
                let place = place(random, size);
                bytes[place.clone()].fill(0);
                format!("at {place:?}")
            }
            Damage::SwapPages => {
                let (one, other) = (place(random, 4096), place(random, 4096));
                let size = one.len().min(other.len());
                for step in 0..size {
                    bytes.swap(one.start + step, other.start + step);
                }
                format!("{one:?} and {other:?}")
            }
            Damage::SwapFiles => {
                let other = *random.pick(alike);
                let (one, two) = (self.0[at].clone(), self.0[other].clone());
                (self.0[at].1, self.0[at].2) = (two.1, two.2);
                (self.0[other].1, self.0[other].2) = (one.1, one.2);
                format!("with {}", two.0.display())
            }
            Damage::Append => {
                let more = match random.below(3) {
                    0 => vec![0; 100],
                    1 => random.bytes(100),
                    _ => bytes.clone(),
                };
                // After the length that the file says, not after what is written.
                bytes.resize(
                    usize::try_from(*length).unwrap().min(written.max(1 << 20).try_into().unwrap()),
                    0,
                );
                bytes.extend(&more);
                *length = (*length).max(bytes.len() as u64);
                format!("{} bytes", more.len())
            }
            Damage::Delete => {
                let (name, ..) = self.0.remove(at);
                name.display().to_string()
            }
            Damage::Empty => {
                bytes.clear();
                *length = 0;
                String::new()
            }
        }
    }
}

/// What a file is for.
pub(crate) fn kind(name: &Path) -> &'static str {
    let file = name.file_name().unwrap().to_string_lossy();
    if file.ends_with(".jnl") {
        "journal"
    } else if file == "current" {
        "current"
    } else if name.parent().is_some_and(|parent| parent.ends_with("tables")) {
        "table"
    } else if file == "version" {
        "format"
    } else if file.starts_with('v') {
        "manifest"
    } else if file == "keyplan.mark" || file == "keyplan.seal" {
        "mark"
    } else if file == "lock" || file == "lock.mdb" {
        "lock"
    } else {
        "file"
    }
}
