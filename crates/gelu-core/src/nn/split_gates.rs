use crate::GateHalf;
use alloc::string::String;
use alloc::vec::Vec;
use burn::module::{Devices, Flag, Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Bool, Device, FloatDType, Int, Tensor};
use burn_core as burn;

/// A model seen with the gates of its [`GatedFeedForward`](crate::GatedFeedForward)s in layers of their
/// own, as the checkpoints of Llama, Mistral and their like have them: `gate_proj`, `up_proj` and
/// `down_proj` in the place of `gate_up` and `down`, wherever in the model the blocks are.
///
/// It is a module, so whatever loads or saves a module loads or saves such a checkpoint: Burn's
/// records, and burn-store's files with their adapters and names. Nothing else is to be done with it:
/// take the model out again to train or to run it.
///
/// ```
/// use burn::module::Module;
/// use burn::tensor::Device;
/// use gelu_core::{GatedFeedForward, GatedFeedForwardConfig, SplitGates};
///
/// #[derive(Module, Debug)]
/// struct Decoder {
///     blocks: Vec<GatedFeedForward>,
/// }
///
/// let device = Device::default();
/// let block = || GatedFeedForwardConfig::new(4, 6).init(&device);
/// let (trained, model) = (Decoder { blocks: vec![block()] }, Decoder { blocks: vec![block()] });
/// // `blocks.0.gate_proj.weight`, `blocks.0.up_proj.weight`, `blocks.0.down_proj.weight`
/// let checkpoint = SplitGates::of(trained).into_record();
/// assert_eq!(checkpoint.len(), 3);
/// let model = SplitGates::of(model).load_record(checkpoint).into_inner();
/// assert_eq!(model.blocks[0].gate_up.weight.dims(), [4, 12]);
/// ```
#[derive(Clone, Debug)]
pub struct SplitGates<M> {
    model: M,
    names: Names,
}

/// What the layers are called, and in which order two of them are one.
#[derive(Clone, Debug)]
struct Names {
    gate: String,
    up: String,
    down: String,
    first: GateHalf,
}

impl<M: Module> SplitGates<M> {
    /// The model with the names of Hugging Face's models.
    pub fn of(model: M) -> Self {
        let [gate, up, down] = ["gate_proj", "up_proj", "down_proj"].map(String::from);
        Self { model, names: Names { gate, up, down, first: GateHalf::First } }
    }

    /// With other names of the gate's layer, of the value's, and of that behind both.
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

impl<M: Module> Module for SplitGates<M> {
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

/// Where in the model a walk is, as far as whom it is for has not been told yet: the layer of gates and
/// values, and what is in it.
struct Place<'a> {
    names: &'a Names,
    /// Names, and the types that they are fields of.
    held: Vec<[String; 2]>,
}

impl<'a> Place<'a> {
    /// How `#[derive(Module)]` names the type that the layers are fields of.
    const BLOCK: &'static str = "Struct:GatedFeedForward";

    fn new(names: &'a Names) -> Self {
        Self { names, held: Vec::new() }
    }

    /// The name to go on with, unless that is to be decided further in.
    fn entered<'b>(&'b mut self, name: &'b str, container: &str) -> Option<&'b str> {
        if self.held.is_empty() && (name, container) != ("gate_up", Self::BLOCK) {
            return Some(self.renamed(name, container));
        }
        self.held.push([name, container].map(String::from));
        None
    }

    /// As [`entered`](Self::entered), on the way out.
    fn left<'b>(&'b mut self, name: &'b str, container: &str) -> Option<&'b str> {
        match self.held.pop() {
            Some(_) => None,
            None => Some(self.renamed(name, container)),
        }
    }

    fn renamed<'b>(&'b self, name: &'b str, container: &str) -> &'b str {
        if (name, container) == ("down", Self::BLOCK) { &self.names.down } else { name }
    }

    /// The two layers that the parameter here belongs to, the one with the first half of it in front.
    fn halves(&self) -> Option<[&'a str; 2]> {
        // The layer and its parameter; what is deeper was attached to that.
        let (gate, up) = (self.names.gate.as_str(), self.names.up.as_str());
        (self.held.len() == 2).then_some(match self.names.first {
            GateHalf::First => [gate, up],
            GateHalf::Last => [up, gate],
        })
    }

    /// What has not been told, with the layer called `layer` if that is given.
    fn path(&self, layer: Option<&str>) -> Vec<[String; 2]> {
        let mut path = self.held.clone();
        if let (Some(layer), Some([name, _])) = (layer, path.first_mut()) {
            *name = layer.into();
        }
        path
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
mod tests {
    use super::*;
    use crate::{Activation, GatedFeedForward, GatedFeedForwardConfig};
    use burn_nn::{Linear, LinearConfig};

    /// A block as others keep it.
    #[derive(Module, Debug)]
    struct Mlp {
        gate_proj: Linear,
        up_proj: Linear,
        down_proj: Linear,
    }

    /// A model of theirs, and one of ours: blocks below other modules, and layers besides them.
    #[derive(Module, Debug)]
    struct Layer<B: Module> {
        mlp: B,
        // Names of ours where they mean something else.
        down: Linear,
        gate_up: Linear,
    }

    #[derive(Module, Debug)]
    struct Model<B: Module> {
        layers: Vec<Layer<B>>,
    }

    fn model<B: Module>(device: &Device, block: impl Fn() -> B) -> Model<B> {
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        let layer = || Layer { mlp: block(), down: linear(4, 2), gate_up: linear(4, 3) };
        Model { layers: vec![layer(), layer()] }
    }

    fn theirs(bias: bool, device: &Device) -> Model<Mlp> {
        let linear =
            |inputs, outputs| LinearConfig::new(inputs, outputs).with_bias(bias).init(device);
        let [gate_proj, up_proj] = [(); 2].map(|()| linear(4, 6));
        let mlp = || Mlp {
            gate_proj: gate_proj.clone(),
            up_proj: up_proj.clone(),
            down_proj: linear(6, 4),
        };
        model(device, mlp)
    }

    fn ours(bias: bool, gate: GateHalf, device: &Device) -> Model<GatedFeedForward> {
        let config = GatedFeedForwardConfig::new(4, 6).with_bias(bias).with_gate(gate);
        model(device, || config.init(device))
    }

    fn input(device: &Device) -> Tensor<2> {
        Tensor::<1, Int>::arange(0..12, device).float().reshape([3, 4]) * 0.3 - 1.5
    }

    impl Mlp {
        fn forward(&self, x: Tensor<2>) -> Tensor<2> {
            let gate = Activation::Silu.forward(self.gate_proj.forward(x.clone()));
            self.down_proj.forward(gate * self.up_proj.forward(x))
        }
    }

    #[test]
    fn a_split_checkpoint_of_a_nested_model_loads_and_computes_what_it_did() {
        for device in [Device::default(), Device::default().autodiff()] {
            for (bias, gate) in [(false, GateHalf::First), (true, GateHalf::Last)] {
                let theirs = theirs(bias, &device);
                let model = SplitGates::of(ours(bias, gate, &device)).with_gate(gate);
                let model = model.load_record(theirs.clone().into_record()).into_inner();
                for (ours, theirs) in model.layers.iter().zip(&theirs.layers) {
                    let expected = theirs.mlp.forward(input(&device)).into_data();
                    let got = ours.mlp.forward(input(&device)).into_data();
                    let tolerance = burn_core::tensor::Tolerance::absolute(1e-6);
                    got.assert_approx_eq::<f32>(&expected, tolerance);
                    for (ours, theirs) in
                        [(&ours.down, &theirs.down), (&ours.gate_up, &theirs.gate_up)]
                    {
                        let expected = theirs.weight.val().into_data();
                        ours.weight.val().into_data().assert_eq(&expected, true);
                    }
                    let trains = ours.mlp.gate_up.weight.val().is_require_grad();
                    assert_eq!(trains, device.is_autodiff());
                }
            }
        }
    }

    #[test]
    fn what_is_saved_apart_loads_there_and_here() {
        let device = Device::default();
        for (bias, gate) in [(true, GateHalf::First), (false, GateHalf::Last)] {
            let model = ours(bias, gate, &device);
            let split = || SplitGates::of(model.clone()).with_gate(gate).into_record();
            let theirs = theirs(bias, &device).load_record(split());
            let back = SplitGates::of(ours(bias, gate, &device)).with_gate(gate);
            let back = back.load_record(split()).into_inner();
            for ((ours, theirs), back) in model.layers.iter().zip(&theirs.layers).zip(&back.layers)
            {
                let expected = ours.mlp.forward(input(&device)).into_data();
                let got = theirs.mlp.forward(input(&device)).into_data();
                let tolerance = burn_core::tensor::Tolerance::absolute(1e-6);
                got.assert_approx_eq::<f32>(&expected, tolerance);
                back.mlp.forward(input(&device)).into_data().assert_eq(&expected, true);
            }
        }
    }

    #[test]
    fn what_is_missing_or_of_another_shape_is_named_as_the_checkpoint_has_it() {
        let device = Device::default();
        let error = |model: Model<Mlp>| {
            let ours = SplitGates::of(ours(true, GateHalf::First, &device));
            alloc::format!("{}", ours.try_load_record(model.into_record()).unwrap_err())
        };
        let without_bias = error(theirs(false, &device));
        assert!(without_bias.contains("layers.1.mlp.gate_proj.bias"), "{without_bias}");
        let mut smaller = theirs(true, &device);
        smaller.layers[0].mlp.up_proj = LinearConfig::new(4, 5).init(&device);
        let smaller = error(smaller);
        assert!(smaller.contains("layers.0.mlp.up_proj.weight: shape mismatch"), "{smaller}");
    }

    #[test]
    fn a_half_that_is_missing_stays_what_it_was() {
        let device = Device::default();
        let (model, mut theirs) = (ours(false, GateHalf::First, &device), theirs(false, &device));
        // In another type, which a half alone cannot take.
        let gate = theirs.layers[0].mlp.gate_proj.weight.val().cast(FloatDType::F64);
        theirs.layers[0].mlp.gate_proj.weight = Param::from_tensor(gate.clone());
        let only = burn_core::module::ParamGroup::from_regex("gate_proj").unwrap();
        let record = theirs.into_record_group(only).allow_partial(true);
        let before = model.layers[0].mlp.gate_up.weight.val();
        let loaded = SplitGates::of(model).load_record(record).into_inner();
        let after = loaded.layers[0].mlp.gate_up.weight.val();
        assert_eq!(after.dtype(), before.dtype());
        let gate = gate.cast(FloatDType::F32).into_data();
        after.clone().narrow(1, 0, 6).into_data().assert_eq(&gate, true);
        let up = before.narrow(1, 6, 6).into_data();
        after.narrow(1, 6, 6).into_data().assert_eq(&up, true);
    }

    #[test]
    fn other_names_are_others_names() {
        let device = Device::default();
        let names = |model: SplitGates<Model<GatedFeedForward>>| {
            struct Paths(Vec<String>, Vec<String>);
            impl ModuleVisitor for Paths {
                fn enter_module(&mut self, name: &str, _: &str) {
                    self.0.push(name.into());
                }
                fn exit_module(&mut self, name: &str, _: &str) {
                    assert_eq!(self.0.pop().as_deref(), Some(name));
                }
                fn visit_float<const D: usize>(&mut self, _: &Param<Tensor<D>>) {
                    self.1.push(self.0.join("."));
                }
            }
            let mut paths = Paths(Vec::new(), Vec::new());
            model.visit(&mut paths);
            paths.1
        };
        let model = SplitGates::of(ours(false, GateHalf::First, &device));
        let names = names(model.with_names("w1", "w3", "w2"));
        let expected = [
            "layers.0.mlp.w1.weight",
            "layers.0.mlp.w3.weight",
            "layers.0.mlp.w2.weight",
            "layers.0.down.weight",
            "layers.0.down.bias",
            "layers.0.gate_up.weight",
            "layers.0.gate_up.bias",
        ];
        assert_eq!(names[..7], expected);
    }
}
