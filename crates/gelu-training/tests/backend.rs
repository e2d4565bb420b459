//! One suite for every backend. It runs on the default device, which `BURN_DEVICE` chooses among
//! the backends that are compiled in:
//!
//! ```text
//! BURN_DEVICE=vulkan cargo test --release -p gelu-training --features vulkan --test backend
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "backend/attention.rs"]
mod attention;
#[path = "backend/batch_norm.rs"]
mod batch_norm;
#[path = "backend/checkpointing.rs"]
mod checkpointing;
#[path = "backend/cohort.rs"]
mod cohort;
#[path = "backend/convolution.rs"]
mod convolution;
#[path = "backend/layouts.rs"]
mod layouts;
#[path = "backend/linear.rs"]
mod linear;
#[path = "backend/max_pool.rs"]
mod max_pool;
#[path = "backend/optimizers.rs"]
mod optimizers;
#[path = "backend/row_norm.rs"]
mod row_norm;
#[path = "backend/sixteen_bits.rs"]
mod sixteen_bits;
