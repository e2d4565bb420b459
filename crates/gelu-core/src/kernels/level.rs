#[cfg(any(feature = "std", test))]
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

impl Level {
    /// All that this processor has, the best first.
    #[cfg(any(feature = "std", test))]
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

    /// What tensors are computed with: the best there is, or the one that the environment
    /// variable `GELU_SIMD` names (`avx512`, `avx2`, `fused`, `portable`), if the processor has it.
    #[cfg(feature = "std")]
    pub fn best() -> Self {
        static BEST: std::sync::LazyLock<Level> = std::sync::LazyLock::new(|| {
            let wanted = std::env::var("GELU_SIMD").unwrap_or_default();
            let named =
                |level: &&Level| std::format!("{:?}", level.0).eq_ignore_ascii_case(&wanted);
            let levels = Level::available();
            let chosen = levels.iter().find(named).or(levels.first());
            chosen.copied().unwrap_or(Level(Set::Portable))
        });
        *BEST
    }

    /// What tensors are computed with.
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

    /// Does the work in code compiled for this level.
    pub fn run<W: Work>(self, work: W) -> W::Output {
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
