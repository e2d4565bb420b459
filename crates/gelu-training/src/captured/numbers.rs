//! The numbers that optimisers compute on the host, for steps that are made in place.

use super::NotCaptured;
use burn::tensor::{DType, Tensor, TensorData};
use burn_core as burn;
use std::cell::RefCell;

/// How many numbers an optimiser has for a parameter, at most.
pub(crate) const WIDTH: usize = 8;

thread_local! {
    static STEP: RefCell<Option<Numbers>> = const { RefCell::new(None) };
}

/// How the optimisers of this thread step.
#[derive(Debug)]
pub(super) enum Mode {
    /// In place, with numbers that each uploads.
    Run,
    /// In place, with numbers in this tensor, which are written there later: a recording cannot upload.
    Record(Box<Tensor<1>>),
    /// On the device, by a recording: the host counts and computes the numbers.
    Advance,
}

/// What the optimisers of this thread had to say of a step.
#[derive(Debug)]
pub(super) struct Numbers {
    mode: Mode,
    /// [`WIDTH`] per parameter, in the order in which they were stepped.
    values: Vec<f32>,
    problem: Option<NotCaptured>,
}

/// Where an optimiser finds its numbers.
pub(crate) enum Place {
    /// In this tensor, from there on.
    At(Box<Tensor<1>>, usize),
    /// A recording has them and makes the step: nothing is to be launched.
    Elsewhere,
}

/// Where the numbers of a parameter's step are; `None` outside of a [`CapturedStep`](super::CapturedStep): then the
/// step is an ordinary one.
pub(crate) fn place<const D: usize>(numbers: &[f32], gradient: &Tensor<D>) -> Option<Place> {
    STEP.with_borrow_mut(|step| {
        let step = step.as_mut()?;
        if !matches!(gradient.dtype(), DType::F32 | DType::F16 | DType::BF16) {
            step.problem.get_or_insert(NotCaptured(format!(
                "a parameter is {:?}; steps in place are for f32, f16 and bf16",
                gradient.dtype()
            )));
            return None;
        }
        let first = step.values.len();
        step.values.extend_from_slice(numbers);
        step.values.resize(first + WIDTH, 0.0);
        Some(match &step.mode {
            Mode::Run => {
                let data = TensorData::from(&step.values[first..]);
                let options = (&gradient.device().inner(), DType::F32);
                Place::At(Box::new(Tensor::from_data(data, options)), 0)
            }
            Mode::Record(all) => Place::At(all.clone(), first),
            Mode::Advance => Place::Elsewhere,
        })
    })
}

/// Runs `function`, in which the optimisers step in place: what it returned, and their numbers.
pub(super) fn in_place<T>(
    mode: Mode,
    function: impl FnOnce() -> T,
) -> Result<(T, Vec<f32>), NotCaptured> {
    /// Ends it even by a panic.
    struct Outer(Option<Numbers>);
    impl Drop for Outer {
        fn drop(&mut self) {
            STEP.set(self.0.take());
        }
    }
    let _outer = Outer(STEP.replace(Some(Numbers { mode, values: Vec::new(), problem: None })));
    let result = function();
    match STEP.take() {
        Some(Numbers { problem: Some(problem), .. }) => Err(problem),
        Some(Numbers { values, .. }) => Ok((result, values)),
        None => Ok((result, Vec::new())),
    }
}
