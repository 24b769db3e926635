use super::protobuf::fields;

/// Whether `bytes` have the sum in a message `Checksum {1 algorithm, 2 sum}`; `None` if it is no such message.
pub(super) fn matches(bytes: &[u8], checksum: &[u8]) -> Option<bool> {
    let (mut algorithm, mut sum) = (0, 0);
    fields(checksum, |number, field| {
        match number {
            1 => algorithm = field.number()?,
            2 => sum = field.number()?,
            _ => {}
        }
        Some(())
    })?;
    match algorithm {
        0 => Some(u64::from(crc32c::crc32c(bytes)) == sum),
        1 => Some(xxhash_rust::xxh64::xxh64(bytes, 0) == sum),
        _ => None,
    }
}
