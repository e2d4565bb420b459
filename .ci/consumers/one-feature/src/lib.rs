//! Whatever one feature makes of a crate.
