use super::Geometry;
use std::sync::OnceLock;

/// How convolutions are computed, where there is a choice.
///
/// Winograd's method takes 16 multiplications in place of 36 for results and gradients of 3×3 kernels of stride 1,
/// and rounds results and the input's gradients a little more. Other kernels are computed by definition in any
/// case, and so are few channels and pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// As sums of products, by definition.
    Direct,
    /// By F(2×2, 3×3) wherever it is faster.
    Winograd,
}

impl Method {
    /// What is computed by where nobody says otherwise: Winograd's, or what the environment variable
    /// `GELU_CONVOLUTION` names (`direct`, `winograd`).
    ///
    /// # Panics
    ///
    /// If it names neither.
    pub fn best() -> Self {
        static BEST: OnceLock<Method> = OnceLock::new();
        *BEST.get_or_init(|| Self::chosen().unwrap_or_else(|refusal| panic!("{refusal}")))
    }

    /// [`best`](Self::best), for a program that refuses before it begins.
    ///
    /// # Errors
    ///
    /// A sentence, if `GELU_CONVOLUTION` names no method.
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

    /// What a convolution is computed by.
    pub(super) fn of(self, geometry: &Geometry) -> Self {
        /// Channels from which on the transforms cost less than they save.
        const CHANNELS: usize = 16;
        /// As many results of a picture waste few of a tile's columns.
        const RESULTS: usize = 16;
        let wide = geometry.channels.iter().all(|&channels| channels >= CHANNELS);
        let large = geometry.output_plane().min(geometry.input_plane()) >= RESULTS;
        if geometry.has_squares() && wide && large { self } else { Self::Direct }
    }

    /// What the gradient for its weight is computed by.
    pub(super) fn of_weights(self, geometry: &Geometry) -> Self {
        /// Results from which on the sums are worth transforming back.
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
