//! What a network remembers beside its parameters: running statistics, which a step replaces instead of overwriting.

use super::{FixedBatch, NotCaptured};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::DispatchTensor;
use burn_optim::GradientsParams;
use std::collections::{BTreeMap, BTreeSet};

/// Tensors without gradients, in the memory in which a recording finds them.
#[derive(Debug, Default)]
pub(super) struct Buffers(BTreeMap<ParamId, DispatchTensor>);

impl Buffers {
    /// Takes in what a network has beside the parameters that are trained.
    pub(super) fn of<M: Module>(model: &M, trained: &BTreeSet<ParamId>) -> Self {
        let mut found = Found { trained, buffers: BTreeMap::new() };
        synced(model).visit(&mut found);
        Self(found.buffers)
    }

    /// Moves what a step has made of them back to where it was.
    ///
    /// Running statistics are shared by all clones of a network, so that one of them is as good as another.
    pub(super) fn put_back<M: Module>(&mut self, model: &M) -> Result<(), NotCaptured> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut moved = PutBack { buffers: &mut self.0, result: Ok(()) };
        drop(synced(model).map(&mut moved));
        moved.result
    }
}

/// The network, whose running statistics have taken in every batch: Burn's wait for those of other threads.
fn synced<M: Module>(model: &M) -> M {
    drop(model.valid());
    model.clone()
}

struct Found<'a> {
    trained: &'a BTreeSet<ParamId>,
    buffers: BTreeMap<ParamId, DispatchTensor>,
}

impl ModuleVisitor for Found<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if !self.trained.contains(&param.id) {
            let tensor = param.val().without_autodiff();
            self.buffers.insert(param.id, tensor.into_dispatch());
        }
    }
}

struct PutBack<'a> {
    buffers: &'a mut BTreeMap<ParamId, DispatchTensor>,
    result: Result<(), NotCaptured>,
}

impl ModuleMapper for PutBack<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(place) = self.buffers.remove(&param.id) else { return param };
        let (id, tensor, mapper) = param.consume();
        let is_autodiff = tensor.device().is_autodiff();
        let mut place = Tensor::<D>::from_dispatch(place);
        // What nobody but us holds the network has replaced.
        let tensor = match place.can_mut() {
            false => tensor,
            true => {
                if let Err(problem) = place.overwrite(tensor.without_autodiff()) {
                    self.result = Err(problem);
                }
                if is_autodiff { Tensor::from_inner(place.clone()) } else { place.clone() }
            }
        };
        self.buffers.insert(id, place.into_dispatch());
        Param::from_mapped_value(id, tensor, mapper)
    }
}

/// The parameters that have a gradient.
pub(super) fn trained<M: Module>(model: &M, gradients: &GradientsParams) -> BTreeSet<ParamId> {
    struct Trained<'a>(&'a GradientsParams, BTreeSet<ParamId>);
    impl ModuleVisitor for Trained<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if self.0.get::<D>(param.id).is_some() {
                self.1.insert(param.id);
            }
        }
    }
    let mut found = Trained(gradients, BTreeSet::new());
    model.visit(&mut found);
    found.1
}

/// Gradients in name only, of these parameters: an optimiser that launches nothing does not look at them.
pub(super) fn placeholders<M: Module>(model: &M, trained: &BTreeSet<ParamId>) -> GradientsParams {
    struct Named<'a>(&'a BTreeSet<ParamId>, GradientsParams);
    impl ModuleVisitor for Named<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if self.0.contains(&param.id) {
                self.1.register(param.id, param.val().without_autodiff());
            }
        }
    }
    let mut named = Named(trained, GradientsParams::new());
    model.visit(&mut named);
    named.1
}
