//! The reports to other projects: their programs run, and print what the page says. Those in Rust are tests of the crate
//! `keyplan-examples`.

use std::path::Path;
use std::process::Command;

use xtask::workspace;

#[test]
fn the_programs_of_the_reports_print_what_the_pages_say() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("upstream");
    let mut found = 0;
    for page in workspace::files_in(&workspace::root().join("docs/upstream"), "md").unwrap() {
        let text = std::fs::read_to_string(&page).unwrap();
        for (number, block) in text.split("```go\n").skip(1).enumerate() {
            let (program, rest) = block.split_once("```\n").unwrap();
            let said = rest.trim_start().strip_prefix("```text\n").and_then(|rest| rest.split("```").next());
            let name = format!("{}{number}", page.file_stem().unwrap().to_string_lossy());
            let module = folder.join(&name);
            std::fs::create_dir_all(&module).unwrap();
            std::fs::write(module.join("main.go"), program).unwrap();
            std::fs::write(module.join("go.mod"), format!("module {name}\n\ngo 1.19\n")).unwrap();
            let output = Command::new("go")
                .args(["run", "."])
                .current_dir(&module)
                .env("GOTOOLCHAIN", "local")
                .output()
                .unwrap_or_else(|error| {
                    panic!("go cannot be run ({error}): install it with `apt-get install golang-go`")
                });
            let printed = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(Some(printed.as_str()), said, "{name}");
            found += 1;
        }
    }
    assert!(found >= 3, "only {found} programs in Go");
    std::fs::remove_dir_all(&folder).unwrap();
}
