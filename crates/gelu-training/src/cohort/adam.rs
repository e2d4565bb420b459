use super::CohortOps;
use crate::backends::dispatched;
use crate::optimizer::zeros;
use crate::{Adam, AdamStep};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::{Dispatch, DispatchTensor};
use burn_optim::{GradientsParams, LearningRate};
use std::collections::HashMap;
use std::sync::Arc;

/// [`Adam`] for each network of a cohort, whose parameters have the network as their first dimension: with a
/// learning rate and a number of steps of its own. With [`AdamWConfig`](crate::AdamWConfig)'s it is AdamW.
#[derive(Clone, Debug)]
pub struct CohortAdam {
    adam: Adam,
    /// The steps that each network has made.
    times: Vec<usize>,
    /// The two moments of each parameter.
    moments: HashMap<ParamId, [DispatchTensor; 2]>,
}

impl CohortAdam {
    /// For so many networks, before their first step.
    ///
    /// # Panics
    ///
    /// If it is AMSGrad, which cohorts are without.
    pub fn new(adam: Adam, slices: usize) -> Self {
        assert!(!adam.amsgrad, "a cohort's Adam has no AMSGrad; leave `amsgrad` off");
        Self { adam, times: vec![0; slices], moments: HashMap::new() }
    }

    /// For the networks of a cohort that have made steps before: so many each, with these moments, which are a
    /// cohort of its shape with a moment in the place of each parameter.
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new); if the moments are of another number of parameters.
    pub fn resumed<M: Module>(adam: Adam, times: Vec<usize>, cohort: &M, moments: [&M; 2]) -> Self {
        let mut resumed = Self { times, ..Self::new(adam, 0) };
        let [parameters, first, second] = [cohort, moments[0], moments[1]].map(|module| {
            let mut found = Found(Vec::new());
            module.visit(&mut found);
            found.0
        });
        let counts = [parameters.len(), first.len(), second.len()];
        assert!(counts[1..] == [counts[0]; 2], "there are two moments for each of {counts:?}");
        let moments =
            first.into_iter().zip(second).map(|((_, first), (_, second))| [first, second]);
        let ids = parameters.into_iter().map(|(id, _)| id);
        resumed.moments = ids.zip(moments).collect();
        resumed
    }

    /// The steps that each network has made.
    pub fn times(&self) -> &[usize] {
        &self.times
    }

    /// The cohort with its moments in the place of its parameters: the first, and the second; zeros before the
    /// first step.
    pub fn moments<M: Module>(&self, cohort: &M) -> [M; 2] {
        [0, 1].map(|which| cohort.clone().map(&mut Replaced { moments: &self.moments, which }))
    }

    /// One step of each network, at its own learning rate.
    ///
    /// # Panics
    ///
    /// If there are not as many rates as networks.
    pub fn step<M: Module>(
        &mut self,
        rates: &[LearningRate],
        cohort: M,
        gradients: GradientsParams,
    ) -> M {
        let (found, slices) = (rates.len(), self.times.len());
        assert_eq!(found, slices, "{slices} networks need a learning rate each, got {found}");
        self.times.iter_mut().for_each(|time| *time += 1);
        let numbers =
            self.times.iter().zip(rates).map(|(&time, &rate)| self.adam.numbers(rate, time));
        let steps = numbers.collect();
        cohort.map(&mut Step { gradients, steps, moments: &mut self.moments })
    }
}

struct Step<'a> {
    gradients: GradientsParams,
    steps: Arc<[AdamStep]>,
    moments: &'a mut HashMap<ParamId, [DispatchTensor; 2]>,
}

impl ModuleMapper for Step<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(gradient) = self.gradients.remove::<D>(param.id) else { return param };
        let (id, tensor, mapper) = param.consume();
        let is_required = tensor.is_require_grad();
        let [first, second] = self
            .moments
            .remove(&id)
            .unwrap_or_else(|| [(); 2].map(|()| zeros(&gradient).into_dispatch()));
        let (parameter, first, second) = Dispatch::cohort_adam_step(
            dispatched(tensor.without_autodiff()),
            dispatched(gradient),
            first,
            second,
            self.steps.clone(),
        );
        self.moments.insert(id, [first, second]);
        let stepped = Tensor::from_dispatch(parameter).autodiff();
        let stepped = if is_required { stepped.require_grad() } else { stepped };
        Param::from_mapped_value(id, stepped, mapper)
    }
}

/// Puts a moment in the place of each parameter.
struct Replaced<'a> {
    moments: &'a HashMap<ParamId, [DispatchTensor; 2]>,
    which: usize,
}

impl ModuleMapper for Replaced<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let moment = match self.moments.get(&id) {
            Some(moments) => Tensor::from_dispatch(moments[self.which].clone()),
            None => zeros(&tensor.without_autodiff()),
        };
        Param::from_mapped_value(id, moment, mapper)
    }
}

/// The tensors of a module, in their order.
struct Found(Vec<(ParamId, DispatchTensor)>);

impl ModuleVisitor for Found {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.push((param.id, param.val().without_autodiff().into_dispatch()));
    }
}
