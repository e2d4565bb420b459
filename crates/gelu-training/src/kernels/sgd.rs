use super::{Level, Number, Stored, Work, threads};
use crate::SgdStep;

/// One step of gradient descent with momentum. The new parameter takes the gradient's place.
///
/// # Panics
///
/// If the lengths differ.
pub(crate) fn sgd<S: Stored>(
    level: Level,
    parameter: &[S],
    gradient: &mut [S],
    velocity: &mut [S::Wide],
    step: SgdStep,
) {
    let length = parameter.len();
    assert!(
        [gradient.len(), velocity.len()] == [length; 2],
        "a parameter, its gradient and its velocity have one length"
    );
    let strip = |parameter, gradient, velocity| {
        level.run(Strip { parameter, gradient, velocity, step });
    };
    #[cfg(feature = "rayon")]
    if threads::pays(length) {
        use rayon::prelude::*;
        let places = parameter.par_chunks(threads::CHUNK);
        let places = places.zip(gradient.par_chunks_mut(threads::CHUNK));
        let places = places.zip(velocity.par_chunks_mut(threads::CHUNK));
        places.for_each(|((w, g), v)| strip(w, g, v));
        return;
    }
    strip(parameter, gradient, velocity);
}

struct Strip<'a, S: Stored> {
    parameter: &'a [S],
    gradient: &'a mut [S],
    velocity: &'a mut [S::Wide],
    step: SgdStep,
}

impl<S: Stored> Work for Strip<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        match self.step.nesterov {
            true => self.with(|g, v, momentum| g + v * momentum),
            false => self.with(|_, v, _| v),
        }
    }
}

impl<S: Stored> Strip<'_, S> {
    #[inline(always)]
    fn with(self, direction: impl Fn(S::Wide, S::Wide, S::Wide) -> S::Wide) {
        let Self { parameter, gradient, velocity, step } = self;
        let [rate, momentum, decay] =
            [step.rate, step.momentum, step.weight_decay].map(S::Wide::of);
        for ((w, place), v) in parameter.iter().zip(gradient).zip(velocity) {
            let w = w.widen();
            let penalised = place.widen() + w * decay;
            *v = (*v * momentum + penalised).flushed();
            *place = S::narrow(w - direction(penalised, *v, momentum) * rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_velocity_of_a_weight_without_gradients_ends_at_0() {
        let step = SgdStep { rate: 0.1, momentum: 0.9, nesterov: false, weight_decay: 0.0 };
        for level in Level::available() {
            let mut velocity = [1e-30f32, -1e-30];
            for _ in 0..1_000 {
                sgd(level, &[0.5f32, 0.25], &mut [0.0; 2], &mut velocity, step);
                assert!(velocity.iter().all(|x| !x.is_subnormal()), "{level:?} {velocity:?}");
            }
            assert_eq!(velocity, [0.0; 2], "{level:?}");
        }
    }

    #[test]
    fn every_level_and_any_number_of_threads_give_the_same_bits() {
        let length = 200_003;
        let numbers = |scale: f32| -> Vec<f32> {
            (0..length).map(|i| ((i * 7 % 1013) as f32 - 500.0) * scale).collect()
        };
        let (w, start) = (numbers(1e-2), [numbers(1e-3), numbers(1e-4)]);
        for nesterov in [false, true] {
            let step = SgdStep { rate: 0.1, momentum: 0.9, nesterov, weight_decay: 5e-4 };
            let mut expected = start.clone();
            let [g, v] = &mut expected;
            Strip { parameter: &w, gradient: g, velocity: v, step }.run::<false>();
            for level in Level::available() {
                let mut found = start.clone();
                let [g, v] = &mut found;
                sgd(level, &w, g, v, step);
                assert_eq!(found, expected, "{level:?}");
            }
        }
    }
}
