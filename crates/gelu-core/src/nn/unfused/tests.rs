use super::*;
use crate::{
    Activation, ActivationLayer, Channels, GatedFeedForward, GatedFeedForwardConfig, HiddenLayer,
    HiddenLayerConfig, LearnableGelu, LearnableGeluConfig,
};
use burn_nn::{Linear, LinearConfig, PRelu, PReluConfig, SwiGlu, SwiGluConfig};

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
            let model = Unfused::of(ours(bias, gate, &device)).with_gate(gate);
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
        let split = || Unfused::of(model.clone()).with_gate(gate).into_record();
        let theirs = theirs(bias, &device).load_record(split());
        let back = Unfused::of(ours(bias, gate, &device)).with_gate(gate);
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
    // In another type, which a half alone cannot take.
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

#[test]
fn other_names_are_others_names() {
    let device = Device::default();
    let names = |model: Unfused<Model<GatedFeedForward>>| {
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
    let model = Unfused::of(ours(false, GateHalf::First, &device));
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

/// A network of Burn's layers, and the same with its activations in the layers.
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

/// As llama-burn keeps a block.
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
