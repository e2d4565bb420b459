//! Benchmarks; each file beside this one is one.
