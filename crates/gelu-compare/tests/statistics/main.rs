//! The statistics of comparisons: against an enumeration that shares no code with them, their error rates by
//! simulation, and the table of what they can show.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod enumeration;
mod power;
mod sessions;
mod simulation;
mod tables;
