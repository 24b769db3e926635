//! Notes and saved scans: a text file beside the plan, which belongs into version control.
//!
//! ```toml
//! [[scan]]
//! name = "ticks of pool 7"
//! at = "family=cl.tick&scan=1&a.pool_id=7"
//!
//! [[note]]
//! on = "cl.tick"
//! text = "negative ticks come first"
//! ```

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::show::make_visible;

/// How many bytes the file may have.
const LONGEST: u64 = 1 << 20;

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Notes {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scan: Vec<Scan>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    note: Vec<Note>,
}

/// A place to come back to.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Scan {
    name: String,
    /// What comes after the `?` of its address.
    at: String,
}

/// Something that is known of a family or a key.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// A family's path, or a key in hex.
    on: String,
    text: String,
}

fn read(path: &Path) -> Result<Notes, String> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Notes::default()),
        Err(error) => return Err(error.to_string()),
    };
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(|error| error.to_string())?;
    toml::from_str(&text).map_err(|error| error.message().to_owned())
}

/// All of them, read again each time: an editor may have them open.
pub(crate) fn notes(explorer: &Arc<Explorer>) -> Json {
    let Some(path) = &explorer.settings.notes else {
        return json!({ "file": null, "writes": false, "scan": [], "note": [] });
    };
    let (notes, why) = match read(path) {
        Ok(notes) => (notes, None),
        Err(why) => (Notes::default(), Some(why)),
    };
    let mut out = json!({
        "file": path.display().to_string(), "writes": explorer.settings.write, "scan": notes.scan, "note": notes.note,
        "why": why,
    });
    make_visible(&mut out);
    out
}

/// Those whose names or texts contain some text.
pub(crate) fn matching(explorer: &Arc<Explorer>, lower: &str) -> Vec<Json> {
    let Some(notes) = explorer.settings.notes.as_ref().and_then(|path| read(path).ok()) else {
        return Vec::new();
    };
    if lower.is_empty() {
        return Vec::new();
    }
    let scans = notes.scan.iter().filter(|scan| scan.name.to_lowercase().contains(lower));
    let scans = scans.map(|scan| json!({ "name": scan.name, "at": scan.at }));
    let texts = notes.note.iter().filter(|note| note.text.to_lowercase().contains(lower));
    let texts = texts.map(|note| json!({ "on": note.on, "text": note.text }));
    let mut all: Vec<Json> = scans.chain(texts).take(20).collect();
    all.iter_mut().for_each(make_visible);
    all
}

/// Adds a scan (`name`, `at`) or a note (`on`, `text`) to the end of the file; where nothing may be written, gives the text
/// to put there.
pub(crate) fn add(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let notes = match (params.get("name"), params.get("at"), params.get("on"), params.get("text")) {
        (Some(name), Some(at), _, _) => {
            Notes { scan: vec![Scan { name: name.to_owned(), at: at.to_owned() }], note: Vec::new() }
        }
        (_, _, Some(on), Some(text)) => {
            Notes { scan: Vec::new(), note: vec![Note { on: on.to_owned(), text: text.to_owned() }] }
        }
        _ => return Err(Problem::Asked("a scan has `name` and `at`, a note `on` and `text`".to_owned())),
    };
    let text = toml::to_string(&notes).map_err(Problem::failed)?;
    let (Some(path), true) = (&explorer.settings.notes, explorer.settings.write) else {
        return Ok(json!({ "written": null, "text": text }));
    };
    read(path).map_err(|why| Problem::Failed(format!("{}: {why}", path.display())))?;
    let mut file =
        std::fs::OpenOptions::new().create(true).append(true).open(path).map_err(Problem::failed)?;
    file.write_all(format!("\n{text}").as_bytes()).map_err(Problem::failed)?;
    Ok(json!({ "written": path.display().to_string(), "text": text }))
}
