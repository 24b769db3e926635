//! `cargo xtask dist`: the archive of a release, with its checksum.
//!
//! ```text
//! keyplan-⟨version⟩-⟨host⟩/
//!   keyplan                  the program, stripped
//!   man/man1/                a page for the command and each of its subcommands
//!   completions/             bash, zsh, fish, elvish, PowerShell
//!   LICENSE-*  THIRD-PARTY.md  README.md  CHANGELOG.md
//! ```
//!
//! The archive has no times, owners or paths of the machine that made it: a second run gives the same bytes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use xtask::archive::{Archive, Effort, checksum};
use xtask::{notices, workspace};

use crate::built;
use crate::console;
use crate::job::Job;

/// What is made, and of which program.
#[derive(Args)]
pub(crate) struct Dist {
    /// Make the archive twice of the program that the tests built, compare both, and look at what is inside
    #[arg(long)]
    check: bool,
}

const SHELLS: [(&str, &str); 5] = [
    ("bash", "keyplan.bash"),
    ("zsh", "_keyplan"),
    ("fish", "keyplan.fish"),
    ("elvish", "keyplan.elv"),
    ("powershell", "_keyplan.ps1"),
];

/// Makes the archive, and says where it is.
pub(crate) fn run(dist: &Dist) -> Result<ExitCode> {
    let release = Release::new()?;
    if dist.check {
        return check(&release);
    }
    let bytes = release.archive(&program(&release)?)?.to_tar_gz(release.time, Effort::Best)?;
    let folder = workspace::target()?.join("dist");
    std::fs::create_dir_all(&folder)?;
    let name = format!("{}.tar.gz", release.name);
    let sum = checksum(&bytes);
    std::fs::write(folder.join(&name), &bytes)?;
    std::fs::write(folder.join(format!("{name}.sha256")), format!("{sum}  {name}\n"))?;
    console::line(format_args!("{sum}  {}", workspace::relative(&folder.join(&name))));
    Ok(ExitCode::SUCCESS)
}

/// Two archives of one program, byte for byte, and what must be in them.
fn check(release: &Release) -> Result<ExitCode> {
    let program = built::keyplan()?;
    let (first, second) = (release.archive(&program)?, release.archive(&program)?);
    // What the tests built is large and squeezing it tells nothing: that is done to the program of a release.
    let one = first.to_tar_gz(release.time, Effort::None)?;
    let other = second.to_tar_gz(release.time, Effort::None)?;
    ensure!(one == other, "two archives of one program differ: {} and {}", checksum(&one), checksum(&other));
    let read = Archive::read(&one)?;
    ensure!(read == first, "the archive does not hold what was put into it");
    let inside = |path: &str| format!("{}/{path}", release.name);
    for path in [
        "keyplan",
        "man/man1/keyplan.1",
        "man/man1/keyplan-check.1",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "README.md",
    ] {
        ensure!(read.get(&inside(path)).is_some_and(|bytes| !bytes.is_empty()), "the archive lacks `{path}`");
    }
    for (shell, file) in SHELLS {
        let text = read.get(&inside(&format!("completions/{file}"))).map(String::from_utf8_lossy);
        ensure!(
            text.is_some_and(|text| text.contains("keyplan")),
            "the archive lacks completions for {shell}"
        );
    }
    let notices = read.get(&inside("THIRD-PARTY.md")).map(String::from_utf8_lossy).unwrap_or_default();
    for part in [
        "| fjall |",
        "| clap |",
        "| lmdb-master-sys |",
        "Permission is hereby granted",
        "OpenLDAP Public License",
    ] {
        ensure!(notices.contains(part), "the third-party notices lack `{part}`");
    }
    for line in notices.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        ensure!(cells.get(3).is_some_and(|licence| !licence.is_empty()), "a crate without a licence: {line}");
    }
    unpacked(&one, release)?;
    console::line(format_args!("{} files, {} bytes, twice the same", read.paths().count(), one.len()));
    Ok(ExitCode::SUCCESS)
}

/// Unpacks the archive as a user would, and runs what is in it.
fn unpacked(archive: &[u8], release: &Release) -> Result<()> {
    let folder = workspace::scratch()?.join("unpacked");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("release.tar.gz");
    std::fs::write(&file, archive)?;
    Job::new("tar", "-xzf")
        .argument(file.to_string_lossy())
        .argument("-C")
        .argument(folder.to_string_lossy())
        .run()?;
    let program = folder.join(&release.name).join("keyplan");
    let said = Job::new(&program.to_string_lossy(), "--version").output()?;
    ensure!(
        said.trim() == format!("keyplan {}", release.version),
        "the program says it is `{}`",
        said.trim()
    );
    std::fs::remove_dir_all(&folder).context("cannot remove what was unpacked")
}

/// The facts that an archive is named for.
struct Release {
    version: String,
    name: String,
    host: String,
    /// The time of every file: that of the commit, in seconds since 1970.
    time: u64,
}

impl Release {
    fn new() -> Result<Self> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let host = Job::new("rustc", "-vV").output()?;
        let host = host.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("rustc does not name its host")?.to_owned();
        let time = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(time) => time,
            Err(_) => Job::new("git", "log -1 --format=%ct").output()?,
        };
        let time = time.trim().parse().context("the time of the commit is not a number")?;
        Ok(Self { name: format!("keyplan-{version}-{host}"), version, host, time })
    }

    /// Everything that belongs beside a program.
    fn archive(&self, program: &Path) -> Result<Archive> {
        let mut archive = Archive::default();
        let inside = |path: &str| format!("{}/{path}", self.name);
        let bytes = std::fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
        archive.add_program(inside("keyplan"), bytes);
        for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"] {
            archive.add(inside(file), std::fs::read(workspace::root().join(file))?);
        }
        let pages = workspace::scratch()?.join("man1");
        if pages.exists() {
            std::fs::remove_dir_all(&pages)?;
        }
        let says = |arguments: &str| Job::new(&program.to_string_lossy(), arguments);
        says("man -o").argument(pages.to_string_lossy()).output()?;
        archive.add_folder(&inside("man/man1/"), &pages)?;
        for (shell, file) in SHELLS {
            archive
                .add(inside(&format!("completions/{file}")), says("completions").argument(shell).output()?);
        }
        archive.add(inside("THIRD-PARTY.md"), self.notices()?);
        Ok(archive)
    }

    fn notices(&self) -> Result<String> {
        let metadata = workspace::metadata_of(&[
            "--filter-platform",
            &self.host,
            "--manifest-path",
            "crates/cli/Cargo.toml",
        ])?;
        Ok(notices::page(&notices::packages(&metadata, "keyplan-cli")?))
    }
}

/// Builds the program of a release: stripped, and without paths of this machine.
fn program(release: &Release) -> Result<PathBuf> {
    let target = workspace::target()?.join("release-build");
    let home =
        std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    let root = workspace::root().to_string_lossy();
    let flags = [
        "-Cstrip=symbols".to_owned(),
        format!("--remap-path-prefix={home}=/cargo"),
        format!("--remap-path-prefix={root}=/keyplan"),
    ];
    Job::cargo("build --release --locked --package keyplan-cli --target")
        .argument(&release.host)
        .argument("--target-dir")
        .argument(target.to_string_lossy())
        .variable("CARGO_ENCODED_RUSTFLAGS", &flags.join("\u{1f}"))
        .variable("CFLAGS", &format!("-ffile-prefix-map={home}=/cargo"))
        .variable("SOURCE_DATE_EPOCH", &release.time.to_string())
        .across_crates()
        .run()?;
    let program = target.join(&release.host).join("release/keyplan");
    let bytes = std::fs::read(&program).with_context(|| format!("cannot read {}", program.display()))?;
    for place in [home.as_bytes(), root.as_bytes()] {
        if !place.is_empty() && bytes.windows(place.len()).any(|found| found == place) {
            bail!("the program names a folder of this machine: {}", String::from_utf8_lossy(place));
        }
    }
    Ok(program)
}
