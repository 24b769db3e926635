//! The chores of the project: `cargo xtask test`, `quick`, `bench`, `fuzz`, `soak`, `generate`, `site`, `wasm`, `dist`, `features`, `vscode`.

mod bench;
mod built;
mod clock;
mod console;
mod dist;
mod features;
mod generate;
mod job;
mod no_std;
mod short_fuzz;
mod site;
mod soak;
mod test;
mod tool;
mod vscode;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The chores of the project")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything that must hold before a change is merged: formatting, lints, tests, documentation, short fuzzing.
    Test,
    /// What tells most about a change in a few minutes: formatting, lints, unit tests, vectors.
    Quick,
    /// Measures, and compares with the goals.
    Bench(bench::Bench),
    /// The fuzz targets on the stable toolchain, over the kept corpus and seeded random input.
    Fuzz(short_fuzz::Fuzz),
    /// The long forms of the random tests: the prover against enumeration, stores under fire, the real fuzzer.
    Soak(soak::Soak),
    /// Writes the pages that come from the code: the command line, the diagnostics, the rules, the findings.
    Generate(generate::Generate),
    /// Builds the site into target/site: the book, the playground and the charts; checks its links.
    Site(site::Site),
    /// Builds the package for JavaScript into target/npm, and tries it under Node.
    Wasm,
    /// Makes the archive of a release in target/dist: program, manual, completions, licences, checksum.
    Dist(dist::Dist),
    /// Tests the grammar for Visual Studio Code and packages the extension into target/vscode.
    Vscode,
    /// Checks the combinations of features that users take.
    Features {
        /// Only those that the test command looks at
        #[arg(long)]
        short: bool,
    },
    /// Builds the codec into a program without `std` and without an allocator.
    NoStd,
}

fn main() -> ExitCode {
    let done = match Args::parse().chore {
        Chore::Test => Ok(test::run()),
        Chore::Quick => Ok(test::quick()),
        Chore::Bench(bench) => bench::run(&bench),
        Chore::Fuzz(fuzz) => short_fuzz::run(&fuzz),
        Chore::Soak(soak) => soak::run(&soak),
        Chore::Generate(generate) => generate::run(&generate),
        Chore::Site(site) => site::run(&site),
        Chore::Wasm => site::package_only(),
        Chore::Dist(dist) => dist::run(&dist),
        Chore::Features { short } => features::run(short),
        Chore::Vscode => vscode::run(),
        Chore::NoStd => no_std::run(),
    };
    done.unwrap_or_else(|error| {
        console::error(&error);
        ExitCode::from(2)
    })
}
