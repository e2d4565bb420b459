//! The JSON document of a comparison, as another program reads it.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "the tests of GPUs, a crate of their own, use a part of it"
)]

use gelu_compare::comparison::Verdict;
use gelu_compare::comparison::statistics::Schedule;
use gelu_compare::measure::Reported;
use gelu_compare::report::Edge;
use gelu_compare::runs::Stage;
use gelu_experiments::measure::LossKind;
use gelu_learner::networks::NoiseMetrics;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Deserialize)]
pub struct Document {
    pub schema: String,
    pub device: String,
    pub data: Data,
    pub loss: LossKind,
    pub reported: Reported,
    pub criterion: Criterion,
    pub runs: Vec<Run>,
    pub arms: Vec<Activation>,
    pub differences: Vec<Difference>,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Data {
    pub source: String,
    pub synthetic: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Criterion {
    pub alpha: f64,
    pub comparisons: usize,
    #[serde(rename = "plan")]
    pub schedule: Schedule,
    #[serde(default)]
    pub added_seeds: Vec<AddedSeeds>,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct AddedSeeds {
    pub seeds: u64,
    pub at: String,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Run {
    pub activation: String,
    pub learning_rate: f64,
    #[serde(default)] // Absent for formulas.
    pub dropout: f64,
    pub seed: u64,
    pub stage: Stage,
    pub planned: bool,
    pub status: String,
    pub reason: Option<String>,
    pub diverged_in_epoch: Option<usize>,
    #[serde(default)]
    pub arithmetics: Vec<String>,
    pub reported_epoch: Option<usize>,
    pub epochs: Vec<EpochMetrics>,
    #[serde(default)]
    pub noise: Vec<NoiseMetrics>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochMetrics {
    pub epoch: usize,
    pub learning_rate: f64,
    pub batch_loss: Option<f64>,
    pub train_loss: f64,
    pub train_error: Option<f64>,
    pub valid_loss: Option<f64>,
    pub valid_error: Option<f64>,
    pub test_loss: Option<f64>,
    pub test_error: Option<f64>,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Activation {
    pub activation: String,
    #[serde(default)] // Absent for formulas.
    pub dropout: f64,
    pub best_learning_rate: f64,
    pub edge: Option<Edge>,
    pub finished: usize,
    pub diverged: usize,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Difference {
    pub activation: String,
    pub baseline: String,
    #[serde(default)] // Absent for formulas.
    pub dropout: f64,
    #[serde(flatten)]
    pub finding: Finding,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Finding {
    pub seeds: usize,
    pub mean: Option<f64>,
    pub p: Option<f64>,
    pub alpha_spent: f64,
    pub verdict: Verdict,
    pub sentence: String,
}
