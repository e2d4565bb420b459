//! Which of two settings is better: from paired results to a verdict.

pub mod statistics;
