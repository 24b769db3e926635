//! Every byte that is printed.
//!
//! What libraries return is said by `keyplan-print`. [`Output`] and [`message`] are the only places that print, and what they
//! print cannot act on a terminal: text of plans, keys, servers and files goes through one function, [`shown`], and JSON
//! through its sibling.

mod progress;

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::process::ExitCode;

use anstream::ColorChoice;
use keyplan_database::in_one_line;
use keyplan_database::words::without_credentials;
use keyplan_plan::notation::{is_hidden, visible, visible_json};

pub(crate) use keyplan_plan::notation::hex;
pub(crate) use keyplan_print::*;
pub(crate) use progress::Progress;

/// How wide a picture may get where there is no terminal to ask.
const PIPE_WIDTH: usize = 100;

/// Standard output, buffered.
///
/// Text is written with its styles, and they are taken out where nobody would see them.
pub(crate) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    plain: bool,
    terminal: bool,
    width: usize,
}

impl Output {
    /// Standard output, with colour if it is wanted and can be shown.
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let plain = anstream::AutoStream::choice(&stdout) == ColorChoice::Never;
        let width = terminal_size::terminal_size_of(&stdout)
            .filter(|_| stdout.is_terminal())
            .map_or(PIPE_WIDTH, |(width, _)| usize::from(width.0));
        let terminal = stdout.is_terminal();
        Self { out: BufWriter::with_capacity(1 << 16, stdout.lock()), plain, terminal, width: width.max(40) }
    }

    /// How many columns there are.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Writes text that may have styles.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(shown(text, !self.plain).as_bytes())
    }

    /// Writes text that may have styles, and ends the line.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.text(text)?;
        self.out.write_all(b"\n")
    }

    /// Writes lines of JSON.
    pub(crate) fn json(&mut self, json: &[u8]) -> io::Result<()> {
        self.out.write_all(&visible_json(json))
    }

    /// Writes bytes as they are; on a terminal, so that they cannot act on it.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.terminal {
            return self.out.write_all(visible(&String::from_utf8_lossy(bytes)).as_bytes());
        }
        self.out.write_all(bytes)
    }

    /// Hands everything over to the system.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Says why the arguments make no command, or prints the help that was asked for.
pub(crate) fn refused(error: &clap::Error, words: &[OsString]) -> ExitCode {
    // What was typed is repeated in the message, and may hold anything.
    if error.use_stderr() {
        let plain = error.render().to_string();
        let bare = without_credentials(&plain, words);
        if bare != plain || words.iter().any(|word| word.to_string_lossy().chars().any(is_hidden)) {
            message(&bare);
            return ExitCode::from(2);
        }
    }
    error.exit()
}

/// Says on standard error why the command could not run.
pub(crate) fn fatal(error: &anyhow::Error) {
    message(&format!("{}: {}\n", painted(ERROR, "error"), in_one_line(error.as_ref())));
}

/// Writes text that may have styles on standard error. Where even that fails, nobody is left to be told.
pub(crate) fn message(text: &str) {
    let colours = anstream::AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let mut err = io::stderr().lock();
    drop(err.write_all(shown(text, colours).as_bytes()).and_then(|()| err.flush()));
}

/// Whether output ended because its reader went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
