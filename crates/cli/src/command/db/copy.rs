//! `keyplan db copy`: a database on another engine, or in another place.

use anyhow::{Context as _, Result, bail};
use keyplan_store::engine::{Engine, Error, KeyRange, RowRange as _, RowsDigest, Snapshot as _, SpaceKind};
use keyplan_store::{Access, Direction, Meta, Store, StoreError};

use super::{Database, on_engine};
use crate::args::db::{Copy, Target};
use crate::command::Outcome;
use crate::render::{self, Output, Progress};

/// What was copied of one space.
pub(crate) struct Copied {
    /// The space.
    pub(crate) space: String,
    /// How many rows it has.
    pub(crate) rows: u64,
    /// The checksum of them all, the same on both sides.
    pub(crate) checksum: String,
}

/// Copies, and compares.
pub(super) fn run(args: &Copy, out: &mut Output) -> Result<Outcome> {
    let from = Target { directory: args.source.clone(), plan: None };
    let (source, _) = Database::open(&from, Access::ReadOnly)?;
    let meta = on_engine!(&source, store => store.meta()).ok_or(StoreError::NoPlan)?.clone();
    if let Some(space) = meta.spaces.iter().find(|space| space.kind == SpaceKind::Multimap) {
        bail!("`{}` holds several values for a key, and cannot be copied", space.name);
    }
    let target = Database::create(&args.target, args.engine, &meta.schema())?;
    let progress = Progress::rows("copying");
    let copied = on_engine!(&source, from => on_engine!(&target, to => copy(from, to, &meta, &progress)))?;
    progress.end();
    let progress = Progress::rows("comparing");
    let mut rows = Vec::new();
    for space in &meta.spaces {
        let theirs = on_engine!(&source, store => summed(store, &space.name, &progress))?;
        let ours = on_engine!(&target, store => summed(store, &space.name, &progress))?;
        if theirs != ours {
            bail!(
                "the copy of `{}` has {} rows with checksum {}, and the source {} with {}: the source was written to \
                 meanwhile, or something is damaged",
                space.name,
                ours.0,
                ours.1,
                theirs.0,
                theirs.1
            );
        }
        rows.push(Copied { space: space.name.clone(), rows: ours.0, checksum: ours.1 });
    }
    progress.end();
    on_engine!(&target, store => store.shutdown(std::time::Duration::from_mins(10)))?;
    out.text(&render::copied(&rows, copied, target.engine_name(), &super::shown(&args.target)))?;
    Ok(Outcome::Clean)
}

fn copy<A: Engine, B: Engine>(
    from: &Store<A>,
    to: &Store<B>,
    meta: &Meta,
    progress: &Progress,
) -> Result<u64> {
    let snapshot = from.snapshot()?;
    let mut done = 0_u64;
    for space in &meta.spaces {
        let (source, target) = (from.space(&space.name)?, to.space(&space.name)?);
        let rows = snapshot.range(source, KeyRange::ALL)?.map(|row| {
            let (key, value) = row?;
            done = done.saturating_add(1);
            progress.set(done);
            Ok::<_, Error>((B::Buffer::from(&key[..]), B::Buffer::from(&value[..])))
        });
        to.engine().ingest(target, rows).with_context(|| format!("copying `{}`", space.name))?;
    }
    for ((scope, digest), name) in &meta.names {
        to.record_name(scope, digest, name)?;
    }
    Ok(done)
}

/// How many rows a space has, and the checksum of all of them.
fn summed<E: Engine>(store: &Store<E>, space: &str, progress: &Progress) -> Result<(u64, String)> {
    let id = store.space(space)?;
    let snapshot = store.engine().snapshot()?;
    // The digest of a piece stands for its rows, so that little is held at a time.
    let (mut count, mut whole) = (0_u64, RowsDigest::new(Direction::Ascending));
    let mut piece = RowsDigest::new(Direction::Ascending);
    let visited = snapshot.range(id, KeyRange::ALL)?.visit(Direction::Ascending, |key, value| {
        count = count.saturating_add(1);
        progress.set(count);
        piece.add(key, value);
        if piece.count() >= 4_096 {
            whole.add(&piece.digest().0, &[]);
            piece = RowsDigest::new(Direction::Ascending);
        }
        std::ops::ControlFlow::<()>::Continue(())
    })?;
    debug_assert!(visited.is_continue(), "nothing breaks it off");
    whole.add(&piece.digest().0, &[]);
    Ok((count, const_hex::encode(whole.digest().0.get(..16).unwrap_or_default())))
}
