/// The checksum CRC-16/XMODEM (polynomial 1021, from 0), with which Redis Cluster maps keys to slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crc16(u16);

/// The checksum CRC-32 of IEEE 802.3 (polynomial 04c11db7, reflected).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc32(u32);

impl Crc16 {
    /// The checksum of nothing.
    pub const fn new() -> Self {
        Self(0)
    }

    /// Goes on with `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let [high, low] = self.0.to_be_bytes();
            self.0 = u16::from_be_bytes([low, 0]) ^ entry(&CRC16, high ^ byte);
        }
    }

    /// Returns the checksum of the bytes so far.
    pub const fn finish(self) -> u16 {
        self.0
    }

    /// Returns the checksum of `parts` in a row.
    pub fn of(parts: &[&[u8]]) -> u16 {
        let mut crc = Self::new();
        for part in parts {
            crc.update(part);
        }
        crc.finish()
    }
}

impl Crc32 {
    /// The checksum of nothing.
    pub const fn new() -> Self {
        Self(u32::MAX)
    }

    /// Goes on with `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let [.., low] = self.0.to_be_bytes();
            self.0 = self.0 >> 8 ^ entry(&CRC32, low ^ byte);
        }
    }

    /// Returns the checksum of the bytes so far.
    pub const fn finish(self) -> u32 {
        !self.0
    }

    /// Returns the checksum of `parts` in a row.
    pub fn of(parts: &[&[u8]]) -> u32 {
        let mut crc = Self::new();
        for part in parts {
            crc.update(part);
        }
        crc.finish()
    }
}

impl Default for Crc32 {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn entry<T: Copy + Default>(table: &[T; 256], byte: u8) -> T {
    table.get(usize::from(byte)).copied().unwrap_or_default()
}

const CRC16: [u16; 256] = crc16_table();
const CRC32: [u32; 256] = crc32_table();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses an index out of bounds"
)]
const fn crc16_table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0u16;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses an index out of bounds"
)]
const fn crc32_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0u32;
    while byte < 256 {
        let mut crc = byte;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xedb8_8320 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_values_of_the_standards_come_out() {
        assert_eq!(Crc16::of(&[b"123456789"]), 0x31c3);
        assert_eq!(Crc32::of(&[b"123456789"]), 0xcbf4_3926);
        assert_eq!(Crc16::of(&[]), 0);
        assert_eq!(Crc32::of(&[]), 0);
    }

    #[test]
    fn parts_count_as_one_string() {
        assert_eq!(Crc16::of(&[b"1234", b"", b"56789"]), 0x31c3);
        assert_eq!(Crc32::of(&[b"12345678", b"9"]), 0xcbf4_3926);
    }

    #[test]
    fn redis_maps_foo_to_slot_12182() {
        assert_eq!(Crc16::of(&[b"foo"]) % 16384, 12182);
    }
}
