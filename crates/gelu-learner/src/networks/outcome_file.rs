//! The file of a run's outcomes:
//!
//! ```text
//! {"format":2,"measure":"test-error","epoch":50,"groups":[[1,10000]],"amplitudes":[]}
//! for every group the sum of its examples' outcomes, as a little-endian f64
//! 32 bytes: the SHA-256 of everything before
//! ```
//!
//! `groups` gives the number of examples in each group, in the order of the test set: pairs of a size and the number
//! of consecutive groups of this size. An outcome is 1 for a wrongly classified example, the share of the noise
//! `amplitudes` under which the example was classified wrongly (`noisy-test-error`), its loss (`test-loss`) or its
//! squared error (`test-rmse`).

use super::{OutcomeKind, Outcomes, TestGroups};
use crate::{Error, Result};
use gelu_compare::error::Place;
use gelu_compare::files::read_bytes;
use gelu_compare::names::printable;
use gelu_compare::runs::{ClaimedRun, RunFolder, Spec};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Name of the file in a run's folder.
pub(crate) const OUTCOMES: &str = "outcomes.bin";
/// Version of the layout; increase it when the layout changes.
const FORMAT: u32 = 2;
/// Length of a digest in bytes.
const DIGEST: usize = 32;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    measure: String,
    epoch: usize,
    groups: TestGroups,
    amplitudes: Vec<f64>,
}

/// Returns the outcomes of the test examples of a run; `None` if the run did not save them.
///
/// # Errors
///
/// If the file exists but is damaged.
pub fn outcomes_of(run: &RunFolder) -> Result<Option<Outcomes>> {
    let path = run.file(OUTCOMES);
    let Some(bytes) = read_bytes(&path)? else { return Ok(None) };
    parse_outcomes(&path, &bytes).map(Some)
}

/// Saves the outcomes of the test examples of a run.
///
/// # Errors
///
/// If the file cannot be written.
pub fn set_outcomes<S: Spec>(run: &ClaimedRun<S>, outcomes: &Outcomes) -> Result<()> {
    run.set_file(OUTCOMES, &outcomes_to_bytes(outcomes))
}

/// Rounds the sums in a file to `digits` significant decimal digits by clearing low bits, so that they compress well.
/// Sums that are counts stay unchanged, and so does a file that cannot be read.
pub(super) fn rounded(bytes: Vec<u8>, digits: u8) -> Vec<u8> {
    let Ok(outcomes) = understand(&bytes) else { return bytes };
    if matches!(outcomes.kind(), OutcomeKind::Error | OutcomeKind::NoisyError(_)) {
        return bytes;
    }
    // The mantissa has 52 bits after the leading one.
    let kept = (f64::from(digits) * std::f64::consts::LOG2_10).ceil() as u32;
    let dropped = 52_u32.saturating_sub(kept);
    let half = 1_u64 << dropped >> 1;
    let round = |sum: &f64| f64::from_bits((sum.to_bits() + half) >> dropped << dropped);
    let sums = outcomes.sums().iter().map(round).collect();
    let (groups, kind) = (outcomes.groups().clone(), outcomes.kind().clone());
    outcomes_to_bytes(&Outcomes::of_sums(outcomes.epoch(), sums, groups, kind))
}

/// Only the version of the layout; read before the parts that depend on it.
#[derive(Deserialize)]
struct Formatted {
    format: u32,
}

/// Returns the content of the file.
pub fn outcomes_to_bytes(outcomes: &Outcomes) -> Vec<u8> {
    let header = Header {
        format: FORMAT,
        measure: outcomes.measure().to_owned(),
        epoch: outcomes.epoch(),
        groups: outcomes.groups().clone(),
        amplitudes: outcomes.amplitudes().to_vec(),
    };
    let mut bytes = serde_json::to_vec(&header).expect("a header holds plain values alone");
    bytes.push(b'\n');
    bytes.extend(outcomes.sums().iter().flat_map(|sum| sum.to_le_bytes()));
    let digest = Sha256::digest(&bytes);
    bytes.extend(digest);
    bytes
}

/// Parses the content of the file; error messages name `path`.
///
/// # Errors
///
/// If the content is damaged or has another layout version.
pub fn parse_outcomes(path: &Path, bytes: &[u8]) -> Result<Outcomes> {
    understand(bytes).map_err(|problem| refusal(path, problem))
}

/// Returns the error of a file that cannot be used.
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
    let Header { measure, epoch, groups, amplitudes, .. } = header;
    let length = || format!("has {} bytes for {} groups", rest.len(), groups.len());
    let (sums, []) = rest.as_chunks::<8>() else { return Err(length()) };
    if sums.len() != groups.len() || sums.is_empty() {
        return Err(length());
    }
    let sums: Vec<f64> = sums.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
    let kind = kind(&measure, amplitudes)?;
    for ((sum, size), group) in sums.iter().zip(groups.sizes()).zip(1..) {
        let possible = match kind {
            OutcomeKind::Error | OutcomeKind::NoisyError(_) => (0.0..=size as f64).contains(sum),
            OutcomeKind::SquaredError => sum.is_finite() && *sum >= 0.0,
            OutcomeKind::Loss => sum.is_finite(),
        };
        if !possible {
            return Err(format!("has a sum of {sum} for group {group}, of {size} examples"));
        }
    }
    Ok(Outcomes::of_sums(epoch, sums, groups, kind))
}

fn kind(measure: &str, amplitudes: Vec<f64>) -> std::result::Result<OutcomeKind, String> {
    match (measure, &amplitudes[..]) {
        ("test-error", []) => Ok(OutcomeKind::Error),
        ("noisy-test-error", [_, ..]) => Ok(OutcomeKind::NoisyError(amplitudes)),
        ("test-loss", []) => Ok(OutcomeKind::Loss),
        ("test-rmse", []) => Ok(OutcomeKind::SquaredError),
        _ => {
            let (count, measure) = (amplitudes.len(), printable(measure));
            Err(format!("has {count} amplitudes of noise, and its measure is {measure}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Outcomes; 4] {
        let groups = || TestGroups::of_sizes([3, 1, 1, 6]);
        let wrong = |shift: usize| -> Vec<bool> {
            (0..11).map(|i| usize::is_multiple_of(i + shift, 3)).collect()
        };
        [
            Outcomes::of_errors(7, groups(), wrong(0)),
            Outcomes::of_noise(7, groups(), vec![(0.2, wrong(1)), (0.4, wrong(2))]),
            Outcomes::of_losses(7, groups(), (0..11).map(|i| i as f32 / 3.0).collect()),
            Outcomes::of_squared_errors(7, groups(), (0..11).map(|i| i as f32 / 7.0).collect()),
        ]
    }

    fn parse(bytes: &[u8]) -> Result<Outcomes> {
        parse_outcomes(Path::new("run/outcomes.bin"), bytes)
    }

    /// Appends the digest.
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

    /// Computed once with the same rules in Python:
    ///
    /// ```python
    /// import hashlib, struct
    /// head = b'{"format":2,"measure":"test-error","epoch":7,'
    /// head += b'"groups":[[3,1],[1,2],[6,1]],"amplitudes":[]}\n'
    /// # Every third of eleven is wrong, from the first on.
    /// print(hashlib.sha256(head + struct.pack("<4d", 1, 1, 0, 2)).hexdigest()[:16])
    /// ```
    const OF_PYTHON: &str = "58a4d9e1fae548a7";

    #[test]
    fn the_file_is_that_of_another_program() {
        let bytes = outcomes_to_bytes(&all()[0]);
        let digest: String =
            bytes[bytes.len() - 32..][..8].iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(digest, OF_PYTHON);
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
        let (text, sums) = whole[..whole.len() - DIGEST].split_at(whole.len() - DIGEST - 4 * 8);
        let text = String::from_utf8(text.to_vec()).unwrap();
        let change = |from: &str, to: &str| {
            assert!(text.contains(from), "{text}");
            let head = text.replace(from, to);
            parse(&sealed([head.as_bytes(), sums].concat())).unwrap_err().to_string()
        };
        assert!(change("\"format\":2", "\"format\":3").contains("has format 3, not 2"));
        assert!(change("[1,2]", "[1,3]").contains("32 bytes for 5 groups"));
        let huge = format!("[1,{}]", usize::MAX - 9);
        assert!(change("[1,2]", &huge).contains("32 bytes for"));
        assert!(change("[3,1]", "[0,1]").contains("a group has no example"));
        assert!(change("[6,1]", "[1,1]").contains("a sum of 2 for group 4, of 1 examples"));
        assert!(change("\"amplitudes\":[]", "\"amplitudes\":[0.5]").contains("1 amplitudes"));
        assert!(change("test-error", "train-loss").contains("its measure is train-loss"));
        assert!(change("\"epoch\":7", "\"epoch\":-7").contains("wrong first line"));
        assert!(change("{\"format\"", "{\"more\":1,\"format\"").contains("unknown field `more`"));
        assert!(change("\n", "").contains("has no first line"));
    }

    #[test]
    fn counts_stay_whole_and_other_sums_are_as_near_as_asked() {
        let outcomes = |kind, sums: &[f64]| {
            Outcomes::of_sums(3, sums.to_vec(), TestGroups::of_sizes([7, 5000, 5000]), kind)
        };
        let again = |outcomes: &Outcomes| parse(&rounded(outcomes_to_bytes(outcomes), 5)).unwrap();
        let counts = outcomes(OutcomeKind::Error, &[7.0, 4999.0, 0.0]);
        assert_eq!(again(&counts), counts);
        let losses = outcomes(OutcomeKind::Loss, &[1.0 / 3.0, -1e-9 / 3.0, 1e9 / 7.0]);
        assert_ne!(again(&losses), losses);
        for (rounded, sum) in again(&losses).sums().iter().zip(losses.sums()) {
            assert!(((rounded - sum) / sum).abs() < 1e-5, "{rounded} {sum}");
        }
        // To the nearest number, which is the larger one here.
        assert!(again(&losses).sums()[0] > 1.0 / 3.0);
        assert_eq!(rounded(b"no outcomes".to_vec(), 5), b"no outcomes");
    }

    #[test]
    fn a_loss_that_is_no_number_is_refused() {
        let bytes = outcomes_to_bytes(&all()[2]);
        let start = bytes.len() - DIGEST - 8;
        let mut bytes = bytes[..bytes.len() - DIGEST].to_vec();
        bytes[start..].copy_from_slice(&f64::NAN.to_le_bytes());
        let error = parse(&sealed(bytes)).unwrap_err().to_string();
        assert!(error.contains("a sum of NaN for group 4"), "{error}");
    }
}
