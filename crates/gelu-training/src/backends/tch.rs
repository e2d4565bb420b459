use crate::TrainingOps;
use crate::cohort::CohortOps;
use burn_core::backend::LibTorch;

impl TrainingOps for LibTorch {}

impl CohortOps for LibTorch {}
