//! NIST SPHERE files of uncompressed 16-bit PCM, one channel: the `.WAV` files of TIMIT.
//!
//! ```text
//! NIST_1A\n
//!    1024\n                        bytes of the header, 7 digits and blanks
//! sample_count -i 63488\n          name, type (-i integer, -r real, -sN text of N bytes), value
//! sample_byte_format -s2 01\n      01: the low byte first; 10: the high byte first
//! end_head\n                       the rest of the header has no meaning
//! ```
//!
//! The samples follow the header and end the file. Compressed files (`sample_coding` of `pcm,embedded-shorten-v2.00`)
//! are an error. NIST, Speech Header Resources 2.6.

use super::super::text::shown;
use super::Recording;
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::collections::HashMap;
use std::path::Path;

const CONVERT: &str = "convert it with `sph2pipe -f wav` to a WAV file of 16-bit PCM, one channel";
const AGAIN: &str = "the file is cut short or damaged: copy it again";

/// Parses the content of a file; error messages name `path`.
///
/// # Errors
///
/// If the content is not a SPHERE file, the header is damaged or announces anything but 16-bit PCM of one channel, or
/// the file does not contain exactly the samples that the header announces.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Recording> {
    let header = Header::parse(path, bytes)?;
    header.expect_text("sample_coding", &["pcm"], Missing::Accepted)?;
    header.expect_number("channel_count", 1)?;
    header.expect_number("sample_n_bytes", 2)?;
    let order = header.expect_text("sample_byte_format", &["01", "10"], Missing::Refused)?;
    let rate = header.number("sample_rate")?;
    let Some(rate) = u32::try_from(rate).ok().filter(|&rate| rate > 0) else {
        return header.refuse("sample_rate", format!("is {rate}"), AGAIN);
    };
    let content = &bytes[header.length..];
    let count = header.number("sample_count")?;
    let expected = usize::try_from(count).ok().and_then(|count| count.checked_mul(2));
    if count < 1 || expected != Some(content.len()) {
        let held = content.len() as f64 / 2.0;
        let problem = format!("is {count}, but the file holds {held} samples of 2 bytes");
        return header.refuse("sample_count", problem, AGAIN);
    }
    let decode = match order {
        "10" => i16::from_be_bytes,
        _ => i16::from_le_bytes,
    };
    Ok(Recording { samples: content.as_chunks::<2>().0.iter().map(|&s| decode(s)).collect(), rate })
}

/// What to do about a missing field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Accepted,
    Refused,
}

struct Header<'a> {
    path: &'a Path,
    length: usize,
    /// Line, type and value of each field, by name.
    fields: HashMap<&'a str, (usize, &'a str, &'a str)>,
}

impl<'a> Header<'a> {
    fn parse(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let refuse = |position: usize, problem: String| {
            Err(Error::data(path, Place::Byte(position as u64), problem, AGAIN))
        };
        if !bytes.starts_with(b"NIST_1A\n") {
            return refuse(0, "is no NIST SPHERE file".to_owned());
        }
        let field = bytes.get(8..16).map(String::from_utf8_lossy).unwrap_or_default();
        let length = match field.trim().parse::<usize>() {
            Ok(length) if (16..=bytes.len()).contains(&length) && field.ends_with('\n') => length,
            _ => {
                let problem = format!(
                    "{} is not the length of a header in a file of {} bytes",
                    shown(&field),
                    bytes.len()
                );
                return refuse(8, problem);
            }
        };
        let mut fields = HashMap::new();
        let mut position = 16;
        for (index, line) in bytes[16..length].split(|&byte| byte == b'\n').enumerate() {
            let Ok(line) = std::str::from_utf8(line) else {
                return refuse(position, "the header is no text".to_owned());
            };
            position += line.len() + 1;
            let line_number = index + 3;
            if line.trim_end() == "end_head" {
                return Ok(Self { path, length, fields });
            }
            if line.trim().is_empty() || line.starts_with(';') {
                continue;
            }
            let mut parts = line.splitn(3, ' ');
            let (Some(name), Some(kind), Some(value)) = (parts.next(), parts.next(), parts.next())
            else {
                let problem = format!("{} is not a name, a type and a value", shown(line));
                return Err(Error::data(path, Place::Line(line_number), problem, AGAIN));
            };
            if fields.insert(name, (line_number, kind, value)).is_some() {
                let problem = format!("{} is given twice", shown(name));
                return Err(Error::data(path, Place::Line(line_number), problem, AGAIN));
            }
        }
        refuse(length, format!("the header of {length} bytes has no `end_head`"))
    }

    fn refuse<T>(&self, name: &str, problem: String, advice: &str) -> Result<T> {
        let place = self.fields.get(name).map_or(Place::File, |&(line, ..)| Place::Line(line));
        Err(Error::data(self.path, place, format!("`{name}` {problem}"), advice))
    }

    fn number(&self, name: &str) -> Result<i64> {
        match self.fields.get(name) {
            None => self.refuse(name, "is not in the header".to_owned(), AGAIN),
            Some(&(_, kind, value)) => match value.trim().parse() {
                Ok(number) if kind == "-i" => Ok(number),
                _ => {
                    let problem =
                        format!("is {} of type {}, no integer", shown(value), shown(kind));
                    self.refuse(name, problem, AGAIN)
                }
            },
        }
    }

    fn expect_number(&self, name: &str, expected: i64) -> Result<()> {
        match self.number(name)? {
            number if number == expected => Ok(()),
            number => self.refuse(name, format!("is {number}, not {expected}"), CONVERT),
        }
    }

    /// Returns the text of a field, cut to the length that its type gives.
    fn expect_text(&self, name: &str, allowed: &[&'a str], missing: Missing) -> Result<&'a str> {
        let Some(&(_, kind, value)) = self.fields.get(name) else {
            return match missing {
                Missing::Accepted => Ok(allowed[0]),
                Missing::Refused => self.refuse(name, "is not in the header".to_owned(), AGAIN),
            };
        };
        let length = kind.strip_prefix("-s").and_then(|digits| digits.parse::<usize>().ok());
        let Some(text) = length.and_then(|length| value.get(..length)) else {
            let problem =
                format!("is {} of type {}, not of that length", shown(value), shown(kind));
            return self.refuse(name, problem, AGAIN);
        };
        match allowed.contains(&text) {
            true => Ok(text),
            false => {
                let problem = format!("is {}, not {}", shown(text), allowed.join(" or "));
                self.refuse(name, problem, CONVERT)
            }
        }
    }
}

/// Returns a recording as the content of a file, with the fields of TIMIT's files, low byte first.
pub fn to_bytes(recording: &Recording) -> Vec<u8> {
    let samples = &recording.samples;
    let fields = format!(
        "NIST_1A\n   1024\nchannel_count -i 1\nsample_count -i {}\nsample_rate -i {}\n\
         sample_min -i {}\nsample_max -i {}\nsample_n_bytes -i 2\nsample_byte_format -s2 01\n\
         sample_sig_bits -i 16\nend_head\n",
        samples.len(),
        recording.rate,
        samples.iter().min().unwrap_or(&0),
        samples.iter().max().unwrap_or(&0),
    );
    let mut bytes = fields.into_bytes();
    bytes.resize(1024, b' ');
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        to_bytes(&Recording { samples: vec![0, 1, -2, 770], rate: 16_000 })
    }

    fn of(bytes: &[u8]) -> Result<Recording> {
        parse(Path::new("a.WAV"), bytes)
    }

    /// Returns the file with a piece of its header replaced by a piece of the same length.
    fn changed(from: &str, to: &str) -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let mut file = file();
        let start = file.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        file[start..start + to.len()].copy_from_slice(to.as_bytes());
        file
    }

    fn problem(from: &str, to: &str) -> String {
        of(&changed(from, to)).unwrap_err().to_string()
    }

    #[test]
    fn both_byte_orders_are_read() {
        assert_eq!(of(&file()).unwrap().samples, [0, 1, -2, 770]);
        assert_eq!(of(&changed("-s2 01", "-s2 10")).unwrap().samples, [0, 256, -257, 515]);
        assert_eq!(of(&file()).unwrap().rate, 16_000);
    }

    #[test]
    fn a_header_as_timit_has_it_is_read() {
        // The fields of TIMIT's own files, in their order, with other samples.
        let mut bytes = b"NIST_1A\n   1024\ndatabase_id -s5 TIMIT\ndatabase_version -s3 1.0\n\
            utterance_id -s8 cjf0_sa1\nchannel_count -i 1\nsample_count -i 2\n\
            sample_rate -i 16000\nsample_min -i -2191\nsample_max -i 2790\nsample_n_bytes -i 2\n\
            sample_byte_format -s2 01\nsample_sig_bits -i 16\nend_head\n"
            .to_vec();
        bytes.resize(1024, 0);
        bytes.extend([0xff, 0xff, 0x02, 0x01]);
        assert_eq!(of(&bytes).unwrap(), Recording { samples: vec![-1, 258], rate: 16_000 });
    }

    #[test]
    fn compressed_and_other_sound_is_refused_with_the_way_out() {
        let mut shortened = file();
        let field = b"sample_coding -s26 pcm,embedded-shorten-v2.00\n";
        shortened.splice(16..16, *field);
        shortened.drain(1024..1024 + field.len());
        let error = of(&shortened).unwrap_err().to_string();
        assert!(
            error.contains("line 3: `sample_coding` is `pcm,embedded-shorten-v2.00`"),
            "{error}"
        );
        assert!(error.contains("sph2pipe"), "{error}");
        assert!(problem("channel_count -i 1", "channel_count -i 2").contains("is 2, not 1"));
        assert!(problem("n_bytes -i 2", "n_bytes -i 1").contains("`sample_n_bytes` is 1, not 2"));
        assert!(problem("-s2 01", "-s1 1 ").contains("`sample_byte_format` is `1`, not 01 or 10"));
    }

    /// The length takes 7 characters and a line end; a header must not be longer than the file.
    #[test]
    fn the_length_of_a_header_has_to_be_one() {
        for (field, why) in [
            ("    1024", "no line's end"),
            ("   1024 ", "a blank for it"),
            ("      0\n", "shorter than these 16 bytes"),
            ("     15\n", "shorter than these 16 bytes"),
            ("   9999\n", "longer than the file"),
        ] {
            let said = problem("   1024\n", field);
            assert!(
                said.contains("byte 8: ") && said.contains("is not the length of a header"),
                "{why}: {said}"
            );
        }
        // The header takes the whole file, so there is no sample.
        let length = file().len();
        assert_eq!(length, 1032);
        let said = problem("   1024\n", "   1032\n");
        assert!(said.contains("holds 0 samples"), "{said}");
    }

    #[test]
    fn headers_that_lie_are_named_and_allocate_nothing() {
        assert!(
            problem("count -i 4\n", "count -i 5\n").contains("is 5, but the file holds 4 samples")
        );
        assert!(problem("count -i 4\n", "count -i x\n").contains("`sample_count` is `x`"));
        assert!(
            problem("   1024\n", "9999999\n").contains("byte 8: `9999999\\n` is not the length")
        );
        assert!(problem("   1024\n", "     12\n").contains("byte 8"));
        assert!(
            problem("   1024\n", "     35\n").contains("byte 35: the header of 35 bytes has no")
        );
        assert!(problem("rate -i 16000", "rate -i -1600").contains("`sample_rate` is -1600"));
        assert!(
            problem("sample_min", "sample_max").contains("line 7: `sample_max` is given twice")
        );
        assert!(problem("channel_count -i 1", "channel_count   -i").contains("no integer"));
        assert!(problem("byte_format -s2", "byte_format -s9").contains("not of that length"));
        assert!(
            problem("sample_rate ", "sample_bate ").contains("`sample_rate` is not in the header")
        );
        assert!(of(&file()[..1029]).unwrap_err().to_string().contains("holds 2.5 samples"));
        assert!(
            of(&file()[..12]).unwrap_err().to_string().contains("byte 8: `` is not the length")
        );
        assert!(of(b"NIST_1B\n").unwrap_err().to_string().contains("byte 0: is no NIST"));
    }
}
