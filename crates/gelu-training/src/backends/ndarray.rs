use crate::TrainingOps;
use crate::cohort::CohortOps;
use burn_core::backend::NdArray;

impl TrainingOps for NdArray {}

impl CohortOps for NdArray {}
