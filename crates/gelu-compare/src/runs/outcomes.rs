//! The file of a run's outcomes:
//!
//! ```text
//! {"format":1,"measure":"test-error","epoch":50,"examples":10000,"groups":[[1,10000]],"amplitudes":[]}
//! a bit an example, 1 where it was classified wrongly, filled up with zeros to whole bytes: for
//!   `noisy-test-error` as many bytes for every amplitude, one after the other; for `test-loss` instead
//!   each example's loss as a little-endian f32, for `test-rmse` its squared error
//! 32 bytes: the SHA-256 of all before
//! ```
//!
//! `groups` says what was sampled together, in the order of the test set: pairs of a size and how many
//! groups in a row have it.

use crate::error::Place;
use crate::measure::{Bits, Made, Outcomes, TestGroups};
use crate::names::printable;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Name of the file in a run's folder.
pub(super) const FILE: &str = "outcomes.bin";
/// Raised when the layout changes.
const FORMAT: u32 = 1;
/// Bytes of a digest.
const DIGEST: usize = 32;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    measure: String,
    epoch: usize,
    examples: usize,
    groups: TestGroups,
    amplitudes: Vec<f64>,
}

/// The format alone, which is read before anything that a format may change.
#[derive(Deserialize)]
struct Formatted {
    format: u32,
}

/// The content of the file.
pub fn outcomes_to_bytes(outcomes: &Outcomes) -> Vec<u8> {
    let header = Header {
        format: FORMAT,
        measure: outcomes.measure().to_owned(),
        epoch: outcomes.epoch(),
        examples: outcomes.groups().examples(),
        groups: outcomes.groups().clone(),
        amplitudes: outcomes.amplitudes(),
    };
    let mut bytes = serde_json::to_vec(&header).expect("a header holds plain values alone");
    bytes.push(b'\n');
    match outcomes.made() {
        Made::Wrong(bits) => bytes.extend(bits.bytes()),
        Made::WrongUnderNoise(levels) => {
            levels.iter().for_each(|(_, bits)| bytes.extend(bits.bytes()));
        }
        Made::Loss(all) | Made::Squared(all) => {
            bytes.extend(all.iter().flat_map(|value| value.to_le_bytes()));
        }
    }
    let digest = Sha256::digest(&bytes);
    bytes.extend(digest);
    bytes
}

/// Understands the content of the file; `path` is what errors call it.
///
/// # Errors
///
/// When it is not what was written, or of another format.
pub fn parse_outcomes(path: &Path, bytes: &[u8]) -> Result<Outcomes> {
    understand(bytes).map_err(|problem| refusal(path, problem))
}

/// The error of a file that cannot be used.
pub(super) fn refusal(path: &Path, problem: String) -> Error {
    let advice = "only intervals over new examples need it; remove it, and `gelu eval --outcomes` \
                  writes it anew";
    Error::data(path, Place::File, problem, advice)
}

fn understand(bytes: &[u8]) -> std::result::Result<Outcomes, String> {
    let (bytes, digest) = bytes.split_last_chunk::<DIGEST>().ok_or("is cut short")?;
    if Sha256::digest(bytes)[..] != digest[..] {
        return Err("is not what was written (its SHA-256 differs)".to_owned());
    }
    let end = bytes.iter().position(|&byte| byte == b'\n').ok_or("has no first line")?;
    let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
    let wrong_line = |error: serde_json::Error| {
        let said: String = printable(&error.to_string()).chars().take(200).collect();
        format!("has a wrong first line: {said}")
    };
    let Formatted { format } = serde_json::from_slice(line).map_err(wrong_line)?;
    if format != FORMAT {
        return Err(format!("has format {format}, not {FORMAT}"));
    }
    let header: Header = serde_json::from_slice(line).map_err(wrong_line)?;
    let Header { measure, epoch, examples, groups, amplitudes, .. } = header;
    if groups.examples() != examples || examples == 0 {
        let found = groups.examples();
        return Err(format!("has {examples} examples, and {found} in its groups"));
    }
    let length = || format!("has {} bytes for {examples} examples", rest.len());
    let bits = |bytes: &[u8]| Bits::from_bytes(bytes, examples).ok_or_else(length);
    let made = match (measure.as_str(), &amplitudes[..]) {
        ("test-error", []) => Made::Wrong(bits(rest)?),
        ("noisy-test-error", [_, ..]) => {
            let levels = amplitudes.len();
            if examples.div_ceil(8).checked_mul(levels) != Some(rest.len()) {
                return Err(format!("{} and {levels} amplitudes", length()));
            }
            let each = rest.chunks_exact(examples.div_ceil(8)).map(bits);
            let levels = amplitudes.iter().zip(each).map(|(&a, bits)| Ok((a, bits?)));
            Made::WrongUnderNoise(levels.collect::<std::result::Result<_, String>>()?)
        }
        ("test-loss" | "test-rmse", []) => {
            let (losses, []) = rest.as_chunks::<4>() else { return Err(length()) };
            if losses.len() != examples {
                return Err(length());
            }
            let losses: Vec<f32> = losses.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            if let Some(index) = losses.iter().position(|loss| !loss.is_finite()) {
                return Err(format!("has a loss of {} for example {index}", losses[index]));
            }
            if let Some(index) =
                losses.iter().position(|loss| measure == "test-rmse" && *loss < 0.0)
            {
                return Err(format!(
                    "has a squared error of {} for example {index}",
                    losses[index]
                ));
            }
            match measure == "test-loss" {
                true => Made::Loss(losses),
                false => Made::Squared(losses),
            }
        }
        _ => {
            let (count, measure) = (amplitudes.len(), printable(&measure));
            return Err(format!("has {count} amplitudes of noise, and its measure is {measure}"));
        }
    };
    Ok(Outcomes::new(epoch, groups, made))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Outcomes; 4] {
        let groups = || TestGroups::of_sizes([3, 1, 1, 6]);
        let bits =
            |shift: usize| (0..11).map(|i| usize::is_multiple_of(i + shift, 3)).collect::<Bits>();
        [
            Outcomes::of_errors(7, groups(), bits(0)),
            Outcomes::of_noise(7, groups(), vec![(0.2, bits(1)), (0.4, bits(2))]),
            Outcomes::of_losses(7, groups(), (0..11).map(|i| i as f32 / 3.0).collect()),
            Outcomes::of_squared_errors(7, groups(), (0..11).map(|i| i as f32 / 7.0).collect()),
        ]
    }

    fn parse(bytes: &[u8]) -> Result<Outcomes> {
        parse_outcomes(Path::new("run/outcomes.bin"), bytes)
    }

    /// With the digest that belongs to it.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.extend(Sha256::digest(&bytes));
        bytes
    }

    #[test]
    fn outcomes_are_read_back_equal() {
        for outcomes in all() {
            assert_eq!(parse(&outcomes_to_bytes(&outcomes)).unwrap(), outcomes);
        }
    }

    /// The same rules in Python, run once:
    ///
    /// ```python
    /// import hashlib, numpy
    /// bits = numpy.packbits([i % 3 == 0 for i in range(11)]).tobytes()
    /// head = b'{"format":1,"measure":"test-error","epoch":7,"examples":11,'
    /// head += b'"groups":[[3,1],[1,2],[6,1]],"amplitudes":[]}\n'
    /// print(hashlib.sha256(head + bits).hexdigest()[:16])
    /// ```
    const OF_PYTHON: &str = "1fe118f529526d69";

    #[test]
    fn the_file_is_that_of_another_program() {
        let bytes = outcomes_to_bytes(&all()[0]);
        let digest: String =
            bytes[bytes.len() - 32..][..8].iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(digest, OF_PYTHON);
    }

    #[test]
    fn ten_thousand_pictures_take_little_more_than_ten_thousand_bits() {
        let wrong = (0..10_000).map(|i| usize::is_multiple_of(i, 7)).collect();
        let outcomes = Outcomes::of_errors(50, TestGroups::singles(10_000), wrong);
        let length = outcomes_to_bytes(&outcomes).len();
        assert!((1_250..1_400).contains(&length), "{length}");
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        for outcomes in all() {
            let whole = outcomes_to_bytes(&outcomes);
            for place in 0..whole.len() {
                let mut damaged = whole.clone();
                damaged[place] ^= 0x10;
                let error = parse(&damaged).unwrap_err().to_string();
                assert!(error.starts_with("run/outcomes.bin: is not what was written"), "{error}");
                assert!(parse(&whole[..place]).is_err());
            }
        }
    }

    #[test]
    fn a_first_line_that_promises_something_else_is_refused_before_it_is_believed() {
        let whole = outcomes_to_bytes(&all()[0]);
        let text = String::from_utf8_lossy(&whole[..whole.len() - 34]).into_owned();
        let change = |from: &str, to: &str| {
            assert!(text.contains(from), "{text}");
            let head = text.replace(from, to);
            parse(&sealed([head.as_bytes(), &whole[whole.len() - 34..][..2]].concat()))
                .unwrap_err()
                .to_string()
        };
        assert!(change("\"format\":1", "\"format\":2").contains("has format 2, not 1"));
        assert!(
            change("\"examples\":11", "\"examples\":12").contains("12 examples, and 11 in its")
        );
        let huge = usize::MAX;
        let too_many = text.replace("\"examples\":11", &format!("\"examples\":{huge}"));
        let too_many = too_many.replace("[[3,1],[1,2],[6,1]]", &format!("[[1,{huge}]]"));
        let error = parse(&sealed(too_many.into_bytes())).unwrap_err().to_string();
        assert!(error.contains(&format!("has 0 bytes for {huge} examples")), "{error}");
        assert!(change("[3,1]", "[0,1]").contains("a group has no example"));
        assert!(change("\"amplitudes\":[]", "\"amplitudes\":[0.5]").contains("1 amplitudes"));
        assert!(change("test-error", "train-loss").contains("its measure is train-loss"));
        assert!(change("test-error", "test-loss").contains("2 bytes for 11 examples"));
        assert!(change("\"epoch\":7", "\"epoch\":-7").contains("wrong first line"));
        assert!(change("{\"format\"", "{\"more\":1,\"format\"").contains("unknown field `more`"));
        assert!(change("\n", "").contains("has no first line"));
    }

    #[test]
    fn a_loss_that_is_no_number_is_refused() {
        let bytes = outcomes_to_bytes(&all()[2]);
        let start = bytes.len() - DIGEST - 4;
        let mut bytes = bytes[..bytes.len() - DIGEST].to_vec();
        bytes[start..].copy_from_slice(&f32::NAN.to_le_bytes());
        let error = parse(&sealed(bytes)).unwrap_err().to_string();
        assert!(error.contains("a loss of NaN for example 10"), "{error}");
    }
}
