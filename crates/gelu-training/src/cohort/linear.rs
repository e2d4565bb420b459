use super::{CohortOps, SliceUnits};
use crate::backends::dispatched;
use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_nn::Linear;
use gelu_core::functional::Unit;

/// A linear layer of each network of a cohort.
#[derive(Module, Debug)]
pub struct CohortLinear {
    /// `[slices, inputs, outputs]`
    pub weight: Param<Tensor<3>>,
    /// `[slices, 1, outputs]`
    pub bias: Param<Tensor<3>>,
}

impl CohortLinear {
    /// The same layer of some networks, each with its own parameters.
    ///
    /// # Panics
    ///
    /// If there is none, their sizes differ, or one has no bias.
    pub fn of(layers: &[Linear]) -> Self {
        let dims = |layer: &Linear| layer.weight.dims();
        let first = dims(layers.first().expect("a cohort has at least one network"));
        for (index, layer) in layers.iter().enumerate() {
            let found = dims(layer);
            assert!(found == first, "layer {index} is {found:?}, expected {first:?} as the first");
        }
        let bias = |layer: &Linear| {
            let bias = layer.bias.as_ref().expect("a layer of a cohort has a bias");
            bias.val().unsqueeze::<2>()
        };
        let weights = layers.iter().map(|layer| layer.weight.val()).collect();
        let biases = layers.iter().map(bias).collect();
        Self {
            weight: Param::from_tensor(Tensor::stack(weights, 0).detach()),
            bias: Param::from_tensor(Tensor::stack(biases, 0).detach()),
        }
    }

    /// The layer of one network.
    ///
    /// # Panics
    ///
    /// If there are no more than `index` networks.
    pub fn slice(&self, index: usize) -> Linear {
        let [slices, inputs, outputs] = self.weight.dims();
        assert!(index < slices, "there is no network {index}, as there are {slices}");
        let weight = self.weight.val().slice(index..index + 1);
        let bias = self.bias.val().slice(index..index + 1);
        Linear {
            weight: Param::from_tensor(weight.reshape([inputs, outputs]).detach()),
            bias: Some(Param::from_tensor(bias.reshape([outputs]).detach())),
        }
    }

    /// How many networks there are.
    pub fn slices(&self) -> usize {
        self.weight.dims()[0]
    }

    /// `drop(unit(x·weight + bias))` of each network, by its own unit and dropout.
    ///
    /// # Shapes
    ///
    /// - x: `[slices, batch, inputs]`
    /// - output: `[slices, batch, outputs]`
    ///
    /// # Panics
    ///
    /// If the inputs are not the layers', there are not as many units as networks, or a unit's parameter is out of
    /// range ([`Unit::validated`]).
    pub fn forward(&self, x: Tensor<3>, units: &SliceUnits) -> Tensor<3> {
        let ([found, _, inputs], [slices, expected, _]) = (x.dims(), self.weight.dims());
        assert_eq!(
            [found, inputs],
            [slices, expected],
            "{slices} layers of {expected} inputs got {found} slices of {inputs}"
        );
        let count = units.slices().len();
        assert_eq!(count, slices, "{slices} networks need a unit each, got {count}");
        let units = units.in_type(x.dtype());
        let [x, weight, bias] = [x, self.weight.val(), self.bias.val()].map(dispatched);
        let product = Dispatch::cohort_product(x, weight);
        Tensor::from_dispatch(Dispatch::cohort_activation(product, bias, units))
    }

    /// `x·weight + bias` of each network: [`forward`](Self::forward) without activations.
    ///
    /// # Panics
    ///
    /// If the inputs are not the layers'.
    pub fn forward_linear(&self, x: Tensor<3>) -> Tensor<3> {
        self.forward(x, &SliceUnits::all(Unit::Identity, self.slices()))
    }
}
