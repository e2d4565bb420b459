use crate::disjoint::Disjoint;
use crate::lane::Lane;
use crate::level::{Level, Work};
use crate::storage::Storage;
use crate::threads::for_each_chunk;

/// Where Adam adds ε.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum EpsilonPlace {
    /// `m̂ / (√v̂ + ε)`, as the paper and all frameworks have it.
    Outside,
    /// `m̂ / √(v̂ + ε)`: the divisor is at least √ε.
    Inside,
}

/// The numbers of one step, bias correction included:
/// `w − rate·m / (√v + ε)`, or with `√(v + ε)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// What `m` is scaled by: η·√(1 − β₂ᵗ) / (1 − β₁ᵗ).
    pub rate: f64,
    /// Decay of the first moment.
    pub beta_1: f64,
    /// Decay of the second moment.
    pub beta_2: f64,
    /// ε·√(1 − β₂ᵗ) outside of the root, ε·(1 − β₂ᵗ) inside.
    pub epsilon: f64,
    /// Where ε is added.
    pub epsilon_place: EpsilonPlace,
}

impl AdamStep {
    /// Step `time`, counted from 1, with this learning rate, β₁ = 0.9, β₂ = 0.999 and ε = 10⁻⁸.
    #[cfg(feature = "std")]
    pub fn new(time: usize, rate: f64) -> Self {
        Self::of(time, rate, [0.9, 0.999], 1e-8, EpsilonPlace::Outside)
    }

    /// Step `time`, counted from 1, of η, `[β₁, β₂]` and ε.
    #[cfg(feature = "std")]
    pub fn of(
        time: usize,
        rate: f64,
        [beta_1, beta_2]: [f64; 2],
        epsilon: f64,
        epsilon_place: EpsilonPlace,
    ) -> Self {
        let correction = |beta: f64| 1.0 - beta.powf(time as f64);
        let epsilon = match epsilon_place {
            EpsilonPlace::Outside => epsilon * correction(beta_2).sqrt(),
            EpsilonPlace::Inside => epsilon * correction(beta_2),
        };
        let rate = rate * correction(beta_2).sqrt() / correction(beta_1);
        Self { rate, beta_1, beta_2, epsilon, epsilon_place }
    }
}

/// One step of Adam (Kingma & Ba, arXiv 1412.6980). The new parameter takes the gradient's place.
///
/// ```text
/// m ← β₁·m + (1 − β₁)·g        v ← β₂·v + (1 − β₂)·g²
/// w ← w − rate·m / (√v + ε)
/// ```
///
/// # Panics
///
/// If the lengths differ.
pub fn adam<S: Storage>(
    parameter: &[S],
    gradient: &mut [S],
    moment_1: &mut [S::Lane],
    moment_2: &mut [S::Lane],
    step: AdamStep,
) {
    adam_at(Level::best(), parameter, gradient, moment_1, moment_2, step);
}

/// [`adam`] in code compiled for a level.
fn adam_at<S: Storage>(
    level: Level,
    parameter: &[S],
    gradient: &mut [S],
    moment_1: &mut [S::Lane],
    moment_2: &mut [S::Lane],
    step: AdamStep,
) {
    let length = parameter.len();
    assert!(
        [gradient.len(), moment_1.len(), moment_2.len()] == [length; 3],
        "a parameter, its gradient and its moments have one length"
    );
    let gradient = Disjoint::of(gradient);
    let moments = [moment_1, moment_2].map(Disjoint::of);
    for_each_chunk(length, 0, |range| {
        let parameter = &parameter[range.clone()];
        // SAFETY: chunks do not overlap.
        let (gradient, [moment_1, moment_2]) = unsafe {
            (
                gradient.part(range.clone()),
                moments.each_ref().map(|moment| moment.part(range.clone())),
            )
        };
        level.run(Strip { parameter, gradient, moment_1, moment_2, step });
    });
}

struct Strip<'a, S: Storage> {
    parameter: &'a [S],
    gradient: &'a mut [S],
    moment_1: &'a mut [S::Lane],
    moment_2: &'a mut [S::Lane],
    step: AdamStep,
}

impl<S: Storage> Work for Strip<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        match self.step.epsilon_place {
            EpsilonPlace::Outside => self.with(|v, epsilon| v.root() + epsilon),
            EpsilonPlace::Inside => self.with(|v, epsilon| (v + epsilon).root()),
        }
    }
}

impl<S: Storage> Strip<'_, S> {
    #[inline(always)]
    fn with(self, divisor: impl Fn(S::Lane, S::Lane) -> S::Lane) {
        let Self { parameter, gradient, moment_1, moment_2, step } = self;
        let of = S::Lane::of;
        let [beta_1, beta_2] = [step.beta_1, step.beta_2].map(of);
        let [rest_1, rest_2] = [1.0 - step.beta_1, 1.0 - step.beta_2].map(of);
        let [rate, epsilon] = [step.rate, step.epsilon].map(of);
        let places = parameter.iter().zip(gradient);
        for ((w, place), (m, v)) in places.zip(moment_1.iter_mut().zip(moment_2)) {
            let g = place.widen();
            *m = (*m * beta_1 + g * rest_1).flushed();
            *v = (*v * beta_2 + g * g * rest_2).flushed();
            *place = S::narrow(w.widen() - *m * rate / divisor(*v, epsilon));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn moments_of_a_weight_without_gradients_end_at_0() {
        let step = AdamStep {
            rate: 1e-3,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            epsilon_place: EpsilonPlace::Outside,
        };
        for level in Level::available() {
            let (mut m, mut v) = ([1e-30f32, -1e-30], [1e-37f32; 2]);
            for _ in 0..5_000 {
                adam_at(level, &[0.5f32, 0.25], &mut [0.0; 2], &mut m, &mut v, step);
                assert!([m, v].iter().flatten().all(|x| !x.is_subnormal()), "{m:?} {v:?}");
            }
            assert_eq!([m, v], [[0.0; 2]; 2]);
        }
    }

    #[test]
    fn every_level_and_any_number_of_threads_give_the_same_bits() {
        let length = 200_003;
        let numbers = |scale: f32, shift: f32| -> Vec<f32> {
            (0..length).map(|i| ((i * 7 % 1013) as f32 - 500.0) * scale + shift).collect()
        };
        let step = AdamStep {
            rate: 1e-3,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-9,
            epsilon_place: EpsilonPlace::Outside,
        };
        for epsilon_place in [EpsilonPlace::Outside, EpsilonPlace::Inside] {
            let step = AdamStep { epsilon_place, ..step };
            let (w, start) = (numbers(1e-2, 0.1), [numbers(1e-3, 0.0), numbers(1e-4, 0.01)]);
            let squares: Vec<f32> = numbers(1e-3, 0.0).iter().map(|x| x * x).collect();
            let mut expected = [start[0].clone(), start[1].clone(), squares.clone()];
            let [g, m, v] = &mut expected;
            Strip { parameter: &w, gradient: g, moment_1: m, moment_2: v, step }.run::<false>();
            for level in Level::available() {
                let mut found = [start[0].clone(), start[1].clone(), squares.clone()];
                let [g, m, v] = &mut found;
                adam_at(level, &w, g, m, v, step);
                assert_eq!(found, expected, "{level:?}");
            }
        }
    }
}
