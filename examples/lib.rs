//! Complete programs to copy from; each file beside this one is one.
