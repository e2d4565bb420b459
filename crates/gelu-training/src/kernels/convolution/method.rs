use super::Geometry;
use std::sync::OnceLock;

/// The method of computing convolutions, where there is a choice.
///
/// Winograd's method takes 16 multiplications instead of 36 for results and gradients of 3×3 kernels with stride
/// 1, and its results and input gradients have slightly larger rounding errors. Other kernels, and convolutions
/// with few channels or pixels, are always computed by definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Sums of products, by definition.
    Direct,
    /// F(2×2, 3×3), wherever it is faster.
    Winograd,
}

impl Method {
    /// Returns the default method: Winograd's, or the one that the environment variable `GELU_CONVOLUTION` names
    /// (`direct`, `winograd`).
    ///
    /// # Panics
    ///
    /// If `GELU_CONVOLUTION` names no method.
    pub fn best() -> Self {
        static BEST: OnceLock<Method> = OnceLock::new();
        *BEST.get_or_init(|| Self::chosen().unwrap_or_else(|refusal| panic!("{refusal}")))
    }

    /// Returns [`best`](Self::best), or an error that a program can report before it begins.
    ///
    /// # Errors
    ///
    /// If `GELU_CONVOLUTION` names no method. The error is a sentence.
    pub fn chosen() -> Result<Self, String> {
        let wanted = std::env::var_os("GELU_CONVOLUTION").unwrap_or_default();
        Self::named(&wanted.to_string_lossy())
    }

    fn named(wanted: &str) -> Result<Self, String> {
        match wanted.to_ascii_lowercase().as_str() {
            "" | "winograd" => Ok(Self::Winograd),
            "direct" => Ok(Self::Direct),
            _ => Err(format!(
                "GELU_CONVOLUTION={wanted} names no way to compute convolutions: set it to `direct` or \
                 `winograd`, or to nothing"
            )),
        }
    }

    /// Returns the method for a convolution.
    pub(super) fn of(self, geometry: &Geometry) -> Self {
        /// The number of channels from which on the transforms cost less than they save.
        const CHANNELS: usize = 16;
        /// The number of results in an image from which on few of a tile's columns are wasted.
        const RESULTS: usize = 16;
        let wide = geometry.channels.iter().all(|&channels| channels >= CHANNELS);
        let large = geometry.output_plane().min(geometry.input_plane()) >= RESULTS;
        if geometry.has_squares() && wide && large { self } else { Self::Direct }
    }

    /// Returns the method for the gradient of a convolution's weight.
    pub(super) fn of_weights(self, geometry: &Geometry) -> Self {
        /// The number of results from which on transforming the sums back is worth it.
        const RESULTS: usize = 128;
        let several = geometry.batch * geometry.output_plane() >= RESULTS;
        if several { self.of(geometry) } else { Self::Direct }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_found_by_its_name_and_nothing_else() {
        for (name, method) in
            [("", Method::Winograd), ("Winograd", Method::Winograd), ("direct", Method::Direct)]
        {
            assert_eq!(Method::named(name), Ok(method));
        }
        let refusal = Method::named("fft").unwrap_err();
        assert!(refusal.starts_with("GELU_CONVOLUTION=fft names no way"), "{refusal}");
    }
}
