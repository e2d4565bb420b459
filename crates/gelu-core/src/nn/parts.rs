//! Presents fused layers as separate layers, for the walks of an [`Unfused`](super::Unfused).

use crate::GateHalf;
use alloc::string::String;
use burn::module::{Flag, Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Bool, Device, FloatDType, Int, Tensor};
use burn_core as burn;
use burn_nn::Linear;

/// The names of the layers of a gated block.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) gate: String,
    pub(super) up: String,
    pub(super) down: String,
}

impl Names {
    /// Returns the name of the layer with the first half of `gate_up`, and the name of the layer with the
    /// last.
    pub(super) fn of_halves(&self, gate: GateHalf) -> [&str; 2] {
        match gate {
            GateHalf::First => [&self.gate, &self.up],
            GateHalf::Last => [&self.up, &self.gate],
        }
    }
}

#[cfg(feature = "std")]
std::thread_local! {
    /// The names that modules use for their parts, or none if they present themselves as they are. Burn's walks pass no
    /// message to the modules that they visit, so a thread-local variable does.
    pub(super) static NAMES: core::cell::RefCell<Option<Names>> =
        const { core::cell::RefCell::new(None) };
}

/// Returns the names that modules have to use for their parts, or `None` if this thread does not walk an
/// `Unfused`.
pub(super) fn names() -> Option<Names> {
    #[cfg(feature = "std")]
    return NAMES.with_borrow(Clone::clone);
    #[cfg(not(feature = "std"))]
    None
}

/// Presents the layer to a visitor as two layers with half of its outputs each.
pub(super) fn visit_halves<V: ModuleVisitor>(linear: &Linear, layers: [&str; 2], visitor: &mut V) {
    linear.weight.visit(&mut Halves::new(visitor, layers, "weight"));
    linear.bias.visit(&mut Halves::new(visitor, layers, "bias"));
}

/// Maps the layer as two layers with half of its outputs each.
pub(super) fn map_halves<M: ModuleMapper>(
    linear: Linear,
    layers: [&str; 2],
    mapper: &mut M,
) -> Linear {
    let Linear { weight, bias } = linear;
    Linear {
        weight: Module::map(weight, &mut Halves::new(mapper, layers, "weight")),
        bias: Module::map(bias, &mut Halves::new(mapper, layers, "bias")),
    }
}

/// Presents the halves of one parameter in their layers. Modules that are attached to the parameter, such
/// as LoRA's factors, belong to both halves; the walk visits them in the joined layer, `gate_up`.
struct Halves<'a, W> {
    walker: &'a mut W,
    layers: [&'a str; 2],
    parameter: &'static str,
    /// The depth of the walk within an attached module.
    depth: usize,
}

impl<'a, W> Halves<'a, W> {
    fn new(walker: &'a mut W, layers: [&'a str; 2], parameter: &'static str) -> Self {
        Self { walker, layers, parameter, depth: 0 }
    }
}

/// Returns one half of the last dimension, computed on first use.
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

/// Returns the parameter with the values of its halves.
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

/// The code that both kinds of walk share: walking into attached modules, and working on a parameter
/// below a layer's name.
macro_rules! walk {
    () => {
        fn enter_module(&mut self, name: &str, container: &str) {
            if self.depth == 0 {
                self.walker.enter_module("gate_up", BLOCK);
                self.walker.enter_module(self.parameter, LAYER);
            }
            self.depth += 1;
            self.walker.enter_module(name, container);
        }

        fn exit_module(&mut self, name: &str, container: &str) {
            self.walker.exit_module(name, container);
            self.depth -= 1;
            if self.depth == 0 {
                self.walker.exit_module(self.parameter, LAYER);
                self.walker.exit_module("gate_up", BLOCK);
            }
        }
    };
    ($walk:ident, $layer:expr, $work:expr) => {{
        $walk.walker.enter_module($layer, BLOCK);
        $walk.walker.enter_module($walk.parameter, LAYER);
        let result = $work;
        $walk.walker.exit_module($walk.parameter, LAYER);
        $walk.walker.exit_module($layer, BLOCK);
        result
    }};
}

/// The container names that a derive gives to the block and to its layers.
const BLOCK: &str = "Struct:GatedFeedForward";
const LAYER: &str = "Struct:Linear";

impl<V: ModuleVisitor> ModuleVisitor for Halves<'_, V> {
    walk!();

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if self.depth > 0 {
            return self.walker.visit_float(param);
        }
        for (index, layer) in self.layers.into_iter().enumerate() {
            walk!(self, layer, self.walker.visit_float(&half(param, index)));
        }
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        self.walker.visit_int(param);
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        self.walker.visit_bool(param);
    }

    fn visit_flag(&mut self, flag: &Param<Flag>) {
        self.walker.visit_flag(flag);
    }
}

impl<M: ModuleMapper> ModuleMapper for Halves<'_, M> {
    walk!();

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if self.depth > 0 {
            return self.walker.map_float(param);
        }
        let [first, last] = self.layers;
        let first = walk!(self, first, self.walker.map_float(half(&param, 0)));
        let last = walk!(self, last, self.walker.map_float(half(&param, 1)));
        joined(param, [first, last])
    }

    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        self.walker.map_int(param)
    }

    fn map_bool<const D: usize>(
        &mut self,
        param: Param<Tensor<D, Bool>>,
    ) -> Param<Tensor<D, Bool>> {
        self.walker.map_bool(param)
    }

    fn map_flag(&mut self, flag: Param<Flag>) -> Param<Flag> {
        self.walker.map_flag(flag)
    }
}
