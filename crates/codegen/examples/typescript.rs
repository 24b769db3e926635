//! Writes the TypeScript module of a plan file into a directory.
#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "an example for people who change the generator"
)]

use std::path::{Path, PathBuf};

use keyplan_plan::diag::{Style, render};

fn main() {
    let mut args = std::env::args().skip(1);
    let path = PathBuf::from(args.next().expect("a plan file"));
    let out = PathBuf::from(args.next().expect("a directory"));
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let compiled = keyplan_plan::compile(&name, &read(&name).unwrap(), read);
    match keyplan_codegen::typescript::generate(&compiled) {
        Ok(files) => {
            std::fs::create_dir_all(out.join("testdata")).unwrap();
            let lines = keyplan_codegen::vectors::generate(
                &compiled,
                keyplan_codegen::vectors::Options { count: 20 },
            );
            std::fs::write(out.join("testdata/keyplan.jsonl"), lines.unwrap_or_default()).unwrap();
            for file in files {
                std::fs::write(out.join(&file.path), file.text).unwrap();
            }
        }
        Err(findings) => eprint!("{}", render(&findings, &compiled.sources, Style::Plain)),
    }
}
