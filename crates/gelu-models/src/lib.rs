//! The networks of the GELU paper, built on Burn.
