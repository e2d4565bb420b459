//! Metrics of trained networks, as a document or tables.

use crate::comparison::label;
use crate::training::{LearnedGelu, Spread};
use gelu_compare::measure::Unit;
use gelu_compare::report::table::number_table;
use gelu_compare::runs::Stage;
use gelu_learner::networks::NoiseMetrics;
use serde::Serialize;
use std::path::PathBuf;

/// The metrics of one trained network.
#[derive(Debug, Serialize)]
pub(super) struct Evaluation {
    pub(super) run: PathBuf,
    pub(super) activation: String,
    pub(super) learning_rate: f64,
    pub(super) dropout: f64,
    /// The learned formula, if the data are points of a formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) formula: Option<String>,
    pub(super) seed: u64,
    pub(super) stage: Stage,
    pub(super) train_loss: f64,
    pub(super) train_error: Option<f64>,
    pub(super) valid_loss: Option<f64>,
    pub(super) valid_error: Option<f64>,
    pub(super) test_loss: f64,
    pub(super) test_error: Option<f64>,
    /// The root of the test loss in the formula's standard deviation, if the network learned a formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) test_rmse: Option<f64>,
    /// The unexplained share of the variance, if the network learned a number of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) test_unexplained: Option<f64>,
    /// The root of the loss outside the range of the training points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) test_outside: Option<f64>,
    /// The test loss in bits per byte of the text, if the data are a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) test_bits_per_byte: Option<f64>,
    /// The text that the network wrote, if the user asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) noise: Vec<NoiseMetrics>,
    /// The learned GELUs, if the network has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) learned: Vec<LearnedGelu>,
}

impl Evaluation {
    /// Returns the dropout rate, or the name of the learned formula.
    fn at(&self) -> String {
        let name = self.formula.as_ref().and_then(|formula| formula.split('=').next());
        name.map_or_else(|| self.dropout.to_string(), str::to_owned)
    }
}

pub(super) fn table(evaluations: &[Evaluation], synthetic: bool) -> String {
    let is_text = evaluations.iter().any(|e| e.test_bits_per_byte.is_some());
    let of_formulas = evaluations.iter().any(|e| e.formula.is_some());
    let at = if of_formulas { "formula" } else { "dropout" };
    let mut header = vec!["activation", at, "lr", "seed", "train loss", "valid loss", "test loss"];
    header.extend(match of_formulas {
        true => &["test RMSE", "outside"][..],
        false if evaluations.iter().any(|e| e.test_unexplained.is_some()) => &["test 1 − R²"],
        false => &["test error"],
    });
    header.extend(is_text.then_some("bits a byte"));
    // Losses of formulas can have any size.
    let unit = Unit::own(if of_formulas { 0 } else { 4 });
    let loss = |loss: f64| unit.shown(loss);
    let or_dash = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), loss);
    let rows = evaluations.iter().map(|e| {
        let mut row = vec![
            label(&e.activation),
            e.at(),
            format!("{:e}", e.learning_rate),
            e.seed.to_string(),
            loss(e.train_loss),
            or_dash(e.valid_loss),
            loss(e.test_loss),
        ];
        match of_formulas {
            true => row.extend([e.test_rmse, e.test_outside].map(or_dash)),
            false => {
                let share = e.test_error.or(e.test_unexplained);
                row.push(share.map_or_else(|| "–".to_owned(), percent));
            }
        }
        row.extend(e.test_bits_per_byte.map(loss));
        row
    });
    let mark = if synthetic { "SYNTHETIC DATA\n" } else { "" };
    let mut text = format!("{mark}{}\n", number_table(&header, rows));
    for e in evaluations {
        let Some(written) = &e.written else { continue };
        let of = format!("{}, lr {:e}, seed {}", label(&e.activation), e.learning_rate, e.seed);
        text += &format!("\n{of} writes:\n{}\n", written);
    }
    if let Some(noise) = noise_table(evaluations) {
        text += &format!("\nUnder noise from Unif[-a, a]\n{noise}\n");
    }
    if let Some(learned) = learned_table(evaluations) {
        text += &format!("\nμ and σ of x·Φ((x − μ)/σ), median [lowest, highest]\n{learned}\n");
    }
    text
}

/// Returns a table of the metrics under noise, one row per network and amplitude; `None` without noise.
fn noise_table(evaluations: &[Evaluation]) -> Option<String> {
    let of = |evaluation: &Evaluation| {
        let run = [
            label(&evaluation.activation),
            evaluation.at(),
            format!("{:e}", evaluation.learning_rate),
            evaluation.seed.to_string(),
        ];
        let row = |noisy: &NoiseMetrics| {
            let error = noisy.test_error.map_or_else(|| "–".to_owned(), percent);
            let loss = Unit::own(4).shown(noisy.test_loss);
            [run.as_slice(), &[noisy.amplitude.to_string(), loss, error]].concat()
        };
        evaluation.noise.iter().map(row).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = evaluations.iter().flat_map(of).collect();
    let of_formulas = evaluations.iter().any(|e| e.formula.is_some());
    let at = if of_formulas { "formula" } else { "dropout" };
    let header = ["activation", at, "lr", "seed", "a", "test loss", "test error"];
    (!rows.is_empty()).then(|| number_table(&header, rows.into_iter()))
}

/// Formats a fraction in percent.
fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// Returns a table of learned GELUs, one row per layer; `None` if there are none.
fn learned_table(evaluations: &[Evaluation]) -> Option<String> {
    let spread = |spread: Spread| {
        format!("{:.3} [{:.3}, {:.3}]", spread.median, spread.lowest, spread.highest)
    };
    let of = |evaluation: &Evaluation| {
        let run = [
            evaluation.dropout.to_string(),
            format!("{:e}", evaluation.learning_rate),
            evaluation.seed.to_string(),
        ];
        let row = |gelu: &LearnedGelu| {
            let learned = [gelu.layer.clone(), spread(gelu.mean), spread(gelu.standard_deviation)];
            [run.as_slice(), learned.as_slice()].concat()
        };
        evaluation.learned.iter().map(row).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = evaluations.iter().flat_map(of).collect();
    let header = ["dropout", "lr", "seed", "layer", "μ", "σ"];
    (!rows.is_empty()).then(|| number_table(&header, rows.into_iter()))
}
