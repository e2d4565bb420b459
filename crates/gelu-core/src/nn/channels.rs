use serde::{Deserialize, Serialize};

/// The number of a learnable activation's parameters, and the dimension of its input that they
/// belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Channels {
    /// One parameter for the whole tensor, of any shape.
    #[default]
    Shared,
    /// One parameter for each index of dimension 1: `[batch, channels, ...]`, as in the outputs of
    /// convolutions.
    First(usize),
    /// One parameter for each index of the last dimension: `[..., channels]`, as in the outputs of
    /// linear layers.
    Last(usize),
}

impl Channels {
    /// Returns the number of parameters: 1 if they are shared.
    pub fn count(self) -> usize {
        match self {
            Self::Shared => 1,
            Self::First(count) | Self::Last(count) => count,
        }
    }

    /// Returns [`count`](Self::count) for a new layer. `layer` is the layer's name in the message.
    ///
    /// # Panics
    ///
    /// If there are no channels.
    pub(super) fn count_for(self, layer: &str) -> usize {
        assert!(self.count() > 0, "{layer} needs at least one channel, got {self:?}");
        self.count()
    }

    /// Returns the shape that makes the parameters broadcast over a tensor of shape `dims`. `layer`
    /// is the layer's name in the message.
    ///
    /// # Panics
    ///
    /// If the tensor has a different number of channels.
    pub(super) fn broadcast<const D: usize>(self, dims: [usize; D], layer: &str) -> [usize; D] {
        let mut shape = [1; D];
        let (axis, count, place, other) = match self {
            Self::Shared => return shape,
            Self::First(count) => (1, count, "dimension 1", "Channels::Last after a linear layer"),
            Self::Last(count) => (
                D.wrapping_sub(1),
                count,
                "the last dimension",
                "Channels::First after a convolution",
            ),
        };
        assert!(
            dims.get(axis) == Some(&count),
            "{layer} of {count} channels got a tensor of {dims:?}: its channels are {place} \
             ({other})"
        );
        shape[axis] = count;
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_where_the_channels_are() {
        assert_eq!(Channels::Shared.broadcast([2, 3, 4], "x"), [1, 1, 1]);
        assert_eq!(Channels::First(3).broadcast([2, 3, 4], "x"), [1, 3, 1]);
        assert_eq!(Channels::Last(4).broadcast([2, 3, 4], "x"), [1, 1, 4]);
        assert_eq!(Channels::Last(5).broadcast([5], "x"), [5]);
        assert_eq!(Channels::Shared.broadcast([], "x"), [0; 0]);
    }

    #[test]
    #[should_panic(expected = "x of 4 channels got a tensor of [2, 3, 4]: its channels are \
                               dimension 1 (Channels::Last after a linear layer)")]
    fn channels_of_another_dimension_are_refused() {
        Channels::First(4).broadcast([2, 3, 4], "x");
    }

    #[test]
    #[should_panic(expected = "x of 3 channels got a tensor of [3]")]
    fn a_vector_has_no_dimension_1() {
        Channels::First(3).broadcast([3], "x");
    }
}
