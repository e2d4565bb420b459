use crate::TrainingOps;
use burn_core::backend::LibTorch;

impl TrainingOps for LibTorch {}
