//! What is typed to look into a database: `keyplan explore`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as Group;

use super::source::Reading;

/// `keyplan explore`
#[derive(Debug, Group)]
#[command(
    after_help = "SOURCE is a database of any kind that is read here, a dump, a list of rows, or the URL of a server; \
    PATH@HEIGHT is an older version of one that keeps some. One that a running program has open is read through the socket at \
    which its store answers. Without a plan, the one that is in the database is taken, else a known one that fits, else \
    a draft. Nothing is changed.\n\n\
    The address that is printed lets one browser in and is good for this run. It is of this machine: nobody else can reach \
    it.\n\n\
    Examples:\n  keyplan explore keyplan-demo --open\n  keyplan explore keyplan-demo --tui --at family=cl.tick\n  \
    keyplan explore redis://127.0.0.1 --plan plans/onesat.keyplan\n  \
    keyplan explore node/data/application.db --plan plans/upstream/osmosis_cl.keyplan --bind cl=concentratedliquidity\n  \
    keyplan explore node1.db --with node2.db --plan app.keyplan"
)]
pub(crate) struct Explore {
    /// What is looked into
    #[arg(value_name = "SOURCE", default_value = "keyplan-demo")]
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Another database to compare it with; may be given again
    #[arg(long = "with", value_name = "SOURCE")]
    pub(crate) with: Vec<String>,
    /// In this terminal, with the same keys as in the browser
    #[arg(long, conflicts_with_all = ["open", "listen"])]
    pub(crate) tui: bool,
    /// Where to begin: what comes after the `?` of the page's address
    #[arg(long, value_name = "PLACE", default_value = "", hide_default_value = true)]
    pub(crate) at: String,
    /// Open the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Where to listen; a port of 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Let the page write the plan's file and the notes
    #[arg(long, requires = "plan")]
    pub(crate) write_plan: bool,
    /// The file of notes and saved scans; left out, `keyplan.notes` beside the plan
    #[arg(long, value_name = "FILE")]
    pub(crate) notes: Option<PathBuf>,
}
