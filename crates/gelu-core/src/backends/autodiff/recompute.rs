/// Computes an output again, where gradient checkpointing has dropped it.
#[derive(Debug)]
pub(super) struct Recompute<S>(pub(super) S);
