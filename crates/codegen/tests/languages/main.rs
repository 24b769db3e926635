//! What is made of plans for other programs: Go, TypeScript, vectors and models, of the plans of the repository and of plans at random.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "all of it is a test, though most of it is outside of the functions marked as one"
)]

mod go;
mod made;
mod model;
mod random;
mod typescript;
