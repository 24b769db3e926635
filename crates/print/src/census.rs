//! How much of a database each family takes.

use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use keyplan_plan::diag::grouped;
use keyplan_report::growth::{Amount, Growth};
use keyplan_report::statistics::{Census, Sizes};
use keyplan_store::Figures;
use serde_json::json;

use super::row::many;
use super::{DIM, ERROR, NAME, STRONG, hex, painted};

/// How wide a bar of the whole is.
const BAR: u64 = 20;

/// The figures of a database.
pub fn census(directory: &Path, census: &Census) -> String {
    let mut out = format!(
        "plan {} (fingerprint {}) · {} · {}",
        painted(NAME, &census.plan),
        census.fingerprint,
        census.engine,
        many(census.total.rows, "key", "keys"),
    );
    if let Some(bytes) = census.disk_bytes {
        put!(out, " · {} on disk", size(bytes));
    }
    out.push_str("\n\n");
    out.push_str(&census_table(census, &format!("keyplan db scan {} --unknown", directory.display())));
    out.push_str(&reads_table(census));
    out
}

/// What the row cache did in the run that ended last; nothing if there was none.
fn reads_table(census: &Census) -> String {
    if census.reads.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["reads through the row cache", "hits", "misses", "hit rate", "evictions"]);
    for read in &census.reads {
        let all = read.hits.saturating_add(read.misses);
        // In tenths of a percent, rounded down.
        let rate = u128::from(read.hits) * 1000 / u128::from(all.max(1));
        let name = read.family.clone().unwrap_or_else(|| format!("{}, other keys", read.space));
        let rate = format!("{}.{} %", rate / 10, rate % 10);
        table.add_row([name, grouped(read.hits), grouped(read.misses), rate, grouped(read.evictions)]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut out = String::from("\n");
    for (index, line) in table.lines().enumerate() {
        let line = line.trim_end();
        put!(out, " {}\n", if index == 0 { painted(DIM, line) } else { line.to_owned() });
    }
    out
}

/// The figures of a server.
pub fn server_census(url: Option<&str>, census: &Census) -> String {
    let keys = many(census.total.rows, "key", "keys");
    let head = format!("plan {} · redis · {keys}", painted(NAME, &census.plan));
    let server = url.map_or("--engine redis".to_owned(), |url| format!("--url {}", without_secret(url)));
    let unknown = format!("keyplan db scan {server} --unknown");
    format!("{head}\n\n{}", census_table(census, &unknown))
}

/// A URL without the credentials before its host.
fn without_secret(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => {
            format!("{}{}", url.get(..scheme + 3).unwrap_or_default(), url.get(at + 1..).unwrap_or_default())
        }
        _ => url.to_owned(),
    }
}

/// Only the table; `unknown` is the command that shows rows of no family.
fn census_table(census: &Census, unknown: &str) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let structured = !census.members.is_empty();
    let shown = |cells: [String; 6]| {
        // Nobody needs a column for what no family has.
        cells
            .into_iter()
            .enumerate()
            .filter(move |(index, _)| structured || *index != 2)
            .map(|(_, cell)| cell)
    };
    let header = ["family", "keys", "members", "key bytes", "value bytes", "share"];
    table.set_header(shown(header.map(str::to_owned)));
    let total = bytes(&census.total);
    for (path, figures) in &census.families {
        let members = census.members.get(path).map_or_else(String::new, |members| grouped(*members));
        table.add_row(shown(row(path, figures, members, bar(bytes(figures), total))));
    }
    if census.unknown.rows > 0 {
        table.add_row(shown(row("unknown", &census.unknown, String::new(), unknown.to_owned())));
    }
    if census.families.len() > 1 {
        let members = grouped(census.members.values().sum());
        table.add_row(shown(row("all", &census.total, members, String::new())));
    }
    for column in table.column_iter_mut().skip(1).take(3 + usize::from(structured)) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut out = String::new();
    for (index, line) in table.lines().enumerate() {
        let line = line.trim_end();
        let line = match index {
            0 => painted(DIM, line),
            _ if line.trim_start().starts_with("unknown ") => painted(ERROR, line),
            _ if line.trim_start().starts_with("all ") => painted(STRONG, line),
            _ => line.to_owned(),
        };
        put!(out, " {line}\n");
    }
    out
}

fn row(name: &str, figures: &Figures, members: String, share: String) -> [String; 6] {
    let (key_bytes, value_bytes) = (size(figures.key_bytes), size(figures.value_bytes));
    [name.to_owned(), grouped(figures.rows), members, key_bytes, value_bytes, share]
}

const fn bytes(figures: &Figures) -> u64 {
    figures.key_bytes.saturating_add(figures.value_bytes)
}

/// The ends and the sizes of each family's rows.
pub fn details(census: &Census) -> String {
    let mut out = String::new();
    for (path, _) in &census.families {
        let Some(detail) = census.details.get(path) else { continue };
        put!(out, "\n {}\n", painted(NAME, path));
        put!(out, "   {}  {}\n", painted(DIM, "first "), ended(&detail.first));
        put!(out, "   {}  {}\n", painted(DIM, "last  "), ended(&detail.last));
        for (what, sizes) in [("keys  ", &detail.keys), ("values", &detail.values)] {
            let total: u64 = sizes.iter().map(|(_, _, count)| count).sum();
            for (index, (least, most, count)) in sizes.iter().enumerate() {
                let what = if index == 0 { what } else { "      " };
                let size = if least == most { format!("{least} B") } else { format!("{least} to {most} B") };
                put!(
                    out,
                    "   {}  {size:>20}  {:>14}  {}\n",
                    painted(DIM, what),
                    grouped(count),
                    bar(count, total)
                );
            }
        }
    }
    out
}

/// A key, or its first bytes.
fn ended(key: &[u8]) -> String {
    super::row::cut(key)
}

/// What has changed since figures were last taken.
pub fn growth(growth: Option<&Growth>) -> String {
    let Some(growth) = growth else { return "\nthe figures are kept; there were none before\n".to_owned() };
    let mut out = format!("\nsince {} ago: ", age(growth.seconds));
    if growth.families.is_empty() {
        out.push_str("no difference\n");
        return out;
    }
    out.push('\n');
    for (path, was, is) in &growth.families {
        put!(
            out,
            "  {}  {} keys, {} bytes\n",
            painted(NAME, path),
            signed(was.rows, is.rows),
            signed(was.bytes, is.bytes)
        );
    }
    out
}

/// `+1,234` or `-5`
fn signed(was: u64, is: u64) -> String {
    if is >= was { format!("+{}", grouped(is - was)) } else { format!("-{}", grouped(was - is)) }
}

/// `3 h 20 min`
fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// The figures as one object.
pub fn census_json(census: &Census, growth: Option<&Growth>) -> Vec<u8> {
    let figures = |figures: &Figures| json!({ "rows": figures.rows, "key_bytes": figures.key_bytes, "value_bytes": figures.value_bytes });
    let family = |(path, found): &(String, Figures)| {
        let mut object = figures(found);
        if let (Some(object), Some(members)) = (object.as_object_mut(), census.members.get(path)) {
            object.insert("members".to_owned(), json!(members));
        }
        if let (Some(object), Some(detail)) = (object.as_object_mut(), census.details.get(path)) {
            let sizes = |sizes: &Sizes| -> Vec<_> {
                sizes
                    .iter()
                    .map(|(least, most, rows)| json!({ "least": least, "most": most, "rows": rows }))
                    .collect()
            };
            object.insert("first".to_owned(), json!(hex(&detail.first)));
            object.insert("last".to_owned(), json!(hex(&detail.last)));
            object.insert("key_sizes".to_owned(), json!(sizes(&detail.keys)));
            object.insert("value_sizes".to_owned(), json!(sizes(&detail.values)));
        }
        (path.clone(), object)
    };
    let families: serde_json::Map<_, _> = census.families.iter().map(family).collect();
    let reads: Vec<_> = census
        .reads
        .iter()
        .map(|read| {
            json!({
                "space": read.space, "family": read.family, "hits": read.hits, "misses": read.misses,
                "evictions": read.evictions,
            })
        })
        .collect();
    let mut object = json!({
        "version": 1,
        "exact": true,
        "plan": census.plan,
        "fingerprint": census.fingerprint.to_string(),
        "engine": census.engine,
        "disk_bytes": census.disk_bytes,
        "families": families,
        "unknown": figures(&census.unknown),
        "total": figures(&census.total),
    });
    if let Some(object) = object.as_object_mut().filter(|_| !reads.is_empty()) {
        object.insert("reads".to_owned(), reads.into());
    }
    if let (Some(object), Some(growth)) = (object.as_object_mut(), growth) {
        let family = |(path, was, is): &(String, Amount, Amount)| {
            let change = json!({ "rows_before": was.rows, "rows": is.rows, "bytes_before": was.bytes, "bytes": is.bytes });
            (path.clone(), change)
        };
        let families: serde_json::Map<_, _> = growth.families.iter().map(family).collect();
        object.insert("since".to_owned(), json!({ "seconds": growth.seconds, "families": families }));
    }
    format!("{object}\n").into_bytes()
}

/// A bar of eighths of a character: what `part` is of `whole`.
fn bar(part: u64, whole: u64) -> String {
    let eighths = u128::from(part) * u128::from(BAR * 8) / u128::from(whole.max(1));
    let mut bar = String::new();
    for _ in 0..eighths / 8 {
        bar.push('█');
    }
    bar.push_str(match eighths % 8 {
        1 => "▏",
        2 => "▎",
        3 => "▍",
        4 => "▌",
        5 => "▋",
        6 => "▊",
        7 => "▉",
        // What is there is never shown as nothing.
        _ if eighths == 0 && part > 0 => "▏",
        _ => "",
    });
    bar
}

/// `61.2 MiB`
fn size(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    for (shift, unit) in units {
        if bytes >> shift > 0 {
            // In tenths, rounded down: no number is shown larger than it is.
            let tenths = (u128::from(bytes) * 10) >> shift;
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_down() {
        assert_eq!(
            [0, 1023, 1024, 2047, 64_172_851].map(size),
            ["0 B", "1023 B", "1.0 KiB", "1.9 KiB", "61.1 MiB"]
        );
    }

    #[test]
    fn no_password_is_printed() {
        assert_eq!(without_secret("rediss://me:p%40ss@host:6379/1"), "rediss://host:6379/1");
        assert_eq!(without_secret("redis://host"), "redis://host");
    }

    #[test]
    fn a_bar_shows_what_is_there() {
        assert_eq!([bar(0, 10), bar(1, 1_000_000), bar(5, 10)], ["", "▏", "██████████"].map(str::to_owned));
        assert_eq!(bar(10, 10).chars().count(), 20);
    }
}
