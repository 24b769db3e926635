//! A store that is open, read by tools of the same user: a socket in its directory, which answers reads and nothing else.
//!
//! Most engines let no second process in. A program that calls [`Store::answer`](crate::Store::answer) lets `keyplan db` and
//! `keyplan explore` look at its database while it runs; [`Live`] is the other end, an engine that only reads.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use keyplan_store::engine::{Fjall, FjallSettings};
//! use keyplan_store::live::Live;
//! use keyplan_store::{Access, Schema, Store};
//!
//! # let text = "plan demo; space cl { key tick = 0x01 pool: u64; }";
//! # let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
//! # let schema = Schema::of(&compiled).expect("sound");
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path().join("data");
//! let store = Arc::new(Store::open_or_create(Fjall::open(&directory, FjallSettings::default())?, &schema)?);
//! let answering = store.answer()?;
//!
//! // In another process of the same user:
//! let live = Live::connect(&directory)?.expect("somebody answers");
//! let seen = Store::open_recorded(live, Access::ReadOnly)?;
//! assert!(seen.space("cl").is_ok() && seen.batch().is_err());
//! # drop(answering);
//! # Ok(())
//! # }
//! ```
//!
//! # What is promised
//!
//! - Nothing is written: there is no message that would.
//! - Only processes of the user that runs the program are answered: the socket has the mode 0600, and on Linux the system
//!   is asked who is at its other end.
//! - A message has a limit, so have connections, walks of a connection, and the time that one may be idle. A peer that sends
//!   anything else is told so and let go; neither it nor one that breaks off does anything to the store.
//! - A connection sees one moment. It is a snapshot of the engine, and holds back what a snapshot does.

mod client;
mod server;
mod wire;

pub use client::{Live, LiveRange, LiveSnapshot};
pub use server::Answering;

/// The name of the socket in the directory of a database.
pub const SOCKET: &str = "keyplan.sock";

/// How many connections are answered at once.
pub const CONNECTIONS: usize = 16;

/// Who is at the other end of a socket, where the system tells.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn peer(stream: &std::os::unix::net::UnixStream) -> std::io::Result<Option<u32>> {
    Ok(Some(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw()))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn peer(_: &std::os::unix::net::UnixStream) -> std::io::Result<Option<u32>> {
    Ok(None)
}

/// The user of this process.
fn own() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether a process of this user is at the other end, as far as the system tells.
fn is_own(stream: &std::os::unix::net::UnixStream) -> bool {
    peer(stream).is_ok_and(|peer| peer.is_none_or(|peer| peer == own()))
}

/// The path by which a socket is reached: one that is too long for the system goes by its open directory, where it can.
fn reached<T>(
    directory: &std::path::Path,
    name: &str,
    call: impl FnOnce(&std::path::Path) -> std::io::Result<T>,
) -> std::io::Result<T> {
    /// What every system takes, with its end.
    const LONGEST: usize = 100;
    let path = directory.join(name);
    if path.as_os_str().len() < LONGEST || !cfg!(target_os = "linux") {
        return call(&path);
    }
    let opened = std::fs::File::open(directory)?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&opened);
    call(&std::path::Path::new("/proc/self/fd").join(number.to_string()).join(name))
}
