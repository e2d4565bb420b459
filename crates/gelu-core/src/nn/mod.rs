//! Modules for Burn models.

mod activation_layer;
mod by_hand;
mod channels;
mod encoder;
#[cfg(all(test, feature = "autodiff"))]
mod extremes;
mod feed_forward;
mod gated_feed_forward;
mod gelu;
mod hidden_layer;
mod learnable_gelu;
mod learnable_swish;
mod learned_activation;
mod parts;
mod poly_norm;
mod stochastic_gelu;
#[cfg(feature = "std")]
mod unfused;
mod width;
mod xielu;

pub use activation_layer::ActivationLayer;
pub use channels::Channels;
pub use encoder::{Encoder, EncoderLayer};
pub use feed_forward::{FeedForward, FeedForwardConfig};
pub use gated_feed_forward::{GatedFeedForward, GatedFeedForwardConfig};
pub use gelu::{Approximation, GeluLayer, GeluLayerConfig};
pub use hidden_layer::{HiddenLayer, HiddenLayerConfig};
pub use learnable_gelu::{LearnableGelu, LearnableGeluConfig};
pub use learnable_swish::{LearnableSwish, LearnableSwishConfig};
pub use learned_activation::LearnedActivation;
pub use poly_norm::{PolyNorm, PolyNormConfig};
pub use stochastic_gelu::StochasticGelu;
#[cfg(feature = "std")]
pub use unfused::Unfused;
pub use xielu::{Xielu, XieluConfig};
