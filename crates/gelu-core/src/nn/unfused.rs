use super::parts::{NAMES, Names};
use alloc::string::String;
use burn::module::{Devices, Module, ModuleMapper, ModuleVisitor};
use burn::tensor::Device;
use burn_core as burn;

/// A view of a model with its fused layers separated. With it, a network whose layers were replaced by fused layers
/// loads the same records as before.
///
/// | layer | in records |
/// |---|---|
/// | [`HiddenLayer`](crate::HiddenLayer) | its `linear`, under the hidden layer's own name |
/// | [`GatedFeedForward`](crate::GatedFeedForward) | `gate_proj`, `up_proj` and `down_proj` instead of `gate_up` and `down`, as in Llama, Mistral and similar models, or [other names](Self::with_names) |
///
/// This is not an adapter of burn-store, because adapters map one tensor to one tensor, and here two tensors are halves
/// of one. It is a module, so everything that loads or saves modules can load and save such a checkpoint: Burn's
/// records, and burn-store's files with their adapters and names. Use it only for that; take the model out again to
/// train or run it.
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
    /// Wraps the model, with the names of Hugging Face's models.
    pub fn of(model: M) -> Self {
        let [gate, up, down] = ["gate_proj", "up_proj", "down_proj"].map(String::from);
        Self { model, names: Names { gate, up, down } }
    }

    /// Sets the names, below the block, of the gate's layer, of the value's layer, and of the layer after both. A name
    /// with dots is a path. If the block replaced a struct that contains Burn's `SwiGlu` and a `Linear` called `w2`,
    /// the names are `swiglu.linear_inner`, `swiglu.linear_outer` and `w2`.
    pub fn with_names(self, gate: &str, up: &str, down: &str) -> Self {
        let [gate, up, down] = [gate, up, down].map(String::from);
        Self { names: Names { gate, up, down }, ..self }
    }

    /// Returns the model.
    pub fn into_inner(self) -> M {
        self.model
    }
}

/// Makes the modules that this thread visits present themselves unfused, until the guard is dropped.
struct Walk(Option<Names>);

impl Walk {
    fn begin(names: &Names) -> Self {
        Self(NAMES.replace(Some(names.clone())))
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        NAMES.set(self.0.take());
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
        let _walk = Walk::begin(&self.names);
        self.model.visit(visitor);
    }

    fn map<W: ModuleMapper>(self, mapper: &mut W) -> Self {
        let _walk = Walk::begin(&self.names);
        Self { model: self.model.map(mapper), ..self }
    }
}

#[cfg(test)]
mod tests;
