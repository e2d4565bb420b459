use super::{Level, Number, Stored, Work, threads};
use crate::{AdamStep, EpsilonPlace};

/// One step of Adam. The new parameter takes the gradient's place.
///
/// # Panics
///
/// If the lengths differ.
pub(crate) fn adam<S: Stored>(
    level: Level,
    parameter: &[S],
    gradient: &mut [S],
    moment_1: &mut [S::Wide],
    moment_2: &mut [S::Wide],
    step: AdamStep,
) {
    let length = parameter.len();
    assert!(
        [gradient.len(), moment_1.len(), moment_2.len()] == [length; 3],
        "a parameter, its gradient and its moments have one length"
    );
    let strip = |parameter, gradient, moment_1, moment_2| {
        level.run(Strip { parameter, gradient, moment_1, moment_2, step });
    };
    #[cfg(feature = "rayon")]
    if threads::pays(length) {
        use rayon::prelude::*;
        let places = parameter.par_chunks(threads::CHUNK);
        let places = places.zip(gradient.par_chunks_mut(threads::CHUNK));
        let moments = moment_1.par_chunks_mut(threads::CHUNK);
        let moments = moments.zip(moment_2.par_chunks_mut(threads::CHUNK));
        places.zip(moments).for_each(|((w, g), (m, v))| strip(w, g, m, v));
        return;
    }
    strip(parameter, gradient, moment_1, moment_2);
}

struct Strip<'a, S: Stored> {
    parameter: &'a [S],
    gradient: &'a mut [S],
    moment_1: &'a mut [S::Wide],
    moment_2: &'a mut [S::Wide],
    step: AdamStep,
}

impl<S: Stored> Work for Strip<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        match self.step.epsilon_place {
            EpsilonPlace::Outside => self.with(|v, epsilon| v.root() + epsilon),
            EpsilonPlace::Inside => self.with(|v, epsilon| (v + epsilon).root()),
        }
    }
}

impl<S: Stored> Strip<'_, S> {
    #[inline(always)]
    fn with(self, divisor: impl Fn(S::Wide, S::Wide) -> S::Wide) {
        let Self { parameter, gradient, moment_1, moment_2, step } = self;
        let of = S::Wide::of;
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
                adam(level, &[0.5f32, 0.25], &mut [0.0; 2], &mut m, &mut v, step);
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
                adam(level, &w, g, m, v, step);
                assert_eq!(found, expected, "{level:?}");
            }
        }
    }
}
