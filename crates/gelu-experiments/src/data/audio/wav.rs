//! RIFF WAV files of 16-bit PCM, one channel.
//!
//! ```text
//! "RIFF" | bytes that follow | "WAVE" | chunks
//! chunk: name of 4 letters | length | content | a zero where the length is odd
//! "fmt ": 1 (PCM) | channels | rate | bytes per second | bytes per frame | bits per sample | …
//! "data": samples
//! ```
//!
//! All numbers are little-endian. The reader skips chunks with other names, and bytes after the end that the RIFF
//! header gives. Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0, 1991.

use super::Recording;
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::path::Path;

const PCM: u16 = 1;
/// With this codec, a longer format chunk names the actual codec.
const EXTENSIBLE: u16 = 0xfffe;
const CONVERT: &str = "convert it to 16-bit PCM, one channel";
const AGAIN: &str = "the file is cut short or damaged: copy it again";

/// Parses the content of a file; error messages name `path`.
///
/// # Errors
///
/// If the content is not a RIFF WAV file, is cut short, is not 16-bit PCM of one channel, or has no samples.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Recording> {
    let file = Bytes { path, bytes };
    if bytes.get(..4) != Some(b"RIFF") || bytes.get(8..12) != Some(b"WAVE") {
        return file.refuse(0, "is no RIFF WAV file", CONVERT);
    }
    let announced = file.u32(4)? as usize;
    if announced > bytes.len() - 8 {
        let problem = format!(
            "the header announces {announced} more bytes, the file holds {}",
            bytes.len() - 8
        );
        return file.refuse(4, problem, AGAIN);
    }
    let end = 8 + announced;
    let mut position = 12;
    let mut rate = None;
    while position < end {
        let name = file.range(position, 4, end)?;
        let length = file.u32(position + 4)? as usize;
        let start = position + 8;
        let content = file.range(start, length, end)?;
        match name {
            b"fmt " => rate = Some(read_format(&file, start, content.len())?),
            b"data" => {
                let Some(rate) = rate else {
                    return file.refuse(position, "`data` stands before `fmt `", AGAIN);
                };
                return Ok(Recording { samples: read_samples(&file, start, content)?, rate });
            }
            _ => {}
        }
        position = start + length + length % 2;
    }
    file.refuse(end, "there is no `data` chunk", AGAIN)
}

/// Returns the rate, after checking that the reader supports the format.
fn read_format(file: &Bytes<'_>, start: usize, length: usize) -> Result<u32> {
    if length < 16 {
        return file.refuse(start, format!("`fmt ` has {length} bytes, not 16 or more"), AGAIN);
    }
    let codec = match file.u16(start)? {
        EXTENSIBLE if length >= 26 => file.u16(start + 24)?,
        codec => codec,
    };
    if codec != PCM {
        return file.refuse(start, format!("codec {codec:#06x} is not PCM"), CONVERT);
    }
    let channels = file.u16(start + 2)?;
    if channels != 1 {
        return file.refuse(start + 2, format!("there are {channels} channels, not 1"), CONVERT);
    }
    let bits = file.u16(start + 14)?;
    if bits != 16 {
        return file.refuse(start + 14, format!("a sample has {bits} bits, not 16"), CONVERT);
    }
    let frame = file.u16(start + 12)?;
    if frame != 2 {
        let problem = format!("a frame of one 16-bit sample has {frame} bytes, not 2");
        return file.refuse(start + 12, problem, AGAIN);
    }
    match file.u32(start + 4)? {
        0 => file.refuse(start + 4, "there are 0 samples a second", AGAIN),
        rate => Ok(rate),
    }
}

fn read_samples(file: &Bytes<'_>, start: usize, content: &[u8]) -> Result<Vec<i16>> {
    if content.is_empty() || !content.len().is_multiple_of(2) {
        let problem = format!("`data` has {} bytes, not two a sample", content.len());
        return file.refuse(start, problem, AGAIN);
    }
    let pairs = content.as_chunks::<2>().0;
    Ok(pairs.iter().map(|&pair| i16::from_le_bytes(pair)).collect())
}

struct Bytes<'a> {
    path: &'a Path,
    bytes: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn refuse<T>(&self, position: usize, problem: impl Into<String>, advice: &str) -> Result<T> {
        Err(Error::data(self.path, Place::Byte(position as u64), problem, advice))
    }

    /// Returns `length` bytes from `start`, if they end before `end`.
    fn range(&self, start: usize, length: usize, end: usize) -> Result<&'a [u8]> {
        let stop = start.checked_add(length).filter(|&stop| stop <= end);
        match stop.and_then(|stop| self.bytes.get(start..stop)) {
            Some(bytes) => Ok(bytes),
            None => {
                let left = end.saturating_sub(start);
                let problem = format!("{length} bytes are announced here, {left} are left");
                self.refuse(start, problem, AGAIN)
            }
        }
    }

    fn u16(&self, start: usize) -> Result<u16> {
        let bytes = self.range(start, 2, self.bytes.len())?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&self, start: usize) -> Result<u32> {
        let bytes = self.range(start, 4, self.bytes.len())?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// Returns a recording as the content of a file.
///
/// # Panics
///
/// If the recording has more than 2^30 samples, which the format does not allow.
pub fn to_bytes(recording: &Recording) -> Vec<u8> {
    assert!(recording.samples.len() <= 1 << 30, "{} samples", recording.samples.len());
    let data = recording.samples.len() as u32 * 2;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16u32.to_le_bytes());
    bytes.extend([PCM, 1].iter().flat_map(|field| field.to_le_bytes()));
    bytes.extend(recording.rate.to_le_bytes());
    bytes.extend(recording.rate.saturating_mul(2).to_le_bytes());
    bytes.extend([2u16, 16].iter().flat_map(|field| field.to_le_bytes()));
    bytes.extend(b"data");
    bytes.extend(data.to_le_bytes());
    bytes.extend(recording.samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        to_bytes(&Recording { samples: vec![0, 1, -1, 1000, i16::MIN], rate: 8_000 })
    }

    fn problem(bytes: &[u8]) -> String {
        parse(Path::new("a.wav"), bytes).unwrap_err().to_string()
    }

    /// Returns the file with some bytes replaced.
    fn changed(start: usize, bytes: &[u8]) -> Vec<u8> {
        let mut file = file();
        file[start..start + bytes.len()].copy_from_slice(bytes);
        file
    }

    #[test]
    fn other_chunks_and_odd_lengths_and_trailing_bytes_are_passed_over() {
        let mut bytes = file();
        bytes.splice(36..36, *b"LIST\x03\x00\x00\x00abc\x00");
        bytes[4..8].copy_from_slice(&(36 + 10 + 12u32).to_le_bytes());
        bytes.extend(b"behind the end");
        let recording = parse(Path::new("a.wav"), &bytes).unwrap();
        assert_eq!(recording.samples, [0, 1, -1, 1000, i16::MIN]);
        assert_eq!(recording.rate, 8_000);
    }

    #[test]
    fn the_extensible_form_of_pcm_is_read() {
        let mut bytes = file();
        bytes[20..22].copy_from_slice(&EXTENSIBLE.to_le_bytes());
        bytes[16] = 40;
        let mut more = vec![22, 0, 16, 0, 4, 0, 0, 0, 1, 0];
        more.resize(24, 0);
        bytes.splice(36..36, more);
        bytes[4] += 24;
        assert_eq!(parse(Path::new("a.wav"), &bytes).unwrap().samples.len(), 5);
        bytes[44] = 3;
        assert!(problem(&bytes).contains("byte 20: codec 0x0003 is not PCM"));
    }

    #[test]
    fn other_codecs_channels_and_widths_are_named() {
        assert!(problem(&changed(20, &[6, 0])).contains("byte 20: codec 0x0006 is not PCM"));
        assert!(problem(&changed(22, &[2])).contains("byte 22: there are 2 channels, not 1"));
        assert!(problem(&changed(34, &[8])).contains("byte 34: a sample has 8 bits, not 16"));
        assert!(problem(&changed(32, &[4])).contains("byte 32: a frame of one"));
        assert!(problem(&changed(24, &[0; 4])).contains("byte 24: there are 0 samples a second"));
    }

    #[test]
    fn headers_that_lie_are_named_and_allocate_nothing() {
        let lie = changed(40, &[0xff; 4]);
        assert!(
            problem(&lie).contains("byte 44: 4294967295 bytes are announced here, 10 are left")
        );
        assert!(
            problem(&changed(4, &[0xff; 4])).contains("byte 4: the header announces 4294967295")
        );
        assert!(problem(&file()[..50]).contains("the file holds 42"));
        assert!(problem(&changed(16, &[4])).contains("`fmt ` has 4 bytes"));
        assert!(problem(&changed(40, &[9])).contains("`data` has 9 bytes, not two a sample"));
        assert!(problem(&changed(36, b"date")).contains("there is no `data` chunk"));
        assert!(problem(&changed(12, b"fmt_")).contains("`data` stands before `fmt `"));
        assert!(problem(b"RIFF").contains("byte 0: is no RIFF WAV file"));
        assert!(problem(&changed(8, b"AVI ")).contains("is no RIFF WAV"));
        assert!(problem(&changed(4, &[4])).contains("no `data` chunk"));
        assert!(problem(&changed(4, &[6])).contains("4 bytes are announced here, 2 are left"));
    }
}
