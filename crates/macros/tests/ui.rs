//! What compiles, and what the compiler says about what does not.

#[test]
fn plans_compile_or_say_why_not() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
