#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// The half of a gated unit's input that is the gate. Inputs are split along the last dimension,
/// and the activation is applied to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum GateHalf {
    /// The layout `[gate, value]`: the fused `gate_up_proj` of Hugging Face's models (Phi-3, GLM-4,
    /// Llama 4's experts), and `xW, xV` of Shazeer's paper.
    #[default]
    First,
    /// The layout `[value, gate]`: `torch.nn.functional.glu`, and GEGLU in Hugging Face's
    /// diffusers.
    Last,
}
