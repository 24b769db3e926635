use keyplan_store::source::{Source, SourceError};
use serde::Deserialize;

use super::line::Digits;
use super::{MAX_IN_MEMORY, SPACE};
use crate::chunked::{Chunked, Row};
use crate::plain_file::PlainFile;

/// The state of a contract. What is not a row is read over, and nothing is kept of it.
#[derive(Deserialize)]
struct Document {
    models: Option<Vec<Model>>,
    contract_state: Option<Vec<Model>>,
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
    let models = models(&bytes).map_err(|error| {
        let at = error.as_ref().map_or(0, |error| place(&bytes, error));
        file.damaged(
            at,
            error.map_or_else(|| "no rows are in this JSON".to_owned(), |error| error.to_string()),
        )
    })?;
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

/// The rows of a document; `None` in the error if it is JSON of another kind.
fn models(bytes: &[u8]) -> Result<Vec<Model>, Option<serde_json::Error>> {
    if bytes.trim_ascii_start().starts_with(b"[") {
        return serde_json::from_slice(bytes).map_err(Some);
    }
    let document: Document = serde_json::from_slice(bytes).map_err(Some)?;
    document.models.or(document.contract_state).ok_or(None)
}

/// Where an error is, which has lines and columns that begin at 1.
fn place(bytes: &[u8], error: &serde_json::Error) -> u64 {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').take(error.line().saturating_sub(1));
    let before = lines.map(<[u8]>::len).sum::<usize>() + error.column().saturating_sub(1);
    u64::try_from(before).unwrap_or(u64::MAX)
}
