//! Bodies of values in the formats that the chains use.

use super::hex;

/// A protobuf message that is being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// A field with a number in it.
    pub(super) fn number(mut self, field: u8, value: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    /// A field with bytes or a text in it.
    pub(super) fn bytes(mut self, field: u8, value: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// A field with a made-up name of an account in it: as many characters as it has bytes.
    pub(super) fn account(self, field: u8, account: &[u8]) -> Self {
        let half = account.get(..account.len() / 2).unwrap_or_default();
        self.bytes(field, hex(half).as_bytes())
    }

    /// A decimal number as the Cosmos SDK writes it: its digits.
    pub(super) fn decimal(self, field: u8, value: u64) -> Self {
        self.bytes(field, value.to_string().as_bytes())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push((value & 0x7f) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_protobuf_has_them() {
        let message = Message::new().number(1, 300).bytes(2, b"uosmo").decimal(3, 7);
        assert_eq!(message.as_bytes(), b"\x08\xac\x02\x12\x05uosmo\x1a\x017");
    }
}
