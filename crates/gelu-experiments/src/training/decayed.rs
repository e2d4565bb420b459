//! Selects the parameters for a weight decay or penalty. The rank of a parameter and the kind of its module decide.
//! The name does not, because a `PolyNorm` also calls its coefficients `weight`.

use burn::module::{Module, ModuleVisitor, Param, ParamGroup, ParamId};
use burn::tensor::Tensor;

/// The modules whose `gamma` scales normalised values, as Burn names them to visitors.
const NORMS: [&str; 3] = ["Struct:BatchNorm", "Struct:LayerNorm", "Struct:RmsNorm"];

/// Returns the parameters of two or more dimensions: the weights of layers and embeddings.
pub(super) fn matrices(network: &impl Module) -> ParamGroup {
    collected(network, false)
}

/// Returns [`matrices`] and the scales of norms.
pub(super) fn matrices_and_scales(network: &impl Module) -> ParamGroup {
    collected(network, true)
}

fn collected(network: &impl Module, scales: bool) -> ParamGroup {
    let mut decayed = Decayed { scales, at_scale: false, found: Vec::new() };
    network.visit(&mut decayed);
    ParamGroup::from_ids(decayed.found)
}

struct Decayed {
    /// Whether to include the scales of norms.
    scales: bool,
    /// Whether the field that the visitor entered last is a scale.
    at_scale: bool,
    found: Vec<ParamId>,
}

impl ModuleVisitor for Decayed {
    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.at_scale = name == "gamma" && NORMS.contains(&container_type);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if D >= 2 || (self.scales && self.at_scale) {
            self.found.push(param.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use gelu_core::Activation;
    use gelu_learner::activation::NamedActivation;
    use gelu_models::{
        AirbenchConfig, CnnConfig, GptConfig, GptMlp, GptNorm, MlpConfig, PatchWhitening,
        WideResNetConfig,
    };

    /// Trained parameters by path, and whether they are in a group.
    struct Listed {
        path: Vec<String>,
        group: ParamGroup,
        found: Vec<String>,
    }

    impl ModuleVisitor for Listed {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.path.push(name.to_owned());
        }

        fn exit_module(&mut self, _: &str, _: &str) {
            self.path.pop();
        }

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if self.group.matches(&param.id, None) {
                self.found.push(self.path.join("."));
            }
        }
    }

    fn names(network: &impl Module, group: ParamGroup) -> Vec<String> {
        let mut listed = Listed { path: Vec::new(), group, found: Vec::new() };
        network.visit(&mut listed);
        listed.found
    }

    #[test]
    fn matrices_of_a_gpt_decay_and_nothing_else() {
        let device = Device::default();
        let learned: NamedActivation = "mine=x*sigmoid({b=1}*x)".parse().unwrap();
        let plain = ["Plain.linear_inner", "Plain.linear_outer"].as_slice();
        for (mlp, inside) in [
            (GptMlp::Plain(Activation::Gelu), plain),
            (GptMlp::Plain(Activation::Xielu), plain),
            (GptMlp::Plain(Activation::LearnableGelu), plain),
            (GptMlp::Plain(Activation::LearnableSwish), plain),
            (GptMlp::Plain(learned.activation().unwrap().clone()), plain),
            (GptMlp::Gated(Activation::Silu), &["Gated.gate_up", "Gated.down"]),
            (GptMlp::PolyNorm, &["PolyNorm.linear_inner", "PolyNorm.linear_outer"]),
        ] {
            let config = GptConfig::new(7).with_layers(1).with_width(8).with_heads(2);
            for norm in [GptNorm::Layer, GptNorm::Rms] {
                let network = config.clone().with_mlp(mlp.clone()).with_norm(norm).init(&device);
                let layers = ["blocks.0.attention.qkv", "blocks.0.attention.output"];
                let of_mlp = inside.iter().map(|layer| format!("blocks.0.mlp.{layer}"));
                let expected: Vec<String> = ["tokens", "positions"]
                    .into_iter()
                    .chain(layers)
                    .map(str::to_owned)
                    .chain(of_mlp)
                    .map(|layer| layer + ".weight")
                    .collect();
                assert_eq!(names(&network, matrices(&network)), expected, "{mlp:?}");
            }
        }
    }

    #[test]
    fn penalty_is_over_weights_and_scales_of_norms() {
        let device = Device::default();
        let check = |found: Vec<String>, expected: &[&str]| assert_eq!(found, expected);

        let mlp = MlpConfig::new(3, 2).with_depth(1).with_width(4);
        let mlp = mlp.with_activation(Activation::PRelu).init(&device);
        let expected = ["hidden.0.linear.weight", "output.weight"];
        check(names(&mlp, matrices_and_scales(&mlp)), &expected);

        let gpt = GptConfig::new(7).with_layers(0).with_width(8).init(&device);
        let expected = ["tokens.weight", "positions.weight", "norm.Layer.gamma"];
        check(names(&gpt, matrices_and_scales(&gpt)), &expected);
        check(names(&gpt, matrices(&gpt)), &expected[..2]);

        let whitening = PatchWhitening::identity(3, &device);
        let airbench = AirbenchConfig::new().with_widths([4, 4, 4]).init(whitening, &device);
        let blocks = (0..3).flat_map(|block| {
            ["convolutions.0.weight", "convolutions.1.weight", "norms.0.gamma", "norms.1.gamma"]
                .map(|name| format!("blocks.{block}.{name}"))
        });
        // The whitening is state without a gradient; no optimiser changes it.
        let ends = ["whitening.weight", "output.weight"].map(str::to_owned);
        let [first, last] = ends.map(|name| [name].into_iter());
        let expected: Vec<String> = first.chain(blocks).chain(last).collect();
        assert_eq!(names(&airbench, matrices_and_scales(&airbench)), expected);

        // 9 convolutions with a batch norm each, and the weights of the output with its norm.
        let cnn = CnnConfig::new().with_widths([4, 4]).init(&device);
        let found = names(&cnn, matrices_and_scales(&cnn));
        let ends = |end: &str| found.iter().filter(|name| name.ends_with(end)).count();
        assert_eq!((ends(".weight"), ends(".gamma"), found.len()), (10, 10, 20), "{found:?}");

        // Depth 10: the stem, three blocks of two convolutions with a shortcut, the output; two norms of the stem,
        // one per block and one at the end.
        let wide = WideResNetConfig::new(2).with_depth(10).with_width(1).init(&device);
        let found = names(&wide, matrices_and_scales(&wide));
        let ends = |end: &str| found.iter().filter(|name| name.ends_with(end)).count();
        assert_eq!((ends(".weight"), ends(".gamma"), found.len()), (11, 6, 17), "{found:?}");
    }
}
