use super::strip::Strip;
use crate::math::formula::Formula;
use crate::math::real::Emulated;

/// An instruction set that the loops are compiled for. All give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// 16 numbers at once.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512,
    /// 8 numbers at once.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2,
    /// 8 numbers at once, the fused multiply-add emulated with 4.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx,
    /// The target's baseline has a fused multiply-add: NEON on AArch64, or a build for a given
    /// processor.
    #[cfg(all(
        feature = "std",
        any(target_arch = "aarch64", target_feature = "fma", target_feature = "relaxed-simd")
    ))]
    Fused,
    /// The target's baseline, whose missing fused operation is emulated.
    Portable,
}

impl Level {
    /// All that this processor has, the best first.
    #[cfg(any(feature = "std", test))]
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        let levels: &[(Self, bool)] = &[
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (Self::Avx512, is_x86_feature_detected!("avx512f") && Self::has_avx2()),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (Self::Avx2, Self::has_avx2()),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (Self::Avx, is_x86_feature_detected!("avx")),
            #[cfg(all(
                feature = "std",
                any(
                    target_arch = "aarch64",
                    target_feature = "fma",
                    target_feature = "relaxed-simd"
                )
            ))]
            (Self::Fused, true),
            (Self::Portable, true),
        ];
        let found: alloc::vec::Vec<Self> =
            levels.iter().filter(|(_, found)| *found).map(|(level, _)| *level).collect();
        found.into_iter()
    }

    /// What tensors are computed with: the best there is, or the one that the environment
    /// variable `GELU_SIMD` names (`avx512`, `avx2`, `avx`, `fused`,
    /// `portable`), if the processor has it.
    #[cfg(feature = "std")]
    pub(crate) fn best() -> Self {
        static BEST: std::sync::LazyLock<Level> = std::sync::LazyLock::new(|| {
            let wanted = std::env::var("GELU_SIMD").unwrap_or_default();
            let named = |level: &Level| std::format!("{level:?}").eq_ignore_ascii_case(&wanted);
            let mut levels = Level::available();
            Level::available().find(named).or(levels.next()).unwrap_or(Level::Portable)
        });
        *BEST
    }

    /// What tensors are computed with.
    #[cfg(not(feature = "std"))]
    pub(crate) fn best() -> Self {
        Self::Portable
    }

    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    }

    /// Runs `strip` in code compiled for this level.
    pub(super) fn run<F: Formula>(self, strip: Strip<'_, F>, sums: &mut [f32]) {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        #[target_feature(enable = "avx512f,avx2,fma")]
        fn avx512<F: Formula>(strip: Strip<'_, F>, sums: &mut [f32]) {
            strip.run::<f32>(sums);
        }
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        #[target_feature(enable = "avx2,fma")]
        fn avx2<F: Formula>(strip: Strip<'_, F>, sums: &mut [f32]) {
            strip.run::<f32>(sums);
        }
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        #[target_feature(enable = "avx")]
        fn avx<F: Formula>(strip: Strip<'_, F>, sums: &mut [f32]) {
            strip.run::<Emulated>(sums);
        }
        match self {
            // SAFETY: `available`, the only maker of levels, has detected the instructions.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512 => unsafe { avx512(strip, sums) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2 => unsafe { avx2(strip, sums) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx => unsafe { avx(strip, sums) },
            #[cfg(all(
                feature = "std",
                any(
                    target_arch = "aarch64",
                    target_feature = "fma",
                    target_feature = "relaxed-simd"
                )
            ))]
            Self::Fused => strip.run::<f32>(sums),
            Self::Portable => strip.run::<Emulated>(sums),
        }
    }
}
