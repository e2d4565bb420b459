use gelu_kernels::Float;

/// A type that an optimiser computes a step in, and keeps its moments in: `f32` or `f64`.
pub trait Moment: Float {
    /// √x, correctly rounded.
    fn sqrt(self) -> Self;

    /// 0 in place of a subnormal number. A moment that only decays would end as one and stay: the
    /// last ones times 0.9 are rounded to themselves, and x86 processors take some hundred times as
    /// long over each.
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
