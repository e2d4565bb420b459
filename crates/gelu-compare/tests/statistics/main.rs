//! Tests of the statistics: against an enumeration that shares no code with them, their error rates by simulation,
//! and the table of detectable differences.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod enumeration;
mod power;
mod sessions;
mod simulation;
mod tables;
