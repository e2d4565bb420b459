use crate::TrainingOps;
use burn_fusion::{Fusion, FusionBackend};
use gelu_core::ActivationOps;

impl<B: FusionBackend + ActivationOps> TrainingOps for Fusion<B> {}
