use crate::TrainingOps;
use burn_fusion::{Fusion, FusionBackend};

impl<B: FusionBackend> TrainingOps for Fusion<B> {}
