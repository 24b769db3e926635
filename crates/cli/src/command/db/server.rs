//! A server whose keys a plan describes.

use std::ops::ControlFlow;

use anyhow::{Result, anyhow, bail};
use keyplan_database::redis;
use keyplan_database::structure::{self, Listed, StructureQuery};
use keyplan_plan::model::Plan;
use keyplan_report::statistics::Census;
use keyplan_report::verify::verify_structures;
use keyplan_store::structure::Redis;

use super::scan::found;
use super::structure::printed;
use super::verify::review;
use crate::args::db::{Dump, DumpFormat, Get, RowFormat, Scan, Source, Stats, Verify};
use crate::command::Outcome;
use crate::input;
use crate::render::{self, Length, Output, Progress};

/// A server, and the one space of the plan that its keys are of.
pub(super) struct Server {
    redis: Redis,
    plan: Plan,
    space: usize,
}

impl Server {
    /// Connects to the server that was named, if one was.
    pub(super) fn open(source: &Source) -> Result<Option<Self>> {
        if !source.is_server() {
            return Ok(None);
        }
        let path =
            source.plan.as_deref().ok_or_else(|| anyhow!("a server has no plan: name one with --plan"))?;
        let plan = input::asked(path)?;
        let (redis, space) = redis(&plan, source.url.as_deref())?;
        Ok(Some(Self { redis, plan, space }))
    }

    pub(super) fn scan(&self, args: &Scan, out: &mut Output) -> Result<Outcome> {
        let (family, values) = args.asked.of(&args.source);
        let query = StructureQuery { values: &values, limit: args.limit, reverse: args.rev };
        let take = &mut |listed: Listed<'_>| printed(listed, args.format, Length::Line, out);
        if let Some(family) = family {
            return Ok(found(structure::scan(&self.redis, &self.plan, &family, &query, take)?));
        }
        structure::scan_space(&self.redis, &self.plan, self.space, args.unknown, &query, take)?;
        Ok(Outcome::Clean)
    }

    pub(super) fn get(&self, args: &Get, out: &mut Output) -> Result<Outcome> {
        let (family, values) = args.asked.of(&args.source);
        let family = family.ok_or_else(|| anyhow!("name a family, and the arguments of its key"))?;
        let take = &mut |listed: Listed<'_>| printed(listed, args.format, Length::Whole, out);
        Ok(found(structure::get(&self.redis, &self.plan, &family, &values, take)?))
    }

    pub(super) fn stats(&self, url: Option<&str>, args: &Stats, out: &mut Output) -> Result<Outcome> {
        let progress = Progress::rows("counting");
        let told = |done| {
            progress.set(done);
            ControlFlow::Continue(())
        };
        let census = Census::of_structures(&self.redis, &self.plan, self.space, "redis", told)?;
        progress.end();
        match args.format {
            RowFormat::Text => out.text(&render::server_census(url, &census))?,
            RowFormat::Json => out.json(&render::census_json(&census, None))?,
        }
        Ok(Outcome::Clean)
    }

    pub(super) fn verify(&self, args: &Verify, out: &mut Output) -> Result<Outcome> {
        review(
            args,
            out,
            || ControlFlow::Continue(()),
            |tell, told| verify_structures(&self.redis, &self.plan, self.space, tell, told),
        )
    }

    pub(super) fn dump(&self, args: &Dump, out: &mut Output) -> Result<Outcome> {
        if args.format != DumpFormat::Json || args.output.is_some() {
            bail!("a server is dumped as JSON lines to standard output");
        }
        let take = &mut |listed: Listed<'_>| printed(listed, RowFormat::Json, Length::Whole, out);
        structure::dump(&self.redis, &self.plan, self.space, take)?;
        Ok(Outcome::Clean)
    }
}
