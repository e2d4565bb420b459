use gelu_kernels::Float;

/// A type that an optimiser computes a step in and stores its moments in: `f32` or `f64`.
pub trait Moment: Float {
    /// Returns √x, correctly rounded.
    fn sqrt(self) -> Self;

    /// Returns the number, or 0 if it is subnormal. A moment that only decays would become
    /// subnormal and stay so, because the smallest subnormal numbers times 0.9 round to themselves,
    /// and x86 processors take about a hundred times as long for each.
    fn flushed(self) -> Self;
}

macro_rules! moment {
    ($type:ty) => {
        impl Moment for $type {
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$type>::sqrt(self)
            }

            #[inline(always)]
            fn flushed(self) -> Self {
                if self.abs() < Self::MIN_POSITIVE { 0.0 } else { self }
            }
        }
    };
}

moment!(f32);
moment!(f64);
