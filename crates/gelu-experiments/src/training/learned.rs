use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use gelu_compare::comparison::statistics::median;
use serde::Serialize;

/// The learned parameters of a layer's learnable GELU, `x·Φ((x − μ)/σ)` (§2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearnedGelu {
    /// The layer's path in the network: `hidden.0`.
    pub layer: String,
    /// μ; initially 0.
    pub mean: Spread,
    /// σ; initially 1.
    pub standard_deviation: Spread,
}

/// Summary of a parameter over the channels of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Smallest value.
    pub lowest: f64,
    /// Median.
    pub median: f64,
    /// Largest value.
    pub highest: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let lowest = values.iter().copied().min_by(f64::total_cmp)?;
        let highest = values.iter().copied().max_by(f64::total_cmp)?;
        Some(Self { lowest, median: median(values.iter().copied())?, highest })
    }
}

/// Returns the learnable GELUs of a network, from its input to its output; empty if it has another activation.
pub fn learned_gelus(network: &impl Module) -> Vec<LearnedGelu> {
    let mut visitor = Learned::default();
    network.visit(&mut visitor);
    visitor.found
}

/// The struct whose fields to visit, as Burn names it to visitors.
const CONTAINER: &str = "Struct:LearnableGelu";

#[derive(Default)]
struct Learned {
    path: Vec<String>,
    container: String,
    mean: Option<Spread>,
    found: Vec<LearnedGelu>,
}

impl ModuleVisitor for Learned {
    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.path.push(name.to_owned());
        self.container = container_type.to_owned();
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if self.container != CONTAINER {
            return;
        }
        let values: Vec<f64> = param.val().into_data().iter::<f64>().collect();
        match self.path.last().map(String::as_str) {
            Some("mean") => self.mean = Spread::of(&values),
            Some("log_standard_deviation") => {
                let values: Vec<f64> = values.into_iter().map(f64::exp).collect();
                let (mean, deviation) = (self.mean.take(), Spread::of(&values));
                if let (Some(mean), Some(standard_deviation)) = (mean, deviation) {
                    let layer = self.layer();
                    self.found.push(LearnedGelu { layer, mean, standard_deviation });
                }
            }
            _ => {}
        }
    }
}

impl Learned {
    /// Returns the layer's path, without the kind of the network in front and the activation's own fields at the end.
    fn layer(&self) -> String {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let path = match path.as_slice() {
            ["architecture", _, inside @ .., _] | [inside @ .., _] => inside,
            [] => &[],
        };
        let end = path.iter().position(|name| matches!(*name, "activation" | "learnable"));
        path[..end.unwrap_or(path.len())].join(".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use gelu_core::Activation;
    use gelu_models::MlpConfig;

    #[test]
    fn every_layer_that_learns_its_gelu_is_found() {
        let network = |activation| {
            let config = MlpConfig::new(3, 2).with_depth(2).with_width(4);
            config.with_activation(activation).init(&Device::default())
        };
        let learned = learned_gelus(&network(Activation::LearnableGelu));
        let layers: Vec<&str> = learned.iter().map(|gelu| gelu.layer.as_str()).collect();
        assert_eq!(layers, ["hidden.0", "hidden.1"]);
        for gelu in &learned {
            let at = |value: f64| Spread { lowest: value, median: value, highest: value };
            assert_eq!((gelu.mean, gelu.standard_deviation), (at(0.0), at(1.0)));
        }
        assert_eq!(learned_gelus(&network(Activation::Gelu)), []);
    }
}
