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

    /// Does it; `FUSED` where a multiply-add is one instruction, and `LANES` of f32 are a vector. What is not
    /// fused by name is not fused, so that a loop of plain sums and products has the same bits on every level.
    fn run<const FUSED: bool, const LANES: usize>(self) -> Self::Output;
}

/// A function that is picked for a level once and then called many times. `run` has to be `#[inline(always)]`.
#[cfg(feature = "loops")]
pub(crate) trait Compiled {
    type Arguments;

    /// # Safety
    ///
    /// As the implementation says.
    unsafe fn run<const FUSED: bool>(arguments: Self::Arguments);
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

    /// How many f32 there are in a vector.
    pub fn lanes(self) -> usize {
        self.run(Lanes)
    }

    /// The function in code compiled for this level: to be called on this processor alone.
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

/// # Safety
///
/// As for [`Compiled::run`].
#[cfg(all(target_arch = "x86_64", feature = "std", feature = "loops"))]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512_function<C: Compiled>(arguments: C::Arguments) {
    // SAFETY: as the caller promises.
    unsafe { C::run::<true>(arguments) };
}

/// # Safety
///
/// As for [`Compiled::run`].
#[cfg(all(target_arch = "x86_64", feature = "std", feature = "loops"))]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2_function<C: Compiled>(arguments: C::Arguments) {
    // SAFETY: as the caller promises.
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
