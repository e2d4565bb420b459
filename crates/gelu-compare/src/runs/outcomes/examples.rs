//! Format 1, which has the examples one by one:
//!
//! ```text
//! {"format":1,"measure":"test-error","epoch":50,"examples":10000,"groups":[[1,10000]],"amplitudes":[]}
//! a bit an example, 1 where it was classified wrongly, filled up with zeros to whole bytes: for
//!   `noisy-test-error` as many bytes for every amplitude, one after the other; for `test-loss` instead
//!   each example's loss as a little-endian f32, for `test-rmse` its squared error
//! ```

use crate::measure::{Bits, OutcomeKind, Outcomes, TestGroups};
use serde::Deserialize;

pub(super) const FORMAT: u32 = 1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    #[serde(rename = "format")]
    _format: u32,
    measure: String,
    epoch: usize,
    examples: usize,
    groups: TestGroups,
    amplitudes: Vec<f64>,
}

pub(super) fn understand(header: Header, body: &[u8]) -> Result<Outcomes, String> {
    let Header { measure, epoch, examples, groups, amplitudes, .. } = header;
    if groups.examples() != examples || examples == 0 {
        let found = groups.examples();
        return Err(format!("has {examples} examples, and {found} in its groups"));
    }
    let length = || format!("has {} bytes for {examples} examples", body.len());
    let bits = |bytes: &[u8]| Bits::from_bytes(bytes, examples).ok_or_else(length);
    match super::kind(&measure, amplitudes)? {
        OutcomeKind::Error => Ok(Outcomes::of_errors(epoch, groups, bits(body)?)),
        OutcomeKind::NoisyError(amplitudes) => {
            let (levels, size) = (amplitudes.len(), examples.div_ceil(8));
            if size.checked_mul(levels) != Some(body.len()) {
                return Err(format!("{} and {levels} amplitudes", length()));
            }
            let levels = amplitudes.into_iter().zip(body.chunks_exact(size));
            let levels = levels.map(|(amplitude, bytes)| Ok((amplitude, bits(bytes)?)));
            Ok(Outcomes::of_noise(epoch, groups, levels.collect::<Result<_, String>>()?))
        }
        OutcomeKind::Loss => {
            let losses = numbers(body, examples, |loss| loss.is_finite())?;
            Ok(Outcomes::of_losses(epoch, groups, losses))
        }
        OutcomeKind::SquaredError => {
            let squares = numbers(body, examples, |square| square.is_finite() && square >= 0.0)?;
            Ok(Outcomes::of_squared_errors(epoch, groups, squares))
        }
    }
}

fn numbers(
    body: &[u8],
    examples: usize,
    is_possible: impl Fn(f32) -> bool,
) -> Result<Vec<f32>, String> {
    let length = || format!("has {} bytes for {examples} examples", body.len());
    let (numbers, []) = body.as_chunks::<4>() else { return Err(length()) };
    if numbers.len() != examples {
        return Err(length());
    }
    let numbers: Vec<f32> = numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    match numbers.iter().position(|&number| !is_possible(number)) {
        Some(place) => Err(format!("has an outcome of {} for example {place}", numbers[place])),
        None => Ok(numbers),
    }
}
