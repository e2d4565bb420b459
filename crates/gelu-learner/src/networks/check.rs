//! Checks outcomes of test examples against the measures counted from them.

use super::{NoiseMetrics, OutcomeKind, Outcomes};
use gelu_compare::measure::EpochMetrics;

/// Checks that the run's measures were counted from `outcomes`: the number of errors exactly, losses as far as sums
/// in another order agree.
///
/// # Errors
///
/// The measure from the outcomes and the recorded measure, if they differ.
pub fn check_outcomes(
    outcomes: &Outcomes,
    reported: &EpochMetrics,
    noise: &[NoiseMetrics],
) -> Result<(), String> {
    if outcomes.epoch() != reported.epoch {
        return Err(format!(
            "holds the outcomes of epoch {}, and epoch {} is reported",
            outcomes.epoch(),
            reported.epoch
        ));
    }
    let equal = |what: &str, here: f64, measured: Option<f64>, tolerance: f64| match measured {
        Some(there) if (here - there).abs() <= tolerance * there.abs() => Ok(()),
        Some(there) => Err(format!("makes the {what} {here}, and {there} was measured")),
        None => Err(format!("has a {what}, and none was measured")),
    };
    let (mean, of_epoch) = (outcomes.mean(), |column| reported.get(column));
    match outcomes.kind() {
        OutcomeKind::Error => equal("test error", mean, of_epoch("test_error"), 0.0),
        OutcomeKind::Loss => equal("test loss", mean, of_epoch("test_loss"), ROUNDING),
        OutcomeKind::SquaredError => equal("test RMSE", mean, of_epoch("test_rmse"), ROUNDING),
        OutcomeKind::NoisyError(amplitudes) => {
            let at = |amplitude: &f64| {
                noise.iter().find(|point| point.amplitude == *amplitude)?.test_error
            };
            let errors: Option<Vec<f64>> = amplitudes.iter().map(at).collect();
            let measured = errors.map(|all| all.iter().sum::<f64>() / all.len() as f64);
            equal("test error under noise", mean, measured, LAST_BITS)
        }
    }
}

/// The largest relative difference between two means of the same losses, when one of them is summed batch by batch in
/// f32.
const ROUNDING: f64 = 1e-4;
/// The largest relative difference between two means of counts that are summed in different orders.
const LAST_BITS: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::TestGroups;

    fn wrong(text: &str) -> Vec<bool> {
        text.bytes().map(|byte| byte == b'1').collect()
    }

    fn reported(test_error: Option<f64>, test_loss: f64) -> EpochMetrics {
        EpochMetrics::new(3).with("test_loss", test_loss).with("test_error", test_error)
    }

    #[test]
    fn they_are_of_one_measure() {
        let groups = TestGroups::singles(2);
        let errors = Outcomes::of_errors(1, groups.clone(), wrong("01"));
        assert!(errors.are_of("test-error", &[]) && errors.are_of("test_error", &[]));
        assert!(!errors.are_of("test-loss", &[]));
        let noisy = Outcomes::of_noise(1, groups, vec![(1.0, wrong("01"))]);
        assert!(noisy.are_of("noisy-test-error", &[1.0]));
        assert!(!noisy.are_of("noisy-test-error", &[1.0, 2.0]));
        assert!(!noisy.are_of("test-error", &[]));
    }

    #[test]
    fn outcomes_of_anything_else_than_what_was_measured_are_noticed() {
        let groups = TestGroups::singles(3);
        let errors = Outcomes::of_errors(3, groups.clone(), wrong("100"));
        assert_eq!(check_outcomes(&errors, &reported(Some(1.0 / 3.0), 1.0), &[]), Ok(()));
        let said = |found: Result<(), String>| found.unwrap_err();
        let other = said(check_outcomes(&errors, &reported(Some(2.0 / 3.0), 1.0), &[]));
        assert!(other.contains("makes the test error 0.333"), "{other}");
        let epoch = EpochMetrics { epoch: 4, ..reported(Some(1.0 / 3.0), 1.0) };
        assert!(said(check_outcomes(&errors, &epoch, &[])).contains("epoch 3, and epoch 4"));
        assert!(
            said(check_outcomes(&errors, &reported(None, 1.0), &[])).contains("none was measured")
        );

        let losses = Outcomes::of_losses(3, groups.clone(), vec![0.5, 1.0, 1.5]);
        assert_eq!(check_outcomes(&losses, &reported(None, 1.000_01), &[]), Ok(()));
        assert!(said(check_outcomes(&losses, &reported(None, 1.001), &[])).contains("test loss 1"));

        let noisy = Outcomes::of_noise(3, groups, vec![(1.0, wrong("100"))]);
        let point =
            |amplitude, error| NoiseMetrics { amplitude, test_loss: 1.0, test_error: Some(error) };
        let measured = reported(Some(0.0), 1.0);
        assert_eq!(
            check_outcomes(&noisy, &measured, &[point(0.0, 0.0), point(1.0, 1.0 / 3.0)]),
            Ok(())
        );
        assert!(
            said(check_outcomes(&noisy, &measured, &[point(1.0, 0.0)]))
                .contains("under noise 0.333")
        );
        assert!(
            said(check_outcomes(&noisy, &measured, &[point(2.0, 1.0)]))
                .contains("none was measured")
        );
    }
}
