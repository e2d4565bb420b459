use super::*;
use burn_core::module::{ModuleMapper, ModuleVisitor, Param};
use burn_core::tensor::{Device, Gradients, Int, TensorData};
use burn_nn::activation::ActivationConfig;
use burn_nn::attention::generate_autoregressive_mask;
use burn_nn::transformer::TransformerEncoderConfig;

/// The tolerance relative to the largest element; the largest difference that we measured was
/// 1.1e-6.
const NEAR: f32 = 5e-6;

/// Returns a configuration without dropout, because the two encoders would drop different elements.
fn config(norm_first: bool) -> TransformerEncoderConfig {
    TransformerEncoderConfig::new(8, 24, 2, 3).with_norm_first(norm_first).with_dropout(0.0)
}

/// Returns Burn's encoder with weights that are the same in every run, and norms that differ from
/// each other.
fn trained(config: &TransformerEncoderConfig) -> TransformerEncoder {
    struct Trained(f64);
    impl ModuleMapper for Trained {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            self.0 += 1.0;
            let place = self.0;
            param.map(|x| {
                let (shape, count) = (x.dims(), x.shape().num_elements() as i64);
                let numbers = Tensor::<1, Int>::arange(0..count, &x.device()).float();
                (numbers * 1.7 + place).sin().reshape(shape) * 0.4
            })
        }
    }
    config.init(&Device::default()).map(&mut Trained(0.0))
}

fn largest(data: &TensorData) -> f32 {
    data.iter::<f32>().fold(0.0, |most, x| most.max(x.abs()))
}

/// Asserts that `got` and `expected` differ by no more than the rounding of f32 sums in another
/// order.
fn assert_near(got: TensorData, expected: &TensorData) {
    assert_within(NEAR * largest(expected), got, expected);
}

fn assert_within(bound: f32, got: TensorData, expected: &TensorData) {
    for (got, expected) in got.iter::<f32>().zip(expected.iter::<f32>()) {
        assert!((got - expected).abs() <= bound, "{got} and {expected}, of {bound}");
    }
}

fn input(device: &Device) -> Tensor<3> {
    let numbers = Tensor::<1, Int>::arange(0..80, device).float();
    (numbers * 0.37).sin().reshape([2, 5, 8])
}

/// Returns masks: the second sequence is shorter, and no position attends to a later one.
fn masks(device: &Device) -> (Tensor<2, Bool>, Tensor<3, Bool>) {
    let pad = [[false; 5], [false, false, false, true, true]];
    (Tensor::from_data(pad, device), generate_autoregressive_mask(2, 5, device))
}

fn burns_input(
    x: Tensor<3>,
    masks: Option<(Tensor<2, Bool>, Tensor<3, Bool>)>,
) -> burn_nn::transformer::TransformerEncoderInput {
    let input = burn_nn::transformer::TransformerEncoderInput::new(x);
    match masks {
        Some((pad, attention)) => input.mask_pad(pad).mask_attn(attention),
        None => input,
    }
}

/// Returns the gradients of all parameters with their names, in the order of a visit.
fn gradients<M: Module>(
    model: &M,
    gradients: &Gradients,
) -> Vec<(alloc::string::String, TensorData)> {
    struct Visitor<'a>(
        &'a Gradients,
        Vec<alloc::string::String>,
        Vec<(alloc::string::String, TensorData)>,
    );
    impl ModuleVisitor for Visitor<'_> {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.1.push(name.into());
        }
        fn exit_module(&mut self, _: &str, _: &str) {
            self.1.pop();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let gradient = param.val().grad(self.0).unwrap().into_data();
            self.2.push((self.1.join("."), gradient));
        }
    }
    let mut visitor = Visitor(gradients, Vec::new(), Vec::new());
    model.visit(&mut visitor);
    visitor.2
}

#[test]
fn an_encoder_of_burns_computes_and_differentiates_as_it_did() {
    let device = Device::default().autodiff();
    // These are functions whose values and derivatives are correct in Burn.
    for (norm_first, activation, quiet) in [
        (false, ActivationConfig::Relu, false),
        (true, ActivationConfig::Tanh, true),
        (true, ActivationConfig::GeluApproximate, false),
        (false, ActivationConfig::PRelu(burn_nn::PReluConfig::new()), false),
    ] {
        let config = config(norm_first).with_activation(activation).with_quiet_softmax(quiet);
        let burns = trained(&config);
        let (ours, burns) = (Encoder::from(burns.clone()).train(), burns.train());
        for masks in [None, Some(masks(&device))] {
            let (pad, attention) = masks.clone().unzip();
            let [of_burns, of_ours] = [(); 2].map(|()| input(&device).require_grad());
            let expected = burns.forward(burns_input(of_burns.clone(), masks));
            let got = ours.forward(of_ours.clone(), pad, attention);
            assert_near(got.clone().into_data(), &expected.clone().into_data());
            // The sum is weighted because the plain sum of a normalised layer is constant.
            let loss = |y: Tensor<3>| (y * input(&device).cos()).sum().backward();
            let [expected, got] = [loss(expected), loss(got)];
            assert_near(
                of_ours.grad(&got).unwrap().into_data(),
                &of_burns.grad(&expected).unwrap().into_data(),
            );
            let (expected, got) = (gradients(&burns, &expected), gradients(&ours, &got));
            // Burn's records leave out the activation, which has a slope in the last case.
            let has = |name: &str| expected.iter().find(|(of, _)| of == name);
            let steepest = expected.iter().map(|(_, slopes)| largest(slopes)).fold(0.0, f32::max);
            for (name, gradient) in got {
                match has(&name) {
                    // Softmax does not depend on the bias of the keys, so the gradient is 0 except
                    // for rounding.
                    Some((_, expected)) if name.ends_with("mha.key.bias") => {
                        assert_within(NEAR * steepest, gradient, expected);
                    }
                    Some((_, expected)) => assert_near(gradient, expected),
                    None => assert!(name.ends_with("pwff.activation.PRelu.alpha"), "{name}"),
                }
            }
        }
    }
}

#[test]
fn records_load_both_ways_bit_for_bit() {
    let device = Device::default();
    for norm_first in [false, true] {
        let config = config(norm_first).with_activation(ActivationConfig::Relu);
        let (fresh, trained, masks) = (|| config.init(&device), trained(&config), masks(&device));
        let expected =
            trained.forward(burns_input(input(&device), Some(masks.clone()))).into_data();
        let ours = Encoder::from(fresh()).load_record(trained.into_record());
        let (pad, attention) = masks.clone();
        let got = ours.forward(input(&device), Some(pad), Some(attention)).into_data();
        assert_near(got, &expected);
        let back = fresh().load_record(ours.into_record());
        back.forward(burns_input(input(&device), Some(masks)))
            .into_data()
            .assert_eq(&expected, true);
    }
}

#[test]
fn the_activation_is_swapped_and_nothing_else() {
    let device = Device::default();
    let burns = trained(&config(true));
    let expected = config(true).with_activation(ActivationConfig::Sigmoid).init(&device);
    let expected = expected.load_record(burns.clone().into_record());
    let expected = expected.forward(burns_input(input(&device), None)).into_data();
    let ours = Encoder::from(burns.clone()).with_activation(&Activation::Sigmoid);
    let got = ours.forward(input(&device), None, None).into_data();
    assert_near(got, &expected);
    let learned = ours.clone().with_activation(&Activation::PRelu);
    assert_eq!(learned.num_params(), ours.num_params() + 3 * 24);
    // Burn's records do not contain the activation's parameters.
    let record = burns.clone().into_record();
    assert!(learned.clone().try_load_record(record.clone()).is_err());
    let learned = learned.load_record(record.allow_partial(true));
    let back = config(true).init(&device).load_record(learned.into_record().allow_unused(true));
    let [expected, got] =
        [burns, back].map(|encoder| encoder.forward(burns_input(input(&device), None)).into_data());
    got.assert_eq(&expected, true);
}

#[test]
fn dropout_is_where_it_was() {
    let device = Device::default();
    let burns = config(true).with_dropout(0.4).init(&device);
    let layer = EncoderLayer::from(burns.layers[0].clone());
    let places = [layer.dropout.prob, layer.mha.dropout.prob, layer.pwff.dropout.prob];
    assert_eq!(places, [0.4; 3]);
    let training = device.clone().autodiff();
    let [first, second] =
        [(); 2].map(|()| layer.clone().train().forward(input(&training), None, None).into_data());
    assert_ne!(first, second);
}

#[test]
fn display_names_sizes_and_activation() {
    let encoder = Encoder::from(TransformerEncoderConfig::new(2, 4, 1, 2).init(&Device::default()));
    let layer = "EncoderLayer {d_model: 2, d_ff: 4, n_heads: 1, activation: gelu, dropout: 0.1, \
                 norm_first: false, params: 54}";
    assert_eq!(alloc::format!("{}", encoder.layers[0]), layer);
    let lines = [
        "Encoder {",
        "  layers: Vec<0..2> {",
        &alloc::format!("    0: {layer}"),
        &alloc::format!("    1: {layer}"),
        "  }",
        "  params: 108",
        "}",
    ];
    assert_eq!(alloc::format!("{encoder}"), lines.join("\n"));
}
