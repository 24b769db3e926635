use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Result;
use keyplan_plan::model::Plan;
use keyplan_store::engine::Engine;
use keyplan_store::{Access, Figures, PlanFingerprint, Reader, SpaceFigures, Store};

use super::server::Server;
use super::structure::{self, is_structured};
use super::{Database, on_engine, structures};
use crate::args::db::{RowFormat, Stats};
use crate::command::Outcome;
use crate::render::{self, Output, Progress};

/// What is in a database, in numbers.
#[derive(Debug)]
pub(crate) struct Census {
    /// The plan's name.
    pub(crate) plan: String,
    /// The fingerprint of its layout.
    pub(crate) fingerprint: PlanFingerprint,
    /// What the engine is called.
    pub(crate) engine: &'static str,
    /// Bytes on disk, if the engine can tell.
    pub(crate) disk_bytes: Option<u64>,
    /// Each family that has rows, by its path; the largest first.
    pub(crate) families: Vec<(String, Figures)>,
    /// How many fields, members or items there are of each family whose keys hold such.
    pub(crate) members: BTreeMap<String, u64>,
    /// Rows whose keys no family makes.
    pub(crate) unknown: Figures,
    /// All rows.
    pub(crate) total: Figures,
}

/// Counts rows and bytes.
pub(super) fn run(args: &Stats, out: &mut Output) -> Result<Outcome> {
    if let (Some(server), Some(url)) = (Server::open(&args.source)?, &args.source.url) {
        return server.stats(url, args, out);
    }
    let target = args.source.target();
    let (database, plan) = Database::open(&target, Access::ReadOnly)?;
    let census = on_engine!(&database, store => Census::take(store, &plan)?);
    match args.format {
        RowFormat::Text => out.text(&render::census(&target.directory, &census))?,
        RowFormat::Json => out.raw(&render::census_json(&census))?,
    }
    Ok(Outcome::Clean)
}

impl Census {
    /// What was counted on a server.
    pub(super) fn of_server(plan: &Plan, figures: SpaceFigures, members: BTreeMap<String, u64>) -> Self {
        let mut census = Self {
            plan: plan.name.clone(),
            fingerprint: plan.fingerprint().into(),
            engine: "redis",
            disk_bytes: None,
            total: figures.total(),
            unknown: figures.unknown,
            families: figures.families.into_iter().collect(),
            members,
        };
        census.sort();
        census
    }

    /// The largest family first.
    fn sort(&mut self) {
        let bytes = |figures: &Figures| figures.key_bytes + figures.value_bytes;
        self.families.sort_by(|(a, one), (b, other)| bytes(other).cmp(&bytes(one)).then_with(|| a.cmp(b)));
    }

    /// Reads every row.
    pub(crate) fn take<E: Engine>(store: &Arc<Store<E>>, plan: &Plan) -> Result<Self> {
        let reader = Reader::new(plan, store.snapshot()?);
        let progress = Progress::rows("counting");
        let mut census = Self {
            plan: plan.name.clone(),
            fingerprint: plan.fingerprint().into(),
            engine: E::NAME,
            disk_bytes: store.engine().statistics().disk_bytes,
            families: Vec::new(),
            members: BTreeMap::new(),
            unknown: Figures::default(),
            total: Figures::default(),
        };
        for (index, space) in plan.spaces.iter().enumerate() {
            let before = census.total.rows;
            let told = |done| {
                progress.set(before + done);
                ControlFlow::Continue(())
            };
            let figures = if is_structured(space) {
                let read = structures(store, space)?;
                let (figures, members) = structure::figures(&*read, plan, index, told)?;
                census.members.extend(members);
                figures
            } else {
                reader.figures(index, told)?
            };
            census.unknown = sum(census.unknown, figures.unknown);
            census.total = sum(census.total, figures.total());
            census.families.extend(figures.families);
        }
        census.sort();
        progress.end();
        Ok(census)
    }
}

const fn sum(a: Figures, b: Figures) -> Figures {
    Figures {
        rows: a.rows + b.rows,
        key_bytes: a.key_bytes.saturating_add(b.key_bytes),
        value_bytes: a.value_bytes.saturating_add(b.value_bytes),
    }
}
