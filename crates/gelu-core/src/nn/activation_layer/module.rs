//! A manual implementation of `Module`. Burn's derive needs a module in every variant, and two variants have
//! none. The layer is transparent: the module inside it has the layer's path in records, so the module's
//! records load into the layer and back.

use super::ActivationLayer;
use crate::Channels;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use burn_core::module::{
    Content, Devices, DisplaySettings, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper,
    ModuleVisitor,
};
use burn_core::tensor::Device;
use core::fmt;

/// Returns the same layer with its inner module, `$module`, replaced by `$same`.
macro_rules! with_module {
    ($layer:expr, $module:ident => $same:expr) => {
        match $layer {
            Self::Unit(unit) => Self::Unit(unit),
            Self::Custom(function) => Self::Custom(function),
            Self::Learned($module) => Self::Learned($same),
            Self::Soi($module) => Self::Soi($same),
            Self::LearnableGelu($module) => Self::LearnableGelu($same),
            Self::LearnableSwish($module) => Self::LearnableSwish($same),
            Self::Xielu($module) => Self::Xielu($same),
            Self::PRelu($module, channels) => Self::PRelu($same, channels),
            Self::Burn(module) => {
                let $module = *module;
                Self::Burn(Box::new($same))
            }
        }
    };
}

impl ActivationLayer {
    /// Returns the name that a printed module shows.
    pub(in super::super) fn name(&self) -> String {
        match self {
            Self::Burn(layer) => {
                // Burn's derive prints the variant's name.
                let content = layer.content(Content::new(DisplaySettings::new()));
                content.and_then(|content| content.top_level_type).unwrap_or_default()
            }
            _ => self.activation().map(|activation| activation.to_string()).unwrap_or_default(),
        }
    }

    fn channels(&self) -> Option<Channels> {
        match self {
            Self::Learned(layer) => Some(layer.channels),
            Self::LearnableGelu(layer) => Some(layer.channels),
            Self::LearnableSwish(layer) => Some(layer.channels),
            Self::Xielu(layer) => Some(layer.channels),
            Self::PRelu(_, channels) => Some(*channels),
            Self::Unit(_) | Self::Custom(_) | Self::Soi(_) | Self::Burn(_) => None,
        }
    }
}

impl Module for ActivationLayer {
    fn collect_devices(&self, devices: Devices) -> Devices {
        match self {
            Self::Unit(_) | Self::Custom(_) => devices,
            Self::Learned(module) => module.collect_devices(devices),
            Self::Soi(module) => module.collect_devices(devices),
            Self::LearnableGelu(module) => module.collect_devices(devices),
            Self::LearnableSwish(module) => module.collect_devices(devices),
            Self::Xielu(module) => module.collect_devices(devices),
            Self::PRelu(module, _) => module.collect_devices(devices),
            Self::Burn(module) => module.collect_devices(devices),
        }
    }

    fn fork(self, device: &Device) -> Self {
        with_module!(self, module => module.fork(device))
    }

    fn to_device(self, device: &Device) -> Self {
        with_module!(self, module => module.to_device(device))
    }

    fn train(self) -> Self {
        with_module!(self, module => module.train())
    }

    fn valid(&self) -> Self {
        with_module!(self.clone(), module => module.valid())
    }

    fn materialize(self) -> Self {
        with_module!(self, module => module.materialize())
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        match self {
            Self::Unit(_) | Self::Custom(_) => {}
            Self::Learned(module) => module.visit(visitor),
            Self::Soi(module) => module.visit(visitor),
            Self::LearnableGelu(module) => module.visit(visitor),
            Self::LearnableSwish(module) => module.visit(visitor),
            Self::Xielu(module) => module.visit(visitor),
            Self::PRelu(module, _) => module.visit(visitor),
            Self::Burn(module) => module.visit(visitor),
        }
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        with_module!(self, module => module.map(mapper))
    }
}

impl ModuleDisplayDefault for ActivationLayer {
    fn content(&self, content: Content) -> Option<Content> {
        let content = content.set_top_level_type("ActivationLayer").add("activation", &self.name());
        match self.channels() {
            Some(channels) => content.add("channels", &format!("{channels:?}")),
            None => content,
        }
        .optional()
    }

    fn num_params(&self) -> usize {
        Module::num_params(self)
    }
}

impl ModuleDisplay for ActivationLayer {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }
}

impl fmt::Display for ActivationLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format(DisplaySettings::default()))
    }
}
