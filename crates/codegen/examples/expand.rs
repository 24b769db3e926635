//! Prints what the macro emits for a plan file.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "printing is what it is for")]

use std::path::{Path, PathBuf};

use keyplan_plan::diag::{Style, render};

fn main() {
    let path = PathBuf::from(std::env::args().nth(1).unwrap_or_default());
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let text = match read(&name) {
        Ok(text) => text,
        Err(error) => return eprintln!("{}: {error}", path.display()),
    };
    let compiled = keyplan_plan::compile(&name, &text, read);
    match keyplan_codegen::rust::expand(&compiled) {
        Ok(code) => print!("{}", keyplan_codegen::rust::format(&code)),
        Err(findings) => eprint!("{}", render(&findings, &compiled.sources, Style::Plain)),
    }
}
