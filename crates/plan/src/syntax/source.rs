use crate::diag::{Code, Diagnostic, FileId, Span};

/// The largest plan file that is read.
pub const MAX_SOURCE_BYTES: usize = 4 << 20;

/// Reads the bytes of a file as text.
///
/// The error says at which byte the text stops being UTF-8, or that there is too much of it; its span is that
/// place.
pub fn decode_source(file: FileId, bytes: &[u8]) -> Result<&str, Diagnostic> {
    check_size(file, bytes.len())?;
    std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let line = bytes.iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
        let byte = bytes.get(offset).copied().unwrap_or_default();
        let start = u32::try_from(offset).unwrap_or(u32::MAX);
        Diagnostic::new(
            Code::UnreadableFile,
            format!("the file is not UTF-8: byte {byte:#04x} at offset {offset}, in line {line}"),
            Span::new(file, start, start.saturating_add(1)),
            "not UTF-8 from here",
        )
    })
}

/// Refuses a file that is larger than [`MAX_SOURCE_BYTES`]; every offset of the others fits a `u32`.
pub(super) fn check_size(file: FileId, bytes: usize) -> Result<(), Diagnostic> {
    if bytes <= MAX_SOURCE_BYTES {
        return Ok(());
    }
    Err(Diagnostic::new(
        Code::UnreadableFile,
        format!("the file is too large for a plan: over {} MiB", MAX_SOURCE_BYTES >> 20),
        Span::new(file, 0, 0),
        "",
    )
    .with_help("split it into files and `import` the types they share"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_byte_is_named() {
        assert_eq!(decode_source(FileId(0), b"plan a;"), Ok("plan a;"));
        let error = decode_source(FileId(3), b"plan a;\n\xff").unwrap_err();
        assert_eq!(error.message, "the file is not UTF-8: byte 0xff at offset 8, in line 2");
        assert_eq!(error.span(), Span::new(FileId(3), 8, 9));
    }

    #[test]
    fn a_large_file_is_refused_before_it_is_looked_at() {
        let bytes = vec![0xff; MAX_SOURCE_BYTES + 1];
        let error = decode_source(FileId(0), &bytes).unwrap_err();
        assert_eq!(error.message, "the file is too large for a plan: over 4 MiB");
    }
}
