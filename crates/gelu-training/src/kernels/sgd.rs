use crate::kernels::Moment;
use crate::kernels::checks::expect_length;
use gelu_kernels::Float;
use gelu_kernels::SharedSlice;
use gelu_kernels::Storage;
use gelu_kernels::threads::{self, Chunks, PARALLEL, Threads};
use gelu_kernels::{Level, Work};

/// The numbers of one step of gradient descent with momentum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdStep {
    /// The learning rate η.
    pub rate: f64,
    /// The momentum μ.
    pub momentum: f64,
    /// The share of a gradient that is added to the velocity: 1 − the dampening.
    pub taken_up: f64,
    /// Whether the step uses Nesterov's form, which looks ahead.
    pub nesterov: bool,
    /// The weight decay λ.
    pub weight_decay: f64,
}

impl SgdStep {
    /// The numbers that may be others in the next step, as a step [in place](crate::TrainingOps::sgd_step_in_place)
    /// reads them: `rate` and `taken_up`.
    pub fn changing(&self) -> [f32; 2] {
        [self.rate as f32, self.taken_up as f32]
    }
}

/// Computes one step of gradient descent with momentum. The new parameter overwrites `gradient`.
///
/// ```text
/// g ← g + λ·w        v ← μ·v + taken_up·g
/// w ← w − η·v        or, Nesterov's form,  w ← w − η·(g + μ·v)
/// ```
///
/// # Panics
///
/// If the lengths differ.
pub fn sgd<S: Storage<Float: Moment>>(
    parameter: &[S],
    gradient: &mut [S],
    velocity: &mut [S::Float],
    step: SgdStep,
) {
    sgd_at(Level::best(), parameter, gradient, velocity, step);
}

/// Does the same as [`sgd`], in code compiled for `level`.
fn sgd_at<S: Storage<Float: Moment>>(
    level: Level,
    parameter: &[S],
    gradient: &mut [S],
    velocity: &mut [S::Float],
    step: SgdStep,
) {
    let length = parameter.len();
    for (argument, found) in [("gradient", gradient.len()), ("velocity", velocity.len())] {
        expect_length(argument, found, length, format_args!("as long as `parameter`"));
    }
    let (gradient, velocity) = (SharedSlice::new(gradient), SharedSlice::new(velocity));
    let (chunks, threads) = (Chunks::new(length, 0), Threads::for_work(length, PARALLEL));
    threads::map(chunks.count(), threads, |index| {
        let range = chunks.range(index);
        let parameter = &parameter[range.clone()];
        // SAFETY: chunks do not overlap.
        let (gradient, velocity) =
            unsafe { (gradient.range(range.clone()), velocity.range(range.clone())) };
        level.run(Chunk { parameter, gradient, velocity, step });
    });
}

struct Chunk<'a, S: Storage<Float: Moment>> {
    parameter: &'a [S],
    gradient: &'a mut [S],
    velocity: &'a mut [S::Float],
    step: SgdStep,
}

impl<S: Storage<Float: Moment>> Work for Chunk<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        match self.step.nesterov {
            true => self.with(|g, v, momentum| g + v * momentum),
            false => self.with(|_, v, _| v),
        }
    }
}

impl<S: Storage<Float: Moment>> Chunk<'_, S> {
    #[inline(always)]
    fn with(self, direction: impl Fn(S::Float, S::Float, S::Float) -> S::Float) {
        let Self { parameter, gradient, velocity, step } = self;
        let [rate, momentum, taken_up, decay] =
            [step.rate, step.momentum, step.taken_up, step.weight_decay].map(S::Float::from_f64);
        for ((w, place), v) in parameter.iter().zip(gradient).zip(velocity) {
            let w = w.widen();
            let penalised = place.widen() + w * decay;
            *v = (*v * momentum + penalised * taken_up).flushed();
            *place = S::narrow(w - direction(penalised, *v, momentum) * rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_velocity_of_a_weight_without_gradients_ends_at_0() {
        let step =
            SgdStep { rate: 0.1, momentum: 0.9, taken_up: 1.0, nesterov: false, weight_decay: 0.0 };
        for level in Level::available() {
            let mut velocity = [1e-30f32, -1e-30];
            for _ in 0..1_000 {
                sgd_at(level, &[0.5f32, 0.25], &mut [0.0; 2], &mut velocity, step);
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
            let (rate, momentum, weight_decay) = (0.1, 0.9, 5e-4);
            let step = SgdStep { rate, momentum, taken_up: 0.75, nesterov, weight_decay };
            let mut expected = start.clone();
            let [g, v] = &mut expected;
            Chunk { parameter: &w, gradient: g, velocity: v, step }.run::<false, 4>();
            for level in Level::available() {
                let mut found = start.clone();
                let [g, v] = &mut found;
                sgd_at(level, &w, g, v, step);
                assert_eq!(found, expected, "{level:?}");
            }
        }
    }
}
