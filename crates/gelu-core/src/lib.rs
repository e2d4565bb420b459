//! Accurate, fused GELU-family activations for Burn.
