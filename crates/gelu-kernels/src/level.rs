use alloc::vec::Vec;

/// An instruction set that loops are compiled for and that this processor has. Levels come from detection
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// Instructions for 16 f32 numbers at once.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512,
    /// Instructions for 8 f32 numbers at once.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2,
    /// The target's baseline, which has a fused multiply-add: NEON on AArch64, or a build for a specific
    /// processor.
    #[cfg(all(
        feature = "std",
        any(target_arch = "aarch64", target_feature = "fma", target_feature = "relaxed-simd")
    ))]
    Fused,
    /// The target's baseline, without a fused multiply-add: f32 functions are computed in f64.
    Portable,
}

/// Work that runs in code compiled for a level. `run` has to be `#[inline(always)]`.
pub trait Work {
    /// The type of the result.
    type Output;

    /// Does the work. `FUSED` says that a multiply-add is one instruction, and `LANES` is the number of f32 in
    /// a vector. The compiler only fuses explicit multiply-adds, so a loop of plain sums and products gives
    /// bit-identical results on every level.
    fn run<const FUSED: bool, const LANES: usize>(self) -> Self::Output;
}

/// A function that is picked for a level once and then called many times. `run` has to be `#[inline(always)]`.
#[cfg(feature = "loops")]
pub(crate) trait Compiled {
    type Arguments;

    /// Runs the function.
    ///
    /// # Safety
    ///
    /// The implementation documents its requirements.
    unsafe fn run<const FUSED: bool>(arguments: Self::Arguments);
}

impl Level {
    /// Returns all levels of this processor, the best first.
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

    /// Returns the level that is used by default: the best one, or the one that the environment variable
    /// `GELU_SIMD` names (`avx512`, `avx2`, `fused`, `portable`).
    ///
    /// # Panics
    ///
    /// If `GELU_SIMD` names a level that this processor or this build does not have.
    #[cfg(feature = "std")]
    pub fn best() -> Self {
        // The variable is read once. After a failure, every later call reads it again and fails again.
        static BEST: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| Self::chosen().unwrap_or_else(|refusal| panic!("{refusal}")))
    }

    /// Returns [`best`](Self::best), or an error that a program can report before it begins.
    ///
    /// # Errors
    ///
    /// If `GELU_SIMD` names an instruction set that this processor or this build does not have. The error is a
    /// sentence.
    #[cfg(feature = "std")]
    pub fn chosen() -> Result<Self, std::string::String> {
        let wanted = std::env::var_os("GELU_SIMD").unwrap_or_default();
        Self::named(&wanted.to_string_lossy())
    }

    /// Returns the level of this name, or the best level for an empty name.
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

    /// Returns the level that is used by default.
    #[cfg(not(feature = "std"))]
    pub fn best() -> Self {
        Self(Set::Portable)
    }

    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    }

    /// Returns whether a multiply-add is one instruction.
    pub fn fuses(self) -> bool {
        self.0 != Set::Portable
    }

    /// Returns the number of f32 in a vector.
    pub fn lanes(self) -> usize {
        self.run(Lanes)
    }

    /// Returns the function in code compiled for this level. It may only be called on this processor.
    #[cfg(feature = "loops")]
    pub(crate) fn compiled<C: Compiled>(self) -> unsafe fn(C::Arguments) {
        match self.0 {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Set::Avx512 => avx512_function::<C>,
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Set::Avx2 => avx2_function::<C>,
            #[cfg(all(
                feature = "std",
                any(
                    target_arch = "aarch64",
                    target_feature = "fma",
                    target_feature = "relaxed-simd"
                )
            ))]
            Set::Fused => C::run::<true>,
            Set::Portable => C::run::<false>,
        }
    }

    /// Does the work in code compiled for this level.
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            // SAFETY: `available` is the only source of levels, and has detected the instructions.
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
            Set::Fused => work.run::<true, 4>(),
            Set::Portable => work.run::<false, 4>(),
        }
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx512f,avx2,fma")]
fn avx512<W: Work>(work: W) -> W::Output {
    work.run::<true, 16>()
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2,fma")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run::<true, 8>()
}

/// Runs `C` in code compiled for AVX-512.
///
/// # Safety
///
/// As for [`Compiled::run`].
#[cfg(all(target_arch = "x86_64", feature = "std", feature = "loops"))]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512_function<C: Compiled>(arguments: C::Arguments) {
    // SAFETY: the caller upholds the safety contract of this function.
    unsafe { C::run::<true>(arguments) };
}

/// Runs `C` in code compiled for AVX2.
///
/// # Safety
///
/// As for [`Compiled::run`].
#[cfg(all(target_arch = "x86_64", feature = "std", feature = "loops"))]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2_function<C: Compiled>(arguments: C::Arguments) {
    // SAFETY: the caller upholds the safety contract of this function.
    unsafe { C::run::<true>(arguments) };
}

struct Lanes;

impl Work for Lanes {
    type Output = usize;

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) -> usize {
        LANES
    }
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
