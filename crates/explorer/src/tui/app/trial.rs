//! What if: the plan is changed in the user's own editor, proved again, and written where that was allowed.

use serde_json::Value as Json;

use super::Screen;
use crate::page::Page;
use crate::params::Params;
use crate::tui::json::{items, text};

/// A changed plan, and what came of it.
pub(super) struct Tried {
    text: String,
    pub(super) answer: Json,
}

impl Screen {
    /// The text that an editor is to be opened with, if that was asked for since the last time. What comes of it goes to
    /// [`Screen::edited`].
    pub const fn to_edit(&mut self) -> Option<String> {
        self.to_edit.take()
    }

    /// Asks for an editor with the plan: the changed one if there is one, else that which is read by.
    pub(super) fn edit(&mut self) {
        let whole = match &self.tried {
            Some(tried) => Ok(tried.text.clone()),
            None => self.explorer.answer(Page::Plan, &Params::default()).map(|page| {
                items(&page, "files").first().map(|file| text(file, "text").to_owned()).unwrap_or_default()
            }),
        };
        match whole {
            Ok(whole) => self.to_edit = Some(whole),
            Err(problem) => self.said = problem.to_string(),
        }
    }

    /// Proves a changed plan, reads the keys by it, and shows what would be.
    pub fn edited(&mut self, changed: &str) {
        match self.explorer.answer(Page::Try, &Params::default().with("text", changed)) {
            Ok(answer) => {
                self.tried = Some(Tried { text: changed.to_owned(), answer });
                self.go(self.address.view("try"));
            }
            Err(problem) => self.said = problem.to_string(),
        }
    }

    /// Says why there is no changed plan.
    pub(in crate::tui) fn not_edited(&mut self, why: &str) {
        self.say(why);
    }

    /// Writes the changed plan that was tried last, if the explorer may.
    pub(super) fn write_plan(&mut self) {
        let Some(tried) = &self.tried else {
            return self.say("nothing was changed: e opens the plan in your editor");
        };
        match self.explorer.answer(Page::WritePlan, &Params::default().with("text", tried.text.as_str())) {
            Ok(done) => {
                self.tried = None;
                self.begin();
                self.go(self.address.view("plan"));
                self.said = format!("written: {}", text(&done, "written"));
            }
            Err(problem) => self.said = problem.to_string(),
        }
    }
}
