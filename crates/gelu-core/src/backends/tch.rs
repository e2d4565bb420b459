use crate::ActivationOps;
use burn_core::backend::LibTorch;

impl ActivationOps for LibTorch {}
