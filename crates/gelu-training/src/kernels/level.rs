use std::sync::LazyLock;

/// An instruction set that loops are compiled for. All give the same bits: nothing is fused.
///
/// Only detection makes one, so a level is the proof that the processor has its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The target's baseline; on AArch64 that is NEON.
    Portable,
}

/// A loop to be compiled for every level. `run` has to be `#[inline(always)]`.
pub(crate) trait Work {
    /// What comes out.
    type Output;

    /// Does it.
    fn run(self) -> Self::Output;
}

impl Level {
    /// All that this processor has, the best first.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        let sets = [
            #[cfg(target_arch = "x86_64")]
            (Set::Avx512, is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx2")),
            #[cfg(target_arch = "x86_64")]
            (Set::Avx2, is_x86_feature_detected!("avx2")),
            (Set::Portable, true),
        ];
        sets.into_iter().filter(|(_, found)| *found).map(|(set, _)| Self(set))
    }

    /// What tensors are computed with: the best there is, or the one that the environment variable
    /// `GELU_SIMD` names, if the processor has it.
    pub(crate) fn best() -> Self {
        static BEST: LazyLock<Level> = LazyLock::new(|| {
            let wanted = std::env::var("GELU_SIMD").unwrap_or_default();
            let named = |level: &Level| format!("{:?}", level.0).eq_ignore_ascii_case(&wanted);
            let mut levels = Level::available();
            Level::available().find(named).or(levels.next()).unwrap_or(Level(Set::Portable))
        });
        *BEST
    }

    /// Does `work` in code compiled for this level.
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx2")]
        fn avx512<W: Work>(work: W) -> W::Output {
            work.run()
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn avx2<W: Work>(work: W) -> W::Output {
            work.run()
        }
        match self.0 {
            // SAFETY: `available`, the only maker of levels, has detected the instructions.
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "dispatch")]
            Set::Avx512 => unsafe { avx512(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "dispatch")]
            Set::Avx2 => unsafe { avx2(work) },
            Set::Portable => work.run(),
        }
    }
}
