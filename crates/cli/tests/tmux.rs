//! `keyplan explore --tui` on a real terminal, which tmux is: keys are sent, and the screen is read.
#![cfg(test)]
#![cfg(feature = "explore")]

use std::path::Path;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

/// A terminal of this test's own, which ends with it.
struct Terminal {
    folder: tempfile::TempDir,
}

impl Terminal {
    fn tmux(&self, arguments: &[&str]) -> Output {
        Command::new("tmux")
            .env("TMUX_TMPDIR", self.folder.path())
            .env_remove("TMUX")
            .env("LC_ALL", "C.UTF-8")
            .args(["-L", "keyplan", "-f", "/dev/null"])
            .args(arguments)
            .output()
            .unwrap()
    }

    fn start(command: &str) -> Self {
        let terminal = Self { folder: tempfile::tempdir().unwrap() };
        // The shell stays behind it, so that the end of the program can be seen.
        let whole = format!("{command}; echo it ended with $?; sleep 600");
        let started = terminal.tmux(&["new-session", "-d", "-x", "150", "-y", "40", &whole]);
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        terminal
    }

    fn keys(&self, keys: &[&str]) {
        for key in keys {
            assert!(self.tmux(&["send-keys", key]).status.success());
        }
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-t", "0"]).stdout).into_owned()
    }

    /// Waits until all of it is on the screen.
    #[track_caller]
    fn sees(&self, all: &[&str]) -> String {
        let mut shown = String::new();
        for _ in 0..1200 {
            shown = self.screen();
            if all.iter().all(|words| shown.contains(words)) {
                return shown;
            }
            sleep(Duration::from_millis(100));
        }
        panic!("no {all:?} in\n{shown}");
    }
}

impl Terminal {
    /// Presses Escape and waits until something is gone: a key that comes at once would be one with it.
    #[track_caller]
    fn close(&self, words: &str) {
        self.keys(&["Escape"]);
        for _ in 0..1200 {
            if !self.screen().contains(words) {
                return;
            }
            sleep(Duration::from_millis(100));
        }
        panic!("`{words}` is still there:\n{}", self.screen());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Whether tmux is here. In CI it must be.
fn is_there() -> bool {
    if Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success()) {
        return true;
    }
    let in_ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    assert!(!in_ci, "tmux is missing: install it with `apt-get install tmux`");
    eprintln!("not run: `cargo xtask test` installs tmux");
    false
}

fn keyplan(folder: &Path, arguments: &[&str]) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_keyplan")).current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_database_is_explored_in_a_terminal() {
    if !is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let plan = "plan shop; space orders { key order = 0x01 customer: u32 at: u64 -> total: u32 \
                scan all scan by customer in order; key note = 0x03 title: text(0..=200) -> n: u8 scan all; }";
    std::fs::write(folder.path().join("shop.keyplan"), plan).unwrap();
    keyplan(folder.path(), &["db", "create", "data", "shop.keyplan"]);
    for at in 0..5 {
        let at = format!("at={at}");
        keyplan(folder.path(), &["db", "put", "data", "order", "customer=7", &at, "total=100"]);
    }
    // A title that would clear the screen, name the window and turn the writing around.
    let title = "title=\u{1b}[2J\u{1b}]0;evil\u{7}\u{202e}x";
    keyplan(folder.path(), &["db", "put", "data", "note", title, "n=1"]);
    let command = format!(
        "cd '{}' && VISUAL= EDITOR='sed -i s/0x03/0x04/' '{}' explore data --tui",
        folder.path().display(),
        env!("CARGO_BIN_EXE_keyplan")
    );
    let terminal = Terminal::start(&command);
    terminal.sees(&["Families", "Bytes by family", "orders.order", "6 rows"]);
    // The first family, its first row: a table by argument, lanes, the value.
    terminal.keys(&["J", "j"]);
    terminal.sees(&["customer", "total", "01 00000007 0000000000000000", "customer = 7", "at = 0"]);
    // A scan that is declared, with its verdict and its bounds.
    terminal.keys(&["s"]);
    terminal.sees(&["Scans that the plan declares", "✓ proved", "by customer in order"]);
    terminal.keys(&["j", "Enter"]);
    terminal.sees(&["customer ›"]);
    terminal.keys(&["7", "Tab", "2", "Enter"]);
    terminal.sees(&["customer=7", "≥ 2", "3 rows"]);
    // A key that is pasted.
    terminal.keys(&["/"]);
    terminal.sees(&["Find a family, or paste a key"]);
    terminal.keys(&["0x01000000070000000000000003"]);
    terminal.sees(&["key in hex", "found"]);
    terminal.keys(&["Enter"]);
    terminal.sees(&["at = 3"]);
    // Copied as a command.
    terminal.keys(&["c"]);
    terminal.sees(&["the key as hex"]);
    terminal.keys(&["j", "Enter"]);
    terminal.sees(&["Copied", "keyplan db get data orders.order customer=7 at=3"]);
    terminal.close("Copied");
    // What is hostile is text.
    terminal.keys(&["m"]);
    terminal.sees(&["Bytes by family"]);
    terminal.keys(&["J", "J", "j"]);
    let shown = terminal.sees(&["Families", "orders.note", "\\u{1b}[2J\\u{1b}]0;evil\\u{7}\\u{202e}x"]);
    assert!(!shown.contains('\u{202e}'), "{shown}");
    let name = terminal.tmux(&["display-message", "-p", "-t", "0", "#{pane_title}"]);
    assert!(!String::from_utf8_lossy(&name.stdout).contains("evil"));
    // The plan is changed in the user's own editor, and what would be is shown.
    terminal.keys(&["e"]);
    terminal.sees(&["What if?", "Another layout", "orders", "reads 5 of all 6 rows"]);
    terminal.keys(&["w"]);
    terminal.sees(&["start with `--write-plan`"]);
    // Help, and another size.
    terminal.keys(&["?"]);
    terminal.sees(&["Keys", "keys that no family makes", "next pane"]);
    terminal.close("next pane");
    assert!(terminal.tmux(&["resize-window", "-x", "64", "-y", "20"]).status.success());
    terminal.keys(&["m"]);
    terminal.sees(&["Bytes by family", "orders.order"]);
    assert!(terminal.tmux(&["resize-window", "-x", "150", "-y", "40"]).status.success());
    terminal.sees(&["Families", "Bytes by family"]);
    // Whoever leaves finds the terminal as it was.
    terminal.keys(&["q"]);
    let left = terminal.sees(&["it ended with 0"]);
    assert!(!left.contains("Families"), "{left}");
}

#[test]
fn without_a_terminal_it_says_so() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_keyplan")).args(["explore", "nowhere", "--tui"]).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`--tui` draws on a terminal"), "{said}");
}
