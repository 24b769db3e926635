//! Which key does what.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{Screen, moved};
use crate::tui::dialog::{Dialog, Hit};

/// The most text that is typed into a field.
const TYPED: usize = 1 << 16;

impl Screen {
    /// Takes a key.
    pub fn press(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && matches!(key.code, KeyCode::Char('c')) {
            self.is_left = true;
        } else if let Some(dialog) = self.dialog.take() {
            self.in_dialog(dialog, key.code, control);
        } else if !control {
            self.in_panes(key.code);
        }
    }

    /// Takes text that was pasted: into a field, else as what is searched for.
    pub fn paste(&mut self, pasted: &str) {
        let pasted: String = pasted.chars().filter(|c| !c.is_control()).take(TYPED).collect();
        match &mut self.dialog {
            Some(Dialog::Form { fields, at, .. }) => {
                if let Some(field) = fields.get_mut(*at) {
                    field.text += &pasted;
                }
            }
            Some(Dialog::Search { text, .. }) => {
                let whole = format!("{text}{pasted}");
                self.dialog = Some(self.search(whole));
            }
            _ => self.dialog = Some(self.search(pasted)),
        }
    }

    pub(super) fn in_panes(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char('q') => self.is_left = true,
            KeyCode::Char('?') => self.help(),
            KeyCode::Char('/') => self.dialog = Some(self.search(String::new())),
            KeyCode::Char('j') | KeyCode::Down => self.step(1),
            KeyCode::Char('k') | KeyCode::Up => self.step(-1),
            KeyCode::PageDown => self.step(20),
            KeyCode::PageUp => self.step(-20),
            KeyCode::Home => self.step(isize::MIN),
            KeyCode::End => self.step(isize::MAX),
            KeyCode::Char('J') => self.step_family(1),
            KeyCode::Char('K') => self.step_family(-1),
            KeyCode::Char('n') => self.turn_page(self.listing.next.clone(), "there is no next page"),
            KeyCode::Char('p') => self.turn_page(self.listing.before.clone(), "there is no previous page"),
            KeyCode::Enter => self.open(),
            KeyCode::Char('s') => self.scans(),
            KeyCode::Char('r') => self.turn(),
            KeyCode::Char('f') => match self.address.get("family") {
                Some(family) => self.go(self.address.view("facets").with("family", family)),
                None => self.say("open a family first"),
            },
            KeyCode::Char('u') => self.go(self.address.view("unread")),
            KeyCode::Char('2') => self.go(self.address.view("several")),
            KeyCode::Char('m') => self.go(self.address.view("")),
            KeyCode::Char('d') if self.address.get("v") == Some("diff") => self.choose_side(None),
            KeyCode::Char('d') => self.go(self.address.view("diff")),
            KeyCode::Char('h') => self.toggle_history(),
            KeyCode::Char('l') => self.go(self.address.view("plan")),
            KeyCode::Char('e') => self.edit(),
            KeyCode::Char('w') => self.write_plan(),
            KeyCode::Char('c') => self.copies(),
            KeyCode::Char('o') => self.notes(),
            KeyCode::Char('@') => self.heights(),
            KeyCode::Char('x') => self.stop(),
            KeyCode::Char('t') => {
                self.theme = self.theme.turned();
                self.say(self.theme.word());
            }
            KeyCode::Tab => self.turn_focus(1),
            KeyCode::BackTab => self.turn_focus(2),
            KeyCode::Esc => self.close(),
            _ => {}
        }
    }

    pub(super) fn in_dialog(&mut self, dialog: Dialog, code: KeyCode, control: bool) {
        if code == KeyCode::Esc {
            return;
        }
        self.dialog = match dialog {
            Dialog::Search { text, hits, chosen, why } => {
                self.in_search((text, hits, chosen, why), code, control)
            }
            Dialog::Menu { title, items, chosen } => match code {
                KeyCode::Enter => {
                    if let Some(item) = items.into_iter().nth(chosen) {
                        self.choose(item.choice);
                    }
                    return;
                }
                KeyCode::Char('j') | KeyCode::Down => {
                    let chosen = moved(chosen, 1, items.len());
                    Some(Dialog::Menu { title, items, chosen })
                }
                KeyCode::Char('k') | KeyCode::Up => {
                    let chosen = moved(chosen, -1, items.len());
                    Some(Dialog::Menu { title, items, chosen })
                }
                _ => Some(Dialog::Menu { title, items, chosen }),
            },
            Dialog::Form { title, mut fields, at, purpose, why } => {
                let mut next = at;
                match code {
                    KeyCode::Enter => {
                        self.submit(Dialog::Form { title, fields, at, purpose, why });
                        return;
                    }
                    KeyCode::Tab | KeyCode::Down => next = (at + 1) % fields.len().max(1),
                    KeyCode::BackTab | KeyCode::Up => {
                        next = (at + fields.len().max(1) - 1) % fields.len().max(1);
                    }
                    _ => {
                        if let Some(field) = fields.get_mut(at) {
                            typed(&mut field.text, code, control);
                        }
                    }
                }
                Some(Dialog::Form { title, fields, at: next, purpose, why })
            }
            Dialog::Text { title, lines, top } => match code {
                KeyCode::Char('j') | KeyCode::Down => {
                    let top = moved(top, 1, lines.len());
                    Some(Dialog::Text { title, lines, top })
                }
                KeyCode::Char('k') | KeyCode::Up => {
                    let top = moved(top, -1, lines.len());
                    Some(Dialog::Text { title, lines, top })
                }
                _ => None,
            },
        };
    }

    pub(super) fn in_search(
        &mut self,
        (mut text, hits, chosen, why): (String, Vec<Hit>, usize, String),
        code: KeyCode,
        control: bool,
    ) -> Option<Dialog> {
        match code {
            KeyCode::Enter => {
                let to = hits.get(chosen).map(|hit| hit.to.clone());
                match to {
                    Some(to) => {
                        self.go(to);
                        None
                    }
                    None => Some(Dialog::Search { text, hits, chosen, why }),
                }
            }
            KeyCode::Down => {
                let chosen = moved(chosen, 1, hits.len());
                Some(Dialog::Search { text, hits, chosen, why })
            }
            KeyCode::Up => {
                let chosen = moved(chosen, -1, hits.len());
                Some(Dialog::Search { text, hits, chosen, why })
            }
            _ => {
                typed(&mut text, code, control);
                Some(self.search(text))
            }
        }
    }
}

/// Types a key into a field.
fn typed(text: &mut String, code: KeyCode, control: bool) {
    match code {
        KeyCode::Backspace => {
            text.pop();
        }
        KeyCode::Char('u') if control => text.clear(),
        KeyCode::Char(c) if !control && text.len() < TYPED => text.push(c),
        _ => {}
    }
}
