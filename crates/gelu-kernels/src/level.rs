use alloc::vec::Vec;

/// An instruction set that loops are compiled for, and that this processor has: only detection makes
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// 16 f32 at once.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512,
    /// 8 f32 at once.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2,
    /// The target's baseline has a fused multiply-add: NEON on AArch64, or a build for a given
    /// processor.
    #[cfg(all(
        feature = "std",
        any(target_arch = "aarch64", target_feature = "fma", target_feature = "relaxed-simd")
    ))]
    Fused,
    /// The target's baseline, whose missing fused operation is done without: f32 is computed in
    /// f64.
    Portable,
}

/// Something to be done in code compiled for a level. `run` has to be `#[inline(always)]`.
pub trait Work {
    /// What comes out.
    type Output;

    /// Does it; `FUSED` where a multiply-add is one instruction. What is not fused by name is not
    /// fused, so that a loop of plain sums and products has the same bits on every level.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// [`Work`] on tiles of a product: `ROWS` rows of two vectors of `LANES` numbers, as
/// [`Level::tile`] says.
#[cfg(feature = "gemm")]
pub(crate) trait Tiled {
    type Output;

    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) -> Self::Output;
}

#[cfg(all(feature = "gemm", target_arch = "x86_64", feature = "std"))]
struct Shaped<W, const ROWS: usize, const LANES: usize>(W);

#[cfg(all(feature = "gemm", target_arch = "x86_64", feature = "std"))]
impl<W: Tiled, const ROWS: usize, const LANES: usize> Work for Shaped<W, ROWS, LANES> {
    type Output = W::Output;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> W::Output {
        self.0.run::<FUSED, ROWS, LANES>()
    }
}

impl Level {
    /// All that this processor has, the best first.
    pub fn available() -> Vec<Self> {
        let levels: &[(Set, bool)] = &[
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (Set::Avx512, is_x86_feature_detected!("avx512f") && Self::has_avx2()),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (Set::Avx2, Self::has_avx2()),
            #[cfg(all(
                feature = "std",
                any(
                    target_arch = "aarch64",
                    target_feature = "fma",
                    target_feature = "relaxed-simd"
                )
            ))]
            (Set::Fused, true),
            (Set::Portable, true),
        ];
        levels.iter().filter(|(_, found)| *found).map(|(set, _)| Self(*set)).collect()
    }

    /// What is computed with where nobody says otherwise: the best there is, or the one that the
    /// environment variable `GELU_SIMD` names (`avx512`, `avx2`, `fused`, `portable`).
    ///
    /// # Panics
    ///
    /// If it names one that this processor or this build does not have.
    #[cfg(feature = "std")]
    pub fn best() -> Self {
        // Once: on every call that follows a refusal it is refused again.
        static BEST: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| Self::chosen().unwrap_or_else(|refusal| panic!("{refusal}")))
    }

    /// [`best`](Self::best), for a program that refuses before it begins.
    ///
    /// # Errors
    ///
    /// A sentence, if `GELU_SIMD` names an instruction set that this processor or this build does not
    /// have.
    #[cfg(feature = "std")]
    pub fn chosen() -> Result<Self, std::string::String> {
        let wanted = std::env::var_os("GELU_SIMD").unwrap_or_default();
        Self::named(&wanted.to_string_lossy())
    }

    /// The level of a name, the best for none.
    #[cfg(feature = "std")]
    fn named(wanted: &str) -> Result<Self, std::string::String> {
        let levels = Self::available();
        let name = |level: &Self| std::format!("{:?}", level.0).to_ascii_lowercase();
        if wanted.is_empty() {
            return Ok(levels.first().copied().unwrap_or(Self(Set::Portable)));
        }
        levels.iter().copied().find(|level| name(level).eq_ignore_ascii_case(wanted)).ok_or_else(|| {
            let names: Vec<_> = levels.iter().map(|level| std::format!("`{}`", name(level))).collect();
            std::format!(
                "GELU_SIMD={wanted} names no instruction set that is there: set it to {}, or to nothing",
                names.join(" or ")
            )
        })
    }

    /// What is computed with.
    #[cfg(not(feature = "std"))]
    pub fn best() -> Self {
        Self(Set::Portable)
    }

    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    }

    /// Whether a multiply-add is one instruction.
    pub fn fuses(self) -> bool {
        self.0 != Set::Portable
    }

    /// Rows of a tile, and half its columns: what the registers of this level hold of a product, beside
    /// what goes into it. AVX-512 has registers for twelve rows, but of a tile of 256 numbers or more LLVM makes
    /// memory, eight times as slow.
    #[cfg(feature = "gemm")]
    pub(crate) fn tile(self) -> [usize; 2] {
        match self.0 {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Set::Avx512 => [6, 16],
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Set::Avx2 => [6, 8],
            #[cfg(all(
                feature = "std",
                any(
                    target_arch = "aarch64",
                    target_feature = "fma",
                    target_feature = "relaxed-simd"
                )
            ))]
            Set::Fused => [6, 8],
            Set::Portable => [2, 8],
        }
    }

    /// Does the work in code compiled for this level and its tiles, whose sizes are those of
    /// [`tile`](Self::tile).
    #[cfg(feature = "gemm")]
    pub(crate) fn run_tiled<W: Tiled>(self, work: W) -> W::Output {
        match self.0 {
            // SAFETY: `available`, the only maker of levels, has detected the instructions.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Set::Avx512 => unsafe { avx512(Shaped::<W, 6, 16>(work)) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Set::Avx2 => unsafe { avx2(Shaped::<W, 6, 8>(work)) },
            #[cfg(all(
                feature = "std",
                any(
                    target_arch = "aarch64",
                    target_feature = "fma",
                    target_feature = "relaxed-simd"
                )
            ))]
            Set::Fused => work.run::<true, 6, 8>(),
            Set::Portable => work.run::<false, 2, 8>(),
        }
    }

    /// Does the work in code compiled for this level.
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            // SAFETY: `available`, the only maker of levels, has detected the instructions.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Set::Avx512 => unsafe { avx512(work) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Set::Avx2 => unsafe { avx2(work) },
            #[cfg(all(
                feature = "std",
                any(
                    target_arch = "aarch64",
                    target_feature = "fma",
                    target_feature = "relaxed-simd"
                )
            ))]
            Set::Fused => work.run::<true>(),
            Set::Portable => work.run::<false>(),
        }
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx512f,avx2,fma")]
fn avx512<W: Work>(work: W) -> W::Output {
    work.run::<true>()
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2,fma")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run::<true>()
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_found_by_its_name_and_nothing_else() {
        for level in Level::available() {
            let name = std::format!("{:?}", level.0);
            assert_eq!(Level::named(&name.to_ascii_lowercase()), Ok(level));
            assert_eq!(Level::named(&name.to_ascii_uppercase()), Ok(level));
        }
        assert_eq!(Level::named(""), Ok(Level::available()[0]));
        let refusal = Level::named("avx3").unwrap_err();
        assert!(refusal.starts_with("GELU_SIMD=avx3 names no instruction set"), "{refusal}");
        assert!(refusal.contains("`portable`"), "{refusal}");
    }
}
