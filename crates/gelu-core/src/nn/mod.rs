//! Modules for Burn models.

mod activation_layer;
mod channels;
mod encoder;
mod feed_forward;
mod gated_feed_forward;
mod gelu;
mod hidden_layer;
mod learnable_gelu;
mod stochastic_gelu;
mod unfused;

pub use activation_layer::ActivationLayer;
pub use channels::Channels;
pub use encoder::{Encoder, EncoderLayer};
pub use feed_forward::{FeedForward, FeedForwardConfig};
pub use gated_feed_forward::{GatedFeedForward, GatedFeedForwardConfig};
pub use gelu::{Approximation, GeluLayer, GeluLayerConfig};
pub use hidden_layer::{HiddenLayer, HiddenLayerConfig};
pub use learnable_gelu::{LearnableGelu, LearnableGeluConfig};
pub use stochastic_gelu::StochasticGelu;
pub use unfused::Unfused;
