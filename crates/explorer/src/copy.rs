//! A key or the rows of a page in another notation.

use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::notation::{assignments, hex};
use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::page::Page;
use crate::params::{Params, Problem};
use crate::show::field;

/// What can be copied of a key.
const OF_KEY: [&str; 5] = ["hex", "base64", "command", "rust", "go"];

/// `as` says how; `key` and `space` which key, or the parameters of a page of rows.
pub(crate) fn copy(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let form = params.need("as")?;
    let text = if OF_KEY.contains(&form) && params.get("key").is_some() {
        of_key(explorer, params, form)?
    } else {
        of_rows(explorer, params, form)?
    };
    Ok(json!({ "as": form, "text": text }))
}

fn of_key(explorer: &Arc<Explorer>, params: &Params, form: &str) -> Result<String, Problem> {
    let key = params.hex("key")?.unwrap_or_default();
    let reading = explorer.reading_of(params)?;
    let reader = Decoder::new(&reading.plan);
    let spaces = reading.plan.spaces.iter().enumerate();
    let decoded = spaces
        .filter(|(_, space)| params.get("space").is_none_or(|name| name == space.name))
        .find_map(|(index, _)| reader.decode(index, &key).ok());
    let meaning = decoded
        .as_ref()
        .map(|decoded| (decoded.family.path.clone(), assignments(&decoded.family.key, &decoded.values)));
    let bytes = || key.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(", ");
    let comment = || {
        meaning.as_ref().map_or_else(
            || "no family makes this key".to_owned(),
            |(family, arguments)| format!("{family} {arguments}").trim_end().to_owned(),
        )
    };
    Ok(match form {
        "hex" => hex(&key),
        "base64" => STANDARD.encode(&key),
        "rust" => format!("// {}\nlet key: [u8; {}] = [{}];", comment(), key.len(), bytes()),
        "go" => format!("// {}\nkey := []byte{{{}}}", comment(), bytes()),
        _ => {
            let source = quoted(&explorer.database.name);
            match &meaning {
                Some((family, _)) => {
                    let arguments: Vec<String> = decoded
                        .iter()
                        .flat_map(|decoded| decoded.family.key.arguments().zip(&decoded.values))
                        .map(|(argument, value)| {
                            let name = keyplan_plan::notation::argument_name(argument);
                            quoted(&format!("{name}={}", crate::show::argument_text(value, &argument.shape)))
                        })
                        .collect();
                    format!("keyplan db get {source} {family} {}", arguments.join(" ")).trim_end().to_owned()
                }
                None => format!("keyplan explain {source} {}", hex(&key)),
            }
        }
    })
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/=:@+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn of_rows(explorer: &Arc<Explorer>, params: &Params, form: &str) -> Result<String, Problem> {
    let page = Page::Rows.answer(explorer, params)?;
    let mut names: Vec<String> = vec!["key".to_owned()];
    let columns = field(&page, "columns").as_array().cloned().unwrap_or_default();
    names.extend(columns.iter().map(|column| {
        match (field(column, "of").as_str(), field(column, "name").as_str()) {
            (Some("value"), Some(name)) => format!("value.{name}"),
            (_, name) => name.unwrap_or_default().to_owned(),
        }
    }));
    names.push("value".to_owned());
    let rows: Vec<Vec<String>> = field(&page, "rows")
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| {
            let text = |name: &str| field(row, name).as_str().unwrap_or_default().to_owned();
            let mut cells = vec![text("key")];
            let own = field(row, "cells").as_array().into_iter().flatten();
            cells.extend(own.map(|cell| cell.as_str().unwrap_or_default().to_owned()));
            cells.resize(names.len() - 1, String::new());
            cells.push(text("value"));
            cells
        })
        .collect();
    match form {
        "csv" => Ok(csv(&names, &rows)),
        "markdown" => Ok(markdown(&names, &rows)),
        "json" => {
            let object = |cells: &Vec<String>| -> Json {
                names
                    .iter()
                    .cloned()
                    .zip(cells.iter().map(|cell| json!(cell)))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            };
            let all: Vec<Json> = rows.iter().map(object).collect();
            serde_json::to_string_pretty(&all).map_err(Problem::failed)
        }
        "command" => command(explorer, params),
        other => Err(Problem::Asked(format!(
            "`{other}`: there is csv, markdown, json, command, hex, base64, rust and go"
        ))),
    }
}

/// The command that prints the rows of the page.
fn command(explorer: &Arc<Explorer>, params: &Params) -> Result<String, Problem> {
    let mut out = format!("keyplan db scan {} {}", quoted(&explorer.database.name), params.need("family")?);
    for (name, value) in params.behind("a.") {
        let _ = write!(out, " {}", quoted(&format!("{name}={value}")));
    }
    if params.flag("rev") {
        out.push_str(" --rev");
    }
    let _ = write!(out, " --limit {}", params.number("limit", 100, 500)?);
    Ok(out)
}

fn csv(names: &[String], rows: &[Vec<String>]) -> String {
    let cell = |text: &String| {
        // A sheet takes what begins so for a formula.
        let text =
            if text.starts_with(['=', '+', '@']) || (text.starts_with('-') && text.parse::<f64>().is_err()) {
                format!("'{text}")
            } else {
                text.clone()
            };
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text
        }
    };
    let line = |cells: &[String]| cells.iter().map(cell).collect::<Vec<_>>().join(",");
    let mut out = line(names) + "\n";
    for row in rows {
        out += &(line(row) + "\n");
    }
    out
}

fn markdown(names: &[String], rows: &[Vec<String>]) -> String {
    let cell =
        |text: &String| text.replace('\\', "\\\\").replace('|', "\\|").replace('\n', " ").replace('<', "\\<");
    let line = |cells: &[String]| format!("| {} |\n", cells.iter().map(cell).collect::<Vec<_>>().join(" | "));
    let mut out = line(names);
    out.push('|');
    out += &" --- |".repeat(names.len());
    out.push('\n');
    for row in rows {
        out += &line(row);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_becomes_a_formula_a_column_or_markup() {
        let rows = vec![vec!["=1+1".to_owned(), "a,\"b\"".to_owned(), "-5".to_owned(), "<b>|".to_owned()]];
        let names: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        assert_eq!(csv(&names, &rows), "a,b,c,d\n'=1+1,\"a,\"\"b\"\"\",-5,<b>|\n");
        assert!(markdown(&names, &rows).ends_with("| =1+1 | a,\"b\" | -5 | \\<b>\\| |\n"));
    }

    #[test]
    fn a_word_of_a_shell_stays_one() {
        assert_eq!(quoted("pool_id=7"), "pool_id=7");
        assert_eq!(quoted("a=it's $(x)"), r"'a=it'\''s $(x)'");
    }
}
