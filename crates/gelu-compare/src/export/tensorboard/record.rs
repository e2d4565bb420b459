//! The framing of TensorFlow's record files:
//!
//! ```text
//! u64 length | u32 masked CRC-32C of the length | content | u32 masked CRC-32C of the content
//! ```
//!
//! little-endian, with the mask `((crc >> 15) | (crc << 17)) + 0xa282ead8`
//! (tensorflow/core/lib/io/record_writer.h).

/// Returns a record with `content`.
pub(super) fn frame(content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(content.len() + 16);
    record.extend(length);
    record.extend(masked_crc(&length).to_le_bytes());
    record.extend(content);
    record.extend(masked_crc(content).to_le_bytes());
    record
}

fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Python's tensorboard 2.21.0: `RecordWriter(f).write(b"gelu")`, `data.hex()`.
    #[test]
    fn records_are_framed_as_tensorboard_frames_them() {
        let hex: String = frame(b"gelu").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "04000000000000004245520467656c753a39f907");
    }
}
