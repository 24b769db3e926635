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
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use ratatui::crossterm::execute;

pub use self::app::Screen;
use crate::explorer::Explorer;

/// How long a key is waited for before the counts are looked at again.
const TICK: Duration = Duration::from_millis(250);
/// The longest text that is handed to a terminal for pasting: more than this, terminals drop.
const PASTED: usize = 72 << 10;

/// Explores in this terminal until somebody leaves; `at` is a place as in the page's address, or nothing.
///
/// The terminal is put back as it was, also if the program panics.
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
    }
    Ok(())
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
