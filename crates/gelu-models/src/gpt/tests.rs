use super::*;

fn tokens(rows: &[&[i64]], device: &Device) -> Tensor<2, Int> {
    let shape = [rows.len(), rows[0].len()];
    Tensor::from_data(burn::tensor::TensorData::new(rows.concat(), shape), device)
}

fn small() -> GptConfig {
    GptConfig::new(7).with_context(5).with_layers(2).with_heads(2).with_width(8)
}

fn swiglu() -> GptMlp {
    GptMlp::Gated(Activation::Silu)
}

#[test]
fn nanogpts_size_has_the_documented_parameters() {
    let config = GptConfig::new(65);
    let block = 4 * 128 * 128 + 8 * 128 * 128 + 2 * 128;
    assert_eq!(config.parameter_count(), (65 + 64) * 128 + 4 * block + 128);
    assert_eq!(config.init(&Device::default()).num_params(), 804_096);
}

#[test]
fn gated_networks_have_as_many_parameters_within_a_hundredth() {
    for width in [64, 96, 128, 256, 384, 768] {
        let plain = GptConfig::new(65).with_width(width);
        let gated = plain.clone().with_mlp(swiglu());
        let ratio = gated.parameter_count() as f64 / plain.parameter_count() as f64;
        assert!((ratio - 1.0).abs() < 0.01, "width {width}: {ratio}");
    }
    let gated = small().with_mlp(swiglu()).with_norm(GptNorm::Rms);
    assert_eq!(gated.init(&Device::default()).num_params(), gated.parameter_count());
}

#[test]
fn a_poly_norm_adds_four_parameters_a_block() {
    let config = small().with_mlp(GptMlp::PolyNorm);
    assert_eq!(config.init(&Device::default()).num_params(), config.parameter_count() + 2 * 4);
    assert_eq!(config.parameter_count(), small().parameter_count());
}

#[test]
fn no_place_sees_what_comes_later() {
    let device = Device::default();
    let other = small().with_norm(GptNorm::Rms);
    for config in [small(), other.clone().with_mlp(swiglu()), other.with_mlp(GptMlp::PolyNorm)] {
        let model = config.init(&device);
        let logits = model.forward(tokens(&[&[1, 2, 3, 4, 5], &[1, 2, 3, 6, 0]], &device));
        let rows = logits.into_data().try_to_vec::<f32>().unwrap();
        let (first, second) = rows.split_at(5 * 7);
        assert_eq!(first[..3 * 7], second[..3 * 7]);
        assert_ne!(first[3 * 7..4 * 7], second[3 * 7..4 * 7]);
    }
}

#[test]
fn nothing_has_the_shape_of_its_logits() {
    let device = Device::default();
    let model = small().init(&device);
    for [batch, length] in [[2, 0], [0, 4], [0, 0]] {
        let logits = model.forward(Tensor::zeros([batch, length], &device));
        assert_eq!(logits.dims(), [batch, length, 7]);
    }
}

#[test]
fn a_shorter_text_has_the_logits_of_the_beginning() {
    let device = Device::default();
    let model = small().init(&device);
    let whole = model.forward(tokens(&[&[1, 2, 3, 4, 5]], &device)).narrow(1, 0, 3);
    let part = model.forward(tokens(&[&[1, 2, 3]], &device));
    let tolerance = burn::tensor::Tolerance::<f32>::absolute(1e-6);
    part.into_data().assert_approx_eq(&whole.into_data(), tolerance);
}

#[test]
fn weights_have_their_deviations() {
    let device = Device::default();
    device.seed(3);
    let model = GptConfig::new(65).with_layers(8).init(&device);
    let deviation = |weight: Tensor<2>| weight.square().mean().sqrt().into_scalar::<f64>();
    let near =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.05, "{found}");
    near(deviation(model.tokens.weight.val()), 0.02);
    near(deviation(model.positions.weight.val()), 0.02);
}

#[test]
fn text_goes_on_beyond_the_context() {
    let device = Device::default();
    let model = small().init(&device);
    let mut numbers = (0..).map(|i| f64::from(i % 10) / 10.0);
    let mut text = || model.continued(&[3, 1], 12, 1.0, || numbers.next().unwrap());
    let (first, second) = (text(), text());
    assert_eq!(first.len(), 12);
    assert!(first.iter().chain(&second).all(|&token| token < 7));
    let likeliest = || model.continued(&[3, 1], 12, 0.0, || 0.0);
    assert_eq!(likeliest(), likeliest());
}

#[test]
#[should_panic(expected = "a Gpt of 5 places got 6 tokens")]
fn more_tokens_than_places_are_refused() {
    let device = Device::default();
    small().init(&device).forward(tokens(&[&[0, 1, 2, 3, 4, 5]], &device));
}

#[test]
#[should_panic(expected = "a width that its heads share evenly")]
fn heads_that_do_not_divide_the_width_are_refused() {
    small().with_heads(3).init(&Device::default());
}
