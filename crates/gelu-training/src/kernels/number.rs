use burn_std::{bf16, f16};
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// A float that the loops are written for.
pub(crate) trait Number:
    Copy
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The nearest one.
    fn of(value: f64) -> Self;

    /// √x, correctly rounded.
    fn root(self) -> Self;

    /// 0 in place of a subnormal number. A moment that only decays would end as one and stay: the
    /// last ones times 0.9 are rounded to themselves, and cost more every step ([`super::subnormal`]).
    fn flushed(self) -> Self;
}

impl Number for f32 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn flushed(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE { 0.0 } else { self }
    }
}

impl Number for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn flushed(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE { 0.0 } else { self }
    }
}

/// A type that parameters are stored in.
pub(crate) trait Stored: Copy + Send + Sync {
    /// What a step is computed in, and what moments are kept in: f32 for 16 bits, which hold neither
    /// the square of a small gradient nor what a step changes of a moment.
    type Wide: Number;

    /// Without loss.
    fn widen(self) -> Self::Wide;

    /// To nearest, ties to even.
    fn narrow(value: Self::Wide) -> Self;
}

macro_rules! stored {
    ($($type:ty as $wide:ty: $widen:expr, $narrow:expr;)*) => {$(
        impl Stored for $type {
            type Wide = $wide;

            #[inline(always)]
            fn widen(self) -> $wide {
                $widen(self)
            }

            #[inline(always)]
            fn narrow(value: $wide) -> Self {
                $narrow(value)
            }
        }
    )*};
}

stored! {
    f32 as f32: core::convert::identity, core::convert::identity;
    f64 as f64: core::convert::identity, core::convert::identity;
    f16 as f32: f16::to_f32, f16::from_f32;
    bf16 as f32: bf16::to_f32, bf16::from_f32;
}
