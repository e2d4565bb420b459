use crate::Mlp;
use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use gelu_core::functional::Unit;
use gelu_core::random::Draw;
use gelu_core::{Activation, HiddenLayer};
use gelu_training::cohort::{CohortLinear, SliceDropout, SliceUnit, SliceUnits};

/// Many [`Mlp`]s of one shape as one program ([`gelu_training::cohort`]): each has its own weights, and may have its
/// own activation and dropout.
///
/// It is made of networks and gives them back, so each starts from the weights of its own seed and is saved as any
/// other. On Flex each is computed to the bits that it has alone.
///
/// ```
/// use burn::module::Module;
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::Activation;
/// use gelu_models::{MlpCohort, MlpConfig};
///
/// let device = Device::default();
/// let networks = [(1, Activation::Gelu), (2, Activation::Relu)].map(|(seed, activation)| {
///     device.seed(seed);
///     MlpConfig::new(3, 4).with_width(16).with_activation(activation).init(&device)
/// });
/// let cohort = MlpCohort::of(&networks)?;
/// let logits = cohort.forward(Tensor::ones([2, 5, 3], &device));
/// assert_eq!(logits.dims(), [2, 5, 4]);
/// let saved = cohort.network(1).into_record();
/// assert!(networks[1].clone().try_load_record(saved).is_ok());
/// # Ok::<(), gelu_models::MlpCohortError>(())
/// ```
#[derive(Module, Debug)]
pub struct MlpCohort {
    hidden: Vec<CohortLinear>,
    output: CohortLinear,
    /// The activation and the dropout of each network's hidden layers.
    #[module(skip)]
    slices: Vec<(Unit, f64)>,
}

/// Why some networks make no cohort.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MlpCohortError {
    /// There is none.
    #[error("a cohort has at least one network")]
    Empty,
    /// Their layers differ in number or size.
    #[error(
        "network {index} has layers of {found:?}, expected {expected:?} as the first network has"
    )]
    Shape {
        /// Which network it is.
        index: usize,
        /// Inputs and outputs of its layers.
        found: Vec<[usize; 2]>,
        /// Those of the first network.
        expected: Vec<[usize; 2]>,
    },
    /// One has an activation that learns, draws or is the program's own.
    #[error(
        "network {index} has the activation {activation}, and a cohort has those without parameters and randomness \
         alone; train this network by itself"
    )]
    Activation {
        /// Which network it is.
        index: usize,
        /// What its activation is called.
        activation: String,
    },
}

impl MlpCohort {
    /// A cohort of these networks.
    ///
    /// # Errors
    ///
    /// If there is none, their sizes differ, or an activation has parameters, randomness or a function of the
    /// program's own.
    pub fn of(networks: &[Mlp]) -> Result<Self, MlpCohortError> {
        let expected = sizes(networks.first().ok_or(MlpCohortError::Empty)?);
        for (index, network) in networks.iter().enumerate() {
            let found = sizes(network);
            if found != expected {
                return Err(MlpCohortError::Shape { index, found, expected });
            }
        }
        let slices = networks.iter().enumerate().map(|(index, network)| slice(index, network));
        let depth = expected.len() - 1;
        let stacked = |layer: &dyn Fn(&Mlp) -> Linear| {
            CohortLinear::of(&networks.iter().map(layer).collect::<Vec<_>>())
        };
        Ok(Self {
            hidden: (0..depth)
                .map(|i| stacked(&|net: &Mlp| net.hidden[i].linear.clone()))
                .collect(),
            output: stacked(&|net: &Mlp| net.output.clone()),
            slices: slices.collect::<Result<_, _>>()?,
        })
    }

    /// How many networks there are.
    pub fn len(&self) -> usize {
        self.slices.len()
    }

    /// Whether there is none, which [`of`](Self::of) refuses.
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// How many times [`forward_train`](Self::forward_train) draws for a network: once for each hidden layer, if it
    /// drops any of their outputs.
    ///
    /// # Panics
    ///
    /// If there are no more networks than `index`.
    pub fn draws(&self, index: usize) -> usize {
        let (_, dropout) = self.slices[index];
        if dropout > 0.0 { self.hidden.len() } else { 0 }
    }

    /// One of the networks.
    ///
    /// # Panics
    ///
    /// If there are no more than `index`.
    pub fn network(&self, index: usize) -> Mlp {
        let (unit, dropout) = self.slices[index];
        let activation = Activation::from(unit);
        let layer =
            |layer: &CohortLinear| HiddenLayer::new(layer.slice(index), &activation, dropout);
        Mlp { hidden: self.hidden.iter().map(layer).collect(), output: self.output.slice(index) }
    }

    /// The networks' outputs, with dropout off.
    ///
    /// # Shapes
    ///
    /// - input: `[networks, batch, d_input]`
    /// - output: `[networks, batch, d_output]`
    ///
    /// # Panics
    ///
    /// If the input has another shape.
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        self.through(input, |_, _| None)
    }

    /// The same with dropout on: `draw` gives the random numbers of the next layer of a network, and is called for
    /// each of its hidden layers, first to last, if it drops any.
    ///
    /// # Panics
    ///
    /// As [`forward`](Self::forward).
    pub fn forward_train(
        &self,
        input: Tensor<3>,
        mut draw: impl FnMut(usize) -> Draw,
    ) -> Tensor<3> {
        self.through(input, |index, dropout| {
            (dropout > 0.0).then(|| SliceDropout::new(dropout, draw(index)))
        })
    }

    fn through(
        &self,
        input: Tensor<3>,
        mut dropout: impl FnMut(usize, f64) -> Option<SliceDropout>,
    ) -> Tensor<3> {
        let features = self.hidden.iter().fold(input, |x, layer| {
            let unit = |(index, &(unit, probability))| SliceUnit {
                unit,
                dropout: dropout(index, probability),
            };
            let units: SliceUnits = self.slices.iter().enumerate().map(unit).collect();
            layer.forward(x, &units)
        });
        self.output.forward_linear(features)
    }
}

/// Inputs and outputs of the layers.
fn sizes(network: &Mlp) -> Vec<[usize; 2]> {
    let hidden = network.hidden.iter().map(|layer| &layer.linear);
    hidden.chain([&network.output]).map(|layer| layer.weight.dims()).collect()
}

/// The activation and the dropout of a network's hidden layers.
fn slice(index: usize, network: &Mlp) -> Result<(Unit, f64), MlpCohortError> {
    // Without a hidden layer there is no activation.
    let Some(layer) = network.hidden.first() else { return Ok((Unit::Identity, 0.0)) };
    let unit = layer.activation.unit().ok_or_else(|| {
        let name = layer.activation.activation().map(|activation| activation.to_string());
        let activation = name.unwrap_or_else(|| "of Burn".to_owned());
        MlpCohortError::Activation { index, activation }
    })?;
    Ok((unit, layer.dropout.prob))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MlpConfig;
    use burn::tensor::{Device, TensorData};
    use gelu_core::random::{Draw, Key};

    fn network(seed: u64, activation: Activation, dropout: f64, device: &Device) -> Mlp {
        device.seed(seed);
        let config = MlpConfig::new(3, 4).with_depth(2).with_width(40).with_dropout(dropout);
        config.with_activation(activation).init(device)
    }

    fn networks(device: &Device) -> [Mlp; 3] {
        [
            network(1, Activation::Gelu, 0.0, device),
            network(2, Activation::Elu { alpha: 0.5 }, 0.3, device),
            network(3, Activation::Relu, 0.5, device),
        ]
    }

    fn input(device: &Device) -> Tensor<3> {
        let numbers: Vec<f32> = (0..3 * 50 * 3).map(|i| (i as f32 * 0.37).sin()).collect();
        Tensor::from_data(TensorData::new(numbers, [3, 50, 3]), device)
    }

    fn slice_of(x: &Tensor<3>, index: usize) -> Tensor<2> {
        x.clone().slice(index..index + 1).squeeze_dim(0)
    }

    fn bits(x: Tensor<2>) -> Vec<u32> {
        x.into_data().iter::<f32>().map(f32::to_bits).collect()
    }

    #[test]
    fn networks_give_what_they_give_alone() {
        let device = Device::default();
        let (networks, input) = (networks(&device), input(&device));
        let outputs = MlpCohort::of(&networks).unwrap().forward(input.clone());
        for (index, network) in networks.iter().enumerate() {
            let expected = network.forward(slice_of(&input, index));
            assert_eq!(bits(slice_of(&outputs, index)), bits(expected), "{index}");
        }
    }

    #[test]
    fn dropout_is_that_of_the_keys_a_network_draws_alone() {
        let device = Device::default().autodiff();
        let (networks, input) = (networks(&device), input(&device));
        let mut keys: Vec<Vec<Draw>> = Vec::new();
        for seed in 0..3 {
            device.seed(seed);
            keys.push((0..2).map(|_| Key::next(&device).draw()).collect());
        }
        let mut drawn = [0; 3];
        let cohort = MlpCohort::of(&networks).unwrap();
        let outputs = cohort.forward_train(input.clone(), |index| {
            drawn[index] += 1;
            keys[index][drawn[index] - 1]
        });
        assert_eq!(drawn, [0, 2, 2], "nothing is drawn where nothing drops");
        for (index, network) in networks.iter().enumerate() {
            device.seed(index as u64);
            let expected = network.forward(slice_of(&input, index));
            assert_eq!(bits(slice_of(&outputs, index)), bits(expected), "{index}");
        }
        assert_ne!(bits(slice_of(&cohort.forward(input), 1)), bits(slice_of(&outputs, 1)));
    }

    #[test]
    fn a_network_is_given_back_as_it_was() {
        let device = Device::default();
        let networks = networks(&device);
        let cohort = MlpCohort::of(&networks).unwrap();
        assert_eq!((cohort.len(), cohort.is_empty()), (3, false));
        for (index, network) in networks.iter().enumerate() {
            let back = cohort.network(index);
            let saved = |network: &Mlp| {
                let layers = network.hidden.iter().map(|layer| &layer.linear);
                let of = |layer: &Linear| {
                    let bias = layer.bias.as_ref().unwrap().val().unsqueeze::<2>();
                    [bits(layer.weight.val()), bits(bias)].concat()
                };
                layers.chain([&network.output]).map(of).collect::<Vec<_>>()
            };
            assert_eq!(saved(&back), saved(network));
            assert_eq!(back.hidden[0].activation.unit(), network.hidden[0].activation.unit());
            assert_eq!(back.hidden[0].dropout.prob, network.hidden[0].dropout.prob);
            // Under the names of any other.
            let record = back.into_record();
            let loaded = network.clone().try_load_record(record).unwrap();
            assert_eq!(saved(&loaded), saved(network));
        }
    }

    #[test]
    fn networks_that_differ_too_much_are_refused() {
        let device = Device::default();
        assert_eq!(MlpCohort::of(&[]).unwrap_err(), MlpCohortError::Empty);
        let [first, ..] = networks(&device);
        let wider = MlpConfig::new(3, 4).with_depth(2).with_width(41).init(&device);
        let error = MlpCohort::of(&[first.clone(), wider]).unwrap_err().to_string();
        assert!(error.contains("network 1 has layers of [[3, 41], [41, 41], [41, 4]]"), "{error}");
        let learned = network(4, Activation::PRelu, 0.0, &device);
        let error = MlpCohort::of(&[first, learned]).unwrap_err().to_string();
        assert!(error.contains("network 1 has the activation prelu"), "{error}");
    }
}
