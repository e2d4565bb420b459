use burn::module::{
    Content, DisplaySettings, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper,
    ModuleVisitor,
};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::conv::Conv2d;
use burn_nn::pool::MaxPool2d;
use burn_nn::{BatchNorm, Dropout, Linear, RmsNorm};
use core::fmt::{self, Display, Formatter};
use core::ops::{Deref, DerefMut};
use gelu_core::{ActivationLayer, HiddenLayer};

/// A layer of Burn's, or gelu-core's hidden layer, whose `forward` runs by this crate's operations.
///
/// Its records are those of the layer within, so that a trained network loads as it is. What else the
/// layer has, its parameters among it, is reached as if it were the layer itself.
///
/// | around | runs by |
/// |---|---|
/// | [`Linear`] | [`linear`](super::linear) |
/// | [`HiddenLayer`] | [`hidden_layer`](super::hidden_layer) |
/// | [`Conv2d`] | [`conv2d`](super::conv2d) |
/// | [`MaxPool2d`] | [`max_pool2d`](super::max_pool2d) |
/// | [`BatchNorm`] | [`batch_norm`](super::batch_norm), and [`batch_norm_activation`](super::batch_norm_activation) |
/// | [`RmsNorm`] | [`rms_norm`](super::rms_norm) |
/// | [`Dropout`] | [`dropout`](super::dropout) |
///
/// ```
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::tensor::{Device, Tensor};
/// use gelu_training::layers::Fast;
///
/// #[derive(Module, Debug)]
/// struct Network {
///     layer: Fast<Linear>, // was: layer: Linear
/// }
///
/// let device = Device::default();
/// let layer = LinearConfig::new(3, 2).init(&device);
/// let network = Network { layer: Fast(layer) };
/// let y = network.layer.forward(Tensor::<3>::ones([5, 4, 3], &device));
/// assert_eq!(y.dims(), [5, 4, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct Fast<M>(
    /// The layer within.
    pub M,
);

impl Fast<Linear> {
    /// As [`linear`](super::linear).
    ///
    /// # Panics
    ///
    /// If the last dimension of the input is not the layer's.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        super::linear(self, input)
    }
}

impl Fast<HiddenLayer> {
    /// As [`hidden_layer`](super::hidden_layer).
    ///
    /// # Panics
    ///
    /// If the last dimension of the input is not the layer's.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        super::hidden_layer(self, input)
    }
}

impl Fast<Conv2d> {
    /// As [`conv2d`](super::conv2d).
    ///
    /// # Panics
    ///
    /// If the channels are not the layer's, or the kernel is larger than the padded input.
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        super::conv2d(self, input)
    }
}

impl Fast<MaxPool2d> {
    /// As [`max_pool2d`](super::max_pool2d).
    ///
    /// # Panics
    ///
    /// If the kernel is larger than the padded input.
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        super::max_pool2d(self, input)
    }
}

impl Fast<BatchNorm> {
    /// As [`batch_norm`](super::batch_norm).
    ///
    /// # Panics
    ///
    /// As [`batch_norm`](super::batch_norm) does.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        super::batch_norm(self, input)
    }

    /// As [`batch_norm_activation`](super::batch_norm_activation).
    ///
    /// # Panics
    ///
    /// As [`forward`](Self::forward) does.
    pub fn forward_activation<const D: usize>(
        &self,
        activation: &ActivationLayer,
        input: Tensor<D>,
    ) -> Tensor<D> {
        super::batch_norm_activation(self, activation, input)
    }
}

impl Fast<RmsNorm> {
    /// As [`rms_norm`](super::rms_norm).
    ///
    /// # Panics
    ///
    /// If the last dimension of the input is not the layer's.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        super::rms_norm(self, input)
    }
}

impl Fast<Dropout> {
    /// As [`dropout`](super::dropout).
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        super::dropout(self, input)
    }
}

impl<M> From<M> for Fast<M> {
    fn from(layer: M) -> Self {
        Self(layer)
    }
}

impl<M> Deref for Fast<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
}

impl<M> DerefMut for Fast<M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.0
    }
}

impl<M: Module> Module for Fast<M> {
    fn collect_devices(&self, devices: Vec<Device>) -> Vec<Device> {
        self.0.collect_devices(devices)
    }

    fn fork(self, device: &Device) -> Self {
        Self(self.0.fork(device))
    }

    fn to_device(self, device: &Device) -> Self {
        Self(self.0.to_device(device))
    }

    fn train(self) -> Self {
        Self(self.0.train())
    }

    fn valid(&self) -> Self {
        Self(self.0.valid())
    }

    fn materialize(self) -> Self {
        Self(self.0.materialize())
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        self.0.visit(visitor);
    }

    fn map<V: ModuleMapper>(self, mapper: &mut V) -> Self {
        Self(self.0.map(mapper))
    }
}

impl<M: ModuleDisplay> Display for Fast<M> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&ModuleDisplay::format(self, DisplaySettings::default()))
    }
}

impl<M: ModuleDisplay> ModuleDisplayDefault for Fast<M> {
    fn content(&self, content: Content) -> Option<Content> {
        self.0.content(content)
    }

    fn num_params(&self) -> usize {
        ModuleDisplayDefault::num_params(&self.0)
    }
}

impl<M: ModuleDisplay> ModuleDisplay for Fast<M> {
    fn format(&self, settings: DisplaySettings) -> String {
        self.0.format(settings)
    }

    fn custom_settings(&self) -> Option<DisplaySettings> {
        self.0.custom_settings()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        self.0.custom_content(content)
    }
}
