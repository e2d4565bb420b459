//! Benchmarks; each other file in this folder is a separate program.
