use super::by_hand::{displayed, of_fields, within};
use super::hidden_layer::linear_initializer;
use super::parts::{map_halves, names, visit_halves};
use super::{ActivationLayer, Channels};
use crate::random::DropoutMask;
use crate::{Activation, GateHalf, functional};
use burn::config::Config;
use burn::module::{
    Content, Devices, DisplaySettings, Module, ModuleDisplay, ModuleMapper, ModuleVisitor, Param,
};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::{Dropout, DropoutConfig, Initializer, Linear, LinearConfig};

/// Configuration of a [`GatedFeedForward`].
#[derive(Config, Debug)]
pub struct GatedFeedForwardConfig {
    /// Number of input and output features.
    pub d_model: usize,
    /// Number of hidden neurons, each with a gate and a value.
    pub d_ff: usize,
    /// The activation of the gate: SiLU gives SwiGLU, GELU gives GEGLU, and ReLU gives ReGLU.
    #[config(default = "Activation::Silu")]
    pub activation: Activation,
    /// Probability of dropping a hidden neuron's output while training.
    #[config(default = 0.0)]
    pub dropout: f64,
    /// Whether both linear layers add a bias; Llama's layers do not.
    #[config(default = false)]
    pub bias: bool,
    /// The half of the first layer's outputs that is the gate.
    #[config(default = "GateHalf::First")]
    pub gate: GateHalf,
    /// The distribution of the initial weights and biases; the default is that of `burn::nn::Linear`.
    #[config(default = "linear_initializer()")]
    pub initializer: Initializer,
}

impl GatedFeedForwardConfig {
    /// Creates a block with random weights from the device's generator.
    ///
    /// # Panics
    ///
    /// If `dropout` is not in `[0, 1)`.
    pub fn init(&self, device: &Device) -> GatedFeedForward {
        let linear = |inputs, outputs| {
            let config = LinearConfig::new(inputs, outputs).with_bias(self.bias);
            config.with_initializer(self.initializer.clone()).init(device)
        };
        GatedFeedForward {
            gate_up: linear(self.d_model, 2 * self.d_ff),
            down: linear(self.d_ff, self.d_model),
            dropout: DropoutConfig::new(self.dropout).init(),
            activation: self.activation.init(Channels::Last(self.d_ff), device),
            gate: self.gate,
        }
    }
}

/// The gated position-wise network of current transformers, `down(f(gate(x))·up(x))`: SwiGLU, GEGLU, ReGLU and similar
/// units (Shazeer, arXiv 2002.05202). Create one with [`GatedFeedForwardConfig`], or from trained layers with
/// [`of_layers`](Self::of_layers).
///
/// `gate` and `up` are one matrix product, `gate_up`. On Flex and CubeCL, the gating between the two products is one
/// pass over memory, forward and backward. On all backends the gating only stores its input. Dropout and its seed work
/// as in [`HiddenLayer`](crate::HiddenLayer).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::{Activation, GatedFeedForwardConfig};
///
/// let device = Device::default();
/// let config = GatedFeedForwardConfig::new(8, 21).with_activation(Activation::Gelu);
/// let y = config.init(&device).forward(Tensor::<3>::ones([2, 5, 8], &device));
/// assert_eq!(y.dims(), [2, 5, 8]);
/// ```
#[derive(Clone, Debug)]
pub struct GatedFeedForward {
    /// The layer from the features to gates and values, `[d_model, 2·d_ff]`.
    pub gate_up: Linear,
    /// The layer from the hidden neurons back to the features.
    pub down: Linear,
    /// The dropout of the hidden neurons' outputs, in training.
    pub dropout: Dropout,
    /// The activation of the gates.
    pub activation: ActivationLayer,
    gate: GateHalf,
}

impl GatedFeedForward {
    /// Creates a block from separate trained layers: `gate_proj`, `up_proj` and `down_proj` of a Llama, or
    /// `linear_inner` and `linear_outer` of a `burn::nn::SwiGlu`. The layers may be on an autodiff device for further
    /// training. If both `gate` and `up` are frozen, the joined layer is frozen, too. To load the checkpoint of a whole
    /// model, use [`Unfused`](crate::Unfused).
    ///
    /// # Panics
    ///
    /// If `gate` and `up` differ in shape, only one of them has a bias, or the number of inputs of `down` is not the
    /// number of their outputs.
    pub fn of_layers(gate: Linear, up: Linear, down: Linear, activation: &Activation) -> Self {
        let ([inputs, neurons], device) = (gate.weight.dims(), gate.weight.device());
        assert!(
            up.weight.dims() == [inputs, neurons] && down.weight.dims()[0] == neurons,
            "gate and up map the same features to the hidden neurons that down takes, got weights \
             of {:?}, {:?} and {:?}",
            gate.weight.dims(),
            up.weight.dims(),
            down.weight.dims()
        );
        let bias = match (gate.bias, up.bias) {
            (Some(gate), Some(up)) => Some(side_by_side(gate, up)),
            (None, None) => None,
            (gate, _) => panic!(
                "gate and up have a bias both or neither, got one of {} alone",
                if gate.is_some() { "gate" } else { "up" }
            ),
        };
        Self {
            gate_up: Linear { weight: side_by_side(gate.weight, up.weight), bias },
            down,
            dropout: DropoutConfig::new(0.0).init(),
            activation: activation.init(Channels::Last(neurons), &device),
            gate: GateHalf::First,
        }
    }

    /// Returns the block's outputs.
    ///
    /// # Shapes
    ///
    /// - input and output: `[..., d_model]`
    ///
    /// # Panics
    ///
    /// If the last dimension of the input is not `d_model`.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let [d_model, _] = self.gate_up.weight.dims();
        assert!(
            input.dims().last() == Some(&d_model),
            "a gated block of {d_model} features got a tensor of {:?}",
            input.dims()
        );
        let mask = DropoutMask::due(&self.dropout, &input);
        let hidden = self.gated(self.gate_up.forward(input));
        self.down.forward(match mask {
            Some(mask) => functional::dropout(hidden, mask),
            None => hidden,
        })
    }

    /// Returns the result between the two products, without dropout: `f(gate)·up`.
    ///
    /// # Shapes
    ///
    /// - gate_up: `[..., 2·d_ff]`, the output of the first layer
    /// - output: `[..., d_ff]`
    ///
    /// # Panics
    ///
    /// If the last dimension of the input is odd.
    pub fn gated<const D: usize>(&self, gate_up: Tensor<D>) -> Tensor<D> {
        if let Some(unit) = self.activation.fusible() {
            return functional::gated(gate_up, unit, self.gate);
        }
        let [first, last] = gate_up
            .split(self.down.weight.dims()[0], D - 1)
            .try_into()
            .expect("twice as many columns as neurons are two halves");
        let (gate, value) = match self.gate {
            GateHalf::First => (first, last),
            GateHalf::Last => (last, first),
        };
        self.activation.gated(gate, value)
    }
}

/// Returns two parameters joined along the last dimension.
fn side_by_side<const D: usize>(
    first: Param<Tensor<D>>,
    last: Param<Tensor<D>>,
) -> Param<Tensor<D>> {
    let is_frozen = [&first, &last].iter().all(|part| !trains(part));
    let parts = [first, last].map(|part| part.val().detach().set_require_grad(false));
    // The joined parameter is a leaf of the graph, although it is computed.
    let whole = Param::from_tensor(Tensor::cat(parts.to_vec(), D - 1).detach());
    if is_frozen { whole.set_require_grad(false) } else { whole }
}

/// Returns whether the parameter is trained, or would be on an autodiff device.
fn trains<const D: usize>(param: &Param<Tensor<D>>) -> bool {
    !param.device().is_autodiff() || param.is_require_grad()
}

impl Module for GatedFeedForward {
    of_fields!(gate_up, down, dropout, activation; gate);

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        let Self { gate_up, down, dropout, activation, gate } = self;
        match names() {
            None => {
                within!(visitor, "gate_up", "GatedFeedForward", gate_up.visit(visitor));
                within!(visitor, "down", "GatedFeedForward", down.visit(visitor));
            }
            Some(names) => {
                visit_halves(gate_up, names.of_halves(*gate), visitor);
                within!(visitor, &names.down, "GatedFeedForward", down.visit(visitor));
            }
        }
        within!(visitor, "dropout", "GatedFeedForward", dropout.visit(visitor));
        within!(visitor, "activation", "GatedFeedForward", activation.visit(visitor));
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let Self { gate_up, down, dropout, activation, gate } = self;
        let (gate_up, down) = match names() {
            None => (
                within!(mapper, "gate_up", "GatedFeedForward", gate_up.map(mapper)),
                within!(mapper, "down", "GatedFeedForward", down.map(mapper)),
            ),
            Some(names) => (
                map_halves(gate_up, names.of_halves(gate), mapper),
                within!(mapper, &names.down, "GatedFeedForward", down.map(mapper)),
            ),
        };
        let dropout = within!(mapper, "dropout", "GatedFeedForward", dropout.map(mapper));
        let activation = within!(mapper, "activation", "GatedFeedForward", activation.map(mapper));
        Self { gate_up, down, dropout, activation, gate }
    }
}

displayed!(GatedFeedForward);

impl ModuleDisplay for GatedFeedForward {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [d_ff, d_model] = self.down.weight.dims();
        content
            .add("d_model", &d_model)
            .add("d_ff", &d_ff)
            .add("bias", &self.gate_up.bias.is_some())
            .add("activation", &self.activation.name())
            .add("dropout", &self.dropout.prob)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::{Int, Tolerance};
    use burn_nn::{SwiGlu, SwiGluConfig};

    fn input(device: &Device) -> Tensor<3> {
        let numbers = Tensor::<1, Int>::arange(0..24, device).float();
        (numbers * 0.1 - 1.0).reshape([2, 3, 4])
    }

    #[test]
    fn layers_of_burns_swiglu_compute_what_they_did() {
        let device = Device::default();
        let burns: SwiGlu = SwiGluConfig::new(4, 6).with_bias(true).init(&device);
        let down = LinearConfig::new(6, 4).init(&device);
        let expected = down.forward(burns.forward(input(&device))).into_data();
        let SwiGlu { linear_inner, linear_outer, .. } = burns;
        let block =
            GatedFeedForward::of_layers(linear_inner, linear_outer, down, &Activation::Silu);
        let got = block.forward(input(&device)).into_data();
        got.assert_approx_eq::<f32>(&expected, Tolerance::absolute(1e-6));
    }

    #[test]
    fn layers_on_an_autodiff_device_are_trained_further() {
        let device = Device::default().autodiff();
        let linear = |a, b| LinearConfig::new(a, b).init(&device);
        let layers = [linear(4, 6), linear(4, 6), linear(6, 4)];
        let gradients = |frozen: [bool; 2]| {
            let [gate, up, down] = layers.clone();
            let [gate, up] = [(gate, frozen[0]), (up, frozen[1])]
                .map(|(layer, frozen)| if frozen { layer.freeze() } else { layer });
            let block = GatedFeedForward::of_layers(gate, up, down, &Activation::Silu);
            let gradients = block.forward(input(&device)).sum().backward();
            block.gate_up.weight.val().grad(&gradients).map(Tensor::into_data)
        };
        // These are the gradients of the separate layers.
        let [gate, up, down] = layers.clone();
        let product =
            Activation::Silu.forward(gate.forward(input(&device))) * up.forward(input(&device));
        let apart = down.forward(product).sum().backward();
        let expected = [gate, up].map(|layer| layer.weight.val().grad(&apart).unwrap());
        let expected = Tensor::cat(expected.to_vec(), 1).into_data();
        let got = gradients([false, false]).unwrap();
        got.assert_approx_eq::<f32>(&expected, Tolerance::absolute(1e-6));
        assert!(gradients([true, false]).is_some() && gradients([true, true]).is_none());
    }

    #[test]
    fn any_activation_and_half_is_the_product_of_the_halves() {
        let device = Device::default();
        let own = Activation::custom("square", |x| x.clone() * x);
        for activation in Activation::built_in().into_iter().chain([own]) {
            for gate in [GateHalf::First, GateHalf::Last] {
                let block = GatedFeedForwardConfig::new(4, 6)
                    .with_activation(activation.clone())
                    .with_gate(gate)
                    .init(&device);
                let hidden = block.gate_up.forward(input(&device));
                let (first, last) =
                    (hidden.clone().slice([0..2, 0..3, 0..6]), hidden.slice([0..2, 0..3, 6..12]));
                let product = match gate {
                    GateHalf::First => activation.forward(first) * last,
                    GateHalf::Last => first * activation.forward(last),
                };
                let expected = block.down.forward(product).into_data();
                let got = block.forward(input(&device)).into_data();
                got.assert_approx_eq::<f32>(&expected, Tolerance::absolute(1e-6));
            }
        }
    }

    #[test]
    fn a_gate_of_ones_own_gets_gate_and_value() {
        let device = Device::default().autodiff();
        let own = Activation::custom_gate("own", &[0.5], |gate, value, c| {
            gate.tanh() - value * c[0].clone()
        });
        for half in [GateHalf::First, GateHalf::Last] {
            let config = GatedFeedForwardConfig::new(4, 6).with_activation(own.clone());
            let block = config.with_gate(half).init(&device);
            // There is one constant per neuron.
            assert_eq!(block.num_params(), 4 * 12 + 6 * 4 + 6);
            let hidden = block.gate_up.forward(input(&device));
            let (first, last) =
                (hidden.clone().slice([0..2, 0..3, 0..6]), hidden.slice([0..2, 0..3, 6..12]));
            let (gate, value) = match half {
                GateHalf::First => (first, last),
                GateHalf::Last => (last, first),
            };
            let expected = block.down.forward(gate.tanh() - value.clone() * 0.5);
            let y = block.forward(input(&device));
            let tolerance = Tolerance::absolute(1e-6);
            y.clone().into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
            let ActivationLayer::Learned(learned) = &block.activation else { panic!("{block}") };
            let gradient = learned.constants[0].val().grad(&y.sum().backward()).unwrap();
            // The loss's gradient for the constant is the value, passed back through the second product.
            let through = block.down.weight.val().sum_dim(1).reshape([1, 1, 6]);
            let expected = (value.neg() * through).sum_dim(0).sum_dim(1).reshape([6]);
            let tolerance = Tolerance::absolute(1e-5);
            gradient.into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
        }
    }

    #[test]
    fn dropout_drops_hidden_neurons_in_training_alone() {
        let device = Device::default();
        let config = GatedFeedForwardConfig::new(4, 64).with_activation(Activation::Identity);
        let mut block = config.with_dropout(0.5).init(&device);
        // The second layer passes the first four neurons through unchanged.
        let eye = Tensor::<2>::eye(4, &device);
        let rest = Tensor::<2>::zeros([60, 4], &device);
        block.down.weight = Param::from_tensor(Tensor::cat(alloc::vec![eye, rest], 0));
        let zeros = |block: &GatedFeedForward, device: &Device| {
            let x = Tensor::<2>::ones([200, 4], device);
            block.forward(x).into_data().iter::<f32>().filter(|&y| y == 0.0).count()
        };
        assert_eq!(zeros(&block, &device), 0);
        let training = device.autodiff();
        let block = block.train();
        // 800 random numbers have a standard deviation of 14.1; the tolerance is seven of these.
        assert!(zeros(&block, &training).abs_diff(400) < 100);
        assert_eq!(zeros(&block.valid(), &training), 0);
    }

    #[test]
    fn display_names_sizes_and_activation() {
        let block = GatedFeedForwardConfig::new(2, 4).init(&Device::default());
        assert_eq!(
            alloc::format!("{block}"),
            "GatedFeedForward {d_model: 2, d_ff: 4, bias: false, activation: silu, dropout: 0, \
             params: 24}"
        );
    }

    #[test]
    #[should_panic(expected = "a gated block of 4 features got a tensor of [2, 3]")]
    fn other_inputs_are_refused() {
        let block = GatedFeedForwardConfig::new(4, 6).init(&Device::default());
        block.forward(Tensor::<2>::ones([2, 3], &Device::default()));
    }

    #[test]
    #[should_panic(expected = "got weights of [4, 6], [4, 5] and [6, 4]")]
    fn layers_that_do_not_fit_are_refused() {
        let linear = |a, b| LinearConfig::new(a, b).init(&Device::default());
        GatedFeedForward::of_layers(linear(4, 6), linear(4, 5), linear(6, 4), &Activation::Silu);
    }
}
