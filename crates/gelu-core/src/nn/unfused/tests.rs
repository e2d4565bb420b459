use super::*;
use crate::{
    Activation, ActivationLayer, Channels, GateHalf, GatedFeedForward, GatedFeedForwardConfig,
    HiddenLayer, HiddenLayerConfig, LearnableGelu, LearnableGeluConfig, Xielu, XieluConfig,
};
use alloc::vec::Vec;
use burn_core::module::{Lora, Param};
use burn_core::tensor::{FloatDType, Int, Tensor};
use burn_nn::{Linear, LinearConfig, PRelu, PReluConfig, SwiGlu, SwiGluConfig};

/// A block as other implementations store it.
#[derive(Module, Debug)]
struct Mlp {
    gate_proj: Linear,
    up_proj: Linear,
    down_proj: Linear,
}

/// A model of either implementation: the blocks are inside other modules, and there are other layers.
#[derive(Module, Debug)]
struct Layer<B: Module> {
    mlp: B,
    // These fields have names of fields in this crate, but another meaning.
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
    Model { layers: alloc::vec![layer(), layer()] }
}

fn theirs(bias: bool, device: &Device) -> Model<Mlp> {
    let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).with_bias(bias).init(device);
    let [gate_proj, up_proj] = [(); 2].map(|()| linear(4, 6));
    let mlp =
        || Mlp { gate_proj: gate_proj.clone(), up_proj: up_proj.clone(), down_proj: linear(6, 4) };
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
            let model = Unfused::of(ours(bias, gate, &device));
            let model = model.load_record(theirs.clone().into_record()).into_inner();
            for (ours, theirs) in model.layers.iter().zip(&theirs.layers) {
                let expected = theirs.mlp.forward(input(&device)).into_data();
                let got = ours.mlp.forward(input(&device)).into_data();
                let tolerance = burn_core::tensor::Tolerance::absolute(1e-6);
                got.assert_approx_eq::<f32>(&expected, tolerance);
                for (ours, theirs) in [(&ours.down, &theirs.down), (&ours.gate_up, &theirs.gate_up)]
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
        let split = || Unfused::of(model.clone()).into_record();
        let theirs = theirs(bias, &device).load_record(split());
        let back = Unfused::of(ours(bias, gate, &device));
        let back = back.load_record(split()).into_inner();
        for ((ours, theirs), back) in model.layers.iter().zip(&theirs.layers).zip(&back.layers) {
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
        let ours = Unfused::of(ours(true, GateHalf::First, &device));
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
    // The record has another type, which one half alone cannot take.
    let gate = theirs.layers[0].mlp.gate_proj.weight.val().cast(FloatDType::F64);
    theirs.layers[0].mlp.gate_proj.weight = Param::from_tensor(gate.clone());
    let only = burn_core::module::ParamGroup::from_regex("gate_proj").unwrap();
    let record = theirs.into_record_group(only).allow_partial(true);
    let before = model.layers[0].mlp.gate_up.weight.val();
    let loaded = Unfused::of(model).load_record(record).into_inner();
    let after = loaded.layers[0].mlp.gate_up.weight.val();
    assert_eq!(after.dtype(), before.dtype());
    let gate = gate.cast(FloatDType::F32).into_data();
    after.clone().narrow(1, 0, 6).into_data().assert_eq(&gate, true);
    let up = before.narrow(1, 6, 6).into_data();
    after.narrow(1, 6, 6).into_data().assert_eq(&up, true);
}

/// Returns the names and shapes of a module's tensors.
fn shapes(module: &impl Module) -> Vec<(String, Vec<usize>)> {
    struct Shapes(Vec<String>, Vec<(String, Vec<usize>)>);
    impl ModuleVisitor for Shapes {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.0.push(name.into());
        }
        fn exit_module(&mut self, name: &str, _: &str) {
            assert_eq!(self.0.pop().as_deref(), Some(name));
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.1.push((self.0.join("."), param.lazy_shape().to_vec()));
        }
    }
    let mut shapes = Shapes(Vec::new(), Vec::new());
    module.visit(&mut shapes);
    shapes.1
}

/// Returns the names of a module's tensors.
fn paths(module: &impl Module) -> Vec<String> {
    shapes(module).into_iter().map(|(path, _)| path).collect()
}

/// Types of a program with the names of this crate's types, and with fields that have the names of
/// this crate's fields but another meaning.
mod own {
    use super::*;

    #[derive(Module, Debug)]
    pub(super) struct HiddenLayer {
        pub(super) linear: Linear,
        pub(super) gate: Linear,
    }

    #[derive(Module, Debug)]
    pub(super) struct GatedFeedForward {
        pub(super) gate_up: Linear,
        pub(super) down: Linear,
    }

    #[derive(Module, Debug)]
    pub(super) struct ActivationLayer {
        pub(super) prelu: PRelu,
        pub(super) xielu: Xielu,
    }

    #[derive(Module, Debug)]
    pub(super) struct Network {
        pub(super) hidden: HiddenLayer,
        pub(super) block: GatedFeedForward,
        pub(super) activation: ActivationLayer,
    }
}

#[test]
fn types_of_the_same_names_that_are_others_stay_as_they_are() {
    let device = Device::default();
    let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(&device);
    let network = || own::Network {
        hidden: own::HiddenLayer { linear: linear(2, 3), gate: linear(2, 3) },
        // Three outputs cannot be halved.
        block: own::GatedFeedForward { gate_up: linear(2, 3), down: linear(3, 2) },
        activation: own::ActivationLayer {
            prelu: PReluConfig::new().init(&device),
            xielu: XieluConfig::new().init(&device),
        },
    };
    let plain = network();
    assert_eq!(shapes(&Unfused::of(plain.clone())), shapes(&plain));
    let loaded = Unfused::of(network()).load_record(plain.clone().into_record()).into_inner();
    let expected = plain.block.gate_up.weight.val().into_data();
    loaded.block.gate_up.weight.val().into_data().assert_eq(&expected, true);
}

#[test]
fn a_walk_ends_also_where_a_visitor_panics() {
    struct Falls;
    impl ModuleVisitor for Falls {
        fn visit_float<const D: usize>(&mut self, _: &Param<Tensor<D>>) {
            panic!("on purpose");
        }
    }
    let block = GatedFeedForwardConfig::new(4, 6).init(&Device::default());
    let model = Unfused::of(block.clone());
    let fell = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| model.visit(&mut Falls)));
    assert!(fell.is_err());
    assert_eq!(paths(&block), ["gate_up.weight", "down.weight"]);
}

#[test]
fn adapters_keep_the_name_of_the_fused_layer() {
    let device = Device::default();
    let adapted = || {
        let block: GatedFeedForward = GatedFeedForwardConfig::new(4, 6).init(&device);
        Unfused::of(block.apply_lora(Lora::new(2, 1.0)))
    };
    let model = adapted();
    let shapes = shapes(&model);
    assert_eq!(shapes[0], ("gate_proj.weight".into(), alloc::vec![4, 6]));
    assert_eq!(shapes[1], ("up_proj.weight".into(), alloc::vec![4, 6]));
    let factors = shapes.iter().filter(|(path, _)| path.starts_with("gate_up.weight."));
    assert_eq!(factors.count(), 2, "{shapes:?}");
    let expected = model.clone().into_inner().forward(input(&device)).into_data();
    let loaded = adapted().load_record(model.into_record()).into_inner();
    loaded.forward(input(&device)).into_data().assert_eq(&expected, true);
}

#[test]
fn dropout_rests_behind_valid() {
    let device = Device::default();
    let config = HiddenLayerConfig::new(4, 64).with_activation(Activation::Identity);
    let model = Unfused::of(config.with_dropout(0.5).init(&device)).train();
    let zeros = |model: &Unfused<HiddenLayer>| {
        let y = model.clone().into_inner().forward(input(&device.clone().autodiff()));
        y.into_data().iter::<f32>().filter(|&y| y == 0.0).count()
    };
    assert!(zeros(&model) > 0);
    assert_eq!(zeros(&model.valid()), 0);
    assert!(zeros(&model.valid().train()) > 0);
}

#[test]
fn other_names_are_others_names() {
    let device = Device::default();
    let model = Unfused::of(ours(false, GateHalf::First, &device));
    let names = paths(&model.with_names("w1", "w3", "w2"));
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

/// A network of Burn's layers. The test compares it with the same network whose activations are
/// inside the layers.
#[derive(Module, Debug)]
struct Before {
    hidden: Vec<Linear>,
    prelu: PRelu,
    learned: LearnableGelu,
    output: Linear,
}

#[derive(Module, Debug)]
struct After {
    hidden: Vec<HiddenLayer>,
    prelu: ActivationLayer,
    learned: ActivationLayer,
    output: Linear,
}

fn before(bias: bool, device: &Device) -> Before {
    let linear = |outputs| LinearConfig::new(4, outputs).with_bias(bias).init(device);
    Before {
        hidden: alloc::vec![linear(4), linear(4)],
        prelu: PReluConfig::new().with_num_parameters(4).with_alpha(0.75).init(device),
        learned: LearnableGeluConfig::new().with_mean(0.5).init(device),
        output: linear(2),
    }
}

fn after(bias: bool, activation: &Activation, device: &Device) -> After {
    let config = HiddenLayerConfig::new(4, 4).with_activation(activation.clone()).with_bias(bias);
    After {
        hidden: alloc::vec![config.init(device), config.init(device)],
        prelu: Activation::PRelu.init(Channels::Last(4), device),
        learned: Activation::LearnableGelu.init(Channels::Shared, device),
        output: LinearConfig::new(4, 2).with_bias(bias).init(device),
    }
}

impl Before {
    fn forward(&self, activation: &Activation, x: Tensor<2>) -> Tensor<2> {
        let hidden = |x, layer: &Linear| activation.forward(layer.forward(x));
        let x = self.hidden.iter().fold(x, hidden);
        self.output.forward(self.learned.forward(self.prelu.forward(x)))
    }
}

impl After {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let x = self.hidden.iter().fold(x, |x, layer| layer.forward(x));
        self.output.forward(self.learned.forward(self.prelu.forward(x)))
    }
}

#[test]
fn records_of_linear_layers_load_into_hidden_layers_and_back() {
    for device in [Device::default(), Device::default().autodiff()] {
        for bias in [true, false] {
            let activation = Activation::Relu;
            let trained = before(bias, &device);
            let expected = trained.forward(&activation, input(&device)).into_data();
            let model = Unfused::of(after(bias, &activation, &device));
            let model = model.load_record(trained.clone().into_record()).into_inner();
            let got = model.forward(input(&device)).into_data();
            got.assert_approx_eq::<f32>(&expected, burn_core::tensor::Tolerance::absolute(1e-6));
            let back = before(bias, &device).load_record(Unfused::of(model).into_record());
            let got = back.forward(&activation, input(&device)).into_data();
            got.assert_eq(&expected, true);
        }
    }
}

#[test]
fn parameters_that_a_hidden_layer_has_besides_keep_their_names() {
    let device = Device::default();
    let layer = || {
        let config = HiddenLayerConfig::new(4, 6).with_activation(Activation::LearnableGelu);
        Unfused::of(config.init(&device))
    };
    let linear: Linear = LinearConfig::new(4, 6).init(&device);
    let error = alloc::format!("{}", layer().try_load_record(linear.into_record()).unwrap_err());
    let missing = r#"["activation.mean", "activation.log_standard_deviation"]"#;
    assert!(error.ends_with(missing), "{error}");
    assert!(layer().try_load_record(layer().into_record()).is_ok());
}

/// A block as llama-burn stores it.
#[derive(Module, Debug)]
struct SwiGluBlock {
    swiglu: SwiGlu,
    w2: Linear,
}

#[test]
fn records_of_burns_swiglu_load_and_are_written() {
    let device = Device::default();
    let near = burn_core::tensor::Tolerance::absolute(1e-6);
    for bias in [true, false] {
        let block = || SwiGluBlock {
            swiglu: SwiGluConfig::new(4, 6).with_bias(bias).init(&device),
            w2: LinearConfig::new(6, 4).with_bias(bias).init(&device),
        };
        let forward = |block: &SwiGluBlock| {
            block.w2.forward(block.swiglu.forward(input(&device))).into_data()
        };
        let as_theirs = |model: Model<GatedFeedForward>| {
            Unfused::of(model).with_names("swiglu.linear_inner", "swiglu.linear_outer", "w2")
        };
        let theirs = model(&device, block);
        let loaded = as_theirs(ours(bias, GateHalf::First, &device));
        let loaded = loaded.load_record(theirs.clone().into_record()).into_inner();
        let back = model(&device, block).load_record(as_theirs(loaded.clone()).into_record());
        for ((theirs, loaded), back) in theirs.layers.iter().zip(&loaded.layers).zip(&back.layers) {
            let expected = forward(&theirs.mlp);
            let got = loaded.mlp.forward(input(&device)).into_data();
            got.assert_approx_eq::<f32>(&expected, near);
            forward(&back.mlp).assert_eq(&expected, true);
        }
    }
}

#[test]
fn the_record_of_a_swiglu_alone_fills_the_gates() {
    let device = Device::default();
    let swiglu: SwiGlu = SwiGluConfig::new(4, 6).init(&device);
    let block = GatedFeedForwardConfig::new(4, 6).init(&device);
    let down = block.down.weight.val().into_data();
    let expected = block.down.forward(swiglu.forward(input(&device))).into_data();
    let block = Unfused::of(block).with_names("linear_inner", "linear_outer", "down");
    let block = block.load_record(swiglu.into_record().allow_partial(true)).into_inner();
    let got = block.forward(input(&device)).into_data();
    got.assert_approx_eq::<f32>(&expected, burn_core::tensor::Tolerance::absolute(1e-6));
    block.down.weight.val().into_data().assert_eq(&down, true);
}
