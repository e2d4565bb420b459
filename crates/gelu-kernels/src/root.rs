//! Square roots, correctly rounded, with and without the standard library.

#[inline(always)]
pub(crate) fn single(x: f32) -> f32 {
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrtf(x);
}

#[inline(always)]
pub(crate) fn double(x: f64) -> f64 {
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrt(x);
}
