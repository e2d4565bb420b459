#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Which half of the last dimension of a gated unit's input is the gate, the one that goes through
/// the activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum GateHalf {
    /// `[gate, value]`: the fused `gate_up_proj` of Hugging Face's models (Phi-3, GLM-4, Llama 4's
    /// experts), `xW, xV` of Shazeer's paper.
    #[default]
    First,
    /// `[value, gate]`: `torch.nn.functional.glu`, and GEGLU in Hugging Face's diffusers.
    Last,
}
