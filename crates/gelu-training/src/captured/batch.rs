use super::NotCaptured;
use burn::tensor::{Bool, Int, Slice, Tensor};
use burn_core as burn;

/// A batch whose tensors can be overwritten where they are, which is how a recorded step gets new examples.
///
/// Tensors are batches, and so are tuples, arrays and options of them. Your own type hands both calls on to its fields:
///
/// ```
/// use burn::tensor::{Int, Tensor};
/// use gelu_training::{FixedBatch, NotCaptured};
///
/// #[derive(Clone)]
/// struct Digits {
///     images: Tensor<3>,
///     labels: Tensor<1, Int>,
/// }
///
/// impl FixedBatch for Digits {
///     fn is_like(&self, other: &Self) -> bool {
///         self.images.is_like(&other.images) && self.labels.is_like(&other.labels)
///     }
///     fn overwrite(&mut self, other: Self) -> Result<(), NotCaptured> {
///         self.images.overwrite(other.images)?;
///         self.labels.overwrite(other.labels)
///     }
///     fn copied(&self) -> Self {
///         Self { images: self.images.copied(), labels: self.labels.copied() }
///     }
/// }
/// ```
pub trait FixedBatch: Clone {
    /// Whether all tensors have the shapes and types of the other's, and whatever else a step depends on is equal.
    fn is_like(&self, other: &Self) -> bool;

    /// Takes the numbers of the other, which [is like](Self::is_like) this, in the memory that its tensors have.
    ///
    /// # Errors
    ///
    /// When somebody else holds one of its tensors: the step keeps its batch.
    fn overwrite(&mut self, other: Self) -> Result<(), NotCaptured>;

    /// The same numbers in memory of their own.
    #[must_use]
    fn copied(&self) -> Self;
}

/// For each kind of tensor.
macro_rules! fixed_tensor {
    ($kind:ty) => {
        impl<const D: usize> FixedBatch for Tensor<D, $kind> {
            fn is_like(&self, other: &Self) -> bool {
                self.dims() == other.dims()
                    && self.dtype() == other.dtype()
                    && self.device() == other.device()
            }

            fn overwrite(&mut self, other: Self) -> Result<(), NotCaptured> {
                if !self.can_mut() {
                    return Err(NotCaptured(format!(
                        "the step keeps a tensor {:?} of its batch, which the next batch would overwrite",
                        self.dims()
                    )));
                }
                self.inplace(|place| place.slice_assign([Slice::full(); D], other));
                Ok(())
            }

            fn copied(&self) -> Self {
                let empty = Tensor::empty(self.dims(), (&self.device(), self.dtype()));
                empty.slice_assign([Slice::full(); D], self.clone())
            }
        }
    };
}

fixed_tensor!(burn::tensor::Float);
fixed_tensor!(Int);
fixed_tensor!(Bool);

impl<B: FixedBatch> FixedBatch for Option<B> {
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Some(this), Some(other)) => this.is_like(other),
            (None, None) => true,
            _ => false,
        }
    }

    fn overwrite(&mut self, other: Self) -> Result<(), NotCaptured> {
        match (self, other) {
            (Some(this), Some(other)) => this.overwrite(other),
            _ => Ok(()),
        }
    }

    fn copied(&self) -> Self {
        self.as_ref().map(B::copied)
    }
}

impl<B: FixedBatch, const N: usize> FixedBatch for [B; N] {
    fn is_like(&self, other: &Self) -> bool {
        self.iter().zip(other).all(|(this, other)| this.is_like(other))
    }

    fn overwrite(&mut self, other: Self) -> Result<(), NotCaptured> {
        self.iter_mut().zip(other).try_for_each(|(this, other)| this.overwrite(other))
    }

    fn copied(&self) -> Self {
        self.each_ref().map(B::copied)
    }
}

macro_rules! fixed_tuple {
    ($($name:ident $place:tt),+) => {
        impl<$($name: FixedBatch),+> FixedBatch for ($($name,)+) {
            fn is_like(&self, other: &Self) -> bool {
                $(self.$place.is_like(&other.$place))&&+
            }

            fn overwrite(&mut self, other: Self) -> Result<(), NotCaptured> {
                $(self.$place.overwrite(other.$place)?;)+
                Ok(())
            }

            fn copied(&self) -> Self {
                ($(self.$place.copied(),)+)
            }
        }
    };
}

fixed_tuple!(A 0, B 1);
fixed_tuple!(A 0, B 1, C 2);
fixed_tuple!(A 0, B 1, C 2, D 3);
