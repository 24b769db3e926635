//! Every subcommand as a person would run it: `tests/cmd` holds the commands and what they print.

#[test]
fn commands_print_what_is_written_down() {
    let cases = trycmd::TestCases::new();
    cases.env("NO_COLOR", "1").case("tests/cmd/*.trycmd").case("tests/cmd/*.toml");
}
