use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::Result;
use clap::{Arg, Command};
use gelu_core::Activation;
use gelu_learner::activation::NamedActivation;
use std::ffi::OsStr;

/// A text argument with suggestions for help and shell completions. It accepts any text; a later parser reports
/// errors.
#[derive(Clone, Debug)]
pub(super) struct Suggested(Vec<&'static str>);

impl Suggested {
    /// Suggests the built-in activations and gated units.
    pub(super) fn activations() -> Self {
        // Clap needs static strings.
        let leaked = |activation: &Activation| &*activation.name().into_owned().leak();
        let built_in = Activation::built_in();
        Self(built_in.iter().map(leaked).chain(NamedActivation::others()).collect())
    }

    /// Suggests all backends, whether this build has them or not.
    pub(super) fn devices() -> Self {
        Self(gelu_learner::device::DeviceName::all_backends().collect())
    }

    /// Suggests the built-in recipes.
    pub(super) fn experiments() -> Self {
        Self(crate::recipe::Recipe::names())
    }

    /// Suggests the data sets.
    pub(super) fn data_sets() -> Self {
        Self(crate::data::catalogue().iter().map(|set| set.name).collect())
    }
}

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().copied().map(PossibleValue::new)))
    }
}
