mod place;

use crate::GateHalf;
use alloc::string::String;
use burn::module::{Devices, Flag, Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Bool, Device, FloatDType, Int, Tensor};
use burn_core as burn;
use place::{Names, Place};

/// A model seen with its fused layers apart, as they are where nothing is fused, so that a network whose
/// layers were replaced by these loads what it loaded before.
///
/// | here | in records |
/// |---|---|
/// | [`HiddenLayer`](crate::HiddenLayer) | its `linear`, under the hidden layer's own name |
/// | [`ActivationLayer`](crate::ActivationLayer) | the `PRelu` or [`LearnableGelu`](crate::LearnableGelu) that it holds, under its own name |
/// | [`GatedFeedForward`](crate::GatedFeedForward) | `gate_proj`, `up_proj` and `down_proj` in the place of `gate_up` and `down`, as in Llama, Mistral and their like, or [other names](Self::with_names) |
///
/// It is a module, so whatever loads or saves a module loads or saves such a checkpoint: Burn's
/// records, and burn-store's files with their adapters and names. Nothing else is to be done with it:
/// take the model out again to train or to run it.
///
/// ```
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::tensor::Device;
/// use gelu_core::{GatedFeedForward, GatedFeedForwardConfig, HiddenLayer, HiddenLayerConfig, Unfused};
///
/// #[derive(Module, Debug)]
/// struct Before {
///     head: Linear,
/// }
///
/// #[derive(Module, Debug)]
/// struct After {
///     head: HiddenLayer,
/// }
///
/// #[derive(Module, Debug)]
/// struct Decoder {
///     blocks: Vec<GatedFeedForward>,
/// }
///
/// let device = Device::default();
/// let checkpoint = Before { head: LinearConfig::new(4, 6).init(&device) }.into_record();
/// let model = After { head: HiddenLayerConfig::new(4, 6).init(&device) };
/// let model = Unfused::of(model).load_record(checkpoint).into_inner();
/// assert_eq!(model.head.linear.weight.dims(), [4, 6]);
///
/// let block = || GatedFeedForwardConfig::new(4, 6).init(&device);
/// let (trained, model) = (Decoder { blocks: vec![block()] }, Decoder { blocks: vec![block()] });
/// // `blocks.0.gate_proj.weight`, `blocks.0.up_proj.weight`, `blocks.0.down_proj.weight`
/// let checkpoint = Unfused::of(trained).into_record();
/// assert_eq!(checkpoint.len(), 3);
/// let model = Unfused::of(model).load_record(checkpoint).into_inner();
/// assert_eq!(model.blocks[0].gate_up.weight.dims(), [4, 12]);
/// ```
#[derive(Clone, Debug)]
pub struct Unfused<M> {
    model: M,
    names: Names,
}

impl<M: Module> Unfused<M> {
    /// The model with the names of Hugging Face's models.
    pub fn of(model: M) -> Self {
        let [gate, up, down] = ["gate_proj", "up_proj", "down_proj"].map(String::from);
        Self { model, names: Names { gate, up, down, first: GateHalf::First } }
    }

    /// With other names of the gate's layer, of the value's, and of that behind both, as they are below
    /// the block. A name with points is a path: where the block took the place of a struct of Burn's
    /// `SwiGlu` and a `Linear` called `w2`, they are `swiglu.linear_inner`, `swiglu.linear_outer` and
    /// `w2`.
    pub fn with_names(mut self, gate: &str, up: &str, down: &str) -> Self {
        let [gate, up, down] = [gate, up, down].map(String::from);
        self.names = Names { gate, up, down, ..self.names };
        self
    }

    /// For blocks whose gate is another half than the first.
    pub fn with_gate(mut self, gate: GateHalf) -> Self {
        self.names.first = gate;
        self
    }

    /// The model.
    pub fn into_inner(self) -> M {
        self.model
    }
}

impl<M: Module> Module for Unfused<M> {
    fn collect_devices(&self, devices: Devices) -> Devices {
        self.model.collect_devices(devices)
    }

    fn fork(self, device: &Device) -> Self {
        Self { model: self.model.fork(device), ..self }
    }

    fn to_device(self, device: &Device) -> Self {
        Self { model: self.model.to_device(device), ..self }
    }

    fn train(self) -> Self {
        Self { model: self.model.train(), ..self }
    }

    fn valid(&self) -> Self {
        Self { model: self.model.valid(), names: self.names.clone() }
    }

    fn materialize(self) -> Self {
        Self { model: self.model.materialize(), ..self }
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        self.model.visit(&mut Visitor { inner: visitor, place: Place::new(&self.names) });
    }

    fn map<W: ModuleMapper>(self, mapper: &mut W) -> Self {
        let Self { model, names } = self;
        let model = model.map(&mut Mapper { inner: mapper, place: Place::new(&names) });
        Self { model, names }
    }
}

/// One half of the last dimension, made when it is asked for.
fn half<const D: usize>(whole: &Param<Tensor<D>>, index: usize) -> Param<Tensor<D>> {
    let (source, mut shape) = (whole.clone(), whole.lazy_shape());
    shape[D - 1] /= 2;
    let columns = shape[D - 1];
    let part = move |device: &Device, _| {
        let saved = source.transform_for_save().val().detach().set_require_grad(false);
        saved.narrow(D - 1, index * columns, columns).to_device(device)
    };
    Param::uninitialized(ParamId::new(), part, whole.lazy_device(), false, shape)
}

/// The parameter with the values of its halves.
fn joined<const D: usize>(
    whole: Param<Tensor<D>>,
    halves: [Param<Tensor<D>>; 2],
) -> Param<Tensor<D>> {
    let mut halves = halves.map(|half| half.val());
    if halves[0].dtype() != halves[1].dtype() {
        let dtype = FloatDType::from(whole.val().dtype());
        halves = halves.map(|half| half.cast(dtype));
    }
    let id = whole.id;
    whole.transform_for_load(Tensor::cat(halves.to_vec(), D - 1).detach(), id)
}

/// Shows whom it is for the layers apart.
struct Visitor<'a, V> {
    inner: &'a mut V,
    place: Place<'a>,
}

/// As [`Visitor`].
struct Mapper<'a, W> {
    inner: &'a mut W,
    place: Place<'a>,
}

/// What the two have in common: the walk, and telling the path behind which something stands.
macro_rules! walk {
    () => {
        fn enter_module(&mut self, name: &str, container: &str) {
            if let Some(name) = self.place.entered(name, container) {
                self.inner.enter_module(name, container);
            }
        }

        fn exit_module(&mut self, name: &str, container: &str) {
            if let Some(name) = self.place.left(name, container) {
                self.inner.exit_module(name, container);
            }
        }
    };
    ($walker:expr, $layer:expr, $work:expr) => {{
        let path = $walker.place.path($layer);
        for [name, container] in &path {
            $walker.inner.enter_module(name, container);
        }
        let result = $work;
        for [name, container] in path.iter().rev() {
            $walker.inner.exit_module(name, container);
        }
        result
    }};
}

impl<V: ModuleVisitor> ModuleVisitor for Visitor<'_, V> {
    walk!();

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let Some(layers) = self.place.halves() else {
            return walk!(self, None, self.inner.visit_float(param));
        };
        for (index, layer) in layers.into_iter().enumerate() {
            walk!(self, Some(layer), self.inner.visit_float(&half(param, index)));
        }
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        walk!(self, None, self.inner.visit_int(param));
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        walk!(self, None, self.inner.visit_bool(param));
    }

    fn visit_flag(&mut self, flag: &Param<Flag>) {
        walk!(self, None, self.inner.visit_flag(flag));
    }
}

impl<W: ModuleMapper> ModuleMapper for Mapper<'_, W> {
    walk!();

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(layers) = self.place.halves() else {
            return walk!(self, None, self.inner.map_float(param));
        };
        let [first, last] = layers;
        let first = walk!(self, Some(first), self.inner.map_float(half(&param, 0)));
        let last = walk!(self, Some(last), self.inner.map_float(half(&param, 1)));
        joined(param, [first, last])
    }

    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        walk!(self, None, self.inner.map_int(param))
    }

    fn map_bool<const D: usize>(
        &mut self,
        param: Param<Tensor<D, Bool>>,
    ) -> Param<Tensor<D, Bool>> {
        walk!(self, None, self.inner.map_bool(param))
    }

    fn map_flag(&mut self, flag: Param<Flag>) -> Param<Flag> {
        walk!(self, None, self.inner.map_flag(flag))
    }
}

#[cfg(test)]
mod tests;
