use crate::ActivationOps;
use burn_fusion::{Fusion, FusionBackend};

// The composed bodies are made of fusable operations.
impl<B: FusionBackend + ActivationOps> ActivationOps for Fusion<B> {}
