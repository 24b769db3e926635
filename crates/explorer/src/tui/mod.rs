//! The pages in a terminal: the same three panes, the same questions and the same keys as in the browser.
//!
//! [`run`] takes over the terminal until somebody leaves. [`Screen`] is for a program that draws on a terminal itself. What is
//! shown comes by one function that writes what would act
//! on a terminal as its number, so that no key, value or plan can.

mod address;
mod app;
mod dialog;
mod draw;
mod json;
mod listing;
mod paint;
mod side;

use std::io::{self, Write as _};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

pub use self::app::Screen;
use crate::explorer::Explorer;

/// How long a key is waited for before the counts are looked at again.
const TICK: Duration = Duration::from_millis(250);
/// The longest text that is handed to a terminal for pasting: more than this, terminals drop.
const PASTED: usize = 72 << 10;

/// Explores in this terminal until somebody leaves; `at` is a place as in the page's address, or nothing.
///
/// The plan is changed in the editor that `VISUAL` or `EDITOR` names, which gets a copy of it. The terminal is put back as it was,
/// also if the program panics.
pub fn run(explorer: Arc<Explorer>, at: &str) -> io::Result<()> {
    let mut screen = Screen::new(explorer, at);
    let mut terminal = ratatui::try_init()?;
    // A terminal without it sends what is pasted as keys.
    let _ = execute!(io::stdout(), EnableBracketedPaste);
    let ended = go_on(&mut terminal, &mut screen);
    let _ = execute!(io::stdout(), DisableBracketedPaste);
    ratatui::try_restore()?;
    ended
}

fn go_on(terminal: &mut DefaultTerminal, screen: &mut Screen) -> io::Result<()> {
    while !screen.is_left() {
        terminal.draw(|frame| screen.draw(frame))?;
        if event::poll(TICK)? {
            match event::read()? {
                Event::Key(key) => screen.press(key),
                Event::Paste(text) => screen.paste(&text),
                // A new size is drawn like anything else.
                _ => {}
            }
        } else {
            screen.tick();
        }
        if let Some(text) = screen.copied() {
            hand_over(&text)?;
        }
        if let Some(text) = screen.to_edit() {
            match edit(&text) {
                Ok(changed) => screen.edited(&changed),
                Err(problem) => screen.not_edited(&format!("the plan was not changed: {problem}")),
            }
            terminal.clear()?;
        }
    }
    Ok(())
}

/// Lets the user's own editor have the terminal, with a copy of the plan; what they saved.
fn edit(text: &str) -> io::Result<String> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("plan.keyplan");
    std::fs::write(&file, text)?;
    let named = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|it| !it.trim().is_empty()));
    let command = named.unwrap_or_else(|| "vi".to_owned());
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let mut out = io::stdout();
    let _ = execute!(out, DisableBracketedPaste);
    execute!(out, LeaveAlternateScreen)?;
    disable_raw_mode()?;
    let ended = Command::new(program).args(words).arg(&file).status();
    enable_raw_mode()?;
    execute!(out, EnterAlternateScreen)?;
    let _ = execute!(out, EnableBracketedPaste);
    match ended {
        Ok(status) if status.success() => std::fs::read_to_string(&file),
        Ok(status) => Err(io::Error::other(format!("`{command}` ended with {status}"))),
        Err(problem) => {
            Err(io::Error::new(problem.kind(), format!("`{program}`: {problem}; set EDITOR to yours")))
        }
    }
}

/// Hands a text to the terminal for pasting. It goes in base64: nothing in it acts.
fn hand_over(text: &str) -> io::Result<()> {
    if text.len() > PASTED {
        return Ok(());
    }
    let mut out = io::stdout();
    write!(out, "\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))?;
    out.flush()
}
