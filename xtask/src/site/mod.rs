//! The site: the book of `docs/`, the playground, and the package for JavaScript that both come from.

pub(crate) mod charts;
mod package;
mod pages;
mod playground;
mod reference;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use xtask::workspace;

use crate::built;
use crate::console;
use crate::job::Job;
use crate::tool::Tool;

/// Where to, and what is tried afterwards.
#[derive(Args)]
pub(crate) struct Site {
    /// Also open the playground in a browser and use it as a person would
    #[arg(long)]
    test: bool,
}

/// Builds everything into `target/site`, and says where.
pub(crate) fn run(args: &Site) -> Result<ExitCode> {
    let site = workspace::target()?.join("site");
    let package = package::build()?;
    book(&site, &built::keyplan()?)?;
    playground::copy(&package, &site.join("playground"))?;
    links(&site)?;
    if args.test {
        playground::test(&site)?;
    }
    console::line(format_args!("the site is in {}", workspace::relative(&site)));
    Ok(ExitCode::SUCCESS)
}

/// Builds the package for JavaScript and tries it under Node.
pub(crate) fn package_only() -> Result<ExitCode> {
    let package = package::build()?;
    package::test(&package)?;
    console::line(format_args!("the package is in {}", workspace::relative(&package)));
    Ok(ExitCode::SUCCESS)
}

/// The pages, with those that are made from the code and the figures.
fn book(site: &Path, keyplan: &Path) -> Result<()> {
    Tool::MdBook.need()?;
    let folder = workspace::scratch()?.join("book");
    fresh(&folder)?;
    for copied in ["docs", "examples"] {
        copy_folder(&workspace::root().join(copied), &folder.join(copied))?;
    }
    charts::write(&folder.join("docs"))?;
    reference::write(keyplan, &folder.join("docs/reference"))?;
    pages::complete(&folder.join("docs"))?;
    std::fs::copy(workspace::root().join("site/book.toml"), folder.join("book.toml"))?;
    copy_folder(&workspace::root().join("site/theme"), &folder.join("theme"))?;
    if site.exists() {
        std::fs::remove_dir_all(site).with_context(|| format!("cannot empty {}", site.display()))?;
    }
    let build = Job::new("mdbook", "build").argument(folder.to_string_lossy()).argument("--dest-dir");
    build.argument(site.to_string_lossy()).output().map(drop)
}

/// An empty folder.
fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target)
                .with_context(|| format!("cannot copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// Every link of the site that stays inside it leads to a file.
fn links(site: &Path) -> Result<()> {
    let mut lost = Vec::new();
    for page in pages::all(site, "html")? {
        // Both hold other pages once more, with links as from where those are.
        if page.file_name().is_some_and(|name| name == "print.html" || name == "404.html") {
            continue;
        }
        let text = std::fs::read_to_string(&page)?;
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let path = link.split(['#', '?']).next().unwrap_or_default();
            let inside = !path.is_empty() && !path.contains(':');
            if inside && !page.parent().unwrap_or(site).join(path).exists() {
                lost.push(format!("{}: {link}", workspace::relative(&page)));
            }
        }
    }
    lost.sort();
    lost.dedup();
    if !lost.is_empty() {
        bail!("{} links lead nowhere:\n{}", lost.len(), lost.join("\n"));
    }
    Ok(())
}
