use crate::kernels::Moment;
use crate::kernels::checks::expect_epsilon;
use crate::kernels::checks::expect_length;
use gelu_kernels::Float;
use gelu_kernels::SharedSlice;
use gelu_kernels::Storage;
use gelu_kernels::prefetch;
use gelu_kernels::threads::{self, Chunks, PARALLEL, Threads};
use gelu_kernels::{Level, Work};

/// The position of ε in Adam's formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EpsilonPlace {
    /// `m̂ / (√v̂ + ε)`, as in the paper and in all frameworks.
    Outside,
    /// `m̂ / √(v̂ + ε)`. The divisor is at least √ε.
    Inside,
}

/// A weight decay: a pull towards 0 in addition to the gradient of the loss.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum WeightDecay {
    /// Adds λ·w to the gradient, like an L2 penalty of λ/2·w² in the loss.
    Penalty(f64),
    /// Sets `w ← (1 − η·λ)·w`, decoupled from the moments (AdamW; Loshchilov & Hutter, arXiv 1711.05101).
    Decoupled(f64),
    /// Decoupled, and applied only where the step goes towards 0 as well (arXiv 2510.12402).
    Cautious(f64),
}

impl WeightDecay {
    /// No weight decay.
    pub const NONE: Self = Self::Penalty(0.0);
}

/// The numbers of one step, including bias correction: `w − rate·m / (√v + ε)`, or with `√(v + ε)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// The factor of `m`: η·√(1 − β₂ᵗ) / (1 − β₁ᵗ).
    pub rate: f64,
    /// The decay of the first moment.
    pub beta_1: f64,
    /// The decay of the second moment.
    pub beta_2: f64,
    /// ε·√(1 − β₂ᵗ) outside the root, or ε·(1 − β₂ᵗ) inside.
    pub epsilon: f64,
    /// The position of ε.
    pub epsilon_place: EpsilonPlace,
    /// The λ of a penalty: the share of the weight that is added to its gradient.
    pub penalty: f64,
    /// The factor that a decoupled decay multiplies a weight by: 1 − η·λ.
    pub kept: f64,
    /// The same factor where the step leads away from 0: `kept`, or 1 if the decay is cautious.
    pub kept_against: f64,
}

impl AdamStep {
    /// Returns step `time`, counted from 1, with this learning rate, β₁ = 0.9, β₂ = 0.999 and ε = 10⁻⁸.
    ///
    /// # Panics
    ///
    /// If `time` is 0.
    pub fn new(time: usize, rate: f64) -> Self {
        Self::of(time, rate, [0.9, 0.999], 1e-8, EpsilonPlace::Outside)
    }

    /// Returns step `time`, counted from 1, for η, `[β₁, β₂]` and ε.
    ///
    /// # Panics
    ///
    /// If `time` is 0, a β is not in `[0, 1)`, or ε is negative or not finite.
    pub fn of(
        time: usize,
        rate: f64,
        [beta_1, beta_2]: [f64; 2],
        epsilon: f64,
        epsilon_place: EpsilonPlace,
    ) -> Self {
        assert!(time > 0, "`time` is 0, expected at least 1: steps are counted from 1");
        for (argument, beta) in [("beta_1", beta_1), ("beta_2", beta_2)] {
            let is_right = (0.0..1.0).contains(&beta);
            assert!(is_right, "`{argument}` is {beta}, expected a number in [0, 1)");
        }
        expect_epsilon(epsilon);
        let correction = |beta: f64| 1.0 - beta.powf(time as f64);
        let epsilon = match epsilon_place {
            EpsilonPlace::Outside => epsilon * correction(beta_2).sqrt(),
            EpsilonPlace::Inside => epsilon * correction(beta_2),
        };
        let rate = rate * correction(beta_2).sqrt() / correction(beta_1);
        let (penalty, kept, kept_against) = (0.0, 1.0, 1.0);
        Self { rate, beta_1, beta_2, epsilon, epsilon_place, penalty, kept, kept_against }
    }

    /// Returns the number that replaces ε where the second moment is 0. Squares of small gradients underflow to 0.
    /// If ε is too small to stand in for them (below 2⁻⁴⁰, or 2⁻¹⁰² inside the root), `m / (0 + ε)` would throw the
    /// weight far away, so this returns a number so large that the weight stays. Otherwise it returns ε.
    pub fn epsilon_of_zero(&self) -> f64 {
        match self.is_epsilon_negligible() {
            true => f64::from(f32::MAX),
            false => self.epsilon,
        }
    }

    /// The numbers that may be others in the next step, as a step [in place](crate::TrainingOps::adam_step_in_place)
    /// reads them: `rate`, `epsilon`, what [takes its place](Self::epsilon_of_zero) where v is 0, `kept` and
    /// `kept_against`.
    pub fn changing(&self) -> [f32; 5] {
        let Self { rate, epsilon, kept, kept_against, .. } = *self;
        [rate, epsilon, self.epsilon_of_zero(), kept, kept_against].map(|number| number as f32)
    }

    /// Returns whether √v of a subnormal f32, at most 2⁻⁶³, is more than a rounding error compared with ε.
    fn is_epsilon_negligible(&self) -> bool {
        let least = match self.epsilon_place {
            EpsilonPlace::Outside => 1.0 / (1u64 << 40) as f64,
            EpsilonPlace::Inside => 1.0 / (1u128 << 102) as f64,
        };
        self.epsilon < least
    }

    /// Returns the step with a weight decay, for the learning rate η.
    pub fn with_decay(self, decay: WeightDecay, rate: f64) -> Self {
        let (penalty, kept, kept_against) = match decay {
            WeightDecay::Penalty(decay) => (decay, 1.0, 1.0),
            WeightDecay::Decoupled(decay) => (0.0, 1.0 - rate * decay, 1.0 - rate * decay),
            WeightDecay::Cautious(decay) => (0.0, 1.0 - rate * decay, 1.0),
        };
        Self { penalty, kept, kept_against, ..self }
    }
}

/// Computes one step of Adam (Kingma & Ba, arXiv 1412.6980). The new parameter overwrites `gradient`.
///
/// ```text
/// g ← g + λ·w                  of a penalty
/// m ← β₁·m + (1 − β₁)·g        v ← β₂·v + (1 − β₂)·g²
/// w ← kept·w − rate·m / (√v + ε)
/// ```
///
/// A weight with v = 0 stays if ε is [negligible](AdamStep::epsilon_of_zero).
///
/// # Panics
///
/// If the lengths differ.
pub fn adam<S: Storage<Float: Moment>>(
    parameter: &[S],
    gradient: &mut [S],
    moment_1: &mut [S::Float],
    moment_2: &mut [S::Float],
    step: AdamStep,
) {
    adam_at(Level::best(), parameter, gradient, [moment_1, moment_2], step);
}

/// Computes one step of AMSGrad (Reddi, Kale & Kumar, ICLR 2018): [`adam`] divided by the root of the greatest `v`
/// so far, which `maximum` stores.
///
/// # Panics
///
/// If the lengths differ.
pub fn amsgrad<S: Storage<Float: Moment>>(
    parameter: &[S],
    gradient: &mut [S],
    moment_1: &mut [S::Float],
    moment_2: &mut [S::Float],
    maximum: &mut [S::Float],
    step: AdamStep,
) {
    adam_at(Level::best(), parameter, gradient, [moment_1, moment_2, maximum], step);
}

/// Computes a step in code compiled for a level. `moments` holds both moments, and for AMSGrad also the maximum.
fn adam_at<S: Storage<Float: Moment>, const MOMENTS: usize>(
    level: Level,
    parameter: &[S],
    gradient: &mut [S],
    moments: [&mut [S::Float]; MOMENTS],
    step: AdamStep,
) {
    let length = parameter.len();
    let names = ["gradient", "moment_1", "moment_2", "maximum"];
    let lengths = [gradient.len()].into_iter().chain(moments.iter().map(|moment| moment.len()));
    for (argument, found) in names.into_iter().zip(lengths) {
        expect_length(argument, found, length, format_args!("as long as `parameter`"));
    }
    let gradient = SharedSlice::new(gradient);
    let moments = moments.map(SharedSlice::new);
    let terms = Terms::of(step);
    let (chunks, threads) = (Chunks::new(length, 0), Threads::for_work(length, PARALLEL));
    threads::map(chunks.count(), threads, |index| {
        let range = chunks.range(index);
        let whole = range.start..range.end - range.len() % BLOCK;
        let rest = whole.end..range.end;
        let [(gradient, moments), (gradients, mut old)] = [&whole, &rest].map(|range| {
            // SAFETY: chunks do not overlap, and neither do the two ranges of one chunk.
            unsafe {
                let moments = moments.each_ref().map(|moment| moment.range(range.clone()));
                (gradient.range(range.clone()), moments)
            }
        });
        level.run(Blocks { parameter: &parameter[whole], gradient, moments, terms });
        if rest.is_empty() {
            return;
        }
        // The rest is copied into whole blocks.
        let parameter = padded(&parameter[rest], S::narrow(S::Float::ZERO));
        let mut gradient = padded(gradients, S::narrow(S::Float::ZERO));
        let mut moments = old.each_ref().map(|moment| padded(moment, S::Float::ZERO));
        let blocks = Blocks {
            parameter: &parameter,
            gradient: &mut gradient,
            moments: moments.each_mut().map(|moment| &mut moment[..]),
            terms,
        };
        level.run(blocks);
        gradients.copy_from_slice(&gradient[..gradients.len()]);
        for (old, moment) in old.iter_mut().zip(moments) {
            old.copy_from_slice(&moment[..old.len()]);
        }
    });
}

/// Returns a block that begins with `numbers` and ends in zeros.
fn padded<E: Copy>(numbers: &[E], zero: E) -> [E; BLOCK] {
    let mut block = [zero; BLOCK];
    block[..numbers.len()].copy_from_slice(numbers);
    block
}

/// The number of elements that are loaded, processed and stored together.
const BLOCK: usize = 32;

/// A step on whole blocks.
struct Blocks<'a, S: Storage<Float: Moment>, const MOMENTS: usize> {
    parameter: &'a [S],
    gradient: &'a mut [S],
    moments: [&'a mut [S::Float]; MOMENTS],
    terms: Terms<S::Float>,
}

/// The numbers of a step in the type of the computation. They are converted before the loops, because a compiler
/// would otherwise choose between numbers in f64 inside the loops and convert the chosen one for every weight.
#[derive(Clone, Copy)]
struct Terms<E> {
    epsilon_place: EpsilonPlace,
    beta: [E; 2],
    rest: [E; 2],
    rate: E,
    epsilon: E,
    epsilon_of_zero: E,
    /// Whether a subnormal second moment counts.
    keeps_subnormal: bool,
    penalty: E,
    kept: E,
    kept_against: E,
}

impl<E: Moment> Terms<E> {
    fn of(step: AdamStep) -> Self {
        let beta = [step.beta_1, step.beta_2];
        Self {
            epsilon_place: step.epsilon_place,
            beta: beta.map(E::from_f64),
            rest: beta.map(|beta| E::from_f64(1.0 - beta)),
            rate: E::from_f64(step.rate),
            epsilon: E::from_f64(step.epsilon),
            epsilon_of_zero: E::from_f64(step.epsilon_of_zero()),
            keeps_subnormal: step.is_epsilon_negligible(),
            penalty: E::from_f64(step.penalty),
            kept: E::from_f64(step.kept),
            kept_against: E::from_f64(step.kept_against),
        }
    }
}

impl<S: Storage<Float: Moment>, const MOMENTS: usize> Work for Blocks<'_, S, MOMENTS> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        match self.terms.epsilon_place {
            EpsilonPlace::Outside => self.with(|v, epsilon| v.sqrt() + epsilon),
            EpsilonPlace::Inside => self.with(|v, epsilon| (v + epsilon).sqrt()),
        }
    }
}

impl<S: Storage<Float: Moment>, const MOMENTS: usize> Blocks<'_, S, MOMENTS> {
    #[inline(always)]
    fn with(self, divisor: impl Fn(S::Float, S::Float) -> S::Float) {
        let Self { parameter, gradient, moments, terms } = self;
        let Terms { beta, rest, rate, epsilon, epsilon_of_zero, keeps_subnormal, .. } = terms;
        let Terms { penalty, kept, kept_against, .. } = terms;
        let (parameter, gradient) = (parameter.as_chunks().0, gradient.as_chunks_mut().0);
        let mut moments = moments.map(|moment| moment.as_chunks_mut().0.iter_mut());
        for (parameter, gradient) in parameter.iter().zip(gradient) {
            let places =
                moments.each_mut().map(|moment| moment.next().expect("one for each block"));
            prefetch::to_read::<BLOCK, S>(parameter.as_ptr());
            prefetch::to_write::<BLOCK, S>(gradient.as_ptr());
            for place in &places {
                prefetch::to_write::<BLOCK, S::Float>(place.as_ptr());
            }
            // The compiler turns these arrays into vectors because nothing else points to them.
            let (parameter, mut results): ([S; BLOCK], [S; BLOCK]) = (*parameter, *gradient);
            let mut moments: [[S::Float; BLOCK]; MOMENTS] = places.each_ref().map(|place| **place);
            for i in 0..BLOCK {
                let w = parameter[i].widen();
                let g = results[i].widen() + w * penalty;
                let m = (moments[0][i] * beta[0] + g * rest[0]).flushed();
                let v = moments[1][i] * beta[1] + g * g * rest[1];
                let v = if keeps_subnormal { v } else { v.flushed() };
                [moments[0][i], moments[1][i]] = [m, v];
                let v = match moments.get_mut(2) {
                    Some(maximum) => {
                        let greatest = if maximum[i] > v { maximum[i] } else { v };
                        maximum[i] = greatest;
                        greatest
                    }
                    None => v,
                };
                let epsilon = if v == S::Float::ZERO { epsilon_of_zero } else { epsilon };
                let towards_0 = (w >= S::Float::ZERO) == (m >= S::Float::ZERO);
                let kept = if towards_0 { kept } else { kept_against };
                results[i] = S::narrow(w * kept - m * rate / divisor(v, epsilon));
            }
            *gradient = results;
            for (place, moments) in places.into_iter().zip(moments) {
                *place = moments;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> impl Iterator<Item = AdamStep> {
        let places = [EpsilonPlace::Outside, EpsilonPlace::Inside];
        let decays = [
            WeightDecay::NONE,
            WeightDecay::Penalty(0.1),
            WeightDecay::Decoupled(0.1),
            WeightDecay::Cautious(0.1),
        ];
        places.into_iter().flat_map(move |place| {
            let step = AdamStep::of(3, 1e-2, [0.9, 0.999], 1e-8, place);
            decays.into_iter().map(move |decay| step.with_decay(decay, 1e-2))
        })
    }

    #[test]
    fn moments_of_a_weight_without_gradients_end_at_0() {
        let step = AdamStep::new(1, 1e-3);
        for level in Level::available() {
            let (mut m, mut v) = ([1e-30f32, -1e-30], [1e-37f32; 2]);
            for _ in 0..5_000 {
                adam_at(level, &[0.5f32, 0.25], &mut [0.0; 2], [&mut m, &mut v], step);
                assert!([m, v].iter().flatten().all(|x| !x.is_subnormal()), "{m:?} {v:?}");
            }
            assert_eq!([m, v], [[0.0; 2]; 2]);
        }
    }

    /// Compares with PyTorch 2.15, `torch.optim.Adam(lr=0.1, eps=epsilon)` in f32: 0.7999971 and 1.2000029 after two
    /// steps, and 1 without a gradient if ε is not 0. If ε is 0, PyTorch returns NaN there.
    #[test]
    fn squares_that_underflow_are_divided_by() {
        let gradients = [1e-19f32, -1e-19, 0.0];
        let places = [(0.0, EpsilonPlace::Outside), (1e-30, EpsilonPlace::Outside)];
        for (epsilon, place) in places.into_iter().chain([(1e-60, EpsilonPlace::Inside)]) {
            for level in Level::available() {
                let (mut w, mut m, mut v) = ([1.0f32; 3], [0.0; 3], [0.0; 3]);
                for time in 1..=2 {
                    let mut next = gradients;
                    let step = AdamStep::of(time, 0.1, [0.9, 0.999], epsilon, place);
                    adam_at(level, &w, &mut next, [&mut m, &mut v], step);
                    w = next;
                }
                for (found, expected) in w.into_iter().zip([0.799_997_1, 1.200_002_9, 1.0]) {
                    assert!((found - expected).abs() < 1e-5, "{level:?} {epsilon}: {w:?}");
                }
            }
        }
    }

    /// Compares with the formulas, computed in f64 for one number at a time.
    #[test]
    fn every_decay_is_its_formula() {
        let (weights, gradients) = ([0.5, -0.5, 0.25, -2.0], [0.1, 0.1, -0.3, 0.0]);
        let (m, v, greatest) = ([0.2, -0.1, 0.0, 0.4], [0.3, 0.2, 0.1, 0.5], [0.1, 0.9, 0.0, 0.5]);
        for (step, is_amsgrad) in steps().flat_map(|step| [(step, false), (step, true)]) {
            let (mut w, mut moments) = (gradients, [m, v, greatest]);
            let [first, second, third] = &mut moments;
            match is_amsgrad {
                true => amsgrad(&weights, &mut w, first, second, third, step),
                false => adam(&weights, &mut w, first, second, step),
            }
            for i in 0..4 {
                let g = gradients[i] + step.penalty * weights[i];
                let m = 0.9 * m[i] + 0.1 * g;
                let v = 0.999 * v[i] + 0.001 * g * g;
                let greatest = if is_amsgrad { v.max(greatest[i]) } else { greatest[i] };
                let root = if is_amsgrad { greatest } else { v };
                let divisor = match step.epsilon_place {
                    EpsilonPlace::Outside => root.sqrt() + step.epsilon,
                    EpsilonPlace::Inside => (root + step.epsilon).sqrt(),
                };
                let cautious = step.kept != step.kept_against && weights[i] * m < 0.0;
                let kept = if cautious { 1.0 } else { step.kept };
                let expected = kept * weights[i] - step.rate * m / divisor;
                assert!((w[i] - expected).abs() < 1e-15, "{step:?} {i}: {} {expected}", w[i]);
                let found = moments.map(|moment| moment[i]);
                let off = [found[0] - m, found[1] - v, found[2] - greatest];
                assert!(off.iter().all(|off| off.abs() < 1e-15), "{step:?} {i}: {found:?}");
            }
        }
    }

    #[test]
    fn every_level_and_any_number_of_threads_give_the_same_bits() {
        let length = 200_003;
        let numbers = |scale: f32, shift: f32| -> Vec<f32> {
            (0..length).map(|i| ((i * 7 % 1013) as f32 - 500.0) * scale + shift).collect()
        };
        let w = numbers(1e-2, 0.1);
        let squares: Vec<f32> = numbers(1e-3, 0.0).iter().map(|x| x * x).collect();
        let start = [numbers(1e-3, 0.0), numbers(1e-4, 0.01), squares.clone(), squares];
        let portable = *Level::available().last().expect("there is always one");
        for step in steps() {
            let mut expected = start.clone();
            let [g, m, v, greatest] = &mut expected;
            let chunks = w.chunks(1_000).zip(g.chunks_mut(1_000)).zip(m.chunks_mut(1_000));
            let others = v.chunks_mut(1_000).zip(greatest.chunks_mut(1_000));
            for (((w, g), m), (v, greatest)) in chunks.zip(others) {
                adam_at(portable, w, g, [m, v, greatest], step);
            }
            for level in Level::available() {
                let mut found = start.clone();
                let [g, m, v, greatest] = &mut found;
                adam_at(level, &w, g, [m, v, greatest], step);
                assert_eq!(found, expected, "{level:?} {step:?}");
            }
        }
    }
}
