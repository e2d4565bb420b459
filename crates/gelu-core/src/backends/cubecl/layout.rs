//! The order in which a kernel walks tensors that are not in row-major order in memory. Burn's own
//! elementwise kernels use the same order, so that the channels-last result of a convolution stays
//! channels-last.

use alloc::vec;
use alloc::vec::Vec;
use burn_cubecl::ops::permute;
use burn_cubecl::tensor::CubeTensor;
use burn_std::tensor::layout::nested_dim_order;

/// The axes from the outermost in memory to the innermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemoryOrder(Vec<usize>);

impl MemoryOrder {
    /// Returns the common memory order of tensors of the same shape, or `None` if that is the
    /// row-major order, or if the tensors disagree. A tensor that repeats elements agrees with any
    /// order.
    pub(super) fn of(tensors: &[&CubeTensor]) -> Option<Self> {
        let layouts = tensors.iter().map(|x| (x.meta.shape().as_slice(), &x.meta.strides()[..]));
        Self::of_layouts(layouts)
    }

    fn of_layouts<'a>(layouts: impl Iterator<Item = (&'a [usize], &'a [usize])>) -> Option<Self> {
        let mut orders = layouts.filter_map(|(shape, strides)| {
            let mut order: Vec<usize> = nested_dim_order(shape, strides)?.iter().copied().collect();
            // Axes of length 1 have no place in the order. The code puts them first, where they do
            // not separate axes that vectors run along.
            order.sort_by_key(|&axis| if shape[axis] == 1 { (0, axis) } else { (1, 0) });
            Some((order, shape))
        });
        let (order, shape) = orders.next()?;
        let long: Vec<usize> = order.iter().copied().filter(|&axis| shape[axis] != 1).collect();
        (!long.is_sorted() && orders.all(|(other, _)| other == order)).then_some(Self(order))
    }

    /// Returns the tensor with its axes in this order.
    pub(super) fn present(&self, x: CubeTensor) -> CubeTensor {
        permute(x, &self.0)
    }

    /// Undoes [`present`](Self::present).
    pub(super) fn restore(&self, x: CubeTensor) -> CubeTensor {
        let mut inverse = vec![0; self.0.len()];
        for (position, &axis) in self.0.iter().enumerate() {
            inverse[axis] = position;
        }
        permute(x, &inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(layouts: &[([usize; 4], [usize; 4])]) -> Option<Vec<usize>> {
        let layouts = layouts.iter().map(|(shape, strides)| (&shape[..], &strides[..]));
        MemoryOrder::of_layouts(layouts).map(|order| order.0)
    }

    const SHAPE: [usize; 4] = [2, 3, 4, 5];
    const ROWS: [usize; 4] = [60, 20, 5, 1];
    const CHANNELS_LAST: [usize; 4] = [60, 1, 15, 3];
    const EXPANDED: [usize; 4] = [0, 0, 0, 0];

    #[test]
    fn channels_last_is_walked_channels_last() {
        assert_eq!(order(&[(SHAPE, CHANNELS_LAST)]), Some(vec![0, 2, 3, 1]));
        // This layout has a gap after every pixel.
        assert_eq!(order(&[(SHAPE, [80, 1, 20, 4])]), Some(vec![0, 2, 3, 1]));
    }

    #[test]
    fn logical_order_needs_no_other() {
        assert_eq!(order(&[(SHAPE, ROWS)]), None);
        assert_eq!(order(&[([2, 1, 4, 5], [20, 1, 5, 1])]), None);
        assert_eq!(order(&[(SHAPE, EXPANDED)]), None);
    }

    #[test]
    fn tensors_that_disagree_are_walked_in_logical_order() {
        assert_eq!(order(&[(SHAPE, CHANNELS_LAST), (SHAPE, ROWS)]), None);
        assert_eq!(order(&[(SHAPE, ROWS), (SHAPE, CHANNELS_LAST)]), None);
        let both = [(SHAPE, CHANNELS_LAST), (SHAPE, CHANNELS_LAST)];
        assert_eq!(order(&both), Some(vec![0, 2, 3, 1]));
    }

    #[test]
    fn gradient_of_a_sum_follows_what_it_is_the_gradient_of() {
        let layouts = [(SHAPE, CHANNELS_LAST), (SHAPE, EXPANDED)];
        assert_eq!(order(&layouts), Some(vec![0, 2, 3, 1]));
    }

    #[test]
    fn axes_of_length_one_come_first() {
        assert_eq!(order(&[([4, 1, 8, 1], [1, 0, 4, 9])]), Some(vec![1, 3, 2, 0]));
    }
}
