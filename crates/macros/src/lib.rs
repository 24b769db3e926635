//! The macro that turns a plan into Rust types; `keyplan::plan!` is its documentation.

mod plan;
mod tokens;

/// Turns a plan into a module of types, in a file or written here.
///
/// ```ignore
/// keyplan::plan!("plans/osmosis_cl.keyplan");
/// keyplan::plan! { plan example; space cl { key pool = 0x03 id: u64.dec; } }
/// ```
///
/// The path is relative to the folder of the crate's `Cargo.toml`; the crate is built again when the file or one that it
/// imports changes. The plan is proved while the program is compiled, as `keyplan check` would: what is wrong with it, and a
/// guarantee that is refuted or not proved, is a compile error, at the segment at fault in a plan written here, with the
/// lines of the file otherwise. `accept` in the plan is the only way past it.
///
/// The module is called like the plan. It holds a module for each space, and there a struct for each family, with
/// `encode`, `decode` and a function for each scan that is declared and proved to return exactly its rows, and an enum
/// `Key` over all families. Keys are `Ord` where the plan proves that the order of their arguments is that of the bytes.
#[proc_macro]
pub fn plan(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    plan::expand(input.into()).into()
}
