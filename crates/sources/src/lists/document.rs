use keyplan_store::source::{Source, SourceError};
use serde::Deserialize;

use super::line::Digits;
use super::{MAX_IN_MEMORY, SPACE};
use crate::chunked::{Chunked, Row};
use crate::plain_file::PlainFile;

/// The state of a contract.
#[derive(Deserialize)]
#[serde(untagged)]
enum Document {
    Models { models: Vec<Model> },
    State { contract_state: Vec<Model> },
    Bare(Vec<Model>),
}

/// A row: the key in hex, the value in base64.
#[derive(Deserialize)]
struct Model {
    key: String,
    #[serde(default)]
    value: Option<String>,
}

/// Reads a document as a whole.
pub(super) fn read(file: &PlainFile) -> Result<Box<dyn Source>, SourceError> {
    let len = file.len()?;
    if len > MAX_IN_MEMORY {
        return Err(SourceError::unsupported(file.path(), format!("a JSON document of {len} bytes")));
    }
    let bytes = file.bytes(0, len)?;
    let document: Document = serde_json::from_slice(&bytes).map_err(|error| {
        // Which of the forms was meant is not known: only JSON itself can say where it breaks.
        let broken = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).err();
        let what =
            broken.map_or_else(|| format!("no rows are in this JSON: {error}"), |error| error.to_string());
        file.damaged(0, what)
    })?;
    let (Document::Models { models } | Document::State { contract_state: models } | Document::Bare(models)) =
        document;
    let keys = models.iter().fold(Digits::Hex, |digits, model| digits.fitting(&model.key));
    let mut rows: Vec<Row> = Vec::new();
    for (index, model) in models.iter().enumerate() {
        let damaged = |what: &str| file.damaged(0, format!("row {index}: {what}"));
        let key = keys.decode(&model.key).ok_or_else(|| damaged("a key that is neither hex nor base64"))?;
        let value = Digits::Base64.decode(model.value.as_deref().unwrap_or_default());
        rows.push((0, key, value.ok_or_else(|| damaged("a value that is not base64"))?));
    }
    Ok(Box::new(Chunked::in_memory("contract-state", vec![SPACE.to_owned()], rows)))
}
